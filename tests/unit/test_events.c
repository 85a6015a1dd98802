/* Tests the events of a run: which events there are, and when each is over. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "harness/scenario/events.h"

static const uint64_t MS = 1000000;

static struct hil_event *events;
static unsigned count;

/* The sources, in the order of their names here. */
enum { REFERENCE, LOAD, INPUT, NOISE, SOURCES };

static struct hil_source sources[SOURCES];

static void make(const struct hil_profile *reference, const struct hil_profile *load,
                 const struct hil_profile *input_voltage, uint64_t duration_ms)
{
    struct hil_system system = {.sources = sources, .source_count = SOURCES};
    const struct hil_scenario s = {.duration_ns = duration_ms * MS, .system = &system};

    sources[REFERENCE] = (struct hil_source){.kind = HIL_SOURCE_STEPS, .steps = *reference};
    sources[LOAD] = (struct hil_source){.kind = HIL_SOURCE_STEPS, .steps = *load};
    sources[INPUT] = (struct hil_source){.kind = HIL_SOURCE_STEPS, .steps = *input_voltage};
    sources[NOISE] = (struct hil_source){.kind = HIL_SOURCE_SINE, .sine = {1, 2, 3, 4}};
    cr_assert_eq(hil_events_make(&events, &count, &s), 0);
}

/* A profile of changes {start, ramp, value}, in ms. */
#define CHANGES(initial_, ...)                                                                     \
    &(struct hil_profile)                                                                          \
    {                                                                                              \
        .initial = initial_, .changes = (struct hil_change[]){__VA_ARGS__},                        \
        .count = sizeof((struct hil_change[]){__VA_ARGS__}) / sizeof(struct hil_change)            \
    }

static const struct hil_profile constant = {.initial = 5};

static void expect_times(unsigned i, uint64_t begin_ms, uint64_t over_ms, uint64_t end_ms,
                         uint64_t window_ms)
{
    cr_assert_lt(i, count);
    cr_expect_eq(events[i].begin_ns, begin_ms * MS);
    cr_expect_eq(events[i].over_ns, over_ms * MS);
    cr_expect_eq(events[i].end_ns, end_ms * MS);
    cr_expect_eq(events[i].window_ns, window_ms * MS, "%llu",
                 (unsigned long long)events[i].window_ns);
}

static void expect_change(unsigned i, unsigned source, double from, double to)
{
    double was, is;

    cr_assert(hil_event_change(&events[i], &sources[source], &was, &is));
    cr_expect_eq(was, from);
    cr_expect_eq(is, to);
}

static void expect_no_change(unsigned i, unsigned source)
{
    double was, is;

    cr_expect_not(hil_event_change(&events[i], &sources[source], &was, &is));
}

Test(events, a_run_has_its_start_up)
{
    make(&constant, &constant, &constant, 100);
    cr_expect_eq(count, 1);
    cr_expect(events[0].startup);
    expect_times(0, 0, 0, 100, 50);
}

Test(events, the_window_is_at_most_the_last_second)
{
    make(&constant, &constant, &constant, 5000);
    expect_times(0, 0, 0, 5000, 4000);
}

Test(events, each_change_is_one_in_the_order_of_time)
{
    make(CHANGES(12, {10 * MS, 6 * MS, 10}, {70 * MS, 0, 12}), CHANGES(2, {40 * MS, 0, 1}),
         CHANGES(48, {60 * MS, 2 * MS, 44}), 100);
    cr_expect_eq(count, 5);
    expect_times(0, 0, 0, 10, 5);
    expect_times(1, 10, 16, 40, 28);
    cr_expect_eq(events[1].startup, false);
}

Test(events, what_changes_is_told)
{
    make(CHANGES(12, {10 * MS, 0, 10}, {70 * MS, 0, 13}), CHANGES(2, {40 * MS, 0, 1}),
         CHANGES(48, {60 * MS, 0, 44}), 100);
    expect_change(1, REFERENCE, 12, 10);
    expect_change(2, LOAD, 2, 1);
    expect_change(3, INPUT, 48, 44);
    expect_change(4, REFERENCE, 10, 13);
    expect_no_change(0, REFERENCE);
    expect_no_change(4, LOAD);
    expect_no_change(4, NOISE);
}

Test(events, changes_at_the_same_time_are_one)
{
    make(CHANGES(0, {0, 20 * MS, 12}), CHANGES(2, {50 * MS, 0, 1}),
         CHANGES(48, {50 * MS, 10 * MS, 44}), 100);
    cr_expect_eq(count, 2);
    cr_expect(events[0].startup);
    expect_times(0, 0, 20, 50, 35);
    expect_change(0, REFERENCE, 0, 12);
    expect_times(1, 50, 60, 100, 80);
    expect_change(1, LOAD, 2, 1);
    expect_change(1, INPUT, 48, 44);
}

/* Of two steps at the same time the later value holds. */
Test(events, two_steps_at_one_time_go_from_the_first_to_the_last)
{
    make(CHANGES(12, {10 * MS, 0, 10}, {10 * MS, 0, 9}), &constant, &constant, 100);
    cr_expect_eq(count, 2);
    expect_change(1, REFERENCE, 12, 9);
}

/* A step that goes back at once is reported as well, as the event exists. */
Test(events, two_steps_at_one_time_may_come_back)
{
    make(CHANGES(12, {10 * MS, 0, 10}, {10 * MS, 0, 12}), &constant, &constant, 100);
    cr_expect_eq(count, 2);
    expect_change(1, REFERENCE, 12, 12);
}

/* A source that steps to its present value does not change, whatever others do. */
Test(events, a_change_to_the_same_value_is_not_told)
{
    make(CHANGES(12, {50 * MS, 0, 12}), CHANGES(2, {50 * MS, 0, 1}), &constant, 100);
    cr_expect_eq(count, 2);
    expect_no_change(1, REFERENCE);
    expect_change(1, LOAD, 2, 1);
}

/* The load changes while the reference still rises: the event is over when both are. */
Test(events, an_event_in_a_ramp_is_over_when_the_ramp_is)
{
    make(CHANGES(0, {0, 40 * MS, 12}), CHANGES(2, {10 * MS, 0, 1}, {20 * MS, 0, 3}), &constant,
         100);
    expect_times(0, 0, 40, 10, 10);
    expect_times(1, 10, 40, 20, 20);
    expect_times(2, 20, 40, 100, 70);
}

Test(events, what_changes_nothing_or_comes_after_the_end_is_none)
{
    make(CHANGES(12, {10 * MS, 0, 12}), CHANGES(2, {100 * MS, 0, 1}, {200 * MS, 0, 2}), &constant,
         100);
    cr_expect_eq(count, 1);
}

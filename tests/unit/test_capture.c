/*
 * Tests captures of rows that the test writes: each trigger acts at its exact step, the capture has
 * the rows before and after it, and each mode works. Node 0 steps every 10 us; the test sets its
 * signal `a`.
 */
#include <errno.h>
#include <math.h>

#include "harness/tools/scope/capture.h"
#include "made_run.h"

enum { ROWS = 1024 };

static const uint64_t PERIOD_NS = 10000, MS = 1000000;

struct bench {
    struct made_run made;
    struct hil_shown_list shown;
    struct hil_capture_config config;
    struct hil_capture *capture;
    uint64_t n[2]; /* the nodes' next steps */
    uint64_t now_ns;
};

/* Captures both nodes, from 100 us before to 50 us after the trigger. */
static struct bench open_bench(enum hil_trigger_on on, enum hil_trigger_mode mode)
{
    struct bench b = {.made = make_run(2, ROWS, PERIOD_NS), .now_ns = 1};

    cr_assert_eq(hil_shown_open(&b.shown, &b.made.run), 0);
    b.config = (struct hil_capture_config){
        .signals = {hil_shown_find(&b.shown, "node[0].a"), hil_shown_find(&b.shown, "node[1].b")},
        .count = 2,
        .before_s = 100e-6,
        .after_s = 50e-6,
        .trigger = {.on = on,
                    .mode = mode,
                    .signal = hil_shown_find(&b.shown, "node[0].a"),
                    .rising = true,
                    .auto_ns = 100 * MS}};
    return b;
}

static void begin(struct bench *b)
{
    cr_assert_eq(hil_capture_open(&b->capture, &b->made.run, &b->config), 0);
}

static void close_bench(struct bench *b)
{
    hil_capture_close(b->capture);
    hil_shown_close(&b->shown);
    free_run(&b->made);
}

/* Makes a step of both nodes. `b` of a node is the number of the step. */
static void step(struct bench *b, double a)
{
    for (unsigned i = 0; i < 2; i++, b->n[i - 1]++)
        make_step(&b->made, i, b->n[i], a, (double)b->n[i]);
}

static void steps(struct bench *b, unsigned count, double a)
{
    for (unsigned i = 0; i < count; i++)
        step(b, a);
}

/* Lets some time pass. */
static const struct hil_captured *look(struct bench *b)
{
    b->now_ns += 40 * MS;
    return hil_capture_turn(b->capture, b->now_ns, false);
}

static const struct hil_captured *expect_capture(struct bench *b, uint64_t at)
{
    const struct hil_captured *c = look(b);

    cr_assert_not_null(c, "nothing is captured");
    cr_expect(c->triggered);
    cr_expect_eq(c->step, at, "at step %lu, and not %lu", c->step, at);
    cr_expect_eq(c->node, 0);
    cr_expect_eq(c->time_s, (double)(at * PERIOD_NS) * 1e-9);
    cr_expect_eq(c->lost, 0);
    return c;
}

static void expect_none(struct bench *b)
{
    cr_expect_null(look(b));
}

/* --- the content of a capture ---------- */

/* 10 steps before the trigger, its own step, and 5 after it. */
Test(capture, has_every_step_of_its_window)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_NORMAL);

    b.config.trigger.level = 1;
    begin(&b);
    steps(&b, 50, 0);
    steps(&b, 30, 1.5);
    const struct hil_captured *c = expect_capture(&b, 50);
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(c->traces[i].count, 16);
        for (unsigned k = 0; k < 16; k++) {
            cr_expect_eq(c->traces[i].steps[k], 40 + k);
            cr_expect_eq(c->traces[i].times_s[k], (double)((40 + k) * PERIOD_NS) * 1e-9);
        }
    }
    cr_expect_eq(c->traces[0].values[9], 0);
    cr_expect_eq(c->traces[0].values[10], 1.5);
    cr_expect_eq(c->traces[1].values[0], 40);
    close_bench(&b);
}

/* The capture is complete when all nodes have reached its end. */
Test(capture, waits_for_the_rest_of_its_window)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_NORMAL);

    b.config.trigger.level = 1;
    begin(&b);
    steps(&b, 50, 0);
    step(&b, 2);
    expect_none(&b);
    for (unsigned i = 0; i < 20; i++)
        make_step(&b.made, 0, b.n[0]++, 2, 0);
    expect_none(&b);
    for (unsigned i = 0; i < 20; i++)
        make_step(&b.made, 1, b.n[1]++, 2, 7);
    cr_expect_eq(expect_capture(&b, 50)->traces[1].count, 16);
    close_bench(&b);
}

/* Rows before the trigger cannot be requested before they exist, except rows from before the run.
 */
Test(capture, has_all_before_its_trigger)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_NORMAL);

    b.config.trigger.level = 1;
    begin(&b);
    step(&b, 0);
    steps(&b, 20, 2);
    cr_expect_eq(expect_capture(&b, 1)->traces[0].count, 1 + 6);
    close_bench(&b);
}

/* The watcher started late and has the newest 1023 rows: the first edge has only five rows before
 * it. */
Test(capture, needs_all_that_is_asked_for_before_it)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_NORMAL);

    b.config.trigger.level = 1;
    begin(&b);
    steps(&b, ROWS + 6, 0);
    steps(&b, 20, 2);
    steps(&b, 20, 0);
    const uint64_t at = b.n[0];
    steps(&b, ROWS - 46, 2);
    expect_capture(&b, at);
    close_bench(&b);
}

/* Some rows of the window were overwritten: the capture says so. */
Test(capture, says_how_many_rows_were_lost)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_NORMAL);

    b.config.trigger.level = 1;
    b.config.after_s = 0.1;
    begin(&b);
    steps(&b, 50, 0);
    steps(&b, 10, 2);
    expect_none(&b);
    steps(&b, 3 * ROWS, 2);
    expect_none(&b);
    for (unsigned i = 0; i < 7; i++) {
        steps(&b, ROWS - 10, 2);
        if (i < 6)
            expect_none(&b);
    }
    const struct hil_captured *c = look(&b);
    cr_assert_not_null(c);
    cr_expect_eq(c->lost, 2 * (2 * ROWS + 1));
    close_bench(&b);
}

/* Where no trigger came, it may have been in the rows that were not seen. */
Test(capture, says_how_many_rows_it_did_not_see)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_SINGLE);

    b.config.trigger.level = 1;
    begin(&b);
    steps(&b, 50, 0);
    expect_none(&b);
    cr_expect_eq(hil_capture_lost(b.capture), 0);
    steps(&b, 3 * ROWS, 0);
    expect_none(&b);
    cr_expect_eq(hil_capture_lost(b.capture), 2 * (2 * ROWS + 1));
    close_bench(&b);
}

/* --- triggers ---------------- */

/* An edge counts only after the signal was beyond the hysteresis on the other side. */
Test(capture, level_has_a_hysteresis)
{
    static const double values[] = {1.0, 0.9, 1.1, 0.6, 1.2, 0.49, 0.99, 1.0, 1.3};
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_NORMAL);

    b.config.trigger.level = 1;
    b.config.trigger.hysteresis = 0.5;
    begin(&b);
    steps(&b, 20, 2);
    for (unsigned i = 0; i < 9; i++)
        step(&b, values[i]);
    steps(&b, 10, 1);
    expect_capture(&b, 20 + 7); /* where the signal is 1.0 after 0.49 */
    close_bench(&b);
}

/* A constant at the level is no edge. */
Test(capture, level_is_not_reached_by_what_stays_there)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_NORMAL);

    b.config.trigger.level = 1;
    b.config.trigger.falling = true;
    begin(&b);
    steps(&b, 100, 1);
    expect_none(&b);
    steps(&b, 100, NAN);
    expect_none(&b);
    close_bench(&b);
}

static void expect_edge(bool rising, bool falling, uint64_t at)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_NORMAL);

    b.config.trigger.rising = rising;
    b.config.trigger.falling = falling;
    b.config.trigger.level = 1;
    begin(&b);
    steps(&b, 20, 2);
    steps(&b, 20, 0);
    steps(&b, 20, 2);
    expect_capture(&b, at);
    close_bench(&b);
}

Test(capture, level_has_edges)
{
    expect_edge(true, false, 40);
    expect_edge(false, true, 20);
    expect_edge(true, true, 20);
}

/* After a gap it is unknown at which step an event happened. */
Test(capture, level_is_not_reached_across_a_gap)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_NORMAL);

    b.config.trigger.level = 1;
    begin(&b);
    steps(&b, 20, 0);
    expect_none(&b);
    steps(&b, 2 * ROWS, 2);
    expect_none(&b);
    steps(&b, 20, 0);
    const uint64_t at = b.n[0];
    steps(&b, 20, 2);
    expect_capture(&b, at);
    close_bench(&b);
}

static void expect_event(enum hil_trigger_on on, enum hil_event_kind kind)
{
    struct bench b = open_bench(on, HIL_TRIGGER_NORMAL);

    begin(&b);
    steps(&b, 50, 0);
    hil_tap_note(&b.made.rings[0], 50, HIL_EVENT_FRESH); /* this kind does not trigger */
    step(&b, 0);
    hil_tap_note(&b.made.rings[0], 51, kind); /* noted before its step's row is written */
    steps(&b, 30, 0);
    expect_capture(&b, 51);
    hil_tap_note(&b.made.rings[0], 80, kind); /* noted after that */
    steps(&b, 30, 0);
    expect_capture(&b, 80);
    close_bench(&b);
}

Test(capture, events_are_at_their_own_step)
{
    expect_event(HIL_ON_FAULT, HIL_EVENT_FAULT_BEGINS);
    expect_event(HIL_ON_FAULT, HIL_EVENT_FAILED);
    expect_event(HIL_ON_AGE, HIL_EVENT_OLD);
    expect_event(HIL_ON_AGE, HIL_EVENT_STALE);
}

/* Events of a node without a trace trigger as well, and the earliest of all counts. */
Test(capture, miss_is_at_the_step_that_was_late)
{
    struct bench b = open_bench(HIL_ON_MISS, HIL_TRIGGER_NORMAL);

    b.config.count = 1;
    b.config.signals[0] = hil_shown_find(&b.shown, "node[1].a");
    begin(&b);
    steps(&b, 60, 0);
    hil_tap_miss(&b.made.rings[0], 2);
    b.n[0] += 1; /* the node skips a step */
    step(&b, 0);
    steps(&b, 4, 0);
    hil_tap_miss(&b.made.rings[1], 1);
    steps(&b, 30, 0);
    cr_expect_eq(expect_capture(&b, 59)->traces[0].count, 16);
    close_bench(&b);
}

/* --- modes ---------------- */

Test(capture, single_is_once_until_it_is_armed)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_SINGLE);

    b.config.trigger.level = 1;
    begin(&b);
    steps(&b, 50, 0);
    steps(&b, 50, 2);
    expect_capture(&b, 50);
    steps(&b, 50, 0);
    steps(&b, 50, 2);
    expect_none(&b);
    hil_capture_arm(b.capture);
    steps(&b, 50, 0);
    steps(&b, 50, 2);
    cr_expect_eq(expect_capture(&b, 250)->number, 2);
    close_bench(&b);
}

Test(capture, auto_gives_what_there_is)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_AUTO);

    b.config.trigger.level = 1;
    begin(&b);
    steps(&b, 50, 0);
    expect_none(&b);
    expect_none(&b);
    expect_none(&b);
    const struct hil_captured *c = look(&b);
    cr_assert_not_null(c);
    cr_expect_not(c->triggered);
    cr_expect_eq(c->traces[0].count, 16);
    cr_expect_eq(c->traces[0].steps[15], 49);
    expect_none(&b); /* the same capture is not made twice */
    steps(&b, 50, 2);
    expect_capture(&b, 50);
    close_bench(&b);
}

Test(capture, free_gives_the_newest)
{
    struct bench b = open_bench(HIL_ON_FREE, HIL_TRIGGER_NORMAL);

    begin(&b);
    for (unsigned i = 1; i <= 3; i++) {
        steps(&b, 100, 0);
        const struct hil_captured *c = look(&b);
        cr_assert_not_null(c);
        cr_expect_eq(c->traces[0].steps[15], 100 * i - 1);
    }
    close_bench(&b);
}

/* The capture does not wait for a node that died, nor for steps after the end of the run. */
Test(capture, ends_where_nodes_do)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_NORMAL);

    b.config.trigger.level = 1;
    begin(&b);
    steps(&b, 50, 0);
    steps(&b, 3, 2);
    expect_none(&b);
    const struct hil_captured *c = hil_capture_turn(b.capture, b.now_ns + 1, true);
    cr_assert_not_null(c);
    cr_expect_eq(c->step, 50);
    cr_expect_eq(c->traces[0].count, 13);
    close_bench(&b);
}

Test(capture, refuses_what_it_cannot_hold)
{
    struct bench b = open_bench(HIL_ON_LEVEL, HIL_TRIGGER_NORMAL);

    b.config.before_s = 1e6;
    cr_expect_eq(hil_capture_open(&b.capture, &b.made.run, &b.config), -E2BIG);
    b.config.before_s = -1;
    cr_expect_eq(hil_capture_open(&b.capture, &b.made.run, &b.config), -EINVAL);
    b.config.before_s = NAN;
    cr_expect_eq(hil_capture_open(&b.capture, &b.made.run, &b.config), -EINVAL);
    b.config.before_s = 0;
    b.config.trigger.level = NAN;
    cr_expect_eq(hil_capture_open(&b.capture, &b.made.run, &b.config), -EINVAL);
    b.config.trigger.level = 0;
    b.config.count = 0;
    cr_expect_eq(hil_capture_open(&b.capture, &b.made.run, &b.config), -EINVAL);
    b.capture = NULL;
    close_bench(&b);
}

/* Tests how a signal is followed through its record: slopes, steps from band to band, references.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "harness/summary/follow.h"

static struct hil_limit limit;
static struct follow *follow;

static void begin(enum hil_bound bound, double value)
{
    limit.to_ns = limit.to_ns ? limit.to_ns : 1000000000;
    limit.given[bound] = true;
    limit.bounds[bound] = value;
    cr_assert_eq(follow_open(&follow, &limit, 0), 0);
}

/* One sample each millisecond. */
static void feed(const double *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        cr_assert_eq(follow_sample(follow, i * 1e-3, values[i]), 0);
}

#define FEED(...)                                                                                  \
    feed((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static struct look look_of(enum hil_bound bound)
{
    struct look look;

    cr_assert(follow_look(follow, bound, &look), "there was nothing to judge");
    return look;
}

static void expect(enum hil_bound bound, double value, double time_s, bool fails)
{
    const struct look look = look_of(bound);

    cr_expect_float_eq(look.value, value, 1e-9 * fmax(1, fabs(value)), "%g in place of %g",
                       look.value, value);
    cr_expect_float_eq(look.time_s, time_s, 1e-12, "at %g in place of %g", look.time_s, time_s);
    cr_expect_eq(look.beyond > 0, fails, "beyond by %g", look.beyond);
    follow_close(follow);
}

Test(follow, the_worst_value_in_the_window_counts)
{
    limit.from_ns = 1000000;
    limit.to_ns = 3000000;
    begin(HIL_BOUND_MAX, 5);
    FEED(9, 4, 6, 5, 8);
    expect(HIL_BOUND_MAX, 6, 0.002, true);
}

Test(follow, a_value_at_the_bound_passes)
{
    begin(HIL_BOUND_MIN, 4);
    FEED(5, 4, 6);
    expect(HIL_BOUND_MIN, 4, 0.001, false);
}

Test(follow, no_number_fails)
{
    begin(HIL_BOUND_MAX, 5);
    FEED(1, NAN, 2);
    const struct look look = look_of(HIL_BOUND_MAX);
    cr_expect(isnan(look.value) && look.beyond > 0 && look.time_s == 0.001);
    follow_close(follow);
}

Test(follow, an_empty_window_has_nothing_to_judge)
{
    struct look look;

    limit.from_ns = 500000000;
    begin(HIL_BOUND_MAX, 5);
    FEED(1, 2);
    cr_expect_not(follow_look(follow, HIL_BOUND_MAX, &look));
    follow_close(follow);
}

/* --- slopes ---------------------------------------------------------------------------------- */

Test(follow, a_slope_is_from_one_row_to_the_next)
{
    begin(HIL_BOUND_SLOPE_MAX, 2000);
    FEED(0, 1, 4, 5);
    expect(HIL_BOUND_SLOPE_MAX, 3000, 0.002, true);
}

Test(follow, or_over_a_time)
{
    limit.slope_ns = 3000000;
    begin(HIL_BOUND_SLOPE_MAX, 1500);
    FEED(0, 1, 4, 5, 6);
    expect(HIL_BOUND_SLOPE_MAX, 5.0 / 3e-3, 0.003, true);
}

Test(follow, a_fall_is_negative)
{
    begin(HIL_BOUND_SLOPE_MIN, -1000);
    FEED(3, 2.5, 0.5, 1);
    expect(HIL_BOUND_SLOPE_MIN, -2000, 0.002, true);
}

/* Over a long time, the past is kept as long as needed, and then dropped. */
Test(follow, a_long_slope_remembers_just_what_it_needs)
{
    limit.slope_ns = 100000000;
    limit.to_ns = 100000000000;
    begin(HIL_BOUND_SLOPE_MAX, 1);
    for (unsigned i = 0; i < 20000; i++)
        cr_assert_eq(follow_sample(follow, i * 1e-3, i < 10000 ? 0 : 1e-3 * (i - 10000)), 0);
    const struct look look = look_of(HIL_BOUND_SLOPE_MAX);
    cr_expect_float_eq(look.value, 1, 1e-9);
    follow_close(follow);
}

/* --- from band to band ----------------------------------------------------------------------- */

static void begin_step(void)
{
    limit.step = (struct hil_limit_step){3000000, 2000000, {0.9, 1.1}, {1.9, 2.1}};
    begin(HIL_BOUND_STEP, 0);
}

Test(follow, a_step_in_time_passes)
{
    begin_step();
    FEED(1, 1, 1, 1, 1.5, 2, 2.05, 2);
    expect(HIL_BOUND_STEP, 2, 0.005, false);
}

Test(follow, one_that_comes_late_fails_by_its_time)
{
    begin_step();
    FEED(1, 1, 1, 1, 2, 1.8, 2, 2);
    expect(HIL_BOUND_STEP, 3, 0.006, true);
}

Test(follow, one_that_does_not_stay_never_came)
{
    begin_step();
    FEED(1, 1, 1, 1, 2, 2, 2, 2.2);
    const struct look look = look_of(HIL_BOUND_STEP);
    cr_expect(isnan(look.value) && look.beyond > 0);
    cr_expect_float_eq(look.time_s, 0.007, 1e-12);
    cr_expect_str_eq(follow_step_unit(follow, "V"), "ms");
    follow_close(follow);
}

Test(follow, one_that_begins_too_early_fails_by_its_value)
{
    begin_step();
    FEED(1, 1.2, 1.4, 2, 2, 2);
    cr_expect_str_eq(follow_step_unit(follow, "V"), "V");
    expect(HIL_BOUND_STEP, 1.4, 0.002, true);
}

/* --- like a reference ------------------------------------------------------------------------ */

static uint64_t times_ns[] = {0, 2000000, 4000000};
static double values[] = {0, 100, 0};
static struct hil_source reference = {.kind = HIL_SOURCE_CSV,
                                      .column = {times_ns, values, 3, true}};

static void begin_like(double absolute, double relative)
{
    limit.like = (struct hil_limit_like){&reference, absolute, relative};
    begin(HIL_BOUND_LIKE, 0);
}

Test(follow, a_reference_is_on_a_line_between_its_rows)
{
    begin_like(0, 0.1);
    FEED(0, 54, 108, 50.5, 0);
    expect(HIL_BOUND_LIKE, 0, 0, false);
}

Test(follow, both_tolerances_add_up)
{
    begin_like(2, 0.1);
    FEED(1, 58, 100, 50, 0);
    const struct look look = look_of(HIL_BOUND_LIKE);
    cr_expect_float_eq(look.bound, 57, 1e-9);
    expect(HIL_BOUND_LIKE, 58, 0.001, true);
}

/* 10 % of the greatest value is 10, and 1 % of that is 0.1: near 0 the signal may deviate by that
 * much. */
Test(follow, without_an_absolute_tolerance_near_zero_is_not_exactly_zero)
{
    begin_like(NAN, 0.1);
    FEED(0.09, 50, 100, 50, -0.09);
    cr_expect(look_of(HIL_BOUND_LIKE).beyond <= 0);
    follow_close(follow);
    begin_like(NAN, 0.1);
    FEED(0.11, 50, 100, 50, 0);
    expect(HIL_BOUND_LIKE, 0.11, 0, true);
}

/* A reference holds beyond its last row for one interval of its rows, and no longer. */
Test(follow, a_reference_that_ends_is_none)
{
    double time_s;

    begin_like(1, 0);
    FEED(0, 50, 100, 50, 0, 0, 0);
    cr_expect_not(follow_uncovered(follow, &time_s));
    cr_assert_eq(follow_sample(follow, 0.0065, 0), 0);
    cr_expect(follow_uncovered(follow, &time_s) && time_s == 0.0065);
    follow_close(follow);
}

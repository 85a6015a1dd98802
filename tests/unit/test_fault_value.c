/* Tests the effect of each kind of fault on a number, step by step. */
#include <criterion/criterion.h>
#include <math.h>

#include "harness/run/fault_value.h"

enum { STEPS = 1000, PERIOD_NS = 1000 };

static struct hil_fault fault;
static struct hil_fault_value value;

/* A fault with this value. The rest has the scenario's defaults. */
static void open_fault(enum hil_fault_kind kind, double number)
{
    fault = (struct hil_fault){.kind = kind, .seed = 1, .duration_ns = UINT64_MAX};
    for (unsigned i = 0; i < HIL_FAULT_NUMBERS; i++)
        fault.numbers[i] = NAN;
    fault.numbers[HIL_FAULT_VALUE] = number;
    fault.numbers[HIL_FAULT_PROBABILITY] = 1;
    cr_assert_eq(hil_fault_value_open(&value, &fault, 0, PERIOD_NS), 0);
}

static double of(bool on, uint64_t n, double x)
{
    return hil_fault_value_of(&value, on, n, n * PERIOD_NS, x);
}

/* A fault that is over, or has not begun, has no effect. */
static void expect_off(double x)
{
    cr_expect_eq(of(false, 0, x), x);
    hil_fault_value_close(&value);
}

Test(fault_value, stuck_holds_the_last_value_before_it)
{
    open_fault(HIL_FAULT_STUCK, NAN);
    cr_expect_eq(of(false, 0, 5), 5);
    cr_expect_eq(of(false, 1, 6), 6);
    cr_expect_eq(of(true, 2, 7), 6);
    cr_expect_eq(of(true, 3, 8), 6);
    cr_expect_eq(of(false, 4, 9), 9);
    cr_expect_eq(of(true, 5, 10), 9, "it may be stuck again");
    expect_off(3);
}

Test(fault_value, stuck_from_the_start_holds_the_first_value)
{
    open_fault(HIL_FAULT_STUCK, NAN);
    cr_expect_eq(of(true, 0, 5), 5);
    cr_expect_eq(of(true, 1, 6), 5);
    expect_off(3);
}

Test(fault_value, stuck_at_a_value)
{
    open_fault(HIL_FAULT_STUCK, -2);
    cr_expect_eq(of(false, 0, 5), 5);
    cr_expect_eq(of(true, 1, 6), -2);
    expect_off(3);
}

Test(fault_value, a_bias_is_added)
{
    open_fault(HIL_FAULT_BIAS, 0.5);
    cr_expect_eq(of(true, 0, 5), 5.5);
    cr_expect_eq(of(true, 1, -5), -4.5);
    expect_off(3);
}

Test(fault_value, a_gain_multiplies)
{
    open_fault(HIL_FAULT_GAIN, NAN);
    fault.numbers[HIL_FAULT_FACTOR] = 0.25;
    cr_expect_eq(of(true, 0, 5), 1.25);
    expect_off(3);
}

Test(fault_value, a_drift_grows_from_its_beginning_on)
{
    open_fault(HIL_FAULT_DRIFT, 1000); /* per second: 0.001 in a step of 1 us */
    cr_expect_eq(of(true, 0, 5), 5);
    cr_expect_float_eq(of(true, 1, 5), 5.001, 1e-12);
    cr_expect_float_eq(of(true, 200, 5), 5.2, 1e-12);
    expect_off(3);
}

Test(fault_value, quantise_gives_the_nearest_multiple)
{
    open_fault(HIL_FAULT_QUANTISE, 0.25);
    cr_expect_eq(of(true, 0, 1.1), 1);
    cr_expect_eq(of(true, 0, 1.13), 1.25);
    cr_expect_eq(of(true, 0, -0.4), -0.5);
    expect_off(0.1);
}

Test(fault_value, noise_has_its_deviation_and_no_mean)
{
    double sum = 0, squares = 0;

    open_fault(HIL_FAULT_NOISE, 2);
    for (uint64_t n = 0; n < STEPS; n++) {
        const double d = of(true, n, 10) - 10;
        sum += d;
        squares += d * d;
    }
    cr_expect_lt(fabs(sum / STEPS), 4 * 2 / sqrt(STEPS));
    cr_expect_float_eq(sqrt(squares / STEPS), 2, 0.2);
    expect_off(3);
}

/* A run that leaves out steps, or restarts, has the same values in the other steps. */
Test(fault_value, chance_depends_on_seed_thing_and_step_alone)
{
    double before[STEPS];
    unsigned alike_seed = 0, alike_thing = 0;

    open_fault(HIL_FAULT_NOISE, 1);
    for (uint64_t n = 0; n < STEPS; n++)
        before[n] = of(true, n, 0);
    for (uint64_t n = STEPS; n-- > 0;)
        cr_assert_eq(of(true, n, 0), before[n]);
    fault.seed = 2;
    for (uint64_t n = 0; n < STEPS; n++)
        alike_seed += of(true, n, 0) == before[n];
    fault.seed = 1;
    value.number = 1;
    for (uint64_t n = 0; n < STEPS; n++)
        alike_thing += of(true, n, 0) == before[n];
    cr_expect_eq(alike_seed, 0);
    cr_expect_eq(alike_thing, 0);
}

Test(fault_value, spikes_are_as_likely_as_said)
{
    unsigned spikes = 0;

    open_fault(HIL_FAULT_SPIKE, 100);
    cr_expect_eq(of(true, 7, 1), 101, "always, where nothing is said");
    fault.numbers[HIL_FAULT_PROBABILITY] = 0.1;
    for (uint64_t n = 0; n < STEPS; n++) {
        const double x = of(true, n, 1);
        cr_expect(x == 1 || x == 101);
        spikes += x == 101;
    }
    cr_expect(spikes > 70 && spikes < 130, "%u", spikes);
    fault.numbers[HIL_FAULT_PROBABILITY] = 0;
    for (uint64_t n = 0; n < STEPS; n++)
        cr_assert_eq(of(true, n, 1), 1);
    expect_off(3);
}

Test(fault_value, what_drops_out_is_what_came_through_last)
{
    double last = 0;
    unsigned dropped = 0;

    open_fault(HIL_FAULT_DROPOUT, NAN);
    of(false, 0, last);
    fault.numbers[HIL_FAULT_PROBABILITY] = 0.5;
    for (uint64_t n = 1; n < STEPS; n++) {
        const double x = of(true, n, (double)n);
        cr_expect(x == (double)n || x == last);
        dropped += x != (double)n;
        last = x;
    }
    cr_expect(dropped > 400 && dropped < 600, "%u", dropped);
    expect_off(3);
}

Test(fault_value, what_drops_out_may_be_a_value)
{
    open_fault(HIL_FAULT_DROPOUT, -1);
    cr_expect_eq(of(true, 0, 5), -1);
    expect_off(3);
}

/* 2.5 us are 3 steps of 1 us: a fault never acts too early. */
Test(fault_value, a_delay_gives_the_value_of_so_many_steps_before)
{
    open_fault(HIL_FAULT_BIAS, 0);
    fault.kind = HIL_FAULT_DELAY;
    fault.delay_ns = 2500;
    cr_assert_eq(hil_fault_value_open(&value, &fault, 0, PERIOD_NS), 0);
    cr_expect_eq(of(true, 0, 10), 10, "before there is one so old it is the first");
    cr_expect_eq(of(true, 1, 11), 10);
    cr_expect_eq(of(false, 2, 12), 12);
    cr_expect_eq(of(true, 3, 13), 10);
    for (uint64_t n = 4; n < 50; n++)
        cr_expect_eq(of(true, n, 10 + (double)n), 7 + (double)n);
    hil_fault_value_reset(&value);
    cr_expect_eq(of(true, 0, 100), 100, "nothing is left of before");
    expect_off(3);
}

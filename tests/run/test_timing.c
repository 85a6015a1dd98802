/*
 * "Other cases of the same kind": plants, laws, counts, phases and latencies that the
 * reference's cases do not have, against a second implementation of its timing.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "process.h"
#include "results.h"
#include "simulation.h"
#include "workspace.h"

TestSuite(timing, .init = workspace_open, .fini = workspace_close);

/* The scenario that a command line runs, loaded here. */
static struct hil_scenario *scenario_of(const struct arguments *a)
{
    static char message[4096];
    struct hil_scenario_options options = {.virtual_time = true};
    struct hil_scenario *scenario = NULL;
    const char *sets[100];

    options.sets = sets;
    for (unsigned i = 0; i + 1 < a->count; i++)
        if (strcmp(a->at[i], "--set") == 0)
            sets[options.set_count++] = a->at[i + 1];
    cr_assert_eq(hil_scenario_load(&scenario, a->at[2], &options, message, sizeof message), 0, "%s",
                 message);
    return scenario;
}

static void expect_close(const char *out, const char *dataset, const double *expected, size_t rows,
                         size_t width)
{
    struct column actual = column_of(out, dataset);

    cr_assert_eq(actual.rows, rows, "%s has %zu rows in place of %zu", dataset, actual.rows, rows);
    cr_assert_eq(actual.width, width);
    for (size_t i = 0; i < rows * width; i++)
        cr_assert(fabs(actual.at[i] - expected[i]) <= 1e-9 * fmax(1, fabs(expected[i])),
                  "%s: %.17g in row %zu, column %zu; expected %.17g", dataset, actual.at[i],
                  i / width, i % width, expected[i]);
}

/* Some of it must move, or the comparison proves nothing. */
static void expect_alive(const struct simulated *s)
{
    double least = INFINITY, most = -INFINITY;

    cr_assert_gt(s->rows, 100);
    for (size_t i = 0; i < s->rows * s->count; i++) {
        least = fmin(least, s->duty[i]);
        most = fmax(most, s->duty[i]);
    }
    cr_expect_gt(most, least);
}

/* What each converter did, and when: the controller's record alone would not tell a delay on
 * the way up from one on the way down. */
static void expect_same_converters(const char *out, const struct simulated *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        const struct simulated_converter *c = &s->converters[i];
        const struct {
            const char *name;
            const double *expected;
        } columns[] = {{"time_s", c->time_s},
                       {"voltage_v", c->voltage_v},
                       {"current_a", c->current_a},
                       {"duty", c->duty}};
        for (int k = 0; k < 4; k++) {
            char dataset[40];
            snprintf(dataset, sizeof dataset, "converter/%03u/%s", i, columns[k].name);
            expect_close(out, dataset, columns[k].expected, c->rows, 1);
        }
    }
}

/* Runs a scenario with some --set (ended by NULL), and compares all that it records. */
static void compare(const char *config, const char *const *sets)
{
    const char *out = in_workspace("out");
    struct arguments a =
        command("hiloco run configs/%s.yaml --mode virtual --quiet --out %s", config, out);

    for (; *sets; sets++)
        add_set(&a, "%s", *sets);
    add_set(&a, "recording.converter_decimation=1");
    struct hil_scenario *scenario = scenario_of(&a);
    struct simulated s = simulate(scenario);
    struct ended e = run(&a);
    cr_assert_eq(e.status, 0, "%s", e.err);
    expect_alive(&s);
    expect_close(out, "controller/time_s", s.time_s, s.rows, 1);
    expect_close(out, "controller/output_v", s.output_v, s.rows, 1);
    expect_close(out, "controller/voltage_v", s.voltage_v, s.rows, s.count);
    expect_close(out, "controller/duty", s.duty, s.rows, s.count);
    expect_same_converters(out, &s);
    hil_scenario_free(scenario);
}

#define COMPARE(config, ...) compare(config, (const char *const[]){__VA_ARGS__, NULL})

/* The same, from the nominal scenario cut short. */
#define COMPARE_NOMINAL(...) COMPARE("dcdc20-nominal", "duration_s=0.02", __VA_ARGS__)

/* --- plants --- */

Test(timing, boost)
{
    COMPARE("boost", "network.latency_up_us=3", "network.latency_down_us=11");
}

Test(timing, buck_boost)
{
    COMPARE("buck-boost", "controller.phase_us=7", "converters.stagger_us=1.5");
}

Test(timing, switched_buck_beside_averaged_ones)
{
    COMPARE("switched", "duration_s=0.02", "network.latency_up_us=1.3");
}

Test(timing, boosts_that_differ_from_bucks_in_the_same_run)
{
    COMPARE_NOMINAL("converters.count=4", "converters.tolerance.percent=5",
                    "converters.overrides=[{id: 1, plant: boost, duty_initial: 0.1}, {id: 2-3, "
                    "plant: buck_boost}]",
                    "controller.law=pi", "controller.gains={ki_per_v_s: 2, kp_per_v: 0.0005}");
}

Test(timing, load_and_input_voltage_that_change)
{
    COMPARE_NOMINAL("converters.count=3", "converters.tolerance.percent=5",
                    "load.changes=[{time_s: 0.004, load_ohm: 1.9, ramp_s: 0.001}]",
                    "input_voltage.changes=[{time_s: 0.008, input_voltage_v: 44}]",
                    "reference.changes=[{time_s: 0.0121, voltage_v: 11, ramp_s: 0.002}]");
}

/* --- counts --- */

Test(timing, one_converter)
{
    COMPARE_NOMINAL("converters.count=1");
}

Test(timing, three_converters)
{
    COMPARE_NOMINAL("converters.count=3", "converters.tolerance.percent=5");
}

Test(timing, sixty_four_converters)
{
    COMPARE_NOMINAL("converters.count=64", "converters.tolerance.percent=5",
                    "converters.tolerance.seed=9", "converters.stagger_us=0.1");
}

/* --- latencies and phases --- */

Test(timing, asymmetric_latency)
{
    COMPARE_NOMINAL("network.latency_up_us=3", "network.latency_down_us=11",
                    "controller.period_us=30");
}

Test(timing, asymmetric_latency_the_other_way_round)
{
    COMPARE_NOMINAL("network.latency_up_us=11", "network.latency_down_us=3",
                    "controller.period_us=30", "converters.stagger_us=0.5");
}

/* More than a controller period: several values are on their way at a time. */
Test(timing, latency_of_several_periods)
{
    COMPARE_NOMINAL("network.latency_up_us=47", "network.latency_down_us=31",
                    "controller.period_us=10", "controller.law=pi",
                    "controller.gains={ki_per_v_s: 5}");
}

/* Hundreds are: each converter's step is still at its own time, from the first on. */
Test(timing, latency_of_many_periods)
{
    COMPARE_NOMINAL("network.latency_up_us=1000", "network.latency_down_us=3000",
                    "controller.law=pi", "controller.gains={ki_per_v_s: 0.5}");
}

Test(timing, staggered_converters_and_a_phase_of_the_controller)
{
    COMPARE_NOMINAL("converters.phase_us=2.5", "converters.stagger_us=0.75",
                    "controller.phase_us=4.125", "network.latency_up_us=2",
                    "network.latency_down_us=2", "controller.period_us=20");
}

/* The controller's first steps see no voltage at all, and take 0. */
Test(timing, a_controller_that_begins_before_the_converters)
{
    COMPARE_NOMINAL("converters.phase_us=95", "controller.period_us=20");
}

Test(timing, latency_as_long_as_a_period_arrives_in_time)
{
    COMPARE_NOMINAL("network.latency_up_us=10", "network.latency_down_us=20",
                    "controller.period_us=20");
}

Test(timing, periods_that_do_not_divide_each_other)
{
    COMPARE_NOMINAL("controller.period_us=33.337", "converters.period_us=7.001",
                    "converters.overrides=[{id: 3-5, period_us: 12.5, phase_us: 1}]");
}

/* --- laws --- */

Test(timing, no_computation_delay)
{
    COMPARE_NOMINAL("controller.computation_delay=false", "controller.period_us=60",
                    "network.latency_down_us=1");
}

Test(timing, type3)
{
    COMPARE_NOMINAL("controller.law=type3", "controller.gains={}", "network.latency_up_us=3",
                    "network.latency_down_us=5", "controller.period_us=20");
}

Test(timing, pi)
{
    COMPARE_NOMINAL("controller.law=pi", "controller.gains={}", "network.latency_down_us=11");
}

Test(timing, state_feedback)
{
    COMPARE_NOMINAL("controller.law=state_feedback", "controller.gains={}",
                    "converters.stagger_us=0.5", "controller.period_us=20");
}

/* --- not the start alone: initial values --- */

Test(timing, initial_duty_and_state)
{
    COMPARE_NOMINAL("converters.duty_initial=0.3", "converters.initial.current_a=4",
                    "converters.initial.voltage_v=9", "controller.phase_us=30",
                    "converters.overrides=[{id: 7, duty_initial: 0.1, initial: {voltage_v: 14}}]");
}

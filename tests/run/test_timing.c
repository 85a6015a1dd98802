/*
 * "Other cases of the same kind": plants, laws, counts, phases and latencies that the
 * reference's cases do not have, against a second implementation of its timing.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../sets.h"
#include "harness/scenario/load/load.h"
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
    add_set(&a, RECORD_CONVERTERS("1"));
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
    COMPARE("boost", UP_AND_DOWN_US("3", "11"));
}

Test(timing, buck_boost)
{
    COMPARE("buck-boost", "nodes.controller.phase_us=7", "nodes.converter.stagger_us=1.5");
}

Test(timing, switched_buck_beside_averaged_ones)
{
    COMPARE("switched", "duration_s=0.02", UP_US("1.3"));
}

Test(timing, boosts_that_differ_from_bucks_in_the_same_run)
{
    COMPARE_NOMINAL("nodes.converter.count=4", "components.converter.tolerance.percent=5",
                    "components.converter.overrides=[{id: 1, model: boost}, {id: 2-3, "
                    "model: buck_boost}]",
                    "connections.1.initial=[0, 0.1, 0, 0]", "components.control.model=pi",
                    GAINS("'ki_per_v_s':2,'kp_per_v':0.0005"));
}

Test(timing, load_and_input_voltage_that_change)
{
    COMPARE_NOMINAL("nodes.converter.count=3", "components.converter.tolerance.percent=5", NO_LOAD,
                    NO_INPUT, LOAD_STEPS("[{'time_s':0.004,'value':1.9,'ramp_s':0.001}]"),
                    INPUT_STEPS("[{'time_s':0.008,'value':44}]"),
                    REFERENCE_STEPS("[{'time_s':0.0121,'value':11,'ramp_s':0.002}]"));
}

/* --- counts --- */

Test(timing, one_converter)
{
    COMPARE_NOMINAL("nodes.converter.count=1");
}

Test(timing, three_converters)
{
    COMPARE_NOMINAL("nodes.converter.count=3", "components.converter.tolerance.percent=5");
}

Test(timing, sixty_four_converters)
{
    COMPARE_NOMINAL("nodes.converter.count=64", "components.converter.tolerance.percent=5",
                    "components.converter.tolerance.seed=9", "nodes.converter.stagger_us=0.1");
}

/* --- latencies and phases --- */

Test(timing, asymmetric_latency)
{
    COMPARE_NOMINAL(UP_AND_DOWN_US("3", "11"), "nodes.controller.period_us=30");
}

Test(timing, asymmetric_latency_the_other_way_round)
{
    COMPARE_NOMINAL(UP_AND_DOWN_US("11", "3"), "nodes.controller.period_us=30",
                    "nodes.converter.stagger_us=0.5");
}

/* More than a controller period: several values are on their way at a time. */
Test(timing, latency_of_several_periods)
{
    COMPARE_NOMINAL(UP_AND_DOWN_US("47", "31"), "nodes.controller.period_us=10",
                    "components.control.model=pi", GAINS("'ki_per_v_s':5"));
}

/* Hundreds are: each converter's step is still at its own time, from the first on. */
Test(timing, latency_of_many_periods)
{
    COMPARE_NOMINAL(UP_AND_DOWN_US("1000", "3000"), "components.control.model=pi",
                    GAINS("'ki_per_v_s':0.5"));
}

Test(timing, staggered_converters_and_a_phase_of_the_controller)
{
    COMPARE_NOMINAL("nodes.converter.phase_us=2.5", "nodes.converter.stagger_us=0.75",
                    "nodes.controller.phase_us=4.125", UP_AND_DOWN_US("2", "2"),
                    "nodes.controller.period_us=20");
}

/* The controller's first steps see no voltage at all, and take 0. */
Test(timing, a_controller_that_begins_before_the_converters)
{
    COMPARE_NOMINAL("nodes.converter.phase_us=95", "nodes.controller.period_us=20");
}

Test(timing, latency_as_long_as_a_period_arrives_in_time)
{
    COMPARE_NOMINAL(UP_AND_DOWN_US("10", "20"), "nodes.controller.period_us=20");
}

Test(timing, periods_that_do_not_divide_each_other)
{
    COMPARE_NOMINAL(
        "nodes.controller.period_us=33.337", "nodes.converter.period_us=7.001",
        "nodes.converter.period_us=[7.001, 7.001, 7.001, 12.5, 12.5, 12.5, 7.001, 7.001, 7.001, "
        "7.001, 7.001, 7.001, 7.001, 7.001, 7.001, 7.001, 7.001, 7.001, 7.001, 7.001]",
        "nodes.converter.phase_us=[0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]");
}

/* --- laws --- */

Test(timing, no_computation_delay)
{
    COMPARE_NOMINAL("components.control.computation_delay=false", "nodes.controller.period_us=60",
                    DOWN_US("1"));
}

Test(timing, type3)
{
    COMPARE_NOMINAL("components.control.model=type3", LIMITS_ONLY, UP_AND_DOWN_US("3", "5"),
                    "nodes.controller.period_us=20");
}

Test(timing, pi)
{
    COMPARE_NOMINAL("components.control.model=pi", LIMITS_ONLY, DOWN_US("11"));
}

Test(timing, state_feedback)
{
    COMPARE_NOMINAL("components.control.model=state_feedback", CURRENT, LIMITS_ONLY,
                    "nodes.converter.stagger_us=0.5", "nodes.controller.period_us=20");
}

/* --- not the start alone: initial values --- */

Test(timing, initial_duty_and_state)
{
    COMPARE_NOMINAL("connections.1.initial=0.3", "components.converter.initial.current_a=4",
                    "components.converter.initial.voltage_v=9", "nodes.controller.phase_us=30",
                    "components.converter.overrides=[{id: 7, initial: {voltage_v: 14}}]",
                    "connections.1.initial=[0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.1, 0.3, 0.3, 0.3, "
                    "0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]");
}

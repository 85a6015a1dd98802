/* Tests the limits that a scenario may have, and the messages for mistakes there. */
#include "harness/scenario/limits.h"
#include "harness/scenario/system.h"
#include "test_scenario.h"

/* SMALL has 12 lines, so `limits:` is line 13, and a limit named a is line 14. */
#define LIMIT(text) SMALL "limits:\n  a: " text "\n"

static const struct hil_limit *limit_of(struct hil_scenario **scenario, const char *text)
{
    *scenario = load(text, NULL);
    cr_assert_eq((*scenario)->system->limit_count, 1);
    return (*scenario)->system->limits;
}

Test(scenario_limits, a_measure_of_an_array_is_all_of_it_or_one)
{
    struct hil_scenario *s;
    const struct hil_limit *l = limit_of(&s, LIMIT("{measure: 'voltage_v[*]', max: 13}"));

    cr_expect_eq(l->of, HIL_OF_MEASURE);
    cr_expect(l->first == 1 && l->last == 3);
    cr_expect(l->given[HIL_BOUND_MAX] && !l->given[HIL_BOUND_MIN]);
    cr_expect_eq(l->bounds[HIL_BOUND_MAX], 13);
    hil_scenario_free(s);
    l = limit_of(&s, LIMIT("{measure: 'voltage_v[1]', max: 13}"));
    cr_expect(l->first == 2 && l->last == 2);
    hil_scenario_free(s);
}

Test(scenario_limits, a_signal_is_a_place_in_a_record)
{
    struct hil_scenario *s;
    const struct hil_limit *l =
        limit_of(&s, LIMIT("{signal: ['converter[1].voltage_v', output_v], min: 1, from_s: 0.01}"));

    cr_expect_eq(l->signal_count, 2);
    cr_expect(!l->signals[0].measure && l->signals[0].number == 1);
    cr_expect(l->signals[1].measure && l->signals[1].number == 0);
    cr_expect(l->from_ns == 10000000 && l->to_ns == 100000000);
    hil_scenario_free(s);
}

static void expect_refusal(const char *text, const char *said)
{
    const char *refused = refusal(text, NULL);

    cr_expect(strncmp(refused, said, strlen(said)) == 0, "\n%s\nin place of\n%s", refused, said);
}

#define BIAS "faults:\n  a: {signal: 'control[1].voltage_v', kind: bias, value: 0.5, at_s: 0.01}\n"

Test(scenario_limits, a_faulted_signal_is_judged_as_it_is_or_as_it_would_be)
{
    struct hil_scenario *s;
    const struct hil_limit *l =
        limit_of(&s, LIMIT("{signal: ['control[1].original_voltage_v', 'control[1].voltage_v'], "
                           "max: 1}") BIAS);
    const struct hil_node_config *n = &s->system->nodes[l->signals[0].node];
    char name[HIL_SIGNAL_NAME_BYTES];

    cr_assert_eq(l->signal_count, 2);
    cr_expect(n->recorded[l->signals[0].number].original);
    cr_expect_not(n->recorded[l->signals[1].number].original);
    hil_signal_name(s->system, &n->recorded[l->signals[0].number], name);
    cr_expect_str_eq(name, "control[1].original_voltage_v");
    hil_scenario_free(s);
    expect_refusal(LIMIT("{signal: 'control[0].original_voltage_v', max: 1}") BIAS,
                   "FILE:14:15: no fault acts on control[0].voltage_v, so it has no original "
                   "value; allowed: signals of `faults`");
}

/* A scenario with a record of a node's own signals and of another node's. */
Test(scenario_limits, a_signal_is_judged_where_its_own_node_records_it)
{
    static const char text[] =
        "name: own\n"
        "duration_s: 0.1\n"
        "nodes: {a: {period_us: 10}, b: {period_us: 20}}\n"
        "components:\n"
        "  m: {model: dc_motor, node: b, inputs: {voltage_v: 1}}\n"
        "  c: {model: generic_pi, node: a, parameters: {kp: 1}, inputs: {reference: 1}}\n"
        "connections:\n"
        "  - {from: m.speed_rad_per_s, to: c.measurement}\n"
        "record:\n"
        "  - {signals: m.speed_rad_per_s, node: a}\n"
        "  - {signals: [m.current_a, m.speed_rad_per_s], node: b}\n"
        "limits:\n"
        "  speed: {signal: m.speed_rad_per_s, max: 1}\n";
    struct hil_scenario *s;
    const struct hil_limit *l = limit_of(&s, text);

    cr_expect(l->signals[0].node == 1 && l->signals[0].number == 1);
    hil_scenario_free(s);
}

Test(scenario_limits, times_are_in_percentiles_and_links_are_between_arrays)
{
    struct hil_scenario *s;
    const struct hil_limit *l =
        limit_of(&s, LIMIT("{from: 'converter[*]', to: controller, age_us: {p99: 30, max: 40}}"));

    cr_expect_eq(l->of, HIL_OF_LINK);
    cr_expect_eq(l->times[HIL_BOUND_AGE][1], 30);
    cr_expect_eq(l->times[HIL_BOUND_AGE][4], 40);
    cr_expect_neq(l->times[HIL_BOUND_AGE][0], l->times[HIL_BOUND_AGE][0], "p50 is not bounded");
    hil_scenario_free(s);
}

Test(scenario_limits, mistakes_are_told_with_their_places)
{
    static const struct {
        const char *text, *said;
    } mistakes[] = {
        {LIMIT("{measure: output, max: 1}"),
         "FILE:14:16: there is no measure 'output' (did you mean 'output_v'?); allowed: output_v, "
         "voltage_v\n"},
        {LIMIT("{measure: 'voltage_v[3]', max: 1}"),
         "FILE:14:16: 'voltage_v[3]' is none of the 3 measures called voltage_v; allowed: "
         "voltage_v, or voltage_v[0] to voltage_v[2]\n"},
        {LIMIT("{measure: output_v, overshot_pct: 1}"),
         "FILE:14:26: unknown key 'overshot_pct' in limits.a (did you mean 'overshoot_pct'?)\n"},
        {LIMIT("{measure: output_v, ripple: -1}"),
         "FILE:14:34: limits.a.ripple is '-1'; allowed: a number, at least 0\n"},
        {LIMIT("{measure: output_v, missed_percent: 1}"),
         "FILE:14:42: limits.a.missed_percent is not a bound of a measure; allowed: overshoot_pct, "
         "settling_ms, recovery_ms, dip_pct, rise_pct, ripple, rms_error, steady_error, "
         "rise_time_ms, min, max\n"},
        {LIMIT("{nodes: controller, dip_pct: 1}"),
         "FILE:14:35: limits.a.dip_pct is not a bound of nodes; allowed: missed_percent, late_us, "
         "step_us\n"},
        {LIMIT("{measure: output_v}"),
         "FILE:14:3: limits.a bounds nothing; allowed: at least one of overshoot_pct, "},
        {LIMIT("{max: 1}"),
         "FILE:14:3: limits.a is of 0 things; allowed: one of measure, signal, nodes, or a link "
         "from, to\n"},
        {LIMIT("{measure: output_v, nodes: controller, max: 1}"),
         "FILE:14:3: limits.a is of 2 things; "},
        {LIMIT("{measure: output_v, min: 2, max: 1}"),
         "FILE:14:31: min is 2; allowed: up to max, which is 1\n"},
        {LIMIT("{signal: 'converter[0].current_a', max: 1}"),
         "FILE:14:15: converter[0].current_a is not recorded; allowed: signals that `record` "
         "names"},
        {LIMIT("{signal: 'voltage_v[0]', max: 1}"),
         "FILE:14:15: the measure voltage_v[0] is not recorded; "},
        {LIMIT("{signal: output_v, max: 1, from_s: 0.2}"),
         "FILE:14:41: limits.a.from_s is 0.2; allowed: before the run ends, at 0.1 s\n"},
        {LIMIT("{signal: output_v, max: 1, from_s: 0.05, to_s: 0.04}"),
         "FILE:14:53: limits.a.to_s is 0.04; allowed: from 0.05 s on, where the window begins\n"},
        {LIMIT("{signal: output_v, max: 1, events: later}"),
         "FILE:14:41: limits.a.events goes with measure alone\n"},
        {LIMIT("{signal: output_v, step: {at_s: 0.09, within_ms: 20, from: {min: 1}, to: {}}}"),
         "FILE:14:79: the band has no end; required: min, max, or both\n"
         "FILE:14:38: at_s and within_ms come to 0.11 s; allowed: up to 0.1 s, "},
        {LIMIT("{signal: output_v, like: {csv: {file: none.csv, column: v}, absolute: 1}}"),
         "FILE:14:44: 'none.csv' cannot be read (No such file or directory); allowed: a CSV "
         "file, "},
        {LIMIT("{signal: output_v, like: {absolute: 1}}"),
         "FILE:14:31: limits.a.like is of neither; allowed: one of csv, record\n"},
        {LIMIT("{from: controller, to: controller, age_us: {max: 1}}"),
         "FILE:14:13: limits.a.from and to are 'controller' and 'controller', between which there "
         "is no link; "},
        {LIMIT("{from: 'converter[0]', to: controller, age_us: {max: 1}}"),
         "FILE:14:13: limits.a.from and to are 'converter[0]' and 'controller', "},
        {LIMIT("{nodes: controller, late_us: {}}"),
         "FILE:14:35: limits.a.late_us bounds nothing; allowed: at least one of p50, p99, "},
        {LIMIT("{nodes: controller, late_us: {p90: 1}}"),
         "FILE:14:36: unknown key 'p90' in limits.a.late_us (did you mean 'p50'?); "},
    };

    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        expect_refusal(mistakes[i].text, mistakes[i].said);
}

Test(scenario_limits, a_measure_without_a_reference_has_no_overshoot)
{
    static const char text[] = "name: free\n"
                               "duration_s: 0.1\n"
                               "nodes: {a: {period_us: 10}}\n"
                               "components:\n"
                               "  m: {model: dc_motor, node: a, inputs: {voltage_v: 1}}\n"
                               "measures:\n"
                               "  current_a: {sum: m.current_a}\n"
                               "limits:\n"
                               "  a: {measure: current_a, settling_ms: 1}\n";

    expect_refusal(text, "FILE:9:40: limits.a.settling_ms is for the measure current_a, which has "
                         "no reference; ");
}

Test(scenario_limits, they_can_be_set_from_the_command_line)
{
    struct hil_scenario *s =
        load(SMALL, SETS("limits.a.measure=output_v", "limits.a.settling_ms=1"));

    cr_expect_eq(s->system->limit_count, 1);
    cr_expect_str_eq(s->system->limits[0].name, "a");
    cr_expect_not_null(strstr(s->resolved, "limits:\n  a:\n    measure: output_v\n"));
    hil_scenario_free(s);
}

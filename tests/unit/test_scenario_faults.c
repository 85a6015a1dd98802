/* Tests the faults that a scenario may have, and the messages for mistakes there. */
#include "harness/scenario/faults.h"
#include "harness/scenario/system.h"
#include "test_scenario.h"

/* SMALL has 12 lines, so `faults:` is line 13, and a fault named a is line 14. */
#define FAULT(text) SMALL "faults:\n  a: " text "\n"

/* Two nodes with one component each. Their names have no number. */
static const char pair[] =
    "name: pair\n"
    "duration_s: 0.1\n"
    "mode: virtual\n"
    "nodes: {a: {period_us: 10}, b: {period_us: 20}}\n"
    "components:\n"
    "  m: {model: dc_motor, node: b, parameters: {resistance_ohm: 2}}\n"
    "  c: {model: generic_pi, node: a, parameters: {kp: 1}}\n"
    "connections:\n"
    "  - {from: m.speed_rad_per_s, to: c.measurement}\n"
    "  - {from: c.output, to: m.voltage_v}\n"
    "sources:\n"
    "  r: {to: c.reference, steps: {initial: 1, changes: [{time_s: 0.02, value: 2}, {time_s: 0.03, "
    "value: 3}]}}\n"
    "faults:\n";

static struct hil_scenario *load_pair(const char *faults)
{
    char text[4000];

    snprintf(text, sizeof text, "%s%s", pair, faults);
    return load(text, NULL);
}

Test(scenario_faults, one_of_an_array_of_components_acts_at_each_ones_node)
{
    struct hil_scenario *s =
        load(FAULT("{signal: 'converter[*].voltage_v', kind: bias, value: 0.5, duration_s: 0.01}"),
             NULL);
    const struct hil_system *system = s->system;

    cr_assert_eq(system->fault_count, 1);
    cr_assert_eq(system->here_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct hil_fault_here *here = &system->faults_here[i];
        const struct hil_node_config *node = &system->nodes[1 + i];
        cr_expect(here->node == 1 + i && here->act_count == 1 && here->acts[0].output);
        cr_expect_eq(here->acts[0].number, i, "each has random numbers of its own");
        cr_expect(node->first_fault == i && node->fault_count == 1 && node->faulted_count == 1);
        cr_expect_eq(node->decimation, 1, "it is recorded, though converter_decimation is 0");
        cr_expect_eq(node->recorded[node->recorded_count - 1].original, true);
    }
    cr_expect_eq(system->nodes[0].fault_count, 0);
    cr_expect_eq(system->faults[0].duration_ns, 10000000);
    hil_scenario_free(s);
}

Test(scenario_faults, a_signal_that_is_recorded_is_not_recorded_once_more)
{
    struct hil_scenario *s = load(FAULT("{signal: 'control[1].duty', kind: stuck}"), NULL);
    const struct hil_node_config *node = &s->system->nodes[0];
    unsigned as_it_is = 0, original = 0;

    for (unsigned i = 0; i < node->recorded_count; i++) {
        const struct hil_signal *r = &node->recorded[i];
        if (r->place != HIL_AT_OUTPUT || r->component != node->components[1])
            continue;
        as_it_is += !r->original;
        original += r->original;
    }
    cr_expect(as_it_is == 1 && original == 1);
    hil_scenario_free(s);
}

Test(scenario_faults, begin_after_a_change_of_a_source_or_another_fault)
{
    struct hil_scenario *s = load_pair(
        "  a: {signal: m.current_a, kind: stuck, after: {source: r}, at_s: 0.001, "
        "duration_s: 0.002}\n"
        "  b: {signal: m.current_a, kind: stuck, after: {source: r, change: 2}}\n"
        "  c: {nodes: b, kind: stall, after: {fault: a}, at_s: 0.0005, duration_s: 0.001}\n"
        "  d: {nodes: b, kind: stall, after: {fault: c}}\n");
    const struct hil_fault *f = s->system->faults;

    cr_expect_eq(f[0].at_ns, 21000000);
    cr_expect_eq(f[1].at_ns, 30000000);
    cr_expect_eq(f[2].at_ns, 23500000);
    cr_expect_eq(f[3].at_ns, 24500000);
    cr_expect_eq(f[3].duration_ns, UINT64_MAX);
    hil_scenario_free(s);
}

Test(scenario_faults, wait_for_a_signal_that_their_node_has)
{
    struct hil_scenario *s = load_pair(
        "  a: {signal: c.output, kind: stuck, after: {signal: m.speed_rad_per_s, above: 5}, "
        "at_s: 0.001}\n");
    const struct hil_fault_here *here = s->system->faults_here;

    cr_expect(s->system->faults[0].waits == HIL_WAITS_LEVEL && s->system->faults[0].level.above);
    cr_expect_eq(s->system->faults[0].level.level, 5);
    cr_expect(here->node == 0 && here->level.place == HIL_AT_LINK);
    hil_scenario_free(s);
}

Test(scenario_faults, a_factor_is_of_each_components_own_parameter)
{
    struct hil_scenario *s =
        load_pair("  a: {component: m, kind: tune, parameter: resistance_ohm, factor: 0.5}\n"
                  "  b: {component: m, kind: tune, parameter: resistance_ohm, value: 7}\n");

    cr_expect_eq(s->system->faults_here[0].acts[0].tuned, 1);
    cr_expect_eq(s->system->faults_here[1].acts[0].tuned, 7);
    hil_scenario_free(s);
}

Test(scenario_faults, every_node_of_a_run_has_the_same)
{
    struct hil_scenario *one = load(FAULT("{signal: 'control[1].duty', kind: stuck}"), NULL);
    struct hil_scenario *other =
        load(FAULT("{signal: 'control[1].duty', kind: stuck, at_s: 0.01}"), NULL);

    cr_expect_neq(one->listing.hash, other->listing.hash);
    hil_scenario_free(one);
    hil_scenario_free(other);
}

static void expect_refusal(const char *text, const char *said)
{
    const char *refused = refusal(text, NULL);

    cr_expect(strncmp(refused, said, strlen(said)) == 0, "\n%s\nin place of\n%s", refused, said);
}

Test(scenario_faults, mistakes_are_told_with_their_places)
{
    static const struct {
        const char *fault, *said;
    } mistakes[] = {
        {"{kind: stuck}", "14:3: faults.a is of 0 things; allowed: one of signal, nodes, "
                          "component, or a link from, to\n"},
        {"{signal: 'control[1].duty', nodes: controller, kind: stuck}",
         "14:3: faults.a is of 2 things; allowed: one of"},
        {"{from: controller, kind: freeze}",
         "14:3: faults.a has no receivers; required with from: to\n"},
        {"{nodes: controller, to: controller, kind: stall}",
         "14:30: faults.a.to has no senders; required with to: from\n"},
        {"{nodes: controller}", "14:6: faults.a.kind is missing"},
        {"{nodes: controller, kind: stal}", "14:32: faults.a.kind is 'stal'"},
        {"{nodes: controller, kind: stuck}",
         "14:32: faults.a.kind is stuck, which does not go with nodes; allowed: stall, slow, "
         "crash, restart\n"},
        {"{signal: 'control[1].duty', kind: loss}",
         "14:40: faults.a.kind is loss, which does not go with signals; allowed: stuck, bias, "
         "gain, noise, drift, spike, dropout, quantise, delay\n"},
        {"{signal: 'control[1].duty', kind: bias}",
         "14:3: faults.a is bias without a value; required: value\n"},
        {"{signal: 'control[1].duty', kind: bias, value: x}", "14:53: faults.a.value is 'x'"},
        {"{signal: 'control[1].duty', kind: bias, value: 1, factor: 2}",
         "14:64: faults.a.factor goes with other kinds than bias; allowed with bias: value\n"},
        {"{nodes: controller, kind: stall, seed: 2}",
         "14:45: faults.a.seed goes with other kinds than stall; allowed with stall: none of these "
         "numbers\n"},
        {"{signal: 'control[1].duty', kind: quantise, value: 0}",
         "14:57: faults.a.value is 0; allowed: above 0, the step from one value to the next\n"},
        {"{signal: 'control[1].duty', kind: noise, value: -1}",
         "14:54: faults.a.value is -1; allowed: 0 or above, a standard deviation\n"},
        {"{signal: 'control[1].duty', kind: spike, value: 1, probability: 2}",
         "14:70: faults.a.probability is '2'; allowed: a number, 0 to 1\n"},
        {"{from: controller, to: 'converter[*]', kind: delay, delay_us: 1e9}",
         "14:68: faults.a.delay_us is 50000000 steps of its node; allowed: up to 1000000 steps\n"},
        {"{signal: 'control[9].duty', kind: stuck}", "14:15: 'control[9]' is none of the 3"},
        {"{signal: 'control[1].dutty', kind: stuck}",
         "14:15: control, a pid, has no signal 'dutty' (did you mean 'duty'?)"},
        {"{signal: 'control[1].duty', kind: stuck, after: {signal: 'converter[1].current_a', "
         "above: "
         "1}}",
         "14:63: the node controller does not have converter[1].current_a; allowed: signals of its "
         "components, and outputs that are sent to it\n"},
        {"{signal: 'control[1].duty', kind: stuck, after: {signal: 'control[1].duty'}}",
         "14:63: faults.a.after.signal has no level; required: one of above, below\n"},
        {"{signal: 'control[1].duty', kind: stuck, after: {source: load, above: 3}}",
         "14:76: faults.a.after.above goes with signal alone\n"},
        {"{signal: 'control[1].duty', kind: stuck, after: {source: lod}}",
         "14:63: faults.a.after.source is 'lod', which is not a source with steps"},
        {"{signal: 'control[1].duty', kind: stuck, after: {fault: b}}",
         "14:62: faults.a.after.fault is 'b', which is not a fault before this one"},
        {"{signal: 'control[1].duty', kind: stuck, after: {fault: b, source: c}}",
         "14:54: faults.a.after names 2 things; allowed: one of source, fault, signal, event\n"},
        {"{signal: 'control[1].duty', kind: stuck, after: {}}",
         "14:54: faults.a.after names 0 things; allowed: one of"},
        {"{signal: 'control[1].duty', kind: stuck, after: {event: safe}}",
         "14:62: faults.a.after.event is of nothing; required: of\n"},
        {"{signal: 'control[1].duty', kind: stuck, after: {event: sad, of: controller}}",
         "14:62: faults.a.after.event is 'sad' (did you mean 'old'?); "
         "allowed: old, new, safe, run, failed\n"},
        {"{signal: 'control[1].duty', kind: stuck, after: {event: safe, of: 'converter[*]'}}",
         "14:72: faults.a.after.of is 3 nodes; allowed: one\n"},
        {"{signal: 'control[1].duty', kind: stuck, after: {event: failed, of: controller}}",
         "14:74: there is no component 'controller'"},
        {"{signal: 'control[1].duty', kind: stuck, after: {event: old, of: "
         "'control[1].voltage_v'}}",
         "14:71: faults.a.after.of is control[1].voltage_v, which has no age limit; allowed: "
         "inputs "
         "with one\n"},
        {"{signal: 'control[1].duty', kind: stuck, at_s: 0.1}",
         "14:53: faults.a.at_s makes it begin at 0.1 s; allowed: before the run ends, at 0.1 s\n"},
        {"{signal: 'control[1].duty', kind: stuck, duration_s: 0}",
         "14:59: faults.a.duration_s is '0'"},
        {"{nodes: 'converter[1]', kind: crash, duration_s: 0.01}",
         "14:55: faults.a.duration_s does not go with crash; allowed: with restart\n"},
        {"{nodes: 'converter[1]', kind: restart, duration_s: 0.01}",
         "14:36: faults.a.kind is restart, but on_lost is end; allowed: with on_lost: restart\n"},
        {"{nodes: 'converter[1]', kind: restart}",
         "14:3: faults.a has no duration_s; required with restart\n"},
        {"{from: 'converter[1]', to: 'converter[0]', kind: freeze}",
         "14:13: faults.a.from and to are 'converter[1]' and 'converter[0]', between which there "
         "is no link;"},
        {"{component: 'converter[*]', kind: tune, parameter: capacitance_f}",
         "14:3: faults.a has neither value nor factor; required with tune: one of value, factor\n"},
        {"{component: 'converter[*]', kind: tune, factor: 2}",
         "14:3: faults.a names no parameter; required with tune: parameter\n"},
        {"{component: 'converter[*]', kind: tune, parameter: capacitance, factor: 2}",
         "14:57: faults.a.parameter is 'capacitance', which is no parameter of the model buck (did "
         "you mean 'capacitance_f'?)"},
        {"{component: 'converter[*]', kind: tune, parameter: capacitance_f, factor: -2}",
         "14:80: faults.a.factor makes capacitance_f -0.00094; allowed: 1e-9 to 1 F\n"},
    };

    for (unsigned i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        char text[2000], said[400];
        snprintf(text, sizeof text, FAULT("%s"), mistakes[i].fault);
        snprintf(said, sizeof said, "FILE:%s", mistakes[i].said);
        expect_refusal(text, said);
    }
}

Test(scenario_faults, wait_for_events_of_inputs_nodes_components_and_faults_that_wait)
{
    struct hil_scenario *s = load_pair(
        "  a: {nodes: b, kind: stall, after: {event: safe, of: a}, duration_s: 0.01}\n"
        "  b: {nodes: b, kind: stall, after: {event: failed, of: m}, at_s: 0.002, duration_s: 1}\n"
        "  c: {nodes: a, kind: stall, after: {fault: b}}\n");
    const struct hil_fault *f = s->system->faults;

    for (unsigned i = 0; i < 3; i++)
        cr_expect_eq(f[i].waits, HIL_WAITS_EVENT);
    cr_expect(f[0].awaited.event == HIL_AWAITED_SAFE && f[0].awaited.node == 0);
    cr_expect(f[1].awaited.event == HIL_AWAITED_FAILED && f[1].awaited.node == 1);
    cr_expect_eq(f[1].at_ns, 2000000);
    cr_expect(f[2].awaited.event == HIL_AWAITED_END && f[2].awaited.fault == 1);
    cr_expect(hil_awaited_is_of(s->system, &f[2].awaited, 1));
    cr_expect_not(hil_awaited_is_of(s->system, &f[2].awaited, 0));
    hil_scenario_free(s);
}

Test(scenario_faults, a_parameter_that_is_not_tunable_cannot_be_tuned)
{
    expect_refusal(
        "name: bits\n"
        "duration_s: 0.1\n"
        "nodes: {a: {period_us: 10}}\n"
        "components: {q: {model: quantiser, node: a}}\n"
        "sources: {x: {to: q.input, constant: 1}}\n"
        "faults:\n"
        "  f: {component: q, kind: tune, parameter: bits, value: 8}\n",
        "FILE:7:44: faults.f.parameter is 'bits', a parameter that is not tunable of the "
        "model quantiser; allowed: none, it has no tunable parameter\n");
}

Test(scenario_faults, one_that_does_not_end_has_none_after_it)
{
    char text[4000];

    snprintf(text, sizeof text,
             "%s  a: {nodes: b, kind: stall, after: {signal: m.current_a, below: -1}}\n"
             "  b: {nodes: b, kind: stall, after: {fault: a}}\n",
             pair);
    expect_refusal(text, "FILE:15:45: faults.b.after.fault is a, which has no duration_s; allowed: "
                         "a fault that ends\n");
}

/*
 * Tests what correct scenarios are resolved to.
 */
#include "test_scenario.h"

#include "../bank.h"
#include "../sets.h"
#include "harness/scenario/load/load.h"

#include <glob.h>
#include <math.h>

/* The value of a quantity of a converter's plant by name, whichever table of the model has it. */
static double value(const struct hil_scenario *s, unsigned id, const char *name)
{
    const struct hil_component *plant = bank_plant(s, id);
    int index = hil_quantity_find(&plant->model->parameters, name);
    if (index >= 0)
        return plant->parameters[index];
    cr_assert_geq(hil_quantity_find(&plant->model->inputs, name), 0, "%s has no %s",
                  plant->model->name, name);
    const struct hil_feed *feed = bank_feed(s, id, name);
    return feed->kind == HIL_FEED_CONSTANT
               ? feed->initial
               : s->system->sources[feed->from].steps.initial * feed->scale;
}

/* A converter's factor for a profile. */
static double factor(const struct hil_scenario *s, unsigned id, const char *input)
{
    cr_assert_eq(bank_feed(s, id, input)->kind, HIL_FEED_SOURCE);
    return bank_feed(s, id, input)->scale;
}

static double state(const struct hil_scenario *s, unsigned id, const char *name)
{
    const struct hil_component *plant = bank_plant(s, id);
    return plant->states[hil_quantity_find(&plant->model->states, name)];
}

static double gain(const struct hil_scenario *s, const char *name)
{
    const struct hil_component *law = bank_law(s, 0);
    return law->parameters[hil_quantity_find(&law->model->parameters, name)];
}

/* --- equality, field by field ----------------------------------------------------------- */

/* Compares bits, not numbers: a scenario that is loaded again must give the same run. */
#define SAME(field)                                                                                \
    cr_expect_eq(memcmp(&a->field, &b->field, sizeof(a->field)), 0, "%s differs", #field)

static void expect_same_timing(const struct hil_timing *a, const struct hil_timing *b)
{
    SAME(period_ns);
    SAME(phase_ns);
    SAME(overrun);
    SAME(catch_up_ns);
    SAME(resync_ns);
}

static void expect_same_profile(const struct hil_profile *a, const struct hil_profile *b)
{
    SAME(initial);
    cr_assert_eq(a->count, b->count);
    for (unsigned i = 0; i < a->count; i++)
        SAME(changes[i]);
}

static void expect_same_numbers(const double *a, const double *b, unsigned count)
{
    if (count)
        cr_expect_eq(memcmp(a, b, count * sizeof *a), 0);
}

static void expect_same_component(const struct hil_component *a, const struct hil_component *b)
{
    cr_expect_eq(a->model, b->model);
    expect_same_numbers(a->parameters, b->parameters, a->model->parameters.count);
    expect_same_numbers(a->states, b->states, a->model->states.count);
    SAME(computation_delay);
}

static void expect_same_node(const struct hil_node_config *a, const struct hil_node_config *b)
{
    SAME(stale.limit_ns);
    SAME(stale.action);
    SAME(decimation);
    SAME(recorded_count);
    SAME(in_count);
    expect_same_timing(&a->timing, &b->timing);
    for (unsigned i = 0; i < a->in_count; i++) {
        SAME(feeds[i].kind);
        SAME(feeds[i].scale);
        SAME(feeds[i].initial);
    }
}

static void expect_same_executor(const struct hil_executor_config *a,
                                 const struct hil_executor_config *b)
{
    SAME(count);
    for (unsigned i = 0; i < a->count; i++)
        SAME(nodes[i]);
    SAME(cpu);
    SAME(priority);
    SAME(scheduler);
    SAME(wait);
}

static void expect_same(const struct hil_scenario *a, const struct hil_scenario *b)
{
    cr_expect_str_eq(a->name, b->name);
    SAME(duration_ns);
    SAME(mode);
    SAME(on_lost);
    SAME(fabric);
    SAME(network);
    SAME(system->node_count);
    SAME(system->component_count);
    SAME(system->link_count);
    for (unsigned i = 0; i < a->system->node_count; i++)
        expect_same_node(&a->system->nodes[i], &b->system->nodes[i]);
    for (unsigned i = 0; i < a->system->component_count; i++)
        expect_same_component(&a->system->components[i], &b->system->components[i]);
    for (unsigned i = 0; i < a->system->link_count; i++)
        SAME(system->links[i].latency_ns);
    cr_assert_eq(a->executor_count, b->executor_count);
    for (unsigned i = 0; i < a->executor_count; i++)
        expect_same_executor(&a->executors[i], &b->executors[i]);
    static const char *const profiles[] = {"reference", "load", "input_voltage"};
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
        expect_same_profile(bank_profile(a, profiles[i]), bank_profile(b, profiles[i]));
    SAME(on_record_error);
    SAME(trace.enable);
    SAME(trace.keep);
    SAME(trace.every);
    SAME(trace.buffer_kib);
    SAME(trace.kernel);
    SAME(trace.events.step);
    SAME(trace.events.push);
    cr_expect_str_eq(a->resolved, b->resolved);
}

static void expect_round_trip(const struct hil_scenario *scenario)
{
    struct hil_scenario *again = load(scenario->resolved, NULL);

    expect_same(scenario, again);
    hil_scenario_free(again);
}

/* --- defaults --------------------------------------------------------------------------- */

Test(scenario, the_smallest_has_every_default)
{
    struct hil_scenario *s = load(SMALL, NULL);
    const struct hil_node_config *last = bank_converter(s, 2);

    cr_expect_str_eq(s->name, "small");
    cr_expect_eq(s->duration_ns, 100000000u);
    cr_expect_eq(s->mode, HIL_REALTIME);
    cr_expect_eq(s->fabric, HIL_FABRIC_SHM);
    cr_expect_eq(bank_latency_ns(s, 1, 0), 0u);
    cr_expect_eq(s->network.seed, 1u);

    cr_expect_str_eq(bank_law(s, 0)->model->name, "pid");
    cr_expect_eq(bank_controller(s)->timing.period_ns, 20000u);
    cr_expect_eq(bank_controller(s)->timing.phase_ns, 0u);
    cr_expect_eq(bank_controller(s)->timing.overrun, HIL_SKIP);
    cr_expect(bank_law(s, 0)->computation_delay);
    cr_expect_eq(gain(s, "duty_min"), 0);
    cr_expect_eq(gain(s, "duty_max"), 1);
    cr_expect_eq(gain(s, "ki_per_v_s"), 150);

    cr_assert_eq(bank_count(s), 3u);
    cr_expect_str_eq(bank_plant(s, 2)->model->name, "buck");
    cr_expect_eq(value(s, 2, "inductance_h"), 47e-6);
    cr_expect_eq(value(s, 2, "load_ohm"), 2.4);
    cr_expect_eq(state(s, 2, "voltage_v"), 0);
    cr_expect_eq(bank_feed(s, 2, "duty")->initial, 0);
    cr_expect_eq(last->timing.period_ns, 10000u);
    cr_expect_eq(last->timing.overrun, HIL_CATCH_UP);

    cr_expect_eq(bank_profile(s, "reference")->initial, 12);
    cr_expect_eq(bank_profile(s, "reference")->count + bank_profile(s, "load")->count +
                     bank_profile(s, "input_voltage")->count,
                 0u);
    cr_expect_eq(bank_controller(s)->recorded_count, 6u, "voltages and duties");
    cr_expect_eq(bank_controller(s)->decimation, 1u);
    cr_expect_eq(last->decimation, 0u);
    cr_expect_eq(s->on_record_error, HIL_RECORD_GO_ON);
    cr_expect(!s->trace.enable && s->trace.kernel && s->trace.events.step && s->trace.events.state);
    hil_scenario_free(s);
}

Test(scenario, what_is_late_and_what_is_valid)
{
    struct hil_scenario *s = load(SMALL, NULL);

    cr_expect_eq(bank_controller(s)->timing.catch_up_ns, 0u);
    cr_expect_eq(bank_controller(s)->timing.resync_ns, 200000u); /* ten periods */
    cr_expect_eq(bank_converter(s, 2)->timing.resync_ns, 100000u);
    cr_expect_eq(bank_controller(s)->stale.limit_ns, 0u);
    cr_expect_eq(bank_converter(s, 2)->stale.action, HIL_STALE_HOLD);
    cr_expect_eq(s->validity.missed_percent, 1);
    cr_expect_eq(s->validity.lost_percent, 1);
    cr_expect(s->validity.allow_degraded && s->validity.required);
    hil_scenario_free(s);

    s = load(SMALL,
             SETS("nodes.converter.catch_up_limit=1.1", "nodes.converter.resync_after_us=500",
                  "nodes.controller.input_age_limit_us=70", "nodes.controller.on_stale_input=end",
                  "nodes.converter.on_stale_input=safe", SAFE_CONTROL("0.25"),
                  SAFE_CONVERTER("0.25"),
                  "validity={missed_percent: 0.5, lost_percent: 0.25, gap_us: 20, "
                  "behind_us: 30, stale_inputs: 4, "
                  "bad_inputs: 7, absent_faults: 9, lost_records: 5, allow_degraded: false, "
                  "required: false}"));
    cr_expect_eq(bank_converter(s, 0)->timing.catch_up_ns, 9090u); /* 10 us / 1.1 */
    cr_expect_eq(bank_converter(s, 0)->timing.resync_ns, 500000u);
    cr_expect_eq(bank_controller(s)->stale.limit_ns, 70000u);
    cr_expect_eq(bank_controller(s)->stale.action, HIL_STALE_END);
    cr_expect_eq(bank_converter(s, 0)->stale.action, HIL_STALE_SAFE);
    cr_expect_eq(bank_plant(s, 0)->safe[0], 0.25);
    cr_expect_eq(s->validity.missed_percent, 0.5);
    cr_expect_eq(s->validity.lost_percent, 0.25);
    cr_expect_eq(s->validity.gap_ns, 20000u);
    cr_expect_eq(s->validity.behind_ns, 30000u);
    cr_expect_eq(s->validity.stale_inputs, 4u);
    cr_expect_eq(s->validity.bad_inputs, 7u);
    cr_expect_eq(s->validity.absent_faults, 9u);
    cr_expect_eq(s->validity.lost_records, 5u);
    cr_expect_not(s->validity.allow_degraded || s->validity.required);
    expect_round_trip(s);
    hil_scenario_free(s);
}

/* In virtual time the order at one instant is defined, so the results are the same as without it.
 */
Test(scenario, a_phase_of_real_time_alone)
{
    struct hil_scenario *s =
        load(SMALL, SETS("nodes.controller.phase_us=2", "nodes.controller.realtime_phase_us=5"));

    cr_expect_eq(bank_controller(s)->timing.phase_ns, 7000u);
    expect_round_trip(s);
    hil_scenario_free(s);
    s = load(SMALL, SETS("mode=virtual", "nodes.controller.phase_us=2",
                         "nodes.controller.realtime_phase_us=5"));
    cr_expect_eq(bank_controller(s)->timing.phase_ns, 2000u);
    hil_scenario_free(s);
}

/* Whether steps of the two loops are ever due at the same instant. */
static bool meet(const struct hil_timing *a, const struct hil_timing *b)
{
    for (uint64_t n = 0; n < b->period_ns; n++) /* after that the pattern repeats */
        if (a->phase_ns + n * a->period_ns >= b->phase_ns &&
            (a->phase_ns + n * a->period_ns - b->phase_ns) % b->period_ns == 0)
            return true;
    return false;
}

/* In the shipped real-time scenarios it is not left to chance whether an input has arrived. */
Test(scenario, no_shipped_scenario_races_in_real_time)
{
    static const char *const names[] = {"dcdc20", "dcdc20-nominal", "dcdc20-verbs"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct hil_scenario_options options = {.realtime = true};
        char path[64], message[1024] = "";
        struct hil_scenario *s = NULL;

        snprintf(path, sizeof(path), "configs/%s.yaml", names[i]);
        cr_assert_eq(hil_scenario_load(&s, path, &options, message, sizeof(message)), 0, "%s",
                     message);
        for (unsigned id = 0; id < bank_count(s); id++)
            cr_expect_not(meet(&bank_controller(s)->timing, &bank_converter(s, id)->timing),
                          "%s: the controller and converter %u", path, id);
        hil_scenario_free(s);
    }
}

static void expect_nodes(const struct hil_executor_config *executor, unsigned first, unsigned last)
{
    cr_assert_eq(executor->count, last - first + 1);
    for (unsigned i = 0; i < executor->count; i++)
        cr_expect_eq(executor->nodes[i], first + i);
}

Test(scenario, without_placement_each_role_has_an_executor)
{
    struct hil_scenario *s =
        load(SMALL, SETS("nodes.controller.cpu=0", "nodes.converter.priority=7",
                         "nodes.converter.wait=hybrid", "nodes.controller.scheduler=deadline"));

    cr_assert_eq(s->executor_count, 2u);
    expect_nodes(&s->executors[0], 0, 0);
    cr_expect_eq(s->executors[0].cpu, 0);
    cr_expect_eq(s->executors[0].priority, 80);
    expect_nodes(&s->executors[1], 1, 3);
    cr_expect_eq(s->executors[1].cpu, -1);
    cr_expect_eq(s->executors[1].priority, 7);
    cr_expect_eq(s->executors[0].scheduler, HIL_DEADLINE);
    cr_expect_eq(s->executors[1].scheduler, HIL_FIFO);
    cr_expect_eq(s->executors[0].wait, HIL_SPIN);
    cr_expect_eq(s->executors[1].wait, HIL_HYBRID);
    hil_scenario_free(s);
}

Test(scenario, placement_as_written)
{
    struct hil_scenario *s =
        load(SMALL "placement:\n"
                   "  - {nodes: 'converter[2]', cpu: 0, priority: 0, scheduler: other}\n"
                   "  - {nodes: [controller, 'converter[0-1]']}\n",
             NULL);

    cr_assert_eq(s->executor_count, 2u);
    expect_nodes(&s->executors[0], 3, 3);
    cr_expect_eq(s->executors[0].priority, 0);
    cr_expect_eq(s->executors[0].scheduler, HIL_OTHER);
    expect_nodes(&s->executors[1], 0, 2);
    expect_round_trip(s);
    hil_scenario_free(s);
}

static const char two_machines[] =
    SMALL "fabric: verbs\n"
          "verbs:\n"
          "  nodes:\n"
          "    - {nodes: 'converter[1-2]', address: 10.0.0.2}\n"
          "    - {nodes: [controller, 'converter[0]'], address: 10.0.0.1}\n";

Test(scenario, verbs_as_written)
{
    struct hil_scenario *s =
        load(two_machines, SETS("verbs.port=4791", "verbs.completions=polled"));

    cr_assert_eq(s->fabric, HIL_FABRIC_VERBS);
    cr_expect_str_eq(s->system->nodes[0].address, "10.0.0.1");
    cr_expect_str_eq(s->system->nodes[1].address, "10.0.0.1");
    cr_expect_str_eq(s->system->nodes[2].address, "10.0.0.2");
    cr_expect_str_eq(s->system->nodes[3].address, "10.0.0.2");
    cr_expect_eq(s->verbs.port, 4791u);
    cr_expect_eq(s->verbs.completions, HIL_POLLED);
    expect_round_trip(s);
    hil_scenario_free(s);
}

Test(scenario, tcp_is_on_this_machine_unless_it_says_where)
{
    struct hil_scenario *s = load(SMALL "fabric: tcp\n", NULL);
    cr_expect_eq(s->tcp.port, 18700u);
    cr_expect_eq(s->tcp.cpu, -1);
    cr_expect_str_eq(s->system->nodes[0].address, "127.0.0.1");
    cr_expect_str_eq(s->system->nodes[3].address, "127.0.0.1");
    hil_scenario_free(s);

    s = load(SMALL "fabric: tcp\n"
                   "tcp:\n"
                   "  wait: spin\n"
                   "  nodes:\n"
                   "    - {nodes: controller, address: 10.0.0.1}\n"
                   "    - {nodes: converter, address: 'fd00::2'}\n",
             SETS("tcp.timeout_ms=100", "tcp.cpu=0"));
    cr_expect_eq(s->tcp.timeout_ms, 100u);
    cr_expect_eq(s->tcp.cpu, 0);
    cr_expect_eq(s->tcp.wait, HIL_SERVICE_SPINS);
    cr_expect_str_eq(s->system->nodes[0].address, "10.0.0.1");
    cr_expect_str_eq(s->system->nodes[3].address, "fd00::2");
    hil_scenario_free(s);
}

Test(scenario, verbs_needs_no_nodes_in_virtual_time)
{
    struct hil_scenario *s = load(SMALL "fabric: verbs\nmode: virtual\n", NULL);

    cr_expect_eq(s->fabric, HIL_FABRIC_SIM);
    cr_expect_null(s->system->nodes[0].address);
    hil_scenario_free(s);
}

/* --- numbers ---------------------------------------------------------------------------- */

static double jitter_ns(const char *written)
{
    char set[64];
    snprintf(set, sizeof(set), "network.jitter_us=%s", written);
    struct hil_scenario *s = load(SMALL, SETS(set));
    double ns = (double)s->network.jitter_ns;
    hil_scenario_free(s);
    return ns;
}

Test(scenario, numbers_as_people_write_them)
{
    cr_expect_eq(jitter_ns("10"), 10000);
    cr_expect_eq(jitter_ns("10."), 10000);
    cr_expect_eq(jitter_ns(".5"), 500);
    cr_expect_eq(jitter_ns("+2.5"), 2500);
    cr_expect_eq(jitter_ns("1e1"), 10000);
    cr_expect_eq(jitter_ns("4.7e-02"), 47);
    cr_expect_eq(jitter_ns("1E+2"), 100000);
    cr_expect_eq(jitter_ns("0"), 0);
}

Test(scenario, whole_ns_but_for_rounding)
{
    cr_expect_eq(jitter_ns("0.001"), 1);
    cr_expect_eq(jitter_ns("0.30000000000000004"), 300);
    cr_expect_eq(jitter_ns("16.667"), 16667);
    cr_expect_eq(jitter_ns("123456.789"), 123456789);
    struct hil_scenario *s = load(SMALL, SETS("duration_s=86400.000000001"));
    cr_expect_eq(s->duration_ns, 86400000000001u);
    hil_scenario_free(s);
}

/* --- tolerance -------------------------------------------------------------------------- */

#define LOAD_CHANGES LOAD_STEPS("[{'time_s':0.05,'value':3}]")

Test(scenario, multipliers_given_outright)
{
    struct hil_scenario *s = load(CONVERTERS("    tolerance:\n"
                                             "      multipliers:\n"
                                             "        inductance_h: [0.95, 1, 1.05]\n"
                                             "        load_ohm: [1, 2, 0.5]\n"
                                             "        input_voltage_v: [1.1, 1, 1]\n"),
                                  SETS(LOAD_CHANGES, "sources.load.steps.initial=4",
                                       INPUT_STEPS("[{'time_s':0.05,'value':40}]")));

    cr_expect_eq(value(s, 0, "inductance_h"), 47e-6 * 0.95);
    cr_expect_eq(value(s, 2, "inductance_h"), 47e-6 * 1.05);
    cr_expect_eq(value(s, 1, "load_ohm"), 8);
    cr_expect_eq(factor(s, 1, "load_ohm"), 2);
    cr_expect_eq(factor(s, 0, "input_voltage_v"), 1.1);
    cr_expect_eq(value(s, 0, "esr_ohm"), 0.03);
    expect_round_trip(s);
    hil_scenario_free(s);
}

#define DRAWN CONVERTERS("    tolerance: {percent: 5, seed: 42}\n")

Test(scenario, multipliers_drawn_from_the_seed)
{
    struct hil_scenario *s = load(DRAWN, NULL), *same = load(DRAWN, NULL);
    struct hil_scenario *other = load(DRAWN, SETS("components.converter.tolerance.seed=43"));
    struct hil_scenario *changing = load(DRAWN, SETS(LOAD_CHANGES));

    expect_same(s, same);
    for (unsigned i = 0; i < 3; i++) {
        double multiplier = value(s, i, "inductance_h") / 47e-6;
        cr_expect(fabs(multiplier - 1) <= 0.05);
        cr_expect_neq(multiplier, 1);
        cr_expect_eq(factor(changing, i, "load_ohm") * 2.4, value(s, i, "load_ohm"));
    }
    cr_expect_neq(value(s, 0, "esr_ohm"), value(s, 1, "esr_ohm"));
    cr_expect_neq(value(s, 0, "esr_ohm"), value(other, 0, "esr_ohm"));
    cr_expect_eq(value(s, 0, "input_voltage_v"), 48); /* not one of the six with tolerances */
    expect_round_trip(s);
    hil_scenario_free(s);
    hil_scenario_free(same);
    hil_scenario_free(other);
    hil_scenario_free(changing);
}

/* The first number of splitmix64 from seed 42, as given by other programs: 13679457532755275413. */
Test(scenario, multipliers_are_drawn_as_documented)
{
    struct hil_scenario *s = load(DRAWN, NULL);
    double uniform = (double)(13679457532755275413u >> 11) * 0x1p-53;

    cr_expect_eq(value(s, 0, "inductance_h"), 47e-6 * (1 + 0.05 * (2 * uniform - 1)));
    hil_scenario_free(s);
}

Test(scenario, a_draw_does_not_depend_on_the_rest)
{
    struct hil_scenario *s = load(DRAWN, NULL);
    struct hil_scenario *more =
        load(DRAWN, SETS("nodes.converter.count=5",
                         "components.converter.tolerance.multipliers.esr_ohm=[1,1,1,1,1]",
                         "components.converter.model=boost"));

    for (unsigned i = 0; i < 3; i++)
        cr_expect_eq(value(s, i, "capacitance_f"), value(more, i, "capacitance_f"));
    cr_expect_eq(value(more, 4, "esr_ohm"), 0.03);
    hil_scenario_free(s);
    hil_scenario_free(more);
}

/* --- overrides -------------------------------------------------------------------------- */

Test(scenario, overrides_of_some)
{
    struct hil_scenario *s =
        load(CONVERTERS("    parameters: {load_ohm: 4}\n"
                        "    initial: {voltage_v: 5}\n"
                        "    tolerance: {multipliers: {load_ohm: [1, 2, 2]}}\n"
                        "    overrides:\n"
                        "      - id: 1-2\n"
                        "        parameters: {load_ohm: 6}\n"
                        "        initial: {current_a: 3}\n"),
             SETS("nodes.converter.period_us=[10, 20, 20]", "nodes.converter.phase_us=[7, 1, 1]",
                  "nodes.converter.stagger_us=0.5", "connections.1.initial=[0, 0.25, 0.25]"));

    cr_expect_eq(bank_converter(s, 0)->timing.phase_ns, 7000u);
    cr_expect_eq(bank_converter(s, 1)->timing.phase_ns, 1500u);
    cr_expect_eq(bank_converter(s, 2)->timing.phase_ns, 2000u);
    cr_expect_eq(bank_converter(s, 0)->timing.period_ns, 10000u);
    cr_expect_eq(bank_converter(s, 2)->timing.period_ns, 20000u);
    cr_expect_eq(bank_feed(s, 0, "duty")->initial, 0);
    cr_expect_eq(bank_feed(s, 1, "duty")->initial, 0.25);
    cr_expect_eq(value(s, 0, "load_ohm"), 4);
    cr_expect_eq(value(s, 1, "load_ohm"), 12);
    cr_expect_eq(state(s, 1, "voltage_v"), 5);
    cr_expect_eq(state(s, 1, "current_a"), 3);
    cr_expect_eq(state(s, 0, "current_a"), 0);
    expect_round_trip(s);
    hil_scenario_free(s);
}

Test(scenario, an_override_may_be_another_plant)
{
    struct hil_scenario *s = load(CONVERTERS("    parameters: {inductance_h: 1e-4}\n"
                                             "    tolerance: {percent: 5}\n"
                                             "    overrides:\n"
                                             "      - id: 2\n"
                                             "        model: switched_buck\n"
                                             "        parameters: {switching_frequency_hz: 2e5}\n"),
                                  NULL);

    cr_expect_str_eq(bank_plant(s, 0)->model->name, "buck");
    cr_expect_str_eq(bank_plant(s, 2)->model->name, "switched_buck");
    cr_expect_eq(value(s, 2, "switching_frequency_hz"), 2e5);
    cr_expect(fabs(value(s, 2, "inductance_h") / 1e-4 - 1) <= 0.05); /* by name, from all */
    expect_round_trip(s);
    hil_scenario_free(s);
}

/* --- profiles --------------------------------------------------------------------------- */

Test(scenario, profiles)
{
    struct hil_scenario *s =
        load(SMALL, SETS(REFERENCE_STEPS("[{time_s: 0.01, value: 10}, "
                                         "{time_s: 0.02, value: 14, ramp_s: 0.01}]"),
                         LOAD_STEPS("[{time_s: 0.03, value: 2}]"), "sources.load.steps.initial=4",
                         INPUT_STEPS("[{time_s: 0.04, value: 40, ramp_s: 1e-6}]"),
                         "sources.input_voltage.steps.initial=50"));

    cr_assert_eq(bank_profile(s, "reference")->count, 2u);
    cr_expect_eq(bank_profile(s, "reference")->initial, 12);
    cr_expect_eq(hil_profile_at(bank_profile(s, "reference"), 10000000), 10);
    cr_expect_eq(hil_profile_at(bank_profile(s, "reference"), 25000000), 12);
    cr_expect_eq(bank_profile(s, "reference")->changes[1].start_ns +
                     bank_profile(s, "reference")->changes[1].ramp_ns,
                 30000000u);
    cr_assert_eq(bank_profile(s, "load")->count, 1u);
    cr_expect_eq(bank_profile(s, "load")->initial, 4);
    cr_expect_eq(bank_profile(s, "load")->changes[0].value, 2);
    cr_assert_eq(bank_profile(s, "input_voltage")->count, 1u);
    cr_expect_eq(bank_profile(s, "input_voltage")->initial, 50);
    cr_expect_eq(bank_profile(s, "input_voltage")->changes[0].ramp_ns, 1000u);
    expect_round_trip(s);
    hil_scenario_free(s);
}

/* --- modes ------------------------------------------------------------------------------ */

Test(scenario, virtual_time_simulates_the_fabric)
{
    struct hil_scenario *s = load(SMALL "mode: virtual\nfabric: shm\n", NULL);

    cr_expect_eq(s->mode, HIL_VIRTUAL);
    cr_expect_eq(s->fabric, HIL_FABRIC_SIM);
    expect_round_trip(s);
    hil_scenario_free(s);
}

Test(scenario, the_command_line_has_the_last_word_on_the_mode)
{
    const struct hil_scenario_options virtual = {.virtual_time = true};
    const struct hil_scenario_options realtime = {.realtime = true};
    char message[512];
    struct hil_scenario *s = NULL;

    cr_assert_eq(hil_scenario_load(&s, "configs/dcdc20.yaml", &virtual, message, 512), 0);
    cr_expect_eq(s->mode, HIL_VIRTUAL);
    cr_expect_eq(s->fabric, HIL_FABRIC_SIM);
    hil_scenario_free(s);
    cr_assert_eq(hil_scenario_load(&s, "configs/quickstart.yaml", &realtime, message, 512), 0);
    cr_expect_eq(s->mode, HIL_REALTIME);
    cr_expect_eq(s->fabric, HIL_FABRIC_SHM);
    hil_scenario_free(s);
}

/* --- --set ------------------------------------------------------------------------------ */

Test(scenario, set_takes_any_key)
{
    struct hil_scenario *s = load(
        SMALL,
        SETS("name=other", "duration_s=2", "nodes.controller.period_us=40",
             "components.control.model=type3", "components.control.parameters.duty_max=0.5",
             "components.control.computation_delay=false",
             "components.control.parameters.kc_per_v_s=99",
             "components.converter.parameters.inductance_h=1e-4", "nodes.converter.overrun=halt",
             UP_AND_DOWN_US("2", "5"), "network.seed=7",
             REFERENCE_STEPS("[{'time_s':1,'value':6}]"), "components.converter.overrides.0.id=1",
             "components.converter.overrides.0.parameters={esr_ohm: 0.02}",
             "components.converter.overrides.1={id: 2, initial: {voltage_v: 9}}",
             "components.converter.tolerance.multipliers.esr_ohm=[0.9,1,1.1]",
             "components.converter.tolerance.multipliers.esr_ohm.1=2",
             "record.0.signals=converter.voltage_v"));

    cr_expect_str_eq(s->name, "other");
    cr_expect_eq(s->duration_ns, 2000000000u);
    cr_expect_eq(bank_controller(s)->timing.period_ns, 40000u);
    cr_expect_str_eq(bank_law(s, 0)->model->name, "type3");
    cr_expect_eq(gain(s, "kc_per_v_s"), 99);
    cr_expect_eq(gain(s, "duty_max"), 0.5);
    cr_expect_not(bank_law(s, 0)->computation_delay);
    cr_expect_eq(value(s, 0, "inductance_h"), 1e-4);
    cr_expect_eq(bank_converter(s, 0)->timing.overrun, HIL_HALT);
    cr_expect_eq(bank_latency_ns(s, 1, 0), 2000u);
    cr_expect_eq(bank_latency_ns(s, 0, 1), 5000u);
    cr_expect_eq(s->network.seed, 7u);
    cr_expect_eq(bank_profile(s, "reference")->count, 1u);
    cr_expect_eq(state(s, 2, "voltage_v"), 9);
    cr_expect_eq(value(s, 1, "esr_ohm"), 0.04);
    cr_expect_eq(bank_controller(s)->recorded_count, 3u, "no duties");
    expect_round_trip(s);
    hil_scenario_free(s);
}

Test(scenario, set_replaces_what_is_there_the_last_one_wins)
{
    struct hil_scenario *s =
        load(SMALL, SETS("nodes.controller.period_us=abc", "nodes.controller.period_us=30"));

    cr_expect_eq(bank_controller(s)->timing.period_ns, 30000u);
    hil_scenario_free(s);
}

Test(scenario, an_alias_is_a_copy)
{
    struct hil_scenario *s = load(CONVERTERS("    overrides:\n"
                                             "      - {id: 0, parameters: &p {load_ohm: 5}}\n"
                                             "      - {id: 1, parameters: *p}\n"),
                                  SETS("components.converter.overrides.1.parameters.load_ohm=6"));

    cr_expect_eq(value(s, 0, "load_ohm"), 5);
    cr_expect_eq(value(s, 1, "load_ohm"), 6);
    hil_scenario_free(s);
}

/* --- files ------------------------------------------------------------------------------ */

Test(scenario, all_the_configs_load)
{
    glob_t configs;

    cr_assert_eq(glob("configs/*.yaml", 0, NULL, &configs), 0);
    cr_expect_geq(configs.gl_pathc, 6u);
    for (size_t i = 0; i < configs.gl_pathc; i++) {
        char message[4096];
        struct hil_scenario *s = NULL;
        int error = hil_scenario_load(&s, configs.gl_pathv[i], NULL, message, sizeof(message));
        cr_assert_eq(error, 0, "%s", message);
        const char *file = strrchr(configs.gl_pathv[i], '/') + 1;
        cr_expect_eq(strncmp(s->name, file, strlen(s->name)), 0, "%s is called %s", file, s->name);
        expect_round_trip(s);
        hil_scenario_free(s);
    }
    globfree(&configs);
}

Test(scenario, a_thousand_converters)
{
    struct hil_scenario *s =
        load(SMALL, SETS("nodes.converter.count=1000", "components.converter.tolerance.percent=3"));

    cr_expect_eq(bank_count(s), 1000u);
    expect_nodes(&s->executors[1], 1, 1000);
    expect_round_trip(s);
    hil_scenario_free(s);
}

Test(scenario, freeing_nothing_is_fine)
{
    hil_scenario_free(NULL);
}

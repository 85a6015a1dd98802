/* Tests what some components of an array have instead, constant inputs among parameters, and the
 * defaults that depend on models: against the same written out as lists. */
#include <math.h>

#include "harness/scenario/system.h"
#include "test_scenario.h"

#define HEAD "name: t\nduration_s: 0.1\nmode: virtual\nnodes: {n: {period_us: 10}}\n"
#define DUTY "sources: {duty: {to: c.duty, constant: 0.2}}\n"

static struct hil_scenario *load_component(const char *component)
{
    char text[2000];

    snprintf(text, sizeof text, HEAD "components:\n  c: {node: n, %s}\n" DUTY, component);
    return load(text, NULL);
}

static const struct hil_feed *feeds_of(const struct hil_scenario *s, unsigned component)
{
    const struct hil_component *c = &s->system->components[component];

    return &s->system->nodes[c->node].feeds[c->in];
}

/* Two components of the same place have the same model and the same numbers. */
static void expect_alike(const struct hil_scenario *a, const struct hil_scenario *b)
{
    cr_assert_eq(a->system->component_count, b->system->component_count);
    for (unsigned i = 0; i < a->system->component_count; i++) {
        const struct hil_component *one = &a->system->components[i];
        const struct hil_component *other = &b->system->components[i];
        cr_assert_eq(one->model, other->model);
        for (unsigned k = 0; k < one->model->parameters.count; k++)
            cr_expect_eq(one->parameters[k], other->parameters[k], "component %u, %s", i,
                         one->model->parameters.at[k].name);
        for (unsigned k = 0; k < one->model->states.count; k++)
            cr_expect(one->states[k] == other->states[k] || isnan(one->states[k]));
        for (unsigned k = 0; k < one->in_count; k++)
            cr_expect_eq(feeds_of(a, i)[k].initial, feeds_of(b, i)[k].initial);
    }
}

static void expect_same(const char *one, const char *other)
{
    struct hil_scenario *a = load_component(one), *b = load_component(other);

    expect_alike(a, b);
    hil_scenario_free(b);
    hil_scenario_free(a);
}

Test(overrides, are_lists_of_what_each_component_has)
{
    expect_same("model: buck, count: 4, parameters: {inductance_h: 47e-6, esr_ohm: 0.02}, "
                "initial: {voltage_v: 1}, inputs: {load_ohm: 3}, overrides: ["
                "{id: 1-2, parameters: {inductance_h: 30e-6}, initial: {voltage_v: 2}}, "
                "{id: 3, parameters: {capacitance_f: 1e-3}, inputs: {load_ohm: 5}}]",
                "model: buck, count: 4, parameters: {inductance_h: [47e-6, 30e-6, 30e-6, 47e-6], "
                "esr_ohm: 0.02, capacitance_f: [~, ~, ~, 1e-3]}, initial: {voltage_v: [1, 2, 2, "
                "1]}, inputs: {load_ohm: [3, 3, 3, 5]}");
}

/* The common value of a parameter that only one of the models has is for those. */
Test(overrides, have_models_of_their_own)
{
    expect_same("model: switched_buck, count: 3, parameters: {switching_frequency_hz: 100e3, "
                "load_ohm: 3}, overrides: [{id: 1, model: buck, parameters: {load_ohm: 4}}, {id: "
                "2, parameters: {switching_frequency_hz: 50e3}}]",
                "model: [switched_buck, buck, switched_buck], count: 3, parameters: "
                "{switching_frequency_hz: [100e3, ~, 50e3]}, inputs: {load_ohm: [3, 4, 3]}");
}

Test(overrides, come_before_a_tolerance)
{
    expect_same("model: buck, count: 2, parameters: {load_ohm: 3}, overrides: [{id: 1, parameters: "
                "{load_ohm: 5}}], tolerance: {multipliers: {load_ohm: 2}}",
                "model: buck, count: 2, inputs: {load_ohm: [6, 10]}");
}

Test(overrides, parameters_name_constant_inputs)
{
    expect_same("model: buck, count: 2, parameters: {input_voltage_v: [48, 24], esr_ohm: 0.01}",
                "model: buck, count: 2, inputs: {input_voltage_v: [48, 24]}, parameters: {esr_ohm: "
                "0.01}");
}

/* A value that --set gives is in its place. */
Test(overrides, are_set)
{
    struct hil_scenario *a = load(HEAD "components:\n  c: {node: n, model: buck, count: 2, "
                                       "overrides: [{id: 1, parameters: {load_ohm: 5}}]}\n" DUTY,
                                  SETS("components.c.overrides.0.parameters.load_ohm=7"));

    cr_expect_eq(feeds_of(a, 1)[2].initial, 7);
    hil_scenario_free(a);
}

static void expect_mistake(const char *component, const char *expected)
{
    char text[2000];

    snprintf(text, sizeof text, HEAD "components:\n  c: {node: n, %s}\n" DUTY, component);
    expect_refused_with(text, expected);
}

Test(overrides, mistakes_have_their_places)
{
    expect_mistake("model: buck, overrides: [{id: 0}]",
                   "FILE:6:46: components.c is one component without a number; allowed: overrides "
                   "in an array, with count");
    expect_mistake("model: buck, count: 2, overrides: [{id: 1-2}]",
                   "FILE:6:56: components.c.overrides.0.id is '1-2'; allowed: a number, or a range "
                   "as in 2-5, up to 1");
    expect_mistake("model: buck, count: 2, overrides: [{id: 1}, {id: 0-1}]",
                   "FILE:6:65: components.c.overrides.1.id is 0-1, but component 1 has an override "
                   "already, number 0; allowed: one for each component");
    expect_mistake("model: buck, count: 2, overrides: [{id: 1, parameters: {esr: 1}}]",
                   "unknown key 'esr' in components.c.parameters of a buck");
    expect_mistake("model: buck, count: 2, overrides: [{id: 1, parameters: {esr_ohm: -1}}]",
                   "FILE:6:81: components.c.parameters.esr_ohm is '-1'; allowed: a number");
    expect_mistake("model: buck, count: 2, overrides: [{id: 1, parameters: 3}]",
                   "FILE:6:71: components.c.overrides.0.parameters is '3'; allowed: a mapping of "
                   "the model's names");
    expect_mistake("model: buck, count: 2, overrides: [{id: 1, model: bick}]",
                   "FILE:6:66: there is no model 'bick' (did you mean 'buck'?)");
    expect_mistake("model: buck, count: 2, overrides: [{parameters: {esr_ohm: 1}}]",
                   "components.c.overrides.0.id is missing");
    expect_mistake("model: buck, parameters: {load_ohm: 1}, inputs: {load_ohm: 1}", "load_ohm");
    expect_mistake("model: [buck, switched_buck], count: 2, parameters: {switching_frequency_hz: "
                   "[100e3, 100e3]}",
                   "unknown key 'switching_frequency_hz' in components.c.parameters of a buck");
}

/* --- defaults ------------------------------------------------------------------------------ */

Test(overrides, a_plant_is_run_late_and_a_law_is_skipped_unless_the_node_says)
{
    static const char text[] =
        "name: t\nduration_s: 0.1\nmode: virtual\n"
        "nodes: {a: {period_us: 10}, b: {period_us: 10}, c: {period_us: 10, overrun: halt}}\n"
        "components:\n"
        "  a: {model: first_order_lag, node: a, parameters: {input: 1}}\n"
        "  b: {model: gain, node: b, parameters: {input: 1}}\n"
        "  c: {model: first_order_lag, node: c, parameters: {input: 1}}\n";
    struct hil_scenario *s = load(text, NULL);

    cr_expect_eq(s->system->nodes[0].timing.overrun, HIL_CATCH_UP);
    cr_expect_eq(s->system->nodes[1].timing.overrun, HIL_SKIP);
    cr_expect_eq(s->system->nodes[2].timing.overrun, HIL_HALT);
    hil_scenario_free(s);
}

/* --- measures ------------------------------------------------------------------------------ */

#define MEASURED                                                                                   \
    HEAD "components:\n  c: {node: n, model: first_order_lag, count: 3}\n"                         \
         "sources: {in: {to: c.input, constant: 2}}\n"

Test(overrides, a_sum_is_compared_with_the_sum_of_references_that_one_source_feeds)
{
    struct hil_scenario *s = load(MEASURED "measures: {all: {sum: c.output, reference: c.input}, "
                                           "one: {each: c.output, reference: c.input}}\n",
                                  NULL);

    cr_assert_eq(s->system->measure_count, 4);
    cr_expect_eq(s->system->measures[0].count, 3);
    cr_expect_eq(s->system->measures[0].reference_scale, 3);
    cr_expect_eq(s->system->measures[3].count, 1);
    cr_expect_eq(s->system->measures[3].reference_scale, 1);
    cr_expect_eq(s->system->measures[3].is.index, 2);
    hil_scenario_free(s);
}

Test(overrides, earlier_words_of_measures_are_read)
{
    struct hil_scenario *s = load(MEASURED "measures: {all: {of: c.output}, one: {of: c.output, "
                                           "each: true}, some: {of: c.output, each: false}}\n",
                                  NULL);

    cr_assert_eq(s->system->measure_count, 5);
    cr_expect_eq(s->system->measures[0].count, 3);
    cr_expect_eq(s->system->measures[1].is.of, 3);
    cr_expect_eq(s->system->measures[4].count, 3);
    cr_expect(strstr(s->resolved, "each: c.output") && !strstr(s->resolved, "of: c.output"));
    hil_scenario_free(s);
}

static void expect_measure(const char *measure, const char *expected)
{
    char text[2000];

    snprintf(text, sizeof text, MEASURED "measures: {m: %s}\n", measure);
    expect_refused_with(text, expected);
}

Test(overrides, mistakes_of_measures)
{
    expect_measure("{reference: 'c[0].input'}",
                   "FILE:8:12: measures.m has no signals; allowed: sum, a sum of signals, or each");
    expect_measure("{sum: c.output, each: c.output}", "measures.m has both sum and each");
    expect_measure("{sum: c.output, of: c.output}", "unknown key 'of'");
    expect_measure("{sum: c.output, reference: c.output}",
                   "the reference is 3 signals; allowed: one, or one for each of 3, which one "
                   "source feeds");
    expect_measure("{each: c.output, reference: 'c[0-1].output'}",
                   "the reference is 2 signals; allowed: one, or one for each of 3");
}

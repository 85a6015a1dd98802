/* Tests tolerances of components: against what a component's numbers are without one. */
#include <math.h>

#include "harness/scenario/system.h"
#include "test_scenario.h"

#define HEAD "name: t\nduration_s: 0.1\nmode: virtual\nnodes: {n: {period_us: 10}}\n"

static struct hil_scenario *load_tolerance(const char *component)
{
    char text[2000];

    snprintf(text, sizeof text, HEAD "components:\n  c: {node: n, %s}\n", component);
    return load(text, NULL);
}

static double parameter_of(const struct hil_scenario *s, unsigned component, const char *name)
{
    const struct hil_component *c = &s->system->components[component];

    return c->parameters[hil_quantity_find(&c->model->parameters, name)];
}

static const struct hil_feed *feed_of(const struct hil_scenario *s, unsigned component,
                                      const char *name)
{
    const struct hil_component *c = &s->system->components[component];

    return &s->system->nodes[c->node]
                .feeds[c->in + (unsigned)hil_quantity_find(&c->model->inputs, name)];
}

/* An override and a list are two ways to say the same; what is drawn is by the number. */
Test(tolerance, draws_the_same_beside_overrides_and_lists)
{
    struct hil_scenario *converters = load(
        CONVERTERS("    tolerance: {percent: 5, seed: 9, multipliers: {esr_ohm: [1.1, 1, 0.9]}}\n"
                   "    overrides: [{id: 1, parameters: {inductance_h: 30e-6}}]\n"),
        NULL);
    struct hil_scenario *s =
        load(HEAD "components:\n"
                  "  c:\n"
                  "    model: buck\n"
                  "    node: n\n"
                  "    count: 3\n"
                  "    parameters: {inductance_h: [47e-6, 30e-6, ~]}\n"
                  "    tolerance: {percent: 5, seed: 9, multipliers: {esr_ohm: [1.1, 1, 0.9]}}\n"
                  "sources: {duty: {to: c.duty, constant: 0.2}}\n",
             NULL);

    for (unsigned i = 0; i < 3; i++) {
        const struct hil_component *c = &s->system->components[i];
        const struct hil_component *other = &converters->system->components[3 + i];
        cr_assert_eq(c->model, other->model);
        for (unsigned k = 0; k < c->model->parameters.count; k++)
            cr_expect_eq(c->parameters[k], other->parameters[k], "%s",
                         c->model->parameters.at[k].name);
        cr_expect_eq(feed_of(s, i, "load_ohm")->initial,
                     feed_of(converters, 3 + i, "load_ohm")->initial);
    }
    hil_scenario_free(s);
    hil_scenario_free(converters);
}

Test(tolerance, more_components_change_nothing_for_the_first)
{
    struct hil_scenario *few = load_tolerance("model: dc_motor, count: 2, tolerance: {percent: 9}, "
                                              "inputs: {voltage_v: 1}");
    struct hil_scenario *many = load_tolerance("model: dc_motor, count: 9, tolerance: {percent: 9},"
                                               "inputs: {voltage_v: 1}");

    for (unsigned i = 0; i < 2; i++) {
        const double r = parameter_of(few, i, "resistance_ohm");
        cr_expect_eq(r, parameter_of(many, i, "resistance_ohm"));
        cr_expect(r != 1 && fabs(r - 1) <= 0.09);
        cr_expect_neq(parameter_of(few, i, "friction_nm_s"), 1e-5);
    }
    cr_expect_eq(feed_of(few, 0, "voltage_v")->initial, 1, "an input that is no part's value");
    hil_scenario_free(many);
    hil_scenario_free(few);
}

Test(tolerance, is_of_one_component_too_and_of_wide_rows)
{
    struct hil_scenario *s = load_tolerance(
        "model: series_bucks, width: 2, inputs: {duty: 0.5, input_voltage_v: [48, 24]}, "
        "tolerance: {multipliers: {esr_ohm: [2, 3], load_ohm: 0.5, input_voltage_v: [0.5, 2]}}");
    const struct hil_component *c = &s->system->components[0];

    cr_expect_eq(c->parameters[8], 0.06);
    cr_expect_eq(c->parameters[9], 0.09);
    cr_expect_eq(c->parameters[10], 24);
    cr_expect_eq(feed_of(s, 0, "duty")[2].initial, 24);
    cr_expect_eq(feed_of(s, 0, "duty")[3].initial, 48);
    hil_scenario_free(s);
}

/* What a source gives differs, too, as a load that changes does. */
Test(tolerance, is_of_what_a_source_gives)
{
    struct hil_scenario *s =
        load(HEAD "components:\n"
                  "  c: {model: buck, node: n, count: 2, inputs: {duty: 0.5},\n"
                  "      tolerance: {multipliers: {load_ohm: [0.5, 2]}}}\n"
                  "sources: {load: {to: c.load_ohm, constant: 4, scale: [3, 1]}}\n",
             NULL);

    cr_expect_eq(feed_of(s, 0, "load_ohm")->scale, 1.5);
    cr_expect_eq(feed_of(s, 1, "load_ohm")->scale, 2);
    hil_scenario_free(s);
}

static void expect_mistake(const char *component, const char *expected)
{
    char text[2000];

    snprintf(text, sizeof text, HEAD "components:\n  c: {node: n, %s}\n", component);
    expect_refused_with(text, expected);
}

Test(tolerance, mistakes_have_their_places)
{
    expect_mistake("model: buck, inputs: {duty: 0.5}, tolerance: {multipliers: {esr: 2}}",
                   "FILE:6:76: unknown key 'esr' in components.c.tolerance.multipliers of a buck "
                   "(did you mean 'esr_ohm'?)");
    expect_mistake("model: buck, inputs: {duty: 0.5}, tolerance: {multipliers: {esr_ohm: 0}}",
                   "FILE:6:85: components.c.tolerance.multipliers.esr_ohm is '0'; allowed: a "
                   "number above 0, up to 1e6");
    expect_mistake("model: buck, count: 2, inputs: {duty: 0.5}, "
                   "tolerance: {multipliers: {esr_ohm: [1, 2, 3]}}",
                   "is a list of 3, but there are 2 components; allowed: one for all, or a list of "
                   "2");
    expect_mistake("model: buck, inputs: {duty: 0.5}, tolerance: {multipliers: {esr_ohm: [1]}}",
                   "is a list of 1; allowed: a number, or one for each component of an array");
    expect_mistake("model: buck, inputs: {duty: 0.5}, tolerance: {multipliers: {esr_ohm: 1e6}}",
                   "components.c.tolerance makes 30000 of esr_ohm of c; allowed: 0 to 1000 Ohm");
    expect_mistake("model: buck, inputs: {duty: 0.5}, tolerance: {multipliers: {duty: 3}}",
                   "0.5 by the tolerance makes 1.5 of duty; allowed: 0 to 1");
    expect_mistake("model: buck, inputs: {duty: 0.5}, tolerance: {percent: 100}",
                   "components.c.tolerance.percent is '100'; allowed: a number, 0 to 99 %");
    expect_mistake("model: buck, inputs: {duty: 0.5}, tolerance: {multipliers: 3}",
                   "components.c.tolerance.multipliers is '3'; allowed: a mapping");
    expect_mistake("model: gain, inputs: {input: 1}, tolerance: {percent: 3}",
                   "components.c.tolerance.percent is 3, but a gain has no values of parts; "
                   "allowed: 0, and multipliers");
    expect_mistake(
        "model: gain, inputs: {input: 1}, tolerance: {spread: 3}",
        "unknown key 'spread' in components.c.tolerance (did you mean 'seed'?); allowed: "
        "percent, seed, multipliers");
    const char *said =
        refusal(HEAD "components:\n"
                     "  d: {model: buck, node: n, inputs: {duty: 0.1}}\n"
                     "  c: {model: buck, node: n, inputs: {duty: 0.5},\n"
                     "      tolerance: {multipliers: {load_ohm: 2}}}\n"
                     "connections: [{from: d.voltage_v, to: c.load_ohm, scale: 1}]\n",
                NULL);
    cr_expect(strstr(said, "the input c.load_ohm has a factor by its component's tolerance; "
                           "allowed: a constant or a source"),
              "%s", said);
}

/* Tests what `hiloco convert` makes of scenarios in the short form of earlier versions. */
#include "test_scenario.h"

#include "harness/scenario/load/load.h"
#include "harness/scenario/system.h"

/* --- comparing systems ------------------------------------------------------------------------ */

static void expect_doubles(const double *a, const double *b, unsigned count, const char *what)
{
    cr_assert_eq(!a, !b, "%s", what);
    if (a)
        cr_assert_eq(memcmp(a, b, count * sizeof *a), 0, "%s", what);
}

static void expect_instance(const struct hil_instance *a, const struct hil_instance *b)
{
    cr_assert_str_eq(a->name, b->name);
    cr_assert_eq(a->index, b->index);
    cr_assert_eq(a->of, b->of);
}

static void expect_component(const struct hil_component *a, const struct hil_component *b)
{
    expect_instance(&a->is, &b->is);
    cr_assert_eq(a->model, b->model);
    cr_assert_eq(a->node, b->node);
    cr_assert_eq(a->in, b->in);
    cr_assert_eq(a->out, b->out);
    cr_assert_eq(a->computation_delay, b->computation_delay);
    expect_doubles(a->parameters, b->parameters, a->model->parameters.count, "parameters");
    expect_doubles(a->states, b->states, a->model->states.count, "states");
    expect_doubles(a->safe, b->safe, a->model->kind == HIL_SAMPLED ? a->out_count : a->in_count,
                   "safe");
}

static void expect_signal(const struct hil_signal *a, const struct hil_signal *b)
{
    cr_assert_eq(memcmp(a, b, sizeof *a), 0);
}

static void expect_feed(const struct hil_feed *a, const struct hil_feed *b)
{
    cr_assert_eq(a->kind, b->kind);
    cr_assert_eq(a->from, b->from);
    cr_assert_eq(a->at, b->at);
    expect_doubles(&a->scale, &b->scale, 1, "scale");
    expect_doubles(&a->offset, &b->offset, 1, "offset");
    expect_doubles(&a->initial, &b->initial, 1, "initial");
}

static void expect_node(const struct hil_node_config *a, const struct hil_node_config *b)
{
    expect_instance(&a->is, &b->is);
    cr_assert_eq(memcmp(&a->timing.period_ns, &b->timing.period_ns, 16), 0);
    cr_assert_eq(a->timing.overrun, b->timing.overrun);
    cr_assert_eq(a->timing.catch_up_ns, b->timing.catch_up_ns);
    cr_assert_eq(a->timing.resync_ns, b->timing.resync_ns);
    cr_assert_eq(a->stale.limit_ns, b->stale.limit_ns);
    cr_assert_eq(a->stale.action, b->stale.action);
    cr_assert_eq(a->component_count, b->component_count);
    cr_assert_eq(a->continuous, b->continuous);
    for (unsigned i = 0; i < a->component_count; i++)
        cr_assert_eq(a->components[i], b->components[i]);
    cr_assert_eq(a->in_count, b->in_count);
    for (unsigned i = 0; i < a->in_count; i++)
        expect_feed(&a->feeds[i], &b->feeds[i]);
    cr_assert_eq(!a->address, !b->address);
    if (a->address)
        cr_assert_str_eq(a->address, b->address);
    cr_assert_eq(a->decimation, b->decimation);
    if (a->decimation == 0 && b->decimation == 0) /* nothing of it is recorded */
        return;
    cr_assert_eq(a->recorded_count, b->recorded_count);
    for (unsigned i = 0; i < a->recorded_count; i++)
        expect_signal(&a->recorded[i], &b->recorded[i]);
}

static void expect_links(const struct hil_system *a, const struct hil_system *b)
{
    cr_assert_eq(a->link_count, b->link_count);
    for (unsigned i = 0; i < a->link_count; i++) {
        const struct hil_link *x = &a->links[i], *y = &b->links[i];
        cr_assert(x->from == y->from && x->to == y->to && x->count == y->count &&
                  x->late == y->late && x->latency_ns == y->latency_ns);
        cr_assert_eq(memcmp(x->values, y->values, x->count * sizeof x->values[0]), 0);
        cr_assert_eq(hil_link_find(a, x->from, x->to), (int)i);
    }
    cr_assert_eq(hil_link_find(a, 0, 0), -1);
}

static void expect_measures(const struct hil_system *a, const struct hil_system *b)
{
    cr_assert_eq(a->measure_count, b->measure_count);
    for (unsigned i = 0; i < a->measure_count; i++) {
        const struct hil_measure *x = &a->measures[i], *y = &b->measures[i];
        expect_instance(&x->is, &y->is);
        cr_assert(x->node == y->node && x->count == y->count &&
                  x->has_reference == y->has_reference);
        expect_doubles(&x->reference_scale, &y->reference_scale, 1, "reference_scale");
        for (unsigned k = 0; k < x->count; k++)
            expect_signal(&x->signals[k], &y->signals[k]);
        if (x->has_reference)
            expect_signal(&x->reference, &y->reference);
    }
}

static void expect_sources(const struct hil_system *a, const struct hil_system *b)
{
    cr_assert_eq(a->source_count, b->source_count);
    for (unsigned i = 0; i < a->source_count; i++) {
        const struct hil_source *x = &a->sources[i], *y = &b->sources[i];
        cr_assert_str_eq(x->name, y->name);
        cr_assert(x->kind == y->kind || !x->steps.count); /* of a constant, too */
        cr_assert_eq(x->steps.count, y->steps.count);
        expect_doubles(&x->steps.initial, &y->steps.initial, 1, "steps");
        for (unsigned k = 0; k < x->steps.count; k++)
            cr_assert_eq(
                memcmp(&x->steps.changes[k], &y->steps.changes[k], sizeof x->steps.changes[k]), 0);
    }
}

static void expect_same(const struct hil_system *a, const struct hil_system *b)
{
    cr_assert_eq(a->node_count, b->node_count);
    cr_assert_eq(a->component_count, b->component_count);
    for (unsigned i = 0; i < a->node_count; i++)
        expect_node(&a->nodes[i], &b->nodes[i]);
    for (unsigned i = 0; i < a->component_count; i++)
        expect_component(&a->components[i], &b->components[i]);
    expect_links(a, b);
    expect_sources(a, b);
    expect_measures(a, b);
    cr_assert_eq(a->executor_count, b->executor_count);
    for (unsigned i = 0; i < a->executor_count; i++) {
        const struct hil_executor_config *x = &a->executors[i], *y = &b->executors[i];
        cr_assert(x->count == y->count && x->cpu == y->cpu && x->priority == y->priority &&
                  x->scheduler == y->scheduler && x->wait == y->wait);
        cr_assert_eq(memcmp(x->nodes, y->nodes, x->count * sizeof x->nodes[0]), 0);
    }
}

/* --- what is converted ------------------------------------------------------------------------ */

static char message[MESSAGE_BYTES];

static char *convert(const char *path, const char *const *sets, size_t set_count)
{
    const struct hil_scenario_options options = {.sets = sets, .set_count = set_count};
    char *text = NULL;

    const int rc = hil_scenario_convert(&text, path, &options, message, sizeof message);
    cr_assert_eq(rc, 0, "%s", message);
    return text;
}

/* The shipped scenarios as they were, and as they are, for any machine. */
Test(convert, each_earlier_scenario_becomes_the_shipped_one)
{
    static const char *const names[] = {"quickstart",     "boost",  "buck-boost",
                                        "dcdc20-nominal", "dcdc20", "dcdc20-verbs",
                                        "switched"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const *sets = SETS("mode=virtual", "controller.cpu=-1", "converters.cpu=-1");
        const char *const now[] = {"mode=virtual", "nodes.controller.cpu=-1",
                                   "nodes.converter.cpu=-1"};
        const struct hil_scenario_options options = {.sets = now, .set_count = 3};
        char path[64];
        snprintf(path, sizeof path, "tests/data/short_form/%s.yaml", names[i]);
        char *text = convert(path, sets, 3);
        struct hil_scenario *converted = load(text, NULL), *shipped;
        snprintf(path, sizeof path, "configs/%s.yaml", names[i]);
        cr_assert_eq(hil_scenario_load(&shipped, path, &options, message, sizeof message), 0, "%s",
                     message);
        expect_same(converted->system, shipped->system);
        cr_expect_str_eq(converted->name, shipped->name);
        cr_expect_eq(converted->duration_ns, shipped->duration_ns);
        hil_scenario_free(shipped);
        hil_scenario_free(converted);
        free(text);
    }
}

static void expect_text(const char *scenario, const char *converted)
{
    char expected[8192] = "";
    char *text = convert(scenario, NULL, 0);
    FILE *file = fopen(converted, "r");

    cr_assert_not_null(file, "%s", converted);
    expected[fread(expected, 1, sizeof expected - 1, file)] = '\0';
    fclose(file);
    cr_expect_str_eq(text, expected);
    free(text);
}

Test(convert, what_differs_between_converters)
{
    expect_text("tests/data/short_form/differs.yaml", "tests/data/short_form/differs.converted");
}

Test(convert, what_is_watched_and_placed)
{
    expect_text("tests/data/short_form/watched.yaml", "tests/data/short_form/watched.converted");
}

Test(convert, a_scenario_of_today_stays_as_it_is)
{
    char *text = convert("configs/quickstart.yaml", NULL, 0);
    struct hil_scenario *again = load(text, NULL);

    cr_expect_str_eq(again->name, "quickstart");
    hil_scenario_free(again);
    free(text);
}

/* --- earlier names of keys -------------------------------------------------------------------- */

static void expect_alike(const char *earlier, const char *const *today)
{
    const struct hil_scenario_options old = {.sets = &earlier, .set_count = 1};
    struct hil_scenario_options new = {.sets = today};
    struct hil_scenario *a, *b;

    while (today[new.set_count])
        new.set_count++;
    cr_assert_eq(
        hil_scenario_load(&a, "configs/dcdc20-nominal.yaml", &old, message, sizeof message), 0,
        "%s", message);
    cr_assert_eq(
        hil_scenario_load(&b, "configs/dcdc20-nominal.yaml", &new, message, sizeof message), 0,
        "%s", message);
    cr_expect_str_eq(a->resolved, b->resolved);
    hil_scenario_free(a);
    hil_scenario_free(b);
}

Test(convert, set_knows_earlier_names)
{
    expect_alike("controller.period_us=20", SETS("nodes.controller.period_us=20"));
    expect_alike("controller.law=pid", SETS("components.control.model=pid"));
    expect_alike("controller.gains.kp_per_v=0.1",
                 SETS("components.control.parameters.kp_per_v=0.1"));
    expect_alike("converters.count=3", SETS("nodes.converter.count=3"));
    expect_alike("converters.parameters.load_ohm=3",
                 SETS("components.converter.parameters.load_ohm=3"));
    expect_alike("converters={count: 2, period_us: 10}",
                 SETS("nodes.converter={count: 2, period_us: 10}"));
    expect_alike("converters.duty_initial=0.1", SETS("connections.1.initial=0.1"));
    expect_alike("recording.decimation=7", SETS("record.0.decimation=7"));
    expect_alike("reference.voltage_v=11", SETS("sources.reference.constant=11"));
    expect_alike("converters.duty_safe=0.07",
                 SETS("components.control.safe={duty: 0.07, enable: 1}",
                      "components.converter.safe={duty: 0.07, enable: 1}"));
    expect_alike("converters.duty_safe=0", SETS("components.control.safe.duty=0"));
}

/* --- mistakes --------------------------------------------------------------------------------- */

static void expect_wrong(const char *set, const char *said)
{
    const struct hil_scenario_options options = {.sets = &set, .set_count = 1};
    char *text = NULL;

    cr_expect_eq(hil_scenario_convert(&text, "tests/data/short_form/boost.yaml", &options, message,
                                      sizeof message),
                 -EINVAL, "%s", set);
    cr_expect_null(text);
    cr_expect(strstr(message, said), "%s: %s", set, message);
}

Test(convert, mistakes_are_reported_and_nothing_is_left_out)
{
    expect_wrong("converters.plan=buck",
                 "unknown key 'plan' in converters (did you mean 'plant'?)");
    expect_wrong("reference.changes.0.volts=3", "unknown key 'volts' in reference.changes[]");
    expect_wrong("colour=red", "unknown key 'colour' in the scenario");
    expect_wrong("converters.plant=bost", "the model is 'bost', but there is no such model");
    expect_wrong("controller.law=./no.so", "the model is './no.so', but ");
    expect_wrong("controller.gains.ki=3", "unknown key 'ki' in components.control.parameters");
    expect_wrong("controller.period_us=abc", "nodes.controller.period_us is 'abc'");
    expect_wrong("converters.count=0", "nodes.converter.count is '0'");
    expect_wrong("converters.count=1e9", "nodes.converter.count is '1e9'");
    expect_wrong("converters={count: 3}", "converters.plant is missing");
    expect_wrong("controller=3", "controller.law is missing");
    expect_wrong("load.changes.0.time_s=abc", "time_s is 'abc'");
}

/* The place is that in the file. */
Test(convert, a_short_form_is_refused_with_what_to_do)
{
    struct hil_scenario *s = NULL;

    cr_expect_eq(
        hil_scenario_load(&s, "tests/data/short_form/boost.yaml", NULL, message, sizeof message),
        -EINVAL);
    cr_expect_str_eq(message,
                     "tests/data/short_form/boost.yaml:8:1: controller: and converters: are of an "
                     "earlier language; allowed: nodes, components and connections, as `hiloco "
                     "convert FILE` writes them\n");
}

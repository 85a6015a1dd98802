/*
 * Expands the power_controller form to the general form: a node "controller", an array of nodes
 * "converter", a component of the law for each converter (control[i]), and a component of its plant
 * (converter[i]). Values given by proportion, tolerance or override have already been calculated,
 * and become lists with one number for each converter.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "form.h"

struct expansion {
    const struct form_loaded *loaded;
    const struct form *form;
    const struct scenario_node *controller, *converters; /* blocks of the power_controller form */
    double *values;                                      /* one for each converter */
    bool *there;                                         /* whether the converter has a value */
    int error;                                           /* the first error; nothing more is done
                                                          * after it */
};

/* --- writing a tree ------------------------------------------------------------------------ */

/* Takes ownership of the value. `key` is its key in a mapping; NULL in a list. */
static void expand_add(struct expansion *x, struct scenario_node *to, const char *key,
                       struct scenario_node *value)
{
    if (x->error || !to) {
        scenario_node_free(value);
        return;
    }
    x->error = scenario_node_add(to, key, &to->at, value);
}

static struct scenario_node *expand_block(struct expansion *x, struct scenario_node *to,
                                          const char *key, enum scenario_kind kind,
                                          const struct scenario_place *at)
{
    expand_add(x, to, key, scenario_node_new(kind, NULL, at));
    return x->error ? NULL : to->entries[to->count - 1].value;
}

static void expand_text(struct expansion *x, struct scenario_node *to, const char *key,
                        const char *text)
{
    struct scenario_node *node = to ? scenario_node_new(SCENARIO_SCALAR, text, &to->at) : NULL;

    if (!to)
        return;
    if (node)
        node->plain = strchr(text, '[') == NULL; /* in a list it would begin another list */
    expand_add(x, to, key, node);
}

static void expand_number(struct expansion *x, struct scenario_node *to, const char *key,
                          double value)
{
    char text[SCENARIO_NUMBER_BYTES];

    scenario_number_text(text, value);
    expand_text(x, to, key, text);
}

/* Copies a node of the power_controller form unchanged. */
static void expand_copy(struct expansion *x, struct scenario_node *to, const char *key,
                        const struct scenario_node *from)
{
    if (to)
        expand_add(x, to, key, scenario_node_copy(from));
}

/* Copies the block's values of these keys; the list ends with NULL. */
static void expand_keys(struct expansion *x, struct scenario_node *to,
                        const struct scenario_node *from, const char *const *keys)
{
    for (unsigned i = 0; keys[i]; i++) {
        const struct scenario_node *value = scenario_node_get(from, keys[i]);
        if (value) /* otherwise it has no default, and was left out */
            expand_copy(x, to, keys[i], value);
    }
}
#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The values of all converters: one number if they are equal, otherwise a list, with ~ for a
 * missing value. */
static void expand_values(struct expansion *x, struct scenario_node *to, const char *key)
{
    const unsigned count = x->form->converter_count;
    bool alike = true;

    for (unsigned i = 0; i < count; i++)
        alike &= x->there[i] && memcmp(&x->values[i], &x->values[0], sizeof(double)) == 0;
    if (alike) {
        expand_number(x, to, key, x->values[0]);
        return;
    }
    struct scenario_node *list = to ? expand_block(x, to, key, SCENARIO_SEQUENCE, &to->at) : NULL;
    for (unsigned i = 0; list && i < count; i++) {
        if (x->there[i])
            expand_number(x, list, NULL, x->values[i]);
        else
            expand_text(x, list, NULL, "~");
    }
}

/* Gives the last added value the place of the original, if there is one. */
static void expand_place(struct scenario_node *to, const struct scenario_node *block,
                         const char *name)
{
    const struct scenario_node *said = scenario_node_get(block, name);

    if (said && to && to->count)
        to->entries[to->count - 1].value->at = said->at;
}

static void expand_no_value(struct expansion *x)
{
    for (unsigned i = 0; i < x->form->converter_count; i++)
        x->there[i] = false;
}

static void expand_value(struct expansion *x, unsigned i, double value)
{
    x->values[i] = value;
    x->there[i] = true;
}

/* --- nodes --------------------------------------------------------------------------------- */

static void expand_nodes(struct expansion *x, struct scenario_node *root)
{
    const struct form *s = x->form;
    struct scenario_node *nodes = expand_block(x, root, "nodes", SCENARIO_MAPPING, &root->at);
    struct scenario_node *node =
        nodes ? expand_block(x, nodes, "controller", SCENARIO_MAPPING, &x->controller->at) : NULL;

    expand_keys(x, node, x->controller,
                KEYS("period_us", "phase_us", "realtime_phase_us", "cpu", "shards", "shard_cpus",
                     "priority", "scheduler", "wait", "overrun", "catch_up_limit",
                     "resync_after_us", "input_age_limit_us", "on_stale_input",
                     "bad_inputs_limit"));
    node = nodes ? expand_block(x, nodes, "converter", SCENARIO_MAPPING, &x->converters->at) : NULL;
    expand_keys(x, node, x->converters, KEYS("count"));
    for (unsigned i = 0; i < s->converter_count; i++)
        expand_value(x, i, (double)s->converters[i].period_ns / 1e3);
    expand_values(x, node, "period_us");
    for (unsigned i = 0; i < s->converter_count; i++)
        expand_value(x, i, (double)s->converters[i].phase_ns / 1e3);
    expand_values(x, node, "phase_us"); /* including the stagger */
    expand_keys(x, node, x->converters,
                KEYS("cpu", "priority", "scheduler", "wait", "overrun", "catch_up_limit",
                     "resync_after_us", "input_age_limit_us", "on_stale_input",
                     "bad_inputs_limit"));
}

/* --- components ---------------------------------------------------------------------------- */

static struct scenario_node *expand_safe(struct expansion *x, struct scenario_node *component)
{
    struct scenario_node *safe =
        component ? expand_block(x, component, "safe", SCENARIO_MAPPING, &component->at) : NULL;

    expand_number(x, safe, "duty", x->loaded->file->converters.duty_safe);
    return safe;
}

/* With a safe duty other than 0 the gates stay driven, so that it has an effect. */
static bool expand_stays_enabled(const struct expansion *x)
{
    return x->loaded->file->converters.duty_safe > 0;
}

static bool expand_law_enables(const struct expansion *x)
{
    return hil_quantity_find(&x->form->controller.law->outputs, "enable") >= 0;
}

static bool expand_plant_takes(const struct expansion *x, unsigned i, const char *input)
{
    return i < x->form->converter_count &&
           hil_quantity_find(&x->form->converters[i].plant->inputs, input) >= 0;
}

static void expand_law_safe(struct expansion *x, struct scenario_node *law)
{
    struct scenario_node *safe = expand_safe(x, law);

    if (expand_law_enables(x) && expand_stays_enabled(x))
        expand_number(x, safe, "enable", 1);
}

static void expand_plant_safe(struct expansion *x, struct scenario_node *plant)
{
    struct scenario_node *safe = expand_safe(x, plant);
    bool any = false;

    expand_no_value(x);
    for (unsigned i = 0; i < x->form->converter_count; i++) {
        if (!expand_plant_takes(x, i, "enable"))
            continue;
        expand_value(x, i, 1);
        any = true;
    }
    if (any && expand_stays_enabled(x))
        expand_values(x, safe, "enable");
}

/* The model's name in a scenario: the whole name if it was loaded. */
static const char *expand_model_name(const struct hil_model *m)
{
    const struct hil_loaded *loaded = hil_loaded_of(m);

    return loaded ? loaded->name : m->name;
}

static void expand_law(struct expansion *x, struct scenario_node *components)
{
    const struct form_controller *c = &x->form->controller;
    struct scenario_node *law =
        components ? expand_block(x, components, "control", SCENARIO_MAPPING, &x->controller->at)
                   : NULL;

    expand_text(x, law, "model", expand_model_name(c->law));
    expand_text(x, law, "node", "controller");
    expand_number(x, law, "count", x->form->converter_count);
    struct scenario_node *block =
        law ? expand_block(x, law, "parameters", SCENARIO_MAPPING, &law->at) : NULL;
    for (unsigned i = 0; i < c->law->parameters.count; i++) {
        const char *name = c->law->parameters.at[i].name;
        expand_number(x, block, name, c->parameters[i]);
        expand_place(block, scenario_node_get(x->controller, "gains"), name);
        expand_place(block, scenario_node_get(x->controller, "limits"), name);
    }
    expand_law_safe(x, law);
    expand_keys(x, law, x->controller, KEYS("computation_delay", "on_error"));
}

/* A table of the plants, and a converter's numbers for it. */
struct expand_table {
    size_t table, numbers; /* offsets in struct hil_model and in struct form_converter */
};
static const struct expand_table expand_parameters = {offsetof(struct hil_model, parameters),
                                                      offsetof(struct form_converter, parameters)};
static const struct expand_table expand_states = {offsetof(struct hil_model, states),
                                                  offsetof(struct form_converter, states)};
static const struct expand_table expand_inputs = {offsetof(struct hil_model, inputs),
                                                  offsetof(struct form_converter, inputs)};

static const struct hil_quantities *expand_table_of(const struct hil_model *m,
                                                    const struct expand_table *t)
{
    return (const void *)((const char *)m + t->table);
}

/* Whether connections or sources feed the input. */
static bool expand_is_fed(const struct form *s, const char *input)
{
    return form_is_duty(input) || (s->load.count && strcmp(input, "load_ohm") == 0) ||
           (s->input_voltage.count && strcmp(input, "input_voltage_v") == 0);
}

static void expand_quantity(struct expansion *x, struct scenario_node *block, const char *name,
                            const struct expand_table *t)
{
    expand_no_value(x);
    for (unsigned i = 0; i < x->form->converter_count; i++) {
        const struct form_converter *c = &x->form->converters[i];
        const double *numbers = *(double *const *)((const char *)c + t->numbers);
        const int row = hil_quantity_find(expand_table_of(c->plant, t), name);
        if (row >= 0 && !isnan(numbers[row]))
            expand_value(x, i, numbers[row]);
    }
    expand_values(x, block, name);
}

static void expand_quantities(struct expansion *x, struct scenario_node *component, const char *key,
                              const struct expand_table *t)
{
    const struct form *s = x->form;
    struct scenario_node *block =
        component ? expand_block(x, component, key, SCENARIO_MAPPING, &component->at) : NULL;
    const struct scenario_node *said =
        scenario_node_get(x->converters, t == &expand_states ? "initial" : "parameters");
    const struct hil_model *before = NULL;

    for (unsigned i = 0; block && i < s->converter_count; i++) {
        const struct hil_model *m = s->converters[i].plant;
        const struct hil_quantities *table = expand_table_of(m, t);
        for (unsigned r = 0; m != before && r < table->count; r++) {
            const char *name = table->at[r].name;
            const bool fed = t == &expand_inputs && expand_is_fed(s, name);
            if (fed || scenario_node_get(block, name))
                continue;
            expand_quantity(x, block, name, t);
            expand_place(block, said, name);
        }
        before = m;
    }
}

static void expand_plant_names(struct expansion *x, struct scenario_node *component)
{
    const struct form *s = x->form;
    bool alike = true;

    for (unsigned i = 0; i < s->converter_count; i++)
        alike &= s->converters[i].plant == s->converters[0].plant;
    if (alike) {
        expand_text(x, component, "model", expand_model_name(s->converters[0].plant));
        return;
    }
    struct scenario_node *list =
        component ? expand_block(x, component, "model", SCENARIO_SEQUENCE, &component->at) : NULL;
    for (unsigned i = 0; i < s->converter_count; i++)
        expand_text(x, list, NULL, expand_model_name(s->converters[i].plant));
}

static void expand_components(struct expansion *x, struct scenario_node *root)
{
    struct scenario_node *components =
        expand_block(x, root, "components", SCENARIO_MAPPING, &root->at);

    expand_law(x, components);
    struct scenario_node *plant =
        components ? expand_block(x, components, "converter", SCENARIO_MAPPING, &x->converters->at)
                   : NULL;
    expand_plant_names(x, plant);
    expand_text(x, plant, "node", "converter[*]");
    expand_keys(x, plant, x->converters, KEYS("count"));
    expand_quantities(x, plant, "parameters", &expand_parameters);
    expand_quantities(x, plant, "initial", &expand_states);
    expand_quantities(x, plant, "inputs", &expand_inputs);
    expand_plant_safe(x, plant);
    expand_keys(x, plant, x->converters, KEYS("on_error"));
}

/* --- connections and sources --------------------------------------------------------------- */

static struct scenario_node *expand_entry(struct expansion *x, struct scenario_node *list)
{
    return list ? expand_block(x, list, NULL, SCENARIO_MAPPING, &list->at) : NULL;
}

static bool expand_law_takes(const struct expansion *x, const char *input)
{
    return hil_quantity_find(&x->form->controller.law->inputs, input) >= 0;
}

/* Copies the age settings of the block to the connection, if they are given. */
static void expand_age(struct expansion *x, struct scenario_node *entry,
                       const struct scenario_node *block)
{
    static const char *const keys[] = {"age_limit_us", "on_old", "old_value"};

    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (scenario_node_get(block, keys[i]))
            expand_copy(x, entry, keys[i], scenario_node_get(block, keys[i]));
}

static void expand_measured(struct expansion *x, struct scenario_node *list, const char *signal)
{
    char text[64];

    if (!expand_law_takes(x, signal))
        return;
    struct scenario_node *entry = expand_entry(x, list);
    snprintf(text, sizeof text, "converter[*].%s", signal);
    expand_text(x, entry, "from", text);
    snprintf(text, sizeof text, "control[*].%s", signal);
    expand_text(x, entry, "to", text);
    expand_number(x, entry, "initial", 0);
    expand_age(x, entry, x->controller);
}

static bool expand_is_safe(const struct scenario_node *block, const char *key)
{
    const struct scenario_node *value = scenario_node_get(block, key);

    return value && value->text && strcmp(value->text, "safe") == 0;
}

/* Whether a law can be safe while the run goes on: for a voltage that is too old, or not a number,
 * which only a fault or a failed plant can make of it; or as it has failed itself. */
static bool expand_law_can_be_safe(const struct expansion *x)
{
    const struct scenario_node *faults = scenario_node_get(x->loaded->root, "faults");

    return expand_is_safe(x->controller, "on_stale_input") ||
           expand_is_safe(x->controller, "on_old") || expand_is_safe(x->controller, "on_error") ||
           expand_is_safe(x->converters, "on_error") || (faults && faults->count > 0);
}

/* A safe law turns the gates off. Where it cannot be safe, a link has the duty alone, which is
 * faster. */
static void expand_enable(struct expansion *x, struct scenario_node *list)
{
    const unsigned count = x->form->converter_count;

    if (!expand_law_enables(x) || expand_stays_enabled(x) || !expand_law_can_be_safe(x))
        return;
    for (unsigned first = 0, last; first < count; first = last + 1) {
        char text[64];
        last = first;
        if (!expand_plant_takes(x, first, "enable"))
            continue;
        while (expand_plant_takes(x, last + 1, "enable"))
            last++;
        struct scenario_node *entry = expand_entry(x, list);
        snprintf(text, sizeof text, "control[%u-%u].enable", first, last);
        expand_text(x, entry, "from", text);
        snprintf(text, sizeof text, "converter[%u-%u].enable", first, last);
        expand_text(x, entry, "to", text);
    }
}

static void expand_connections(struct expansion *x, struct scenario_node *root)
{
    struct scenario_node *list = expand_block(x, root, "connections", SCENARIO_SEQUENCE, &root->at);

    expand_measured(x, list, "voltage_v");
    expand_measured(x, list, "current_a");
    struct scenario_node *entry = expand_entry(x, list);
    expand_text(x, entry, "from", "control[*].duty");
    expand_text(x, entry, "to", "converter[*].duty");
    for (unsigned i = 0; i < x->form->converter_count; i++)
        expand_value(x, i, x->form->converters[i].duty_initial);
    expand_values(x, entry, "initial");
    expand_age(x, entry, x->converters);
    expand_enable(x, list);
}

static void expand_steps(struct expansion *x, struct scenario_node *source,
                         const struct hil_profile *profile)
{
    struct scenario_node *steps =
        source ? expand_block(x, source, "steps", SCENARIO_MAPPING, &source->at) : NULL;

    expand_number(x, steps, "initial", profile->initial);
    struct scenario_node *list =
        steps ? expand_block(x, steps, "changes", SCENARIO_SEQUENCE, &steps->at) : NULL;
    for (unsigned i = 0; i < profile->count; i++) {
        struct scenario_node *entry = expand_entry(x, list);
        expand_number(x, entry, "time_s", (double)profile->changes[i].start_ns / 1e9);
        expand_number(x, entry, "value", profile->changes[i].value);
        expand_number(x, entry, "ramp_s", (double)profile->changes[i].ramp_ns / 1e9);
    }
}

/* Adds the source for an input of the plants that have it, with a factor for each plant. */
static void expand_plant_source(struct expansion *x, struct scenario_node *sources,
                                const char *name, const char *input,
                                const struct hil_profile *profile, size_t factor)
{
    const unsigned count = x->form->converter_count;

    if (!profile->count || !sources)
        return;
    struct scenario_node *source = expand_block(x, sources, name, SCENARIO_MAPPING,
                                                &scenario_node_get(x->loaded->root, name)->at);
    struct scenario_node *to =
        source ? expand_block(x, source, "to", SCENARIO_SEQUENCE, &source->at) : NULL;
    for (unsigned first = 0; first < count; first++) {
        unsigned last = first;
        char text[64];
        if (!expand_plant_takes(x, first, input))
            continue;
        while (expand_plant_takes(x, last + 1, input))
            last++;
        snprintf(text, sizeof text, "converter[%u-%u].%s", first, last, input);
        expand_text(x, to, NULL, text);
        first = last;
    }
    expand_steps(x, source, profile);
    struct scenario_node *scale =
        source ? expand_block(x, source, "scale", SCENARIO_SEQUENCE, &source->at) : NULL;
    for (unsigned i = 0; i < count; i++)
        if (expand_plant_takes(x, i, input))
            expand_number(
                x, scale, NULL,
                *(const double *)(const void *)((const char *)&x->form->converters[i] + factor));
}

static void expand_sources(struct expansion *x, struct scenario_node *root)
{
    const struct form *s = x->form;
    struct scenario_node *sources = expand_block(x, root, "sources", SCENARIO_MAPPING, &root->at);

    if (sources && expand_law_takes(x, "reference_v")) {
        struct scenario_node *source =
            expand_block(x, sources, "reference", SCENARIO_MAPPING,
                         &scenario_node_get(x->loaded->root, "reference")->at);
        expand_text(x, source, "to", "control[*].reference_v");
        expand_steps(x, source, &s->reference);
    }
    expand_plant_source(x, sources, "load", "load_ohm", &s->load,
                        offsetof(struct form_converter, load_factor));
    expand_plant_source(x, sources, "input_voltage", "input_voltage_v", &s->input_voltage,
                        offsetof(struct form_converter, input_voltage_factor));
}

/* --- record and measures ------------------------------------------------------------------- */

static void expand_record(struct expansion *x, struct scenario_node *root)
{
    const struct scenario_node *short_form = scenario_node_get(x->loaded->root, "recording");
    struct scenario_node *list = expand_block(x, root, "record", SCENARIO_SEQUENCE, &root->at);
    struct scenario_node *entry = expand_entry(x, list);

    expand_text(x, entry, "node", "controller");
    struct scenario_node *signals =
        entry ? expand_block(x, entry, "signals", SCENARIO_SEQUENCE, &entry->at) : NULL;
    if (x->loaded->file->recording.voltage && expand_law_takes(x, "voltage_v"))
        expand_text(x, signals, NULL, "converter[*].voltage_v");
    if (x->loaded->file->recording.duty)
        expand_text(x, signals, NULL, "control[*].duty");
    expand_keys(x, entry, short_form, KEYS("decimation"));

    entry = expand_entry(x, list);
    expand_text(x, entry, "node", "converter[*]");
    signals = entry ? expand_block(x, entry, "signals", SCENARIO_SEQUENCE, &entry->at) : NULL;
    expand_text(x, signals, NULL, "converter[*].voltage_v");
    expand_text(x, signals, NULL, "converter[*].current_a");
    expand_text(x, signals, NULL, "converter[*].duty");
    expand_copy(x, entry, "decimation", scenario_node_get(short_form, "converter_decimation"));
}

static void expand_measures(struct expansion *x, struct scenario_node *root)
{
    struct scenario_node *measures = expand_block(x, root, "measures", SCENARIO_MAPPING, &root->at);
    const bool reference = expand_law_takes(x, "reference_v");

    if (!measures || !expand_law_takes(x, "voltage_v"))
        return;
    struct scenario_node *m = expand_block(x, measures, "output_v", SCENARIO_MAPPING, &root->at);
    expand_text(x, m, "sum", "converter[*].voltage_v");
    if (reference)
        expand_text(x, m, "reference", "control[0].reference_v");
    expand_number(x, m, "reference_scale", x->form->converter_count);
    expand_text(x, m, "node", "controller");

    m = expand_block(x, measures, "voltage_v", SCENARIO_MAPPING, &root->at);
    expand_text(x, m, "each", "converter[*].voltage_v");
    if (reference)
        expand_text(x, m, "reference", "control[*].reference_v");
    expand_text(x, m, "node", "controller");
}

/* --- the rest ------------------------------------------------------------------------------ */

/* Expands an entry of placement, verbs.nodes or tcp.nodes, which names the controller, converters,
 * or both. */
static void expand_who(struct expansion *x, struct scenario_node *to,
                       const struct scenario_node *entry)
{
    const struct scenario_node *converters = scenario_node_get(entry, "converters");
    struct scenario_node *names =
        to ? expand_block(x, to, "nodes", SCENARIO_SEQUENCE, &entry->at) : NULL;
    char text[64];

    if (strcmp(scenario_node_get(entry, "controller")->text, "true") == 0)
        expand_text(x, names, NULL, "controller");
    if (!converters)
        return;
    snprintf(text, sizeof text, "converter[%.40s]", converters->text);
    expand_text(x, names, NULL, text);
}

static void expand_placement(struct expansion *x, struct scenario_node *root)
{
    const struct scenario_node *from = scenario_node_get(x->loaded->root, "placement");
    struct scenario_node *list = expand_block(x, root, "placement", SCENARIO_SEQUENCE, &from->at);

    for (size_t i = 0; i < from->count; i++) {
        struct scenario_node *entry = expand_entry(x, list);
        expand_who(x, entry, from->entries[i].value);
        expand_keys(x, entry, from->entries[i].value, KEYS("cpu", "priority", "scheduler", "wait"));
    }
}

/* Adds the block of a fabric that uses addresses. */
static struct scenario_node *expand_fabric(struct expansion *x, struct scenario_node *root,
                                           const char *name, const struct scenario_node *from)
{
    const struct scenario_node *nodes = scenario_node_get(from, "nodes");
    struct scenario_node *fabric = expand_block(x, root, name, SCENARIO_MAPPING, &from->at);
    struct scenario_node *list =
        fabric ? expand_block(x, fabric, "nodes", SCENARIO_SEQUENCE, &nodes->at) : NULL;

    for (size_t i = 0; i < nodes->count; i++) {
        struct scenario_node *entry = expand_entry(x, list);
        expand_who(x, entry, nodes->entries[i].value);
        expand_keys(x, entry, nodes->entries[i].value, KEYS("address"));
    }
    return fabric;
}

static void expand_fabrics(struct expansion *x, struct scenario_node *root)
{
    const struct scenario_node *verbs = scenario_node_get(x->loaded->root, "verbs");
    const struct scenario_node *tcp = scenario_node_get(x->loaded->root, "tcp");

    expand_keys(x, expand_fabric(x, root, "verbs", verbs), verbs,
                KEYS("port", "completions", "send_depth", "timeout_exponent", "retry_count",
                     "traffic_class", "flush_bytes"));
    expand_keys(x, expand_fabric(x, root, "tcp", tcp), tcp,
                KEYS("port", "timeout_ms", "cpu", "wait"));
}

static void expand_latency(struct expansion *x, struct scenario_node *links, const char *from,
                           const char *to, const struct scenario_node *latency)
{
    if (strtod(latency->text, NULL) == 0)
        return;
    struct scenario_node *entry = expand_entry(x, links);
    expand_text(x, entry, "from", from);
    expand_text(x, entry, "to", to);
    expand_copy(x, entry, "latency_us", latency);
}

static void expand_network(struct expansion *x, struct scenario_node *root)
{
    const struct scenario_node *from = scenario_node_get(x->loaded->root, "network");
    struct scenario_node *network = expand_block(x, root, "network", SCENARIO_MAPPING, &from->at);

    expand_keys(x, network, from, KEYS("jitter_us", "seed"));
    struct scenario_node *links =
        network ? expand_block(x, network, "links", SCENARIO_SEQUENCE, &from->at) : NULL;
    if (expand_law_takes(x, "voltage_v") || expand_law_takes(x, "current_a"))
        expand_latency(x, links, "converter[*]", "controller",
                       scenario_node_get(from, "latency_up_us"));
    expand_latency(x, links, "controller", "converter[*]",
                   scenario_node_get(from, "latency_down_us"));
}

static void expand_all(struct expansion *x, struct scenario_node *root)
{
    const struct scenario_node *from = x->loaded->root;

    expand_keys(x, root, from,
                KEYS("name", "duration_s", "mode", "fabric", "rendezvous", "on_lost",
                     "hang_limit_s", "stop_ramp_s", "tuning"));
    expand_copy(x, root, "on_record_error",
                scenario_node_get(scenario_node_get(from, "recording"), "on_error"));
    expand_fabrics(x, root);
    expand_network(x, root);
    expand_nodes(x, root);
    expand_components(x, root);
    expand_connections(x, root);
    expand_sources(x, root);
    expand_record(x, root);
    expand_measures(x, root);
    expand_keys(x, root, from, KEYS("faults", "limits", "validity", "trace"));
    expand_placement(x, root);
}

int form_expand(const struct form_loaded *loaded, const struct form *form,
                struct scenario_node **root)
{
    struct expansion x = {
        .loaded = loaded,
        .form = form,
        .controller = scenario_node_get(loaded->root, "controller"),
        .converters = scenario_node_get(loaded->root, "converters"),
        .values = calloc(form->converter_count, sizeof *x.values),
        .there = calloc(form->converter_count, sizeof *x.there),
    };

    *root = scenario_node_new(SCENARIO_MAPPING, NULL, &loaded->root->at);
    if (!x.values || !x.there || !*root)
        x.error = -ENOMEM;
    else
        expand_all(&x, *root);
    free(x.values);
    free(x.there);
    if (!x.error)
        return 0;
    scenario_node_free(*root);
    return x.error;
}

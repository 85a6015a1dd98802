/* What connects, feeds, records and measures the components; and the whole. */
#include "convert.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../yaml/scenario_schema.h"
#include "rewriting.h"

bool scenario_is_short_form(const struct scenario_node *root)
{
    return (scenario_node_get(root, "controller") || scenario_node_get(root, "converters")) &&
           !scenario_node_get(root, "nodes") && !scenario_node_get(root, "components");
}

/* --- connections and sources --------------------------------------------------------------- */

static struct scenario_node *short_connect(struct rewriting *x, struct scenario_node *list,
                                           const char *from, const char *to)
{
    struct scenario_node *entry = short_entry(x, list);

    short_name(x, entry, "from", from);
    short_name(x, entry, "to", to);
    return entry;
}

static void short_measured(struct rewriting *x, struct scenario_node *list, const char *signal)
{
    char from[64], to[64];

    if (!short_law_takes(x, signal))
        return;
    snprintf(from, sizeof from, "converter.%s", signal);
    snprintf(to, sizeof to, "control.%s", signal);
    struct scenario_node *entry = short_connect(x, list, from, to);
    short_say(x, entry, "initial", "0");
    short_keys(x, entry, x->controller, KEYS("age_limit_us", "on_old", "old_value"));
}

/* Whether a law can be safe while the run goes on: for a voltage that is too old, or not a number,
 * which only a fault or a failed plant can make of it; or as it has failed itself. */
static bool short_law_can_be_safe(const struct rewriting *x)
{
    const struct scenario_node *faults = scenario_node_get(x->from, "faults");

    return short_is(x->controller, "on_stale_input", "safe") ||
           short_is(x->controller, "on_old", "safe") ||
           short_is(x->controller, "on_error", "safe") ||
           short_is(x->converters, "on_error", "safe") || (faults && faults->count > 0);
}

/* The next range of converters whose plants take the input, from *first on. */
static bool short_range(const struct rewriting *x, const char *input, unsigned *first,
                        unsigned *last)
{
    while (*first < x->count && !short_plant_takes(x, *first, input))
        ++*first;
    *last = *first;
    while (short_plant_takes(x, *last + 1, input))
        ++*last;
    return *first < x->count;
}

/* Names them: all by the name of the array alone. */
static void short_named(const struct rewriting *x, const char *array, unsigned first, unsigned last,
                        const char *signal, char text[64])
{
    if (first == 0 && last + 1 == x->count)
        snprintf(text, 64, "%s.%s", array, signal);
    else
        snprintf(text, 64, "%s[%u-%u].%s", array, first, last, signal);
}

/* A safe law turns the gates off. Where it cannot be safe, a link has the duty alone, which is
 * faster. */
static void short_enable(struct rewriting *x, struct scenario_node *list)
{
    unsigned last;

    if (hil_quantity_find(&x->law->outputs, "enable") < 0 || short_stays_enabled(x) ||
        !short_law_can_be_safe(x))
        return;
    for (unsigned first = 0; short_range(x, "enable", &first, &last); first = last + 1) {
        char from[64], to[64];
        short_named(x, "control", first, last, "enable", from);
        short_named(x, "converter", first, last, "enable", to);
        short_connect(x, list, from, to);
    }
}

static double short_duty(const struct rewriting *x, unsigned i)
{
    return short_number(short_override(x, i), "duty_initial",
                        short_number(x->converters, "duty_initial", 0));
}

static void short_connections(struct rewriting *x, struct scenario_node *root)
{
    struct scenario_node *list = short_block(x, root, "connections", SCENARIO_SEQUENCE);

    short_measured(x, list, "voltage_v");
    short_measured(x, list, "current_a");
    struct scenario_node *entry = short_connect(x, list, "control.duty", "converter.duty");
    if (short_any_overrides(x, "duty_initial"))
        short_each(x, entry, "initial", short_duty);
    else
        short_say(x, entry, "initial", short_text(x->converters, "duty_initial", "0"));
    short_keys(x, entry, x->converters, KEYS("age_limit_us", "on_old", "old_value"));
    short_enable(x, list);
}

static void short_steps(struct rewriting *x, struct scenario_node *source, const char *initial,
                        const struct scenario_node *changes, const char *key)
{
    struct scenario_node *steps = short_block(x, source, "steps", SCENARIO_MAPPING);

    short_say(x, steps, "initial", initial);
    struct scenario_node *list = short_block(x, steps, "changes", SCENARIO_SEQUENCE);
    for (size_t i = 0; i < changes->count; i++) {
        struct scenario_node *entry = short_entry(x, list);
        short_keys(x, entry, changes->entries[i].value, KEYS("time_s"));
        short_move(x, entry, "value", changes->entries[i].value, key);
        short_keys(x, entry, changes->entries[i].value, KEYS("ramp_s"));
    }
}

static void short_reference(struct rewriting *x, struct scenario_node *sources)
{
    const struct scenario_node *from = scenario_node_get(x->from, "reference");
    const struct scenario_node *changes = scenario_node_get(from, "changes");
    const char *initial = short_text(from, "voltage_v", "0");

    if (!short_law_takes(x, "reference_v"))
        return;
    struct scenario_node *source = short_block(x, sources, "reference", SCENARIO_MAPPING);
    short_say(x, source, "to", "control.reference_v");
    if (changes && changes->count)
        short_steps(x, source, initial, changes, "voltage_v");
    else
        short_say(x, source, "constant", initial);
}

/* A converter with a value of its own takes the changes in proportion to it. */
static double short_share(const struct rewriting *x, unsigned i, const char *input, double common)
{
    const double own =
        short_number(scenario_node_get(short_override(x, i), "parameters"), input, common);

    return own == common ? 1 : own / common;
}

static void short_source(struct rewriting *x, struct scenario_node *sources, const char *name,
                         const char *input)
{
    const struct scenario_node *changes = short_changes(x, input);
    char initial[SCENARIO_NUMBER_BYTES];
    bool alike = true;
    unsigned last;

    if (!changes)
        return;
    const struct hil_quantities *table =
        &short_model(x, scenario_node_get(x->converters, "plant"))->inputs;
    scenario_number_text(initial, table->at[hil_quantity_find(table, input)].value);
    const char *begin = short_text(scenario_node_get(x->converters, "parameters"), input, initial);
    struct scenario_node *source = short_block(x, sources, name, SCENARIO_MAPPING);
    struct scenario_node *to = short_block(x, source, "to", SCENARIO_SEQUENCE);
    for (unsigned first = 0; short_range(x, input, &first, &last); first = last + 1) {
        char text[64];
        short_named(x, "converter", first, last, input, text);
        short_name(x, to, NULL, text);
        for (unsigned i = first; i <= last; i++)
            alike &= short_share(x, i, input, strtod(begin, NULL)) == 1;
    }
    short_steps(x, source, begin, changes, input);
    struct scenario_node *scale = alike ? NULL : short_block(x, source, "scale", SCENARIO_SEQUENCE);
    for (unsigned i = 0; scale && i < x->count; i++)
        if (short_plant_takes(x, i, input))
            short_count(x, scale, NULL, short_share(x, i, input, strtod(begin, NULL)));
}

static void short_sources(struct rewriting *x, struct scenario_node *root)
{
    struct scenario_node *sources = short_block(x, root, "sources", SCENARIO_MAPPING);

    short_reference(x, sources);
    short_source(x, sources, "load", "load_ohm");
    short_source(x, sources, "input_voltage", "input_voltage_v");
}

/* --- record and measures ------------------------------------------------------------------- */

static void short_record(struct rewriting *x, struct scenario_node *root)
{
    const struct scenario_node *from = scenario_node_get(x->from, "recording");
    struct scenario_node *list = short_block(x, root, "record", SCENARIO_SEQUENCE);
    struct scenario_node *entry = short_entry(x, list);
    struct scenario_node *signals = short_block(x, entry, "signals", SCENARIO_SEQUENCE);

    if (!short_is(from, "voltage", "false") && short_law_takes(x, "voltage_v"))
        short_say(x, signals, NULL, "converter.voltage_v");
    if (!short_is(from, "duty", "false"))
        short_say(x, signals, NULL, "control.duty");
    short_say(x, entry, "node", "controller");
    short_keys(x, entry, from, KEYS("decimation"));
    if (short_number(from, "converter_decimation", 0) == 0)
        return;
    entry = short_entry(x, list);
    signals = short_block(x, entry, "signals", SCENARIO_SEQUENCE);
    short_say(x, signals, NULL, "converter.voltage_v");
    short_say(x, signals, NULL, "converter.current_a");
    short_say(x, signals, NULL, "converter.duty");
    short_say(x, entry, "node", "converter");
    short_move(x, entry, "decimation", from, "converter_decimation");
}

static void short_measures(struct rewriting *x, struct scenario_node *root)
{
    static const char *const names[][2] = {{"output_v", "sum"}, {"voltage_v", "each"}};
    struct scenario_node *measures = NULL;

    for (unsigned i = 0; short_law_takes(x, "voltage_v") && i < 2; i++) {
        measures = measures ? measures : short_block(x, root, "measures", SCENARIO_MAPPING);
        struct scenario_node *m = short_block(x, measures, names[i][0], SCENARIO_MAPPING);
        short_say(x, m, names[i][1], "converter.voltage_v");
        if (short_law_takes(x, "reference_v"))
            short_say(x, m, "reference", "control.reference_v");
        else
            short_say(x, m, "node", "controller");
    }
}

/* --- where the nodes are ------------------------------------------------------------------- */

/* The nodes of an entry that names the controller, converters, or both. */
static void short_who(struct rewriting *x, struct scenario_node *to,
                      const struct scenario_node *entry)
{
    const char *converters = short_text(entry, "converters", NULL);
    struct scenario_node *names = short_block(x, to, "nodes", SCENARIO_SEQUENCE);
    char text[64];

    if (short_is(entry, "controller", "true"))
        short_say(x, names, NULL, "controller");
    if (!converters)
        return;
    snprintf(text, sizeof text, "converter[%.40s]", converters);
    short_name(x, names, NULL, text);
}

/* Copies a list of such entries, with these keys. */
static void short_places(struct rewriting *x, struct scenario_node *to, const char *key,
                         const struct scenario_node *from, const char *const *keys)
{
    struct scenario_node *list = from ? short_block(x, to, key, SCENARIO_SEQUENCE) : NULL;

    for (size_t i = 0; list && i < from->count; i++) {
        struct scenario_node *entry = short_entry(x, list);
        short_who(x, entry, from->entries[i].value);
        short_keys(x, entry, from->entries[i].value, keys);
    }
}

static void short_fabric(struct rewriting *x, struct scenario_node *root, const char *name)
{
    const struct scenario_node *from = scenario_node_get(x->from, name);
    struct scenario_node *fabric =
        from && from->count ? short_block(x, root, name, SCENARIO_MAPPING) : NULL;

    for (size_t i = 0; fabric && i < from->count; i++) {
        const struct scenario_entry *e = &from->entries[i];
        if (strcmp(e->key, "nodes") == 0)
            short_places(x, fabric, e->key, e->value, KEYS("address"));
        else
            short_move(x, fabric, e->key, from, e->key);
    }
}

static void short_latency(struct rewriting *x, struct scenario_node *links, const char *from,
                          const char *to, const char *key)
{
    const struct scenario_node *network = scenario_node_get(x->from, "network");

    if (short_number(network, key, 0) != 0)
        short_move(x, short_connect(x, links, from, to), "latency_us", network, key);
}

static void short_network(struct rewriting *x, struct scenario_node *root)
{
    const struct scenario_node *from = scenario_node_get(x->from, "network");

    if (!from || from->count == 0)
        return;
    struct scenario_node *network = short_block(x, root, "network", SCENARIO_MAPPING);
    short_keys(x, network, from, KEYS("jitter_us", "seed"));
    struct scenario_node *links = short_block(x, network, "links", SCENARIO_SEQUENCE);
    if (short_law_takes(x, "voltage_v") || short_law_takes(x, "current_a"))
        short_latency(x, links, "converter", "controller", "latency_up_us");
    short_latency(x, links, "controller", "converter", "latency_down_us");
}

/* --- the whole ----------------------------------------------------------------------------- */

static void short_all(struct rewriting *x, struct scenario_node *root)
{
    short_keys(x, root, x->from,
               KEYS("name", "duration_s", "mode", "fabric", "rendezvous", "on_lost", "hang_limit_s",
                    "stop_ramp_s", "tuning"));
    short_move(x, root, "on_record_error", scenario_node_get(x->from, "recording"), "on_error");
    short_fabric(x, root, "verbs");
    short_fabric(x, root, "tcp");
    short_network(x, root);
    short_nodes(x, root);
    short_components(x, root);
    short_connections(x, root);
    short_sources(x, root);
    short_record(x, root);
    short_measures(x, root);
    short_keys(x, root, x->from, KEYS("faults", "limits", "validity", "trace"));
    short_places(x, root, "placement", scenario_node_get(x->from, "placement"),
                 KEYS("cpu", "priority", "scheduler", "wait"));
}

int scenario_short_form_rewrite(const struct scenario_node *from, const char *folder,
                                struct scenario_node **to, struct scenario_report *report)
{
    struct rewriting x = {.from = from,
                          .folder = folder,
                          .report = report,
                          .controller = scenario_node_get(from, "controller"),
                          .converters = scenario_node_get(from, "converters")};

    x.overrides = scenario_node_get(x.converters, "overrides");
    short_check(from, report);
    *to = scenario_node_new(SCENARIO_MAPPING, NULL, &from->at);
    x.error = *to ? short_open(&x) : -ENOMEM;
    if (!x.error)
        short_all(&x, *to);
    free(x.plants);
    if (x.error != -ENOMEM && report->mistakes > 0)
        x.error = -EINVAL;
    if (!x.error)
        return 0;
    scenario_node_free(*to);
    *to = NULL;
    return x.error;
}

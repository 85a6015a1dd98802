/* The nodes and the components of the short form. */
#include <string.h>

#include "rewriting.h"

/* --- nodes --------------------------------------------------------------------------------- */

static double short_period(const struct rewriting *x, unsigned i)
{
    return short_number(short_override(x, i), "period_us",
                        short_number(x->converters, "period_us", 0));
}

static double short_phase(const struct rewriting *x, unsigned i)
{
    return short_number(short_override(x, i), "phase_us",
                        short_number(x->converters, "phase_us", 0) +
                            i * short_number(x->converters, "stagger_us", 0));
}

void short_nodes(struct rewriting *x, struct scenario_node *root)
{
    static const char *const common[] = {"cpu",
                                         "shards",
                                         "shard_cpus",
                                         "priority",
                                         "scheduler",
                                         "wait",
                                         "overrun",
                                         "catch_up_limit",
                                         "resync_after_us",
                                         "input_age_limit_us",
                                         "on_stale_input",
                                         "bad_inputs_limit",
                                         NULL};
    struct scenario_node *nodes = short_block(x, root, "nodes", SCENARIO_MAPPING);
    struct scenario_node *node = short_block(x, nodes, "controller", SCENARIO_MAPPING);

    short_keys(x, node, x->controller, KEYS("period_us", "phase_us", "realtime_phase_us"));
    short_keys(x, node, x->controller, common);
    node = short_block(x, nodes, "converter", SCENARIO_MAPPING);
    short_keys(x, node, x->converters, KEYS("count"));
    if (short_any_overrides(x, "period_us"))
        short_each(x, node, "period_us", short_period);
    else
        short_keys(x, node, x->converters, KEYS("period_us"));
    if (short_any_overrides(x, "phase_us"))
        short_each(x, node, "phase_us", short_phase);
    else
        short_keys(x, node, x->converters, KEYS("phase_us", "stagger_us"));
    short_keys(x, node, x->converters, common);
}

/* --- components ---------------------------------------------------------------------------- */

/* A limit of the law that is not given is 0 or 1, whatever the law's table has. */
static void short_limit(struct rewriting *x, struct scenario_node *parameters, const char *name,
                        double without)
{
    const struct scenario_node *limits = scenario_node_get(x->controller, "limits");
    const int row = hil_quantity_find(&x->law->parameters, name);

    if (scenario_node_get(limits, name))
        short_keys(x, parameters, limits, KEYS(name));
    else if (x->law->parameters.at[row].value != without)
        short_count(x, parameters, name, without);
}

bool short_stays_enabled(const struct rewriting *x)
{
    return short_number(x->converters, "duty_safe", 0) > 0;
}

static struct scenario_node *short_safe(struct rewriting *x, struct scenario_node *component)
{
    struct scenario_node *safe = short_block(x, component, "safe", SCENARIO_MAPPING);

    short_say(x, safe, "duty", short_text(x->converters, "duty_safe", "0"));
    return safe;
}

static void short_law(struct rewriting *x, struct scenario_node *components)
{
    struct scenario_node *law = short_block(x, components, "control", SCENARIO_MAPPING);

    short_move(x, law, "model", x->controller, "law");
    short_say(x, law, "node", "controller");
    short_say(x, law, "count", "converter");
    short_say(x, law, "computation_delay", short_text(x->controller, "computation_delay", "true"));
    struct scenario_node *parameters = short_block(x, law, "parameters", SCENARIO_MAPPING);
    short_entries(x, parameters, scenario_node_get(x->controller, "gains"));
    short_limit(x, parameters, "duty_min", 0);
    short_limit(x, parameters, "duty_max", 1);
    struct scenario_node *safe = short_safe(x, law);
    if (short_stays_enabled(x) && hil_quantity_find(&x->law->outputs, "enable") >= 0)
        short_say(x, safe, "enable", "1");
    short_keys(x, law, x->controller, KEYS("on_error"));
}

const struct scenario_node *short_changes(const struct rewriting *x, const char *input)
{
    const char *block = strcmp(input, "load_ohm") == 0          ? "load"
                        : strcmp(input, "input_voltage_v") == 0 ? "input_voltage"
                                                                : NULL;
    const struct scenario_node *changes =
        block ? scenario_node_get(scenario_node_get(x->from, block), "changes") : NULL;

    return changes && changes->count ? changes : NULL;
}

/* The parameters but those that a source feeds. */
static void short_parameters(struct rewriting *x, struct scenario_node *to,
                             const struct scenario_node *block)
{
    const struct scenario_node *from = scenario_node_get(block, "parameters");
    struct scenario_node *parameters =
        from && from->count ? short_block(x, to, "parameters", SCENARIO_MAPPING) : NULL;

    for (size_t i = 0; parameters && i < from->count; i++)
        if (!short_changes(x, from->entries[i].key))
            short_move(x, parameters, from->entries[i].key, from, from->entries[i].key);
}

static void short_overrides(struct rewriting *x, struct scenario_node *plant)
{
    struct scenario_node *list = NULL;

    for (size_t i = 0; x->overrides && i < x->overrides->count; i++) {
        const struct scenario_node *from = x->overrides->entries[i].value;
        if (!scenario_node_get(from, "plant") && !scenario_node_get(from, "parameters") &&
            !scenario_node_get(from, "initial"))
            continue;
        list = list ? list : short_block(x, plant, "overrides", SCENARIO_SEQUENCE);
        struct scenario_node *to = short_entry(x, list);
        short_keys(x, to, from, KEYS("id"));
        short_move(x, to, "model", from, "plant");
        short_parameters(x, to, from);
        short_keys(x, to, from, KEYS("initial"));
    }
}

static void short_plant_safe(struct rewriting *x, struct scenario_node *plant)
{
    struct scenario_node *safe = short_safe(x, plant);
    unsigned enabled = 0;

    for (unsigned i = 0; i < x->count; i++)
        enabled += short_plant_takes(x, i, "enable");
    if (!short_stays_enabled(x) || !enabled)
        return;
    if (enabled == x->count) {
        short_say(x, safe, "enable", "1");
        return;
    }
    struct scenario_node *list = short_block(x, safe, "enable", SCENARIO_SEQUENCE);
    for (unsigned i = 0; i < x->count; i++)
        short_say(x, list, NULL, short_plant_takes(x, i, "enable") ? "1" : "~");
}

void short_components(struct rewriting *x, struct scenario_node *root)
{
    struct scenario_node *components = short_block(x, root, "components", SCENARIO_MAPPING);

    short_law(x, components);
    struct scenario_node *plant = short_block(x, components, "converter", SCENARIO_MAPPING);
    short_move(x, plant, "model", x->converters, "plant");
    short_say(x, plant, "node", "converter");
    short_parameters(x, plant, x->converters);
    short_keys(x, plant, x->converters, KEYS("initial"));
    short_overrides(x, plant);
    short_keys(x, plant, x->converters, KEYS("tolerance"));
    short_plant_safe(x, plant);
    short_keys(x, plant, x->converters, KEYS("on_error"));
}

/* Components: their models, and the numbers for these. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../scenario_models.h"
#include "../yaml/scenario_resolve.h"
#include "general.h"

/* --- counts and nodes ---------------------------------------------------------------------- */

/* Whether the text is the bare name of an array of nodes, perhaps of one. */
static bool component_is_of_array(const struct general *g, const struct scenario_node *node)
{
    const int found = hil_names_find(&g->nodes.names, node->text, strlen(node->text));

    return found >= 0 && g->nodes.at[found].of > 0;
}

static int component_group(struct general *g, const struct scenario_entry *entry, unsigned i,
                           unsigned *total)
{
    const struct scenario_node *block = entry->value, *node = scenario_node_get(block, "node");
    const struct scenario_node *said = scenario_node_get(block, "count");
    unsigned of = (unsigned)general_number(block, "count", 0), first, last;
    char *name = hil_pool_text(g->system->pool, entry->key);

    if (!name)
        return -ENOMEM;
    if (!general_find(g, &g->nodes, node, strlen(node->text), &first, &last))
        return 0;
    const unsigned places = last - first + 1;
    const bool spread = places > 1 || strchr(node->text, '*') || component_is_of_array(g, node);
    if (!said && spread)
        of = places;
    if (said && spread && of != places)
        scenario_mistake(g->report, &said->at,
                         "components.%s.count is %u, but %s is %u nodes; allowed: %u, or one node "
                         "for all",
                         name, of, node->text, places, places);
    g->components.at[i] = (struct general_group){
        .name = name, .block = block, .first = *total, .count = of ? of : 1, .of = of};
    hil_names_add(&g->components.names, name, i);
    *total += of ? of : 1;
    return 0;
}

static int component_groups(struct general *g)
{
    const struct scenario_node *blocks = scenario_node_get(g->root, "components");
    unsigned total = 0;

    g->components.count = (unsigned)blocks->count;
    g->components.at = hil_pool_get(g->system->pool, blocks->count, sizeof g->components.at[0]);
    if (!g->components.at || hil_names_open(&g->components.names, blocks->count))
        return -ENOMEM;
    if (blocks->count == 0)
        scenario_mistake(g->report, &blocks->at, "components has none; allowed: at least one");
    for (unsigned i = 0; i < blocks->count && total <= SCENARIO_NODES_MAX; i++) {
        int rc = component_group(g, &blocks->entries[i], i, &total);
        if (rc)
            return rc;
    }
    if (total > SCENARIO_NODES_MAX)
        scenario_mistake(g->report, &blocks->at, "there are more components than allowed: up to %d",
                         SCENARIO_NODES_MAX);
    g->system->component_count = total;
    g->system->components = hil_pool_get(g->system->pool, total, sizeof(struct hil_component));
    g->system->component_arrays = general_arrays(g, &g->components);
    g->system->component_array_count = g->components.count;
    return g->system->components && g->system->component_arrays ? 0 : -ENOMEM;
}

/* --- models -------------------------------------------------------------------------------- */

static const struct hil_model *
component_model_find(const struct general *g, const struct general_group *group, const char *name)
{
    struct hil_settings settings;

    if (scenario_settings(&settings, group->block, group->name, name, &g->mentioned))
        return NULL;
    const struct hil_loaded *loaded = hil_loaded_find(name, &settings);
    scenario_settings_free(&settings);
    return loaded ? loaded->model : hil_model_find(name);
}

static const struct hil_model *component_model(const struct general *g,
                                               const struct general_group *group,
                                               const struct scenario_node *text)
{
    const struct hil_model *m = component_model_find(g, group, text->text);
    char choice[SCENARIO_CHOICE_BYTES];
    const char *names[128];
    unsigned count = 0;

    if (m)
        return m;
    for (; hil_models[count] && count < 128; count++)
        names[count] = hil_models[count]->name;
    scenario_say_choice(text->text, names, count, choice);
    scenario_mistake(g->report, &text->at, "there is no model '%.60s'%s", text->text, choice);
    return NULL;
}

/* Checks that the model supports the width and the delay. */
static bool component_suits(const struct general *g, const struct general_group *group,
                            const struct hil_model *m)
{
    const struct scenario_node *width = scenario_node_get(group->block, "width");
    const struct scenario_node *delay = scenario_node_get(group->block, "computation_delay");
    const unsigned before = g->report->mistakes;

    if (general_number(group->block, "width", 0) > m->width_max)
        scenario_mistake(g->report, &width->at,
                         "components.%s.width is %s; allowed of a %s: 1 to %u", group->name,
                         width->text, m->name, m->width_max);
    if (m->kind == HIL_CONTINUOUS && strcmp(delay->text, "true") == 0)
        scenario_mistake(
            g->report, &delay->at,
            "components.%s.computation_delay is true, but %s is a continuous model; allowed: false",
            group->name, m->name);
    return g->report->mistakes == before;
}

/* Virtual time does not work with devices. */
static bool component_has_time(const struct general *g, const struct scenario_node *name,
                               const struct hil_model *m)
{
    const struct hil_loaded *loaded = hil_loaded_of(m);

    if (g->scenario->mode != HIL_VIRTUAL || !loaded || !loaded->provider->not_virtual)
        return true;
    scenario_mistake(g->report, &name->at,
                     "the model %s has no virtual time: %s; allowed: mode: realtime", m->name,
                     loaded->provider->not_virtual);
    return false;
}

static bool component_models(struct general *g, const struct general_group *group)
{
    const struct scenario_node *names = scenario_node_get(group->block, "model");
    const struct scenario_node *node = scenario_node_get(group->block, "node");
    const struct hil_model *m = NULL;
    const char *before = NULL;
    unsigned first, last;

    if (!general_fits(g, group->block, "model", group->count, "components"))
        return false;
    general_find(g, &g->nodes, node, strlen(node->text), &first, &last);
    for (unsigned i = 0; i < group->count; i++) {
        struct hil_component *c = &g->system->components[group->first + i];
        const struct scenario_node *name =
            names->kind == SCENARIO_SEQUENCE ? names->entries[i].value : names;
        if (!before || strcmp(before, name->text) != 0) {
            before = name->text;
            m = component_model(g, group, name);
            if (!m || !component_suits(g, group, m) || !component_has_time(g, name, m))
                return false;
        }
        *c = (struct hil_component){
            .is = {group->name, i, group->of},
            .array = (unsigned)(group - g->components.at),
            .model = m,
            .width = (unsigned)general_number(group->block, "width", 0),
            .node = first == last ? first : first + i,
            .computation_delay = general_true(group->block, "computation_delay"),
            .on_error = strcmp(general_text(group->block, "on_error"), "safe") == 0 ? HIL_ERROR_SAFE
                                                                                    : HIL_ERROR_END,
        };
        c->in_count = hil_places_before(&m->inputs, c->width, m->inputs.count);
        c->out_count = hil_places_before(&m->outputs, c->width, m->outputs.count);
    }
    return true;
}

/* --- numbers by a model's names ------------------------------------------------------------ */

/* One of the blocks parameters, initial, inputs and safe. */
struct component_block {
    const struct general_group *group;
    const char *key;
    const struct scenario_node *node;
};

static const struct hil_quantities *component_table(const struct hil_model *m, const char *key)
{
    return strcmp(key, "parameters") == 0                       ? &m->parameters
           : strcmp(key, "initial") == 0                        ? &m->states
           : strcmp(key, "safe") == 0 && m->kind == HIL_SAMPLED ? &m->outputs
                                                                : &m->inputs;
}

static void component_wrong(const struct general *g, const struct component_block *b,
                            const struct scenario_node *node, const struct hil_quantity *q)
{
    char found[128], range[128], remark[SCENARIO_REMARK_BYTES] = "";

    if (node->kind == SCENARIO_SCALAR)
        scenario_number_remark(node->text, q->unit, remark);
    scenario_say_range(q->min, q->max, q->unit, range, sizeof range);
    scenario_mistake(g->report, &node->at, "components.%s.%s.%s is %s%s; allowed: a %snumber, %s",
                     b->group->name, b->key, q->name,
                     scenario_node_describe(node, found, sizeof found), remark,
                     q->flags & HIL_WHOLE ? "whole " : "", range);
}

/* Reads a number, and checks that the row allows it. */
static bool component_number(const struct general *g, const struct component_block *b,
                             const struct scenario_node *node, const struct hil_quantity *q,
                             double *value)
{
    if (node->kind == SCENARIO_SCALAR && node->plain && scenario_is_number(node->text)) {
        *value = strtod(node->text, NULL);
        if (isfinite(*value) && *value >= q->min && *value <= q->max &&
            (!(q->flags & HIL_WHOLE) || *value == floor(*value)))
            return true;
    }
    component_wrong(g, b, node, q);
    return false;
}

/* Fills the places of a row from a number, or from a list with a number for each place. NAN stands
 * for the model's value, written as ~ in a list. */
static bool component_row(const struct general *g, const struct component_block *b,
                          const struct scenario_node *node, const struct hil_quantity *q,
                          unsigned width, double *values)
{
    const unsigned places = q->flags & HIL_WIDE ? width : 1;
    const bool list = node->kind == SCENARIO_SEQUENCE && q->flags & HIL_WIDE;

    if (list && node->count != places) {
        scenario_mistake(
            g->report, &node->at,
            "components.%s.%s.%s is a list of %zu; allowed: a number, or a list of %u, "
            "the component's width",
            b->group->name, b->key, q->name, node->count, places);
        return false;
    }
    for (unsigned i = 0; i < places; i++) {
        const struct scenario_node *one = list ? node->entries[i].value : node;
        values[i] = NAN;
        if (!(list && scenario_node_empty(one)) && !component_number(g, b, one, q, &values[i]))
            return false;
    }
    return true;
}

/* The value that an entry gives to component `i`; NULL: none, or ~ in a list. */
static const struct scenario_node *component_given(const struct component_block *b,
                                                   const struct scenario_node *value, unsigned i)
{
    if (b->group->of == 0 || value->kind != SCENARIO_SEQUENCE)
        return value;
    const struct scenario_node *one = value->entries[i].value;
    return scenario_node_empty(one) ? NULL : one;
}

static void component_unknown(const struct general *g, const struct component_block *b,
                              const struct scenario_entry *entry, const struct hil_model *m)
{
    const struct hil_quantities *table = component_table(m, b->key);
    const char *names[HIL_QUANTITIES_MAX];
    char choice[SCENARIO_CHOICE_BYTES];

    for (unsigned i = 0; i < table->count; i++)
        names[i] = table->at[i].name;
    scenario_say_choice(entry->key, names, table->count, choice);
    scenario_mistake(g->report, &entry->at, "unknown key '%.60s' in components.%s.%s of a %s%s",
                     entry->key, b->group->name, b->key, m->name, choice);
}

/* Stores a row's values for one component; NAN: not given. */
typedef int component_take(struct general *g, unsigned component, unsigned row, unsigned place,
                           const double *values, unsigned count, const struct scenario_node *at);

static int component_take_entry(struct general *g, const struct component_block *b,
                                const struct scenario_entry *entry, component_take *take)
{
    const struct hil_model *m = NULL;
    double values[65536 / sizeof(double)];
    unsigned taken = 0;
    int row = -1;

    if (b->group->of && entry->value->kind == SCENARIO_SEQUENCE &&
        entry->value->count != b->group->count) {
        scenario_mistake(g->report, &entry->value->at,
                         "components.%s.%s.%s is a list of %zu, but there are %u components; "
                         "allowed: one for all, or a list of %u",
                         b->group->name, b->key, entry->key, entry->value->count, b->group->count,
                         b->group->count);
        return 0;
    }
    for (unsigned i = 0; i < b->group->count; i++) {
        const struct hil_component *c = &g->system->components[b->group->first + i];
        const struct scenario_node *given = component_given(b, entry->value, i);
        if (c->model != m) {
            m = c->model;
            row = hil_quantity_find(component_table(m, b->key), entry->key);
        }
        if (!given || row < 0) { /* in an array with several models, another model may have it */
            if (given && entry->value->kind == SCENARIO_SEQUENCE)
                break;
            continue;
        }
        const struct hil_quantities *table = component_table(m, b->key);
        const struct hil_quantity *q = &table->at[row];
        if ((q->flags & HIL_WIDE && c->width > sizeof values / sizeof values[0]) ||
            !component_row(g, b, given, q, c->width, values))
            return 0;
        const unsigned place = hil_places_before(table, c->width, (unsigned)row);
        int rc = take(g, b->group->first + i, (unsigned)row, place, values,
                      q->flags & HIL_WIDE ? c->width : 1, given);
        if (rc)
            return rc;
        taken++;
    }
    if (!taken)
        component_unknown(g, b, entry, g->system->components[b->group->first].model);
    return 0;
}

static int component_take_block(struct general *g, const struct general_group *group,
                                const char *key, component_take *take)
{
    const struct component_block b = {group, key, scenario_node_get(group->block, key)};
    char found[128];

    if (!b.node)
        return 0;
    if (b.node->kind != SCENARIO_MAPPING) {
        scenario_mistake(g->report, &b.node->at,
                         "components.%s.%s is %s; allowed: a mapping of the model's names",
                         group->name, key, scenario_node_describe(b.node, found, sizeof found));
        return 0;
    }
    for (unsigned i = 0; i < b.node->count && !scenario_report_is_full(g->report); i++) {
        int rc = component_take_entry(g, &b, &b.node->entries[i], take);
        if (rc)
            return rc;
    }
    return 0;
}

/* Given values replace the table's. */
static void component_replace(double *to, const double *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        to[i] = isnan(values[i]) ? to[i] : values[i];
}

static int component_set_parameter(struct general *g, unsigned component, unsigned row,
                                   unsigned place, const double *values, unsigned count,
                                   const struct scenario_node *at)
{
    (void)row, (void)at;
    component_replace((double *)g->system->components[component].parameters + place, values, count);
    return 0;
}

static int component_set_state(struct general *g, unsigned component, unsigned row, unsigned place,
                               const double *values, unsigned count, const struct scenario_node *at)
{
    (void)row, (void)at;
    component_replace((double *)g->system->components[component].states + place, values, count);
    return 0;
}

/* The value of a constant input, which its tolerance has changed. */
static bool component_constant(const struct general *g, unsigned input, double value,
                               const struct scenario_place *at, double *changed)
{
    const struct hil_quantity *q = g->input_row[input];
    char range[128];

    *changed = value * g->input_factor[input];
    if (*changed >= q->min && *changed <= q->max)
        return true;
    scenario_say_range(q->min, q->max, q->unit, range, sizeof range);
    scenario_mistake(g->report, at, "%g by the tolerance makes %g of %s; allowed: %s", value,
                     *changed, q->name, range);
    return false;
}

static int component_set_input(struct general *g, unsigned component, unsigned row, unsigned place,
                               const double *values, unsigned count, const struct scenario_node *at)
{
    (void)row;
    for (unsigned i = 0; i < count; i++) {
        struct hil_feed feed = {.kind = HIL_FEED_CONSTANT, .scale = 1};
        const unsigned input = g->first_input[component] + place + i;
        if (!isnan(values[i]) && component_constant(g, input, values[i], &at->at, &feed.initial))
            general_feed(g, (struct general_element){component, place + i}, at, &feed);
    }
    return 0;
}

/* Inputs that nothing has fed yet have the table's values, which tolerances change, too. */
static void component_own_inputs(struct general *g, const struct general_group *group)
{
    const struct scenario_node *tolerance = scenario_node_get(group->block, "tolerance");

    for (unsigned i = 0; tolerance && i < group->count; i++) {
        const unsigned first = g->first_input[group->first + i];
        for (unsigned k = 0; k < g->system->components[group->first + i].in_count; k++)
            if (!g->fed[first + k] && g->input_factor[first + k] != 1 &&
                !component_constant(g, first + k, g->feeds[first + k].initial, &tolerance->at,
                                    &g->feeds[first + k].initial))
                return;
    }
}

/* Gives the component safe values if it has none: 0 for what enables it. The others are missing,
 * and missing values are not replaced. */
static int component_begin_safe(const struct general *g, struct hil_component *c)
{
    const bool sampled = c->model->kind == HIL_SAMPLED;
    const struct hil_quantities *table = sampled ? &c->model->outputs : &c->model->inputs;

    if (c->safe)
        return 0;
    double *safe =
        hil_pool_get(g->system->pool, sampled ? c->out_count : c->in_count, sizeof *safe);
    if (!safe)
        return -ENOMEM;
    c->safe = safe;
    for (unsigned r = 0; r < table->count; r++)
        for (unsigned k = 0; k < (table->at[r].flags & HIL_WIDE ? c->width : 1); k++)
            *safe++ = table->at[r].flags & HIL_ENABLE ? 0 : NAN;
    return 0;
}

static bool component_can_be_enabled(const struct hil_model *m)
{
    const struct hil_quantities *table = m->kind == HIL_SAMPLED ? &m->outputs : &m->inputs;

    for (unsigned r = 0; r < table->count; r++)
        if (table->at[r].flags & HIL_ENABLE)
            return true;
    return false;
}

static int component_set_safe(struct general *g, unsigned component, unsigned row, unsigned place,
                              const double *values, unsigned count, const struct scenario_node *at)
{
    struct hil_component *c = &g->system->components[component];
    int rc = component_begin_safe(g, c);

    (void)row, (void)at;
    c->safe_given = true;
    if (!rc)
        memcpy((double *)c->safe + place, values, count * sizeof *values);
    return rc;
}

/* --- the tables' own values ---------------------------------------------------------------- */

static double *component_defaults(const struct general *g, const struct hil_quantities *table,
                                  unsigned width)
{
    double *values = hil_pool_get(g->system->pool, hil_places_before(table, width, table->count),
                                  sizeof *values);
    double *to = values;

    for (unsigned i = 0; values && i < table->count; i++)
        for (unsigned k = 0; k < (table->at[i].flags & HIL_WIDE ? width : 1); k++)
            *to++ = table->at[i].flags & HIL_OWN ? NAN : table->at[i].value;
    return values;
}

/* Numbers the inputs and outputs, and sets each input to its table's value. */
static int component_signals(struct general *g)
{
    const unsigned count = g->system->component_count;
    struct hil_pool *pool = g->system->pool;
    unsigned inputs = 0, outputs = 0;

    g->first_input = hil_pool_get(pool, count, sizeof *g->first_input);
    g->first_output = hil_pool_get(pool, count, sizeof *g->first_output);
    if (!g->first_input || !g->first_output)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        g->first_input[i] = inputs;
        g->first_output[i] = outputs;
        inputs += g->system->components[i].in_count;
        outputs += g->system->components[i].out_count;
    }
    g->feeds = hil_pool_get(pool, inputs, sizeof *g->feeds);
    g->input_factor = hil_pool_get(pool, inputs, sizeof *g->input_factor);
    g->fed = hil_pool_get(pool, inputs, sizeof *g->fed);
    g->input_row = hil_pool_get(pool, inputs, sizeof *g->input_row);
    if (!g->feeds || !g->input_factor || !g->fed || !g->input_row)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        const struct hil_component *c = &g->system->components[i];
        const struct hil_quantities *table = &c->model->inputs;
        unsigned at = g->first_input[i];
        for (unsigned r = 0; r < table->count; r++)
            for (unsigned k = 0; k < (table->at[r].flags & HIL_WIDE ? c->width : 1); k++, at++) {
                g->input_row[at] = &table->at[r];
                g->input_factor[at] = 1;
                g->feeds[at] = (struct hil_feed){.scale = 1, .initial = table->at[r].value};
            }
    }
    return 0;
}

static int component_numbers(struct general *g, const struct general_group *group)
{
    for (unsigned i = 0; i < group->count; i++) {
        struct hil_component *c = &g->system->components[group->first + i];
        c->parameters = component_defaults(g, &c->model->parameters, c->width);
        c->states = component_defaults(g, &c->model->states, 1);
        if (!c->parameters || !c->states ||
            (component_can_be_enabled(c->model) && component_begin_safe(g, c)))
            return -ENOMEM;
    }
    int rc = component_take_block(g, group, "parameters", component_set_parameter);
    if (!rc)
        general_tolerance(g, group);
    if (!rc)
        rc = component_take_block(g, group, "initial", component_set_state);
    if (!rc)
        rc = component_take_block(g, group, "inputs", component_set_input);
    if (!rc)
        component_own_inputs(g, group);
    return rc ? rc : component_take_block(g, group, "safe", component_set_safe);
}

/* --- testing numbers with the models ------------------------------------------------------- */

static bool component_alike(const struct general *g, const struct hil_component *a,
                            const struct hil_component *b)
{
    const unsigned parameters =
        hil_places_before(&a->model->parameters, a->width, a->model->parameters.count);

    return a->model == b->model &&
           g->system->nodes[a->node].timing.period_ns ==
               g->system->nodes[b->node].timing.period_ns &&
           memcmp(a->parameters, b->parameters, parameters * sizeof(double)) == 0 &&
           memcmp(a->states, b->states, a->model->states.count * sizeof(double)) == 0;
}

static void component_try(const struct general *g, const struct general_group *group)
{
    char why[SCENARIO_REASON_BYTES], name[HIL_SIGNAL_NAME_BYTES];

    for (unsigned i = 0; i < group->count; i++) {
        const struct hil_component *c = &g->system->components[group->first + i];
        if (i > 0 && component_alike(g, c, c - 1))
            continue;
        const int rc = scenario_try(c->model, c->width, c->parameters, c->states,
                                    g->system->nodes[c->node].timing.period_ns, why);
        if (!rc)
            continue;
        const struct scenario_node *at =
            scenario_node_get(group->block, rc == -ENOEXEC ? "model" : "parameters");
        hil_instance_name(&c->is, name);
        if (rc == -ENOEXEC) {
            scenario_mistake(g->report, &at->at,
                             "the model %s cannot be used for %s (%s); allowed: one that can",
                             c->model->name, name, why);
            return;
        }
        scenario_mistake(g->report, &at->at,
                         "the model %s refuses the parameters, initial states and period of %s "
                         "(%s); allowed: values that make sense together",
                         c->model->name, name, why);
        return;
    }
}

static void component_check_safe(const struct general *g, const struct general_group *group)
{
    const struct hil_component *c = &g->system->components[group->first];

    if (c->on_error == HIL_ERROR_SAFE && !c->safe)
        scenario_mistake(g->report, &scenario_node_get(group->block, "on_error")->at,
                         "components.%s.on_error is safe, but it has no safe values; allowed: with "
                         "components.%s.safe",
                         group->name, group->name);
}

int general_components(struct general *g)
{
    const unsigned before = g->report->mistakes;
    int rc = scenario_mentioned_open(&g->mentioned, g->root);

    if (!rc)
        rc = component_groups(g);

    for (unsigned i = 0; !rc && i < g->components.count; i++)
        if (g->report->mistakes == before || g->components.at[i].count)
            component_models(g, &g->components.at[i]);
    if (!rc && g->report->mistakes == before)
        rc = general_parameters(g);
    if (rc || g->report->mistakes > before)
        return rc;
    rc = component_signals(g);
    for (unsigned i = 0; !rc && i < g->components.count; i++)
        rc = component_numbers(g, &g->components.at[i]);
    for (unsigned i = 0; !rc && i < g->components.count && g->report->mistakes == before; i++) {
        component_check_safe(g, &g->components.at[i]);
        component_try(g, &g->components.at[i]);
    }
    return rc;
}

/*
 * The numbers of components: parameters, initial states, constant inputs and safe values, given by
 * the names of their models. Those that are not given are the models' own.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../yaml/value_units.h"
#include "general.h"

/* --- numbers by a model's names ------------------------------------------------------------ */

/* One of the blocks parameters, initial, inputs and safe. */
struct component_block {
    const struct general_group *group;
    const char *key;
    const struct scenario_node *node;
    const char *table; /* whose names it has here: parameters may name inputs, too */
};

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

static bool component_is_none(const struct scenario_node *value)
{
    return value->kind == SCENARIO_SCALAR && value->plain && strcmp(value->text, "~") == 0;
}

/* The value that an entry gives to component `i`; NULL if it is ~, which gives none. */
static const struct scenario_node *component_given(const struct component_block *b,
                                                   const struct scenario_node *value, unsigned i)
{
    if (component_is_none(value))
        return NULL;
    if (b->group->of == 0 || value->kind != SCENARIO_SEQUENCE)
        return value;
    const struct scenario_node *one = value->entries[i].value;
    return scenario_node_empty(one) ? NULL : one;
}

/* Whether the parameters of a component, too, are looked for among its constant inputs. */
static bool component_names_inputs(const struct component_block *b)
{
    return strcmp(b->key, "parameters") == 0;
}

/* The row of a name in the block's table; -1: none. In a component's parameters a parameter comes
 * before an input of the same name. */
static int component_row_of(const struct component_block *b, const struct hil_model *m,
                            const char *name)
{
    if (b->table != b->key && hil_quantity_find(&m->parameters, name) >= 0)
        return -1;
    return hil_quantity_find(scenario_block_table(m, b->table), name);
}

static bool component_knows(const struct component_block *b, const struct hil_model *m,
                            const char *name)
{
    return hil_quantity_find(scenario_block_table(m, b->key), name) >= 0 ||
           (component_names_inputs(b) && hil_quantity_find(&m->inputs, name) >= 0);
}

static void component_unknown(const struct general *g, const struct component_block *b,
                              const struct scenario_entry *entry, const struct hil_model *m)
{
    const struct hil_quantities *tables[] = {scenario_block_table(m, b->key), &m->inputs};
    const char *names[2 * HIL_QUANTITIES_MAX];
    char choice[SCENARIO_CHOICE_BYTES];
    unsigned count = 0;

    for (unsigned t = 0; t < (component_names_inputs(b) ? 2 : 1); t++)
        for (unsigned i = 0; i < tables[t]->count; i++)
            names[count++] = tables[t]->at[i].name;
    scenario_say_choice(entry->key, names, count, choice);
    scenario_mistake(g->report, &entry->at, "unknown key '%.60s' in components.%s.%s of %s %s%s",
                     entry->key, b->group->name, b->key, scenario_article(m->name), m->name,
                     choice);
}

/* Stores a row's values for one component; NAN: not given. */
typedef int component_take(struct general *g, unsigned component, unsigned row, unsigned place,
                           const double *values, unsigned count, const struct scenario_node *at);

static int component_take_entry(struct general *g, const struct component_block *b,
                                const struct scenario_entry *entry, component_take *take)
{
    const bool spread = b->group->of && entry->value->kind == SCENARIO_SEQUENCE;
    const struct hil_model *m = NULL;
    double values[65536 / sizeof(double)];
    bool knows = false, known = false;
    int row = -1;

    if (spread && entry->value->count != b->group->count) {
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
            row = component_row_of(b, m, entry->key);
            known |= knows = component_knows(b, m, entry->key);
        }
        if (spread && given && !knows) {
            component_unknown(g, b, entry, m);
            return 0;
        }
        if (!given || row < 0) /* in an array with several models, another model may have it */
            continue;
        const struct hil_quantities *table = scenario_block_table(m, b->table);
        const struct hil_quantity *q = &table->at[row];
        if ((q->flags & HIL_WIDE && c->width > sizeof values / sizeof values[0]) ||
            !component_row(g, b, given, q, c->width, values))
            return 0;
        const unsigned place = hil_places_before(table, c->width, (unsigned)row);
        int rc = take(g, b->group->first + i, (unsigned)row, place, values,
                      q->flags & HIL_WIDE ? c->width : 1, given);
        if (rc)
            return rc;
    }
    if (!known)
        component_unknown(g, b, entry, m);
    return 0;
}

/* Takes the values that the block `key` has for the rows of a table. */
static int component_take_rows(struct general *g, const struct general_group *group,
                               const char *key, const char *table, component_take *take)
{
    const struct component_block b = {group, key, scenario_node_get(group->block, key), table};
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

static int component_take_block(struct general *g, const struct general_group *group,
                                const char *key, component_take *take)
{
    return component_take_rows(g, group, key, key, take);
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
int general_feeds(struct general *g)
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

int general_numbers(struct general *g, const struct general_group *group)
{
    const unsigned before = g->report->mistakes;

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
    if (!rc && g->report->mistakes == before)
        rc = component_take_rows(g, group, "parameters", "inputs", component_set_input);
    if (!rc)
        component_own_inputs(g, group);
    return rc ? rc : component_take_block(g, group, "safe", component_set_safe);
}

/*
 * How the components of an array differ from each other: factors of their parameters and inputs,
 * given by name, or drawn for the values of parts.
 *
 * Each component draws a factor for each of its model's parts, in the order of the tables, whether
 * a given factor replaces it or not. So neither more components nor a given factor changes what the
 * others get.
 */
#include <math.h>
#include <stdlib.h>

#include "../../base/random.h"
#include "general.h"

static const double FACTOR_MAX = 1e6;

struct tolerance {
    struct general *g;
    const struct general_group *group;
    const struct scenario_node *block, *given; /* tolerance; its multipliers */
};

/* A row of a component that a factor applies to. */
struct tolerance_row {
    unsigned component;
    const struct hil_quantity *quantity;
    bool input;
    unsigned first, places; /* in the component's parameters or inputs */
};

static struct tolerance_row tolerance_row(const struct general *g, unsigned component, bool input,
                                          unsigned row)
{
    const struct hil_component *c = &g->system->components[component];
    const struct hil_quantities *table = input ? &c->model->inputs : &c->model->parameters;

    return (struct tolerance_row){component, &table->at[row], input,
                                  hil_places_before(table, c->width, row),
                                  table->at[row].flags & HIL_WIDE ? c->width : 1};
}

static double *tolerance_value(const struct general *g, const struct tolerance_row *row,
                               unsigned place)
{
    return row->input
               ? &g->input_factor[g->first_input[row->component] + row->first + place]
               : (double *)g->system->components[row->component].parameters + row->first + place;
}

/* Multiplies a value. The reader finds what was wrong with it at `at`. */
static bool tolerance_multiply(const struct tolerance *t, const struct tolerance_row *row,
                               unsigned place, double factor, const struct scenario_node *at)
{
    double *value = tolerance_value(t->g, row, place);
    const struct hil_quantity *q = row->quantity;
    char name[HIL_SIGNAL_NAME_BYTES], range[128];

    if (factor == 1)
        return true;
    *value *= factor;
    if (row->input || (*value >= q->min && *value <= q->max))
        return true;
    hil_instance_name(&t->g->system->components[row->component].is, name);
    scenario_say_range(q->min, q->max, q->unit, range, sizeof range);
    if (isnan(*value))
        scenario_mistake(t->g->report, &at->at,
                         "%s has a factor for %s, which has no value here; allowed: with "
                         "components.%s.parameters.%s",
                         name, q->name, t->group->name, q->name);
    else
        scenario_mistake(t->g->report, &at->at,
                         "components.%s.tolerance makes %.9g of %s of %s; allowed: %s",
                         t->group->name, *value, q->name, name, range);
    return false;
}

/* --- factors that are drawn ---------------------------------------------------------------- */

static bool tolerance_draw_row(const struct tolerance *t, const struct tolerance_row *row,
                               double share, uint64_t *state)
{
    const bool given = scenario_node_get(t->given, row->quantity->name) != NULL;

    for (unsigned k = 0; k < row->places; k++) {
        const double factor = 1 + share * (2 * hil_random_uniform(state) - 1);
        if (!given && !tolerance_multiply(t, row, k, factor, t->block))
            return false;
    }
    return true;
}

static bool tolerance_draw(const struct tolerance *t)
{
    const double share = general_number(t->block, "percent", 0) / 100;
    uint64_t state = (uint64_t)general_number(t->block, "seed", 0), begin = state;

    for (unsigned i = t->group->first; i < t->group->first + t->group->count; i++) {
        const struct hil_model *m = t->g->system->components[i].model;
        for (unsigned r = 0; r < m->parameters.count + m->inputs.count; r++) {
            const bool input = r >= m->parameters.count;
            const struct tolerance_row row =
                tolerance_row(t->g, i, input, input ? r - m->parameters.count : r);
            if (row.quantity->flags & HIL_SPREAD && !tolerance_draw_row(t, &row, share, &state))
                return false;
        }
    }
    if (share == 0 || state != begin)
        return true;
    const char *model = t->g->system->components[t->group->first].model->name;
    scenario_mistake(t->g->report, &scenario_node_get(t->block, "percent")->at,
                     "components.%s.tolerance.percent is %g, but %s %s has no values of parts; "
                     "allowed: 0, and multipliers",
                     t->group->name, 100 * share, scenario_article(model), model);
    return false;
}

/* --- factors that are given ---------------------------------------------------------------- */

static bool tolerance_number(const struct tolerance *t, const char *name,
                             const struct scenario_node *node, double *factor)
{
    char found[128], most[SCENARIO_NUMBER_BYTES];

    if (node->kind == SCENARIO_SCALAR && node->plain && scenario_is_number(node->text)) {
        *factor = strtod(node->text, NULL);
        if (*factor > 0 && *factor <= FACTOR_MAX)
            return true;
    }
    scenario_number_text(most, FACTOR_MAX);
    scenario_mistake(t->g->report, &node->at,
                     "components.%s.tolerance.multipliers.%s is %s; allowed: a number above 0, up "
                     "to %s",
                     t->group->name, name, scenario_node_describe(node, found, sizeof found), most);
    return false;
}

static bool tolerance_give(const struct tolerance *t, const struct scenario_entry *entry,
                           const struct tolerance_row *row, const struct scenario_node *value)
{
    const bool list = value->kind == SCENARIO_SEQUENCE;

    if (list && (!(row->quantity->flags & HIL_WIDE) || value->count != row->places)) {
        scenario_mistake(t->g->report, &value->at,
                         "components.%s.tolerance.multipliers.%s is a list of %zu; allowed: a "
                         "number, or one for each%s",
                         t->group->name, entry->key, value->count,
                         row->quantity->flags & HIL_WIDE ? " place" : " component of an array");
        return false;
    }
    for (unsigned k = 0; k < row->places; k++) {
        const struct scenario_node *one = list ? value->entries[k].value : value;
        double factor;
        if (!tolerance_number(t, entry->key, one, &factor) ||
            !tolerance_multiply(t, row, k, factor, one))
            return false;
    }
    return true;
}

/* Whether component i has the row. */
static bool tolerance_find(const struct tolerance *t, unsigned i, const char *name,
                           struct tolerance_row *row)
{
    const struct hil_model *m = t->g->system->components[i].model;
    const int parameter = hil_quantity_find(&m->parameters, name);
    const int input = parameter < 0 ? hil_quantity_find(&m->inputs, name) : -1;

    if (parameter >= 0 || input >= 0)
        *row = tolerance_row(t->g, i, input >= 0, (unsigned)(input >= 0 ? input : parameter));
    return parameter >= 0 || input >= 0;
}

static void tolerance_unknown(const struct tolerance *t, const struct scenario_entry *entry)
{
    const struct hil_model *m = t->g->system->components[t->group->first].model;
    const char *names[2 * HIL_QUANTITIES_MAX];
    char choice[SCENARIO_CHOICE_BYTES];
    unsigned count = 0;

    for (unsigned i = 0; i < m->parameters.count; i++)
        names[count++] = m->parameters.at[i].name;
    for (unsigned i = 0; i < m->inputs.count; i++)
        names[count++] = m->inputs.at[i].name;
    scenario_say_choice(entry->key, names, count, choice);
    scenario_mistake(t->g->report, &entry->at,
                     "unknown key '%.60s' in components.%s.tolerance.multipliers of %s %s%s",
                     entry->key, t->group->name, scenario_article(m->name), m->name, choice);
}

static bool tolerance_entry(const struct tolerance *t, const struct scenario_entry *entry)
{
    const bool list = t->group->of && entry->value->kind == SCENARIO_SEQUENCE;
    unsigned given = 0;

    if (list && entry->value->count != t->group->count) {
        scenario_mistake(t->g->report, &entry->value->at,
                         "components.%s.tolerance.multipliers.%s is a list of %zu, but there are "
                         "%u components; allowed: one for all, or a list of %u",
                         t->group->name, entry->key, entry->value->count, t->group->count,
                         t->group->count);
        return false;
    }
    for (unsigned i = 0; i < t->group->count; i++) {
        struct tolerance_row row;
        if (!tolerance_find(t, t->group->first + i, entry->key, &row))
            continue; /* in an array with several models, another one may have it */
        given++;
        if (!tolerance_give(t, entry, &row, list ? entry->value->entries[i].value : entry->value))
            return false;
    }
    if (!given)
        tolerance_unknown(t, entry);
    return given > 0;
}

void general_tolerance(struct general *g, const struct general_group *group)
{
    const struct scenario_node *block = scenario_node_get(group->block, "tolerance");
    const struct tolerance t = {g, group, block,
                                block ? scenario_node_get(block, "multipliers") : NULL};
    char found[128];

    if (!block)
        return;
    if (t.given->kind != SCENARIO_MAPPING) {
        scenario_mistake(g->report, &t.given->at,
                         "components.%s.tolerance.multipliers is %s; allowed: a mapping of the "
                         "model's names",
                         group->name, scenario_node_describe(t.given, found, sizeof found));
        return;
    }
    if (!tolerance_draw(&t))
        return;
    for (unsigned i = 0; i < t.given->count; i++)
        if (!tolerance_entry(&t, &t.given->entries[i]))
            return;
}

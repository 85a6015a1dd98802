/*
 * Files of parameters (--parameters), applied to the components' values in the scenario. All checks
 * of a scenario's own values thus apply to these as well, with their places in the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "general.h"

/* The blocks of a component that have numbers by name, in the order of the search for a name. */
static const char *const parameter_blocks[] = {"parameters", "inputs", "initial"};
enum { PARAMETER_BLOCKS = 3 };

static const struct hil_quantities *parameter_table(const struct hil_model *m, unsigned block)
{
    return block == 0 ? &m->parameters : block == 1 ? &m->inputs : &m->states;
}

struct scenario_node *general_numbers_of(const struct general_group *group, const char *key,
                                         const char *name)
{
    for (unsigned b = 0; b < 2; b++) {
        struct scenario_node *block = scenario_node_get(group->block, parameter_blocks[b]);
        if (strcmp(key, "initial") != 0 && scenario_node_get(block, name))
            return block;
    }
    return scenario_node_get(group->block, key);
}

/* The block whose table has the name; -1: none. */
static int parameter_find(const struct hil_model *m, const char *name)
{
    for (unsigned b = 0; b < PARAMETER_BLOCKS; b++)
        if (hil_quantity_find(parameter_table(m, b), name) >= 0)
            return (int)b;
    return -1;
}

/* A list, and the range of entries that get the value. A count of 0 means that there is no list. */
struct parameter_list {
    unsigned count, first, last;
};

/* --- setting a value ----------------------------------------------------------------------- */

static bool parameter_is_for_all(const struct parameter_list *lists, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (lists[i].count && (lists[i].first > 0 || lists[i].last + 1 < lists[i].count))
            return false;
    return true;
}

int general_spread(struct scenario_node **to, unsigned count, const struct scenario_place *at)
{
    const struct scenario_node *from = *to;
    struct scenario_node *list = scenario_node_new(SCENARIO_SEQUENCE, NULL, at);
    int rc = list ? 0 : -ENOMEM;

    for (unsigned i = 0; !rc && i < count; i++)
        rc = scenario_node_add(list, NULL, at,
                               from ? scenario_node_copy(from)
                                    : scenario_node_new(SCENARIO_SCALAR, "~", at));
    if (rc) {
        scenario_node_free(list);
        return rc;
    }
    scenario_node_free(*to);
    *to = list;
    return 0;
}

static int parameter_put(struct scenario_node **to, const struct parameter_list *lists,
                         unsigned count, const struct scenario_node *value)
{
    const bool is_list = *to && (*to)->kind == SCENARIO_SEQUENCE;

    if (*to && (*to)->at.set) /* --set has precedence */
        return 0;
    if (!is_list && parameter_is_for_all(lists, count)) {
        struct scenario_node *copy = scenario_node_new(SCENARIO_SCALAR, value->text, &value->at);
        scenario_node_free(*to);
        *to = copy;
        return copy ? 0 : -ENOMEM;
    }
    for (; count && lists->count == 0; count--)
        lists++;
    if (!is_list && count) {
        int rc = general_spread(to, lists->count, &value->at);
        if (rc)
            return rc;
    }
    if (count == 0 || (*to)->count != lists->count)
        return 0; /* the existing value is not such a list, which is reported later */
    for (unsigned i = lists->first; i <= lists->last; i++) {
        int rc = parameter_put(&(*to)->entries[i].value, lists + 1, count - 1, value);
        if (rc)
            return rc;
    }
    return 0;
}

static int parameter_put_under(struct scenario_node *block, const char *name,
                               const struct parameter_list *lists, unsigned count,
                               const struct scenario_node *value)
{
    struct scenario_node *made = NULL;

    for (size_t i = 0; i < block->count; i++)
        if (strcmp(block->entries[i].key, name) == 0)
            return parameter_put(&block->entries[i].value, lists, count, value);
    int rc = parameter_put(&made, lists, count, value);
    return rc ? rc : scenario_node_add(block, name, &value->at, made);
}

/* --- one parameter ------------------------------------------------------------------------- */

static void parameter_unknown(const struct general *g, const struct ssv_parameter *p,
                              const struct general_named *named)
{
    const struct hil_component *c = &g->system->components[named->first];
    const char *names[3 * HIL_QUANTITIES_MAX];
    char choice[SCENARIO_CHOICE_BYTES];
    unsigned count = 0;

    for (unsigned b = 0; b < PARAMETER_BLOCKS; b++)
        for (unsigned i = 0; i < parameter_table(c->model, b)->count; i++)
            names[count++] = parameter_table(c->model, b)->at[i].name;
    scenario_say_choice(named->name, names, count, choice);
    scenario_mistake(g->report, &p->at, "%s, %s %s, has no parameter '%s'%s", c->is.name,
                     scenario_article(c->model->name), c->model->name, named->name, choice);
}

/* The block of these components with the name; -1: none. */
static int parameter_block_of(const struct general *g, const struct general_named *named)
{
    int block = -1;

    for (unsigned i = named->first; block != 0 && i <= named->last; i++) {
        const int found = parameter_find(g->system->components[i].model, named->name);
        block = block < 0 || (found >= 0 && found < block) ? found : block;
    }
    return block;
}

static bool parameter_is_list(const struct scenario_node *block, const char *name)
{
    const struct scenario_node *value = scenario_node_get(block, name);

    return value && value->kind == SCENARIO_SEQUENCE;
}

int general_blank(const struct general *g, const struct general_group *group, const char *name,
                  struct scenario_node *list)
{
    for (unsigned i = 0; i < list->count && i < group->count; i++) {
        const struct hil_component *c = &g->system->components[group->first + i];
        struct scenario_node **value = &list->entries[i].value;
        if (parameter_find(c->model, name) >= 0)
            continue;
        struct scenario_node *none = scenario_node_new(SCENARIO_SCALAR, "~", &(*value)->at);
        if (!none)
            return -ENOMEM;
        scenario_node_free(*value);
        *value = none;
    }
    return 0;
}

/* Sets it in components first..last, which have the same model. */
static int parameter_set(const struct general *g, const struct ssv_parameter *p,
                         const struct general_named *named, unsigned block, unsigned first,
                         unsigned last)
{
    const struct hil_component *c = &g->system->components[first];
    const struct general_group *group = &g->components.at[c->array];
    const struct hil_quantities *table = parameter_table(c->model, block);
    const int row = hil_quantity_find(table, named->name);
    struct scenario_node *to = general_numbers_of(group, parameter_blocks[block], named->name);
    struct general_index index = named->index;
    int rc;

    if (row < 0 || to->kind != SCENARIO_MAPPING) /* in an array with several models, another model
                                                  * may have it */
        return 0;
    const unsigned places = table->at[row].flags & HIL_WIDE ? c->width : 0;
    if (index.given && !general_index_in(&index, places)) {
        scenario_mistake(g->report, &p->at,
                         "'%.100s' is none of the %u places of %s; allowed: 0 "
                         "to %u, or none for all",
                         p->name, places ? places : 1, named->name, places ? places - 1 : 0);
        return 0;
    }
    const struct parameter_list lists[] = {
        {group->of ? group->count : 0, first - group->first, last - group->first},
        {places, index.given ? index.first : 0, index.given ? index.last : places - 1},
    };
    const bool was_list = parameter_is_list(to, named->name);
    struct scenario_node *value = ssv_number(p, table->at[row].unit, &rc, g->report);
    if (value)
        rc = parameter_put_under(to, named->name, lists, 2, value);
    if (value && !rc && group->of && !was_list && parameter_is_list(to, named->name))
        rc = general_blank(g, group, named->name, scenario_node_get(to, named->name));
    scenario_node_free(value);
    return rc;
}

static int parameter_lay(const struct general *g, const struct ssv_parameter *p)
{
    struct scenario_node named_by = {.kind = SCENARIO_SCALAR, .at = p->at, .text = (char *)p->name};
    struct general_named named;
    int rc = 0;

    if (general_split(g, &named_by, "parameter",
                      "COMPONENT.PARAMETER, as in motor.resistance_ohm or cell[3].capacity_ah",
                      &named))
        return 0;
    const int block = parameter_block_of(g, &named);
    if (block < 0) {
        parameter_unknown(g, p, &named);
        return 0;
    }
    for (unsigned i = named.first, next; !rc && i <= named.last; i = next) {
        const struct hil_component *c = &g->system->components[i];
        for (next = i + 1; next <= named.last && c[next - i].model == c->model;)
            next++;
        rc = parameter_set(g, p, &named, (unsigned)block, i, next - 1);
    }
    return rc;
}

int general_parameters(struct general *g)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < g->parameters->count && !scenario_report_is_full(g->report);
         i++)
        if (!g->parameters->at[i].taken)
            rc = parameter_lay(g, &g->parameters->at[i]);
    return rc;
}

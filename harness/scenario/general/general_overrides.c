/*
 * Overrides: what some components of an array have in place of the common values. They become lists
 * with an entry for each component, before anything else reads these.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "general.h"

/* One entry of a component's overrides, and the components that it is for. */
struct override {
    struct general *g;
    const struct general_group *group;
    const struct scenario_node *block;
    size_t number;
    unsigned first, last; /* from the beginning of the array */
};

/* Which components have an override already. */
static bool override_claim(const struct override *o, size_t *owner)
{
    const struct scenario_node *id = scenario_node_get(o->block, "id");

    for (unsigned i = o->first; i <= o->last; i++) {
        if (owner[i]) {
            scenario_mistake(o->g->report, &id->at,
                             "components.%s.overrides.%zu.id is %s, but component %u has an "
                             "override already, number %zu; allowed: one for each component",
                             o->group->name, o->number, id->text, i, owner[i] - 1);
            return false;
        }
        owner[i] = o->number + 1;
    }
    return true;
}

static bool override_find(struct override *o)
{
    const struct scenario_node *id = scenario_node_get(o->block, "id");

    if (!o->group->of) {
        scenario_mistake(o->g->report, &id->at,
                         "components.%s is one component without a number; allowed: overrides in "
                         "an array, with count",
                         o->group->name);
        return false;
    }
    if (scenario_ids_parse(id->text, &o->first, &o->last) && o->last < o->group->count)
        return true;
    scenario_mistake(o->g->report, &id->at,
                     "components.%s.overrides.%zu.id is '%.60s'; allowed: a number, or a range as "
                     "in 2-5, up to %u",
                     o->group->name, o->number, id->text, o->group->count - 1);
    return false;
}

/* Does something with each override that is right. */
static int override_each(struct general *g, const struct general_group *group,
                         int (*act)(const struct override *o))
{
    const struct scenario_node *list = scenario_node_get(group->block, "overrides");
    size_t *owner = list ? calloc(group->count, sizeof *owner) : NULL;
    int rc = list && !owner ? -ENOMEM : 0;

    for (size_t i = 0; owner && !rc && i < list->count && !scenario_report_is_full(g->report);
         i++) {
        struct override o = {.g = g, .group = group, .block = list->entries[i].value, .number = i};
        if (!override_find(&o) || !override_claim(&o, owner))
            break;
        rc = act(&o);
    }
    free(owner);
    return rc;
}

/* --- putting a value ----------------------------------------------------------------------- */

/* A list of another length is reported later. */
static int override_put(const struct override *o, struct scenario_node **to, const char *name,
                        const struct scenario_node *value)
{
    int rc = 0;

    if (!*to || (*to)->kind != SCENARIO_SEQUENCE) {
        rc = general_spread(to, o->group->count, &value->at);
        if (!rc && name)
            rc = general_blank(o->g, o->group, name, *to);
    }
    for (unsigned i = o->first; !rc && (*to)->count == o->group->count && i <= o->last; i++) {
        struct scenario_node *copy = scenario_node_copy(value);
        if (!copy)
            return -ENOMEM;
        scenario_node_free((*to)->entries[i].value);
        (*to)->entries[i].value = copy;
    }
    return rc;
}

static int override_put_under(const struct override *o, struct scenario_node *block,
                              const char *name, const struct scenario_node *value)
{
    struct scenario_node *made = NULL;

    for (size_t i = 0; i < block->count; i++)
        if (strcmp(block->entries[i].key, name) == 0)
            return override_put(o, &block->entries[i].value, name, value);
    int rc = override_put(o, &made, name, value);
    return rc ? rc : scenario_node_add(block, name, &value->at, made);
}

/* --- models and values --------------------------------------------------------------------- */

static int override_model(const struct override *o)
{
    const struct scenario_node *value = scenario_node_get(o->block, "model");
    struct scenario_node *block = (struct scenario_node *)o->group->block;

    for (size_t i = 0; value && i < block->count; i++)
        if (strcmp(block->entries[i].key, "model") == 0)
            return override_put(o, &block->entries[i].value, NULL, value);
    return 0;
}

static int override_numbers(const struct override *o, const char *key)
{
    const struct scenario_node *from = scenario_node_get(o->block, key);
    char found[128];
    int rc = 0;

    if (!from)
        return 0;
    if (from->kind != SCENARIO_MAPPING) {
        scenario_mistake(o->g->report, &from->at,
                         "components.%s.overrides.%zu.%s is %s; allowed: a mapping of the model's "
                         "names",
                         o->group->name, o->number, key,
                         scenario_node_describe(from, found, sizeof found));
        return 0;
    }
    for (size_t i = 0; !rc && i < from->count; i++) {
        const struct scenario_entry *e = &from->entries[i];
        struct scenario_node *to = general_numbers_of(o->group, key, e->key);
        if (to->kind == SCENARIO_MAPPING) /* otherwise it is reported later */
            rc = override_put_under(o, to, e->key, e->value);
    }
    return rc;
}

static int override_values(const struct override *o)
{
    int rc = override_numbers(o, "parameters");

    if (!rc)
        rc = override_numbers(o, "initial");
    return rc ? rc : override_numbers(o, "inputs");
}

int general_override_models(struct general *g)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < g->components.count; i++)
        rc = override_each(g, &g->components.at[i], override_model);
    return rc;
}

int general_override_values(struct general *g)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < g->components.count; i++) {
        rc = override_each(g, &g->components.at[i], override_values);
        scenario_node_remove((struct scenario_node *)g->components.at[i].block, "overrides");
    }
    return rc;
}

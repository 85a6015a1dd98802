/* Components: their models, and the numbers for these. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../yaml/scenario_check.h"
#include "../yaml/scenario_resolve.h"
#include "general.h"
#include "scenario_models.h"

/* --- counts and nodes ---------------------------------------------------------------------- */

/* Whether the text is the bare name of an array of nodes, perhaps of one. */
static bool component_is_of_array(const struct general *g, const struct scenario_node *node)
{
    const int found = hil_names_find(&g->nodes.names, node->text, strlen(node->text));

    return found >= 0 && g->nodes.at[found].of > 0;
}

/* How many there are: a number, or the name of an array of nodes for as many as it has. */
static unsigned component_count(const struct general *g, const struct scenario_node *said)
{
    if (!said)
        return 0;
    if (scenario_is_number(said->text))
        return (unsigned)strtoul(said->text, NULL, 10);
    const int found = hil_names_find(&g->nodes.names, said->text, strlen(said->text));
    if (found >= 0 && g->nodes.at[found].of > 0)
        return g->nodes.at[found].of;
    scenario_mistake(g->report, &said->at,
                     "there is no array of nodes '%.60s'; allowed: a number, "
                     "or the name of an array of nodes",
                     said->text);
    return 0;
}

static int component_group(struct general *g, const struct scenario_entry *entry, unsigned i,
                           unsigned *total)
{
    const struct scenario_node *block = entry->value, *node = scenario_node_get(block, "node");
    const struct scenario_node *said = scenario_node_get(block, "count");
    unsigned of = component_count(g, said), first, last;
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
                         "components.%s.width is %s; allowed of %s %s: 1 to %u", group->name,
                         width->text, scenario_article(m->name), m->name, m->width_max);
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

/* A node that does not say it runs the steps of a plant late, rather than leave them out. */
static void component_set_overrun(const struct general *g, const struct hil_component *c)
{
    struct hil_node_config *node = &g->system->nodes[c->node];

    if (c->model->kind == HIL_CONTINUOUS &&
        !scenario_node_get(g->nodes.at[node->array].block, "overrun"))
        node->timing.overrun = HIL_CATCH_UP;
}

int general_components(struct general *g)
{
    const unsigned before = g->report->mistakes;
    int rc = scenario_mentioned_open(&g->mentioned, g->root);

    if (!rc)
        rc = component_groups(g);
    if (!rc && g->report->mistakes == before)
        rc = general_override_models(g);
    for (unsigned i = 0; !rc && i < g->components.count; i++)
        if (g->report->mistakes == before || g->components.at[i].count)
            component_models(g, &g->components.at[i]);
    if (!rc && g->report->mistakes == before)
        rc = general_override_values(g);
    if (!rc && g->report->mistakes == before)
        rc = general_parameters(g);
    if (rc || g->report->mistakes > before)
        return rc;
    for (unsigned i = 0; i < g->system->component_count; i++)
        component_set_overrun(g, &g->system->components[i]);
    rc = general_feeds(g);
    for (unsigned i = 0; !rc && i < g->components.count; i++)
        rc = general_numbers(g, &g->components.at[i]);
    for (unsigned i = 0; !rc && i < g->components.count && g->report->mistakes == before; i++) {
        component_check_safe(g, &g->components.at[i]);
        component_try(g, &g->components.at[i]);
    }
    return rc;
}

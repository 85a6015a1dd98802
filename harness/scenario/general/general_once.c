/* Checks models that a process may have only once. */
#include <string.h>

#include "../../models/models.h"
#include "general.h"

static const struct hil_loaded *once_model(const struct general *g, unsigned component)
{
    const struct hil_loaded *loaded = hil_loaded_of(g->system->components[component].model);

    return loaded && loaded->once ? loaded : NULL;
}

/* In virtual time the whole run is one process. */
static bool once_share_process(const struct general *g, unsigned one, unsigned other)
{
    const struct hil_system *s = g->system;

    if (g->scenario->mode == HIL_VIRTUAL)
        return true;
    for (unsigned i = 0; i < s->executor_count; i++)
        if (hil_executor_has(&s->executors[i], s->components[one].node))
            return hil_executor_has(&s->executors[i], s->components[other].node);
    return false;
}

/* Different settings make different models of the same file. */
static bool once_collides(const struct general *g, unsigned one, unsigned other)
{
    const struct hil_loaded *a = once_model(g, one), *b = once_model(g, other);

    return b && strcmp(a->name, b->name) == 0 && once_share_process(g, one, other);
}

static void once_check(const struct general *g, unsigned component)
{
    const struct hil_component *c = &g->system->components[component];
    const struct scenario_node *block = g->components.at[c->array].block;
    const char *shared = once_model(g, component)->once;
    char one[HIL_SIGNAL_NAME_BYTES], other[HIL_SIGNAL_NAME_BYTES];
    unsigned i = 0;

    while (i < component && !once_collides(g, component, i))
        i++;
    if (i == component)
        return;
    hil_instance_name(&c->is, one);
    hil_instance_name(&g->system->components[i].is, other);
    scenario_mistake(
        g->report, &scenario_node_get(block, "model")->at,
        "%s and %s have the model %s, of which there may be only one in a process%s%s%s; "
        "allowed: %s%s",
        other, one, c->model->name, *shared ? ", as they would share the variables of " : "",
        shared, *shared ? ", which it needs" : "",
        *shared ? "a library that contains what it needs, or " : "",
        g->scenario->mode == HIL_VIRTUAL
            ? "one component of it, for in virtual time a run is one process"
            : "each on a node, and in a process, of its own");
}

int general_once(struct general *g)
{
    const unsigned before = g->report->mistakes;

    for (unsigned i = 0; i < g->system->component_count && g->report->mistakes == before; i++)
        if (once_model(g, i))
            once_check(g, i);
    return 0;
}

/* Nodes with a component that a user's process computes. */
#include "../../models/outside.h"
#include "general.h"

static const struct general_group *outside_group(const struct general *g, unsigned component)
{
    return &g->components.at[g->system->components[component].array];
}

static void outside_take_node(const struct general *g, unsigned component)
{
    const struct hil_component *c = &g->system->components[component];
    const struct general_group *group = outside_group(g, component);
    struct hil_node_config *node = &g->system->nodes[c->node];
    char one[HIL_SIGNAL_NAME_BYTES], other[HIL_SIGNAL_NAME_BYTES];

    if (node->outside) {
        hil_instance_name(&node->is, one);
        hil_instance_name(&node->outside->is, other);
        scenario_mistake(g->report, &scenario_node_get(group->block, "node")->at,
                         "the node %s has two components outside, %s and components.%s; allowed: "
                         "one on each node",
                         one, other, group->name);
    } else if (g->scenario->mode == HIL_VIRTUAL) {
        scenario_mistake(g->report, &scenario_node_get(group->block, "model")->at,
                         "components.%s.model is " HIL_OUTSIDE_NAME
                         ", which another process computes, but virtual time has only one process; "
                         "allowed: in real time (mode: realtime)",
                         group->name);
    }
    node->outside = c;
}

/* The joining process has just one node, so no other node may share its executor. */
static void outside_place(const struct general *g, const struct hil_executor_config *e)
{
    for (unsigned i = 0; e->count > 1 && i < e->count; i++) {
        const struct hil_node_config *node = &g->system->nodes[e->nodes[i]];
        char name[HIL_SIGNAL_NAME_BYTES];
        if (!node->outside)
            continue;
        const struct general_group *group =
            outside_group(g, (unsigned)(node->outside - g->system->components));
        hil_instance_name(&node->is, name);
        scenario_mistake(g->report, &scenario_node_get(group->block, "node")->at,
                         "the node %s is a process of its own, as its component %s is outside, but "
                         "it is placed together with others; allowed: an entry of placement for it "
                         "alone",
                         name, group->name);
        return;
    }
}

int general_outside(struct general *g)
{
    const unsigned before = g->report->mistakes;

    for (unsigned i = 0; i < g->system->component_count && g->report->mistakes == before; i++)
        if (hil_outside_is(g->system->components[i].model))
            outside_take_node(g, i);
    for (unsigned i = 0; i < g->system->executor_count && g->report->mistakes == before; i++)
        outside_place(g, &g->system->executors[i]);
    return 0;
}

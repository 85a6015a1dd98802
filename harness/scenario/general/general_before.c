/*
 * Components that come before inputs: whatever feeds such an input feeds the component's first
 * input instead, and the component's first output feeds the input.
 */
#include <errno.h>
#include <stdlib.h>

#include "general.h"

static void before_mistake(const struct general *g, const struct general_group *group,
                           const char *found, const char *allowed)
{
    scenario_mistake(g->report, &scenario_node_get(group->block, "before")->at,
                     "components.%s.before %s; allowed: %s", group->name, found, allowed);
}

/* The age limit of the input goes with what feeds it. Returns false after a report. */
static bool before_take_age(const struct general *g, const struct general_group *group,
                            struct general_element first, struct general_element input)
{
    for (unsigned i = 0; i < g->system->age_count; i++) {
        struct hil_age_limit *age = &g->system->ages[i];
        if (age->component != input.component || age->number != input.number)
            continue;
        if (age->action == HIL_OLD_SAFE) {
            before_mistake(g, group, "is an input whose component is safe if it is old",
                           "one without on_old: safe");
            return false;
        }
        age->component = first.component;
        age->number = first.number;
    }
    return true;
}

static int before_input(struct general *g, const struct general_group *group, unsigned component,
                        struct general_element input)
{
    const struct general_element first = {component, 0};
    const unsigned from = g->first_input[input.component] + input.number;
    const unsigned to = g->first_input[component];

    if (g->fed[to]) {
        before_mistake(g, group, "is given, but something else feeds its first input",
                       "nothing but what feeds the input that it comes before");
        return 0;
    }
    if (!before_take_age(g, group, first, input))
        return 0;
    for (unsigned i = 0; i < g->edge_count; i++)
        if (g->edges[i].to.component == input.component && g->edges[i].to.number == input.number)
            g->edges[i].to = first;
    g->feeds[to] = g->feeds[from];
    g->fed[to] = g->fed[from];
    const struct general_edge edge = {
        .from = first, .to = input, .scale = 1, .initial = g->feeds[from].initial};
    g->feeds[from] =
        (struct hil_feed){.kind = HIL_FEED_LINK, .scale = edge.scale, .initial = edge.initial};
    g->fed[from] = scenario_node_get(group->block, "before");
    return general_connect(g, &edge);
}

static bool before_suits(const struct general *g, const struct general_group *group, unsigned count)
{
    const struct hil_component *c = &g->system->components[group->first];

    if (c->in_count == 0 || c->out_count == 0)
        before_mistake(g, group, "is given, but its model has no input or no output",
                       "a model with both");
    else if (count != group->count)
        before_mistake(g, group, "is not one input for each component", "as many of both");
    else
        return true;
    return false;
}

static int before_group(struct general *g, const struct general_group *group)
{
    const struct scenario_node *text = scenario_node_get(group->block, "before");
    struct general_elements inputs = {0};
    int rc = text ? general_signals(g, text, GENERAL_INPUTS, &inputs) : 0;

    if (text && rc == 0 && before_suits(g, group, inputs.count))
        for (unsigned i = 0; rc == 0 && i < inputs.count; i++)
            rc = before_input(g, group, group->first + i, inputs.at[i]);
    free(inputs.at);
    return rc == -ENOMEM ? rc : 0;
}

int general_before(struct general *g)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < g->components.count; i++)
        rc = before_group(g, &g->components.at[i]);
    return rc;
}

#include "node_name.h"

#include <stdio.h>

void hil_node_name(unsigned node, char *text, size_t size)
{
    if (node == 0)
        snprintf(text, size, "controller");
    else
        snprintf(text, size, "converter %u", node - 1);
}

void hil_link_name(unsigned from, unsigned to, char *text, size_t size)
{
    char sender[HIL_NODE_NAME_BYTES], receiver[HIL_NODE_NAME_BYTES];

    hil_node_name(from, sender, sizeof sender);
    hil_node_name(to, receiver, sizeof receiver);
    snprintf(text, size, "%s -> %s", sender, receiver);
}

void hil_executor_name(const struct hil_scenario *s, unsigned executor, char *text, size_t size)
{
    const struct hil_executor_config *e = &s->executors[executor];
    char range[40] = "";

    if (s->mode == HIL_VIRTUAL) {
        snprintf(text, size, "the simulation");
        return;
    }
    if (e->first <= e->last)
        snprintf(range, sizeof range, e->first == e->last ? "converter %u" : "converters %u-%u",
                 e->first, e->last);
    snprintf(text, size, "%s%s%s", e->controller ? "the controller" : "",
             e->controller && range[0] ? " and " : "", range);
}

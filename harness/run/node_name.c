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
    const bool controller = hil_executor_has(e, 0);
    const unsigned first = e->nodes[e->count > controller ? controller : 0] - 1;
    const unsigned last = e->nodes[e->count - 1] - 1;
    if (e->count > controller)
        snprintf(range, sizeof range, first == last ? "converter %u" : "converters %u-%u", first,
                 last);
    snprintf(text, size, "%s%s%s", controller ? "the controller" : "",
             controller && range[0] ? " and " : "", range);
}

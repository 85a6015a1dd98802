#include "node_name.h"

#include <stdio.h>
#include <string.h>

void hil_node_name(const struct hil_system *system, unsigned node, char text[HIL_NODE_NAME_BYTES])
{
    hil_instance_name(&system->nodes[node].is, text);
}

void hil_link_name(const struct hil_system *system, unsigned from, unsigned to,
                   char text[HIL_LINK_NAME_BYTES])
{
    char sender[HIL_NODE_NAME_BYTES], receiver[HIL_NODE_NAME_BYTES];

    hil_node_name(system, from, sender);
    hil_node_name(system, to, receiver);
    if (from == to)
        snprintf(text, HIL_LINK_NAME_BYTES, "a device of %s", receiver);
    else
        snprintf(text, HIL_LINK_NAME_BYTES, "%s -> %s", sender, receiver);
}

void hil_nodes_name_add(const struct hil_system *system, unsigned first, unsigned last,
                        char text[HIL_NODES_NAME_BYTES])
{
    const struct hil_instance *is = &system->nodes[first].is;
    const size_t used = strlen(text), left = HIL_NODES_NAME_BYTES - used;
    const char *comma = used ? ", " : "";
    char name[HIL_NODE_NAME_BYTES];

    hil_node_name(system, first, name);
    if (first == last)
        snprintf(text + used, left, "%s%s", comma, name);
    else
        snprintf(text + used, left, "%s%s[%u-%u]", comma, is->name, is->index,
                 system->nodes[last].is.index);
}

/* How many of these nodes are consecutive members of one array, from the first on. */
static unsigned executor_row(const struct hil_system *system, const unsigned *nodes, unsigned count)
{
    unsigned row = 1;

    while (row < count && nodes[row] == nodes[0] + row &&
           system->nodes[nodes[row]].array == system->nodes[nodes[0]].array)
        row++;
    return row;
}

void hil_executor_name(const struct hil_scenario *s, unsigned executor,
                       char text[HIL_NODES_NAME_BYTES])
{
    const struct hil_executor_config *e = &s->executors[executor];

    text[0] = '\0';
    if (s->mode == HIL_VIRTUAL) {
        strcpy(text, "the simulation");
        return;
    }
    for (unsigned i = 0, row; i < e->count; i += row) {
        row = executor_row(s->system, &e->nodes[i], e->count - i);
        hil_nodes_name_add(s->system, e->nodes[i], e->nodes[i + row - 1], text);
    }
}

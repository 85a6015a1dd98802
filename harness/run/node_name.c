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

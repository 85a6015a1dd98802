/*
 * Names of nodes, links and processes for messages.
 */
#ifndef HIL_NODE_NAME_H
#define HIL_NODE_NAME_H

#include <stddef.h>

#include "../scenario/system.h"

enum {
    HIL_NODE_NAME_BYTES = HIL_SIGNAL_NAME_BYTES,
    HIL_LINK_NAME_BYTES = 2 * HIL_NODE_NAME_BYTES + 4,
    HIL_NODES_NAME_BYTES = 200,
};

/* "controller", "converter[7]". */
void hil_node_name(const struct hil_system *system, unsigned node, char text[HIL_NODE_NAME_BYTES]);

/* "converter[7] -> controller", or "a device of controller" if both ends are the same node. */
void hil_link_name(const struct hil_system *system, unsigned from, unsigned to,
                   char text[HIL_LINK_NAME_BYTES]);

/* Adds consecutive nodes of one array to a list: "controller, converter[0-19]". The text is cut if
 * the list gets too long. */
void hil_nodes_name_add(const struct hil_system *system, unsigned first, unsigned last,
                        char text[HIL_NODES_NAME_BYTES]);

/* Such a list of the nodes that an executor runs; "the simulation" in virtual time. */
void hil_executor_name(const struct hil_scenario *scenario, unsigned executor,
                       char text[HIL_NODES_NAME_BYTES]);

#endif

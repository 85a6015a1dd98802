/*
 * What nodes, links and processes are called, for people.
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

/* "converter[7] -> controller"; of a node to itself "a device of controller" */
void hil_link_name(const struct hil_system *system, unsigned from, unsigned to,
                   char text[HIL_LINK_NAME_BYTES]);

/* Adds some nodes in a row, all of one array, to a list that is cut at its end:
 * "controller, converter[0-19]". */
void hil_nodes_name_add(const struct hil_system *system, unsigned first, unsigned last,
                        char text[HIL_NODES_NAME_BYTES]);

/* The nodes that an executor runs, as such a list; "the simulation" in virtual time. */
void hil_executor_name(const struct hil_scenario *scenario, unsigned executor,
                       char text[HIL_NODES_NAME_BYTES]);

#endif

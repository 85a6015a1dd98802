/*
 * What nodes and links are called, for people.
 */
#ifndef HIL_NODE_NAME_H
#define HIL_NODE_NAME_H

#include <stddef.h>

#include "../scenario/scenario.h"

enum { HIL_NODE_NAME_BYTES = 80, HIL_LINK_NAME_BYTES = 168, HIL_EXECUTOR_NAME_BYTES = 64 };

/* "controller", "converter 7". */
void hil_node_name(unsigned node, char *text, size_t size);

/* "converter 7 -> controller" */
void hil_link_name(unsigned from, unsigned to, char *text, size_t size);

/* What an executor is about: "the controller", "converters 0-19"; "the simulation". */
void hil_executor_name(const struct hil_scenario *scenario, unsigned executor, char *text,
                       size_t size);

#endif

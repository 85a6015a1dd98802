/*
 * The part of a summary about nodes and the links between them. Each array has an entry, with
 * figures for all of its nodes that ran here together, and for each node.
 */
#ifndef HIL_SUMMARY_NODES_H
#define HIL_SUMMARY_NODES_H

#include <jansson.h>
#include <stdio.h>

#include "summary.h"

/* Adds `nodes`, `links` and `worst_misses` to the summary. Returns 0 or -ENOMEM. */
int hil_summary_add_nodes(const struct hil_summary *summary, json_t *root);

/* "hub at 40 us, cell[0-19] at 12.5 us" */
void hil_summary_print_arrays(const struct hil_summary *summary, FILE *to);

/* Prints a line for each array of nodes that ran here, the worst miss, and a line for each round
 * trip. */
void hil_summary_print_nodes(const struct hil_summary *summary, FILE *to);

#endif

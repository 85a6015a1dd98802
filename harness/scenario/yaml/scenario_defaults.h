/*
 * Adds defaults to the tree of a scenario.
 */
#ifndef HIL_SCENARIO_DEFAULTS_H
#define HIL_SCENARIO_DEFAULTS_H

#include "scenario_schema.h"

/* Adds each missing key that has a default. Works on a tree with mistakes too. Returns 0 or
 * -ENOMEM. */
int scenario_fill_defaults(struct scenario_node *root);

/* Puts all keys of a tree without mistakes in the order of the schema, so that all resolved
 * scenarios have the same order. */
void scenario_arrange(struct scenario_node *root);

#endif

/*
 * Adds defaults to the tree of a scenario.
 */
#ifndef HIL_SCENARIO_DEFAULTS_H
#define HIL_SCENARIO_DEFAULTS_H

#include "scenario_schema.h"

/* Adds each missing key that has a default. Works on a tree with mistakes too. Returns 0 or
 * -ENOMEM. */
int scenario_fill_defaults(const struct scenario_schema *schema, struct scenario_node *root);

/*
 * Adds values that follow from the rest of a tree without mistakes: the drawn multipliers, and the
 * placement. Also puts all keys in a fixed order. Returns 0 or -ENOMEM.
 */
int scenario_fill_derived(const struct scenario_schema *schema, struct scenario_node *root);

/* Adds a text, or the value of `initial`: {}, [] or a text. Its place is that of the block in which
 * it was missing. Returns 0 or -ENOMEM. */
int scenario_add_text(struct scenario_node *block, const char *key, const char *text);
int scenario_add_default(struct scenario_node *block, const char *key, const char *initial);

#endif

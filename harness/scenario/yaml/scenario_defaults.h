/*
 * What a scenario leaves unsaid, written into its tree.
 */
#ifndef HIL_SCENARIO_DEFAULTS_H
#define HIL_SCENARIO_DEFAULTS_H

#include "scenario_schema.h"

/* Adds each missing key that has a default. Works on a wrong tree too. 0 or -ENOMEM. */
int scenario_fill_defaults(const struct scenario_schema *schema, struct scenario_node *root);

/*
 * Adds what follows from the rest of a tree without mistakes: the multipliers that are to
 * be drawn, and the placement; and puts all keys in one order. 0 or -ENOMEM.
 */
int scenario_fill_derived(const struct scenario_schema *schema, struct scenario_node *root);

/* Adds a text, or what `initial` says: {}, [] or a text. It stands where the block that lacks it
 * does. 0 or -ENOMEM. */
int scenario_add_text(struct scenario_node *block, const char *key, const char *text);
int scenario_add_default(struct scenario_node *block, const char *key, const char *initial);

#endif

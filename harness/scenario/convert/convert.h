/*
 * The short form of a scenario, with controller: and converters:, rewritten in the general form:
 *
 *      sources.reference --> reference_v +---------+ duty --> duty +-----------+ voltage_v --+
 *                     +----> voltage_v   | control |               | converter | current_a -+|
 *                     |+---> current_a   +---------+               +-----------+            ||
 *                     |+--------------------------------------------------------------------+|
 *                     +---------------------------------------------------------------------+
 */
#ifndef HIL_CONVERT_H
#define HIL_CONVERT_H

#include "../yaml/scenario_tree.h"

/* Rewrites earlier words, as the file is read, so that no other code knows them. The tree may have
 * mistakes. Returns 0 or -ENOMEM. */
int scenario_rewrite_old_words(struct scenario_node *root);

/* Makes the general form of a tree without mistakes, whose models are in `folder`. Keys without a
 * value of their own are left out. Returns 0 or a negative errno, of memory or of a model. */
int scenario_short_form_rewrite(const struct scenario_node *from, const char *folder,
                                struct scenario_node **to);

/* Whether the tree is in the short form. */
bool scenario_is_short_form(const struct scenario_node *root);

#endif

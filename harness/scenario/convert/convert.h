/*
 * The short form of a scenario, with controller: and converters:, rewritten as nodes, components
 * and connections:
 *
 *      sources.reference --> reference_v +---------+ duty --> duty +-----------+ voltage_v --+
 *                     +----> voltage_v   | control |               | converter | current_a -+|
 *                     |+---> current_a   +---------+               +-----------+            ||
 *                     |+--------------------------------------------------------------------+|
 *                     +---------------------------------------------------------------------+
 */
#ifndef HIL_CONVERT_H
#define HIL_CONVERT_H

#include "../yaml/scenario_report.h"
#include "../yaml/scenario_tree.h"

/* Rewrites earlier words, as the file is read, so that no other code knows them. The tree may have
 * mistakes. Returns 0 or -ENOMEM. */
int scenario_rewrite_old_words(struct scenario_node *root);

/* Applies --set, whose key may have its name in the short form. In a tree in that form it is left
 * as it is. Returns as scenario_tree_set does. */
int scenario_set_today(struct scenario_node *root, const char *set, struct scenario_report *report);

/* Makes the scenario of today of a tree, whose models are in `folder`. Keys without a value of
 * their own are left out. The result has the places of the values that it has from the tree, and is
 * to be checked. Returns 0, or a negative errno and NULL; mistakes are reported. */
int scenario_short_form_rewrite(const struct scenario_node *from, const char *folder,
                                struct scenario_node **to, struct scenario_report *report);

/* Whether the tree is in the short form. */
bool scenario_is_short_form(const struct scenario_node *root);

#endif

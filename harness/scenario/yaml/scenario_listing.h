/*
 * The listing of a scenario: what all nodes of a run must have alike, as lines "key=value" in the
 * order of the schema. Each value is written in one way only, however the file writes it: 40,
 * 40.0 and 4e1 are one number, and times are rounded to whole ns. Nodes greet each other with its
 * hash, and look for the first line that differs when the hashes do.
 */
#ifndef HIL_SCENARIO_LISTING_H
#define HIL_SCENARIO_LISTING_H

#include "scenario_schema.h"

/*
 * Whether the key at this path may differ from node to node: it says where and how one machine
 * runs its nodes, what that machine keeps of the run, or how it judges it.
 */
bool scenario_listing_leaves_out(const char *path);

/* Makes the listing of a tree with everything in it and nothing wrong. Returns 0 or -ENOMEM. */
int scenario_listing_make(const struct scenario_schema *schema, const struct scenario_node *root,
                          struct hil_scenario *scenario);

#endif

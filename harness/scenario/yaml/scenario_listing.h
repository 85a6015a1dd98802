/*
 * The listing of a scenario: the settings that all nodes of a run must share, as lines "key=value"
 * in the order of the schema. Each value has a single spelling, regardless of the file: 40, 40.0
 * and 4e1 are the same number, and times are rounded to whole ns. Nodes exchange the hash of the
 * listing when they meet. If the hashes differ, they search for the first different line.
 */
#ifndef HIL_SCENARIO_LISTING_H
#define HIL_SCENARIO_LISTING_H

#include "scenario_schema.h"

/*
 * Whether the key at this path may differ between nodes: it says where and how one machine runs its
 * nodes, what it keeps of the run, or how it judges the run.
 */
bool scenario_listing_leaves_out(const char *path);

/* Makes the listing of a complete tree without mistakes. Returns 0 or -ENOMEM. */
int scenario_listing_make(const struct scenario_node *root, struct hil_scenario *scenario);

#endif

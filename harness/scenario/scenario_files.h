/* The files and folders that a scenario names, by their names from its own folder. */
#ifndef HIL_SCENARIO_FILES_H
#define HIL_SCENARIO_FILES_H

#include "yaml/scenario_tree.h"

/*
 * Puts whole names in the place of what the scenario in the file `path` says, so that a copy of the
 * scenario finds them from any folder. What is not there stays as it is: whoever reads it reports
 * that. Returns 0 or -ENOMEM.
 */
int scenario_find_files(struct scenario_node *root, const char *path);

#endif

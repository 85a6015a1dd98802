/* The shared libraries that a scenario names as its law and plants. */
#ifndef HIL_SCENARIO_NATIVE_H
#define HIL_SCENARIO_NATIVE_H

#include "yaml/scenario_tree.h"

/*
 * Loads them, as the scenario in the file `path` names them, and puts their whole paths in the
 * place of their names: a copy of the scenario then runs from any folder. Reports those that cannot
 * be loaded. Returns 0 or -ENOMEM.
 */
int scenario_load_natives(struct scenario_node *root, const char *path,
                          struct scenario_report *report);

#endif

/* Resolves the files and folders that a scenario names relative to its own folder. */
#ifndef HIL_SCENARIO_FILES_H
#define HIL_SCENARIO_FILES_H

#include "../yaml/scenario_tree.h"

/*
 * Replaces the names of files in the scenario of the file `path` by full names, so that a copy of
 * the scenario finds them from any folder. A file that does not exist keeps its name; the mistake
 * is reported when the file is read. Returns 0 or -ENOMEM.
 */
int scenario_find_files(struct scenario_node *root, const char *path);

/* The same for texts in the settings of a component that have a '.' or a '/', and name a regular
 * file in the folder. */
int scenario_find_setting_files(struct scenario_node *settings, const char *folder);

#endif

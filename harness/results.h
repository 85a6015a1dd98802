/*
 * Where a run leaves what it measured.
 */
#ifndef HIL_RESULTS_H
#define HIL_RESULTS_H

#include <stddef.h>

#include "scenario/scenario.h"

/* Makes a directory for results: `wanted`, or results/NAME-TIMESTAMP where that is NULL.
 * `path` has its name, on errors too. Returns 0 or a negative errno. */
int hil_results_directory(char *path, size_t size, const char *wanted, const char *name);

/* The same for a run, with the resolved scenario in it. */
int hil_results_make(char *path, size_t size, const char *wanted,
                     const struct hil_scenario *scenario);

#endif

/*
 * Where a run or a sweep leaves what it measured: a folder that is its own for so long.
 */
#ifndef HIL_RESULTS_H
#define HIL_RESULTS_H

#include <stddef.h>

#include "../scenario/scenario.h"
#include "results_files.h"

/*
 * Makes a folder for results, `wanted` or results/NAME-TIMESTAMP where that is NULL, and takes it:
 * results that are there already are removed (hil_results_clear says which). `path` has its name,
 * on errors too. Returns a descriptor that holds the folder until it is closed; or, after a line to
 * `messages`, -EBUSY where another process has it, -ENOTEMPTY where it holds anything else, or
 * another negative errno.
 */
int hil_results_open(char *path, size_t size, const char *wanted, const char *name,
                     enum hil_results_kind kind, FILE *messages);

/* Writes the resolved scenario into the folder. Returns 0 or a negative errno. */
int hil_results_add_scenario(const char *path, const struct hil_scenario *scenario);

#endif

/*
 * The folder in which a run or a sweep leaves its results, and its lock.
 */
#ifndef HIL_RESULTS_H
#define HIL_RESULTS_H

#include <stddef.h>

#include "../scenario/scenario.h"
#include "results_files.h"

/*
 * Creates and locks a folder for results: `wanted`, or results/NAME-TIMESTAMP if that is NULL.
 * Existing results in it are removed (see hil_results_clear). `path` gets its name, on errors too.
 * Returns a descriptor that holds the lock until it is closed; or, after a line to `messages`,
 * -EBUSY if another process holds the folder, -ENOTEMPTY if it contains anything other than
 * results, or another negative errno.
 */
int hil_results_open(char *path, size_t size, const char *wanted, const char *name,
                     enum hil_results_kind kind, FILE *messages);

/*
 * Whether `path`, of a file that is written beside the results, lies in their folder `out`. Makes
 * this folder if it is needed to find that out. Returns 1 if it does and may be created once the
 * folder is open; 0 if it does not; or -EINVAL after a message if it would be in a folder below, or
 * has the name of a result.
 */
int hil_results_hold(const char *out, const char *path, FILE *messages);

/* Writes the resolved scenario into the folder. Returns 0 or a negative errno. */
int hil_results_add_scenario(const char *path, const struct hil_scenario *scenario);

#endif

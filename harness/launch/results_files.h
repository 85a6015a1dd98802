/*
 * Knows which files of a folder hiloco made; nothing else is ever removed.
 */
#ifndef HIL_RESULTS_FILES_H
#define HIL_RESULTS_FILES_H

#include <stdbool.h>
#include <stdio.h>

/* The subfolder with each host's results of a run on several hosts. */
#define HIL_RESULTS_PARTS "parts"

enum hil_results_kind { HIL_OF_A_RUN, HIL_OF_A_SWEEP, HIL_OF_TESTS, HIL_RESULTS_KINDS };

/*
 * Removes the results of a run, or of a sweep, from the folder. If the folder contains anything
 * else, removes nothing and returns -ENOTEMPTY after a line to `messages`. Returns 0, or another
 * negative errno after a message.
 */
int hil_results_clear(const char *path, enum hil_results_kind kind, FILE *messages);

/* Whether there are results in the folder, of any kind. */
bool hil_results_are_in(const char *path);

/* Whether a file of results, of any kind, has this name in each folder. */
bool hil_results_have_name(const char *name);

#endif

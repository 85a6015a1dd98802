/*
 * What of a folder hiloco has made: so much, and nothing else, is ever removed.
 */
#ifndef HIL_RESULTS_FILES_H
#define HIL_RESULTS_FILES_H

#include <stdio.h>

/* Where a run on several hosts keeps the results of each. */
#define HIL_RESULTS_PARTS "parts"

enum hil_results_kind { HIL_OF_A_RUN, HIL_OF_A_SWEEP, HIL_OF_TESTS, HIL_RESULTS_KINDS };

/*
 * Removes the results of a run, or of a sweep, from the folder. Nothing is removed where it holds
 * anything else: that is said to `messages`, and -ENOTEMPTY returned. Returns 0, or another
 * negative errno after a message.
 */
int hil_results_clear(const char *path, enum hil_results_kind kind, FILE *messages);

#endif

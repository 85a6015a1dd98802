/*
 * Work on what may be damaged, by a library that may not survive it, in a process of its own: what
 * ends that process, or holds it up for ever, ends nothing else.
 */
#ifndef HIL_APART_H
#define HIL_APART_H

#include <stdio.h>

/*
 * Returns the exit status that `work` returned in its process. Where a signal ended that, or a
 * limit of hil_apart_within did, HIL_EXIT_FAILED after a line to `messages` that begins with
 * `what`.
 */
int hil_apart(int (*work)(const void *arg), const void *arg, const char *what, FILE *messages);

/* The same for whoever says more: *status is how that process ended, as wait() tells. Returns 0, or
 * -errno where there is no process. */
int hil_apart_wait(int (*work)(const void *arg), const void *arg, int *status);

/* For the work: it ends if it does not call this again within so many seconds. 0: no such limit. */
void hil_apart_within(unsigned seconds);

#endif

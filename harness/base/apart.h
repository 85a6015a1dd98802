/*
 * Work on what may be damaged, by a library that may not survive it, in a process of its own: what
 * ends that process, or holds it up for ever, ends nothing else.
 */
#ifndef HIL_APART_H
#define HIL_APART_H

#include <stdio.h>

/*
 * Runs `work` in a process of its own, and returns the exit status that it returned. If a signal or
 * the limit of hil_apart_within ended the process, it writes a line to `messages` that begins with
 * `what`, and returns HIL_EXIT_FAILED.
 */
int hil_apart(int (*work)(const void *arg), const void *arg, const char *what, FILE *messages);

/* The same, but leaves the message to the caller: *status is how the process ended, as from wait().
 * Returns 0, or -errno if there is no process. */
int hil_apart_wait(int (*work)(const void *arg), const void *arg, int *status);

/* For `work`: it is ended if it does not call this again within so many seconds. 0: no limit. */
void hil_apart_within(unsigned seconds);

#endif

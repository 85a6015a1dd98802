/*
 * Runs work on data that may be damaged, with a library that may not survive it, in a process of
 * its own. If that process crashes or hangs, nothing else does.
 */
#ifndef HIL_IN_CHILD_H
#define HIL_IN_CHILD_H

#include <stdio.h>

/*
 * Runs `work` in a process of its own, and returns its exit status. The process has three quarters
 * of the machine's memory, and is ended if it makes no progress for two minutes. If a signal or the
 * limit of hil_in_child_within ended the process, writes a line to `messages` that begins with
 * `what`, and returns HIL_EXIT_FAILED.
 */
int hil_in_child(int (*work)(const void *arg), const void *arg, const char *what, FILE *messages);

/* The same, but leaves the message to the caller: *status tells how the process ended, as from
 * wait(). Returns 0, or -errno if there is no process. */
int hil_in_child_wait(int (*work)(const void *arg), const void *arg, int *status);

/* Called by `work`: ends the process unless this, or hil_in_child_goes_on, is called again within
 * `seconds`. 0: the usual limit. */
void hil_in_child_within(unsigned seconds);

/* Progress was made. Does nothing in a process without such a limit. */
void hil_in_child_goes_on(void);

#endif

/*
 * A child process that outlives what ends the others: who guards or finishes what they leave.
 */
#ifndef HIL_DEAF_H
#define HIL_DEAF_H

#include <sys/types.h>

/* fork(), into a session of its own, where the child ignores the terminal's signals and all that
 * ask a process to end: never, also not while it is new, does it heed one. */
pid_t hil_fork_deaf(void);

#endif

/*
 * Waits for a child process, and gives processes the signals that they expect.
 */
#ifndef HIL_REAP_H
#define HIL_REAP_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns whether the child has ended; with the option WNOHANG at once, else when it has. *status
 * is as from wait().
 *
 * A program that uses libhiloco may ignore SIGCHLD, or wait for all children itself. The kernel or
 * the program then takes the status: it is HIL_STATUS_TAKEN here, neither an exit nor a signal.
 * Code that may run in such a program learns what it must know from the child in another way.
 */
enum { HIL_STATUS_TAKEN = 0x7f };

bool hil_reap(pid_t child, int options, int *status);

/* Waits a moment for the end of the child, and returns earlier if it ends. Reaps nothing. */
void hil_await_end(pid_t child, unsigned milliseconds);

/*
 * Waits for the end of a child that was asked to end. If it does not end within the time, as it is
 * stopped, says so of `name` on stderr and kills it. *status is as above.
 */
void hil_reap_within(pid_t child, unsigned milliseconds, const char *name, int *status);

/* All signals of the process do what they do by default, and none is blocked. */
void hil_signals_default(void);

#endif

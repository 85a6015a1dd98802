/* Work that starts processes and makes files, and that may be ended at any time: nothing stays. */
#ifndef TESTS_BENCH_ENDING_H
#define TESTS_BENCH_ENDING_H

/*
 * Does the work in a process of its own, whose files are in a new $TMPDIR, until it returns or a
 * signal ends this program: SIGINT, SIGTERM, SIGHUP, SIGQUIT. Then ends all processes that it has
 * left, and removes the folder.
 *
 * When a signal has ended this program or the work, calls `ended` first, unless that is NULL.
 *
 * Returns the exit status: what `work` returned, or 128 and the signal. Otherwise a negative errno.
 */
int ending_run(int (*work)(void *arg), void (*ended)(void *arg, int number), void *arg);

#endif

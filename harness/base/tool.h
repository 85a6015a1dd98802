/*
 * Runs another program to its end.
 */
#ifndef HIL_TOOL_H
#define HIL_TOOL_H

#include <stddef.h>

/*
 * Runs the program in the directory `dir` (NULL: the current one). What it prints to stdout and
 * stderr goes to `said`, cut at `size`. Interrupts from the terminal do not reach it. Returns its
 * exit status; 128 plus the signal's number if a signal ended it; or a negative errno: -ENOENT if
 * it is not installed, -ETIMEDOUT if it was killed because it had not ended after `seconds`.
 */
int hil_tool_run(const char *dir, char *const arguments[], unsigned seconds, char *said,
                 size_t size);

#endif

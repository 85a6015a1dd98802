/*
 * Another program, run to its end.
 */
#ifndef HIL_TOOL_H
#define HIL_TOOL_H

#include <stddef.h>

/*
 * Runs the program in the directory (NULL: this one). What it prints, on stdout and stderr, goes
 * to `said`, cut at `size`. An interrupt of the terminal is not its. Returns its exit status, 128
 * and more when a signal ended it, or a negative errno: -ENOENT where it is not installed,
 * -ETIMEDOUT when it had not ended after so many seconds, and was killed.
 */
int hil_tool_run(const char *dir, char *const arguments[], unsigned seconds, char *said,
                 size_t size);

#endif

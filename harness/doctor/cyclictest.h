/* Runs cyclictest (package rt-tests) beside our own measurement, and parses its output. */
#ifndef HIL_DOCTOR_CYCLICTEST_H
#define HIL_DOCTOR_CYCLICTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "gaps.h"

/* Starts it on `cpu` (-1: any) for `ms`, at SCHED_FIFO `priority` (0: the ordinary scheduler).
 * Returns the value to pass to hil_cyclictest_end, or a negative errno. */
struct hil_cyclictest {
    int pid, out;
};
int hil_cyclictest_begin(struct hil_cyclictest *c, int cpu, int priority, unsigned ms);

/* The reason of a failure: its error message, or its exit status. */
enum { HIL_CYCLICTEST_WHY_BYTES = 72 };

/* Waits for it to end, and adds its histogram to `seen`. Returns 0, -ENOENT when it is not
 * installed, or -EIO with the reason in `why` when it failed. */
int hil_cyclictest_end(struct hil_cyclictest *c, struct hil_gaps *seen,
                       char why[HIL_CYCLICTEST_WHY_BYTES]);

/* Adds a histogram as `cyclictest -h` prints it. Returns 0, or -EIO if the text is not one. */
int hil_cyclictest_read(const char *text, struct hil_gaps *seen);

#endif

/* cyclictest of the package rt-tests, run beside our own measurement, and what it prints read. */
#ifndef HIL_DOCTOR_CYCLICTEST_H
#define HIL_DOCTOR_CYCLICTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "gaps.h"

/* Starts it on `cpu` (-1: any) for `ms`, at SCHED_FIFO `priority` (0: the ordinary scheduler).
 * Returns what hil_cyclictest_end takes, or a negative errno. */
struct hil_cyclictest {
    int pid, out;
};
int hil_cyclictest_begin(struct hil_cyclictest *c, int cpu, int priority, unsigned ms);

/* Why it failed: what it said, or how it ended. */
enum { HIL_CYCLICTEST_WHY_BYTES = 72 };

/* Waits for it, and adds what it saw. Returns 0, -ENOENT when it is not installed, or -EIO when it
 * failed, and says why. */
int hil_cyclictest_end(struct hil_cyclictest *c, struct hil_gaps *seen,
                       char why[HIL_CYCLICTEST_WHY_BYTES]);

/* Adds a histogram as `cyclictest -h` prints it. Returns 0, or -EIO when it is none. */
int hil_cyclictest_read(const char *text, struct hil_gaps *seen);

#endif

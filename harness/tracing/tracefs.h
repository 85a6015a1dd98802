/*
 * Traces the kernel on the loops' cores with tracefs: which other tasks are scheduled, and
 * interrupts.
 *
 * It uses a separate tracefs instance with its own buffers and settings. It thus does not disturb
 * other tracing, and cleaning up only means removing the instance. An instance left by a killed run
 * is removed by the next run. If tracefs is not mounted, it is mounted for this process alone,
 * outside of the directory tree.
 */
#ifndef HIL_TRACEFS_H
#define HIL_TRACEFS_H

#include <stdint.h>
#include <stdio.h>

#include "../scenario/scenario.h"

struct hil_tracefs {
    int root;     /* -1: not open */
    int instance; /* in the instances/ of root */
    char name[40];
};

/* Prepares the instance; `root` is the mount point of tracefs, NULL: find it. Returns 0 or a
 * negative errno: -EPERM or -EACCES if the user may not trace the kernel, -ENODEV if the kernel has
 * no tracing. */
int hil_tracefs_open(struct hil_tracefs *fs, const char *root,
                     const struct hil_executor_config *executors, unsigned count,
                     unsigned buffer_kib);

int hil_tracefs_start(const struct hil_tracefs *fs);

/* Writes what is in the buffers as text, and empties them. Returns 0 or a negative errno. */
int hil_tracefs_save(const struct hil_tracefs *fs, FILE *to);

/* The same after it has stopped. *lost: number of overwritten events. */
int hil_tracefs_stop(const struct hil_tracefs *fs, FILE *to, uint64_t *lost);

/* Safe if it is not open. */
void hil_tracefs_close(struct hil_tracefs *fs);

#endif

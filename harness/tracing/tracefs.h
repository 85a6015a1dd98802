/*
 * What the kernel does on the loops' cores, by tracefs: who else is scheduled, and interrupts.
 *
 * It is an instance of its own, with buffers and settings of its own: nobody else's tracing is
 * touched, and there is nothing to restore but to remove it. One that a killed run has left is
 * removed by the next. Where tracefs is not mounted it is mounted for this process alone, without
 * a place in the tree of files.
 */
#ifndef HIL_TRACEFS_H
#define HIL_TRACEFS_H

#include <stdint.h>
#include <stdio.h>

#include "../scenario/scenario.h"

struct hil_tracefs {
    int root;     /* -1: not open */
    int instance; /* in the root's instances/ */
    char name[40];
};

/* Prepares; `root`: where tracefs is, NULL: to be found. Returns 0 or a negative errno: -EPERM or
 * -EACCES if the user may not trace the kernel, -ENODEV if the kernel has no tracing. */
int hil_tracefs_open(struct hil_tracefs *fs, const char *root, const struct hil_scenario *scenario);

int hil_tracefs_start(const struct hil_tracefs *fs);

/* Stops, and writes what is in the buffers as text. *lost: events that were overwritten. */
int hil_tracefs_stop(const struct hil_tracefs *fs, FILE *to, uint64_t *lost);

/* Safe on one that is not open. */
void hil_tracefs_close(struct hil_tracefs *fs);

#endif

/*
 * Temporarily mends the settings of the machine that can be put back: throttling of real-time
 * threads, interrupt affinity, governors, transparent huge pages, huge pages, and
 * /dev/cpu_dma_latency, which is held open.
 *
 * A separate guardian process puts the old settings back. It waits until this process and all its
 * forked children have ended, so the settings are put back even after an interrupt or a kill.
 */
#ifndef HIL_DOCTOR_FIX_H
#define HIL_DOCTOR_FIX_H

#include <sys/types.h>

#include "doctor.h"

struct hil_fix {
    int life;       /* the guardian waits until no process holds this pipe open */
    pid_t guardian; /* 0: there was nothing to mend */
};

/* Prints to `to` (may be NULL) what it does, and to stderr what it could not do. Returns 0 or a
 * negative errno. */
int hil_fix_begin(struct hil_fix *fix, const struct hil_machine *machine, FILE *to);

/* Waits until all settings are as they were. Returns 0, or -EIO after a message on stderr when a
 * setting could not be put back. */
int hil_fix_end(struct hil_fix *fix);

#endif

/*
 * Mends, for a while, what of the machine's set-up can be put back: throttling of real-time
 * threads, where interrupts go, governors, transparent huge pages, huge pages, and, held open,
 * /dev/cpu_dma_latency.
 *
 * What was there before is put back by a process of its own, which waits for this one and all that
 * it has forked to end: so also when they are interrupted or killed.
 */
#ifndef HIL_DOCTOR_FIX_H
#define HIL_DOCTOR_FIX_H

#include <sys/types.h>

#include "doctor.h"

struct hil_fix {
    int life;       /* the guardian waits until nobody holds it any more */
    pid_t guardian; /* 0: there was nothing to mend */
};

/* Says on `to` (which may be NULL) what it does, and on stderr what it could not. Returns 0 or a
 * negative errno. */
int hil_fix_begin(struct hil_fix *fix, const struct hil_patient *patient, FILE *to);

/* Waits until all is as it was. Returns 0, or -EIO when something is not, of which stderr tells. */
int hil_fix_end(struct hil_fix *fix);

#endif

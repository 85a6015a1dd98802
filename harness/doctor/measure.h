/*
 * What the machine really does to a loop: on each loop's core, and all of them at once as in a run,
 * a loop that only reads the clock, scheduled as the real one will be. The time between two looks
 * is a gap. In turns of a second it makes way for cyclictest on the same core, so that both see the
 * same noise.
 */
#ifndef HIL_DOCTOR_MEASURE_H
#define HIL_DOCTOR_MEASURE_H

#include "cyclictest.h"
#include "doctor.h"
#include "gaps.h"

struct hil_measured {
    int cpu;          /* -1: not pinned */
    int policy;       /* SCHED_FIFO, SCHED_OTHER, ... */
    uint64_t spun_ns; /* how long it was looked */
    double stolen_s;  /* by a hypervisor meanwhile, if it tells; negative: unknown */
    struct hil_gaps loop, cyclictest;
    int cyclictest_rc;                             /* 0: it was there */
    char cyclictest_why[HIL_CYCLICTEST_WHY_BYTES]; /* it failed */
};

/* Fills in one for each executor. Returns 0 or a negative errno. */
int hil_measure(const struct hil_patient *patient, unsigned seconds, struct hil_measured *measured);

/* Serious when a loop lost more than 1 percent of its time; a warning when a gap was longer than
 * the shortest period. */
void hil_judge_gaps(const struct hil_patient *patient, const struct hil_measured *measured,
                    struct hil_finding *finding);

#endif

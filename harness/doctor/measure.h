/*
 * Measures what the machine does to a loop. A thread on each loop's core, all at the same time as
 * in a run and scheduled like the real loop, does nothing but read the clock. The time between two
 * readings is a gap. Each second the thread makes way for cyclictest on the same core, in turns, so
 * that both see the same noise.
 */
#ifndef HIL_DOCTOR_MEASURE_H
#define HIL_DOCTOR_MEASURE_H

#include "../tracing/others.h"
#include "cyclictest.h"
#include "doctor.h"
#include "gaps.h"

struct hil_measured {
    int cpu;          /* -1: not pinned */
    int policy;       /* SCHED_FIFO, SCHED_OTHER, ... */
    uint64_t spun_ns; /* total time of the measurement */
    double stolen_s;  /* taken by a hypervisor meanwhile, if known; negative: unknown */
    struct hil_gaps loop, cyclictest;
    int cyclictest_rc;                             /* 0: cyclictest ran */
    char cyclictest_why[HIL_CYCLICTEST_WHY_BYTES]; /* why cyclictest failed */
    struct hil_other others[HIL_OTHERS];           /* who else had the cpu, as far as known */
    unsigned other_count;
};

/* Fills in one element for each executor. Returns 0 or a negative errno. */
int hil_measure(const struct hil_machine *machine, unsigned seconds, struct hil_measured *measured);

/* Serious when a loop lost more than 1 percent of its time; a warning when a gap was longer than
 * the shortest period. */
void hil_judge_gaps(const struct hil_machine *machine, const struct hil_measured *measured,
                    struct hil_finding *finding);

#endif

/*
 * The analysis of a trace: how late and how long the loops' steps were, stretches of misses and
 * what occupied the core during each, and how the time of round trips was spent.
 */
#ifndef HIL_ANALYSIS_H
#define HIL_ANALYSIS_H

#include <stdio.h>

#include "../../tracing/kernel.h"
#include "loops.h"
#include "round_trip.h"

/* Consecutive misses on a core, without a step in time between them. They have one cause. */
struct hil_stretch {
    int cpu;
    uint64_t from_ns, to_ns; /* from the due time of the first missed step to the end of the last */
    const struct hil_traced_loop *loop; /* loop of the first miss */
    uint64_t step;
    uint64_t misses;
    uint64_t worst_over_ns;

    /* The trace of the first miss. */
    uint64_t until_ns;             /* end of the step */
    uint64_t away_ns;              /* time without a running step although one was due */
    uint64_t own_ns;               /* length of the missed step */
    uint64_t other_ns, other_step; /* longest step of another loop before it */
    const struct hil_traced_loop *other;
    /* Result from the kernel's events. */
    struct hil_intruder intruder;
};

struct hil_analysis {
    uint64_t events, lost;
    uint64_t start_ns, end_ns;
    struct hil_traced_loops loops;
    struct hil_stretch *stretches;
    size_t stretch_count;
    struct hil_rounds rounds;
    struct hil_kernel kernel;
    int tasks[256]; /* task ids of the loops */
    size_t task_count;
    struct hil_core *cores;
    unsigned core_count;
};

/* Reads all traces in `dir`, a run's results or any folder of traces. Returns 0, or a negative
 * errno after a line to `messages`. Call hil_analysis_free in any case. */
int hil_analyse(struct hil_analysis *analysis, const char *dir, FILE *messages);
void hil_analysis_free(struct hil_analysis *analysis);

#endif

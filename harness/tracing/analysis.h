/*
 * What a trace says about the loops: how late and how long their steps were, which stretches of
 * misses there were and what had the core meanwhile, and where a round trip's time went.
 */
#ifndef HIL_ANALYSIS_H
#define HIL_ANALYSIS_H

#include <stdio.h>

#include "kernel.h"
#include "loops.h"
#include "round_trip.h"

/* Misses of a core without a step in time between them: they have one cause. */
struct hil_stretch {
    int cpu;
    uint64_t from_ns, to_ns; /* from the first missed step's time to the last one's end */
    const struct hil_traced_loop *loop; /* of the first */
    uint64_t step;
    uint64_t misses;
    uint64_t worst_over_ns;

    /* What the trace shows of the first miss. */
    uint64_t until_ns;             /* its end */
    uint64_t away_ns;              /* no step ran, though one was due */
    uint64_t own_ns;               /* its own step's length */
    uint64_t other_ns, other_step; /* the longest step of another loop before it */
    const struct hil_traced_loop *other;
    /* What the kernel's events show. */
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
    int tasks[256]; /* the loops' */
    size_t task_count;
    struct hil_core *cores;
    unsigned core_count;
};

/* Reads all in `dir`, a run's results or any folder of traces. Returns 0, or a negative errno
 * after a line to `messages`. hil_analysis_free in any case. */
int hil_analyse(struct hil_analysis *analysis, const char *dir, FILE *messages);
void hil_analysis_free(struct hil_analysis *analysis);

#endif

/*
 * What a trace says about the loops: how late and how long their steps were, which stretches of
 * misses there were and what had the core meanwhile, and where a round trip's time went.
 */
#ifndef HIL_ANALYSIS_H
#define HIL_ANALYSIS_H

#include <stdio.h>

#include "kernel.h"
#include "round_trip.h"

/* A loop. */
struct hil_traced_loop {
    uint32_t node;
    uint64_t steps, misses, left_out;
    struct hil_histogram late, duration, input_age;
};

/* Misses of a core without a step in time between them: they have one cause. */
struct hil_stretch {
    int cpu;
    uint64_t from_ns, to_ns; /* from the first missed step's time to the last one's end */
    uint32_t node;           /* of the first */
    uint64_t step;
    uint64_t misses;
    uint64_t worst_over_ns;

    /* What the trace shows of the first miss. */
    uint64_t until_ns;             /* its end */
    uint64_t away_ns;              /* no step ran, though one was due */
    uint64_t own_ns;               /* its own step's length */
    uint64_t other_ns, other_step; /* the longest step of another loop before it */
    uint32_t other_node;
    /* What the kernel's events show. */
    struct hil_intruder intruder;
};

/* The course of a time: the greatest value in each of some columns. */
enum { HIL_COURSE_COLUMNS = 1000 };

struct hil_course {
    uint64_t column_ns;
    uint64_t greatest[2 * HIL_COURSE_COLUMNS]; /* UINT64_MAX: none */
};

struct hil_analysis {
    uint64_t events, lost;
    uint64_t start_ns, end_ns;
    struct hil_traced_loop **loops; /* by node; NULL: none seen */
    unsigned loop_count;
    struct hil_traced_loop converters;      /* together */
    struct hil_course late[2], duration[2]; /* of the controller, of the converters */
    struct hil_stretch *stretches;
    size_t stretch_count, stretch_room;
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

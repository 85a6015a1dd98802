/*
 * The loops of a trace: how late and how long their steps were, for each loop and for each array of
 * nodes. The names of the nodes are in the trace.
 */
#ifndef HIL_LOOPS_H
#define HIL_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../h5/histogram.h"

struct hil_loop_figures {
    uint64_t steps, misses, left_out;
    struct hil_histogram late, duration, input_age;
};

struct hil_traced_loop {
    uint32_t node;
    char *name; /* "cell[3]"; "node[7]" if the trace does not name it */
    uint64_t period_ns;
    unsigned array; /* index in `arrays` below */
    struct hil_loop_figures figures;
};

/* The course of a time: the greatest value in each column. */
enum { HIL_COURSE_COLUMNS = 1000 };

struct hil_course {
    uint64_t column_ns;
    uint64_t greatest[2 * HIL_COURSE_COLUMNS]; /* UINT64_MAX: none */
};

void hil_course_init(struct hil_course *course);
void hil_course_add(struct hil_course *course, uint64_t time_ns, uint64_t value);

struct hil_traced_array {
    char *name;     /* "cell" */
    char *words;    /* "cell[*]", for people; the same as `name` for a single node */
    bool many;      /* an array of several nodes, for which these two differ */
    uint32_t first; /* its first node */
    unsigned count;
    struct hil_loop_figures figures;
    struct hil_course late, duration;
};

struct hil_traced_loops {
    struct hil_traced_loop **at; /* by node; NULL: it has no event */
    unsigned count;
    struct hil_traced_array **arrays; /* in the order of their first appearance */
    unsigned array_count;
};

/* The array whose first node is this one, or NULL. Calling it for each node thus gives the arrays
 * in order. */
const struct hil_traced_array *hil_loops_array(const struct hil_traced_loops *loops, unsigned node);

/* The loop of a node, created if necessary; NULL: memory ran out, or there is no such node. */
struct hil_traced_loop *hil_loops_of(struct hil_traced_loops *loops, uint64_t node);

/* Sets the name of a node and of its array, and its period. The first call for a node wins. */
void hil_loops_name(struct hil_traced_loops *loops, uint64_t node, const char *name,
                    const char *array, uint64_t period_ns);

/* Adds a step that ended `at_ns` after the beginning of the trace; `input_age_ns` as in the
 * event. */
void hil_loops_step(struct hil_traced_loops *loops, struct hil_traced_loop *loop, uint64_t at_ns,
                    uint64_t late_ns, uint64_t duration_ns, uint64_t input_age_ns);

/* These add a step that was not in time, and steps that were left out, the last of which was
 * `late_ns` late by then. */
void hil_loops_miss(struct hil_traced_loops *loops, struct hil_traced_loop *loop);
void hil_loops_left_out(struct hil_traced_loops *loops, struct hil_traced_loop *loop,
                        uint64_t count, uint64_t late_ns, uint64_t period_ns);

void hil_loops_free(struct hil_traced_loops *loops);

#endif

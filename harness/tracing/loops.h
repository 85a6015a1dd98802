/*
 * The loops of a trace: how late and how long their steps were, each loop's and together those of
 * each array of nodes. The run says in the trace what its nodes are called.
 */
#ifndef HIL_LOOPS_H
#define HIL_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "../h5/histogram.h"

struct hil_loop_figures {
    uint64_t steps, misses, left_out;
    struct hil_histogram late, duration, input_age;
};

struct hil_traced_loop {
    uint32_t node;
    char *name;     /* "cell[3]"; "node[7]" of one that the trace does not name */
    unsigned array; /* of the arrays below */
    struct hil_loop_figures figures;
};

/* The course of a time: the greatest value in each of some columns. */
enum { HIL_COURSE_COLUMNS = 1000 };

struct hil_course {
    uint64_t column_ns;
    uint64_t greatest[2 * HIL_COURSE_COLUMNS]; /* UINT64_MAX: none */
};

struct hil_traced_array {
    char *name;     /* "cell" */
    char *words;    /* "cell[*]", for people; or as `name` where that is a node's own */
    bool many;      /* of which these two differ */
    uint32_t first; /* of its nodes */
    unsigned count;
    struct hil_loop_figures figures;
    struct hil_course late, duration;
};

struct hil_traced_loops {
    struct hil_traced_loop **at; /* by node; NULL: it has no event */
    unsigned count;
    struct hil_traced_array **arrays; /* in the order in which they came */
    unsigned array_count;
};

/* The array whose first node is this one; NULL: it is no array's first. So they come in order. */
const struct hil_traced_array *hil_loops_array(const struct hil_traced_loops *loops, unsigned node);

/* The loop of a node, new if need be; NULL: there is no memory, or no such node. */
struct hil_traced_loop *hil_loops_of(struct hil_traced_loops *loops, uint64_t node);

/* A node says its name and its array's. What was said first holds. */
void hil_loops_name(struct hil_traced_loops *loops, uint64_t node, const char *name,
                    const char *array);

/* A step that ended `at_ns` after the trace began; `input_age_ns` as in the event. */
void hil_loops_step(struct hil_traced_loops *loops, struct hil_traced_loop *loop, uint64_t at_ns,
                    uint64_t late_ns, uint64_t duration_ns, uint64_t input_age_ns);

/* A step was not in time; and steps were left out, the last of them `late_ns` late by then. */
void hil_loops_miss(struct hil_traced_loops *loops, struct hil_traced_loop *loop);
void hil_loops_left_out(struct hil_traced_loops *loops, struct hil_traced_loop *loop,
                        uint64_t count, uint64_t late_ns, uint64_t period_ns);

void hil_loops_free(struct hil_traced_loops *loops);

#endif

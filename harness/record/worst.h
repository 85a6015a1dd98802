/*
 * The worst misses of an executor, in constant memory. Consecutive missed steps have one cause, so
 * they count as one miss, for which the worst step is kept.
 *
 * It is plain memory with one writer, initially zero, like a histogram.
 */
#ifndef HIL_WORST_H
#define HIL_WORST_H

#include <stdint.h>

enum { HIL_WORST = 10 };

struct hil_miss {
    uint64_t begin_ns; /* beginning of the step, after the start */
    uint64_t step;
    uint64_t over_ns; /* from the deadline of the step to its end */
    uint64_t late_ns; /* from the due time to the beginning */
    uint64_t busy_ns; /* from its beginning to its end */
    uint64_t missed;  /* missed steps of all the executor's loops until one was in time again */
    uint32_t node;    /* its number in the system */
};

struct hil_worst {
    struct hil_miss current; /* missed == 0: the last step was in time */
    uint32_t count;
    struct hil_miss at[HIL_WORST]; /* the worst first */
};

/* Adds a miss of miss->missed steps; or ends the current miss because a step was in time. */
void hil_worst_add(struct hil_worst *worst, const struct hil_miss *miss);
void hil_worst_end(struct hil_worst *worst);

/* Adds all of `from` to `to`. */
void hil_worst_merge(struct hil_worst *to, const struct hil_worst *from);

/* The common case: the step was in time. */
static inline void hil_worst_in_time(struct hil_worst *worst)
{
    if (worst->current.missed)
        hil_worst_end(worst);
}

#endif

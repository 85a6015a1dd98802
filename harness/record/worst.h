/*
 * The worst misses of an executor, in constant memory. Steps that are missed one after the
 * other have one cause: they are one miss here, which keeps the worst of them.
 *
 * It is plain memory, zero at first, with one writer, as a histogram is.
 */
#ifndef HIL_WORST_H
#define HIL_WORST_H

#include <stdint.h>

enum { HIL_WORST = 10 };

struct hil_miss {
    uint64_t begin_ns; /* of the step, after the start */
    uint64_t step;
    uint64_t over_ns; /* from the step's deadline to its end */
    uint64_t late_ns; /* from its time to its beginning */
    uint64_t busy_ns; /* from its beginning to its end */
    uint64_t missed;  /* steps, of all the executor's loops, until one was in time again */
    uint32_t node;    /* of the system */
};

struct hil_worst {
    struct hil_miss current; /* missed == 0: the last step was in time */
    uint32_t count;
    struct hil_miss at[HIL_WORST]; /* the worst first */
};

/* A step was missed, and with it as many as miss->missed says; or was in time. */
void hil_worst_add(struct hil_worst *worst, const struct hil_miss *miss);
void hil_worst_end(struct hil_worst *worst);

/* Adds all of `from` to `to`. */
void hil_worst_merge(struct hil_worst *to, const struct hil_worst *from);

/* What most steps are. */
static inline void hil_worst_in_time(struct hil_worst *worst)
{
    if (worst->current.missed)
        hil_worst_end(worst);
}

#endif

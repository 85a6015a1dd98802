/*
 * What some threads and operations of a run touched: words of network memory, and whatever else
 * they share. Two that touched nothing in common, or only read it, might as well have acted in the
 * other order.
 */
#ifndef LOCO_SIM_TOUCHES_INTERNAL_H
#define LOCO_SIM_TOUCHES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct touched {
    uint64_t what; /* 0: the place is free */
    bool written;
};

struct touches {
    struct touched *place; /* by the hash of the number */
    size_t count, room;    /* a power of two */
    bool hidden;           /* and other things, which are not known */
    bool timed;            /* they looked at the clock */
};

void loco_sim_touches_free(struct touches *touches);

/* Without memory the touches are hidden. */
void loco_sim_touches_add(struct touches *touches, uint64_t what, bool written);
void loco_sim_touches_merge(struct touches *touches, const struct touches *more);

/* Whether the order of the two matters. */
bool loco_sim_touches_meet(const struct touches *one, const struct touches *other);

#endif

/*
 * How the steps of a component and its switching cycles lie over one another. A step may span
 * several cycles, or a cycle several steps; both are walked in slots of the shorter of the two.
 */
#ifndef HILOCO_PLANTS_SWITCHING_H
#define HILOCO_PLANTS_SWITCHING_H

#include "model.h"

struct switching {
    unsigned slots_per_step, slots_per_cycle; /* one of them is 1 */
    unsigned slot;                            /* the next one in this cycle */
    double slot_s;
};

/* Returns 0, or -EDOM, having said so, where the periods do not divide one another. */
int switching_init(struct switching *switching, double frequency_hz,
                   const struct hil_config *config);

/* The slot is over. */
static inline void switching_next(struct switching *switching)
{
    if (++switching->slot == switching->slots_per_cycle)
        switching->slot = 0;
}

#endif

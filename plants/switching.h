/*
 * How a component's steps divide into switching cycles, or its cycles into steps. A step may span
 * several cycles, or a cycle several steps. A model advances in slots, which are as long as the
 * shorter of the two.
 */
#ifndef HILOCO_PLANTS_SWITCHING_H
#define HILOCO_PLANTS_SWITCHING_H

#include "model.h"

struct switching {
    unsigned slots_per_step, slots_per_cycle; /* one of them is 1 */
    unsigned slot;                            /* number of the next slot in this cycle */
    double slot_s;
};

/* Returns 0. If neither period is a multiple of the other, logs that and returns -EDOM. */
int switching_init(struct switching *switching, double frequency_hz,
                   const struct hil_config *config);

/* Moves on to the next slot. */
static inline void switching_next(struct switching *switching)
{
    if (++switching->slot == switching->slots_per_cycle)
        switching->slot = 0;
}

#endif

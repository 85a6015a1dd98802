/*
 * The rehearsal: before time 0 the loops do their step again and again, so that the first step that
 * counts finds its code, data and channels as warm as the thousandth step does. Then everything
 * begins anew.
 *
 * Messages pushed in the rehearsal have number 0, which no peer takes for a value. Counts go to a
 * state that only the rehearsal uses.
 */
#ifndef HIL_REHEARSAL_H
#define HIL_REHEARSAL_H

#include "clock.h"
#include "group.h"

struct hil_rehearsal {
    struct hil_run run;      /* a copy of the real one with another state */
    struct hil_state *state; /* scratch memory for the counts */
};

/* The step before the first one. Its messages have number 0. */
#define HIL_REHEARSED_STEP UINT64_MAX

/* Takes a while, so it is called before the nodes meet. Returns 0 or a negative errno. Close it in
 * both cases. */
int hil_rehearsal_open(struct hil_rehearsal *rehearsal, const struct hil_run *run);
void hil_rehearsal_close(struct hil_rehearsal *rehearsal);

/* How long before time 0 the nodes must have met, for this many loops. */
uint64_t hil_rehearsal_lead_ns(unsigned loops);

/* Rehearses the loops of a group that start at `start_ns`, as long as there is time. Does nothing
 * if the run is already under way. Returns 0 or a negative errno. */
int hil_rehearse(const struct hil_rehearsal *rehearsal, const struct hil_group *group,
                 const struct hil_clock *clock, uint64_t start_ns);

#endif

/*
 * The rehearsal: before time 0 the loops do their step again and again, so that the first one that
 * counts finds its code, its data and its channels as warm as the thousandth does. Then all begin
 * anew.
 *
 * What they push meanwhile has the number 0: nothing that a peer would take for a value. What they
 * count goes to a state of the rehearsal's own.
 */
#ifndef HIL_REHEARSAL_H
#define HIL_REHEARSAL_H

#include "clock.h"
#include "group.h"

struct hil_rehearsal {
    struct hil_run run;      /* like the real one, but for its state */
    struct hil_state *state; /* scratch */
};

/* The step before the first: what it pushes has the number 0. */
#define HIL_REHEARSED_STEP UINT64_MAX

/* Not in a hurry: before the nodes meet. Returns 0 or a negative errno; close it in either case. */
int hil_rehearsal_open(struct hil_rehearsal *rehearsal, const struct hil_run *run);
void hil_rehearsal_close(struct hil_rehearsal *rehearsal);

/* How long before time 0 the nodes must have met, for this many loops. */
uint64_t hil_rehearsal_lead_ns(unsigned loops);

/* Rehearses the loops of a group that start at `start_ns`, while there is time. Those of a run that
 * is under way do not. Returns 0 or a negative errno. */
int hil_rehearse(const struct hil_rehearsal *rehearsal, const struct hil_group *group,
                 const struct hil_clock *clock, uint64_t start_ns);

#endif

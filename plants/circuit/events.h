/* How a stage comes from one instant to the next: rungs of its ladder, and the events between. */
#ifndef HILOCO_CIRCUIT_EVENTS_H
#define HILOCO_CIRCUIT_EVENTS_H

#include "stage.h"

/* Finds the diodes that conduct with these gates and this w. The bits `on_threshold` are of diodes
 * that are right there. Returns 0, or -EDOM if a configuration on the way is singular. */
int cir_resolve(struct cir_stage *s, uint64_t on_threshold);

/* Advances to a later instant of the period, between which only diodes change, or to where a
 * comparator changes: then s->compared is set. Returns likewise. */
int cir_advance_to(struct cir_stage *s, double target_s);

/* Lets all diodes stay as they are until a later instant, and counts that: the way of a period that
 * needs too much. Returns likewise. */
int cir_hold_on(struct cir_stage *s, double target_s);

#endif

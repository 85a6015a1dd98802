/*
 * The distributions of times in a run's record. For each array of nodes: how late its steps were,
 * how long they took, and how far apart they began. For the links between two arrays: how old
 * received values were, and how long a round trip took.
 *
 *      drive_late   drive_step   drive_period   drive_to_hub_age   drive_to_hub_round_trip
 */
#ifndef HIL_RUN_TIMES_H
#define HIL_RUN_TIMES_H

#include "../h5/trace.h"
#include "../scenario/system.h"
#include "state.h"

/* Adds the distributions that are not empty to the trace. In virtual time the lateness of steps is
 * empty. Returns 0 or a negative errno. */
int hil_run_times_add(struct hil_trace *trace, const struct hil_system *system,
                      const struct hil_state *state);

#endif

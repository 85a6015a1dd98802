/*
 * The distributions of the times of a run, as its record has them: of each array of nodes how late
 * its steps were, how long they took and how far apart they began; of the links from the nodes of
 * one array to those of another how old what came was, and how long a value took there and back.
 *
 *      drive_late   drive_step   drive_period   drive_to_hub_age   drive_to_hub_round_trip
 */
#ifndef HIL_RUN_TIMES_H
#define HIL_RUN_TIMES_H

#include "../h5/trace.h"
#include "../run/state.h"
#include "../scenario/system.h"

/* Adds those that counted anything to the trace: so none of how late steps were in virtual time.
 * Returns 0 or a negative errno. */
int hil_run_times_add(struct hil_trace *trace, const struct hil_system *system,
                      const struct hil_state *state);

#endif

/*
 * Events that faults of the scenario wait for: each is kept with its time, in the state that all
 * the processes of a run share, once it has happened at whatever node.
 */
#ifndef HIL_AWAITED_H
#define HIL_AWAITED_H

#include "../scenario/faults.h"
#include "state.h"

/* Once, in a state that is all 0. */
void hil_awaited_init(struct hil_state *state, const struct hil_system *system);

/* An event, `now_ns` after the start. */
void hil_awaited_note(const struct hil_state *state, const struct hil_event_row *event,
                      uint64_t now_ns);

/* Whether what the fault waits for has happened, and then when, by the run's time. */
bool hil_awaited_was(const struct hil_state *state, unsigned fault, uint64_t *at_ns);

#endif

/*
 * Events that faults of the scenario wait for. When one has happened at any node, its time is kept
 * in the state that all processes of the run share.
 */
#ifndef HIL_AWAITED_H
#define HIL_AWAITED_H

#include "../scenario/faults.h"
#include "state.h"

/* Called once, on a zeroed state. */
void hil_awaited_init(struct hil_state *state, const struct hil_system *system);

/* Notes an event, `now_ns` after the start, if a fault waits for it. */
void hil_awaited_note(const struct hil_state *state, const struct hil_event_row *event,
                      uint64_t now_ns);

/* Whether the event that the fault waits for has happened, and when, by the run's time. */
bool hil_awaited_was(const struct hil_state *state, unsigned fault, uint64_t *at_ns);

#endif

/*
 * What a loop's thread asks of the kernel: a core of its own, the real-time scheduler, and
 * memory that stays. Where it is not granted the loop runs all the same, and says so.
 */
#ifndef HIL_PRIVILEGES_H
#define HIL_PRIVILEGES_H

#include "../scenario/scenario.h"
#include "state.h"

/* What was refused goes to state->degraded, a line each, with what would mend it. */

/* Pins the calling thread, and locks and touches the process's memory. Before the setup. */
void hil_settle(const struct hil_executor_config *config, struct hil_executor_state *state);

/* To the real-time scheduler, right before the loop; back from it, right after. */
void hil_schedule_real_time(const struct hil_executor_config *config,
                            struct hil_executor_state *state);
void hil_schedule_ordinary(void);

/* Numbers too small to matter become zero: arithmetic with them is a hundred times slower. */
void hil_flush_denormals(void);

#endif

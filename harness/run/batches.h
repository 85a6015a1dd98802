/*
 * Batches: neighbours in an array of nodes that an executor steps together, as if they were one.
 * All nodes of a batch have the same timing, and each is a single plant whose step takes less than
 * reading the clock several times would. So the clock is read once for a batch, and its steps are
 * counted once: they begin at one time and end at one time. A batch is short, so each of its nodes
 * really begins soon after that. If a batch was not, its steps count as late until its end
 * (HIL_BATCH_LONG_NS).
 */
#ifndef HIL_BATCHES_H
#define HIL_BATCHES_H

#include "executor.h"
#include "group.h"

enum { HIL_BATCH_MAX = 8 };

/* Sets the places of the scenario's nodes in their batches. Virtual time has no batches, because
 * its steps take no time. */
void hil_batches_make(struct hil_state *state, const struct hil_scenario *scenario);

/* Makes the executor's batches from the group's loops. Returns 0 or -ENOMEM. The caller frees
 * executor->batches. */
int hil_batches_gather(struct hil_executor *executor, const struct hil_group *group);

#endif

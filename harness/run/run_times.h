/*
 * The distributions of times in a run's record. For each array of nodes: how late its steps were,
 * how long they took, and how far apart they began. For the links between two arrays: how old
 * received values were, and how long a round trip took.
 *
 *      drive_late   drive_step   drive_period   drive_to_hub_age   drive_to_hub_round_trip
 */
#ifndef HIL_RUN_TIMES_H
#define HIL_RUN_TIMES_H

#include "../base/pool.h"
#include "../h5/trace.h"
#include "../scenario/system.h"
#include "state.h"

struct hil_run_times {
    const struct hil_named_histogram *at;
    unsigned count;
};

/* The distributions that are not empty, in memory of the pool. In virtual time the lateness of
 * steps is empty. Returns 0 or -ENOMEM. */
int hil_run_times(struct hil_run_times *times, struct hil_pool *pool,
                  const struct hil_system *system, const struct hil_state *state);

#endif

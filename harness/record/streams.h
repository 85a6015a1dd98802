/*
 * Which streams a scenario records: one for each node that records. columns.h defines their rows.
 */
#ifndef HIL_STREAMS_H
#define HIL_STREAMS_H

#include "../base/pool.h"
#include "../scenario/scenario.h"
#include "columns.h"
#include "recorder.h"

/* The number of the node's stream in the recorder; -1: the node records nothing. */
int hil_streams_number(const struct hil_system *system, unsigned node);

/* Opens a recorder on the file, with a stream for each node that records, and a stream of events.
 * Returns 0 or a negative errno. */
int hil_streams_open(struct hil_recorder **recorder, const char *path,
                     const struct hil_scenario *scenario);

/* Makes the configuration of the scenario's record, in memory of the pool. Returns 0 or -ENOMEM. */
int hil_streams_config(struct hil_trace_config *config, struct hil_pool *pool,
                       const struct hil_scenario *scenario);

#endif

/*
 * What of a scenario is recorded: a stream for the controller, and one for each converter
 * where the scenario asks for it.
 */
#ifndef HIL_STREAMS_H
#define HIL_STREAMS_H

#include "../run/state.h"
#include "../scenario/scenario.h"
#include "recorder.h"

/* Opens a recorder on the file, with a stream for each node, by its number. Returns 0 or a
 * negative errno. */
int hil_streams_open(struct hil_recorder **recorder, const char *path,
                     const struct hil_scenario *scenario);

/* Adds the loops' histograms to the finished file. */
int hil_streams_add_histograms(const char *path, const struct hil_state *state);

#endif

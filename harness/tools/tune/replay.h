/*
 * Reads the changes that were made to a tuned run from its record, to repeat them in another run.
 */
#ifndef HIL_TUNE_REPLAY_H
#define HIL_TUNE_REPLAY_H

#include <stdio.h>

#include "../../scenario/scenario.h"

/* Adds the requests of the record (a run's folder, or its trace.h5) to the scenario, which must
 * allow tuning. Returns 0, or a negative errno after a line to `messages`. */
int hil_tune_replay(struct hil_scenario *scenario, const char *record, FILE *messages);

#endif

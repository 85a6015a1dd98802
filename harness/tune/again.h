/*
 * What was changed of a run that was tuned, read from its record, to be done again in another run.
 */
#ifndef HIL_TUNE_AGAIN_H
#define HIL_TUNE_AGAIN_H

#include <stdio.h>

#include "../scenario/scenario.h"

/* Gives the scenario, which may be tuned, the requests of the record: a run's folder, or its
 * trace.h5. Returns 0, or a negative errno after a line to `messages`. */
int hil_tune_again(struct hil_scenario *scenario, const char *record, FILE *messages);

#endif

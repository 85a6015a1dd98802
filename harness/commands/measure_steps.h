/* What a step of each component costs on this machine, before anything runs: hiloco check
 * --measure.
 */
#ifndef HIL_MEASURE_STEPS_H
#define HIL_MEASURE_STEPS_H

#include <stdio.h>

#include "../scenario/scenario.h"

/*
 * Makes each component, and steps it some hundred times with the inputs that it begins with. Prints
 * a line for each, and a warning for one whose step is longer than its period. Returns an exit
 * status: one that crashes, hangs or fails makes it HIL_EXIT_FAILED.
 */
int hil_measure_steps(const struct hil_scenario *scenario, FILE *to, FILE *messages);

#endif

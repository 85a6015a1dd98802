/*
 * Measures the cost of a step of each component on this machine before a run: hiloco check
 * --measure.
 */
#ifndef HIL_MEASURE_STEPS_H
#define HIL_MEASURE_STEPS_H

#include <stdio.h>

#include "../scenario/scenario.h"

/*
 * Creates each component and steps it a few hundred times with its initial inputs. Prints a line
 * for each, and a warning if its step takes longer than its period. Returns an exit status:
 * HIL_EXIT_FAILED if a component crashes, hangs or fails.
 */
int hil_measure_steps(const struct hil_scenario *scenario, FILE *to, FILE *messages);

#endif

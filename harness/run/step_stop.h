/*
 * A clean stop: after the end of the run, or when it is told to stop, a node goes on for
 * `stop_ramp_s`. Over that time the values of each component that has safe values move to these on
 * a straight line: the outputs of a sampled component, the inputs of a continuous one. These steps
 * are recorded, but are not part of the measures.
 */
#ifndef HIL_STEP_STOP_H
#define HIL_STEP_STOP_H

#include <stdint.h>

/* Replaces a node's step if the scenario has a ramp. */
int hil_step_run_to_stop(void *node, uint64_t n, uint64_t now_ns);

#endif

/*
 * A clean stop: from the end of the run on, or from when it is told to stop, a node goes on for
 * `stop_ramp_s`. Over that time each component that has safe values goes to them on a line: the
 * outputs of a sampled one, the inputs of a continuous one. What it does in these steps is
 * recorded, and is no part of the measures.
 */
#ifndef HIL_STEP_STOP_H
#define HIL_STEP_STOP_H

#include <stdint.h>

/* In place of a node's step, where the scenario has a ramp. */
int hil_step_run_to_stop(void *node, uint64_t n, uint64_t now_ns);

#endif

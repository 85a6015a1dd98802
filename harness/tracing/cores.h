/*
 * Which cores what belongs to tracing runs on.
 */
#ifndef HIL_CORES_H
#define HIL_CORES_H

#include "../scenario/scenario.h"

/* Takes the calling thread, and so what it starts from then on, off the cores that the scenario
 * pins loops to; where these are all it has, it stays where it is. */
void hil_leave_loops_cores(const struct hil_scenario *scenario);

#endif

/*
 * The cores on which the tools of tracing run.
 */
#ifndef HIL_CORES_H
#define HIL_CORES_H

#include "../scenario/scenario.h"

/* Moves the calling thread, and processes that it starts later, off the cores that the scenario
 * pins loops to. If there are no others, the thread stays where it is. */
void hil_leave_loops_cores(const struct hil_scenario *scenario);

#endif

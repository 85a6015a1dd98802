/*
 * The cores that loops are pinned to, and those that are left for other threads.
 */
#ifndef HIL_LOOP_CORES_H
#define HIL_LOOP_CORES_H

#include <sched.h>
#include <stdbool.h>

#include "../scenario/scenario.h"

cpu_set_t hil_cores_of_loops(const struct hil_scenario *scenario);

/* The machine's other cores. Returns false if there are none; `cores` then has all cores. */
bool hil_cores_for_others(const struct hil_scenario *scenario, cpu_set_t *cores);

/* Moves the calling thread, and processes that it starts later, off the loops' cores, if there are
 * others. */
void hil_leave_loops_cores(const struct hil_scenario *scenario);

#endif

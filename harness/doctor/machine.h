/*
 * The machine that a run in real time is on, as it is when the run begins, for the summary:
 *
 *      {time, host, kernel, processor, cpus, findings: [as in hiloco doctor --json]}
 */
#ifndef HIL_MACHINE_H
#define HIL_MACHINE_H

#include <jansson.h>

#include "../scenario/scenario.h"

/* Reads files of /proc and /sys, and measures nothing: some milliseconds. NULL in virtual time,
 * which is the same on every machine; and where there is no memory. */
json_t *hil_machine_json(const struct hil_scenario *scenario);

#endif

/*
 * The state of the machine at the beginning of a real-time run, for the summary:
 *
 *      {time, host, kernel, processor, cpus, findings: [as in hiloco doctor --json]}
 */
#ifndef HIL_MACHINE_H
#define HIL_MACHINE_H

#include <jansson.h>

#include "../scenario/scenario.h"

/* Reads files of /proc and /sys without measuring anything; takes some milliseconds. Returns NULL
 * in virtual time, which is the same on every machine, and when memory runs out. */
json_t *hil_machine_json(const struct hil_scenario *scenario);

#endif

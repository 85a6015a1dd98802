/*
 * Real time: one thread on one core, that runs the loops of the nodes it serves against the
 * clock. It asks the kernel for what they need, joins the other nodes, and measures what the
 * kernel did to them.
 */
#ifndef HIL_REAL_TIME_H
#define HIL_REAL_TIME_H

#include "clock.h"
#include "node.h"

/* Runs the run's executor in the calling process, over the fabric that the scenario names, to the
 * end or until state->stop. Returns 0 or a negative errno; the executor's state has the message,
 * and what was measured. `wait_s`: how long to wait for the other nodes. */
int hil_real_time_run(const struct hil_run *run, const struct hil_clock *clock, unsigned wait_s);

#endif

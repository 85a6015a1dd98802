/*
 * Real time: one thread on one core runs the loops of its nodes against the clock. It asks the
 * kernel for what they need, joins the other nodes, and measures how the kernel disturbed them.
 */
#ifndef HIL_REAL_TIME_H
#define HIL_REAL_TIME_H

#include "clock.h"
#include "node.h"

/* Runs the run's executor in the calling process, over the fabric that the scenario names, to the
 * end or until state->stop. `wait_s` limits the wait for the other nodes. Returns 0 or a negative
 * errno; the executor's state has the message and the measurements. */
int hil_real_time_run(const struct hil_run *run, const struct hil_clock *clock, unsigned wait_s);

#endif

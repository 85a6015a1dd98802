/*
 * The executor of virtual time, over the sim fabric: node 0 on one fiber, and all the others on
 * another. Each sleeps to the next step of its loops; at the same time deliveries come first, then
 * the other nodes, then node 0.
 */
#ifndef HIL_VIRTUAL_TIME_H
#define HIL_VIRTUAL_TIME_H

#include "node.h"

/* Runs the whole scenario, or until state->stop. Returns 0 or a negative errno; the state's
 * first executor has the message. */
int hil_virtual_run(const struct hil_run *run);

#endif

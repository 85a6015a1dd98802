/*
 * The executor of virtual time, over the sim fabric: the nodes with continuous components run on
 * one fiber, all others on another. Each fiber sleeps until the next step of its loops. At the same
 * instant deliveries come first, then the nodes with continuous components, then the others.
 */
#ifndef HIL_VIRTUAL_TIME_H
#define HIL_VIRTUAL_TIME_H

#include "node.h"

/* Runs the whole scenario, or until state->stop. Returns 0 or a negative errno. The first executor
 * in the state then has the message. */
int hil_virtual_run(const struct hil_run *run);

#endif

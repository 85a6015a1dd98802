/*
 * The executor of virtual time, over the sim fabric: the controller on one fiber, and all the
 * converters on another. Each sleeps to the next step of its loops; at the same time
 * deliveries come first, then converters, then the controller.
 */
#ifndef HIL_VIRTUAL_TIME_H
#define HIL_VIRTUAL_TIME_H

#include "node.h"

/* Runs the whole scenario, or until state->stop. Returns 0 or a negative errno; the state's
 * first executor has the message. */
int hil_virtual_run(const struct hil_run *run);

#endif

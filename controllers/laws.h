/* The controller laws built in. controller.c lists them. */
#ifndef HILOCO_CONTROLLERS_LAWS_H
#define HILOCO_CONTROLLERS_LAWS_H

#include "controller.h"

extern const struct controller_law controller_pid;
extern const struct controller_law controller_pi;
extern const struct controller_law controller_type3;
extern const struct controller_law controller_state_feedback;

#endif

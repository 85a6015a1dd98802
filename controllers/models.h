/* The control laws that are built in; harness/models/builtin.c lists them. */
#ifndef HILOCO_CONTROLLERS_MODELS_H
#define HILOCO_CONTROLLERS_MODELS_H

#include "../plants/model.h"

extern const struct hil_model model_pid;
extern const struct hil_model model_pi;
extern const struct hil_model model_type3;
extern const struct hil_model model_state_feedback;

#endif

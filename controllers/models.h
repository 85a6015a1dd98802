/* The built-in sampled models, each in a file of its own. harness/models/builtin.c lists them. */
#ifndef HILOCO_CONTROLLERS_MODELS_H
#define HILOCO_CONTROLLERS_MODELS_H

#include "../plants/model.h"

/* Control laws for converters. */
extern const struct hil_model model_pid, model_pi, model_type3, model_state_feedback;

/* Control laws and signal blocks for any quantity. */
extern const struct hil_model model_generic_pid, model_generic_pi, model_lead_lag;
extern const struct hil_model model_gain, model_sum, model_saturation, model_delay;
extern const struct hil_model model_quantiser, model_noise, model_moving_average;
extern const struct hil_model model_startup;

#endif

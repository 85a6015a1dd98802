/* The plants that are built in, one file each; harness/models/builtin.c lists them. */
#ifndef HILOCO_PLANTS_MODELS_H
#define HILOCO_PLANTS_MODELS_H

#include "model.h"

extern const struct hil_model model_buck;
extern const struct hil_model model_boost;
extern const struct hil_model model_buck_boost;
extern const struct hil_model model_switched_buck;

#endif

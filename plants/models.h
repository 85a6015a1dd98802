/* The plant models built in, one file each. plant.c lists them. */
#ifndef HILOCO_PLANTS_MODELS_H
#define HILOCO_PLANTS_MODELS_H

#include "plant.h"

extern const struct plant_model plant_buck;
extern const struct plant_model plant_boost;
extern const struct plant_model plant_buck_boost;
extern const struct plant_model plant_switched_buck;

#endif

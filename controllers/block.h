/*
 * What the simple signal blocks share: a component is its parameters and a few remembered numbers.
 * Such a model is its tables and its step.
 */
#ifndef HILOCO_CONTROLLERS_BLOCK_H
#define HILOCO_CONTROLLERS_BLOCK_H

#include <math.h>
#include <stdbool.h>

#include "../plants/instance.h"
#include "least.h"
#include "models.h"

enum { BLOCK_PARAMETERS = 4, BLOCK_WIDTH_MAX = 32 };

struct block {
    const struct hil_model *model;
    uint32_t width;
    double period_s;
    double parameters[BLOCK_PARAMETERS];
    double memory[2]; /* what was decided or counted */
    double held;      /* a signal */
    bool begun;       /* a step has been made, so the memory counts */
};

/* Parameters that are called lower_... and upper_... must be in that order. Returns 0, -EDOM or
 * -ENOMEM. */
int block_create(void **self, const struct hil_config *config);
int block_tune(void *self, uint32_t place, double value);
void block_numbers(void *self, hil_numbers_fn *each, void *arg);

/* A row of an ordinary signal. */
#define BLOCK_INPUT(name, doc)                                                                     \
    {                                                                                              \
        name, "", 0, -INFINITY, INFINITY, HIL_REQUIRED, doc                                        \
    }
#define BLOCK_OUTPUT(name, doc)                                                                    \
    {                                                                                              \
        name, "", 0, -INFINITY, INFINITY, 0, doc                                                   \
    }

/* Defines model_NAME with the function NAME_step; and its parameters, which are tunable, if it has
 * any. */
#define BLOCK_MODEL(name_, doc_, width_max_, inputs_, outputs_, ...)                               \
    const struct hil_model model_##name_ = {.abi = HIL_MODEL_ABI,                                  \
                                            .size = sizeof(struct hil_model),                      \
                                            .name = #name_,                                        \
                                            .doc = doc_,                                           \
                                            .kind = HIL_SAMPLED,                                   \
                                            .width_max = width_max_,                               \
                                            .inputs = HIL_QUANTITIES(inputs_),                     \
                                            .outputs = HIL_QUANTITIES(outputs_),                   \
                                            .create = block_create,                                \
                                            .step = name_##_step,                                  \
                                            .destroy = instance_destroy,                           \
                                            .numbers = block_numbers,                              \
                                            __VA_ARGS__}
#define BLOCK_TUNABLE(parameters_) .parameters = HIL_QUANTITIES(parameters_), .tune = block_tune

#endif

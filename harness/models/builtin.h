/* The models that are built in. */
#ifndef HIL_BUILTIN_H
#define HIL_BUILTIN_H

#include <stdbool.h>

#include "../../plants/model.h"

/* Ended by NULL. */
extern const struct hil_model *const hil_models[];

/* Steps `count` components in a row, whose places in in[] and out[] follow one another. It does the
 * same as step() of one after another. For these models step() succeeds and gives finite numbers,
 * whatever the inputs are. */
typedef void hil_row_step(void *const *selves, unsigned count, const double *in, double *out);

/* Components with the same row step can be stepped in a row. NULL: the model has none. */
hil_row_step *hil_row_step_of(const struct hil_model *model);

/* Whether a step of the model takes little more time than reading the clock. */
bool hil_model_is_short(const struct hil_model *model);

#endif

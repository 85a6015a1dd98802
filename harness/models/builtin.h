/* The models that are built in. */
#ifndef HIL_BUILTIN_H
#define HIL_BUILTIN_H

#include "../../plants/model.h"

/* Ended by NULL. */
extern const struct hil_model *const hil_models[];

/* The model called `name`, or NULL. */
const struct hil_model *hil_model_find(const char *name);

#endif

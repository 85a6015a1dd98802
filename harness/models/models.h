/* The models that there are: those that are built in, and the native ones that are loaded. */
#ifndef HIL_MODELS_H
#define HIL_MODELS_H

#include "builtin.h"
#include "native.h"
#include "tables.h"

/* The model called `name`, or NULL: a native one goes by its path. */
const struct hil_model *hil_model_find(const char *name);

#endif

/* The models that are built in. */
#ifndef HIL_BUILTIN_H
#define HIL_BUILTIN_H

#include "../../plants/model.h"

/* Ended by NULL. */
extern const struct hil_model *const hil_models[];

#endif

/*
 * The model `outside`: its components are computed by a user's process that joins the run
 * (hiloco_node.h). The scenario declares their inputs and outputs with their units in the settings
 * `takes` and `gives`.
 */
#ifndef HIL_OUTSIDE_H
#define HIL_OUTSIDE_H

#include "provider/provider.h"

#define HIL_OUTSIDE_NAME "outside"

extern const struct hil_provider hil_outside_provider;

bool hil_outside_is(const struct hil_model *model);

/* The computation outside of hiloco. */
struct hil_outside {
    int (*step)(struct hil_outside *outside, uint64_t t_ns, const double *in, double *out);
};

/* The computation of the node that joined in this thread; NULL: none, and the outputs do not
 * change. */
extern _Thread_local struct hil_outside *hil_outside;

#endif

/*
 * The model `outside`: its components are computed by a process of the user's, which joins the run
 * (hiloco_node.h). A scenario gives their inputs and outputs with their units, as settings: `takes`
 * and `gives`.
 */
#ifndef HIL_OUTSIDE_H
#define HIL_OUTSIDE_H

#include "provider.h"

#define HIL_OUTSIDE_NAME "outside"

extern const struct hil_provider hil_outside_provider;

bool hil_outside_is(const struct hil_model *model);

/* Who computes what is outside. */
struct hil_outside {
    int (*step)(struct hil_outside *outside, uint64_t t_ns, const double *in, double *out);
};

/* The one that does so in this thread; NULL: none, and the outputs stay as they are. */
extern _Thread_local struct hil_outside *hil_outside;

#endif

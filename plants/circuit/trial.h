/* Runs a circuit alone, with the defaults of its parameters and inputs, to see what its steps cost.
 */
#ifndef HILOCO_CIRCUIT_TRIAL_H
#define HILOCO_CIRCUIT_TRIAL_H

#include "circuit_model.h"

struct cir_trial {
    double period_s; /* the step of the netlist's .tran, or 1 us */
    unsigned steps, configurations, unresolved;
    double mean_ns, max_ns; /* of the second half of the steps, by when most is made */
};

/* Returns 0 or a negative errno. */
int cir_try(const struct cir_model *m, struct cir_trial *trial);

#endif

/* Faults of a scenario that never began in a run, and why. */
#ifndef HIL_ABSENT_FAULTS_H
#define HIL_ABSENT_FAULTS_H

#include "../run/state.h"

enum { HIL_ABSENT_BYTES = 400 };

/* Whether the fault is for nodes that ran here, and began at none of them. Then `why` says why at
 * the first one of these. */
bool hil_fault_is_absent(const struct hil_scenario *scenario, const struct hil_state *state,
                         unsigned fault, char why[HIL_ABSENT_BYTES]);

#endif

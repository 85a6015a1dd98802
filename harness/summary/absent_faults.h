/* Finds faults of a scenario that never began in a run, and the reason. */
#ifndef HIL_ABSENT_FAULTS_H
#define HIL_ABSENT_FAULTS_H

#include "../run/state.h"

enum { HIL_ABSENT_BYTES = 400 };

/* Whether the fault is for nodes that ran here, and began at none of them. `why` gets the reason at
 * the first of these nodes. */
bool hil_fault_is_absent(const struct hil_scenario *scenario, const struct hil_state *state,
                         unsigned fault, char why[HIL_ABSENT_BYTES]);

#endif

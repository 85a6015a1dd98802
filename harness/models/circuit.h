/* Netlists as circuits, which the solver in plants/circuit runs. docs/circuits.md describes them.
 */
#ifndef HIL_CIRCUIT_H
#define HIL_CIRCUIT_H

#include "provider/provider.h"

extern const struct hil_provider hil_circuit_provider;

#endif

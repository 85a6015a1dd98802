/* Netlists as circuits, which the solver in plants/circuit runs. docs/circuits.md describes them.
 */
#ifndef HIL_CIRCUIT_H
#define HIL_CIRCUIT_H

#include "../../plants/circuit/text.h"
#include "provider/provider.h"

extern const struct hil_provider hil_circuit_provider;

/* The netlist of a model that this provider has loaded. */
const struct cir_text *hil_circuit_netlist(const struct hil_loaded *loaded);

#endif

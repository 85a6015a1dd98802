/*
 * Converters with their switching resolved. These models also have diodes, dead time and a current
 * limit, which a model with ideal synchronous switches (switched_buck.c) leaves out. A cycle:
 *
 *      |  both off  |     main switch on     |  both off  |  other switch on, or its diode alone  |
 *      0        dead time                  d T      d T + dead time                               T
 *
 * The duty is latched at the beginning of the cycle. When the current reaches its limit, the
 * on-time ends. While both switches are off, the current flows on through a diode until it is zero.
 * It stays zero until the voltages make a diode conduct: the discontinuous conduction of a light
 * load.
 *
 * Between two changes of the switches the circuit is linear and is solved exactly. The moment at
 * which the current reaches a level is found on that solution, exact except for rounding.
 */
#ifndef HILOCO_PLANTS_SWITCHED_H
#define HILOCO_PLANTS_SWITCHED_H

#include "circuit.h"
#include "instance.h"

/* The part that conducts after the on-time: the other switch, or only a diode. */
enum switched_rectifier { SWITCHED_SYNCHRONOUS, SWITCHED_DIODE };

/* The functions of every such model. The model's own create() passes topology and rectifier to
 * switched_create(). A model with a diode has no dead time, so its parameters end before that row.
 */
int switched_create(void **self, const struct circuit_topology *topology,
                    enum switched_rectifier rectifier, const struct hil_config *config);
int switched_output(const void *self, const double *in, double *out);
int switched_step(void *self, uint64_t t_ns, const double *in, double *out);
int switched_tune(void *self, uint32_t place, double value);
void switched_numbers(void *self, hil_numbers_fn *each, void *arg);

#endif

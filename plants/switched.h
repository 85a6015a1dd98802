/*
 * Converters with their switching resolved, and with what synchronous, ideal switches leave out:
 * diodes, dead time and a limit of the current. A cycle:
 *
 *      |  both off  |     main switch on     |  both off  |  other switch on, or its diode alone  |
 *      0        dead time                  d T      d T + dead time                               T
 *
 * The duty is latched where the cycle begins. A current that reaches its limit ends the on-time.
 * While both switches are off, the current goes on through a diode until it is zero, and stays zero
 * for as long as no diode has reason to conduct: the discontinuous conduction of a light load.
 *
 * Between two changes the circuit is linear, and solved exactly; the time at which the current
 * comes to a level is found on that solution, to rounding.
 */
#ifndef HILOCO_PLANTS_SWITCHED_H
#define HILOCO_PLANTS_SWITCHED_H

#include "circuit.h"
#include "instance.h"

/* What conducts after the on-time: the other switch, or only a diode. */
enum switched_rectifier { SWITCHED_SYNCHRONOUS, SWITCHED_DIODE };

/* The functions of a model; its create() adds the rest to switched_create(). With a diode there is
 * no dead time, and the table ends before it. */
int switched_create(void **self, const struct circuit_topology *topology,
                    enum switched_rectifier rectifier, const struct hil_config *config);
int switched_output(const void *self, const double *in, double *out);
int switched_step(void *self, uint64_t t_ns, const double *in, double *out);
int switched_tune(void *self, uint32_t place, double value);

#endif

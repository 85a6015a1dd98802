/*
 * Averaged converters: these models leave out the ripple of the switching period. They weight the
 * circuit's two switch positions by the duty cycle, and sample the resulting linear system exactly
 * over a step, with the duty held. Two pairs of numbers describe a topology (struct
 * circuit_topology). While the gates are off there is nothing to average: the diodes conduct as
 * they do in a switched model.
 */
#ifndef HILOCO_PLANTS_AVERAGED_H
#define HILOCO_PLANTS_AVERAGED_H

#include "circuit.h"
#include "instance.h"

/* The functions of every averaged model. The model's own create() passes its topology to
 * averaged_create(). */
int averaged_create(void **self, const struct circuit_topology *topology,
                    const struct hil_config *config);
int averaged_output(const void *self, const double *in, double *out);
int averaged_step(void *self, uint64_t t_ns, const double *in, double *out);
int averaged_tune(void *self, uint32_t place, double value);
void averaged_numbers(void *self, hil_numbers_fn *each, void *arg);

#endif

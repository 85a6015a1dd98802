/*
 * Averaged converters: the ripple of the switching period is left out, and what the
 * switches do in its two parts is weighted by the duty cycle. Sampled exactly between
 * steps, at the held duty. A topology is two pairs of numbers.
 */
#ifndef HILOCO_PLANTS_AVERAGED_H
#define HILOCO_PLANTS_AVERAGED_H

#include "circuit.h"
#include "instance.h"

/* The functions of a model; its create() adds the topology to averaged_create(). */
int averaged_create(void **self, const struct circuit_topology *topology,
                    const struct hil_config *config);
int averaged_output(const void *self, const double *in, double *out);
int averaged_step(void *self, uint64_t t_ns, const double *in, double *out);
int averaged_tune(void *self, uint32_t place, double value);

#endif

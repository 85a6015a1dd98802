/* Creating and destroying components: functions that the built-in models share. */
#ifndef HILOCO_PLANTS_INSTANCE_H
#define HILOCO_PLANTS_INSTANCE_H

#include "model.h"

/* Allocates `size` zeroed bytes for a component. Returns 0, -EDOM if the period is not positive and
 * finite, or -ENOMEM. Sets *self on success only. */
int instance_create(void **self, const struct hil_config *config, size_t size);

void instance_destroy(void *self);

/* The numbers() of a model without a state. */
void instance_no_numbers(void *self, hil_numbers_fn *each, void *arg);

#endif

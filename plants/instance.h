/* What the models here share in making a component. */
#ifndef HILOCO_PLANTS_INSTANCE_H
#define HILOCO_PLANTS_INSTANCE_H

#include "model.h"

/* Makes `size` bytes, all 0, for a period that there can be. Returns 0, -EDOM or -ENOMEM; *self is
 * set on success only. */
int instance_create(void **self, const struct hil_config *config, size_t size);

void instance_destroy(void *self);

#endif

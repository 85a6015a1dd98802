#include "instance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int instance_create(void **self, const struct hil_config *config, size_t size)
{
    if (!(config->period_s > 0) || !isfinite(config->period_s))
        return -EDOM;
    void *made = calloc(1, size);
    if (!made)
        return -ENOMEM;
    *self = made;
    return 0;
}

void instance_destroy(void *self)
{
    free(self);
}

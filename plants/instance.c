#include "instance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Components are aligned to cache lines, so that a step of a small model touches as few of them as
 * possible. */
enum { INSTANCE_LINE = 64 };

int instance_create(void **self, const struct hil_config *config, size_t size)
{
    if (!(config->period_s > 0) || !isfinite(config->period_s))
        return -EDOM;
    const size_t lines = (size + INSTANCE_LINE - 1) / INSTANCE_LINE;
    void *made = aligned_alloc(INSTANCE_LINE, lines * INSTANCE_LINE);
    if (!made)
        return -ENOMEM;
    *self = memset(made, 0, size);
    return 0;
}

void instance_destroy(void *self)
{
    free(self);
}

void instance_no_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    (void)self;
    (void)each;
    (void)arg;
}

/*
 * A table of as many points as the component is wide: the output at an input between two points is
 * on the straight line between them, or held from the point before. Beyond the ends it is that of
 * the end.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "../plants/instance.h"
#include "models.h"
#include "table.h"

enum { LOOKUP_POINTS_MAX = 4096 };

struct lookup {
    uint32_t count;
    bool held;
    double points[]; /* the inputs, then the outputs */
};

/* The parameters are the inputs, the outputs, and whether it holds. */
static int lookup_create(void **self, const struct hil_config *config)
{
    const uint32_t count = config->width;
    const double *x = config->parameters;

    for (uint32_t i = 1; i < count; i++) {
        if (x[i] > x[i - 1])
            continue;
        config->log(config->log_arg, "at does not increase from point to point");
        return -EDOM;
    }
    int rc = instance_create(self, config, sizeof(struct lookup) + 2 * count * sizeof(double));
    if (rc)
        return rc;
    struct lookup *l = *self;
    l->count = count;
    l->held = x[2 * (size_t)count] != 0;
    memcpy(l->points, x, 2 * (size_t)count * sizeof(double));
    return 0;
}

static int lookup_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct lookup *l = self;
    const double *y = l->points + l->count;
    const struct table_place p = table_find(l->points, l->count, in[0]);

    (void)t_ns;
    if (isnan(p.share))
        out[0] = in[0];
    else if (l->held || p.share == 0)
        out[0] = y[p.point];
    else
        out[0] = table_between(y[p.point], y[p.point + 1], p.share);
    return 0;
}

static const struct hil_quantity lookup_parameters[] = {
    {"at", "", 0, -1e300, 1e300, HIL_WIDE, "input of each point, in increasing order"},
    {"value", "", 0, -1e300, 1e300, HIL_WIDE, "output of each point"},
    {"held", "", 0, 0, 1, HIL_WHOLE, "1: held from the point before; 0: on a straight line"},
};

static const struct hil_quantity lookup_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is looked up"},
};

static const struct hil_quantity lookup_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the table's value there"},
};

const struct hil_model model_lookup = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "lookup",
    .doc = "Table of points",
    .kind = HIL_SAMPLED,
    .width_max = LOOKUP_POINTS_MAX,
    .parameters = HIL_QUANTITIES(lookup_parameters),
    .inputs = HIL_QUANTITIES(lookup_inputs),
    .outputs = HIL_QUANTITIES(lookup_outputs),
    .create = lookup_create,
    .step = lookup_step,
    .destroy = instance_destroy,
    .numbers = instance_no_numbers,
};

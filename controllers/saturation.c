/* output = min(max(input, output_min), output_max). NaN becomes the lower limit. */
#include <errno.h>
#include <math.h>

#include "../plants/instance.h"
#include "models.h"

enum { SATURATION_MIN, SATURATION_MAX };

struct saturation {
    double min, max;
};

static int saturation_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;

    if (!(p[SATURATION_MIN] < p[SATURATION_MAX])) {
        config->log(config->log_arg, "output_max is not above output_min");
        return -EDOM;
    }
    int rc = instance_create(self, config, sizeof(struct saturation));
    if (rc)
        return rc;
    *(struct saturation *)*self = (struct saturation){p[SATURATION_MIN], p[SATURATION_MAX]};
    return 0;
}

static int saturation_tune(void *self, uint32_t place, double value)
{
    struct saturation *s = self;
    const struct saturation tuned = {place == SATURATION_MIN ? value : s->min,
                                     place == SATURATION_MAX ? value : s->max};

    if (!(tuned.min < tuned.max))
        return -EDOM;
    *s = tuned;
    return 0;
}

static int saturation_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct saturation *s = self;

    (void)t_ns;
    out[0] = in[0] > s->min ? fmin(in[0], s->max) : s->min;
    return 0;
}

static const struct hil_quantity saturation_parameters[] = {
    {"output_min", "", -1, -1e12, 1e12, HIL_TUNABLE, "least output"},
    {"output_max", "", 1, -1e12, 1e12, HIL_TUNABLE, "greatest output"},
};

static const struct hil_quantity saturation_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is limited"},
};

static const struct hil_quantity saturation_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the input within the limits"},
};

const struct hil_model model_saturation = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "saturation",
    .doc = "Saturation",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(saturation_parameters),
    .inputs = HIL_QUANTITIES(saturation_inputs),
    .outputs = HIL_QUANTITIES(saturation_outputs),
    .create = saturation_create,
    .step = saturation_step,
    .destroy = instance_destroy,
    .numbers = instance_no_numbers,
    .tune = saturation_tune,
};

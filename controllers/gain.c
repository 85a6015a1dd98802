/* output = gain input */
#include <errno.h>
#include <math.h>

#include "../plants/instance.h"
#include "models.h"

enum { GAIN };

struct gain {
    double gain;
};

static int gain_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct gain));

    if (rc)
        return rc;
    struct gain *g = *self;
    g->gain = config->parameters[GAIN];
    return 0;
}

static int gain_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct gain *g = self;

    (void)t_ns;
    out[0] = g->gain * in[0];
    return 0;
}

static int gain_tune(void *self, uint32_t place, double value)
{
    struct gain *g = self;

    if (place != GAIN)
        return -EDOM;
    g->gain = value;
    return 0;
}

static const struct hil_quantity gain_parameters[] = {
    {"gain", "", 1, -1e12, 1e12, HIL_TUNABLE, "what the input is multiplied by"},
};

static const struct hil_quantity gain_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is multiplied"},
};

static const struct hil_quantity gain_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the product"},
};

const struct hil_model model_gain = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "gain",
    .doc = "Gain",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(gain_parameters),
    .inputs = HIL_QUANTITIES(gain_inputs),
    .outputs = HIL_QUANTITIES(gain_outputs),
    .create = gain_create,
    .step = gain_step,
    .destroy = instance_destroy,
    .numbers = instance_no_numbers,
    .tune = gain_tune,
};

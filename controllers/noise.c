/*
 * Adds white Gaussian noise to the input. Runs with the same seed have the same noise. The random
 * numbers come from splitmix64 (Steele, Lea, Flood 2014); the Box-Muller transform makes them
 * Gaussian.
 */
#include <math.h>

#include "../plants/instance.h"
#include "models.h"

enum { NOISE_DEVIATION, NOISE_SEED };

struct noise {
    uint64_t state;
    double deviation;
};

/* Each component of an array has a different sequence. */
static uint64_t noise_state(uint64_t seed, uint64_t index)
{
    return seed + index * 0xd1342543de82ef95u;
}

static int noise_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct noise));

    if (rc)
        return rc;
    *(struct noise *)*self = (struct noise){
        .state = noise_state((uint64_t)config->parameters[NOISE_SEED], config->index),
        .deviation = config->parameters[NOISE_DEVIATION]};
    return 0;
}

/* Uniform in (0, 1]. */
static double noise_uniform(struct noise *n)
{
    uint64_t z = n->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)(((z ^ (z >> 31)) >> 11) + 1) * 0x1p-53;
}

static int noise_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct noise *n = self;
    const double radius = sqrt(-2 * log(noise_uniform(n)));

    (void)t_ns;
    out[0] = in[0] + n->deviation * radius * cos(0x1.921fb54442d18p+2 * noise_uniform(n));
    return 0;
}

static int noise_tune(void *self, uint32_t place, double value)
{
    struct noise *n = self;

    (void)place; /* only the deviation can be tuned */
    n->deviation = value;
    return 0;
}

static const struct hil_quantity noise_parameters[] = {
    {"deviation", "", 0.01, 0, 1e12, HIL_TUNABLE, "standard deviation of the noise"},
    {"seed", "", 1, 0, 4294967295.0, HIL_WHOLE,
     "seed of the noise, of which each of an array has its own"},
};

static const struct hil_quantity noise_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what the noise is added to"},
};

static const struct hil_quantity noise_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the input with noise"},
};

const struct hil_model model_noise = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "noise",
    .doc = "Gaussian noise, added to a signal",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(noise_parameters),
    .inputs = HIL_QUANTITIES(noise_inputs),
    .outputs = HIL_QUANTITIES(noise_outputs),
    .create = noise_create,
    .step = noise_step,
    .destroy = instance_destroy,
    .numbers = instance_no_numbers,
    .tune = noise_tune,
};

/* output(n) = (input(n) + ... + input(n - count + 1)) / count. At the start it is the mean of all
 * inputs so far. */
#include <math.h>

#include "../plants/instance.h"
#include "models.h"

enum { MOVING_AVERAGE_SAMPLES };
enum { MOVING_AVERAGE_MAX = 256 };

struct moving_average {
    unsigned samples, count, next;
    double values[MOVING_AVERAGE_MAX]; /* a ring */
};

static int moving_average_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct moving_average));

    if (rc)
        return rc;
    struct moving_average *m = *self;
    m->samples = (unsigned)config->parameters[MOVING_AVERAGE_SAMPLES];
    return 0;
}

/* Each step adds all the values up again, as a running sum would accumulate rounding errors. */
static int moving_average_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct moving_average *m = self;
    double sum = 0;

    (void)t_ns;
    m->values[m->next] = in[0];
    m->next = (m->next + 1) % m->samples;
    if (m->count < m->samples)
        m->count++;
    for (unsigned i = 0; i < m->count; i++)
        sum += m->values[i];
    out[0] = sum / m->count;
    return 0;
}

static void moving_average_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct moving_average *p = self;

    each(arg, p->values, p->samples);
}

static const struct hil_quantity moving_average_parameters[] = {
    {"samples", "", 8, 1, MOVING_AVERAGE_MAX, HIL_WHOLE, "how many inputs"},
};

static const struct hil_quantity moving_average_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is averaged"},
};

static const struct hil_quantity moving_average_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the mean"},
};

const struct hil_model model_moving_average = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "moving_average",
    .doc = "Moving average",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(moving_average_parameters),
    .inputs = HIL_QUANTITIES(moving_average_inputs),
    .outputs = HIL_QUANTITIES(moving_average_outputs),
    .create = moving_average_create,
    .step = moving_average_step,
    .destroy = instance_destroy,
    .numbers = moving_average_numbers,
};

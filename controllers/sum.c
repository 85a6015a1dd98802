/* output = the sum of gain[i] input[i]. A gain of -1 makes it a difference. */
#include <math.h>
#include <string.h>

#include "../plants/instance.h"
#include "models.h"

enum { SUM_WIDTH_MAX = 32 };

struct sum {
    unsigned width;
    double gain[SUM_WIDTH_MAX];
};

static int sum_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct sum));

    if (rc)
        return rc;
    struct sum *s = *self;
    s->width = config->width;
    memcpy(s->gain, config->parameters, config->width * sizeof(double));
    return 0;
}

static int sum_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct sum *s = self;
    double sum = 0;

    (void)t_ns;
    for (unsigned i = 0; i < s->width; i++)
        sum += s->gain[i] * in[i];
    out[0] = sum;
    return 0;
}

static const struct hil_quantity sum_parameters[] = {
    {"gain", "", 1, -1e12, 1e12, HIL_WIDE, "what each input is multiplied by"},
};

static const struct hil_quantity sum_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED | HIL_WIDE, "what is added"},
};

static const struct hil_quantity sum_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the sum"},
};

const struct hil_model model_sum = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "sum",
    .doc = "Sum of inputs, each with its gain",
    .kind = HIL_SAMPLED,
    .width_max = SUM_WIDTH_MAX,
    .parameters = HIL_QUANTITIES(sum_parameters),
    .inputs = HIL_QUANTITIES(sum_inputs),
    .outputs = HIL_QUANTITIES(sum_outputs),
    .create = sum_create,
    .step = sum_step,
    .destroy = instance_destroy,
    .numbers = instance_no_numbers,
};

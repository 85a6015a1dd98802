/*
 * Rounds its input to a given number of bits, as an analogue-to-digital converter does with a
 * measurement, or a PWM unit with a duty cycle. The ends of the range are the first and the last
 * code. An input in between is rounded to the nearest code.
 */
#include <errno.h>
#include <math.h>

#include "../plants/instance.h"
#include "least.h"
#include "models.h"

enum { QUANTISER_BITS, QUANTISER_MIN, QUANTISER_MAX };

struct quantiser {
    double min, step, codes; /* `codes` is the last code; the first is 0 */
};

static int quantiser_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    const double codes = ldexp(1, (int)p[QUANTISER_BITS]) - 1;

    if (!(p[QUANTISER_MIN] < p[QUANTISER_MAX])) {
        config->log(config->log_arg, "range_max is not above range_min");
        return -EDOM;
    }
    int rc = instance_create(self, config, sizeof(struct quantiser));
    if (rc)
        return rc;
    *(struct quantiser *)*self =
        (struct quantiser){p[QUANTISER_MIN], (p[QUANTISER_MAX] - p[QUANTISER_MIN]) / codes, codes};
    return 0;
}

static int quantiser_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct quantiser *q = self;
    const double code = round((in[0] - q->min) / q->step);

    (void)t_ns;
    out[0] = q->min + q->step * least_within(code, 0, q->codes);
    return 0;
}

static const struct hil_quantity quantiser_parameters[] = {
    {"bits", "", 12, 1, 32, HIL_WHOLE, "how many bits a code has"},
    {"range_min", "", 0, -1e12, 1e12, 0, "value of the first code"},
    {"range_max", "", 1, -1e12, 1e12, 0, "value of the last code"},
};

static const struct hil_quantity quantiser_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is converted"},
};

static const struct hil_quantity quantiser_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the value of the nearest code"},
};

const struct hil_model model_quantiser = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "quantiser",
    .doc = "Quantiser: an analogue-to-digital converter, or a PWM unit",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(quantiser_parameters),
    .inputs = HIL_QUANTITIES(quantiser_inputs),
    .outputs = HIL_QUANTITIES(quantiser_outputs),
    .create = quantiser_create,
    .step = quantiser_step,
    .destroy = instance_destroy,
    .numbers = instance_no_numbers,
};

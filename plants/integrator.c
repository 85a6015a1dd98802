/* x' = gain input, output = x. The solution is exact for an input that is held. */
#include <math.h>

#include "instance.h"
#include "models.h"

struct integrator {
    double x, gain; /* each period adds gain * input to x */
};

static int integrator_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct integrator));

    if (rc)
        return rc;
    *(struct integrator *)*self =
        (struct integrator){config->states[0], config->parameters[0] * config->period_s};
    return 0;
}

static int integrator_output(const void *self, const double *in, double *out)
{
    const struct integrator *p = self;

    (void)in;
    out[0] = p->x;
    return 0;
}

static int integrator_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct integrator *p = self;

    (void)t_ns;
    p->x += p->gain * in[0];
    return integrator_output(self, in, out);
}

static void integrator_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct integrator *p = self;

    each(arg, &p->x, 1);
}

static const struct hil_quantity integrator_parameters[] = {
    {"gain_per_s", "1/s", 1, -1e12, 1e12, 0, "what the input is multiplied by"},
};

static const struct hil_quantity integrator_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is integrated"},
};

static const struct hil_quantity integrator_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the integral"},
};

static const struct hil_quantity integrator_states[] = {
    {"output", "", 0, -1e12, 1e12, 0, "the integral"},
};

const struct hil_model model_integrator = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "integrator",
    .doc = "Integrator",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(integrator_parameters),
    .inputs = HIL_QUANTITIES(integrator_inputs),
    .outputs = HIL_QUANTITIES(integrator_outputs),
    .states = HIL_QUANTITIES(integrator_states),
    .create = integrator_create,
    .output = integrator_output,
    .step = integrator_step,
    .destroy = instance_destroy,
    .numbers = integrator_numbers,
};

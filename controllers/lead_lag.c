/*
 *              1 + lead s
 *  C(s) = gain ----------      with the bilinear transform s = (2/T) (1 - q) / (1 + q)
 *              1 + lag s
 *
 * If the lead time is longer than the lag time, the output's phase leads; otherwise it lags.
 */
#include <math.h>
#include <string.h>

#include "../plants/instance.h"
#include "models.h"

enum { LEAD_LAG_GAIN, LEAD_LAG_LEAD, LEAD_LAG_LAG, LEAD_LAG_PARAMETERS };

struct lead_lag {
    double b0, b1, a1; /* output = b0 input + b1 previous input - a1 previous output */
    double input, output;
    double parameters[LEAD_LAG_PARAMETERS], period_s;
};

static void lead_lag_discretise(struct lead_lag *c)
{
    const double *p = c->parameters;
    const double k = 2 / c->period_s, lag = 1 + k * p[LEAD_LAG_LAG];

    c->b0 = p[LEAD_LAG_GAIN] * (1 + k * p[LEAD_LAG_LEAD]) / lag;
    c->b1 = p[LEAD_LAG_GAIN] * (1 - k * p[LEAD_LAG_LEAD]) / lag;
    c->a1 = (1 - k * p[LEAD_LAG_LAG]) / lag;
}

static int lead_lag_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct lead_lag));

    if (rc)
        return rc;
    struct lead_lag *c = *self;
    memcpy(c->parameters, config->parameters, sizeof c->parameters);
    c->period_s = config->period_s;
    lead_lag_discretise(c);
    return 0;
}

static int lead_lag_tune(void *self, uint32_t place, double value)
{
    struct lead_lag *c = self;

    c->parameters[place] = value;
    lead_lag_discretise(c);
    return 0;
}

static int lead_lag_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct lead_lag *c = self;
    const double now = in[0];

    (void)t_ns;
    c->output = c->b0 * now + c->b1 * c->input - c->a1 * c->output;
    c->input = now;
    out[0] = c->output;
    return 0;
}

static void lead_lag_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct lead_lag *p = self;

    each(arg, &p->input, 1);
    each(arg, &p->output, 1);
}

static const struct hil_quantity lead_lag_parameters[] = {
    {"gain", "", 1, -1e12, 1e12, HIL_TUNABLE, "gain at low frequencies"},
    {"lead_s", "s", 1e-3, 0, 1e3, HIL_TUNABLE, "time constant of the zero"},
    {"lag_s", "s", 1e-4, 1e-9, 1e3, HIL_TUNABLE, "time constant of the pole"},
};

static const struct hil_quantity lead_lag_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is filtered"},
};

static const struct hil_quantity lead_lag_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "what comes of it"},
};

const struct hil_model model_lead_lag = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "lead_lag",
    .doc = "Lead-lag compensator, bilinear",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(lead_lag_parameters),
    .inputs = HIL_QUANTITIES(lead_lag_inputs),
    .outputs = HIL_QUANTITIES(lead_lag_outputs),
    .create = lead_lag_create,
    .step = lead_lag_step,
    .destroy = instance_destroy,
    .numbers = lead_lag_numbers,
    .tune = lead_lag_tune,
};

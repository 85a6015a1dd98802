/* T x' = gain input - x, output = x. The solution is exact for an input that is held. */
#include <math.h>

#include "instance.h"
#include "models.h"

enum { FIRST_ORDER_LAG_GAIN, FIRST_ORDER_LAG_TIME };

struct first_order_lag {
    double x, gain;
    double gone; /* fraction of the way to its final value that x moves in one period */
    double period_s;
};

static int first_order_lag_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    int rc = instance_create(self, config, sizeof(struct first_order_lag));

    if (rc)
        return rc;
    *(struct first_order_lag *)*self = (struct first_order_lag){
        .x = config->states[0],
        .gain = p[FIRST_ORDER_LAG_GAIN],
        .gone = -expm1(-config->period_s / p[FIRST_ORDER_LAG_TIME]),
        .period_s = config->period_s,
    };
    return 0;
}

static int first_order_lag_tune(void *self, uint32_t place, double value)
{
    struct first_order_lag *p = self;

    if (place == FIRST_ORDER_LAG_GAIN)
        p->gain = value;
    else
        p->gone = -expm1(-p->period_s / value);
    return 0;
}

static int first_order_lag_output(const void *self, const double *in, double *out)
{
    const struct first_order_lag *p = self;

    (void)in;
    out[0] = p->x;
    return 0;
}

static int first_order_lag_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct first_order_lag *p = self;

    (void)t_ns;
    p->x += p->gone * (p->gain * in[0] - p->x);
    return first_order_lag_output(self, in, out);
}

static void first_order_lag_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct first_order_lag *p = self;

    each(arg, &p->x, 1);
}

static const struct hil_quantity first_order_lag_parameters[] = {
    {"gain", "", 1, -1e12, 1e12, HIL_TUNABLE, "gain at rest"},
    {"time_constant_s", "s", 1e-3, 1e-9, 1e6, HIL_TUNABLE, "time constant"},
};

static const struct hil_quantity first_order_lag_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is followed"},
};

static const struct hil_quantity first_order_lag_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "what follows it"},
};

static const struct hil_quantity first_order_lag_states[] = {
    {"output", "", 0, -1e12, 1e12, 0, "what follows"},
};

const struct hil_model model_first_order_lag = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "first_order_lag",
    .doc = "First-order lag",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(first_order_lag_parameters),
    .inputs = HIL_QUANTITIES(first_order_lag_inputs),
    .outputs = HIL_QUANTITIES(first_order_lag_outputs),
    .states = HIL_QUANTITIES(first_order_lag_states),
    .create = first_order_lag_create,
    .output = first_order_lag_output,
    .step = first_order_lag_step,
    .destroy = instance_destroy,
    .numbers = first_order_lag_numbers,
    .tune = first_order_lag_tune,
};

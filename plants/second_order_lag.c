/* x'' + 2 damping w x' + w^2 x = w^2 gain input, output = x. The solution is exact for an input
 * that is held. */
#include <math.h>

#include "instance.h"
#include "linear.h"
#include "models.h"

enum { SECOND_ORDER_LAG_GAIN, SECOND_ORDER_LAG_FREQUENCY, SECOND_ORDER_LAG_DAMPING };

struct second_order_lag {
    double x[2]; /* the output, and its derivative divided by w */
    double gain, w, damping, period_s;
    struct linear sampled;
};

static void second_order_lag_sample(struct second_order_lag *p)
{
    const double w = p->w;
    const struct linear equations = {
        .a = {{0, w}, {-w, -2 * p->damping * w}},
        .b = {0, w},
    };

    linear_sample(&p->sampled, &equations, p->period_s);
}

static int second_order_lag_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    int rc = instance_create(self, config, sizeof(struct second_order_lag));

    if (rc)
        return rc;
    struct second_order_lag *made = *self;
    *made = (struct second_order_lag){
        .x = {config->states[0], config->states[1] / p[SECOND_ORDER_LAG_FREQUENCY]},
        .gain = p[SECOND_ORDER_LAG_GAIN],
        .w = p[SECOND_ORDER_LAG_FREQUENCY],
        .damping = p[SECOND_ORDER_LAG_DAMPING],
        .period_s = config->period_s,
    };
    second_order_lag_sample(made);
    return 0;
}

/* Tuning changes neither the output nor its slope. */
static int second_order_lag_tune(void *self, uint32_t place, double value)
{
    struct second_order_lag *p = self;

    switch (place) {
    case SECOND_ORDER_LAG_GAIN:
        p->gain = value;
        return 0;
    case SECOND_ORDER_LAG_FREQUENCY:
        p->x[1] *= p->w / value;
        p->w = value;
        break;
    default:
        p->damping = value;
    }
    second_order_lag_sample(p);
    return 0;
}

static int second_order_lag_output(const void *self, const double *in, double *out)
{
    const struct second_order_lag *p = self;

    (void)in;
    out[0] = p->x[0];
    return 0;
}

static int second_order_lag_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct second_order_lag *p = self;

    (void)t_ns;
    linear_advance(&p->sampled, p->x, p->gain * in[0]);
    return second_order_lag_output(self, in, out);
}

static void second_order_lag_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct second_order_lag *p = self;

    each(arg, p->x, 2);
}

static const struct hil_quantity second_order_lag_parameters[] = {
    {"gain", "", 1, -1e12, 1e12, HIL_TUNABLE, "gain at rest"},
    {"frequency_rad_per_s", "rad/s", 1000, 1e-6, 1e9, HIL_TUNABLE, "natural frequency"},
    {"damping", "", 0.7, 0, 1e3, HIL_TUNABLE, "damping ratio; 1 is critical"},
};

static const struct hil_quantity second_order_lag_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is followed"},
};

static const struct hil_quantity second_order_lag_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "what follows it"},
};

static const struct hil_quantity second_order_lag_states[] = {
    {"output", "", 0, -1e12, 1e12, 0, "what follows"},
    {"slope_per_s", "1/s", 0, -1e12, 1e12, 0, "its derivative"},
};

const struct hil_model model_second_order_lag = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "second_order_lag",
    .doc = "Second-order lag",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(second_order_lag_parameters),
    .inputs = HIL_QUANTITIES(second_order_lag_inputs),
    .outputs = HIL_QUANTITIES(second_order_lag_outputs),
    .states = HIL_QUANTITIES(second_order_lag_states),
    .create = second_order_lag_create,
    .output = second_order_lag_output,
    .step = second_order_lag_step,
    .destroy = instance_destroy,
    .numbers = second_order_lag_numbers,
    .tune = second_order_lag_tune,
};

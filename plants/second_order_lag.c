/* x'' + 2 damping w x' + w^2 x = w^2 gain input, output = x. Exact for an input that is held. */
#include <math.h>

#include "instance.h"
#include "linear.h"
#include "models.h"

enum { SECOND_ORDER_LAG_GAIN, SECOND_ORDER_LAG_FREQUENCY, SECOND_ORDER_LAG_DAMPING };

struct second_order_lag {
    double x[2]; /* the output, and its derivative over w */
    double gain;
    struct linear sampled;
};

static int second_order_lag_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    const double w = p[SECOND_ORDER_LAG_FREQUENCY];
    const struct linear equations = {
        .a = {{0, w}, {-w, -2 * p[SECOND_ORDER_LAG_DAMPING] * w}},
        .b = {0, w},
    };
    int rc = instance_create(self, config, sizeof(struct second_order_lag));

    if (rc)
        return rc;
    struct second_order_lag *made = *self;
    made->x[0] = config->states[0];
    made->x[1] = config->states[1] / w;
    made->gain = p[SECOND_ORDER_LAG_GAIN];
    linear_sample(&made->sampled, &equations, config->period_s);
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

static const struct hil_quantity second_order_lag_parameters[] = {
    {"gain", "", 1, -1e12, 1e12, 0, "gain at rest"},
    {"frequency_rad_per_s", "rad/s", 1000, 1e-6, 1e9, 0, "natural frequency"},
    {"damping", "", 0.7, 0, 1e3, 0, "damping ratio; 1 is critical"},
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
};

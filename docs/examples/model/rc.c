/* A plant: a half bridge, averaged over its period, that charges a capacitor through a resistor. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <hiloco/model.h>

enum { RESISTANCE_OHM, CAPACITANCE_F };
enum { DUTY, INPUT_V };

static const struct hil_quantity parameters[] = {
    {"resistance_ohm", "Ohm", 1, 1e-6, 1e6, 0, "resistance between the bridge and the capacitor"},
    {"capacitance_f", "F", 1e-3, 1e-9, 1, 0, "capacitance"},
};
static const struct hil_quantity inputs[] = {
    {"duty", "", 0, 0, 1, HIL_REQUIRED, "duty cycle of the upper switch"},
    {"input_voltage_v", "V", 48, 0, 1000, 0, "voltage of the source"},
};
static const struct hil_quantity outputs[] = {
    {"voltage_v", "V", 0, 0, 0, 0, "voltage of the capacitor"},
    {"current_a", "A", 0, 0, 0, 0, "current into it"},
};
static const struct hil_quantity states[] = {
    {"voltage_v", "V", 0, -1000, 1000, 0, "voltage of the capacitor"},
};

struct rc {
    double decay; /* of the distance to the final voltage, in a period */
    double resistance_ohm, voltage_v;
};

static int rc_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    struct rc *rc = (struct rc *)malloc(sizeof *rc);

    if (!rc)
        return -ENOMEM;
    rc->decay = exp(-config->period_s / (p[RESISTANCE_OHM] * p[CAPACITANCE_F]));
    rc->resistance_ohm = p[RESISTANCE_OHM];
    rc->voltage_v = config->states[0];
    *self = rc;
    return 0;
}

static int rc_output(const void *self, const double *in, double *out)
{
    const struct rc *rc = (const struct rc *)self;

    out[0] = rc->voltage_v;
    out[1] = (in[DUTY] * in[INPUT_V] - rc->voltage_v) / rc->resistance_ohm;
    return 0;
}

static int rc_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct rc *rc = (struct rc *)self;
    const double final_v = in[DUTY] * in[INPUT_V];

    (void)t_ns;
    rc->voltage_v = final_v + (rc->voltage_v - final_v) * rc->decay;
    return rc_output(self, in, out);
}

static void rc_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    each(arg, &((struct rc *)self)->voltage_v, 1);
}

const struct hil_model hiloco_model = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "rc",
    .doc = "Capacitor behind a resistor and an averaged half bridge",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(parameters),
    .inputs = HIL_QUANTITIES(inputs),
    .outputs = HIL_QUANTITIES(outputs),
    .states = HIL_QUANTITIES(states),
    .create = rc_create,
    .output = rc_output,
    .step = rc_step,
    .destroy = free,
    .numbers = rc_numbers,
};

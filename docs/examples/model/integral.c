/* A law: the integral of the error, kept within the limits of the duty cycle. */
#include <errno.h>
#include <stdlib.h>

#include <hiloco/model.h>

enum { DUTY_MIN, DUTY_MAX, KI_PER_V_S };
enum { REFERENCE_V, VOLTAGE_V };

static const struct hil_quantity parameters[] = {
    {"duty_min", "", 0, 0, 1, 0, "smallest duty cycle"},
    {"duty_max", "", 1, 0, 1, 0, "largest duty cycle"},
    {"ki_per_v_s", "1/(V s)", 2, 0, 1e9, HIL_TUNABLE, "integral gain"},
};
static const struct hil_quantity inputs[] = {
    {"reference_v", "V", 0, -1e9, 1e9, HIL_REQUIRED, "what the voltage is to be"},
    {"voltage_v", "V", 0, -1e9, 1e9, HIL_REQUIRED, "what it is"},
};
static const struct hil_quantity outputs[] = {{"duty", "", 0, 0, 1, 0, "duty cycle"}};

struct integral {
    double duty_min, duty_max, ki_per_v_s, period_s, duty;
};

static int integral_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;

    if (p[DUTY_MIN] >= p[DUTY_MAX]) {
        config->log(config->log_arg, "duty_min is not below duty_max");
        return -EDOM;
    }
    struct integral *law = (struct integral *)malloc(sizeof *law);
    if (!law)
        return -ENOMEM;
    law->duty_min = law->duty = p[DUTY_MIN];
    law->duty_max = p[DUTY_MAX];
    law->ki_per_v_s = p[KI_PER_V_S];
    law->period_s = config->period_s;
    *self = law;
    return 0;
}

static int integral_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct integral *law = (struct integral *)self;
    double duty = law->duty + law->ki_per_v_s * law->period_s * (in[REFERENCE_V] - in[VOLTAGE_V]);

    (void)t_ns;
    duty = duty < law->duty_min ? law->duty_min : duty;
    law->duty = duty > law->duty_max ? law->duty_max : duty;
    out[0] = law->duty;
    return 0;
}

static int integral_tune(void *self, uint32_t place, double value)
{
    (void)place; /* there is only one that can be tuned */
    ((struct integral *)self)->ki_per_v_s = value;
    return 0;
}

static void integral_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    each(arg, &((struct integral *)self)->duty, 1);
}

const struct hil_model hiloco_model = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "integral",
    .doc = "Integral control of a voltage",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(parameters),
    .inputs = HIL_QUANTITIES(inputs),
    .outputs = HIL_QUANTITIES(outputs),
    .create = integral_create,
    .step = integral_step,
    .destroy = free,
    .tune = integral_tune,
    .numbers = integral_numbers,
};

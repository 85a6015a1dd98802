/*
 * State feedback with integral action:
 *
 *      duty = integral of Ki (Vref - V) - Kv V - Kc iL
 *
 * The feedback of the current damps the output filter. The integral brings the voltage to its
 * reference, so the law need not know the operating point.
 */
#include "duty.h"

enum { K_VOLTAGE, K_CURRENT, K_INTEGRAL, LIMITS };

struct state_feedback {
    struct duty_integral integral;
    struct duty_limits limits;
    double k_voltage, k_current, period_s;
};

static int state_feedback_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    struct duty_limits limits;
    int rc = duty_limits_init(&limits, &p[LIMITS], config);

    if (!rc)
        rc = instance_create(self, config, sizeof(struct state_feedback));
    if (rc)
        return rc;
    *(struct state_feedback *)*self = (struct state_feedback){
        .integral = {.gain = p[K_INTEGRAL] * config->period_s},
        .limits = limits,
        .k_voltage = p[K_VOLTAGE],
        .k_current = p[K_CURRENT],
        .period_s = config->period_s,
    };
    return 0;
}

static int state_feedback_tune(void *self, uint32_t place, double value)
{
    struct state_feedback *law = self;

    if (place >= LIMITS)
        return duty_limits_tune(&law->limits, place - LIMITS, value);
    if (place == K_VOLTAGE)
        law->k_voltage = value;
    else if (place == K_CURRENT)
        law->k_current = value;
    else
        law->integral.gain = value * law->period_s;
    return 0;
}

static int state_feedback_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct state_feedback *law = self;
    const double feedback = law->k_voltage * in[DUTY_VOLTAGE] + law->k_current * in[DUTY_CURRENT];

    (void)t_ns;
    out[DUTY] = duty_integrate(&law->integral, &law->limits, in[DUTY_REFERENCE] - in[DUTY_VOLTAGE],
                               -feedback, 0);
    out[DUTY_ENABLE] = 1;
    return 0;
}

/* The defaults damp the reference buck at controller periods of 10 to 40 us. */
static void state_feedback_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct state_feedback *p = self;

    each(arg, &p->integral.value, 1);
}

static const struct hil_quantity state_feedback_parameters[] = {
    {"k_voltage_per_v", "1/V", 0.008, -1e6, 1e6, HIL_TUNABLE, "feedback of the voltage"},
    {"k_current_per_a", "1/A", 0.008, -1e6, 1e6, HIL_TUNABLE, "feedback of the inductor current"},
    {"ki_per_v_s", "1/(V s)", 80, 0, 1e9, HIL_TUNABLE, "integral gain"},
    DUTY_LIMIT_ROWS,
};

const struct hil_model model_state_feedback = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "state_feedback",
    .doc = "Feedback of voltage and current with integral action, and anti-windup",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(state_feedback_parameters),
    .inputs = HIL_QUANTITIES(duty_inputs),
    .outputs = HIL_QUANTITIES(duty_outputs),
    .create = state_feedback_create,
    .step = state_feedback_step,
    .destroy = instance_destroy,
    .numbers = state_feedback_numbers,
    .tune = state_feedback_tune,
};

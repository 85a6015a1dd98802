/* The PI law (pid_law.h) for a converter: u is its duty, within its limits (duty.h). */
#include "pid_law.h"

enum { PI_KP, PI_KI, PI_WEIGHT, PI_LIMITS };

static int pi_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    const struct pid_gains gains = {.kp = p[PI_KP], .ki = p[PI_KI], .weight = p[PI_WEIGHT]};
    struct duty_limits limits;
    int rc = duty_limits_init(&limits, &p[PI_LIMITS], config);

    return rc ? rc : pid_law_create(self, &gains, &limits, config);
}

static int pi_tune(void *self, uint32_t place, double value)
{
    static const enum pid_number numbers[] = {PID_LAW_KP, PID_LAW_KI, PID_LAW_WEIGHT, PID_LAW_MIN,
                                              PID_LAW_MAX};

    return pid_law_tune(self, numbers[place], value);
}

/* There is no derivative to damp the output filter's resonance, so the default gains keep the
 * bandwidth well below it. */
static const struct hil_quantity pi_parameters[] = {
    {"kp_per_v", "1/V", 0.001, 0, 1e6, HIL_TUNABLE, "proportional gain"},
    {"ki_per_v_s", "1/(V s)", 20, 0, 1e9, HIL_TUNABLE, "integral gain"},
    {"setpoint_weight", "", 1, 0, 1, HIL_TUNABLE,
     "share of the reference in the proportional part"},
    DUTY_LIMIT_ROWS,
};

const struct hil_model model_pi = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "pi",
    .doc = "PI with anti-windup",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(pi_parameters),
    .inputs = HIL_FIRST_QUANTITIES(duty_inputs, DUTY_CURRENT),
    .outputs = HIL_QUANTITIES(duty_outputs),
    .create = pi_create,
    .step = pid_law_step_enable,
    .destroy = instance_destroy,
    .numbers = pid_law_numbers,
    .tune = pi_tune,
};

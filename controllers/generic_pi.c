/* The PI law (pid_law.h) for any quantity: u is the output, within its limits. */
#include "pid_law.h"

enum { GENERIC_PI_KP, GENERIC_PI_KI, GENERIC_PI_WEIGHT, GENERIC_PI_LIMITS };

static int generic_pi_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    const struct pid_gains gains = {
        .kp = p[GENERIC_PI_KP], .ki = p[GENERIC_PI_KI], .weight = p[GENERIC_PI_WEIGHT]};
    struct duty_limits limits;
    int rc = duty_limits_init(&limits, &p[GENERIC_PI_LIMITS], config);

    return rc ? rc : pid_law_create(self, &gains, &limits, config);
}

static int generic_pi_tune(void *self, uint32_t place, double value)
{
    static const enum pid_number numbers[] = {PID_LAW_KP, PID_LAW_KI, PID_LAW_WEIGHT, PID_LAW_MIN,
                                              PID_LAW_MAX};

    return pid_law_tune(self, numbers[place], value);
}

static const struct hil_quantity generic_pi_parameters[] = {
    {"kp", "", 1, -1e12, 1e12, HIL_TUNABLE, "proportional gain"},
    {"ki_per_s", "1/s", 0, -1e12, 1e12, HIL_TUNABLE, "integral gain"},
    {"setpoint_weight", "", 1, 0, 1, HIL_TUNABLE,
     "share of the reference in the proportional part"},
    ANY_LIMIT_ROWS,
};

const struct hil_model model_generic_pi = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "generic_pi",
    .doc = "PI of any quantity, with anti-windup",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(generic_pi_parameters),
    .inputs = HIL_QUANTITIES(any_inputs),
    .outputs = HIL_QUANTITIES(any_outputs),
    .create = generic_pi_create,
    .step = pid_law_step,
    .destroy = instance_destroy,
    .numbers = pid_law_numbers,
    .tune = generic_pi_tune,
};

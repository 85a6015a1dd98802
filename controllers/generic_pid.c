/* The PID law (pid_law.h) for any quantity: u is the output, within its limits. */
#include "pid_law.h"

enum {
    GENERIC_PID_KP,
    GENERIC_PID_KI,
    GENERIC_PID_KD,
    GENERIC_PID_FILTER,
    GENERIC_PID_WEIGHT,
    GENERIC_PID_LIMITS
};

static int generic_pid_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    const struct pid_gains gains = {p[GENERIC_PID_KP], p[GENERIC_PID_KI], p[GENERIC_PID_KD],
                                    p[GENERIC_PID_FILTER], p[GENERIC_PID_WEIGHT]};
    struct duty_limits limits;
    int rc = duty_limits_init(&limits, &p[GENERIC_PID_LIMITS], config);

    return rc ? rc : pid_law_create(self, &gains, &limits, config);
}

/* The rows of the table are in the order of enum pid_number. */
static int generic_pid_tune(void *self, uint32_t place, double value)
{
    return pid_law_tune(self, (enum pid_number)place, value);
}

static const struct hil_quantity generic_pid_parameters[] = {
    {"kp", "", 1, -1e12, 1e12, HIL_TUNABLE, "proportional gain"},
    {"ki_per_s", "1/s", 0, -1e12, 1e12, HIL_TUNABLE, "integral gain"},
    {"kd_s", "s", 0, -1e12, 1e12, HIL_TUNABLE, "derivative gain"},
    {"derivative_filter_s", "s", 1e-3, 0, 1e3, HIL_TUNABLE,
     "time constant of the derivative's filter"},
    {"setpoint_weight", "", 1, 0, 1, HIL_TUNABLE,
     "share of the reference in the proportional part"},
    ANY_LIMIT_ROWS,
};

const struct hil_model model_generic_pid = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "generic_pid",
    .doc = "PID of any quantity, with a filtered derivative of the measurement, and anti-windup",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(generic_pid_parameters),
    .inputs = HIL_QUANTITIES(any_inputs),
    .outputs = HIL_QUANTITIES(any_outputs),
    .create = generic_pid_create,
    .step = pid_law_step,
    .destroy = instance_destroy,
    .numbers = pid_law_numbers,
    .tune = generic_pid_tune,
};

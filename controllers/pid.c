/* The PID law (pid_law.h) for a converter: u is its duty, within its limits (duty.h). */
#include "pid_law.h"

enum { PID_KP, PID_KI, PID_KD, PID_FILTER, PID_WEIGHT, PID_LIMITS };

static int pid_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    const struct pid_gains gains = {p[PID_KP], p[PID_KI], p[PID_KD], p[PID_FILTER], p[PID_WEIGHT]};
    struct duty_limits limits;
    int rc = duty_limits_init(&limits, &p[PID_LIMITS], config);

    return rc ? rc : pid_law_create(self, &gains, &limits, config);
}

/* The rows of the table are in the order of enum pid_number. */
static int pid_tune(void *self, uint32_t place, double value)
{
    return pid_law_tune(self, (enum pid_number)place, value);
}

static const struct hil_quantity pid_parameters[] = {
    {"kp_per_v", "1/V", 0.03, 0, 1e6, HIL_TUNABLE, "proportional gain"},
    {"ki_per_v_s", "1/(V s)", 150, 0, 1e9, HIL_TUNABLE, "integral gain"},
    {"kd_s_per_v", "s/V", 4.2e-6, 0, 1e3, HIL_TUNABLE, "derivative gain"},
    {"derivative_filter_s", "s", 5e-6, 0, 1e3, HIL_TUNABLE,
     "time constant of the derivative's filter"},
    {"setpoint_weight", "", 0.3, 0, 1, HIL_TUNABLE,
     "share of the reference in the proportional part"},
    DUTY_LIMIT_ROWS,
};

const struct hil_model model_pid = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "pid",
    .doc = "PID with a filtered derivative of the voltage, and anti-windup",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(pid_parameters),
    .inputs = HIL_FIRST_QUANTITIES(duty_inputs, DUTY_CURRENT),
    .outputs = HIL_QUANTITIES(duty_outputs),
    .create = pid_create,
    .step = pid_law_step_enable,
    .destroy = instance_destroy,
    .numbers = pid_law_numbers,
    .tune = pid_tune,
};

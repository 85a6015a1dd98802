/*
 * The PID law, and the PI law as its case without a derivative.
 *
 *      duty = Kp (b Vref - V) + integral of Ki (Vref - V) - Kd dV/dt, low-pass filtered
 *
 * The derivative is of the measurement alone, and the weight b < 1 softens the
 * proportional part, so that a step of the reference does not kick the duty.
 * The derivative is discretised by the backward difference, which is stable for any
 * filter time and period.
 */
#include <errno.h>
#include <stdlib.h>

#include "duty.h"

struct pid {
    struct duty_integral integral;
    struct duty_limits limits;
    double kp, weight;

    /* derivative = keep derivative - slope (V - voltage_before) */
    double derivative, keep, slope;
    double voltage_before;
    bool stepped; /* there is a voltage_before */
};

/* Gains in continuous time, by name, so that the two tables below may differ. */
struct pid_gains {
    double kp, ki, kd, filter_s, weight;
    const double *limits;
};

static int pid_create_with(void **self, const struct pid_gains *gains,
                           const struct hil_config *config)
{
    const double period_s = config->period_s;
    struct duty_limits limits;
    int rc = duty_limits_init(&limits, gains->limits, config);

    if (rc)
        return rc;
    struct pid *made = malloc(sizeof(*made));
    if (!made)
        return -ENOMEM;

    *made = (struct pid){
        .integral = {.gain = gains->ki * period_s},
        .limits = limits,
        .kp = gains->kp,
        .weight = gains->weight,
        .keep = gains->filter_s / (gains->filter_s + period_s),
        .slope = gains->kd / (gains->filter_s + period_s),
    };
    *self = made;
    return 0;
}

static int pid_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct pid *pid = self;
    const double reference = in[DUTY_REFERENCE], voltage = in[DUTY_VOLTAGE];

    (void)t_ns;
    if (pid->stepped)
        pid->derivative =
            pid->keep * pid->derivative - pid->slope * (voltage - pid->voltage_before);
    pid->voltage_before = voltage;
    pid->stepped = true;

    const double proportional = pid->kp * (pid->weight * reference - voltage);
    out[DUTY] = duty_integrate(&pid->integral, &pid->limits, reference - voltage, proportional,
                               pid->derivative);
    return 0;
}

static void pid_destroy(void *self)
{
    free(self);
}

/* --- pid --- */

enum { PID_KP, PID_KI, PID_KD, PID_FILTER, PID_WEIGHT, PID_LIMITS };

static int pid_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    const struct pid_gains gains = {p[PID_KP],     p[PID_KI],     p[PID_KD],
                                    p[PID_FILTER], p[PID_WEIGHT], &p[PID_LIMITS]};

    return pid_create_with(self, &gains, config);
}

static const struct hil_quantity pid_parameters[] = {
    {"kp_per_v", "1/V", 0.03, 0, 1e6, 0, "proportional gain"},
    {"ki_per_v_s", "1/(V s)", 150, 0, 1e9, 0, "integral gain"},
    {"kd_s_per_v", "s/V", 4.2e-6, 0, 1e3, 0, "derivative gain"},
    {"derivative_filter_s", "s", 5e-6, 0, 1e3, 0, "time constant of the derivative's filter"},
    {"setpoint_weight", "", 0.3, 0, 1, 0, "share of the reference in the proportional part"},
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
    .step = pid_step,
    .destroy = pid_destroy,
};

/* --- pi --- */

enum { PI_KP, PI_KI, PI_WEIGHT, PI_LIMITS };

static int pi_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    const struct pid_gains gains = {
        .kp = p[PI_KP], .ki = p[PI_KI], .weight = p[PI_WEIGHT], .limits = &p[PI_LIMITS]};

    return pid_create_with(self, &gains, config);
}

/* With no derivative to damp the filter's resonance, the defaults keep well below it. */
static const struct hil_quantity pi_parameters[] = {
    {"kp_per_v", "1/V", 0.001, 0, 1e6, 0, "proportional gain"},
    {"ki_per_v_s", "1/(V s)", 20, 0, 1e9, 0, "integral gain"},
    {"setpoint_weight", "", 1, 0, 1, 0, "share of the reference in the proportional part"},
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
    .step = pid_step,
    .destroy = pid_destroy,
};

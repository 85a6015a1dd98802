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
#include "laws.h"

struct pid {
    struct duty_integral integral;
    struct controller_limits limits;
    double kp, weight;

    /* derivative = keep derivative - slope (V - voltage_before) */
    double derivative, keep, slope;
    double voltage_before;
    bool stepped; /* there is a voltage_before */
};

/* Gains in continuous time, by name, so that the two tables below may differ. */
struct gains {
    double kp, ki, kd, filter_s, weight;
};

static int create(void **controller, const struct gains *gains,
                  const struct controller_limits *limits, double period_s)
{
    if (!duty_can_run(limits, period_s))
        return -EDOM;

    struct pid *made = malloc(sizeof(*made));
    if (!made)
        return -ENOMEM;

    *made = (struct pid){
        .integral = {.gain = gains->ki * period_s},
        .limits = *limits,
        .kp = gains->kp,
        .weight = gains->weight,
        .keep = gains->filter_s / (gains->filter_s + period_s),
        .slope = gains->kd / (gains->filter_s + period_s),
    };
    *controller = made;
    return 0;
}

static double step(void *controller, const double *in)
{
    struct pid *pid = controller;
    const double reference = in[CONTROLLER_REFERENCE], voltage = in[CONTROLLER_VOLTAGE];

    if (pid->stepped)
        pid->derivative =
            pid->keep * pid->derivative - pid->slope * (voltage - pid->voltage_before);
    pid->voltage_before = voltage;
    pid->stepped = true;

    const double proportional = pid->kp * (pid->weight * reference - voltage);
    return duty_integrate(&pid->integral, &pid->limits, reference - voltage, proportional,
                          pid->derivative);
}

static void destroy(void *controller)
{
    free(controller);
}

/* --- pid --- */

enum { PID_KP, PID_KI, PID_KD, PID_FILTER, PID_WEIGHT, PID_GAINS };

static int create_pid(void **controller, const double *gains,
                      const struct controller_limits *limits, double period_s)
{
    const struct gains named = {gains[PID_KP], gains[PID_KI], gains[PID_KD], gains[PID_FILTER],
                                gains[PID_WEIGHT]};

    return create(controller, &named, limits, period_s);
}

static const struct hil_quantity pid_gains[PID_GAINS] = {
    {"kp_per_v", "1/V", 0.03, 0, 1e6, "proportional gain"},
    {"ki_per_v_s", "1/(V s)", 150, 0, 1e9, "integral gain"},
    {"kd_s_per_v", "s/V", 4.2e-6, 0, 1e3, "derivative gain"},
    {"derivative_filter_s", "s", 5e-6, 0, 1e3, "time constant of the derivative's filter"},
    {"setpoint_weight", "", 0.3, 0, 1, "share of the reference in the proportional part"},
};

const struct controller_law controller_pid = {
    .abi = CONTROLLER_ABI,
    .name = "pid",
    .doc = "PID with a filtered derivative of the voltage, and anti-windup",
    .gains = HIL_QUANTITIES(pid_gains),
    .inputs = {controller_inputs, CONTROLLER_CURRENT},
    .create = create_pid,
    .step = step,
    .destroy = destroy,
};

/* --- pi --- */

enum { PI_KP, PI_KI, PI_WEIGHT, PI_GAINS };

static int create_pi(void **controller, const double *gains, const struct controller_limits *limits,
                     double period_s)
{
    const struct gains named = {.kp = gains[PI_KP], .ki = gains[PI_KI], .weight = gains[PI_WEIGHT]};

    return create(controller, &named, limits, period_s);
}

/* With no derivative to damp the filter's resonance, the defaults keep well below it. */
static const struct hil_quantity pi_gains[PI_GAINS] = {
    {"kp_per_v", "1/V", 0.001, 0, 1e6, "proportional gain"},
    {"ki_per_v_s", "1/(V s)", 20, 0, 1e9, "integral gain"},
    {"setpoint_weight", "", 1, 0, 1, "share of the reference in the proportional part"},
};

const struct controller_law controller_pi = {
    .abi = CONTROLLER_ABI,
    .name = "pi",
    .doc = "PI with anti-windup",
    .gains = HIL_QUANTITIES(pi_gains),
    .inputs = {controller_inputs, CONTROLLER_CURRENT},
    .create = create_pi,
    .step = step,
    .destroy = destroy,
};

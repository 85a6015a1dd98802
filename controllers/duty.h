/* What the laws share: inputs, limits of the duty, integral action that respects them. */
#ifndef HILOCO_CONTROLLERS_DUTY_H
#define HILOCO_CONTROLLERS_DUTY_H

#include <math.h>
#include <stdbool.h>

#include "controller.h"

/* The rows of controller_inputs; a law that needs no current stops before it. */
enum { CONTROLLER_REFERENCE, CONTROLLER_VOLTAGE, CONTROLLER_CURRENT, CONTROLLER_INPUTS };

extern const struct hil_quantity controller_inputs[CONTROLLER_INPUTS];

/* Whether a law can be made at all for these. */
static inline bool duty_can_run(const struct controller_limits *limits, double period_s)
{
    return limits->duty_min >= 0 && limits->duty_min < limits->duty_max && limits->duty_max <= 1 &&
           period_s > 0 && isfinite(period_s);
}

/* A measurement that is not a number ends as the smallest duty: the least power. */
static inline double duty_clamp(const struct controller_limits *limits, double raw)
{
    if (!(raw > limits->duty_min))
        return limits->duty_min;
    return raw < limits->duty_max ? raw : limits->duty_max;
}

struct duty_integral {
    double value;
    double gain; /* of the error at each step: the integral gain times the period */
};

/*
 * Integrates the error, adds the law's other terms and clamps. The new integral is kept
 * unless the duty is beyond a limit and the error pushes it further: it does not wind up,
 * and it leaves the limit at the first step that asks for it.
 */
static inline double duty_integrate(struct duty_integral *integral,
                                    const struct controller_limits *limits, double error,
                                    double proportional, double other_terms)
{
    const double value = integral->value + integral->gain * error;
    const double raw = proportional + value + other_terms;
    const bool pushes_out =
        (raw > limits->duty_max && error > 0) || (raw < limits->duty_min && error < 0);

    if (!pushes_out)
        integral->value = value;
    return duty_clamp(limits, raw);
}

#endif

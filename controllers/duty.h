/* What the laws of converters share: inputs, the duty's limits, integral action within them. */
#ifndef HILOCO_CONTROLLERS_DUTY_H
#define HILOCO_CONTROLLERS_DUTY_H

#include <math.h>
#include <stdbool.h>

#include "../plants/instance.h"
#include "models.h"

/* The rows of duty_inputs; a law that needs no current stops before it. */
enum { DUTY_REFERENCE, DUTY_VOLTAGE, DUTY_CURRENT, DUTY_INPUTS };
enum { DUTY, DUTY_OUTPUTS };

extern const struct hil_quantity duty_inputs[DUTY_INPUTS];
extern const struct hil_quantity duty_outputs[DUTY_OUTPUTS];

/* The last rows of each law's parameters, in this order. */
#define DUTY_LIMIT_ROWS                                                                            \
    {"duty_min", "", 0, 0, 1, HIL_TUNABLE, "smallest duty cycle"},                                 \
    {                                                                                              \
        "duty_max", "", 1, 0, 1, HIL_TUNABLE, "largest duty cycle, above the smallest"             \
    }

struct duty_limits {
    double min, max;
};

/* Takes the limits from the last two of a law's parameters. Returns 0, or -EDOM if they make no
 * sense. */
int duty_limits_init(struct duty_limits *limits, const double *last_two,
                     const struct hil_config *config);

/* Sets the first of the limits or the second one. Returns 0, or -EDOM if they then make no sense.
 */
int duty_limits_tune(struct duty_limits *limits, uint32_t which, double value);

/* A measurement that is not a number ends as the smallest duty: the least power. */
static inline double duty_clamp(const struct duty_limits *limits, double raw)
{
    if (!(raw > limits->min))
        return limits->min;
    return raw < limits->max ? raw : limits->max;
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
                                    const struct duty_limits *limits, double error,
                                    double proportional, double other_terms)
{
    const double value = integral->value + integral->gain * error;
    const double raw = proportional + value + other_terms;
    const bool pushes_out = (raw > limits->max && error > 0) || (raw < limits->min && error < 0);

    if (!pushes_out)
        integral->value = value;
    return duty_clamp(limits, raw);
}

#endif

/* Parts that the converters' control laws share: their inputs, the limits of the duty, and integral
 * action within those limits. */
#ifndef HILOCO_CONTROLLERS_DUTY_H
#define HILOCO_CONTROLLERS_DUTY_H

#include <math.h>
#include <stdbool.h>

#include "../plants/instance.h"
#include "models.h"

/* The rows of duty_inputs. A law that needs no current uses only the rows before it. */
enum { DUTY_REFERENCE, DUTY_VOLTAGE, DUTY_CURRENT, DUTY_INPUTS };
enum { DUTY, DUTY_ENABLE, DUTY_OUTPUTS };

extern const struct hil_quantity duty_inputs[DUTY_INPUTS];
extern const struct hil_quantity duty_outputs[DUTY_OUTPUTS];

/* The last two rows of each law's parameters. */
#define DUTY_LIMIT_ROWS                                                                            \
    {"duty_min", "", 0, 0, 1, HIL_TUNABLE, "smallest duty cycle"},                                 \
    {                                                                                              \
        "duty_max", "", 1, 0, 1, HIL_TUNABLE, "largest duty cycle, above the smallest"             \
    }

struct duty_limits {
    double min, max;
};

/* Takes the limits from the last two of a law's parameters. Returns 0, or -EDOM if the upper limit
 * is not above the lower one. */
int duty_limits_init(struct duty_limits *limits, const double *last_two,
                     const struct hil_config *config);

/* Sets the lower limit (`which` 0) or the upper one (1). Returns 0, or -EDOM, with nothing changed,
 * if the upper limit would not be above the lower one. */
int duty_limits_tune(struct duty_limits *limits, uint32_t which, double value);

/* NaN (from a measurement that is not a number) becomes the smallest duty, which gives the least
 * power. */
static inline double duty_clamp(const struct duty_limits *limits, double raw)
{
    if (!(raw > limits->min))
        return limits->min;
    return raw < limits->max ? raw : limits->max;
}

struct duty_integral {
    double value;
    double gain; /* each step adds gain * error: the integral gain times the period */
};

/*
 * Integrates the error, adds the law's other terms, and clamps the sum. The new integral is dropped
 * if the duty is beyond a limit and the error pushes it further. So the integral does not wind up,
 * and the duty leaves the limit at the first step whose error calls for that.
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

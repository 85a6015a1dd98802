/*
 * The PID law. PI is the same law without the derivative:
 *
 *      u = Kp (b reference - y) + integral of Ki (reference - y) - Kd dy/dt, low-pass filtered
 *
 * The derivative is of only the measurement, so a step of the reference does not kick the output. A
 * weight b < 1 also softens the proportional part. The backward difference discretises the
 * derivative; it is stable for any filter time and period.
 */
#ifndef HILOCO_CONTROLLERS_PID_LAW_H
#define HILOCO_CONTROLLERS_PID_LAW_H

#include "duty.h"

/* The gains in continuous time. */
struct pid_gains {
    double kp, ki, kd, filter_s, weight;
};

/* The tables of the laws for any quantity. The tables of the converters' laws are in duty.h. */
extern const struct hil_quantity any_inputs[2], any_outputs[1];

#define ANY_LIMIT_ROWS                                                                             \
    {"output_min", "", -1, -1e12, 1e12, HIL_TUNABLE, "least output"},                              \
    {                                                                                              \
        "output_max", "", 1, -1e12, 1e12, HIL_TUNABLE, "greatest output, above the least"          \
    }

/* The functions of every model with the inputs reference and measurement, and one output. The
 * model's own create() takes the gains and limits from its table of parameters. pid_law_step_enable
 * is for the outputs of a converter's law. */
int pid_law_create(void **self, const struct pid_gains *gains, const struct duty_limits *limits,
                   const struct hil_config *config);
int pid_law_step(void *self, uint64_t t_ns, const double *in, double *out);
int pid_law_step_enable(void *self, uint64_t t_ns, const double *in, double *out);

/* Steps `count` components, whose inputs and outputs follow one another. Their models all have
 * pid_law_step, or pid_law_step_enable, and the numbers are the same as from that. */
void pid_law_step_row(void *const *selves, unsigned count, const double *in, double *out);
void pid_law_step_enable_row(void *const *selves, unsigned count, const double *in, double *out);

/* For tune(). Tuning leaves the accumulated integral as it is. */
enum pid_number {
    PID_LAW_KP,
    PID_LAW_KI,
    PID_LAW_KD,
    PID_LAW_FILTER,
    PID_LAW_WEIGHT,
    PID_LAW_MIN,
    PID_LAW_MAX
};
int pid_law_tune(void *self, enum pid_number number, double value);

void pid_law_numbers(void *self, hil_numbers_fn *each, void *arg);

#endif

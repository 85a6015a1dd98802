#include "pid_law.h"

const struct hil_quantity any_inputs[] = {
    {"reference", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what the measurement should be"},
    {"measurement", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "newest measurement"},
};

const struct hil_quantity any_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "what the plant is given"},
};

struct pid_law {
    struct duty_integral integral;
    struct duty_limits limits;
    double kp, weight;

    /* derivative = keep derivative - slope (y - y_before) */
    double derivative, keep, slope;
    double y_before;
    bool stepped; /* y_before is valid */

    struct pid_gains gains;
    double period_s;
};

/* Computes the numbers that a step needs from the gains. */
static void pid_law_discretise(struct pid_law *law)
{
    const struct pid_gains *gains = &law->gains;

    law->integral.gain = gains->ki * law->period_s;
    law->kp = gains->kp;
    law->weight = gains->weight;
    law->keep = gains->filter_s / (gains->filter_s + law->period_s);
    law->slope = gains->kd / (gains->filter_s + law->period_s);
}

int pid_law_create(void **self, const struct pid_gains *gains, const struct duty_limits *limits,
                   const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct pid_law));

    if (rc)
        return rc;
    struct pid_law *law = *self;
    *law = (struct pid_law){.limits = *limits, .gains = *gains, .period_s = config->period_s};
    pid_law_discretise(law);
    return 0;
}

int pid_law_tune(void *self, enum pid_number number, double value)
{
    struct pid_law *law = self;
    double *const gains[] = {
        [PID_LAW_KP] = &law->gains.kp,         [PID_LAW_KI] = &law->gains.ki,
        [PID_LAW_KD] = &law->gains.kd,         [PID_LAW_FILTER] = &law->gains.filter_s,
        [PID_LAW_WEIGHT] = &law->gains.weight,
    };

    if (number >= PID_LAW_MIN)
        return duty_limits_tune(&law->limits, number - PID_LAW_MIN, value);
    *gains[number] = value;
    pid_law_discretise(law);
    return 0;
}

static inline double pid_law_compute(struct pid_law *law, double reference, double y)
{
    if (law->stepped)
        law->derivative = law->keep * law->derivative - law->slope * (y - law->y_before);
    law->y_before = y;
    law->stepped = true;

    const double proportional = law->kp * (law->weight * reference - y);
    return duty_integrate(&law->integral, &law->limits, reference - y, proportional,
                          law->derivative);
}

int pid_law_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    (void)t_ns;
    out[0] = pid_law_compute(self, in[0], in[1]);
    return 0;
}

int pid_law_step_enable(void *self, uint64_t t_ns, const double *in, double *out)
{
    (void)t_ns;
    out[DUTY] = pid_law_compute(self, in[DUTY_REFERENCE], in[DUTY_VOLTAGE]);
    out[DUTY_ENABLE] = 1;
    return 0;
}

void pid_law_step_row(void *const *selves, unsigned count, const double *in, double *out)
{
    for (unsigned i = 0; i < count; i++, in += 2)
        out[i] = pid_law_compute(selves[i], in[0], in[1]);
}

void pid_law_step_enable_row(void *const *selves, unsigned count, const double *in, double *out)
{
    for (unsigned i = 0; i < count; i++, in += 2, out += DUTY_OUTPUTS) {
        out[DUTY] = pid_law_compute(selves[i], in[DUTY_REFERENCE], in[DUTY_VOLTAGE]);
        out[DUTY_ENABLE] = 1;
    }
}

void pid_law_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct pid_law *law = self;

    each(arg, &law->integral.value, 1);
    each(arg, &law->derivative, 1);
    each(arg, &law->y_before, 1);
}

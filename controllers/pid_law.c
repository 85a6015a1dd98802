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
    bool stepped; /* there is a y_before */
};

int pid_law_create(void **self, const struct pid_gains *gains, const struct duty_limits *limits,
                   const struct hil_config *config)
{
    const double period_s = config->period_s;
    int rc = instance_create(self, config, sizeof(struct pid_law));

    if (rc)
        return rc;
    *(struct pid_law *)*self = (struct pid_law){
        .integral = {.gain = gains->ki * period_s},
        .limits = *limits,
        .kp = gains->kp,
        .weight = gains->weight,
        .keep = gains->filter_s / (gains->filter_s + period_s),
        .slope = gains->kd / (gains->filter_s + period_s),
    };
    return 0;
}

int pid_law_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct pid_law *law = self;
    const double reference = in[0], y = in[1];

    (void)t_ns;
    if (law->stepped)
        law->derivative = law->keep * law->derivative - law->slope * (y - law->y_before);
    law->y_before = y;
    law->stepped = true;

    const double proportional = law->kp * (law->weight * reference - y);
    out[0] =
        duty_integrate(&law->integral, &law->limits, reference - y, proportional, law->derivative);
    return 0;
}

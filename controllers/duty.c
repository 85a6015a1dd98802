#include "duty.h"

#include <errno.h>

const struct hil_quantity duty_inputs[DUTY_INPUTS] = {
    {"reference_v", "V", 0, -INFINITY, INFINITY, HIL_REQUIRED, "voltage to give"},
    {"voltage_v", "V", 0, -INFINITY, INFINITY, HIL_REQUIRED, "newest voltage"},
    {"current_a", "A", 0, -INFINITY, INFINITY, HIL_REQUIRED, "newest inductor current"},
};

const struct hil_quantity duty_outputs[DUTY_OUTPUTS] = {
    {"duty", "", 0, 0, 1, 0, "share of the switching period with the main switch on"},
    {"enable", "", 1, 0, 1, HIL_ENABLE, "1 while the law computes the duty, 0 when it is safe"},
};

int duty_limits_init(struct duty_limits *limits, const double *last_two,
                     const struct hil_config *config)
{
    *limits = (struct duty_limits){last_two[0], last_two[1]};
    if (!(limits->min < limits->max)) {
        config->log(config->log_arg, "the upper limit is not above the lower one");
        return -EDOM;
    }
    return 0;
}

int duty_limits_tune(struct duty_limits *limits, uint32_t which, double value)
{
    const struct duty_limits tuned = {which == 0 ? value : limits->min,
                                      which == 0 ? limits->max : value};

    if (which > 1 || !(tuned.min < tuned.max))
        return -EDOM;
    *limits = tuned;
    return 0;
}

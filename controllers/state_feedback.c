/*
 * State feedback with integral action:
 *
 *      duty = integral of Ki (Vref - V) - Kv V - Kc iL
 *
 * The feedback of the current is what damps the output filter; the integral alone brings
 * the voltage to its reference, so the operating point need not be known.
 */
#include <errno.h>
#include <stdlib.h>

#include "duty.h"
#include "laws.h"

enum { K_VOLTAGE, K_CURRENT, K_INTEGRAL, GAINS };

struct state_feedback {
    struct duty_integral integral;
    struct controller_limits limits;
    double k_voltage, k_current;
};

static int create(void **controller, const double *gains, const struct controller_limits *limits,
                  double period_s)
{
    if (!duty_can_run(limits, period_s))
        return -EDOM;

    struct state_feedback *made = malloc(sizeof(*made));
    if (!made)
        return -ENOMEM;

    *made = (struct state_feedback){
        .integral = {.gain = gains[K_INTEGRAL] * period_s},
        .limits = *limits,
        .k_voltage = gains[K_VOLTAGE],
        .k_current = gains[K_CURRENT],
    };
    *controller = made;
    return 0;
}

static double step(void *controller, const double *in)
{
    struct state_feedback *law = controller;
    const double feedback =
        law->k_voltage * in[CONTROLLER_VOLTAGE] + law->k_current * in[CONTROLLER_CURRENT];

    return duty_integrate(&law->integral, &law->limits,
                          in[CONTROLLER_REFERENCE] - in[CONTROLLER_VOLTAGE], -feedback, 0);
}

static void destroy(void *controller)
{
    free(controller);
}

/* The defaults damp the reference buck at controller periods of 10 to 40 us. */
static const struct hil_quantity gains_table[GAINS] = {
    {"k_voltage_per_v", "1/V", 0.008, -1e6, 1e6, "feedback of the voltage"},
    {"k_current_per_a", "1/A", 0.008, -1e6, 1e6, "feedback of the inductor current"},
    {"ki_per_v_s", "1/(V s)", 80, 0, 1e9, "integral gain"},
};

const struct controller_law controller_state_feedback = {
    .abi = CONTROLLER_ABI,
    .name = "state_feedback",
    .doc = "Feedback of voltage and current with integral action, and anti-windup",
    .gains = HIL_QUANTITIES(gains_table),
    .inputs = HIL_QUANTITIES(controller_inputs),
    .create = create,
    .step = step,
    .destroy = destroy,
};

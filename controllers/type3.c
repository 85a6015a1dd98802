/*
 * The type III compensator of voltage-mode converters:
 *
 *                  (1 + s/wz1) (1 + s/wz2)
 *      C(s) = Kc -------------------------
 *                s (1 + s/wp1) (1 + s/wp2)
 *
 * by the bilinear transform s = (2/T) (1 - q) / (1 + q), q the delay of one step, in
 * direct form I. The duties it remembers are the clamped ones: that is its anti-windup.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "duty.h"
#include "laws.h"

enum { KC, ZERO1, ZERO2, POLE1, POLE2, GAINS };
enum { ORDER = 3 };

struct type3 {
    /* duty = sum of b[i] error[i] - sum of a[i] duty[i], i steps back; a[0] is 1 */
    double b[ORDER + 1], a[ORDER + 1];
    double error[ORDER + 1], duty[ORDER + 1];
    struct controller_limits limits;
};

/* Multiplies a polynomial in q, of degree below ORDER, by c0 + c1 q. */
static void multiply(double polynomial[ORDER + 1], double c0, double c1)
{
    for (int i = ORDER; i > 0; i--)
        polynomial[i] = c0 * polynomial[i] + c1 * polynomial[i - 1];
    polynomial[0] *= c0;
}

/* By 1 + s/w; its denominator 1 + q is left to the caller. */
static void multiply_corner(double polynomial[ORDER + 1], double rad_per_s, double period_s)
{
    const double k = 2 / (period_s * rad_per_s);

    multiply(polynomial, 1 + k, 1 - k);
}

static void discretise(struct type3 *law, const double *gains, double period_s)
{
    double b[ORDER + 1] = {gains[KC]}, a[ORDER + 1] = {2 / period_s};

    multiply_corner(b, gains[ZERO1], period_s);
    multiply_corner(b, gains[ZERO2], period_s);
    multiply(b, 1, 1); /* three denominators 1 + q below, two above */

    multiply(a, 1, -1);
    multiply_corner(a, gains[POLE1], period_s);
    multiply_corner(a, gains[POLE2], period_s);

    for (int i = 0; i <= ORDER; i++) {
        law->b[i] = b[i] / a[0];
        law->a[i] = a[i] / a[0];
    }
}

static int create(void **controller, const double *gains, const struct controller_limits *limits,
                  double period_s)
{
    if (!duty_can_run(limits, period_s))
        return -EDOM;

    struct type3 *made = calloc(1, sizeof(*made));
    if (!made)
        return -ENOMEM;

    made->limits = *limits;
    discretise(made, gains, period_s);
    *controller = made;
    return 0;
}

static void shift(double history[ORDER + 1])
{
    memmove(&history[1], &history[0], ORDER * sizeof(history[0]));
}

static double step(void *controller, const double *in)
{
    struct type3 *law = controller;

    shift(law->error);
    shift(law->duty);
    law->error[0] = in[CONTROLLER_REFERENCE] - in[CONTROLLER_VOLTAGE];

    double raw = law->b[0] * law->error[0];
    for (int i = 1; i <= ORDER; i++)
        raw += law->b[i] * law->error[i] - law->a[i] * law->duty[i];

    law->duty[0] = duty_clamp(&law->limits, raw);
    return law->duty[0];
}

static void destroy(void *controller)
{
    free(controller);
}

static const struct hil_quantity gains_table[GAINS] = {
    {"kc_per_v_s", "1/(V s)", 140, 0, 1e9, "gain of the integrator"},
    {"zero1_rad_per_s", "rad/s", 4900, 1e-3, 1e12, "first zero"},
    {"zero2_rad_per_s", "rad/s", 5600, 1e-3, 1e12, "second zero"},
    {"pole1_rad_per_s", "rad/s", 1.4e5, 1e-3, 1e12, "first pole"},
    {"pole2_rad_per_s", "rad/s", 5.2e5, 1e-3, 1e12, "second pole"},
};

const struct controller_law controller_type3 = {
    .abi = CONTROLLER_ABI,
    .name = "type3",
    .doc = "Type III compensator, bilinear",
    .gains = HIL_QUANTITIES(gains_table),
    .inputs = {controller_inputs, CONTROLLER_CURRENT},
    .create = create,
    .step = step,
    .destroy = destroy,
};

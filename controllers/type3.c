/*
 * The type III compensator of voltage-mode converters:
 *
 *                  (1 + s/wz1) (1 + s/wz2)
 *      C(s) = Kc -------------------------
 *                s (1 + s/wp1) (1 + s/wp2)
 *
 * with the bilinear transform s = (2/T) (1 - q) / (1 + q), where q is the delay of one step, in
 * direct form I. The remembered duties are the clamped ones, which prevents windup.
 */
#include <string.h>

#include "duty.h"

enum { KC, ZERO1, ZERO2, POLE1, POLE2, LIMITS };
enum { ORDER = 3 };

struct type3 {
    /* duty = sum of b[i] error[i] - sum of a[i] duty[i], where [i] is i steps back; a[0] is 1 */
    double b[ORDER + 1], a[ORDER + 1];
    double error[ORDER + 1], duty[ORDER + 1];
    struct duty_limits limits;
    double gains[LIMITS], period_s;
};

/* Multiplies a polynomial in q, of degree below ORDER, by c0 + c1 q. */
static void type3_multiply(double polynomial[ORDER + 1], double c0, double c1)
{
    for (int i = ORDER; i > 0; i--)
        polynomial[i] = c0 * polynomial[i] + c1 * polynomial[i - 1];
    polynomial[0] *= c0;
}

/* Multiplies by the numerator of 1 + s/w. The caller accounts for its denominator 1 + q. */
static void type3_multiply_corner(double polynomial[ORDER + 1], double rad_per_s, double period_s)
{
    const double k = 2 / (period_s * rad_per_s);

    type3_multiply(polynomial, 1 + k, 1 - k);
}

static void type3_discretise(struct type3 *law)
{
    const double *gains = law->gains, period_s = law->period_s;
    double b[ORDER + 1] = {gains[KC]}, a[ORDER + 1] = {2 / period_s};

    type3_multiply_corner(b, gains[ZERO1], period_s);
    type3_multiply_corner(b, gains[ZERO2], period_s);
    type3_multiply(b, 1, 1); /* a has three denominators 1 + q, b only two */

    type3_multiply(a, 1, -1);
    type3_multiply_corner(a, gains[POLE1], period_s);
    type3_multiply_corner(a, gains[POLE2], period_s);

    for (int i = 0; i <= ORDER; i++) {
        law->b[i] = b[i] / a[0];
        law->a[i] = a[i] / a[0];
    }
}

static int type3_create(void **self, const struct hil_config *config)
{
    struct duty_limits limits;
    int rc = duty_limits_init(&limits, &config->parameters[LIMITS], config);

    if (!rc)
        rc = instance_create(self, config, sizeof(struct type3));
    if (rc)
        return rc;
    struct type3 *made = *self;
    made->limits = limits;
    made->period_s = config->period_s;
    memcpy(made->gains, config->parameters, sizeof made->gains);
    type3_discretise(made);
    return 0;
}

static int type3_tune(void *self, uint32_t place, double value)
{
    struct type3 *law = self;

    if (place >= LIMITS)
        return duty_limits_tune(&law->limits, place - LIMITS, value);
    law->gains[place] = value;
    type3_discretise(law);
    return 0;
}

static void type3_shift(double history[ORDER + 1])
{
    memmove(&history[1], &history[0], ORDER * sizeof(history[0]));
}

static int type3_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct type3 *law = self;

    (void)t_ns;
    type3_shift(law->error);
    type3_shift(law->duty);
    law->error[0] = in[DUTY_REFERENCE] - in[DUTY_VOLTAGE];

    double raw = law->b[0] * law->error[0];
    for (int i = 1; i <= ORDER; i++)
        raw += law->b[i] * law->error[i] - law->a[i] * law->duty[i];

    law->duty[0] = duty_clamp(&law->limits, raw);
    out[DUTY] = law->duty[0];
    out[DUTY_ENABLE] = 1;
    return 0;
}

static void type3_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct type3 *p = self;

    each(arg, p->error, ORDER + 1);
    each(arg, p->duty, ORDER + 1);
}

static const struct hil_quantity type3_parameters[] = {
    {"kc_per_v_s", "1/(V s)", 140, 0, 1e9, HIL_TUNABLE, "gain of the integrator"},
    {"zero1_rad_per_s", "rad/s", 4900, 1e-3, 1e12, HIL_TUNABLE, "first zero"},
    {"zero2_rad_per_s", "rad/s", 5600, 1e-3, 1e12, HIL_TUNABLE, "second zero"},
    {"pole1_rad_per_s", "rad/s", 1.4e5, 1e-3, 1e12, HIL_TUNABLE, "first pole"},
    {"pole2_rad_per_s", "rad/s", 5.2e5, 1e-3, 1e12, HIL_TUNABLE, "second pole"},
    DUTY_LIMIT_ROWS,
};

const struct hil_model model_type3 = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "type3",
    .doc = "Type III compensator, bilinear",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(type3_parameters),
    .inputs = HIL_FIRST_QUANTITIES(duty_inputs, DUTY_CURRENT),
    .outputs = HIL_QUANTITIES(duty_outputs),
    .create = type3_create,
    .step = type3_step,
    .destroy = instance_destroy,
    .numbers = type3_numbers,
    .tune = type3_tune,
};

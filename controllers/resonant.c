/*
 * A proportional and resonant law, for signals that alternate:
 *
 *      output = kp e + kr 2 w_c s / (s^2 + 2 w_c s + w_0^2) e,     e = reference - measurement
 *
 * At the frequency w_0 its gain is kp + kr, and w_c is half the width of the peak. The resonant
 * part is discretised by the trapezoidal rule, warped so that the peak stays where it is.
 */
#include <errno.h>
#include <math.h>

#include "../plants/instance.h"
#include "models.h"

enum { RESONANT_KP, RESONANT_KR, RESONANT_FREQUENCY, RESONANT_HALF_WIDTH };

struct resonant {
    double kp, b0, a1, a2; /* of the resonant part: b0 (1 - z^-2) / (1 + a1 z^-1 + a2 z^-2) */
    double s1, s2;         /* its memory */
};

static int resonant_create(void **self, const struct hil_config *config)
{
    static const double PI = 3.14159265358979323846;
    const double *p = config->parameters;
    const double w0 = 2 * PI * p[RESONANT_FREQUENCY], wc = 2 * PI * p[RESONANT_HALF_WIDTH];

    if (!(w0 * config->period_s < PI)) {
        config->log(config->log_arg, "frequency_hz is not below half of the steps' frequency");
        return -EDOM;
    }
    int rc = instance_create(self, config, sizeof(struct resonant));
    if (rc)
        return rc;
    struct resonant *r = *self;
    const double k = w0 / tan(w0 * config->period_s / 2);
    const double scale = k * k + 2 * wc * k + w0 * w0;
    *r = (struct resonant){.kp = p[RESONANT_KP],
                           .b0 = p[RESONANT_KR] * 2 * wc * k / scale,
                           .a1 = 2 * (w0 * w0 - k * k) / scale,
                           .a2 = (k * k - 2 * wc * k + w0 * w0) / scale};
    return 0;
}

static int resonant_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct resonant *r = self;
    const double e = in[0] - in[1], y = r->b0 * e + r->s1;

    (void)t_ns;
    r->s1 = r->s2 - r->a1 * y;
    r->s2 = -r->b0 * e - r->a2 * y;
    out[0] = r->kp * e + y;
    return 0;
}

static void resonant_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct resonant *p = self;

    each(arg, &p->s1, 1);
    each(arg, &p->s2, 1);
}

static const struct hil_quantity resonant_parameters[] = {
    {"kp", "", 1, -1e12, 1e12, 0, "proportional gain"},
    {"kr", "", 10, -1e12, 1e12, 0, "further gain at the frequency"},
    {"frequency_hz", "Hz", 50, 1e-3, 1e9, 0, "where the gain is greatest"},
    {"half_width_hz", "Hz", 0.5, 1e-6, 1e9, 0, "this far from there the further gain is kr / 1.41"},
};

static const struct hil_quantity resonant_inputs[] = {
    {"reference", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what the measurement should be"},
    {"measurement", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what it is"},
};

static const struct hil_quantity resonant_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the sum of both parts"},
};

const struct hil_model model_resonant = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "resonant",
    .doc = "Proportional and resonant law",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(resonant_parameters),
    .inputs = HIL_QUANTITIES(resonant_inputs),
    .outputs = HIL_QUANTITIES(resonant_outputs),
    .create = resonant_create,
    .step = resonant_step,
    .destroy = instance_destroy,
    .numbers = resonant_numbers,
};

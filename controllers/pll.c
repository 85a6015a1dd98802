/*
 * A phase-locked loop in the turning frame. It turns alpha and beta by its own angle, as Park's
 * transform does, and a PI law of the q part, divided by the amplitude, makes its frequency:
 *
 *      e = q / sqrt(d^2 + q^2)     w = 2 pi centre_frequency_hz + kp e + ki integral of e
 *
 * Near the lock e is the error of the angle in rad, so kp and ki are those of a loop of second
 * order: ki = w_n^2, kp = 2 damping w_n. It is locked when |e| has been below lock_error_rad for
 * lock_time_s.
 */
#include <math.h>

#include "../plants/instance.h"
#include "models.h"

enum { PLL_FREQUENCY, PLL_KP, PLL_KI, PLL_LOCK_ERROR, PLL_LOCK_TIME };

static const double TURN = 6.28318530717958647693;

struct pll {
    double period_s, nominal, kp, ki, lock_error, lock_time_s;
    double angle, integral, near_s; /* near_s: how long |e| has been small */
};

static int pll_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    int rc = instance_create(self, config, sizeof(struct pll));

    if (rc)
        return rc;
    *(struct pll *)*self = (struct pll){.period_s = config->period_s,
                                        .nominal = TURN * p[PLL_FREQUENCY],
                                        .kp = p[PLL_KP],
                                        .ki = p[PLL_KI],
                                        .lock_error = p[PLL_LOCK_ERROR],
                                        .lock_time_s = p[PLL_LOCK_TIME]};
    return 0;
}

static int pll_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct pll *l = self;
    const double c = cos(l->angle), s = sin(l->angle);
    const double d = in[0] * c + in[1] * s, q = in[1] * c - in[0] * s;
    const double amplitude = sqrt(d * d + q * q);
    const double e = amplitude > 0 ? q / amplitude : 0;

    (void)t_ns;
    l->integral += l->ki * e * l->period_s;
    const double w = l->nominal + l->kp * e + l->integral;
    l->near_s = amplitude > 0 && d > 0 && fabs(e) < l->lock_error ? l->near_s + l->period_s : 0;
    out[0] = l->angle;
    out[1] = w / TURN;
    out[2] = amplitude;
    out[3] = l->near_s > l->lock_time_s;
    l->angle = fmod(l->angle + w * l->period_s, TURN);
    if (l->angle < 0)
        l->angle += TURN;
    return 0;
}

static void pll_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct pll *p = self;

    each(arg, &p->angle, 1);
    each(arg, &p->integral, 1);
}

static const struct hil_quantity pll_parameters[] = {
    {"centre_frequency_hz", "Hz", 50, -1e6, 1e6, 0, "where it begins"},
    {"kp_per_s", "1/s", 178, 0, 1e9, 0, "proportional gain"},
    {"ki_per_s2", "1/s2", 15791, 0, 1e12, 0, "integral gain"},
    {"lock_error_rad", "rad", 0.05, 1e-9, 1, 0, "an error below this is small"},
    {"lock_time_s", "s", 0.01, 0, 1e6, 0, "it is locked when the error has been small for so long"},
};

static const struct hil_quantity pll_inputs[] = {
    {"alpha", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "along phase 1"},
    {"beta", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "a quarter turn ahead"},
};

static const struct hil_quantity pll_outputs[] = {
    {"angle_rad", "rad", 0, -INFINITY, INFINITY, 0, "angle of the vector, 0 to 2 pi"},
    {"frequency_hz", "Hz", 0, -INFINITY, INFINITY, 0, "how fast it turns"},
    {"amplitude", "", 0, -INFINITY, INFINITY, 0, "length of the vector"},
    {"locked", "", 0, -INFINITY, INFINITY, 0, "1 if it is locked, else 0"},
};

const struct hil_model model_pll = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "pll",
    .doc = "Phase-locked loop",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(pll_parameters),
    .inputs = HIL_QUANTITIES(pll_inputs),
    .outputs = HIL_QUANTITIES(pll_outputs),
    .create = pll_create,
    .step = pll_step,
    .destroy = instance_destroy,
    .numbers = pll_numbers,
};

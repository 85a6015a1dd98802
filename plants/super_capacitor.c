/*
 * A super-capacitor of two branches and a leak (Zubieta and Bonert, Characterization of
 * double-layer capacitors for power electronics applications, IEEE Transactions on Industry
 * Applications 36, 2000, without its slowest branch):
 *
 *      v  = v1 - R1 i                              i flows out of it
 *      (C0 + K v1) v1' = -i - v1 / leak - (v1 - v2) / R2
 *      C2 v2' = (v1 - v2) / R2
 *
 * C0 + K v1 is the derivative of the charge C0 v1 + K v1^2 / 2. It does not go below C0 / 10 where
 * v1 is negative. The method of ode.h solves the equations.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "instance.h"
#include "models.h"
#include "ode.h"

enum { SC_C0, SC_K, SC_R1, SC_R2, SC_C2, SC_LEAK, SC_PARAMETERS };
enum { SC_V1, SC_V2, SC_STATES };

struct super_capacitor {
    double x[SC_STATES];
    double parameters[SC_PARAMETERS];
    double period_s;
};

static double super_capacitance(const double *p, double v)
{
    return fmax(p[SC_C0] + p[SC_K] * v, p[SC_C0] / 10);
}

static void super_slope(const void *plant, const double *x, const double *in, double *slope)
{
    const double *p = ((const struct super_capacitor *)plant)->parameters;
    const double over = (x[SC_V1] - x[SC_V2]) / p[SC_R2];

    slope[SC_V1] = -(in[0] + x[SC_V1] / p[SC_LEAK] + over) / super_capacitance(p, x[SC_V1]);
    slope[SC_V2] = over / p[SC_C2];
}

static double super_fastest(const double *p)
{
    const double least_f = p[SC_C0] / 10;

    return 1 / (p[SC_R2] * p[SC_C2]) + 1 / (p[SC_R2] * least_f) + 1 / (p[SC_LEAK] * least_f);
}

static int super_create(void **self, const struct hil_config *config)
{
    const double fastest = super_fastest(config->parameters);

    if (!ode_parts(config->period_s, fastest)) {
        ode_say_fast(config, fastest);
        return -EDOM;
    }
    int rc = instance_create(self, config, sizeof(struct super_capacitor));
    if (rc)
        return rc;
    struct super_capacitor *s = *self;
    memcpy(s->x, config->states, sizeof s->x);
    memcpy(s->parameters, config->parameters, sizeof s->parameters);
    s->period_s = config->period_s;
    return 0;
}

static int super_tune(void *self, uint32_t place, double value)
{
    struct super_capacitor *s = self;
    double tuned[SC_PARAMETERS];

    memcpy(tuned, s->parameters, sizeof tuned);
    tuned[place] = value;
    if (!ode_parts(s->period_s, super_fastest(tuned)))
        return -EDOM;
    s->parameters[place] = value;
    return 0;
}

static int super_output(const void *self, const double *in, double *out)
{
    const struct super_capacitor *s = self;
    const double *p = s->parameters, v1 = s->x[SC_V1], v2 = s->x[SC_V2];

    out[0] = v1 - p[SC_R1] * in[0];
    out[1] = v1;
    out[2] = v1 * v1 * (p[SC_C0] / 2 + p[SC_K] * v1 / 3) + p[SC_C2] * v2 * v2 / 2;
    return 0;
}

static int super_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct super_capacitor *s = self;

    (void)t_ns;
    ode_advance(super_slope, s, SC_STATES, s->x, in, s->period_s,
                ode_parts(s->period_s, super_fastest(s->parameters)));
    return super_output(self, in, out);
}

static void super_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct super_capacitor *p = self;

    each(arg, p->x, SC_STATES);
}

static const struct hil_quantity super_parameters[] = {
    {"capacitance_f", "F", 270, 1e-6, 1e6, HIL_TUNABLE | HIL_SPREAD, "of the fast branch at 0 V"},
    {"capacitance_f_per_v", "F/V", 190, 0, 1e6, HIL_TUNABLE | HIL_SPREAD,
     "by which it grows with its voltage"},
    {"resistance_ohm", "Ohm", 2.5e-3, 0, 1e6, HIL_TUNABLE | HIL_SPREAD, "of the fast branch"},
    {"slow_resistance_ohm", "Ohm", 0.9, 1e-6, 1e9, HIL_TUNABLE | HIL_SPREAD, "of the slow branch"},
    {"slow_capacitance_f", "F", 100, 1e-6, 1e6, HIL_TUNABLE | HIL_SPREAD, "of the slow branch"},
    {"leak_ohm", "Ohm", 9e3, 1e-3, 1e12, HIL_TUNABLE | HIL_SPREAD, "across it"},
};

static const struct hil_quantity super_inputs[] = {
    {"current_a", "A", 0, -1e6, 1e6, HIL_REQUIRED, "that it gives; negative charges it"},
};

static const struct hil_quantity super_outputs[] = {
    {"voltage_v", "V", 0, -INFINITY, INFINITY, 0, "at the terminals"},
    {"inner_voltage_v", "V", 0, -INFINITY, INFINITY, 0, "of the fast branch"},
    {"energy_j", "J", 0, -INFINITY, INFINITY, 0, "in both branches"},
};

static const struct hil_quantity super_states[] = {
    {"inner_voltage_v", "V", 0, -1e6, 1e6, 0, "of the fast branch"},
    {"slow_voltage_v", "V", 0, -1e6, 1e6, 0, "of the slow branch"},
};

const struct hil_model model_super_capacitor = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "super_capacitor",
    .doc = "Super-capacitor whose capacitance grows with its voltage",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(super_parameters),
    .inputs = HIL_QUANTITIES(super_inputs),
    .outputs = HIL_QUANTITIES(super_outputs),
    .states = HIL_QUANTITIES(super_states),
    .create = super_create,
    .output = super_output,
    .step = super_step,
    .destroy = instance_destroy,
    .numbers = super_numbers,
    .tune = super_tune,
};

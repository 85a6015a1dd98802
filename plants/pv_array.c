/*
 * A photovoltaic array with the capacitor at its terminals: a single diode, with the voltage vd
 * across it (Villalva, Gazoli, Filho, Comprehensive approach to modeling and simulation of
 * photovoltaic arrays, IEEE Transactions on Power Electronics 24, 2009):
 *
 *      ip = Ip - I0 (exp(vd / a) - 1) - vd / Rp       v = vd - Rs ip        C v' = ip - i
 *      a  = ideality x cells x k T / q
 *      Ip = (Isc (Rs + Rp) / Rp + KI (T - 298.15 K)) irradiance / 1000 W/m2
 *      I0 = (Isc + KI (T - 298.15 K)) / (exp((Voc + KV (T - 298.15 K)) / a) - 1)
 *
 * As v is a function of vd, vd is the state, and nothing has to be iterated. More current than the
 * array gives goes through its bypass diodes: vd does not go below 0. The method of ode.h solves
 * the equations.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "instance.h"
#include "models.h"
#include "ode.h"

enum { PV_ISC, PV_VOC, PV_KI, PV_KV, PV_CELLS, PV_IDEALITY, PV_RS, PV_RP, PV_C, PV_PARAMETERS };
enum { PV_CURRENT, PV_IRRADIANCE, PV_TEMPERATURE };

static const double PV_KELVIN_AT_25 = 298.15, PV_KELVIN_AT_0 = 273.15;
static const double PV_V_PER_K = 8.617333262e-5; /* k / q */

/* The diode for a temperature and an irradiance. */
struct pv_diode {
    double photo_a, leak_a, scale_v;
};

struct pv {
    double parameters[PV_PARAMETERS];
    double diode_v; /* vd */
    double period_s;
    hil_log_fn *log;
    void *log_arg;
};

static struct pv_diode pv_diode(const double *p, const double *in)
{
    const double kelvin = in[PV_TEMPERATURE] + PV_KELVIN_AT_0, warmer = kelvin - PV_KELVIN_AT_25;
    const double scale_v = p[PV_IDEALITY] * p[PV_CELLS] * PV_V_PER_K * kelvin;
    const double open_v = fmax(p[PV_VOC] + p[PV_KV] * warmer, 1e-3);
    const double photo_a = p[PV_ISC] * (p[PV_RS] + p[PV_RP]) / p[PV_RP] + p[PV_KI] * warmer;

    return (struct pv_diode){
        .photo_a = fmax(photo_a, 0) * in[PV_IRRADIANCE] / 1000,
        .leak_a = fmax(p[PV_ISC] + p[PV_KI] * warmer, 0) / expm1(open_v / scale_v),
        .scale_v = scale_v,
    };
}

static double pv_current(const double *p, const struct pv_diode *d, double vd)
{
    return d->photo_a - d->leak_a * expm1(vd / d->scale_v) - vd / p[PV_RP];
}

/* How much less current flows for a higher vd. */
static double pv_conductance(const double *p, const struct pv_diode *d, double vd)
{
    return d->leak_a / d->scale_v * exp(vd / d->scale_v) + 1 / p[PV_RP];
}

static void pv_slope(const void *plant, const double *x, const double *in, double *slope)
{
    const double *p = ((const struct pv *)plant)->parameters;
    const struct pv_diode d = pv_diode(p, in);

    slope[0] = (pv_current(p, &d, x[0]) - in[PV_CURRENT]) /
               (p[PV_C] * (1 + p[PV_RS] * pv_conductance(p, &d, x[0])));
}

/* vd moves towards where the array gives the current, so it is fastest at the end of the way that
 * has the higher voltage. */
static double pv_fastest(const struct pv *pv, const double *in)
{
    const double *p = pv->parameters;
    const struct pv_diode d = pv_diode(p, in);
    const double rest_a = fmax(d.photo_a - in[PV_CURRENT], 0);
    const double highest = fmax(pv->diode_v, d.scale_v * log1p(rest_a / fmax(d.leak_a, 1e-300)));
    const double g = pv_conductance(p, &d, highest);

    return 1 / (p[PV_C] * (isfinite(g) ? 1 / g + p[PV_RS] : p[PV_RS]));
}

static int pv_create(void **self, const struct hil_config *config)
{
    static const double standard[] = {0, 1000, 25};
    int rc = instance_create(self, config, sizeof(struct pv));

    if (rc)
        return rc;
    struct pv *pv = *self;
    memcpy(pv->parameters, config->parameters, sizeof pv->parameters);
    pv->diode_v = config->states[0];
    pv->period_s = config->period_s;
    pv->log = config->log;
    pv->log_arg = config->log_arg;
    if (ode_parts(pv->period_s, pv_fastest(pv, standard)))
        return 0;
    ode_say_fast(config, pv_fastest(pv, standard));
    instance_destroy(pv);
    *self = NULL;
    return -EDOM;
}

static int pv_tune(void *self, uint32_t place, double value)
{
    ((struct pv *)self)->parameters[place] = value;
    return 0;
}

static int pv_output(const void *self, const double *in, double *out)
{
    const struct pv *pv = self;
    const struct pv_diode d = pv_diode(pv->parameters, in);
    const double current = pv_current(pv->parameters, &d, pv->diode_v);

    out[0] = pv->diode_v - pv->parameters[PV_RS] * current;
    out[1] = current;
    out[2] = out[0] * current;
    return 0;
}

static int pv_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct pv *pv = self;
    const unsigned parts = ode_parts(pv->period_s, pv_fastest(pv, in));

    (void)t_ns;
    if (!parts) {
        pv->log(pv->log_arg, "its capacitor is too small for the period");
        return -ERANGE;
    }
    ode_advance(pv_slope, pv, 1, &pv->diode_v, in, pv->period_s, parts);
    pv->diode_v = fmax(pv->diode_v, 0);
    return pv_output(self, in, out);
}

static void pv_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct pv *p = self;

    each(arg, &p->diode_v, 1);
}

static const struct hil_quantity pv_parameters[] = {
    {"short_circuit_a", "A", 8.21, 1e-6, 1e6, HIL_TUNABLE | HIL_SPREAD,
     "at 1000 W/m2 and 25 degrees Celsius"},
    {"open_circuit_v", "V", 32.9, 1e-3, 1e6, HIL_TUNABLE | HIL_SPREAD, "likewise"},
    {"current_a_per_k", "A/K", 3.18e-3, -1e3, 1e3, HIL_TUNABLE, "short-circuit current by warming"},
    {"voltage_v_per_k", "V/K", -0.123, -1e3, 1e3, HIL_TUNABLE, "open-circuit voltage by warming"},
    {"cells", "", 54, 1, 1e6, HIL_TUNABLE | HIL_WHOLE, "in series"},
    {"ideality", "", 1.3, 0.1, 10, HIL_TUNABLE | HIL_SPREAD, "of the diode"},
    {"series_ohm", "Ohm", 0.221, 1e-6, 1e6, HIL_TUNABLE | HIL_SPREAD, "of the array"},
    {"parallel_ohm", "Ohm", 415.405, 1e-3, 1e12, HIL_TUNABLE | HIL_SPREAD, "of the array"},
    {"capacitance_f", "F", 1e-3, 1e-12, 1e3, HIL_TUNABLE | HIL_SPREAD, "at the terminals"},
};

static const struct hil_quantity pv_inputs[] = {
    {"load_current_a", "A", 0, -1e6, 1e6, HIL_REQUIRED, "taken from the terminals"},
    {"irradiance_w_per_m2", "W/m2", 1000, 0, 1e5, 0, "of the sun"},
    {"temperature_c", "degC", 25, -200, 500, 0, "of the cells"},
};

static const struct hil_quantity pv_outputs[] = {
    {"voltage_v", "V", 0, -INFINITY, INFINITY, 0, "at the terminals"},
    {"current_a", "A", 0, -INFINITY, INFINITY, 0, "of the cells, into terminals and capacitor"},
    {"power_w", "W", 0, -INFINITY, INFINITY, 0, "of the cells"},
};

static const struct hil_quantity pv_states[] = {
    {"diode_voltage_v", "V", 0, 0, 1e6, 0, "across the diode, nearly that at the terminals"},
};

const struct hil_model model_pv_array = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "pv_array",
    .doc = "Photovoltaic array of one diode, with a capacitor",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(pv_parameters),
    .inputs = HIL_QUANTITIES(pv_inputs),
    .outputs = HIL_QUANTITIES(pv_outputs),
    .states = HIL_QUANTITIES(pv_states),
    .create = pv_create,
    .output = pv_output,
    .step = pv_step,
    .destroy = instance_destroy,
    .numbers = pv_numbers,
    .tune = pv_tune,
};

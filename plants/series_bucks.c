/*
 * Averaged synchronous bucks with their outputs in series across one load, which couples them. One
 * current flows through the string,
 *
 *      io = sum of (vC + ESR iL) / (load + sum of ESR)
 *      L iL' = d Vin - r iL - vo,  C vC' = iL - io,  vo = vC + ESR (iL - io)     r = rL + ron
 *
 * for each converter. This is exact for outputs in series. The simpler way, a share of the load for
 * each converter (plants/buck.c), is exact only while the converters are balanced: the load does
 * not damp their differences. The equations are linear in d Vin, so the solution is exact for
 * inputs that are held.
 */
#include <math.h>

#include "dense.h"
#include "instance.h"
#include "models.h"

enum { SERIES_WIDTH_MAX = 32, SERIES_STATES_MAX = 2 * SERIES_WIDTH_MAX };

/* Rows of the parameters' table. Each but the load has a place for each converter. */
enum { SERIES_L, SERIES_C, SERIES_RL, SERIES_RON, SERIES_ESR, SERIES_LOAD };

struct series_bucks {
    unsigned n; /* converters; converter i has the states 2 i, iL, and 2 i + 1, vC */
    double x[SERIES_STATES_MAX], scratch[SERIES_STATES_MAX];
    double a[SERIES_STATES_MAX * SERIES_STATES_MAX], b[SERIES_STATES_MAX * SERIES_WIDTH_MAX];
    double esr[SERIES_WIDTH_MAX];
    double path_ohm; /* the load plus every ESR */
};

static void series_equations(struct series_bucks *s, const double *p)
{
    const unsigned n = s->n, states = 2 * n;

    for (unsigned i = 0; i < n; i++) {
        const double l = p[SERIES_L * n + i], c = p[SERIES_C * n + i];
        double *current = &s->a[2 * i * states], *voltage = &s->a[(2 * i + 1) * states];

        for (unsigned j = 0; j < n; j++) { /* the effect of io, by converter j's part of it */
            current[2 * j] = s->esr[i] / l * s->esr[j] / s->path_ohm;
            current[2 * j + 1] = s->esr[i] / l / s->path_ohm;
            voltage[2 * j] = -s->esr[j] / c / s->path_ohm;
            voltage[2 * j + 1] = -1 / c / s->path_ohm;
        }
        current[2 * i] -= (p[SERIES_RL * n + i] + p[SERIES_RON * n + i] + s->esr[i]) / l;
        current[2 * i + 1] -= 1 / l;
        voltage[2 * i] += 1 / c;
        s->b[2 * i * n + i] = 1 / l;
    }
}

static int series_bucks_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    const unsigned n = config->width;
    int rc = instance_create(self, config, sizeof(struct series_bucks));

    if (rc)
        return rc;
    struct series_bucks *s = *self;
    s->n = n;
    s->path_ohm = p[SERIES_LOAD * n];
    for (unsigned i = 0; i < n; i++) {
        s->esr[i] = p[SERIES_ESR * n + i];
        s->path_ohm += s->esr[i];
    }
    series_equations(s, p);
    rc = dense_sample(2 * n, n, s->a, s->b, config->period_s);
    if (rc) {
        instance_destroy(s);
        *self = NULL;
    }
    return rc;
}

static int series_bucks_output(const void *self, const double *in, double *out)
{
    const struct series_bucks *s = self;
    double sum = 0;

    (void)in;
    for (unsigned i = 0; i < s->n; i++)
        sum += s->x[2 * i + 1] + s->esr[i] * s->x[2 * i];
    const double io = sum / s->path_ohm;
    for (unsigned i = 0; i < s->n; i++) {
        out[i] = s->x[2 * i + 1] + s->esr[i] * (s->x[2 * i] - io);
        out[s->n + i] = s->x[2 * i];
    }
    out[2 * s->n] = io;
    return 0;
}

static int series_bucks_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct series_bucks *s = self;
    double u[SERIES_WIDTH_MAX];

    (void)t_ns;
    for (unsigned i = 0; i < s->n; i++)
        u[i] = in[i] * in[s->n + i];
    dense_advance(2 * s->n, s->n, s->a, s->b, s->x, u, s->scratch);
    return series_bucks_output(self, in, out);
}

static const struct hil_quantity series_bucks_parameters[] = {
    {"inductance_h", "H", 47e-6, 1e-9, 1, HIL_WIDE, "inductance"},
    {"capacitance_f", "F", 470e-6, 1e-9, 1, HIL_WIDE, "capacitance"},
    {"inductor_resistance_ohm", "Ohm", 0.025, 0, 1e3, HIL_WIDE,
     "series resistance of the inductor"},
    {"switch_resistance_ohm", "Ohm", 0.015, 0, 1e3, HIL_WIDE, "on-resistance of either switch"},
    {"esr_ohm", "Ohm", 0.030, 0, 1e3, HIL_WIDE, "series resistance of the capacitor"},
    {"load_ohm", "Ohm", 48, 1e-3, 1e9, 0, "resistance of the load, across all"},
};

static const struct hil_quantity series_bucks_inputs[] = {
    {"duty", "", 0, 0, 1, HIL_REQUIRED | HIL_WIDE, "share of the period with the main switch on"},
    {"input_voltage_v", "V", 48, 0, 1e5, HIL_WIDE, "voltage of the source"},
};

static const struct hil_quantity series_bucks_outputs[] = {
    {"voltage_v", "V", 0, -INFINITY, INFINITY, HIL_WIDE, "what each gives"},
    {"current_a", "A", 0, -INFINITY, INFINITY, HIL_WIDE, "current of the inductor"},
    {"load_current_a", "A", 0, -INFINITY, INFINITY, 0, "current through the string and the load"},
};

const struct hil_model model_series_bucks = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "series_bucks",
    .doc = "Synchronous buck converters, averaged, with their outputs in series across one load",
    .kind = HIL_CONTINUOUS,
    .width_max = SERIES_WIDTH_MAX,
    .parameters = HIL_QUANTITIES(series_bucks_parameters),
    .inputs = HIL_QUANTITIES(series_bucks_inputs),
    .outputs = HIL_QUANTITIES(series_bucks_outputs),
    .create = series_bucks_create,
    .output = series_bucks_output,
    .step = series_bucks_step,
    .destroy = instance_destroy,
};

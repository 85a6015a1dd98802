/*
 * Averaged synchronous bucks with their outputs in series across one load, which couples them
 * (series.h). This is exact for outputs in series. The simpler way, a share of the load for each
 * converter (plants/converters.c), is exact only while the converters are balanced: the load does
 * not damp their differences. While all are enabled the equations are linear in d Vin, so the
 * solution is exact for inputs that are held.
 */
#include <math.h>
#include <stdbool.h>

#include "dense.h"
#include "instance.h"
#include "models.h"
#include "series.h"

/* Rows of the parameters' table. Each but the load has a place for each converter. The drops of the
 * diodes come after the load. */
enum { SERIES_L, SERIES_C, SERIES_RL, SERIES_RON, SERIES_ESR, SERIES_LOAD };

/* Rows of the inputs' table. Each has a place for each converter. */
enum { SERIES_DUTY, SERIES_INPUT_VOLTAGE, SERIES_ENABLE };

struct series_bucks {
    struct series string;
    double period_s;
    double x[SERIES_STATES_MAX], scratch[SERIES_STATES_MAX];
    /* One period's step while all are enabled. */
    double a[SERIES_STATES_MAX * SERIES_STATES_MAX], b[SERIES_STATES_MAX * SERIES_WIDTH_MAX];
};

static void series_init(struct series *s, const struct hil_config *config)
{
    const unsigned n = config->width;
    const double *p = config->parameters;

    *s = (struct series){
        .n = n, .path_ohm = p[SERIES_LOAD * n], .log = config->log, .log_arg = config->log_arg};
    for (unsigned i = 0; i < n; i++) {
        s->inductance_h[i] = p[SERIES_L * n + i];
        s->capacitance_f[i] = p[SERIES_C * n + i];
        s->resistance_ohm[i] = p[SERIES_RL * n + i] + p[SERIES_RON * n + i];
        s->esr_ohm[i] = p[SERIES_ESR * n + i];
        s->diode_v[i] = p[SERIES_LOAD * n + 1 + i];
        s->path_ohm += s->esr_ohm[i];
    }
}

static void series_equations(const struct series *s, double *a, double *b)
{
    const unsigned n = s->n, states = 2 * n;

    for (unsigned i = 0; i < n; i++) {
        const double l = s->inductance_h[i], c = s->capacitance_f[i], esr = s->esr_ohm[i];
        double *current = &a[2 * i * states], *voltage = &a[(2 * i + 1) * states];

        for (unsigned j = 0; j < n; j++) { /* the effect of io, by converter j's part of it */
            current[2 * j] = esr / l * s->esr_ohm[j] / s->path_ohm;
            current[2 * j + 1] = esr / l / s->path_ohm;
            voltage[2 * j] = -s->esr_ohm[j] / c / s->path_ohm;
            voltage[2 * j + 1] = -1 / c / s->path_ohm;
        }
        current[2 * i] -= (s->resistance_ohm[i] + esr) / l;
        current[2 * i + 1] -= 1 / l;
        voltage[2 * i] += 1 / c;
        b[2 * i * n + i] = 1 / l;
    }
}

static int series_bucks_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct series_bucks));

    if (rc)
        return rc;
    struct series_bucks *s = *self;
    series_init(&s->string, config);
    s->period_s = config->period_s;
    series_equations(&s->string, s->a, s->b);
    rc = dense_sample(2 * s->string.n, s->string.n, s->a, s->b, config->period_s);
    if (rc) {
        instance_destroy(s);
        *self = NULL;
    }
    return rc;
}

static int series_bucks_output(const void *self, const double *in, double *out)
{
    const struct series_bucks *s = self;
    const unsigned n = s->string.n;
    const double io = series_current(&s->string, s->x);

    for (unsigned i = 0; i < n; i++) {
        const double current = s->x[2 * i];
        out[i] = series_voltage(&s->string, s->x, io, i);
        out[n + i] = current;
        out[2 * n + 1 + i] =
            in[SERIES_ENABLE * n + i] >= 0.5 ? in[SERIES_DUTY * n + i] * current : fmin(current, 0);
    }
    out[2 * n] = io;
    return 0;
}

static bool series_bucks_are_enabled(const double *enable, unsigned n)
{
    bool all = true;

    for (unsigned i = 0; i < n; i++)
        all &= enable[i] >= 0.5;
    return all;
}

static int series_bucks_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct series_bucks *s = self;
    const unsigned n = s->string.n;
    const double *duty = &in[SERIES_DUTY * n], *source_v = &in[SERIES_INPUT_VOLTAGE * n],
                 *enable = &in[SERIES_ENABLE * n];
    double u[SERIES_WIDTH_MAX];
    int rc = 0;

    (void)t_ns;
    if (series_bucks_are_enabled(enable, n)) {
        for (unsigned i = 0; i < n; i++)
            u[i] = duty[i] * source_v[i];
        dense_advance(2 * n, n, s->a, s->b, s->x, u, s->scratch);
    } else {
        rc = series_by_diodes(&s->string, duty, source_v, enable, s->x, s->period_s);
    }
    series_bucks_output(self, in, out);
    return rc;
}

static void series_bucks_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct series_bucks *p = self;

    each(arg, p->x, 2 * p->string.n);
}

static const struct hil_quantity series_bucks_parameters[] = {
    {"inductance_h", "H", 47e-6, 1e-9, 1, HIL_WIDE | HIL_SPREAD, "inductance"},
    {"capacitance_f", "F", 470e-6, 1e-9, 1, HIL_WIDE | HIL_SPREAD, "capacitance"},
    {"inductor_resistance_ohm", "Ohm", 0.025, 0, 1e3, HIL_WIDE | HIL_SPREAD,
     "series resistance of the inductor"},
    {"switch_resistance_ohm", "Ohm", 0.015, 0, 1e3, HIL_WIDE | HIL_SPREAD,
     "on-resistance of either switch"},
    {"esr_ohm", "Ohm", 0.030, 0, 1e3, HIL_WIDE | HIL_SPREAD, "series resistance of the capacitor"},
    {"load_ohm", "Ohm", 48, 1e-3, 1e9, HIL_SPREAD, "resistance of the load, across all"},
    {"diode_drop_v", "V", 0, 0, 1e3, HIL_WIDE, "forward voltage of either switch's diode"},
};

static const struct hil_quantity series_bucks_inputs[] = {
    {"duty", "", 0, 0, 1, HIL_REQUIRED | HIL_WIDE, "share of the period with the main switch on"},
    {"input_voltage_v", "V", 48, 0, 1e5, HIL_WIDE, "voltage of the source"},
    {"enable", "", 1, 0, 1, HIL_WIDE | HIL_ENABLE,
     "below 0.5 all gates are off and only diodes conduct"},
};

static const struct hil_quantity series_bucks_outputs[] = {
    {"voltage_v", "V", 0, -INFINITY, INFINITY, HIL_WIDE, "what each gives"},
    {"current_a", "A", 0, -INFINITY, INFINITY, HIL_WIDE, "current of the inductor"},
    {"load_current_a", "A", 0, -INFINITY, INFINITY, 0, "current through the string and the load"},
    {"input_current_a", "A", 0, -INFINITY, INFINITY, HIL_WIDE, "current from the source"},
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
    .numbers = series_bucks_numbers,
};

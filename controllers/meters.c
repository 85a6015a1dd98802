/*
 * Meters of signals that repeat: what a signal, or two, had over some whole periods. Each window of
 * `periods` periods gives one reading, which is held until the next one. The samples are weighted
 * by w = (1 - cos(2 pi share of the window)) / 2, so a reading is exact for whole harmonics, and
 * hardly disturbed by a frequency that is not quite that of the meter.
 *
 *      amplitude of harmonic k = 2 |sum w x exp(-j k 2 pi f t)| / sum w
 *      thd = sqrt(sum of the squared amplitudes from k = 2) / amplitude of the fundamental
 *      power factor = active / apparent power = (sum w v i) / sqrt(sum w v^2 sum w i^2)
 */
#include <errno.h>
#include <math.h>

#include "../plants/instance.h"
#include "models.h"

enum { METER_HARMONICS = 40 };
enum { METER_FREQUENCY, METER_PERIODS };

/* Sums over the samples of a window, with their weights. */
struct meter {
    double frequency_hz, window_s, begin_s;
    unsigned harmonics; /* below half the rate of the samples */
    double weight, x, y, xx, yy, xy;
    double cosine[METER_HARMONICS], sine[METER_HARMONICS];
    double reading[5];
};

static int meter_create(void **self, const struct hil_config *config)
{
    const double f = config->parameters[METER_FREQUENCY];
    const double most = 0.5 / (f * config->period_s);

    if (!(most > 1)) {
        config->log(config->log_arg, "frequency_hz is not below half the rate of its steps");
        return -EDOM;
    }
    int rc = instance_create(self, config, sizeof(struct meter));
    if (rc)
        return rc;
    struct meter *m = *self;
    m->frequency_hz = f;
    m->window_s = config->parameters[METER_PERIODS] / f;
    m->harmonics = most > METER_HARMONICS ? METER_HARMONICS : (unsigned)ceil(most) - 1;
    return 0;
}

/* Begins a window at the time. */
static void meter_begin(struct meter *m, double t_s)
{
    m->begin_s = t_s;
    m->weight = m->x = m->y = m->xx = m->yy = m->xy = 0;
    for (unsigned k = 0; k < METER_HARMONICS; k++)
        m->cosine[k] = m->sine[k] = 0;
}

/* The share of the window that has gone by; from 1 on it is over. A hair less counts as over, as
 * the times are whole nanoseconds. */
static double meter_share(const struct meter *m, double t_s)
{
    return (t_s - m->begin_s + 1e-9) / m->window_s;
}

/* The next window begins where this one ended, unless steps were left out. */
static void meter_next(struct meter *m, double t_s)
{
    const double end_s = m->begin_s + m->window_s;

    meter_begin(m, t_s < end_s + m->window_s ? end_s : t_s);
}

static void meter_add(struct meter *m, double t_s, double x, double y)
{
    const double w = 0.5 - 0.5 * cos(2 * M_PI * (t_s - m->begin_s) / m->window_s);

    m->weight += w;
    m->x += w * x;
    m->y += w * y;
    m->xx += w * x * x;
    m->yy += w * y * y;
    m->xy += w * x * y;
}

static void meter_add_harmonics(struct meter *m, double t_s, double x)
{
    const double into_s = t_s - m->begin_s, angle = 2 * M_PI * m->frequency_hz * into_s;
    const double w = 0.5 - 0.5 * cos(2 * M_PI * into_s / m->window_s);
    const double c1 = cos(angle), s1 = sin(angle);
    double c = c1, s = s1;

    for (unsigned k = 0; k < m->harmonics; k++) {
        m->cosine[k] += w * x * c;
        m->sine[k] += w * x * s;
        const double next = c * c1 - s * s1;
        s = s * c1 + c * s1;
        c = next;
    }
}

static double meter_root(double square)
{
    return square > 0 ? sqrt(square) : 0;
}

/* --- harmonics -------------------------------------------------------------------------------- */

static void harmonics_read(struct meter *m)
{
    const double mean = m->x / m->weight, rms = meter_root(m->xx / m->weight);
    double rest = 0, amplitude = 0;

    for (unsigned k = 0; k < m->harmonics; k++) {
        const double a = 2 * hypot(m->cosine[k], m->sine[k]) / m->weight;
        if (k == 0)
            amplitude = a;
        else
            rest += a * a;
    }
    m->reading[0] = amplitude;
    m->reading[1] = amplitude > 0 ? 100 * sqrt(rest) / amplitude : 0;
    m->reading[2] = mean;
    m->reading[3] = rms;
    m->reading[4] = meter_root(rms * rms - mean * mean);
}

static int harmonics_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct meter *m = self;
    const double t_s = (double)t_ns * 1e-9;

    if (meter_share(m, t_s) >= 1) {
        if (m->weight > 0)
            harmonics_read(m);
        meter_next(m, t_s);
    }
    meter_add(m, t_s, in[0], 0);
    meter_add_harmonics(m, t_s, in[0]);
    for (unsigned i = 0; i < 5; i++)
        out[i] = m->reading[i];
    return 0;
}

/* --- powers ----------------------------------------------------------------------------------- */

static int meter_step(struct meter *m, uint64_t t_ns, const double *in, double *out,
                      void (*read)(struct meter *m))
{
    const double t_s = (double)t_ns * 1e-9;

    if (meter_share(m, t_s) >= 1) {
        if (m->weight > 0)
            read(m);
        meter_next(m, t_s);
    }
    meter_add(m, t_s, in[0], in[1]);
    out[0] = m->reading[0];
    out[1] = m->reading[1];
    out[2] = m->reading[2];
    return 0;
}

static void power_read(struct meter *m)
{
    const double apparent = meter_root(m->xx) * meter_root(m->yy) / m->weight;

    m->reading[0] = m->xy / m->weight;
    m->reading[1] = apparent;
    m->reading[2] = apparent > 0 ? m->reading[0] / apparent : 0;
}

static int power_meter_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    return meter_step(self, t_ns, in, out, power_read);
}

static void efficiency_read(struct meter *m)
{
    m->reading[0] = m->x > 0 ? 100 * m->y / m->x : 0;
    m->reading[1] = (m->x - m->y) / m->weight;
    m->reading[2] = m->x / m->weight;
}

static int efficiency_meter_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    return meter_step(self, t_ns, in, out, efficiency_read);
}

/* --- tables ----------------------------------------------------------------------------------- */

static const struct hil_quantity meter_parameters[] = {
    {"frequency_hz", "Hz", 50, 1e-6, 1e9, 0, "of the fundamental, or of the switching"},
    {"periods", "", 5, 3, 1e6, HIL_WHOLE, "of a window"},
};

static const struct hil_quantity harmonics_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is measured"},
};

static const struct hil_quantity harmonics_outputs[] = {
    {"amplitude", "", 0, -INFINITY, INFINITY, 0, "of the fundamental, from 0 to the peak"},
    {"thd_pct", "%", 0, -INFINITY, INFINITY, 0, "harmonics 2 to 40 by the fundamental"},
    {"mean", "", 0, -INFINITY, INFINITY, 0, "over the window"},
    {"rms", "", 0, -INFINITY, INFINITY, 0, "of the whole signal"},
    {"ripple_rms", "", 0, -INFINITY, INFINITY, 0, "of the signal without its mean"},
};

static const struct hil_quantity power_inputs[] = {
    {"voltage_v", "V", 0, -INFINITY, INFINITY, HIL_REQUIRED, "across what takes the power"},
    {"current_a", "A", 0, -INFINITY, INFINITY, HIL_REQUIRED, "into it"},
};

static const struct hil_quantity power_outputs[] = {
    {"active_w", "W", 0, -INFINITY, INFINITY, 0, "mean of the power"},
    {"apparent_va", "VA", 0, -INFINITY, INFINITY, 0, "product of the root mean squares"},
    {"power_factor", "", 0, -INFINITY, INFINITY, 0, "active by apparent; 0 without either"},
};

static const struct hil_quantity efficiency_inputs[] = {
    {"input_w", "W", 0, -INFINITY, INFINITY, HIL_REQUIRED, "power that goes in"},
    {"output_w", "W", 0, -INFINITY, INFINITY, HIL_REQUIRED, "power that comes out"},
};

static const struct hil_quantity efficiency_outputs[] = {
    {"efficiency_pct", "%", 0, -INFINITY, INFINITY, 0, "0 unless power goes in"},
    {"loss_w", "W", 0, -INFINITY, INFINITY, 0, "mean of what goes in less what comes out"},
    {"mean_input_w", "W", 0, -INFINITY, INFINITY, 0, "mean of what goes in"},
};

#define METER(name_, doc_, inputs_, outputs_)                                                      \
    const struct hil_model model_##name_ = {.abi = HIL_MODEL_ABI,                                  \
                                            .size = sizeof(struct hil_model),                      \
                                            .name = #name_,                                        \
                                            .doc = doc_,                                           \
                                            .kind = HIL_SAMPLED,                                   \
                                            .width_max = 1,                                        \
                                            .parameters = HIL_QUANTITIES(meter_parameters),        \
                                            .inputs = HIL_QUANTITIES(inputs_),                     \
                                            .outputs = HIL_QUANTITIES(outputs_),                   \
                                            .create = meter_create,                                \
                                            .step = name_##_step,                                  \
                                            .destroy = instance_destroy}

METER(harmonics, "Amplitude, distortion and ripple of a signal that repeats", harmonics_inputs,
      harmonics_outputs);
METER(power_meter, "Active and apparent power, and the power factor", power_inputs, power_outputs);
METER(efficiency_meter, "Efficiency and losses by two powers", efficiency_inputs,
      efficiency_outputs);

/*
 * A network analyser in a loop with negative feedback. It passes its input on, with a sine added,
 * and measures what of it comes back, frequency by frequency:
 *
 *      output = input + amplitude sin(2 pi f t)        loop gain T = -input / output
 *
 * With of_response it reads another signal of the loop instead, T = response / output, and there
 * are no margins. The loop stays closed.
 *
 * All are without their values at the start, which would be large beside a small sine. At each
 * frequency it waits for `settling` periods, but at least settling_s, and then takes some
 * windows of `periods` periods, whose samples have the weight (1 - cos(2 pi share of the window))
 * / 2. I and O are the sums of input and output times the weight and exp(-j 2 pi f t), for each
 * window:
 *
 *      T = -(sum of I conj O) / (sum of |O|^2)
 *      coherence = |sum of I conj O|^2 / (sum of |I|^2 sum of |O|^2)
 *
 * With multisine all sines are there at once, each a whole number of times in a window, so that
 * they do not disturb each other: a window is `periods` of the first frequency, and a whole number
 * of steps. Two sines are at least two periods of the window apart, as the weight requires. Their
 * phases keep the peak of the sum low. When all windows are over, the readings come one after the
 * other.
 *
 * The margins are the least of all places where T passes a gain of 1, or a phase of -180 degrees.
 * As the loop settles, each is a distance: by how much the phase or the gain may change, up or
 * down. Between two frequencies gain and phase are on straight lines over the logarithm of the
 * frequency.
 */
#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "../plants/instance.h"
#include "models.h"

enum {
    ANALYSER_FROM,
    ANALYSER_TO,
    ANALYSER_POINTS,
    ANALYSER_AMPLITUDE,
    ANALYSER_SETTLING,
    ANALYSER_PERIODS,
    ANALYSER_WINDOWS,
    ANALYSER_START,
    ANALYSER_SETTLING_S,
    ANALYSER_PERCENT,
    ANALYSER_OF_RESPONSE,
    ANALYSER_STEPS,
    ANALYSER_MULTISINE,
    ANALYSER_PARAMETERS
};

enum { ANALYSER_INPUT, ANALYSER_RESPONSE };

/* How many steps each reading of a multisine stays. */
enum { ANALYSER_HOLD = 100 };

enum {
    ANALYSER_OUTPUT,
    ANALYSER_FREQUENCY,
    ANALYSER_GAIN,
    ANALYSER_PHASE,
    ANALYSER_COHERENCE,
    ANALYSER_CROSSOVER,
    ANALYSER_PHASE_MARGIN,
    ANALYSER_GAIN_MARGIN,
    ANALYSER_DONE,
    ANALYSER_OUTPUTS
};

static const double ANALYSER_NO_PHASE_MARGIN = 360, ANALYSER_NO_GAIN_MARGIN = 1000;

/* A sine of several at once, with its sums. */
struct analyser_tone {
    double frequency_hz, phase;      /* in periods */
    double complex response, output; /* of the window */
    double complex cross;            /* of all windows */
    double responses, outputs;
};

struct analyser {
    double parameters[ANALYSER_PARAMETERS];
    double out[ANALYSER_OUTPUTS];
    double frequency_hz, begin_s; /* of the present frequency */
    double settling, periods;     /* its periods before the first window, and of a window */
    double period_s;
    double input_rest, response_rest; /* values at the start */
    double amplitude;
    unsigned point, window;
    double complex response, output; /* sums of the window */
    double complex cross;            /* sums of all windows */
    double responses, outputs;
    bool begun;
    double window_s; /* of a multisine */
    unsigned held;   /* steps since the windows of a multisine were over */
    struct analyser_tone tones[];
};

static const char *analyser_wrong(const double *p, double period_s)
{
    if (!(p[ANALYSER_FROM] <= p[ANALYSER_TO]))
        return "to_hz is below from_hz";
    if (!(p[ANALYSER_TO] * period_s < 0.45))
        return "to_hz is not below 0.45 of the rate of its steps";
    return NULL;
}

static void analyser_set_frequency(struct analyser *a)
{
    const double *p = a->parameters;
    const double share = p[ANALYSER_POINTS] < 2 ? 0 : a->point / (p[ANALYSER_POINTS] - 1);

    a->frequency_hz = p[ANALYSER_FROM] * pow(p[ANALYSER_TO] / p[ANALYSER_FROM], share);
    a->settling = fmax(p[ANALYSER_SETTLING], ceil(p[ANALYSER_SETTLING_S] * a->frequency_hz));
    a->periods = fmax(p[ANALYSER_PERIODS], ceil(p[ANALYSER_STEPS] * a->period_s * a->frequency_hz));
}

/* Returns false if there is no room for so many. */
static bool analyser_set_tones(struct analyser *a)
{
    const double *p = a->parameters;
    double periods = -2;

    a->window_s = ceil(p[ANALYSER_PERIODS] / p[ANALYSER_FROM] / a->period_s - 1e-6) * a->period_s;
    for (unsigned i = 0; i < p[ANALYSER_POINTS]; i++) {
        const double share = i / fmax(p[ANALYSER_POINTS] - 1, 1);
        const double hz = p[ANALYSER_FROM] * pow(p[ANALYSER_TO] / p[ANALYSER_FROM], share);
        periods = fmax(round(hz * a->window_s), periods + 2);
        a->tones[i].frequency_hz = periods / a->window_s;
        a->tones[i].phase = remainder(-0.5 * i * i / p[ANALYSER_POINTS], 1);
    }
    return periods / a->window_s * a->period_s < 0.45;
}

static int analyser_create(void **self, const struct hil_config *config)
{
    const char *wrong = analyser_wrong(config->parameters, config->period_s);

    if (wrong) {
        config->log(config->log_arg, wrong);
        return -EDOM;
    }
    const bool multisine = config->parameters[ANALYSER_MULTISINE] != 0;
    const size_t tones = multisine ? (size_t)config->parameters[ANALYSER_POINTS] : 0;
    int rc = instance_create(self, config,
                             sizeof(struct analyser) + tones * sizeof(struct analyser_tone));
    if (rc)
        return rc;
    struct analyser *a = *self;
    for (unsigned i = 0; i < ANALYSER_PARAMETERS; i++)
        a->parameters[i] = config->parameters[i];
    a->period_s = config->period_s;
    if (multisine && !analyser_set_tones(a)) {
        instance_destroy(a);
        *self = NULL;
        config->log(config->log_arg, "a window has too few periods for so many points at once");
        return -EDOM;
    }
    analyser_set_frequency(a);
    a->out[ANALYSER_PHASE_MARGIN] = ANALYSER_NO_PHASE_MARGIN;
    a->out[ANALYSER_GAIN_MARGIN] = ANALYSER_NO_GAIN_MARGIN;
    return 0;
}

/* --- a frequency is over ---------------------------------------------------------------------- */

/* The first phase is from -270 to 90 degrees; the others are next to the one before. */
static double analyser_phase(const struct analyser *a, double phase_deg)
{
    if (a->point > 0)
        return a->out[ANALYSER_PHASE] + remainder(phase_deg - a->out[ANALYSER_PHASE], 360);
    return phase_deg > 90 ? phase_deg - 360 : phase_deg;
}

/* The share of the way from `before` to `now` at which a level is passed; NAN: it is not. */
static double analyser_passes(double before, double now, double level)
{
    if ((before >= level) == (now >= level))
        return NAN;
    return (level - before) / (now - before);
}

/* The phase between these two, or next below the greater one, at which the loop is -1. */
static double analyser_half_turn(double before_deg, double now_deg)
{
    return 360 * floor((fmax(before_deg, now_deg) + 180) / 360) - 180;
}

static void analyser_margins(struct analyser *a, double before_hz, double gain_db, double phase_deg)
{
    double *out = a->out;
    const double at_gain = analyser_passes(out[ANALYSER_GAIN], gain_db, 0);
    const double at_phase = analyser_passes(out[ANALYSER_PHASE], phase_deg,
                                            analyser_half_turn(out[ANALYSER_PHASE], phase_deg));

    if (isfinite(at_gain)) {
        const double phase = out[ANALYSER_PHASE] + at_gain * (phase_deg - out[ANALYSER_PHASE]);
        const double margin = fabs(remainder(180 + phase, 360));
        if (margin < out[ANALYSER_PHASE_MARGIN]) {
            out[ANALYSER_PHASE_MARGIN] = margin;
            out[ANALYSER_CROSSOVER] = before_hz * pow(a->frequency_hz / before_hz, at_gain);
        }
    }
    if (isfinite(at_phase)) {
        const double gain = out[ANALYSER_GAIN] + at_phase * (gain_db - out[ANALYSER_GAIN]);
        out[ANALYSER_GAIN_MARGIN] = fmin(out[ANALYSER_GAIN_MARGIN], fabs(gain));
    }
}

static void analyser_read(struct analyser *a)
{
    const bool margins = a->parameters[ANALYSER_OF_RESPONSE] == 0;
    const double complex gain = a->outputs > 0 ? a->cross / a->outputs : 0;
    const double gain_db = fmax(20 * log10(cabs(gain)), -400);
    const double phase_deg = analyser_phase(a, carg(gain) * 180 / M_PI);
    const double both = a->responses * a->outputs;

    if (margins && a->point > 0)
        analyser_margins(a, a->out[ANALYSER_FREQUENCY], gain_db, phase_deg);
    a->out[ANALYSER_FREQUENCY] = a->frequency_hz;
    a->out[ANALYSER_GAIN] = gain_db;
    a->out[ANALYSER_PHASE] = phase_deg;
    a->out[ANALYSER_COHERENCE] = both > 0 ? cabs(a->cross) * cabs(a->cross) / both : 0;
}

static void analyser_next(struct analyser *a, double t_s)
{
    analyser_read(a);
    a->point++;
    a->window = 0;
    a->cross = a->responses = a->outputs = 0;
    a->begin_s = t_s;
    if (a->point < a->parameters[ANALYSER_POINTS])
        analyser_set_frequency(a);
    else
        a->out[ANALYSER_DONE] = 1;
}

/* --- a step ----------------------------------------------------------------------------------- */

static void analyser_end_window(struct analyser *a)
{
    a->cross += a->response * conj(a->output);
    a->responses += creal(a->response * conj(a->response));
    a->outputs += creal(a->output * conj(a->output));
    a->response = a->output = 0;
    a->window++;
}

/* Adds a sample, which is so many periods after the beginning of the frequency. */
static void analyser_add(struct analyser *a, double periods, double response, double output)
{
    const double share = (periods - a->settling) / a->periods - (double)a->window;

    if (share < 0)
        return;
    const double complex weight =
        (0.5 - 0.5 * cos(2 * M_PI * share)) * cexp(-I * 2 * M_PI * remainder(periods, 1));
    a->response += weight * response;
    a->output += weight * output;
}

static void analyser_begin(struct analyser *a, double t_s, const double *in)
{
    const double *p = a->parameters;

    a->begun = true;
    a->input_rest = in[ANALYSER_INPUT];
    a->response_rest = in[ANALYSER_RESPONSE];
    a->begin_s = t_s;
    a->amplitude = p[ANALYSER_AMPLITUDE] + p[ANALYSER_PERCENT] / 100 * fabs(a->input_rest);
}

/* What comes back. */
static double analyser_response(const struct analyser *a, const double *in)
{
    return a->parameters[ANALYSER_OF_RESPONSE] != 0 ? in[ANALYSER_RESPONSE] - a->response_rest
                                                    : a->input_rest - in[ANALYSER_INPUT];
}

/* Adds the sine, and reads what comes back. */
static void analyser_measure(struct analyser *a, double t_s, const double *in)
{
    const double *p = a->parameters;
    double periods = (t_s - a->begin_s) * a->frequency_hz;

    if (periods >= a->settling + (a->window + 1) * a->periods) {
        analyser_end_window(a);
        if (a->window >= p[ANALYSER_WINDOWS]) {
            analyser_next(a, t_s);
            periods = 0;
        }
    }
    if (a->out[ANALYSER_DONE] != 0)
        return;
    a->out[ANALYSER_OUTPUT] += a->amplitude * sin(2 * M_PI * remainder(periods, 1));
    analyser_add(a, periods, analyser_response(a, in), a->out[ANALYSER_OUTPUT] - a->input_rest);
}

/* --- all sines at once ------------------------------------------------------------------------ */

static void analyser_end_windows(struct analyser *a)
{
    for (unsigned i = 0; i < a->parameters[ANALYSER_POINTS]; i++) {
        struct analyser_tone *t = &a->tones[i];
        t->cross += t->response * conj(t->output);
        t->responses += creal(t->response * conj(t->response));
        t->outputs += creal(t->output * conj(t->output));
        t->response = t->output = 0;
    }
    a->window++;
}

static void analyser_read_tone(struct analyser *a)
{
    const struct analyser_tone *t = &a->tones[a->point];

    a->frequency_hz = t->frequency_hz;
    a->cross = t->cross;
    a->responses = t->responses;
    a->outputs = t->outputs;
    analyser_read(a);
    a->point++;
}

static void analyser_read_tones(struct analyser *a)
{
    if (a->held++ % ANALYSER_HOLD != 0)
        return;
    if (a->point < a->parameters[ANALYSER_POINTS])
        analyser_read_tone(a);
    else
        a->out[ANALYSER_DONE] = 1;
}

static double analyser_tones_at(const struct analyser *a, double t_s)
{
    double sum = 0;

    for (unsigned i = 0; i < a->parameters[ANALYSER_POINTS]; i++)
        sum += sin(2 * M_PI * remainder(a->tones[i].frequency_hz * t_s + a->tones[i].phase, 1));
    return a->amplitude * sum;
}

/* Adds a sample, at this share of a window. */
static void analyser_add_all(struct analyser *a, double since_s, double share, double response,
                             double output)
{
    const double weight = 0.5 - 0.5 * cos(2 * M_PI * share);

    for (unsigned i = 0; i < a->parameters[ANALYSER_POINTS]; i++) {
        struct analyser_tone *t = &a->tones[i];
        const double complex turn = cexp(-I * 2 * M_PI * remainder(t->frequency_hz * since_s, 1));
        t->response += weight * turn * response;
        t->output += weight * turn * output;
    }
}

static void analyser_measure_all(struct analyser *a, double t_s, const double *in)
{
    const double *p = a->parameters;
    const double settling_s = fmax(p[ANALYSER_SETTLING] / p[ANALYSER_FROM], p[ANALYSER_SETTLING_S]);
    const double since_s = t_s - a->begin_s, half_step = 0.5 * a->period_s / a->window_s;
    double share = (since_s - settling_s) / a->window_s - (double)a->window;

    if (share >= 1 - half_step && a->window < p[ANALYSER_WINDOWS]) {
        analyser_end_windows(a);
        share -= 1;
    }
    if (a->window >= p[ANALYSER_WINDOWS]) {
        analyser_read_tones(a);
        return;
    }
    a->out[ANALYSER_OUTPUT] += analyser_tones_at(a, since_s);
    if (share >= -half_step)
        analyser_add_all(a, since_s, share, analyser_response(a, in),
                         a->out[ANALYSER_OUTPUT] - a->input_rest);
}

static int analyser_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct analyser *a = self;
    const double t_s = (double)t_ns * 1e-9;

    a->out[ANALYSER_OUTPUT] = in[ANALYSER_INPUT];
    if (!a->begun && t_s >= a->parameters[ANALYSER_START])
        analyser_begin(a, t_s, in);
    if (a->begun && a->out[ANALYSER_DONE] == 0 && a->parameters[ANALYSER_MULTISINE] != 0)
        analyser_measure_all(a, t_s, in);
    else if (a->begun && a->out[ANALYSER_DONE] == 0)
        analyser_measure(a, t_s, in);
    for (unsigned i = 0; i < ANALYSER_OUTPUTS; i++)
        out[i] = a->out[i];
    return 0;
}

static const struct hil_quantity analyser_parameters[] = {
    {"from_hz", "Hz", 10, 1e-6, 1e9, 0, "first frequency"},
    {"to_hz", "Hz", 1000, 1e-6, 1e9, 0, "last frequency"},
    {"points", "", 30, 1, 1000, HIL_WHOLE, "frequencies, each the same factor above the last"},
    {"amplitude", "", 0.1, 0, 1e12, 0, "of the sine, from 0 to the peak"},
    {"settling", "", 5, 0, 1e6, 0, "periods before the first window"},
    {"periods", "", 5, 3, 1e6, HIL_WHOLE, "of a window"},
    {"windows", "", 3, 1, 1000, HIL_WHOLE, "at each frequency"},
    {"start_s", "s", 0, 0, 1e9, 0, "when the first frequency begins"},
    {"settling_s", "s", 0, 0, 1e6, 0, "least time before the first window"},
    {"amplitude_pct", "%", 0, 0, 1e6, 0, "of the input at the start, added to the amplitude"},
    {"of_response", "", 0, 0, 1, HIL_WHOLE, "1: reads the response, not the loop"},
    {"steps", "", 100, 0, 1e9, HIL_WHOLE, "of a window, at least"},
    {"multisine", "", 0, 0, 1, HIL_WHOLE, "1: all sines at once, each with this amplitude"},
};

static const struct hil_quantity analyser_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what comes back around the loop"},
    {"response", "", 0, -INFINITY, INFINITY, 0, "of the loop, with of_response"},
};

static const struct hil_quantity analyser_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the input with the sine"},
    {"frequency_hz", "Hz", 0, -INFINITY, INFINITY, 0, "of the newest reading"},
    {"gain_db", "dB", 0, -INFINITY, INFINITY, 0, "of the loop"},
    {"phase_deg", "deg", 0, -INFINITY, INFINITY, 0, "of the loop, without jumps"},
    {"coherence", "", 0, -INFINITY, INFINITY, 0, "of what comes back; 1: nothing disturbs it"},
    {"crossover_hz", "Hz", 0, -INFINITY, INFINITY, 0,
     "where the phase margin is; 0: there is none"},
    {"phase_margin_deg", "deg", 360, -INFINITY, INFINITY, 0, "least so far; 360: there is none"},
    {"gain_margin_db", "dB", 1000, -INFINITY, INFINITY, 0, "least so far; 1000: there is none"},
    {"done", "", 0, -INFINITY, INFINITY, 0, "1: all frequencies have been read"},
};

const struct hil_model model_network_analyser = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "network_analyser",
    .doc = "Frequency response of the loop that it is in, with its margins",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(analyser_parameters),
    .inputs = HIL_QUANTITIES(analyser_inputs),
    .outputs = HIL_QUANTITIES(analyser_outputs),
    .create = analyser_create,
    .step = analyser_step,
    .destroy = instance_destroy,
};

/*
 * An analogue-to-digital converter with its filter: between two steps the input goes on a straight
 * line, through a low-pass filter of first order, which is solved exactly. A sample is the mean of
 * the filter's output over the aperture, which ends at the step. Then come the errors of the
 * converter, and its codes:
 *
 *      sample x (1 + gain error) + offset + noise, to the nearest of 2^bits codes
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "../plants/instance.h"
#include "least.h"
#include "models.h"

enum {
    ADC_BITS,
    ADC_MIN,
    ADC_MAX,
    ADC_OFFSET,
    ADC_GAIN_ERROR,
    ADC_NOISE,
    ADC_SEED,
    ADC_CUTOFF,
    ADC_APERTURE,
    ADC_PARAMETERS
};

struct adc {
    double parameters[ADC_PARAMETERS];
    double period_s;
    double input, filtered; /* at the step before */
    uint64_t random;
    bool begun;
};

static const char *adc_wrong(const double *p, double period_s)
{
    if (!(p[ADC_MIN] < p[ADC_MAX]))
        return "range_max is not above range_min";
    return p[ADC_APERTURE] > period_s ? "aperture_s is longer than the period" : NULL;
}

static int adc_create(void **self, const struct hil_config *config)
{
    const char *wrong = adc_wrong(config->parameters, config->period_s);

    if (wrong) {
        config->log(config->log_arg, wrong);
        return -EDOM;
    }
    int rc = instance_create(self, config, sizeof(struct adc));
    if (rc)
        return rc;
    struct adc *a = *self;
    for (unsigned i = 0; i < ADC_PARAMETERS; i++)
        a->parameters[i] = config->parameters[i];
    a->period_s = config->period_s;
    a->random = (uint64_t)config->parameters[ADC_SEED] + config->index * 0xd1342543de82ef95u;
    return 0;
}

static int adc_tune(void *self, uint32_t place, double value)
{
    ((struct adc *)self)->parameters[place] = value;
    return 0;
}

/* Uniform in (0, 1], by splitmix64 (Steele, Lea, Flood 2014). */
static double adc_uniform(struct adc *a)
{
    uint64_t z = a->random += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)(((z ^ (z >> 31)) >> 11) + 1) * 0x1p-53;
}

/* Normal with deviation 1, by Box and Muller. */
static double adc_normal(struct adc *a)
{
    const double radius = sqrt(-2 * log(adc_uniform(a)));

    return radius * cos(2 * M_PI * adc_uniform(a));
}

/* What the filter gives, as the mean over the aperture. With the input u0 + s t it gives
 * u0 + s (t - tau) + c exp(-t / tau). */
static double adc_sample(struct adc *a, double input)
{
    const double *p = a->parameters, t = a->period_s, aperture = p[ADC_APERTURE];
    const double slope = (input - a->input) / t, middle = t - aperture / 2;
    const double straight = a->input + slope * middle;

    a->input = input;
    if (p[ADC_CUTOFF] <= 0) {
        a->filtered = input;
        return straight;
    }
    const double tau = 1 / (2 * M_PI * p[ADC_CUTOFF]), left = exp(-t / tau);
    const double swing = a->filtered - (straight - slope * middle) + slope * tau;
    const double share = aperture > 0 ? tau / aperture * expm1(aperture / tau) * left : left;

    a->filtered = input - slope * tau + swing * left;
    return straight - slope * tau + (isfinite(share) ? swing * share : 0);
}

static int adc_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct adc *a = self;
    const double *p = a->parameters;
    const double codes = ldexp(1, (int)p[ADC_BITS]) - 1, step = (p[ADC_MAX] - p[ADC_MIN]) / codes;

    (void)t_ns;
    if (!a->begun) { /* the filter has settled before the run */
        a->input = a->filtered = in[0];
        a->begun = true;
    }
    double value = adc_sample(a, in[0]) * (1 + p[ADC_GAIN_ERROR] / 100) + p[ADC_OFFSET];
    if (p[ADC_NOISE] > 0)
        value += p[ADC_NOISE] * adc_normal(a);
    const double code = round((value - p[ADC_MIN]) / step);
    out[1] = least_within(code, 0, codes);
    out[0] = p[ADC_MIN] + step * out[1];
    return 0;
}

static void adc_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct adc *p = self;

    each(arg, &p->input, 1);
    each(arg, &p->filtered, 1);
}

static const struct hil_quantity adc_parameters[] = {
    {"bits", "", 12, 1, 32, HIL_WHOLE, "how many bits a code has"},
    {"range_min", "", 0, -1e12, 1e12, 0, "value of the first code"},
    {"range_max", "", 1, -1e12, 1e12, 0, "value of the last code"},
    {"offset", "", 0, -1e12, 1e12, HIL_TUNABLE | HIL_SPREAD, "error at 0"},
    {"gain_error_pct", "%", 0, -100, 1e6, HIL_TUNABLE | HIL_SPREAD, "error by the sample"},
    {"noise", "", 0, 0, 1e12, HIL_TUNABLE, "its standard deviation"},
    {"seed", "", 1, 0, 4294967295.0, HIL_WHOLE, "of the noise; each of an array has its own"},
    {"cutoff_hz", "Hz", 0, 0, 1e12, HIL_TUNABLE | HIL_SPREAD, "of the filter; 0: there is none"},
    {"aperture_s", "s", 0, 0, 1e6, 0, "time of a sample, up to the period"},
};

static const struct hil_quantity adc_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is converted"},
};

static const struct hil_quantity adc_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the value of the nearest code"},
    {"code", "", 0, -INFINITY, INFINITY, 0, "0 to 2^bits - 1"},
};

const struct hil_model model_adc = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "adc",
    .doc = "Analogue-to-digital converter with filter, aperture, errors and noise",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(adc_parameters),
    .inputs = HIL_QUANTITIES(adc_inputs),
    .outputs = HIL_QUANTITIES(adc_outputs),
    .create = adc_create,
    .step = adc_step,
    .destroy = instance_destroy,
    .numbers = adc_numbers,
    .tune = adc_tune,
};

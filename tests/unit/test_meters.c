/* Tests the meters, sensors and the gate driver, against what is on paper. */
#include <errno.h>

#include "model_rig.h"

static const double pi = 3.14159265358979323846;

static void expect_close(double actual, double expected, double tolerance, const char *what)
{
    cr_expect(fabs(actual - expected) <= tolerance * fmax(1, fabs(expected)),
              "%s: %.17g, expected %.17g", what, actual, expected);
}

/* --- meters -------------------------------------------------------------------------------- */

typedef void course_fn(double t, double *in);

static struct rig metered(const char *name, const double *parameters, course_fn *course,
                          double period_s, double end_s)
{
    struct rig rig = rig_open(name, parameters, NULL, period_s);

    while ((double)rig.steps * period_s < end_s) {
        course((double)(rig.steps + 1) * period_s, rig.in);
        rig_step(&rig);
    }
    return rig;
}

static void distorted(double t, double *in)
{
    const double w = 2 * pi * 50 * t;

    in[0] = 7 + 10 * sin(w + 0.3) + 3 * cos(3 * w) + 4 * sin(5 * w - 1) + 0.5 * sin(41 * w);
}

Test(harmonics, have_the_amplitudes_that_were_made)
{
    struct rig rig = metered("harmonics", (const double[]){50, 5}, distorted, 1e-4, 0.25);

    expect_close(rig.out[0], 10, 1e-9, "fundamental");
    expect_close(rig.out[1], 50, 1e-9, "distortion, without harmonic 41");
    expect_close(rig.out[2], 7, 1e-9, "mean");
    expect_close(rig.out[3], sqrt(49 + 0.5 * (100 + 9 + 16 + 0.25)), 1e-9, "root mean square");
    expect_close(rig.out[4], sqrt(0.5 * (100 + 9 + 16 + 0.25)), 1e-9, "ripple");
    rig_end(&rig);
}

static void off_by_a_little(double t, double *in)
{
    in[0] = 10 * sin(2 * pi * 50.2 * t) + 2 * sin(2 * pi * 150.6 * t);
}

Test(harmonics, of_a_frequency_that_is_not_quite_so_are_nearly_right)
{
    struct rig rig = metered("harmonics", (const double[]){50, 5}, off_by_a_little, 97e-6, 0.25);

    expect_close(rig.out[0], 10, 1e-3, "fundamental");
    expect_close(rig.out[1], 20, 0.02, "distortion");
    rig_end(&rig);
}

static void nothing(double t, double *in)
{
    (void)t;
    in[0] = in[1] = 0;
}

Test(harmonics, of_nothing_are_nothing_and_too_fast_a_meter_is_refused)
{
    struct rig rig = metered("harmonics", NULL, nothing, 1e-4, 0.25);

    for (unsigned i = 0; i < 5; i++)
        cr_expect_eq(rig.out[i], 0);
    rig_end(&rig);
    rig = metered("power_meter", NULL, nothing, 1e-4, 0.25);
    cr_expect_eq(rig.out[2], 0);
    rig_end(&rig);
    cr_expect_eq(rig_try(&rig, "harmonics", 1, (const double[]){5000, 5}, NULL, 1e-4), -EDOM);
    cr_expect_str_eq(rig_said, "frequency_hz is not below half the rate of its steps");
}

/* A rectifier's current: of the fundamental, 30 degrees late, and of a fifth harmonic. */
static void rectified(double t, double *in)
{
    const double w = 2 * pi * 50 * t;

    in[0] = 325 * sin(w);
    in[1] = 10 * sin(w - pi / 6) + 4 * sin(5 * w);
}

Test(power_meter, has_the_power_and_its_factor)
{
    struct rig rig = metered("power_meter", (const double[]){50, 4}, rectified, 1e-4, 0.25);
    const double active = 325 * 10 * cos(pi / 6) / 2, apparent = 325 * sqrt(116) / 2;

    expect_close(rig.out[0], active, 1e-9, "active");
    expect_close(rig.out[1], apparent, 1e-9, "apparent");
    expect_close(rig.out[2], active / apparent, 1e-9, "power factor");
    rig_end(&rig);
}

static void converted(double t, double *in)
{
    in[0] = 100 + 40 * sin(2 * pi * 100 * t);
    in[1] = 94 + 10 * cos(2 * pi * 200 * t);
}

Test(efficiency_meter, compares_the_means)
{
    struct rig rig = metered("efficiency_meter", (const double[]){100, 5}, converted, 1e-4, 0.12);

    expect_close(rig.out[0], 94, 1e-9, "efficiency");
    expect_close(rig.out[1], 6, 1e-9, "losses");
    rig_end(&rig);
}

/* --- the converter -----------------------------------------------------------------------------
 */

enum { BITS, MIN, MAX, OFFSET, GAIN_ERROR, NOISE, SEED, CUTOFF, APERTURE };

static double adc_of(const double *parameters, double before, double now)
{
    struct rig rig = rig_open("adc", parameters, NULL, 1e-4);

    rig.in[0] = before;
    rig_step(&rig);
    rig.in[0] = now;
    rig_step(&rig);
    rig_end(&rig);
    return rig.out[0];
}

Test(adc, has_codes_offset_and_gain)
{
    cr_expect_eq(adc_of((const double[]){2, 0, 3, 0, 0, 0, 1, 0, 0}, 0, 1.4), 1);
    cr_expect_eq(adc_of((const double[]){2, 0, 3, 0, 0, 0, 1, 0, 0}, 0, 9), 3);
    cr_expect_eq(adc_of((const double[]){2, 0, 3, 0, 0, 0, 1, 0, 0}, 0, -9), 0);
    cr_expect_eq(adc_of((const double[]){2, 0, 3, 0.2, 0, 0, 1, 0, 0}, 0, 1.4), 2);
    cr_expect_eq(adc_of((const double[]){2, 0, 3, 0, 50, 0, 1, 0, 0}, 0, 1.4), 2);
    cr_expect(isnan(adc_of((const double[]){2, 0, 3, 0, 0, 0, 1, 0, 0}, 0, NAN)));
    struct rig rig;
    cr_expect_eq(rig_try(&rig, "adc", 1, (const double[]){2, 3, 3, 0, 0, 0, 1, 0, 0}, NULL, 1e-4),
                 -EDOM);
    cr_expect_eq(
        rig_try(&rig, "adc", 1, (const double[]){2, 0, 3, 0, 0, 0, 1, 0, 2e-4}, NULL, 1e-4), -EDOM);
}

/* The filter on a fine grid of times, with the input on a line from 1 to 5. */
static double filtered(double cutoff_hz, double aperture_s)
{
    enum { PARTS = 100000 };
    const double h = 1e-4 / PARTS, tau = 1 / (2 * pi * cutoff_hz);
    double y = 1, sum = 0, count = 0;

    for (int i = 0; i < PARTS; i++) {
        const double u = 1 + 4 * (i + 0.5) / PARTS;
        y += (u - y) * -expm1(-h / tau);
        if (i >= PARTS * (1 - aperture_s / 1e-4) - 0.5 || i == PARTS - 1)
            sum += y, count++;
    }
    return sum / count;
}

Test(adc, filters_and_averages_between_two_steps)
{
    static const double cutoffs[] = {10, 1e3, 1e5}, apertures[] = {0, 2e-5, 1e-4};

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const double parameters[] = {32, -10, 10, 0, 0, 0, 1, cutoffs[i], apertures[k]};
            expect_close(adc_of(parameters, 1, 5), filtered(cutoffs[i], apertures[k]), 2e-4,
                         "filtered");
        }
    expect_close(adc_of((const double[]){32, -10, 10, 0, 0, 0, 1, 0, 5e-5}, 1, 5), 4, 1e-8,
                 "the aperture alone");
    expect_close(adc_of((const double[]){32, -10, 10, 0, 0, 0, 1, 1e12, 1e-4}, 1, 5), 3, 1e-6,
                 "a filter that is too fast to matter");
}

Test(adc, has_noise_of_its_deviation)
{
    const double parameters[] = {32, -10, 10, 0, 0, 0.1, 7, 0, 0};
    struct rig rig = rig_open("adc", parameters, NULL, 1e-4);
    double sum = 0, squares = 0;

    for (int i = 0; i < 20000; i++) {
        rig_step(&rig);
        sum += rig.out[0];
        squares += rig.out[0] * rig.out[0];
    }
    cr_expect(fabs(sum / 20000) < 0.003 && fabs(sqrt(squares / 20000) - 0.1) < 0.003);
    rig_end(&rig);
}

/* --- positions ---------------------------------------------------------------------------------
 */

Test(encoder, counts_its_edges)
{
    struct rig rig = rig_open("encoder", (const double[]){250, 0}, NULL, 1e-3);

    rig.in[0] = 2 * pi * 0.5004;
    rig_step(&rig);
    cr_expect_eq(rig.out[0], 500);
    expect_close(rig.out[1], pi, 1e-12, "angle");
    cr_expect_eq(rig.out[2], 0);
    rig.in[0] = -2 * pi * 1.0001;
    rig_step(&rig);
    cr_expect_eq(rig.out[0], -1001);
    expect_close(rig.out[2], -1501 * 2 * pi / 1000 / 1e-3, 1e-12, "speed");
    rig_end(&rig);
}

Test(resolver, modulates_its_carrier)
{
    struct rig rig = rig_open("resolver", (const double[]){2, 10, 0.1, 0.5}, NULL, 1e-5);

    rig.in[0] = 0.4;
    rig.in[1] = 3;
    rig.in[2] = 5e3;
    for (int i = 0; i < 5; i++)
        rig_step(&rig);
    const double carrier = 3 * sin(2 * pi * 5e3 * 5e-5);
    expect_close(rig.out[0], carrier * sin(0.8) + 0.5, 1e-9, "sine");
    expect_close(rig.out[1], 1.1 * carrier * cos(0.9) + 0.5, 1e-9, "cosine");
    expect_close(rig.out[2], carrier, 1e-9, "carrier");
    rig_end(&rig);
}

/* --- the gate driver ---------------------------------------------------------------------------
 */

Test(gate_driver, delays_each_edge_and_loses_short_pulses)
{
    static const double gate[] = {0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
    static const double out[] = {0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    struct rig rig = rig_open("gate_driver", (const double[]){3e-7, 1e-7}, NULL, 1e-7);

    for (unsigned i = 0; i < sizeof gate / sizeof gate[0]; i++) {
        rig.in[0] = gate[i];
        rig_step(&rig);
        cr_expect_eq(rig.out[0], out[i], "step %u", i);
    }
    rig_end(&rig);
}

/* Tests the signal blocks that calculate, bend, decide, and turn frames, against their definitions
 * and independent computations. */
#include <complex.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_rig.h"

static const double period_s = 1e-4, pi = 3.14159265358979323846;

static struct rig rig_with(const char *name, const double *parameters)
{
    return rig_open(name, parameters, NULL, period_s);
}

/* The first output for these inputs in the next step. */
static double answer(struct rig *rig, double a, double b, double c)
{
    rig->in[0] = a, rig->in[1] = b, rig->in[2] = c;
    rig_step(rig);
    return rig->out[0];
}

static void expect_close(double actual, double expected, double tolerance)
{
    cr_expect(fabs(actual - expected) <= tolerance, "%.17g, expected %.17g", actual, expected);
}

/* --- arithmetic ---------------------------------------------------------------------------- */

static double of_four(const char *name)
{
    struct rig rig;

    cr_assert_eq(rig_try(&rig, name, 4, NULL, NULL, period_s), 0);
    memcpy(rig.in, (const double[]){-3, 0.5, 8, -2}, 4 * sizeof(double));
    rig_step(&rig);
    rig_end(&rig);
    return rig.out[0];
}

Test(blocks, arithmetic_of_several_inputs)
{
    cr_expect_eq(of_four("product"), 24);
    cr_expect_eq(of_four("minimum"), -3);
    cr_expect_eq(of_four("maximum"), 8);
}

Test(blocks, a_quotient_by_nearly_nothing_has_a_bound)
{
    struct rig rig = rig_with("quotient", (const double[]){0.01});

    cr_expect_eq(answer(&rig, 3, 4, 0), 0.75);
    cr_expect_eq(answer(&rig, 3, -0.001, 0), -300);
    cr_expect_eq(answer(&rig, 3, 0, 0), 300);
    cr_expect_eq(rig.model->tune(rig.self, 0, 1), 0);
    cr_expect_eq(answer(&rig, 3, 0, 0), 3);
    cr_expect_eq(rig.model->tune(rig.self, 1, 1), -EDOM);
    rig_end(&rig);
    rig = rig_with("absolute", NULL);
    cr_expect_eq(answer(&rig, -7, 0, 0), 7);
    rig_end(&rig);
}

/* --- bounds -------------------------------------------------------------------------------- */

Test(blocks, a_dead_band_leaves_what_is_beyond_it)
{
    struct rig rig = rig_with("dead_band", (const double[]){-1, 2});

    cr_expect_eq(answer(&rig, 1.5, 0, 0), 0);
    cr_expect_eq(answer(&rig, 5, 0, 0), 3);
    cr_expect_eq(answer(&rig, -5, 0, 0), -4);
    cr_expect_eq(rig.model->tune(rig.self, 1, -1), -EDOM, "the edges in the wrong order");
    rig_end(&rig);
    cr_expect_eq(rig_try(&rig, "dead_band", 1, (const double[]){2, 2}, NULL, period_s), -EDOM);
    cr_expect_str_eq(rig_said, "lower_edge is not below upper_edge");
}

Test(blocks, hysteresis_remembers_the_threshold_that_was_passed_last)
{
    struct rig rig = rig_with("hysteresis", (const double[]){-1, 1, -5, 7});

    cr_expect_eq(answer(&rig, 0, 0, 0), -5);
    cr_expect_eq(answer(&rig, 1, 0, 0), 7);
    cr_expect_eq(answer(&rig, -0.9, 0, 0), 7);
    cr_expect_eq(answer(&rig, -1, 0, 0), -5);
    cr_expect_eq(answer(&rig, 0.9, 0, 0), -5);
    rig_end(&rig);
}

Test(blocks, a_slope_is_limited_in_each_direction)
{
    struct rig rig = rig_with("rate_limiter", (const double[]){1000, 2000});

    cr_expect_eq(answer(&rig, 3, 0, 0), 3, "it begins with the input");
    expect_close(answer(&rig, 9, 0, 0), 3.1, 1e-12);
    expect_close(answer(&rig, 3.15, 0, 0), 3.15, 1e-12);
    expect_close(answer(&rig, 0, 0, 0), 2.95, 1e-12);
    rig_end(&rig);
}

/* What is not a number must not become one on its way. */
Test(blocks, that_bound_pass_on_what_is_not_a_number)
{
    static const char *const names[] = {"minimum",   "maximum",      "dead_band", "rate_limiter",
                                        "quantiser", "space_vector", "absolute"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (unsigned place = 0; place < 2; place++) {
            const bool one = hil_model_find(names[i])->inputs.count == 1 &&
                             !(hil_model_find(names[i])->inputs.at[0].flags & HIL_WIDE);
            if (one && place == 1)
                continue;
            struct rig rig;
            double parameters[RIG_PLACES];
            rig_defaults(parameters, names[i]);
            const unsigned width = strstr(names[i], "imum") ? 2 : 1;
            cr_assert_eq(rig_try(&rig, names[i], width, parameters, NULL, period_s), 0);
            rig.in[0] = rig.in[1] = 0.1;
            rig.in[2] = 1;
            rig.in[place] = NAN;
            rig_step(&rig);
            cr_expect(isnan(rig.out[0]) || isnan(rig.out[1]), "%s, place %u", names[i], place);
            rig_end(&rig);
        }
    }
    struct rig load = rig_open("constant_current_load", NULL, NULL, period_s);
    answer(&load, NAN, 5, 0);
    cr_expect(isnan(load.out[1]));
    answer(&load, 12, NAN, 0);
    cr_expect(isnan(load.out[1]));
    rig_end(&load);
}

static double looked_up(double held, double input)
{
    const double parameters[] = {-1, 0, 2, 10, 20, 0, held};
    struct rig rig;

    cr_assert_eq(rig_try(&rig, "lookup", 3, parameters, NULL, period_s), 0);
    const double value = answer(&rig, input, 0, 0);
    rig_end(&rig);
    return value;
}

Test(blocks, a_table_is_on_lines_or_held)
{
    static const double at[] = {-5, -1, -0.25, 0, 1.5, 2, 9};
    static const double lines[] = {10, 10, 17.5, 20, 5, 0, 0}, held[] = {10, 10, 10, 20, 20, 0, 0};
    struct rig rig;

    for (unsigned i = 0; i < sizeof at / sizeof at[0]; i++) {
        cr_expect_eq(looked_up(0, at[i]), lines[i], "at %g", at[i]);
        cr_expect_eq(looked_up(1, at[i]), held[i], "at %g", at[i]);
    }
    cr_expect(isnan(looked_up(0, NAN)) && isnan(looked_up(1, NAN)));
    cr_expect_eq(rig_try(&rig, "lookup", 2, (const double[]){1, 1, 0, 0, 0}, NULL, period_s),
                 -EDOM);
    cr_expect_str_eq(rig_said, "at does not increase from point to point");
}

/* --- logic --------------------------------------------------------------------------------- */

Test(blocks, a_switch_and_a_hold)
{
    struct rig rig = rig_with("switch", NULL);

    cr_expect_eq(answer(&rig, 3, 4, 0.49), 3);
    cr_expect_eq(answer(&rig, 3, 4, 0.5), 4);
    rig_end(&rig);
    rig = rig_with("sample_and_hold", NULL);
    cr_expect_eq(answer(&rig, 3, 1, 0), 3, "the first step samples");
    cr_expect_eq(answer(&rig, 4, 1, 0), 3);
    cr_expect_eq(answer(&rig, 5, 0, 0), 5);
    cr_expect_eq(answer(&rig, 6, 1, 0), 5);
    rig_end(&rig);
}

Test(blocks, edges_are_found_and_counted)
{
    static const double signal[] = {1, 1, 0, 1, 0, 0, 1, 1, 0, 1};
    static const double rising[] = {0, 0, 0, 1, 0, 0, 1, 0, 0, 1};
    static const double falling[] = {0, 0, 1, 0, 1, 0, 0, 0, 1, 0};
    static const double count[] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 1};
    struct rig edges = rig_with("edge_detector", NULL);
    struct rig counter = rig_with("counter", (const double[]){2});

    for (unsigned i = 0; i < sizeof signal / sizeof signal[0]; i++) {
        cr_expect_eq(answer(&edges, signal[i], 0, 0), rising[i], "step %u", i);
        cr_expect_eq(edges.out[1], falling[i], "step %u", i);
        cr_expect_eq(answer(&counter, signal[i], 0, 0), count[i], "step %u", i);
    }
    cr_expect_eq(answer(&counter, 1, 1, 0), 0, "reset");
    rig_end(&counter);
    rig_end(&edges);
}

/* --- frames -------------------------------------------------------------------------------- */

/* A balanced sine of amplitude 3 is a vector of length 3, which stands still in a frame that turns
 * with it. */
Test(blocks, transforms_of_three_phases)
{
    struct rig clarke = rig_with("clarke", NULL), park = rig_with("park", NULL);
    struct rig back = rig_with("inverse_park", NULL), phases = rig_with("inverse_clarke", NULL);

    for (unsigned i = 0; i < 50; i++) {
        const double angle = 0.37 * i, third = 2 * pi / 3;
        const double a = 3 * cos(angle) + 0.2, b = 3 * cos(angle - third) + 0.2;
        const double c = 3 * cos(angle + third) + 0.2;
        expect_close(answer(&clarke, a, b, c), 3 * cos(angle), 1e-12);
        expect_close(clarke.out[1], 3 * sin(angle), 1e-12);
        expect_close(clarke.out[2], 0.2, 1e-12);
        expect_close(answer(&park, clarke.out[0], clarke.out[1], angle - 0.5), 3 * cos(0.5), 1e-12);
        expect_close(park.out[1], 3 * sin(0.5), 1e-12);
        answer(&back, park.out[0], park.out[1], angle - 0.5);
        expect_close(answer(&phases, back.out[0], back.out[1], clarke.out[2]), a, 1e-12);
        expect_close(phases.out[1], b, 1e-12);
        expect_close(phases.out[2], c, 1e-12);
    }
    rig_end(&phases);
    rig_end(&back);
    rig_end(&park);
    rig_end(&clarke);
}

/* The line voltages are those that were asked for, and the duties are centred. */
Test(blocks, space_vectors_make_the_voltages_between_phases)
{
    struct rig rig = rig_with("space_vector", NULL);

    for (unsigned i = 0; i < 60; i++) {
        const double angle = 2 * pi * i / 60, length = 400 / sqrt(3);
        answer(&rig, length * cos(angle), length * sin(angle), 400);
        expect_close(400 * (rig.out[0] - rig.out[1]),
                     length * (cos(angle) - cos(angle - 2 * pi / 3)), 1e-9);
        expect_close(400 * (rig.out[1] - rig.out[2]),
                     length * (cos(angle - 2 * pi / 3) - cos(angle + 2 * pi / 3)), 1e-9);
        const double most = fmax(fmax(rig.out[0], rig.out[1]), rig.out[2]);
        const double least = fmin(fmin(rig.out[0], rig.out[1]), rig.out[2]);
        expect_close(most + least, 1, 1e-12);
        cr_expect(most <= 1 && least >= 0);
    }
    cr_expect_eq(answer(&rig, 1000, 0, 400), 1, "limited");
    cr_expect_eq(answer(&rig, 1000, 0, 0), 0.5, "without a supply");
    rig_end(&rig);
}

/* --- alternating signals ------------------------------------------------------------------- */

Test(blocks, a_loop_locks_to_what_turns)
{
    struct rig rig = rig_with("pll", NULL);
    double angle = 1;

    cr_expect_eq(answer(&rig, 0, 0, 0), 0);
    cr_expect_eq(rig.out[3], 0, "nothing turns");
    for (unsigned i = 0; i < 10000; i++, angle += 2 * pi * 51.3 * period_s)
        answer(&rig, 3 * cos(angle), 3 * sin(angle), 0);
    angle -= 2 * pi * 51.3 * period_s;
    expect_close(remainder(rig.out[0] - angle, 2 * pi), 0, 1e-9);
    expect_close(rig.out[1], 51.3, 1e-9);
    expect_close(rig.out[2], 3, 1e-12);
    cr_expect_eq(rig.out[3], 1);
    answer(&rig, 3 * cos(angle + 1), 3 * sin(angle + 1), 0);
    cr_expect_eq(rig.out[3], 0, "a jump of the angle");
    rig_end(&rig);
}

/* The amplitude and phase of the law's answer to a sine, once it has settled. */
static double complex response(const double *parameters, double hz)
{
    struct rig rig = rig_with("resonant", parameters);
    double complex sum = 0;
    const unsigned settle = 200000, count = 100000;

    for (unsigned i = 0; i < settle + count; i++) {
        const double angle = 2 * pi * hz * i * period_s;
        const double y = answer(&rig, cos(angle) + 5, 5, 0);
        if (i >= settle)
            sum += y * cexp(-I * angle);
    }
    rig_end(&rig);
    return 2 * sum / count;
}

/* What it is by the trapezoidal rule, s = k (z - 1) / (z + 1). */
static double complex transformed(const double *p, double hz)
{
    const double w0 = 2 * pi * p[2], wc = 2 * pi * p[3];
    const double complex z = cexp(I * 2 * pi * hz * period_s);
    const double complex s = w0 / tan(w0 * period_s / 2) * (z - 1) / (z + 1);

    return p[0] + p[1] * 2 * wc * s / (s * s + 2 * wc * s + w0 * w0);
}

Test(blocks, a_resonant_law_has_its_peak_at_its_frequency)
{
    static const double parameters[] = {0.5, 20, 50, 1};
    static const double at_hz[] = {10, 49, 50, 52, 150, 1000};
    struct rig rig;

    for (unsigned i = 0; i < sizeof at_hz / sizeof at_hz[0]; i++) {
        const double complex is = response(parameters, at_hz[i]);
        const double complex expected = transformed(parameters, at_hz[i]);
        cr_expect(cabs(is - expected) < 1e-6, "at %g Hz: %g, expected %g", at_hz[i], cabs(is),
                  cabs(expected));
    }
    expect_close(cabs(transformed(parameters, 50)), 20.5, 1e-9);
    cr_expect_eq(rig_try(&rig, "resonant", 1, (const double[]){1, 1, 5000, 1}, NULL, period_s),
                 -EDOM);
}

/* --- signals that come from nothing -------------------------------------------------------- */

/* The signal at a time, from a component that steps there at once. */
static double at_time(const char *name, const double *parameters, double t_s, unsigned output)
{
    struct rig rig = rig_with(name, parameters);

    cr_assert_eq(rig.model->step(rig.self, (uint64_t)llround(t_s * 1e9), rig.in, rig.out), 0);
    const double value = rig.out[output];
    rig_end(&rig);
    return value;
}

/* The phase is the integral of the frequency, here by many small steps. */
static double chirped(bool logarithmic, double from, double to, double duration, double t)
{
    const unsigned parts = 200000;
    double turns = 0;

    for (unsigned i = 0; i < parts; i++) {
        const double share = fmin(t * (i + 0.5) / parts / duration, 1);
        turns += logarithmic ? from * pow(to / from, share) : from + (to - from) * share;
    }
    return sin(2 * pi * turns * t / parts);
}

Test(blocks, a_chirp_goes_from_one_frequency_to_the_other_and_stays)
{
    static const double at_s[] = {0.1, 0.37, 0.5, 0.8};

    for (unsigned i = 0; i < 4; i++)
        for (unsigned l = 0; l < 2; l++)
            expect_close(at_time("chirp", (const double[]){3, 10, 100, 0.5, l}, at_s[i], 0),
                         3 * chirped(l, 10, 100, 0.5, at_s[i]), 1e-6);
    expect_close(at_time("chirp", (const double[]){1, 10, 10, 0.5, 1}, 0.025, 0), 1, 1e-12);
}

/* A sequence of the greatest length has one 1 more than -1, repeats, and is at any other shift as
 * little like itself as can be. */
Test(blocks, a_binary_sequence_of_each_order)
{
    for (unsigned order = 3; order <= 11; order++) {
        const int length = (1 << order) - 1;
        struct rig rig = rig_with("prbs", (const double[]){2, 2 * period_s, order});
        double *values = calloc((size_t)length * 2, sizeof *values);
        answer(&rig, 0, 0, 0); /* the first step is a period after the start */
        for (int i = 0; i < 2 * length; i++) {
            values[i] = answer(&rig, 0, 0, 0) / 2;
            cr_assert_eq(answer(&rig, 0, 0, 0) / 2, values[i], "each stays for two steps");
        }
        for (int shift = 0; shift < length; shift++) {
            double sum = 0, like = 0;
            for (int i = 0; i < length; i++) {
                sum += values[i];
                like += values[i] * values[i + shift];
            }
            cr_assert_eq(sum, 1);
            cr_assert_eq(like, shift ? -1 : length, "order %u, shift %d", order, shift);
        }
        free(values);
        rig_end(&rig);
    }
    struct rig rig;
    cr_expect_eq(rig_try(&rig, "prbs", 1, (const double[]){1, period_s / 2, 5}, NULL, period_s),
                 -EDOM);
}

Test(blocks, a_grid_has_a_sag_harmonics_and_another_frequency)
{
    const double p[] = {300, 50, 30, 0.4, 0.1, 0.05, 0.2, 0.1, 2, 0.2};
    static const double at_s[] = {0.013, 0.12, 0.1500001, 0.27};

    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 3; k++) {
            const double t = at_s[i];
            const double x = 2 * pi * (50 * t + (t > 0.2 ? 2 * (t - 0.2) : 0) + 30. / 360 - k / 3.);
            const double v = 300 * (cos(x) + 0.2 * cos(5 * x) + 0.1 * cos(7 * x));
            expect_close(at_time("three_phase", p, t, k), i == 1 ? 0.4 * v : v, 1e-8);
        }
}

/*
 * Tests the converters against the reference scenario: its numbers, a fine integration of
 * independently written equations, and cases with a known solution.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "harness/models/models.h"
#include "harness/models/provider/tables.h"
#include "model_rig.h"
#include "plants/linear.h"
#include "tests/data/reference_units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { DUTY, INPUT_VOLTAGE, LOAD };
enum { L, C, RL, RON, ESR, DROP, RS, I_SATURATION, L_SATURATED, FREQUENCY };

static const double period_s = 10e-6;
static const char *const averaged[] = {"buck", "boost", "buck_boost"};
static const char *const converters[] = {"buck",           "boost",
                                         "buck_boost",     "switched_buck",
                                         "switched_boost", "switched_buck_boost",
                                         "dead_time_buck", "diode_buck",
                                         "diode_boost",    NULL};

static void expect_close(double actual, double expected, double relative, const char *what)
{
    const double error = fabs(actual - expected);

    cr_expect(error <= relative * fmax(1, fabs(expected)), "%s: %.17g, expected %.17g (off by %g)",
              what, actual, expected, error);
}

/* --- converters with their parameters and held inputs --- */

static struct rig rig_with(const char *name, const double *parameters, double current_a,
                           double capacitor_v, double period)
{
    const double states[] = {current_a, capacitor_v};
    struct rig rig = rig_open(name, parameters, states, period);

    rig.in[INPUT_VOLTAGE] = 48;
    rig.in[LOAD] = 2.4;
    return rig;
}

static struct rig rig_at(const char *name, double current_a, double capacitor_v)
{
    double parameters[HIL_QUANTITIES_MAX];

    rig_defaults(parameters, name);
    return rig_with(name, parameters, current_a, capacitor_v, period_s);
}

/* Makes one step at this duty. */
static void step_at(struct rig *rig, double duty)
{
    rig->in[DUTY] = duty;
    rig_step(rig);
}

/* --- the equations, one switch position at a time, as the reference states them --- */

struct derivative {
    double current, capacitor, voltage;
};

static struct derivative inductor_to_output(const double *p, const double *x, double vin,
                                            double load)
{
    const double g = 1 / (load + p[ESR]);
    const double voltage = load * g * (x[1] + p[ESR] * x[0]);

    return (struct derivative){(vin - (p[RL] + p[RON]) * x[0] - voltage) / p[L],
                               g * (load * x[0] - x[1]) / p[C], voltage};
}

static struct derivative inductor_to_ground(const double *p, const double *x, double vin,
                                            double load)
{
    const double g = 1 / (load + p[ESR]);

    return (struct derivative){(vin - (p[RL] + p[RON]) * x[0]) / p[L], -g * x[1] / p[C],
                               load * g * x[1]};
}

static struct derivative equations(const char *name, const double *p, const double *x,
                                   const double *in)
{
    const double d = in[DUTY], vin = in[INPUT_VOLTAGE], load = in[LOAD];
    struct derivative on, off;

    if (strcmp(name, "buck") == 0)
        return inductor_to_output(p, x, d * vin, load);

    on = inductor_to_ground(p, x, vin, load);
    off = inductor_to_output(p, x, strcmp(name, "boost") == 0 ? vin : 0, load);
    return (struct derivative){d * on.current + (1 - d) * off.current,
                               d * on.capacitor + (1 - d) * off.capacitor,
                               d * on.voltage + (1 - d) * off.voltage};
}

/* Integrates one period with a hundred steps of the classical Runge-Kutta method. */
static void integrate(const char *name, const double *p, double *x, const double *in)
{
    const int count = 100;
    const double h = period_s / count, at[] = {0, h / 2, h / 2, h}, weight[] = {1, 2, 2, 1};

    for (int i = 0; i < count; i++) {
        struct derivative k = {0, 0, 0};
        double sum[2] = {0, 0};

        for (int stage = 0; stage < 4; stage++) {
            const double there[] = {x[0] + at[stage] * k.current, x[1] + at[stage] * k.capacitor};

            k = equations(name, p, there, in);
            sum[0] += weight[stage] * k.current;
            sum[1] += weight[stage] * k.capacitor;
        }
        x[0] += h / 6 * sum[0];
        x[1] += h / 6 * sum[1];
    }
}

/* --- sampling of a linear system --- */

static void expect_linear(const struct linear *system, double period, const struct linear *expected)
{
    struct linear sampled;

    linear_sample(&sampled, system, period);
    for (int i = 0; i < 2; i++) {
        expect_close(sampled.b[i], expected->b[i], 1e-14, "b");
        for (int j = 0; j < 2; j++)
            expect_close(sampled.a[i][j], expected->a[i][j], 1e-14, "a");
    }
}

Test(linear, real_eigenvalues)
{
    const struct linear system = {{{-3, 0}, {0, 0.5}}, {2, 1}};
    const struct linear expected = {{{exp(-6), 0}, {0, exp(1)}},
                                    {-2.0 / 3 * expm1(-6), 2 * expm1(1)}};

    expect_linear(&system, 2, &expected);
}

Test(linear, far_apart_eigenvalues)
{
    const struct linear system = {{{-1e6, 0}, {0, -1}}, {1e6, 1}};
    const struct linear expected = {{{0, 0}, {0, exp(-0.1)}}, {1, -expm1(-0.1)}};

    expect_linear(&system, 0.1, &expected);
}

Test(linear, equal_eigenvalues)
{
    const struct linear system = {{{-1, 1}, {0, -1}}, {0, 1}};
    const double e = exp(-2);
    const struct linear expected = {{{e, 2 * e}, {0, e}}, {1 - 3 * e, 1 - e}};

    expect_linear(&system, 2, &expected);
}

Test(linear, imaginary_eigenvalues)
{
    const struct linear system = {{{0, 5}, {-5, 0}}, {5, 0}};
    const double c = cos(3.5), s = sin(3.5);
    const struct linear expected = {{{c, s}, {-s, c}}, {s, c - 1}};

    expect_linear(&system, 0.7, &expected);
}

Test(linear, singular_matrix)
{
    const struct linear system = {{{0, 1}, {0, 0}}, {0, 1}};
    const struct linear expected = {{{1, 3}, {0, 1}}, {4.5, 3}};

    expect_linear(&system, 3, &expected);
}

/* The state falls by a fraction of 1e-12. The small difference must keep its digits. */
Test(linear, short_period)
{
    const struct linear system = {{{-1, 0}, {0, -2}}, {1, 2}};
    struct linear sampled;

    linear_sample(&sampled, &system, 1e-12);
    expect_close(sampled.b[0] / -expm1(-1e-12), 1, 1e-14, "b[0]");
    expect_close(sampled.b[1] / -expm1(-2e-12), 1, 1e-14, "b[1]");
}

Test(linear, not_finite_gives_nan)
{
    const double bad[] = {NAN, INFINITY, -INFINITY};

    for (size_t i = 0; i < COUNT(bad); i++) {
        const struct linear system = {{{bad[i], 0}, {0, 1}}, {1, 1}};
        struct linear sampled;

        linear_sample(&sampled, &system, 1);
        cr_expect(isnan(sampled.a[0][0]) && isnan(sampled.b[1]));
    }
}

/* --- averaged converters --- */

Test(averaged, reference_unit_vectors)
{
    for (size_t i = 0; i < COUNT(reference_buck); i++) {
        const struct reference_step *r = &reference_buck[i];
        struct rig rig = rig_at("buck", r->current_a, r->capacitor_v);
        double before[RIG_PLACES];

        cr_assert_eq(r->period_s, period_s);
        rig.in[DUTY] = r->duty;
        cr_assert_eq(rig.model->output(rig.self, rig.in, before), 0);
        expect_close(before[1], r->current_a, 0, "current before");
        step_at(&rig, r->duty);
        expect_close(rig.out[0], r->voltage_next_v, 1e-12, "voltage");
        expect_close(rig.out[1], r->current_next_a, 1e-12, "current");
        rig_end(&rig);
    }
}

/* Checks Ad, Bd Vin and C as printed in REFERENCE.md, one column at a time. */
Test(averaged, reference_matrices)
{
    const struct {
        double x[2], duty, vin;
        double current, capacitor;
    } columns[] = {
        {{1, 0}, 0, 0, 0.98311533, 0.02075247},
        {{0, 1}, 0, 0, -0.2075247, 0.98909896},
        {{0, 0}, 1, 48, 10.1300451, 0.10642673},
    };

    for (size_t i = 0; i < COUNT(columns); i++) {
        struct rig rig = rig_at("buck", columns[i].x[0], columns[i].x[1]);

        rig.in[INPUT_VOLTAGE] = columns[i].vin;
        step_at(&rig, columns[i].duty);
        expect_close(rig.out[1], columns[i].current, 5e-8, "current");
        expect_close(rig.out[0],
                     0.02962963 * columns[i].current + 0.98765432 * columns[i].capacitor, 5e-8,
                     "voltage");
        rig_end(&rig);
    }
}

/* Duty and load change in the meantime and return to earlier values. */
Test(averaged, agree_with_a_fine_integration)
{
    const double duties[] = {0.3, 0.3, 0.6, 0, 1, 0.3, 0.3, 0.75, 0.75};
    const double loads[] = {2.4, 2.4, 2.4, 2.4, 2.4, 0.6, 2.4, 1e6, 0.6};

    for (size_t t = 0; t < COUNT(averaged); t++) {
        double parameters[HIL_QUANTITIES_MAX], x[2] = {4.5, 11.3};
        struct rig rig = rig_at(averaged[t], x[0], x[1]);

        rig_defaults(parameters, rig.model->name);
        for (size_t i = 0; i < COUNT(duties); i++) {
            double again[RIG_PLACES];

            rig.in[LOAD] = loads[i];
            step_at(&rig, duties[i]);
            integrate(averaged[t], parameters, x, rig.in);
            expect_close(rig.out[1], x[0], 1e-11, averaged[t]);
            expect_close(rig.out[0], equations(averaged[t], parameters, x, rig.in).voltage, 1e-11,
                         averaged[t]);
            cr_assert_eq(rig.model->output(rig.self, rig.in, again), 0);
            expect_close(again[0], rig.out[0], 1e-15, "output after step");
        }
        rig_end(&rig);
    }
}

/* Steady states of ideal converters: D Vin, Vin/(1-D), D Vin/(1-D). */
Test(averaged, ideal_steady_states)
{
    const double duty = 0.4, expected[] = {0.4 * 48, 48 / 0.6, 0.4 * 48 / 0.6};

    for (size_t t = 0; t < COUNT(averaged); t++) {
        const double ideal[FREQUENCY] = {47e-6, 470e-6, 0, 0, 0};
        struct rig rig = rig_with(averaged[t], ideal, 0, 0, period_s);

        for (int i = 0; i < 20000; i++)
            step_at(&rig, duty);
        expect_close(rig.out[0] / expected[t], 1, 1e-12, averaged[t]);
        rig_end(&rig);
    }
}

/* Always on and without resistance, the current is a ramp and the capacitor discharges separately.
 */
Test(averaged, always_on_without_resistance)
{
    const double ideal[FREQUENCY] = {47e-6, 470e-6, 0, 0, 0};

    for (size_t t = 1; t < COUNT(averaged); t++) {
        struct rig rig = rig_with(averaged[t], ideal, 2, 10, period_s);

        step_at(&rig, 1);
        expect_close(rig.out[1], 2 + 48 * period_s / 47e-6, 1e-14, "current");
        expect_close(rig.out[0], 10 * exp(-period_s / (2.4 * 470e-6)), 1e-14, "voltage");
        rig_end(&rig);
    }
}

/* Without load, loss and source, the energy swings between the two and is conserved. */
Test(averaged, lossless_circuit_keeps_its_energy)
{
    const double ideal[FREQUENCY] = {47e-6, 470e-6, 0, 0, 0};
    struct rig rig = rig_with("buck", ideal, 10, 0, period_s);

    rig.in[LOAD] = 1e9;
    for (int i = 0; i < 1000; i++)
        step_at(&rig, 0);
    expect_close(47e-6 * rig.out[1] * rig.out[1] + 470e-6 * rig.out[0] * rig.out[0], 47e-6 * 100,
                 1e-10, "energy");
    cr_expect(fabs(rig.out[0]) > 0.01, "it swings");
    rig_end(&rig);
}

/* --- the switched buck --- */

static struct rig switched(double frequency_hz, double period, double current_a, double capacitor_v)
{
    double parameters[HIL_QUANTITIES_MAX];

    rig_defaults(parameters, "switched_buck");
    parameters[FREQUENCY] = frequency_hz;
    return rig_with("switched_buck", parameters, current_a, capacitor_v, period);
}

/* Each part of a cycle is the averaged buck at duty 1 or 0 for that long. */
Test(switched_buck, two_parts_solved_exactly)
{
    const double duties[] = {0, 0.05, 0.25, 0.731, 1};
    double parameters[HIL_QUANTITIES_MAX];

    rig_defaults(parameters, "buck");
    for (size_t i = 0; i < COUNT(duties); i++) {
        struct rig rig = switched(100e3, period_s, 4.5, 11.3);
        double x[2] = {4.5, 11.3};

        for (int part = 1; part >= 0; part--) {
            const double length = (part ? duties[i] : 1 - duties[i]) * period_s;
            if (length <= 0)
                continue;

            struct rig one = rig_with("buck", parameters, x[0], x[1], length);
            const double c[] = {2.4 / 2.43 * 0.03, 2.4 / 2.43};
            step_at(&one, part);
            x[0] = one.out[1];
            x[1] = (one.out[0] - c[0] * x[0]) / c[1];
            rig_end(&one);
        }
        step_at(&rig, duties[i]);
        expect_close(rig.out[1], x[0], 1e-13, "current");
        expect_close(rig.out[0], 2.4 / 2.43 * (x[1] + 0.03 * x[0]), 1e-13, "voltage");
        rig_end(&rig);
    }
}

/* REFERENCE.md: peak 18.59 V after a step of the duty; up to 204 mV between the two. */
Test(switched_buck, near_the_averaged_one)
{
    struct rig mean = rig_at("buck", 0, 0), real = rig_at("switched_buck", 0, 0);
    double peak = 0, apart = 0;

    for (int i = 0; i < 500; i++) {
        step_at(&mean, 0.25);
        step_at(&real, 0.25);
        peak = fmax(peak, mean.out[0]);
        apart = fmax(apart, fabs(mean.out[0] - real.out[0]));
    }
    expect_close(peak, 18.59, 0.005 / 18.59, "peak");
    expect_close(apart, 0.204, 0.001, "apart");
    rig_end(&mean);
    rig_end(&real);
}

/* A cycle in 100 steps, in one step, and as a tenth of a step is the same circuit. */
Test(switched_buck, steps_and_cycles_of_any_ratio)
{
    struct rig fine = switched(100e3, 100e-9, 1, 2), one = switched(100e3, 10e-6, 1, 2),
               coarse = switched(100e3, 100e-6, 1, 2);

    for (int i = 0; i < 10; i++) {
        const double duty = 0.2537;

        for (int j = 0; j < 10; j++) {
            step_at(&one, duty);
            for (int k = 0; k < 100; k++)
                step_at(&fine, duty);
        }
        step_at(&coarse, duty);
        for (int k = 0; k < 2; k++) {
            expect_close(fine.out[k], one.out[k], 1e-11, "fine");
            expect_close(coarse.out[k], one.out[k], 1e-14, "coarse");
        }
    }
    rig_end(&fine);
    rig_end(&one);
    rig_end(&coarse);
}

/* REFERENCE.md: about 1.9 A and 60 mV. */
Test(switched_buck, ripple)
{
    struct rig rig = switched(100e3, 100e-9, 5, 12);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};

    for (int i = 0; i < 200000; i++) {
        step_at(&rig, 0.25);
        for (int k = 0; i >= 199900 && k < 2; k++) {
            low[k] = fmin(low[k], rig.out[k]);
            high[k] = fmax(high[k], rig.out[k]);
        }
    }
    expect_close(high[1] - low[1], 1.91, 0.01, "current ripple");
    expect_close(high[0] - low[0], 0.06, 0.005, "voltage ripple");
    rig_end(&rig);
}

/* A duty that changes within a cycle takes effect in the next one. */
Test(switched_buck, latches_the_duty)
{
    struct rig changed = switched(100e3, 1e-6, 0, 0), held = switched(100e3, 1e-6, 0, 0);

    for (int i = 0; i < 10; i++) {
        step_at(&changed, i < 2 ? 0.3 : 0.9);
        step_at(&held, 0.3);
        cr_expect_eq(changed.out[1], held.out[1], "step %d", i);
    }
    for (int i = 0; i < 10; i++) {
        step_at(&changed, 0.9);
        step_at(&held, 0.3);
    }
    cr_expect(changed.out[1] > held.out[1] + 1);
    rig_end(&changed);
    rig_end(&held);
}

/* The switch stays off: a duty of NaN must not break the circuit's state. */
Test(switched_buck, a_duty_that_is_not_a_number_is_off)
{
    struct rig broken = rig_at("switched_buck", 4.5, 11.3),
               off = rig_at("switched_buck", 4.5, 11.3);

    step_at(&broken, NAN);
    step_at(&off, 0);
    cr_expect_eq(broken.out[0], off.out[0]);
    rig_end(&broken);
    rig_end(&off);
}

Test(switched_buck, load_changes_at_once)
{
    struct rig rig = rig_at("switched_buck", 4.5, 11.3);
    rig.in[LOAD] = 0.7;
    step_at(&rig, 0.25);

    struct rig other = rig_at("switched_buck", 4.5, 11.3);
    for (int i = 0; i < 5; i++)
        step_at(&other, 0.25);
    other.in[LOAD] = 0.7;
    const double x0 = other.out[1], x1 = (other.out[0] * 2.43 / 2.4) - 0.03 * x0;
    step_at(&other, 0.25);

    struct rig fresh = rig_at("switched_buck", x0, x1);
    fresh.in[LOAD] = 0.7;
    step_at(&fresh, 0.25);
    expect_close(other.out[0], fresh.out[0], 1e-13, "voltage");
    expect_close(other.out[1], fresh.out[1], 1e-13, "current");
    cr_expect(fabs(rig.out[0] - 11.3) > 0.1, "0.7 Ohm pulls the voltage down");

    rig_end(&rig);
    rig_end(&other);
    rig_end(&fresh);
}

Test(switched_buck, refuses_periods_that_do_not_divide)
{
    const struct {
        double frequency_hz, period_s;
        int error;
    } cases[] =
        {
            {100e3, 10e-6, 0},     {300e3, 10e-6, 0},    {50e3, 10e-6, 0},
            {1e5 / 3, 10e-6, 0},   {1e3, 10e-6, 0},      {1e8, 10e-6, 0},
            {150e3, 10e-6, -EDOM}, {30e3, 10e-6, -EDOM}, {99.99e3, 10e-6, -EDOM},
            {100e3, 9e-6, -EDOM},  {1e8, 1, -EDOM}, /* too many cycles in a step */
        };

    for (size_t i = 0; i < COUNT(cases); i++) {
        double parameters[HIL_QUANTITIES_MAX];
        const double states[2] = {0, 0};
        struct rig rig;

        rig_defaults(parameters, "switched_buck");
        parameters[FREQUENCY] = cases[i].frequency_hz;
        const int error = rig_try(&rig, "switched_buck", 1, parameters, states, cases[i].period_s);
        cr_expect_eq(error, cases[i].error, "%g Hz: %d", cases[i].frequency_hz, error);
        cr_expect_eq(error != 0, rig_said[0] != '\0', "%s", rig_said);
        if (!error)
            rig_end(&rig);
    }
}

/* --- every converter --- */

/* Outputs before the first step, at a load that is not the default. All topologies feed the output
 * at duty 0. */
Test(converters, give_the_output_of_their_initial_state)
{
    for (const char *const *m = converters; *m; m++) {
        struct rig rig = rig_at(*m, 4.5, 11.3);

        rig.in[LOAD] = 1.2;
        rig.model->output(rig.self, rig.in, rig.out);
        expect_close(rig.out[0], 1.2 / 1.23 * (11.3 + 0.03 * 4.5), 1e-14, *m);
        cr_expect_eq(rig.out[1], 4.5);
        rig_end(&rig);
    }
}

/* All combinations of the ends of every range, and of the duty: stiff or lossless, the state must
 * stay finite. */
Test(converters, survive_the_ends_of_their_ranges)
{
    for (const char *const *m = converters; *m; m++)
        for (unsigned corner = 0; corner < 1u << 7; corner++) {
            double parameters[HIL_QUANTITIES_MAX];

            rig_defaults(parameters, *m);
            for (unsigned i = 0; i <= ESR; i++) {
                const struct hil_quantity *q = &hil_model_find(*m)->parameters.at[i];
                parameters[i] = corner & 1u << i ? q->max : q->min;
            }
            struct rig rig = rig_with(*m, parameters, 1, 1, period_s);
            rig.in[LOAD] = corner & 1u << 5 ? 1e9 : 1e-3;
            for (int i = 0; i < 100; i++)
                step_at(&rig, corner & 1u << 6 ? 1 : 0);
            cr_expect(isfinite(rig.out[0]) && isfinite(rig.out[1]), "%s, corner %x", *m, corner);
            rig_end(&rig);
        }
}

/* Values that are not numbers are returned as computed. The model neither hangs nor fails. */
Test(converters, report_what_is_not_a_number)
{
    for (const char *const *m = converters; *m; m++) {
        struct rig rig = rig_at(*m, 0, 0);

        step_at(&rig, NAN);
        rig.in[LOAD] = NAN;
        step_at(&rig, 0.5);
        cr_expect(isnan(rig.out[0]), "%s", *m);
        rig_end(&rig);
    }
}

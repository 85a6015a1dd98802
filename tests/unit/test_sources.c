/* Tests the grid, the induction machine, the motor in stator coordinates, the photovoltaic array,
 * the super-capacitor and the loads, against fine integrations of equations in other variables. */
#include <complex.h>
#include <errno.h>

#include "model_rig.h"

enum { FINE_MAX = 8 };
static const double pi = 3.14159265358979323846;

typedef void fine_fn(double t, const double *x, const double *in, double *slope);

/* From t by h, in steps of the classical Runge-Kutta method. */
static void fine(fine_fn *f, double t, double *x, const double *in, unsigned n, double h,
                 unsigned parts)
{
    static const double at[] = {0, 0.5, 0.5, 1}, weight[] = {1, 2, 2, 1};

    h /= parts;
    for (unsigned part = 0; part < parts; part++, t += h) {
        double k[FINE_MAX] = {0}, sum[FINE_MAX] = {0}, there[FINE_MAX];
        for (int stage = 0; stage < 4; stage++) {
            for (unsigned i = 0; i < n; i++)
                there[i] = x[i] + at[stage] * h * k[i];
            f(t + at[stage] * h, there, in, k);
            for (unsigned i = 0; i < n; i++)
                sum[i] += weight[stage] * k[i];
        }
        for (unsigned i = 0; i < n; i++)
            x[i] += h / 6 * sum[i];
    }
}

static void expect_close(double actual, double expected, double tolerance, const char *what)
{
    cr_expect(fabs(actual - expected) <= tolerance * fmax(1, fabs(expected)),
              "%s: %.17g, expected %.17g", what, actual, expected);
}

/* --- the grid ------------------------------------------------------------------------------ */

static const double grid_r = 0.05, grid_l = 2e-4, filter_r = 0.05, filter_l = 2e-3;

/* Phase by phase, with the voltage of the star point that makes the currents' sum 0. */
static void grid_slope(double t, const double *x, const double *in, double *slope)
{
    double push[3], common = 0;

    for (int k = 0; k < 3; k++) {
        const double e = in[3] * cos(2 * pi * in[4] * t - 2 * pi / 3 * k);
        push[k] = in[k] - e;
        common += push[k] / 3;
    }
    for (int k = 0; k < 3; k++)
        slope[k] = (push[k] - common - (grid_r + filter_r) * x[k]) / (grid_l + filter_l);
}

Test(grid, agrees_with_a_fine_integration_of_its_phases)
{
    const double period_s = 1e-4;
    struct rig rig = rig_open("grid", NULL, (const double[]){0, 0, 0}, period_s);
    double x[3] = {0};

    rig.in[3] = 300;
    rig.in[4] = 60;
    for (int n = 0; n < 500; n++) {
        for (int k = 0; k < 3; k++)
            rig.in[k] = 40 + 310 * cos(2 * pi * 60 * n * period_s - 2 * pi / 3 * k + 0.1);
        rig_step(&rig);
        fine(grid_slope, n * period_s, x, rig.in, 3, period_s, 40);
        for (int k = 0; k < 3; k++)
            expect_close(rig.out[k], x[k], 1e-9, "current");
    }
    /* The terminal is where the filter has dropped its part. */
    double slope[3];
    grid_slope(500 * period_s, x, rig.in, slope);
    for (int k = 0; k < 3; k++)
        expect_close(rig.out[3 + k],
                     rig.in[k] - 40 - filter_r * x[k] - filter_l * slope[k] -
                         (rig.in[0] + rig.in[1] + rig.in[2] - 120) / 3,
                     1e-7, "terminal");
    expect_close(rig.out[7], rig.out[3] * x[0] + rig.out[4] * x[1] + rig.out[5] * x[2], 1e-7,
                 "power");
    expect_close(rig.out[6], remainder(2 * pi * 60 * 0.05, 2 * pi), 1e-9, "angle");
    rig_end(&rig);
}

Test(grid, of_nearly_no_resistance_and_no_frequency_is_an_inductor)
{
    const double parameters[] = {1e-9, 0, 0, 1e-3};
    struct rig rig = rig_open("grid", parameters, NULL, 1e-4);

    rig.in[0] = 12;
    rig.in[1] = rig.in[2] = -6;
    rig.in[3] = 2;
    rig.in[4] = 0;
    rig_step(&rig);
    expect_close(rig.out[0], (12 - 2) * 1e-4 / 1e-3, 1e-9, "current");
    rig_end(&rig);
}

/* --- the induction machine ----------------------------------------------------------------- */

/* In the coordinates of the stator's current and the rotor's flux, as field orientation has it. */
static void induction_slope(double t, const double *x, const double *in, double *slope)
{
    const double rs = 0.435, rr = 0.816, ls = 71.3e-3, lr = 71.3e-3, lm = 69.3e-3, pairs = 2;
    const double complex v = (2 * in[0] - in[1] - in[2]) / 3 + I * (in[1] - in[2]) / sqrt(3);
    const double complex i = x[0] + I * x[1], f = x[2] + I * x[3];
    const double tr = lr / rr, leak = ls - lm * lm / lr, w = pairs * x[4];
    const double complex f_slope = lm / tr * i - (1 / tr - I * w) * f;
    const double complex i_slope = (v - rs * i - lm / lr * f_slope) / leak;

    (void)t;
    slope[0] = creal(i_slope), slope[1] = cimag(i_slope);
    slope[2] = creal(f_slope), slope[3] = cimag(f_slope);
    slope[4] = (1.5 * pairs * lm / lr * cimag(conj(f) * i) - in[3]) / 0.089;
}

/* The start of the 3 hp machine of the literature at its grid. */
Test(induction_machine, agrees_with_a_fine_integration_in_other_coordinates)
{
    const double period_s = 1e-4;
    struct rig rig = rig_open("induction_machine", NULL, NULL, period_s);
    double x[5] = {0};

    for (int n = 0; n < 8000; n++) {
        for (int k = 0; k < 3; k++)
            rig.in[k] = 7 + 179.6 * cos(2 * pi * 60 * n * period_s - 2 * pi / 3 * k);
        rig.in[3] = n < 6000 ? 0 : 11.9;
        rig_step(&rig);
        fine(induction_slope, 0, x, rig.in, 5, period_s, 20);
        expect_close(rig.out[0], x[0], 1e-6, "current");
        expect_close(rig.out[3], x[4], 1e-6, "speed");
        expect_close(rig.out[6], hypot(x[2], x[3]), 1e-6, "rotor flux");
    }
    expect_close(rig.out[0] + rig.out[1] + rig.out[2], 0, 1e-9, "sum of the currents");
    cr_expect(rig.out[3] > 178 && rig.out[3] < 188, "near its rated speed: %g", rig.out[3]);
    rig_end(&rig);
    cr_expect_eq(rig_try(&rig, "induction_machine", 1, (double[]){1, 1, 1e-9, 1e-9, 1e-9, 1, 1, 0},
                         (const double[6]){0}, 1e-3),
                 -EDOM);
}

/* --- the synchronous motor in stator coordinates --------------------------------------------- */

/* The flux in stator coordinates integrates the voltage; the defaults of the model. */
static void stator_slope(double t, const double *x, const double *in, double *slope)
{
    const double angle = 4 * x[3];
    const double complex turned = (x[0] + I * x[1]) * cexp(-I * angle);
    const double complex i = (creal(turned) - 0.02) / 1e-3 + I * cimag(turned) / 1.5e-3;
    const double complex stator = i * cexp(I * angle);

    (void)t;
    slope[0] = in[0] - 0.5 * creal(stator);
    slope[1] = in[1] - 0.5 * cimag(stator);
    slope[2] =
        (1.5 * 4 * (x[0] * cimag(stator) - x[1] * creal(stator)) - 1e-4 * x[2] - in[3]) / 2e-4;
    slope[3] = x[2];
}

Test(pmsm_stator, agrees_with_a_fine_integration_of_its_flux)
{
    const double period_s = 50e-6;
    struct rig rig = rig_open("pmsm_stator", NULL, (const double[]){0, 0, 30, 0}, period_s);
    double x[] = {0.02, 0, 30, 0};

    for (int n = 0; n < 2000; n++) {
        rig.in[0] = -8 * sin(4 * x[3]) + 2;
        rig.in[1] = 8 * cos(4 * x[3]);
        rig.in[3] = n < 1000 ? 0 : 0.1;
        rig_step(&rig);
        fine(stator_slope, 0, x, rig.in, 4, period_s, 100);
        expect_close(rig.out[2], x[2], 1e-6, "speed");
        expect_close(rig.out[3], x[3], 1e-6, "angle");
    }
    const double complex dq = rig.out[0] + I * rig.out[1];
    const double complex stator = dq * cexp(I * 4 * rig.out[3]);
    expect_close(rig.out[6], creal(stator), 1e-9, "alpha");
    expect_close(rig.out[7], cimag(stator), 1e-9, "beta");
    expect_close(rig.out[5] * 48, 1.5 * (rig.in[0] * creal(stator) + rig.in[1] * cimag(stator)),
                 1e-9, "power");
    rig_end(&rig);
}

/* --- the photovoltaic array ------------------------------------------------------------------ */

static const double cells_v = 1.3 * 54 * 8.617333262e-5 * 298.15; /* at 25 degrees */

/* The current at a terminal voltage, by bisection of the implicit equation. */
static double pv_current(double v)
{
    const double i0 = 8.21 / expm1(32.9 / cells_v), ip = 8.21 * (0.221 + 415.405) / 415.405;
    double low = -1e3, high = 1e3;

    for (int n = 0; n < 200; n++) {
        const double i = (low + high) / 2, vd = v + 0.221 * i;
        if (ip - i0 * expm1(vd / cells_v) - vd / 415.405 > i)
            low = i;
        else
            high = i;
    }
    return low;
}

static void pv_slope(double t, const double *x, const double *in, double *slope)
{
    (void)t;
    slope[0] = (pv_current(x[0]) - in[0]) / 1e-3;
}

Test(pv_array, agrees_with_a_fine_integration_of_its_terminal_voltage)
{
    const double period_s = 1e-4;
    struct rig rig = rig_open("pv_array", NULL, (const double[]){33}, period_s);
    double x[1], most = 0;

    cr_assert_eq(rig.model->output(rig.self, rig.in, rig.out), 0);
    x[0] = rig.out[0];
    for (int n = 0; n < 300; n++) {
        rig.in[0] = n < 200 ? 7.61 : 2;
        rig_step(&rig);
        fine(pv_slope, 0, x, rig.in, 1, period_s, 40);
        expect_close(rig.out[0], x[0], 1e-7, "voltage");
        expect_close(rig.out[1], pv_current(x[0]), 1e-6, "current");
        most = fmax(most, rig.out[2]);
    }
    expect_close(most, 200.14, 1e-3, "the module's greatest power by its data sheet");
    rig_end(&rig);
}

Test(pv_array, gives_no_more_than_its_short_circuit_and_follows_the_sun)
{
    struct rig rig = rig_open("pv_array", NULL, NULL, 1e-4);

    rig.in[0] = 50;
    for (int n = 0; n < 100; n++)
        rig_step(&rig);
    expect_close(rig.out[1], 8.21, 2e-3, "short circuit");
    cr_expect(rig.out[0] > -3 && rig.out[0] <= 0, "%g", rig.out[0]);
    rig.in[0] = 0;
    rig.in[1] = 0;
    for (int n = 0; n < 100000; n++)
        rig_step(&rig);
    cr_expect(fabs(rig.out[2]) < 1e-3, "in the dark: %g", rig.out[2]);
    rig_end(&rig);
}

/* --- the super-capacitor --------------------------------------------------------------------- */

/* By the charge of the fast branch. */
static void charge_slope(double t, const double *x, const double *in, double *slope)
{
    const double v1 = (sqrt(270.0 * 270 + 2 * 190 * x[0]) - 270) / 190;

    (void)t;
    slope[0] = -in[0] - v1 / 9e3 - (v1 - x[1]) / 0.9;
    slope[1] = (v1 - x[1]) / 0.9 / 100;
}

Test(super_capacitor, agrees_with_a_fine_integration_of_its_charge)
{
    struct rig rig = rig_open("super_capacitor", NULL, NULL, 0.1);
    double x[2] = {0};

    for (int n = 0; n < 1000; n++) {
        rig.in[0] = n < 600 ? -20 : n < 800 ? 0 : 30;
        rig_step(&rig);
        fine(charge_slope, 0, x, rig.in, 2, 0.1, 20);
        const double v1 = (sqrt(270.0 * 270 + 2 * 190 * x[0]) - 270) / 190;
        expect_close(rig.out[1], v1, 1e-9, "inner voltage");
        expect_close(rig.out[0], v1 - 2.5e-3 * rig.in[0], 1e-9, "voltage");
    }
    rig_end(&rig);
}

/* --- loads ------------------------------------------------------------------------------------ */

static void expect_load(const char *name, double v, double taken, double current, double ohm)
{
    struct rig rig = rig_open(name, (const double[]){10}, NULL, 1e-4);

    rig.in[0] = v;
    rig.in[1] = taken;
    rig_step(&rig);
    expect_close(rig.out[0], current, 1e-12, name);
    expect_close(rig.out[1], ohm, 1e-12, name);
    rig_end(&rig);
}

Test(loads, take_their_power_and_their_current)
{
    expect_load("constant_power_load", 20, 100, 5, 4);
    expect_load("constant_power_load", -20, 100, -5, 4);
    expect_load("constant_power_load", 5, 100, 5, 1);
    expect_load("constant_power_load", 0, 100, 0, 1);
    expect_load("constant_power_load", 20, 0, 0, 1e9);
    expect_load("constant_current_load", 20, 4, 4, 5);
    expect_load("constant_current_load", 5, 4, 2, 2.5);
    expect_load("constant_current_load", -30, 3, -3, 10);
}

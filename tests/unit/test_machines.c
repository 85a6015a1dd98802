/* Tests the motors and the battery against closed forms, and against a fine integration of
 * independently written equations. */
#include <complex.h>
#include <errno.h>
#include <string.h>

#include "model_rig.h"

static const double period_s = 50e-6;

static void expect_close(double actual, double expected, double relative, const char *what)
{
    cr_expect(fabs(actual - expected) <= relative * fmax(1, fabs(expected)),
              "%s: %.17g, expected %.17g (off by %g)", what, actual, expected,
              fabs(actual - expected));
}

/* x' = f(x) over one period, by `parts` steps of the classical Runge-Kutta method. */
static void integrate(void (*f)(const double *x, const double *in, double *slope), double *x,
                      const double *in, unsigned n, unsigned parts)
{
    const double h = period_s / parts, at[] = {0, h / 2, h / 2, h}, weight[] = {1, 2, 2, 1};

    for (unsigned part = 0; part < parts; part++) {
        double k[8] = {0}, sum[8] = {0}, there[8];
        for (int stage = 0; stage < 4; stage++) {
            for (unsigned i = 0; i < n; i++)
                there[i] = x[i] + at[stage] * k[i];
            f(there, in, k);
            for (unsigned i = 0; i < n; i++)
                sum[i] += weight[stage] * k[i];
        }
        for (unsigned i = 0; i < n; i++)
            x[i] += h / 6 * sum[i];
    }
}

/* --- the direct-current motor ---------------- */

static void dc_slope(const double *x, const double *in, double *slope)
{
    slope[0] = (in[0] - 1 * x[0] - 0.05 * x[1]) / 1e-3;
    slope[1] = (0.05 * x[0] - 1e-5 * x[1] - in[1]) / 1e-4;
    slope[2] = x[1];
}

Test(dc_motor, agrees_with_a_fine_integration)
{
    struct rig rig = rig_open("dc_motor", NULL, (const double[]){1, 20, 0.3}, period_s);
    double x[] = {1, 20, 0.3};

    for (int k = 0; k < 400; k++) {
        rig.in[0] = 24 * sin(0.05 * k);
        rig.in[1] = k < 200 ? 0 : 0.08;
        rig_step(&rig);
        integrate(dc_slope, x, rig.in, 3, 20);
        for (int i = 0; i < 3; i++)
            expect_close(rig.out[i], x[i], 1e-11, "state");
        expect_close(rig.out[3], 0.05 * x[0], 1e-11, "torque");
    }
    rig_end(&rig);
}

/* In the steady state v = R i + K w and K i = B w + load. */
Test(dc_motor, comes_to_rest_at_its_speed)
{
    struct rig rig = rig_open("dc_motor", NULL, NULL, period_s);
    const double speed = (0.05 * 24 - 1 * 0.1) / (1 * 1e-5 + 0.05 * 0.05);

    rig.in[0] = 24;
    rig.in[1] = 0.1;
    for (int k = 0; k < 100000; k++)
        rig_step(&rig);
    expect_close(rig.out[1], speed, 1e-10, "speed");
    expect_close(rig.out[0], 24 - 0.05 * speed, 1e-9, "current");
    rig_end(&rig);
}

/* --- the synchronous motor ---------------- */

enum { VD, VQ, VDC, LOAD };
enum { ID, IQ, SPEED, ANGLE, TORQUE, DC_CURRENT };

/* The defaults: R 0.5, Ld 1 mH, Lq 1.5 mH, 20 mWb, 4 pairs of poles. */
static void pmsm_slope(const double *x, const double *in, double *slope)
{
    const double limit = in[VDC] / sqrt(3), asked = sqrt(in[VD] * in[VD] + in[VQ] * in[VQ]);
    const double given = asked > limit ? limit / asked : 1, w = 4 * x[SPEED];
    const double psi_d = 1e-3 * x[ID] + 0.02, psi_q = 1.5e-3 * x[IQ];

    slope[ID] = (given * in[VD] - 0.5 * x[ID] + w * psi_q) / 1e-3;
    slope[IQ] = (given * in[VQ] - 0.5 * x[IQ] - w * psi_d) / 1.5e-3;
    slope[SPEED] = (1.5 * 4 * (psi_d * x[IQ] - psi_q * x[ID]) - 1e-4 * x[SPEED] - in[LOAD]) / 2e-4;
    slope[ANGLE] = x[SPEED];
}

Test(pmsm, agrees_with_a_fine_integration)
{
    struct rig rig = rig_open("pmsm", NULL, (const double[]){1, -2, 30, 0.1}, period_s);
    double x[] = {1, -2, 30, 0.1};

    for (int k = 0; k < 1000; k++) {
        rig.in[VD] = 8 * sin(0.02 * k);
        rig.in[VQ] = k < 500 ? 12 : 40; /* the inverter reaches 27.7 V */
        rig.in[LOAD] = k < 300 ? 0 : 0.1;
        rig_step(&rig);
        integrate(pmsm_slope, x, rig.in, 4, 100);
        for (int i = 0; i < 4; i++)
            expect_close(rig.out[i], x[i], 1e-6, "state");
    }
    rig_end(&rig);
}

/* At a constant speed the currents are linear. With Ld = Lq = L and W = pole pairs times speed, the
 * current i = id + j iq follows L i' = v - (R + j W L) i - j W flux, which has a closed form. */
Test(pmsm, agrees_with_the_closed_form_at_any_electrical_speed)
{
    static const struct {
        double r, l, flux, pairs, speed, period_s;
    } cases[] = {{0.05, 1e-3, 0.02, 4, 800, 1e-3},  {0.02, 1e-3, 0.02, 4, 1000, 1e-3},
                 {0.01, 2e-4, 0.02, 8, 1000, 5e-4}, {1e-6, 1e-3, 0, 4, -12000, 1e-3},
                 {50, 1e-4, 0.02, 4, 10, 1e-4},     {0.5, 1e-3, 0.02, 4, 0, 0.5}};

    for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const double r = cases[c].r, l = cases[c].l, w = cases[c].pairs * cases[c].speed;
        const double parameters[] = {r, l, l, cases[c].flux, cases[c].pairs, 1e9, 0};
        struct rig rig = rig_open("pmsm", parameters, (const double[]){3, -1, cases[c].speed, 0},
                                  cases[c].period_s);
        rig.in[VD] = 1;
        rig.in[VQ] = w * cases[c].flux + 2;
        rig.in[VDC] = 1e6;
        const double complex z = r + I * w * l;
        const double complex end = (rig.in[VD] + I * (rig.in[VQ] - w * cases[c].flux)) / z;
        for (int k = 1; k <= 40; k++) {
            rig_step(&rig);
            const double complex i = end + (3 - I - end) * cexp(-z / l * (k * cases[c].period_s));
            expect_close(rig.out[ID], creal(i), 1e-7, "d current");
            expect_close(rig.out[IQ], cimag(i), 1e-7, "q current");
        }
        rig_end(&rig);
    }
}

/* A rotor without inertia to speak of, driven from rest: it is fast only within the period. */
Test(pmsm, agrees_with_a_fine_integration_where_it_accelerates_within_a_period)
{
    const double parameters[] = {0.5, 1e-3, 1e-3, 0.02, 4, 1e-7, 0}, k = 1.5 * 4 * 0.02;
    struct rig rig = rig_open("pmsm", parameters, NULL, 0.01);
    double iq = 0, id = 0, w = 0;

    rig.in[VQ] = 20;
    rig_step(&rig);
    for (int i = 0; i < 2000000; i++) { /* Heun's method */
        const double h = 5e-9, d1 = (-0.5 * id + 4 * w * 1e-3 * iq) / 1e-3,
                     q1 = (20 - 0.5 * iq - 4 * w * (1e-3 * id + 0.02)) / 1e-3, w1 = k * iq / 1e-7;
        const double d = id + h * d1, q = iq + h * q1, v = w + h * w1;
        id += h / 2 * (d1 + (-0.5 * d + 4 * v * 1e-3 * q) / 1e-3);
        iq += h / 2 * (q1 + (20 - 0.5 * q - 4 * v * (1e-3 * d + 0.02)) / 1e-3);
        w += h / 2 * (w1 + k * q / 1e-7);
    }
    expect_close(rig.out[ID], id, 1e-6, "d current");
    expect_close(rig.out[IQ], iq, 1e-6, "q current");
    expect_close(rig.out[SPEED], w, 1e-6, "speed");
    rig_end(&rig);
}

/* Nothing is solved badly: what would need too many parts is refused, at the start or when it comes
 * to that. */
Test(pmsm, refuses_what_is_too_fast_for_its_period)
{
    double parameters[HIL_QUANTITIES_MAX];
    struct rig rig;

    rig_defaults(parameters, "pmsm");
    cr_expect_eq(rig_try(&rig, "pmsm", 1, parameters, (const double[]){0, 0, 1e6, 0}, 1e-3), -EDOM);
    cr_expect_not_null(strstr(rig_said, "allowed: a period"), "%s", rig_said);
    parameters[4] = 1; /* one pair of poles */
    parameters[5] = 1e-12;
    cr_expect_eq(rig_try(&rig, "pmsm", 1, parameters, (const double[4]){0}, 1e-3), -EDOM);

    rig = rig_open("pmsm", NULL, NULL, 1e-2);
    cr_expect_eq(rig.model->tune(rig.self, 5, 1e-12), -EDOM);
    rig.in[LOAD] = -1e6;
    rig_said[0] = '\0';
    cr_expect_eq(rig.model->step(rig.self, 1, rig.in, rig.out), -ERANGE);
    cr_expect_not_null(strstr(rig_said, "allowed: a period"), "%s", rig_said);
    rig_end(&rig);
}

/* In the steady state the power of the source equals that of the windings and the shaft. */
Test(pmsm, keeps_the_balance_of_power)
{
    struct rig rig = rig_open("pmsm", NULL, NULL, period_s);

    rig.in[VD] = -3;
    rig.in[VQ] = 15;
    rig.in[LOAD] = 0.2;
    for (int k = 0; k < 200000; k++)
        rig_step(&rig);
    const double i2 = rig.out[ID] * rig.out[ID] + rig.out[IQ] * rig.out[IQ];
    expect_close(rig.out[TORQUE], 0.2 + 1e-4 * rig.out[SPEED], 1e-9, "torque");
    expect_close(48 * rig.out[DC_CURRENT], 1.5 * 0.5 * i2 + rig.out[TORQUE] * rig.out[SPEED], 1e-8,
                 "power");
    cr_expect(rig.out[SPEED] > 50, "%g", rig.out[SPEED]);
    rig_end(&rig);
}

Test(pmsm, the_inverter_gives_no_more_than_it_has)
{
    struct rig asked = rig_open("pmsm", NULL, NULL, period_s),
               given = rig_open("pmsm", NULL, NULL, period_s);

    for (int k = 0; k < 200; k++) {
        asked.in[VD] = -300;
        asked.in[VQ] = 400;
        given.in[VD] = -0.6 * 48 / sqrt(3);
        given.in[VQ] = 0.8 * 48 / sqrt(3);
        rig_step(&asked);
        rig_step(&given);
        for (int i = 0; i < 6; i++)
            expect_close(asked.out[i], given.out[i], 1e-9, "output");
    }
    rig_end(&asked);
    rig_end(&given);
}

/* --- the battery ---------------- */

/* With a current held from rest, both pairs follow it exponentially and the charge falls. */
Test(battery, answers_a_step_of_its_current)
{
    const double step_s = 0.1, current = 20;
    struct rig rig = rig_open("battery", NULL, NULL, step_s);

    rig.in[0] = current;
    for (int k = 1; k <= 1000; k++) {
        const double t = k * step_s, charge = 0.8 - current * t / (3600 * 5);

        rig_step(&rig);
        expect_close(rig.out[1], charge, 1e-12, "charge");
        expect_close(rig.out[0],
                     36 + 14 * charge -
                         current * (0.02 - 0.01 * expm1(-t / 1.0) - 0.015 * expm1(-t / 75.0)),
                     1e-12, "voltage");
    }
    rig.in[0] = 0; /* the series resistance's voltage vanishes at once */
    cr_assert_eq(rig.model->output(rig.self, rig.in, rig.in + 8), 0);
    expect_close(rig.in[8], rig.out[0] + 0.02 * current, 1e-12, "voltage");
    rig_end(&rig);
}

Test(battery, is_never_more_than_full_or_less_than_empty)
{
    struct rig rig = rig_open("battery", NULL, NULL, 1);

    rig.in[0] = 5;
    for (int k = 0; k < 4000; k++)
        rig_step(&rig);
    cr_expect_eq(rig.out[1], 0);
    rig.in[0] = -5;
    for (int k = 0; k < 4000; k++)
        rig_step(&rig);
    cr_expect_eq(rig.out[1], 1);
    rig_end(&rig);
}

/* It gives what it has, within a step too, and no more; it can be charged again at once. */
Test(battery, gives_nothing_when_empty_and_takes_nothing_when_full)
{
    double p[HIL_QUANTITIES_MAX];

    rig_defaults(p, "battery");
    p[0] = 1e-3; /* 3.6 As */
    struct rig rig = rig_open("battery", p, (const double[]){0.5, 0, 0}, 1);
    rig.in[0] = 3; /* empty after 0.6 s */
    rig_step(&rig);
    cr_expect_eq(rig.out[0], 0);
    cr_expect_eq(rig.out[1], 0);
    cr_expect_eq(rig.out[2], 0);
    cr_expect_str_eq(rig_said, "it is empty, and gives no more current");
    rig_said[0] = '\0';
    rig_step(&rig);
    cr_expect_str_eq(rig_said, "", "it says so in each step");
    rig_end(&rig);
    rig = rig_open("battery", p, (const double[]){0.5, 0, 0}, 1);
    rig.in[0] = 3;
    rig_step(&rig);
    rig.in[0] = 0;
    cr_assert_eq(rig.model->output(rig.self, rig.in, rig.out), 0);
    const double fast = -expm1(-0.6) * exp(-0.4) * 0.01 * 3,
                 slow = -expm1(-0.6 / 75) * exp(-0.4 / 75) * 0.015 * 3;
    expect_close(rig.out[0], 36 - fast - slow, 1e-12, "voltage");
    rig.in[0] = -1.8;
    rig_step(&rig);
    expect_close(rig.out[1], 0.5, 1e-12, "charge");
    cr_expect_eq(rig.out[2], -1.8);
    for (int i = 0; i < 1000; i++)
        rig_step(&rig);
    cr_expect_eq(rig.out[1], 1);
    cr_expect_eq(rig.out[2], 0);
    expect_close(rig.out[0], 50, 1e-4, "voltage");
    cr_expect_str_eq(rig_said, "it is full, and takes no more current");
    rig.in[0] = 3;
    rig_step(&rig);
    rig_step(&rig);
    cr_expect_str_eq(rig_said, "it is empty, and gives no more current", "it says that only once");
    rig_end(&rig);
}

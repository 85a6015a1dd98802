/*
 * Tests converters with diodes, dead time and a current limit: against the switched buck, against a
 * fine integration of independently written equations, and against the known ratios of
 * discontinuous conduction.
 */
#include <errno.h>
#include <string.h>

#include "model_rig.h"

enum { DUTY, INPUT_VOLTAGE, LOAD };
enum {
    L,
    C,
    RL,
    RON,
    ESR,
    DROP,
    RS,
    I_SATURATION,
    L_SATURATED,
    FREQUENCY,
    LIMIT,
    DEAD_TIME,
    PARAMETERS
};
enum { VOLTAGE, CURRENT };

static const double cycle_s = 10e-6;

static void expect_close(double actual, double expected, double relative, const char *what)
{
    cr_expect(fabs(actual - expected) <= relative * fmax(1, fabs(expected)),
              "%s: %.17g, expected %.17g (off by %g)", what, actual, expected,
              fabs(actual - expected));
}

static void defaults(double p[PARAMETERS])
{
    rig_defaults(p, "switched_boost");
}

static struct rig rig_with(const char *name, const double *p, double duty, double load)
{
    struct rig rig = rig_open(name, p, (const double[]){0, 0}, cycle_s / 100);

    rig.in[DUTY] = duty;
    rig.in[LOAD] = load;
    return rig;
}

/* Mean and extremes over the cycles that follow `settling`. */
struct seen {
    double mean_v, mean_a, least_a, most_a;
};

static struct seen look(struct rig *rig, int settling, int cycles)
{
    struct seen s = {0, 0, INFINITY, -INFINITY};

    for (int i = 0; i < (settling + cycles) * 100; i++) {
        rig_step(rig);
        if (i < settling * 100)
            continue;
        s.mean_v += rig->out[VOLTAGE] / (cycles * 100);
        s.mean_a += rig->out[CURRENT] / (cycles * 100);
        s.least_a = fmin(s.least_a, rig->out[CURRENT]);
        s.most_a = fmax(s.most_a, rig->out[CURRENT]);
    }
    return s;
}

/* --- without dead time, limit or diode ---------------- */

Test(switched, buck_without_dead_time_is_the_switched_buck)
{
    static const double duties[] = {0.3, 0.3, 0, 1, 0.77, 0.05};
    struct rig a = rig_open("dead_time_buck", NULL, (const double[]){4.5, 11.3}, cycle_s),
               b = rig_open("switched_buck", NULL, (const double[]){4.5, 11.3}, cycle_s);

    for (int k = 0; k < 300; k++) {
        a.in[DUTY] = b.in[DUTY] = duties[k / 50];
        a.in[LOAD] = b.in[LOAD] = k < 150 ? 2.4 : 0.9;
        rig_step(&a);
        rig_step(&b);
        expect_close(a.out[VOLTAGE], b.out[VOLTAGE], 1e-11, "voltage");
        expect_close(a.out[CURRENT], b.out[CURRENT], 1e-11, "current");
    }
    rig_end(&a);
    rig_end(&b);
}

/* --- a fine integration ---------------- */

struct fine {
    const double *p, *in;
    double x[2]; /* current, capacitor */
    bool boost, source_when_off, diode;
};

static void fine_slope(const struct fine *f, bool on, const double *x, double *slope)
{
    const double load = f->in[LOAD], g = 1 / (load + f->p[ESR]);
    const double vin = on || f->source_when_off ? f->in[INPUT_VOLTAGE] : 0;
    const double to_output = f->boost && on ? 0 : x[0];
    const double v = load * g * (x[1] + f->p[ESR] * to_output);

    slope[0] = (vin - (f->p[RL] + f->p[RON]) * x[0] - (f->boost && on ? 0 : v)) / f->p[L];
    slope[1] = g * (load * to_output - x[1]) / f->p[C];
    if (f->diode && !on && x[0] <= 0 && slope[0] < 0) {
        slope[0] = 0;
        slope[1] = -g * x[1] / f->p[C];
    }
}

/* Heun's method in 20000 parts of a cycle; a diode's current is held at zero from below. */
static void fine_cycle(struct fine *f)
{
    enum { PARTS = 20000 };
    const double h = cycle_s / PARTS;

    for (int i = 0; i < PARTS; i++) {
        const bool on = i < (int)lround(f->in[DUTY] * PARTS);
        double k[2], there[2], again[2];
        fine_slope(f, on, f->x, k);
        for (int j = 0; j < 2; j++)
            there[j] = f->x[j] + h * k[j];
        fine_slope(f, on, there, again);
        for (int j = 0; j < 2; j++)
            f->x[j] += h / 2 * (k[j] + again[j]);
        if (f->diode && f->x[0] < 0)
            f->x[0] = 0;
    }
}

static void agrees(const char *name, struct fine f, double load, double tolerance)
{
    double p[PARAMETERS];

    defaults(p);
    p[C] = 20e-6; /* so that the output moves within a cycle */
    struct rig rig = rig_open(name, p, (const double[]){0, 5}, cycle_s);
    f.p = p;
    f.in = rig.in;
    f.x[1] = 5;
    rig.in[LOAD] = load;
    for (int k = 0; k < 40; k++) {
        rig.in[DUTY] = k < 20 ? 0.25 : 0.4;
        rig.in[INPUT_VOLTAGE] = k < 30 ? 12 : 9;
        rig_step(&rig);
        fine_cycle(&f);
        expect_close(rig.out[CURRENT], f.x[0], tolerance, name);
        expect_close(rig.out[VOLTAGE],
                     load / (load + p[ESR]) * (f.x[1] + p[ESR] * (f.x[0] > 0 || !f.diode) * f.x[0]),
                     tolerance, name);
    }
    rig_end(&rig);
}

Test(switched, agree_with_a_fine_integration)
{
    agrees("switched_boost", (struct fine){.boost = true, .source_when_off = true}, 10, 1e-8);
    agrees("switched_buck_boost", (struct fine){.boost = true}, 10, 1e-8);
    agrees("diode_boost", (struct fine){.boost = true, .source_when_off = true, .diode = true}, 200,
           2e-3);
    agrees("diode_buck", (struct fine){.diode = true}, 30, 2e-3);
}

/* --- discontinuous conduction ---------------- */

/* Without losses and ripple, with K = 2 L / (R T): the buck gives 2 / (1 + sqrt(1 + 4 K / D^2)) of
 * its input, and the boost (1 + sqrt(1 + 4 D^2 / K)) / 2 (Erickson, Maksimovic: Fundamentals of
 * Power Electronics, chapter 5). */
Test(diode, ratios_of_discontinuous_conduction)
{
    const double duty = 0.3, load = 80;
    double p[PARAMETERS];

    defaults(p);
    p[RL] = p[RON] = p[ESR] = 0;
    const double k = 2 * p[L] / (load * cycle_s);
    cr_assert(k < 1 - duty && k < duty * (1 - duty) * (1 - duty), "discontinuous");
    struct rig buck = rig_with("diode_buck", p, duty, load),
               boost = rig_with("diode_boost", p, duty, load);
    const struct seen of_buck = look(&buck, 20000, 20), of_boost = look(&boost, 20000, 20);

    expect_close(of_buck.mean_v / 48, 2 / (1 + sqrt(1 + 4 * k / (duty * duty))), 1e-4, "buck");
    expect_close(of_boost.mean_v / 48, (1 + sqrt(1 + 4 * duty * duty / k)) / 2, 1e-3, "boost");
    cr_expect_eq(of_buck.least_a, 0);
    cr_expect_eq(of_boost.least_a, 0);
    rig_end(&buck);
    rig_end(&boost);
}

/* If the current never reaches zero, a diode acts like a switch. */
Test(diode, conducts_continuously_at_a_heavy_load)
{
    struct rig diode = rig_open("diode_buck", NULL, (const double[]){5, 12}, cycle_s),
               both = rig_open("switched_buck", NULL, (const double[]){5, 12}, cycle_s);

    for (int k = 0; k < 1000; k++) {
        diode.in[DUTY] = both.in[DUTY] = 0.25;
        rig_step(&diode);
        rig_step(&both);
        expect_close(diode.out[VOLTAGE], both.out[VOLTAGE], 1e-11, "voltage");
    }
    rig_end(&diode);
    rig_end(&both);
}

/* The input charges the output through the diode up to its own voltage, and no further. */
Test(diode, of_a_boost_that_is_off_conducts_to_its_output)
{
    double p[PARAMETERS];

    defaults(p);
    struct rig rig = rig_open("diode_boost", p, (const double[]){0, 60}, cycle_s);

    rig.in[LOAD] = 100;
    bool fell = false;
    for (int k = 0; k < 20000; k++) {
        rig_step(&rig);
        fell = fell || rig.out[VOLTAGE] <= 48;
        cr_assert(fell ? rig.out[CURRENT] >= 0 : rig.out[CURRENT] == 0, "cycle %d", k);
    }
    cr_expect(fell);
    expect_close(rig.out[CURRENT], 48 / (100 + p[RL] + p[RON]), 1e-6, "current");
    rig_end(&rig);
}

/* --- dead time, and the limit ---------------- */

/* With a positive current only the main switch counts: dead time shortens the effective duty. */
Test(dead_time, shortens_the_duty_of_a_positive_current)
{
    double p[PARAMETERS];

    defaults(p);
    struct rig without = rig_with("dead_time_buck", p, 0.25, 1);
    p[DEAD_TIME] = 0.05 * cycle_s;
    struct rig with = rig_with("dead_time_buck", p, 0.30, 1);
    const struct seen a = look(&without, 3000, 10), b = look(&with, 3000, 10);

    cr_expect(a.least_a > 0);
    expect_close(b.mean_v, a.mean_v, 1e-6, "voltage");
    expect_close(b.most_a, a.most_a, 1e-3, "peak");
    rig_end(&without);
    rig_end(&with);
}

/* A negative current flows on through the main switch's diode, so dead time lengthens the effective
 * duty. */
Test(dead_time, lengthens_the_duty_of_a_negative_current)
{
    double p[PARAMETERS];

    defaults(p);
    p[DEAD_TIME] = 0.05 * cycle_s;
    struct rig with = rig_open("dead_time_buck", p, (const double[]){-50, 12}, cycle_s);
    struct rig without = rig_open("switched_buck", NULL, (const double[]){-50, 12}, cycle_s);

    with.in[DUTY] = 0.25;
    without.in[DUTY] = 0.30;
    rig_step(&with);
    rig_step(&without);
    cr_assert(with.out[CURRENT] < 0);
    expect_close(with.out[CURRENT], without.out[CURRENT], 1e-11, "current");
    rig_end(&with);
    rig_end(&without);
}

Test(current_limit, ends_the_on_time)
{
    static const char *const names[] = {"dead_time_buck", "switched_boost", "switched_buck_boost",
                                        "diode_buck", "diode_boost"};

    for (int i = 0; i < 5; i++) {
        const bool is_buck = strstr(names[i], "_buck") && !strstr(names[i], "boost");
        double p[PARAMETERS];

        defaults(p);
        p[LIMIT] = 8;
        struct rig rig =
            rig_open(names[i], p, (const double[]){0, is_buck ? 0 : 60}, cycle_s / 100);

        rig.in[LOAD] = 1000;
        rig.in[DUTY] = 0.6;
        const struct seen s = look(&rig, 0, 50);

        cr_expect_leq(s.most_a, 8, "%s: %.17g A", names[i], s.most_a);
        cr_expect_geq(s.most_a, 7.9, "%s: %g A", names[i], s.most_a);
        rig_end(&rig);
    }
}

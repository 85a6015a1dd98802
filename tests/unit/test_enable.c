/*
 * Tests converters whose gates are all off: against a fine integration of independently written
 * equations of the diodes, and at circuits that are fast within a step.
 */
#include <errno.h>
#include <string.h>

#include "model_rig.h"

enum { DUTY, INPUT_VOLTAGE, LOAD, ENABLE };
enum { L, C, RL, RON, ESR };
enum { VOLTAGE, CURRENT };

static const double period_s = 10e-6;

static const char *const converters[] = {
    "buck",           "boost",
    "buck_boost",     "switched_buck",
    "switched_boost", "switched_buck_boost",
    "dead_time_buck", "diode_buck",
    "diode_boost",    NULL,
};

/* The circuit while a diode conducts a positive current, or a negative one. */
struct diodes {
    double source[2], feeding[2];
};

static struct diodes diodes_of(const char *name)
{
    if (strstr(name, "buck_boost"))
        return (struct diodes){{0, 1}, {1, 0}};
    if (strstr(name, "boost"))
        return (struct diodes){{1, 1}, {1, 0}};
    return (struct diodes){{0, 1}, {1, 1}};
}

static void diodes_slope(const struct diodes *d, const double *p, const double *in, double current,
                         int negative, const double *x, double *slope)
{
    const double g = 1 / (in[LOAD] + p[ESR]), fed = d->feeding[negative] * current;
    const double v = in[LOAD] * g * (x[1] + p[ESR] * fed);

    slope[0] = (d->source[negative] * in[INPUT_VOLTAGE] - (p[RL] + p[RON]) * current -
                d->feeding[negative] * v) /
               p[L];
    slope[1] = g * (in[LOAD] * fed - x[1]) / p[C];
}

/* The middle point method. A current that changes its sign is zero, and starts from there only in a
 * diode's direction. */
static void diodes_advance(const struct diodes *d, const double *p, const double *in, double *x,
                           double h)
{
    double k[2], middle[2];
    int negative = x[0] < 0;

    diodes_slope(d, p, in, x[0], negative, x, k);
    if (x[0] == 0) {
        double other[2];
        diodes_slope(d, p, in, 0, 1, x, other);
        negative = k[0] <= 0 && other[0] < 0;
        k[0] = k[0] > 0 ? k[0] : fmin(other[0], 0);
    }
    const bool idle = x[0] == 0 && k[0] == 0;
    for (int i = 0; i < 2; i++)
        middle[i] = x[i] + h / 2 * k[i];
    diodes_slope(d, p, in, middle[0], negative, middle, k);
    const double before = x[0];
    x[0] = idle ? 0 : x[0] + h * k[0];
    x[1] += h * k[1];
    if ((before > 0 && x[0] < 0) || (before < 0 && x[0] > 0))
        x[0] = 0;
}

static void expect_diodes(const char *name, const double *p, double current, double voltage,
                          double source, double load)
{
    enum { STEPS = 100, PARTS = 4000 };
    const struct diodes d = diodes_of(name);
    struct rig rig = rig_open(name, p, (const double[]){current, voltage}, period_s);
    double x[] = {current, voltage};

    rig.in[ENABLE] = 0;
    rig.in[DUTY] = 0.4;
    rig.in[INPUT_VOLTAGE] = source;
    rig.in[LOAD] = load;
    for (int k = 0; k < STEPS; k++) {
        rig_step(&rig);
        for (int i = 0; i < PARTS; i++)
            diodes_advance(&d, p, rig.in, x, period_s / PARTS);
        cr_assert(fabs(rig.out[CURRENT] - x[0]) < 2e-3, "%s, step %d: %g A, expected %g", name, k,
                  rig.out[CURRENT], x[0]);
        const double fed = d.feeding[x[0] < 0] * x[0];
        const double v = load / (load + p[ESR]) * (x[1] + p[ESR] * fed);
        cr_assert(fabs(rig.out[VOLTAGE] - v) < 2e-3, "%s, step %d: %g V, expected %g", name, k,
                  rig.out[VOLTAGE], v);
    }
    rig_end(&rig);
}

/* From currents of both directions, and from rest with the output above and below the source. */
Test(enable, off_leaves_the_diodes)
{
    static const struct {
        double current, voltage, source, load;
    } cases[] = {{5, 12, 48, 2.4}, {-5, 12, 48, 2.4}, {0, 12, 8, 2.4},  {0, 3, 8, 20},
                 {0, -3, 8, 20},   {2, 0, 0, 2.4},    {0, 40, 12, 1e9}, {-3, -1, 12, 1}};

    for (const char *const *m = converters; *m; m++)
        for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            double p[HIL_QUANTITIES_MAX];
            rig_defaults(p, *m);
            p[C] = 40e-6; /* so that the output moves */
            expect_diodes(*m, p, cases[c].current, cases[c].voltage, cases[c].source,
                          cases[c].load);
        }
}

/* The current of a boost comes to zero, and would turn within the step, as the load empties the
 * capacitor: at its end it would again be positive. */
Test(enable, off_blocks_a_current_that_would_turn_within_a_step)
{
    double p[HIL_QUANTITIES_MAX];

    rig_defaults(p, "switched_boost");
    p[ESR] = 0;
    expect_diodes("boost", p, 0.02, 3, 1, 0.005);
    expect_diodes("switched_boost", p, 0.02, 3, 1, 0.005);
}

/* A synchronous switch would draw the output's charge back through the inductor. */
Test(enable, off_lets_the_current_decay_to_zero_where_it_stays)
{
    for (const char *const *m = converters; *m; m++) {
        struct rig rig = rig_open(*m, NULL, (const double[]){5, 60}, period_s);
        rig.in[ENABLE] = 0;
        rig.in[INPUT_VOLTAGE] = strstr(*m, "boost") ? 48 : 100;
        rig.in[LOAD] = 1e4;
        for (int k = 0; k < 1000; k++) {
            rig_step(&rig);
            cr_assert_geq(rig.out[CURRENT], 0, "%s", *m);
            cr_assert(k < 20 || rig.out[CURRENT] == 0, "%s: %g A", *m, rig.out[CURRENT]);
        }
        rig_end(&rig);
    }
}

/* The output of the inputs that are held, as a scenario's first row has it. */
Test(enable, off_feeds_the_output_by_its_diode)
{
    for (const char *const *m = converters; *m; m++) {
        struct rig rig = rig_open(*m, NULL, (const double[]){4, 10}, period_s);
        rig.in[DUTY] = 1;
        rig.in[ENABLE] = 0;
        rig.model->output(rig.self, rig.in, rig.out);
        cr_expect_float_eq(rig.out[VOLTAGE], 2.4 / 2.43 * (10 + 0.03 * 4), 1e-12, "%s: %g", *m,
                           rig.out[VOLTAGE]);
        rig_end(&rig);
    }
}

/* While it is on, and also after it was off, nothing differs from a component that has been on all
 * the time. */
Test(enable, on_again_is_as_before)
{
    for (const char *const *m = converters; *m; m++) {
        struct rig off = rig_open(*m, NULL, NULL, period_s),
                   on = rig_open(*m, NULL, NULL, period_s);
        off.in[DUTY] = on.in[DUTY] = 0.3;
        off.in[ENABLE] = 0.49;
        off.in[INPUT_VOLTAGE] = 0;
        for (int k = 0; k < 10; k++)
            rig_step(&off);
        off.in[ENABLE] = 0.5;
        off.in[INPUT_VOLTAGE] = on.in[INPUT_VOLTAGE];
        for (int k = 0; k < 50; k++) {
            rig_step(&off);
            rig_step(&on);
            cr_assert_eq(memcmp(off.out, on.out, 2 * sizeof(double)), 0, "%s, step %d", *m, k);
        }
        rig_end(&off);
        rig_end(&on);
    }
}

/* However often the circuit oscillates within a step, a diode conducts in its direction only. The
 * source is above all that a buck's capacitor can be charged to. */
Test(enable, off_blocks_in_circuits_that_are_fast_within_a_step)
{
    for (const char *const *m = converters; *m; m++)
        for (double l = 1e-9; l < 1e-3; l *= 10)
            for (double c = 1e-9; c < 1e-3; c *= 10) {
                double p[HIL_QUANTITIES_MAX];
                rig_defaults(p, *m);
                p[L] = l;
                p[C] = c;
                struct rig rig = rig_open(*m, p, (const double[]){5, 60}, period_s);
                rig.in[ENABLE] = 0;
                rig.in[LOAD] = 1e3;
                rig.in[INPUT_VOLTAGE] = strstr(*m, "boost") ? 48 : 1e5;
                for (int k = 0; k < 20; k++) {
                    rig_step(&rig);
                    cr_assert_geq(rig.out[CURRENT], 0, "%s, L %g, C %g: %g A", *m, l, c,
                                  rig.out[CURRENT]);
                    cr_assert(isfinite(rig.out[VOLTAGE]), "%s, L %g, C %g", *m, l, c);
                }
                rig_end(&rig);
            }
}

/* With a source below its output a boost without losses rests; the output then charges on, through
 * the diode, to at most twice the source. */
Test(enable, a_boost_that_is_off_charges_its_output_through_the_diode)
{
    double p[HIL_QUANTITIES_MAX];

    rig_defaults(p, "boost");
    p[RL] = p[RON] = p[ESR] = 0;
    struct rig rig = rig_open("boost", p, NULL, 1e-3);
    rig.in[ENABLE] = 0;
    rig.in[LOAD] = 1e9;
    rig_step(&rig);
    cr_expect_float_eq(rig.out[VOLTAGE], 2 * 48, 1e-3, "%.9g", rig.out[VOLTAGE]);
    cr_expect_eq(rig.out[CURRENT], 0);
    rig_end(&rig);
}

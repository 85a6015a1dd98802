/* Tests bucks in series across one load, against single bucks, a fine integration and the
 * reference's critical period. */
#include <string.h>

#include "model_rig.h"

static struct rig series_with(unsigned width, double load_ohm, double drop_v)
{
    double parameters[RIG_PLACES];
    struct rig rig;

    rig_values(&hil_model_find("series_bucks")->parameters, width, parameters);
    parameters[5 * width] = load_ohm;
    for (unsigned i = 0; i < width; i++)
        parameters[5 * width + 1 + i] = drop_v;
    cr_assert_eq(rig_try(&rig, "series_bucks", width, parameters, NULL, 10e-6), 0);
    rig_values(&rig.model->inputs, width, rig.in);
    return rig;
}

static struct rig series_of(unsigned width, double load_ohm)
{
    return series_with(width, load_ohm, 0);
}

/* "The local share is exact when balanced." */
Test(series, balanced_ones_are_single_ones_with_their_share_of_the_load)
{
    enum { COUNT = 20 };
    struct rig string = series_of(COUNT, 48), one = rig_open("buck", NULL, NULL, 10e-6);

    for (int k = 0; k < 500; k++) {
        const double duty = k < 250 ? 0.25 : 0.4;
        one.in[0] = duty;
        for (int i = 0; i < COUNT; i++)
            string.in[i] = duty;
        rig_step(&one);
        rig_step(&string);
        for (int i = 0; i < COUNT; i++) {
            cr_expect(fabs(string.out[i] - one.out[0]) < 1e-10, "voltage, step %d", k);
            cr_expect(fabs(string.out[COUNT + i] - one.out[1]) < 1e-10, "current, step %d", k);
        }
        cr_expect(fabs(string.out[2 * COUNT] - one.out[0] / 2.4) < 1e-10, "load, step %d", k);
    }
    rig_end(&string);
    rig_end(&one);
}

/* How much a small difference between two converters grows from 50 to 100 ms. Each has its own PID
 * with this period, and the timing is the reference's. */
static double growth(int64_t period_ns)
{
    static const double gains[] = {0.03, 150, 4.2e-6, 5e-6, 0.3, 0.02, 0.5};
    struct rig string = series_of(2, 4.8), laws[2];
    double next[2] = {0}, pushed[2] = {0}, largest[2] = {0};

    for (int i = 0; i < 2; i++)
        laws[i] = rig_open("pid", gains, NULL, (double)period_ns * 1e-9);
    for (int64_t controller = 0, plant = 0; controller < 110000000;) {
        if (plant <= controller) {
            if (plant > 0)
                rig_step(&string);
            memcpy(string.in, pushed, sizeof pushed);
            plant += 10000;
            continue;
        }
        for (int i = 0; i < 2; i++) {
            pushed[i] = next[i];
            laws[i].in[0] = 12;
            laws[i].in[1] = string.out[i];
            rig_step(&laws[i]);
            next[i] = laws[i].out[0] + (i == 0 && controller < 1000000 ? 1e-6 : 0);
        }
        const double apart = fabs(string.out[0] - string.out[1]);
        const int64_t ms = controller / 1000000;
        if (ms >= 50 && ms < 60)
            largest[0] = fmax(largest[0], apart);
        if (ms >= 100)
            largest[1] = fmax(largest[1], apart);
        controller += period_ns;
    }
    rig_end(&string);
    rig_end(&laws[0]);
    rig_end(&laws[1]);
    return largest[1] / largest[0];
}

/* "Its differential modes lose the load's damping (critical period 42.0 us)." */
Test(series, critical_period_of_the_differences)
{
    cr_expect_lt(growth(41800), 0.95, "%g", growth(41800));
    cr_expect_gt(growth(42200), 1.05, "%g", growth(42200));
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* One converter across the whole load is a single buck, however it is switched on and off. */
static void expect_single(double drop_v)
{
    enum { DROP = 5 };
    double parameters[RIG_PLACES];

    rig_defaults(parameters, "buck");
    parameters[DROP] = drop_v;
    struct rig string = series_with(1, 2.4, drop_v),
               one = rig_open("buck", parameters, NULL, 10e-6);
    uint64_t random = 1;

    for (int k = 0; k < 3000; k++) {
        if (k % 25 == 0) {
            string.in[0] = one.in[0] = uniform(&random);
            string.in[2] = one.in[3] = uniform(&random) < 0.5 ? 0 : 1;
        }
        if (k == 1500) /* a source below the outputs: the upper diodes conduct */
            string.in[1] = one.in[1] = 2;
        rig_step(&one);
        rig_step(&string);
        cr_assert(fabs(string.out[0] - one.out[0]) < 1e-9, "voltage, step %d", k);
        cr_assert(fabs(string.out[1] - one.out[1]) < 1e-9, "current, step %d", k);
        if (one.in[3] == 1)
            cr_assert(fabs(string.out[3] - one.out[2]) < 1e-9, "input current, step %d", k);
    }
    rig_end(&string);
    rig_end(&one);
}

Test(series, one_that_is_off_is_a_single_one_that_is_off)
{
    expect_single(0);
    expect_single(0.8);
}

enum { STRING = 3, FINE = 400 };

/* The string's parameters for each converter, and its load. */
struct string {
    double l[STRING], c[STRING], r[STRING], esr[STRING], load;
    double duty[STRING], source[STRING];
    int on[STRING];
    double current[STRING], voltage[STRING];
};

/* The slopes of all states. A converter that is off has no current unless a diode conducts. */
static void string_slopes(const struct string *s, const double *current, const double *voltage,
                          double *di, double *dv)
{
    double sum = 0, path = s->load;

    for (int i = 0; i < STRING; i++) {
        sum += voltage[i] + s->esr[i] * current[i];
        path += s->esr[i];
    }
    for (int i = 0; i < STRING; i++) {
        const double into = current[i] - sum / path, out = voltage[i] + s->esr[i] * into;
        const double lower = -s->r[i] * current[i] - out, upper = lower + s->source[i];
        dv[i] = into / s->c[i];
        if (s->on[i])
            di[i] = (lower + s->duty[i] * s->source[i]) / s->l[i];
        else if (current[i] != 0)
            di[i] = (current[i] > 0 ? lower : upper) / s->l[i];
        else
            di[i] = (lower > 0 ? lower : upper < 0 ? upper : 0) / s->l[i];
    }
}

/* The middle point method, in which a diode's current ends at zero. */
static void string_advance(struct string *s, double h)
{
    double di[STRING], dv[STRING], current[STRING], voltage[STRING];

    string_slopes(s, s->current, s->voltage, di, dv);
    for (int i = 0; i < STRING; i++) {
        current[i] = s->current[i] + h / 2 * di[i];
        voltage[i] = s->voltage[i] + h / 2 * dv[i];
    }
    string_slopes(s, current, voltage, di, dv);
    for (int i = 0; i < STRING; i++) {
        const double was = s->current[i];
        s->current[i] += h * di[i];
        s->voltage[i] += h * dv[i];
        if (!s->on[i] && was * s->current[i] < 0)
            s->current[i] = 0;
    }
}

/* Three different converters of which some are off in turn, against a fine integration. */
Test(series, those_that_are_off_conduct_by_their_diodes)
{
    struct string s = {.l = {47e-6, 20e-6, 80e-6},
                       .c = {470e-6, 100e-6, 220e-6},
                       .r = {0.04, 0.1, 0.02},
                       .esr = {0.03, 0.005, 0.06},
                       .load = 6,
                       .duty = {0.3, 0.5, 0.7},
                       .source = {48, 24, 36}};
    double parameters[] = {47e-6, 20e-6, 80e-6, 470e-6, 100e-6, 220e-6, 0.02, 0.06, 0.01, 0.02,
                           0.04,  0.01,  0.03,  0.005,  0.06,   6,      0,    0,    0};
    struct rig rig;
    uint64_t random = 7;
    double error = 0, seen = 0, lowest = 0;

    cr_assert_eq(rig_try(&rig, "series_bucks", STRING, parameters, NULL, 10e-6), 0);
    for (int k = 0; k < 2000; k++) {
        if (k % 40 == 0)
            for (int i = 0; i < STRING; i++) {
                s.on[i] = uniform(&random) < 0.5;
                s.source[i] = uniform(&random) < 0.8 ? 48 : 5;
                rig.in[i] = s.duty[i];
                rig.in[STRING + i] = s.source[i];
                rig.in[2 * STRING + i] = s.on[i] ? 1 : 0;
            }
        for (int f = 0; f < FINE; f++)
            string_advance(&s, 10e-6 / FINE);
        rig_step(&rig);
        for (int i = 0; i < STRING; i++) {
            error = fmax(error, fabs(rig.out[STRING + i] - s.current[i]));
            seen = fmax(seen, fabs(s.current[i]));
            lowest = fmin(lowest, rig.out[i]);
        }
    }
    cr_expect_lt(error, 2e-4 * seen, "%g of %g A", error, seen);
    cr_expect_lt(lowest, -0.1, "no output was carried below zero by the others: %g V", lowest);
    rig_end(&rig);
}

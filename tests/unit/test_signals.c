/* Tests the signal blocks for any quantity, sampled and continuous, against their definitions. */
#include <errno.h>
#include <string.h>

#include "model_rig.h"

static const double period_s = 1e-4;

static void expect_close(double actual, double expected, double tolerance, const char *what)
{
    cr_expect(fabs(actual - expected) <= tolerance, "%s: %.17g, expected %.17g (off by %g)", what,
              actual, expected, fabs(actual - expected));
}

static struct rig rig_with(const char *name, const double *parameters)
{
    return rig_open(name, parameters, NULL, period_s);
}

/* The output for this input in the first step. */
static double answer(struct rig *rig, double input)
{
    rig->in[0] = input;
    rig_step(rig);
    return rig->out[0];
}

static void expect_refused(const char *name, const double *parameters)
{
    struct rig rig;

    cr_expect_eq(rig_try(&rig, name, 1, parameters, NULL, period_s), -EDOM, "%s", name);
    cr_expect_str_not_empty(rig_said);
}

/* --- sampled ---------------- */

Test(signals, gain_multiplies_and_is_tuned)
{
    struct rig rig = rig_with("gain", (const double[]){-2.5});

    cr_expect_eq(answer(&rig, 4), -10);
    cr_assert_eq(rig.model->tune(rig.self, 0, 3), 0);
    cr_expect_eq(answer(&rig, 4), 12);
    cr_expect_eq(rig.model->tune(rig.self, 1, 5), -EDOM);
    cr_expect_eq(answer(&rig, 4), 12);
    rig_end(&rig);
}

Test(signals, sum_adds_as_many_as_it_is_wide)
{
    static const double gains[] = {1, -1, 0.5};
    struct rig rig;

    cr_assert_eq(rig_try(&rig, "sum", 3, gains, NULL, period_s), 0);
    memcpy(rig.in, (const double[]){7, 2, 10}, 3 * sizeof(double));
    rig_step(&rig);
    cr_expect_eq(rig.out[0], 10);
    rig_end(&rig);
}

Test(signals, saturation_limits)
{
    struct rig rig = rig_with("saturation", (const double[]){-1, 3});

    cr_expect_eq(answer(&rig, -5), -1);
    cr_expect_eq(answer(&rig, 2.5), 2.5);
    cr_expect_eq(answer(&rig, 4), 3);
    cr_expect_eq(answer(&rig, NAN), -1);
    rig_end(&rig);
    expect_refused("saturation", (const double[]){3, 3});
}

Test(signals, delay_gives_the_input_of_then)
{
    for (int steps = 0; steps < 6; steps += 5) {
        struct rig rig = rig_with("delay", (const double[]){steps, -7});

        for (int k = 0; k < 20; k++)
            cr_expect_eq(answer(&rig, k), k < steps ? -7 : k - steps, "%d steps", steps);
        rig_end(&rig);
    }
}

/* 3 bits from -1 to 6: a code for each whole number. */
Test(signals, quantiser_rounds_to_the_nearest_code)
{
    struct rig rig = rig_with("quantiser", (const double[]){3, -1, 6});

    cr_expect_eq(answer(&rig, 2.4), 2);
    cr_expect_eq(answer(&rig, 2.6), 3);
    cr_expect_eq(answer(&rig, -9), -1);
    cr_expect_eq(answer(&rig, 9), 6);
    cr_expect(isnan(answer(&rig, NAN)));
    rig_end(&rig);
    expect_refused("quantiser", (const double[]){3, 1, 0});
}

Test(signals, moving_average_of_those_that_there_are)
{
    struct rig rig = rig_with("moving_average", (const double[]){4});
    static const double expected[] = {1, 1.5, 2, 2.5, 3.5, 4.5, 5.5};

    for (int k = 0; k < 7; k++)
        cr_expect_eq(answer(&rig, k + 1), expected[k], "step %d", k);
    rig_end(&rig);
}

/* Checks mean, variance and fourth moment of a Gaussian, each within four of its standard errors.
 */
Test(signals, noise_is_gaussian_and_seeded)
{
    enum { COUNT = 100000 };
    struct rig rig = rig_with("noise", (const double[]){0.5, 1}),
               same = rig_with("noise", (const double[]){0.5, 1}),
               other = rig_with("noise", (const double[]){0.5, 2});
    double sum = 0, squares = 0, fourths = 0, before = 0, products = 0;
    unsigned alike = 0;

    for (int k = 0; k < COUNT; k++) {
        const double z = (answer(&rig, 3) - 3) / 0.5;
        cr_assert_eq(answer(&same, 3), rig.out[0]);
        alike += answer(&other, 3) == rig.out[0];
        sum += z;
        squares += z * z;
        fourths += z * z * z * z;
        products += z * before;
        before = z;
    }
    expect_close(sum / COUNT, 0, 4 / sqrt(COUNT), "mean");
    expect_close(squares / COUNT, 1, 4 * sqrt(2.0 / COUNT), "variance");
    expect_close(fourths / COUNT, 3, 4 * sqrt(96.0 / COUNT), "fourth moment");
    expect_close(products / COUNT, 0, 4 / sqrt(COUNT), "correlation with the one before");
    cr_expect_eq(alike, 0u);
    rig_end(&rig);
    rig_end(&same);
    rig_end(&other);
}

/* The bilinear transform gives C(jv) at v = (2/T) tan(w T / 2), exactly. */
Test(signals, lead_lag_at_a_frequency)
{
    const double gain = 2, lead = 3e-3, lag = 2e-4, w = 2500;
    struct rig rig = rig_with("lead_lag", (const double[]){gain, lead, lag});
    const double v = 2 / period_s * tan(w * period_s / 2);
    const double size = gain * hypot(1, lead * v) / hypot(1, lag * v);
    const double angle = atan(lead * v) - atan(lag * v);

    for (int k = 0; k < 2000; k++) {
        answer(&rig, sin(w * k * period_s));
        if (k > 1000)
            expect_close(rig.out[0], size * sin(w * k * period_s + angle), 1e-10, "lead_lag");
    }
    rig_end(&rig);
}

/* The same laws with other names: the numbers equal those of the converters' laws, which are
 * checked against the reference. */
Test(signals, generic_laws_are_those_of_converters)
{
    static const double pid[] = {0.03, 150, 4.2e-6, 5e-6, 0.3, 0.02, 0.5};
    static const double pi[] = {0.03, 150, 0.3, 0.02, 0.5};
    static const char *const pairs[][2] = {{"generic_pid", "pid"}, {"generic_pi", "pi"}};

    for (int i = 0; i < 2; i++) {
        struct rig generic = rig_open(pairs[i][0], i == 0 ? pid : pi, NULL, 40e-6),
                   law = rig_open(pairs[i][1], i == 0 ? pid : pi, NULL, 40e-6);

        for (int k = 0; k < 200; k++) {
            generic.in[0] = law.in[0] = 12;
            generic.in[1] = law.in[1] = 12 + 3 * sin(0.1 * k);
            rig_step(&generic);
            rig_step(&law);
            cr_expect_eq(generic.out[0], law.out[0], "%s, step %d", pairs[i][0], k);
        }
        rig_end(&generic);
        rig_end(&law);
    }
    expect_refused("generic_pid", (const double[]){1, 0, 0, 1e-3, 1, 2, 1});
}

/* --- start-up ---------------- */

enum { OFF, PRECHARGE, RUN, FAULT };

static void expect_state(struct rig *rig, double enable, double voltage_v, double fault, int state)
{
    rig->in[0] = enable;
    rig->in[1] = voltage_v;
    rig->in[2] = fault;
    rig_step(rig);
    cr_expect_eq(rig->out[0], state, "at %g V it is %g, expected %d", voltage_v, rig->out[0],
                 state);
    cr_expect_eq(rig->out[1], state == PRECHARGE);
    cr_expect_eq(rig->out[2], state == RUN);
}

static struct rig starting(void)
{
    return rig_with("startup", (const double[]){40, 60, 3 * period_s});
}

Test(startup, precharges_and_runs)
{
    struct rig rig = starting();

    expect_state(&rig, 0, 0, 0, OFF);
    expect_state(&rig, 1, 0, 0, PRECHARGE);
    expect_state(&rig, 1, 39, 0, PRECHARGE);
    expect_state(&rig, 1, 40, 0, RUN);
    expect_state(&rig, 1, 10, 0, RUN);
    expect_state(&rig, 0, 50, 0, OFF);
    rig_end(&rig);
}

Test(startup, precharge_that_takes_too_long_is_a_fault)
{
    struct rig rig = starting();

    for (int k = 0; k < 3; k++)
        expect_state(&rig, 1, 20, 0, PRECHARGE);
    expect_state(&rig, 1, 20, 0, FAULT);
    expect_state(&rig, 1, 50, 0, FAULT);
    expect_state(&rig, 0, 50, 0, OFF);
    expect_state(&rig, 1, 50, 0, PRECHARGE);
    rig_end(&rig);
}

Test(startup, faults_stay_until_it_is_disabled)
{
    static const double wrong[][2] = {{60, 0}, {50, 1}, {NAN, 0}};

    for (int i = 0; i < 3; i++) {
        struct rig rig = starting();

        expect_state(&rig, 1, 50, 0, PRECHARGE);
        expect_state(&rig, 1, 50, 0, RUN);
        expect_state(&rig, 1, wrong[i][0], wrong[i][1], FAULT);
        expect_state(&rig, 1, 50, 0, FAULT);
        expect_state(&rig, 0, 50, 1, OFF);
        rig_end(&rig);
    }
    expect_refused("startup", (const double[]){60, 60, 1});
}

/* --- continuous, exact for inputs that are held ---------------- */

Test(signals, integrator_integrates)
{
    struct rig rig = rig_open("integrator", (const double[]){2}, (const double[]){5}, period_s);
    double sum = 5;

    for (int k = 0; k < 100; k++) {
        sum += 2 * period_s * k;
        expect_close(answer(&rig, k), sum, 1e-13, "integrator");
    }
    rig_end(&rig);
}

Test(signals, first_order_lag_is_an_exponential)
{
    const double gain = 3, time_s = 2.5e-4;
    struct rig rig =
        rig_open("first_order_lag", (const double[]){gain, time_s}, (const double[]){1}, period_s);

    for (int k = 1; k < 50; k++)
        expect_close(answer(&rig, 2), 6 - 5 * exp(-k * period_s / time_s), 1e-13, "lag");
    rig_end(&rig);
}

/* The response to a step from rest, for each kind of damping. */
static double second_order_step(double w, double damping, double t)
{
    const double s = sqrt(fabs(1 - damping * damping)), e = exp(-damping * w * t);

    if (damping < 1)
        return 1 - e * (cos(w * s * t) + damping / s * sin(w * s * t));
    if (damping == 1)
        return 1 - e * (1 + w * t);
    return 1 - e * (cosh(w * s * t) + damping / s * sinh(w * s * t));
}

Test(signals, second_order_lag_of_each_damping)
{
    static const double dampings[] = {0, 0.2, 1, 3};

    for (int i = 0; i < 4; i++) {
        struct rig rig =
            rig_open("second_order_lag", (const double[]){2, 1500, dampings[i]}, NULL, period_s);

        for (int k = 1; k < 100; k++)
            expect_close(answer(&rig, 5), 10 * second_order_step(1500, dampings[i], k * period_s),
                         1e-11, "lag");
        rig_end(&rig);
    }
}

/* Without damping and input, x = x0 cos wt + (slope / w) sin wt. */
Test(signals, second_order_lag_begins_with_its_slope)
{
    struct rig rig = rig_open("second_order_lag", (const double[]){1, 1500, 0},
                              (const double[]){0.5, 600}, period_s);

    for (int k = 1; k < 100; k++) {
        const double angle = 1500 * k * period_s;
        expect_close(answer(&rig, 0), 0.5 * cos(angle) + 0.4 * sin(angle), 1e-12, "lag");
    }
    rig_end(&rig);
}

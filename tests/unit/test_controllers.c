/*
 * Tests the laws: with the reference's unit vectors, their rules at the limits, and a closed loop
 * with the timing of the reference (REFERENCE.md, "Timing in virtual time").
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model_rig.h"
#include "tests/data/reference_units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The inputs of a converter's law. */
static const char *const laws[] = {"pid", "pi", "type3", "state_feedback", NULL};

static const struct {
    double duty_min, duty_max;
} limits = {0.02, 0.50};

static void expect_close(double actual, double expected, double tolerance, const char *what)
{
    cr_expect(fabs(actual - expected) <= tolerance, "%s: %.17g, expected %.17g (off by %g)", what,
              actual, expected, fabs(actual - expected));
}

/* --- a law at work --- */

/* Makes a law with these gains, in the order of its table, and the limits above. */
static struct rig rig_with(const char *name, const double *gains, double period_s)
{
    const struct hil_quantities *table = &hil_model_find(name)->parameters;
    double parameters[HIL_QUANTITIES_MAX];

    memcpy(parameters, gains, (table->count - 2) * sizeof(double));
    parameters[table->count - 2] = limits.duty_min;
    parameters[table->count - 1] = limits.duty_max;
    return rig_open(name, parameters, NULL, period_s);
}

static struct rig rig_default(const char *name, double period_s)
{
    double gains[HIL_QUANTITIES_MAX];

    rig_defaults(gains, name);
    return rig_with(name, gains, period_s);
}

/* The law's duty at this current. */
static double duty_at(struct rig *rig, double reference_v, double voltage_v, double current_a)
{
    rig->in[0] = reference_v;
    rig->in[1] = voltage_v;
    rig->in[2] = current_a;
    rig_step(rig);
    return rig->out[0];
}

static double duty_of(struct rig *rig, double reference_v, double voltage_v)
{
    return duty_at(rig, reference_v, voltage_v, 0);
}

/* --- against the reference --- */

Test(laws, reference_unit_vectors)
{
    for (size_t i = 0; i < COUNT(reference_laws); i++) {
        const struct reference_law *r = &reference_laws[i];
        struct rig rig = rig_default(r->law, r->period_s);

        cr_assert_eq(r->duty_min, limits.duty_min);
        cr_assert_eq(r->duty_max, limits.duty_max);
        for (int k = 0; k < REFERENCE_STEPS; k++)
            expect_close(duty_of(&rig, r->reference_v, r->voltage_v[k]), r->duty[k], 1e-12, r->law);
        rig_end(&rig);
    }
}

/*
 * The law follows the difference equation with the reference's coefficients, mostly between the
 * limits.
 */
Test(type3, reference_coefficients)
{
    for (size_t i = 0; i < COUNT(reference_laws); i++) {
        const struct reference_law *r = &reference_laws[i];
        double e[4] = {0}, u[4] = {0};
        int between = 0;

        if (strcmp(r->law, "type3") != 0)
            continue;
        struct rig rig = rig_default("type3", r->period_s);
        for (int k = 0; k < 100; k++) {
            memmove(&e[1], e, 3 * sizeof(e[0]));
            memmove(&u[1], u, 3 * sizeof(u[0]));
            e[0] = 0.5 + 0.05 * sin(k * k);
            u[0] = r->b[0] * e[0];
            for (int j = 1; j < 4; j++)
                u[0] += r->b[j] * e[j] - r->a[j] * u[j];
            u[0] = fmin(fmax(u[0], limits.duty_min), limits.duty_max);
            between += u[0] > limits.duty_min && u[0] < limits.duty_max;
            expect_close(duty_of(&rig, 0, -e[0]), u[0], 1e-12, "type3");
        }
        cr_expect(between > 90, "%d", between);
        rig_end(&rig);
    }
}

/* --- rules --- */

/* PI: Kp (b Vref - V) + T Ki (sum of errors). */
Test(pi, is_its_formula)
{
    const double gains[] = {0.004, 30, 0.6}, period_s = 20e-6;
    struct rig rig = rig_with("pi", gains, period_s);
    double sum = 0;

    for (int k = 0; k < 50; k++) {
        const double voltage = 3 + 0.1 * k;

        sum += 12 - voltage;
        expect_close(duty_of(&rig, 12, voltage), 0.004 * (0.6 * 12 - voltage) + 30 * period_s * sum,
                     1e-14, "pi");
        cr_assert(30 * period_s * sum < 0.45, "away from the limit");
    }
    rig_end(&rig);
}

Test(pi, is_a_pid_without_derivative)
{
    const double pi_gains[] = {0.03, 150, 0.3}, pid_gains[] = {0.03, 150, 0, 0, 0.3};
    struct rig pi = rig_with("pi", pi_gains, 40e-6), pid = rig_with("pid", pid_gains, 40e-6);

    for (int k = 0; k < 200; k++) {
        const double voltage = 12 + 3 * sin(0.1 * k);
        cr_expect_eq(duty_of(&pi, 12, voltage), duty_of(&pid, 12, voltage));
    }
    rig_end(&pi);
    rig_end(&pid);
}

/* However long the duty was at a limit, an error of the other sign takes it off at once. */
static void leaves_its_limit_at_once(const char *law, const double *gains)
{
    struct rig rig = rig_with(law, gains, 40e-6);
    double duty = 0;

    for (int k = 0; k < 10000; k++)
        duty = duty_of(&rig, 12, 11.9);
    cr_expect_eq(duty, limits.duty_max);
    duty = duty_of(&rig, 12, 12.1);
    cr_expect(duty < limits.duty_max && duty > 0.4, "%s, upper: %g", law, duty);

    for (int k = 0; k < 10000; k++)
        duty = duty_of(&rig, 12, 12.1);
    cr_expect_eq(duty, limits.duty_min);
    duty = duty_of(&rig, 12, 11.9);
    cr_expect(duty > limits.duty_min && duty < 0.1, "%s, lower: %g", law, duty);
    rig_end(&rig);
}

Test(anti_windup, pi)
{
    leaves_its_limit_at_once("pi", (const double[]){0.01, 20, 1});
}

Test(anti_windup, pid)
{
    leaves_its_limit_at_once("pid", (const double[]){0.01, 20, 1e-7, 5e-6, 0.3});
}

Test(anti_windup, state_feedback)
{
    leaves_its_limit_at_once("state_feedback", (const double[]){0.01, 0, 20});
}

/* Beyond a limit, an error that leads back is still integrated. Only an error that leads further
 * out is not. */
Test(anti_windup, integrates_on_the_way_back)
{
    const double gains[] = {0.1, 100, 0}; /* duty = -0.1 V + 0.004 (sum of errors) */
    struct rig low = rig_with("pi", gains, 40e-6), high = rig_with("pi", gains, 40e-6);

    for (int k = 1; k < 140; k++) {
        const double duty = 0.008 * k - 1;

        expect_close(duty_of(&low, 12, 10), fmax(duty, limits.duty_min), 1e-12, "low");
        if (-duty > limits.duty_min)
            expect_close(duty_of(&high, -12, -10), fmin(-duty, limits.duty_max), 1e-12, "high");
    }
    rig_end(&low);
    rig_end(&high);
}

/* A converter that already runs must not be kicked by the derivative from zero. */
Test(pid, first_step_has_no_derivative)
{
    const double gains[] = {0.03, 0, 4.2e-6, 5e-6, 1};
    struct rig rig = rig_with("pid", gains, 40e-6);

    expect_close(duty_of(&rig, 12, 9), 0.03 * 3, 1e-15, "first");
    expect_close(duty_of(&rig, 12, 9.1), 0.03 * 2.9 - 4.2e-6 * 0.1 / 45e-6, 1e-15, "second");
    rig_end(&rig);
}

Test(state_feedback, is_its_formula)
{
    const double gains[] = {0.01, 0.02, 100}, period_s = 20e-6;
    struct rig rig = rig_with("state_feedback", gains, period_s);
    double sum = 0;

    for (int k = 0; k < 20; k++) {
        const double voltage = 1 + 0.1 * k;

        sum += 12 - voltage;
        const double current = 0.2 + 0.05 * k;
        expect_close(duty_at(&rig, 12, voltage, current),
                     fmax(0.02, 100 * period_s * sum - 0.01 * voltage - 0.02 * current), 1e-14,
                     "state_feedback");
    }
    rig_end(&rig);
}

/* A measurement that is not a number gives the least power, whatever the law remembers. */
Test(laws, not_a_number_gives_the_smallest_duty)
{
    for (const char *const *law = laws; *law; law++) {
        struct rig rig = rig_default(*law, 40e-6);

        for (int k = 0; k < 100; k++)
            duty_of(&rig, 12, 8);
        cr_expect_eq(duty_of(&rig, 12, NAN), limits.duty_min, "%s", *law);
        rig_end(&rig);
    }
}

Test(laws, refuse_limits_that_make_no_sense)
{
    static const double cases[][2] = {{0.5, 0.5}, {0.6, 0.5}, {NAN, 0.5}, {0.02, NAN}};

    for (const char *const *law = laws; *law; law++)
        for (size_t i = 0; i < COUNT(cases); i++) {
            double parameters[HIL_QUANTITIES_MAX];
            const unsigned count = hil_model_find(*law)->parameters.count;
            struct rig rig;

            rig_defaults(parameters, *law);
            parameters[count - 2] = cases[i][0];
            parameters[count - 1] = cases[i][1];
            cr_expect_eq(rig_try(&rig, *law, 1, parameters, NULL, 40e-6), -EDOM, "%s, case %zu",
                         *law, i);
            cr_expect_str_eq(rig_said, "the upper limit is not above the lower one");
        }
}

/* --- laws in a row --- */

/* Takes the laws to their limits and back. In the end some measurements are not numbers, which a
 * law remembers. */
static double row_voltage(int step, int law)
{
    static const double odd[] = {-0.0, INFINITY, -INFINITY, NAN};

    return step > 250 && step % 7 == law ? odd[law % 4] : 12 + 8 * sin(0.02 * step + law);
}

/* To the last bit. */
static void expect_row_as_one_by_one(const char *name)
{
    enum { LAWS = 5, STEPS = 300 };
    struct rig one[LAWS], rows[LAWS];
    double in[2 * LAWS], out[2 * LAWS], before[LAWS] = {0};
    void *selves[LAWS];
    const unsigned outputs = hil_model_find(name)->outputs.count;
    int moved = 0;

    for (int i = 0; i < LAWS; i++) {
        one[i] = rig_open(name, NULL, NULL, 40e-6);
        rows[i] = rig_open(name, NULL, NULL, 40e-6);
        selves[i] = rows[i].self;
    }
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < LAWS; i++) {
            in[2 * i] = one[i].in[0] = 12;
            in[2 * i + 1] = one[i].in[1] = row_voltage(step, i);
            rig_step(&one[i]);
        }
        hil_row_step_of(one[0].model)(selves, LAWS, in, out);
        for (int i = 0; i < LAWS; i++) {
            const double *of = &out[(unsigned)i * outputs];
            cr_expect_eq(memcmp(of, one[i].out, outputs * sizeof *out), 0,
                         "%s %d, step %d: %a, not %a", name, i, step, *of, one[i].out[0]);
            cr_expect(isfinite(*of), "%s", name);
            moved += *of != before[i];
            before[i] = *of;
        }
    }
    cr_expect(moved > 100 && moved < LAWS * STEPS - 100, "%s: %d", name, moved);
    for (int i = 0; i < LAWS; i++) {
        rig_end(&one[i]);
        rig_end(&rows[i]);
    }
}

Test(laws, in_a_row_are_as_one_by_one)
{
    expect_row_as_one_by_one("pid");
    expect_row_as_one_by_one("pi");
    expect_row_as_one_by_one("generic_pid");
    expect_row_as_one_by_one("generic_pi");
    cr_expect_null(hil_row_step_of(hil_model_find("type3")));
}

/* --- closed loop --- */

struct record {
    double overshoot_percent;
    double settle_ms; /* time until it stays in the 2 percent band */
    double swing_v;   /* peak to peak over the last tenth, of 20 converters in series */
};

struct loop {
    struct rig law, plant;
    double visible, next; /* the pushed duty, and the next one to push */
};

static void loop_init(struct loop *loop, const char *plant, const char *law, double period_s)
{
    *loop = (struct loop){.law = rig_default(law, period_s),
                          .plant = rig_open(plant, NULL, NULL, 10e-6)};
}

static void loop_end(struct loop *loop)
{
    rig_end(&loop->plant);
    rig_end(&loop->law);
}

/* Advances the converter over the interval that just ended, then holds the newest duty. */
static void converter_tick(struct loop *loop, int64_t now_ns)
{
    if (now_ns > 0)
        rig_step(&loop->plant);
    loop->plant.in[0] = loop->visible;
}

/* Pushes the previous step's duty, reads the voltage, and computes the next duty. */
static void controller_tick(struct loop *loop)
{
    loop->visible = loop->next;
    loop->next = duty_at(&loop->law, 12, loop->plant.out[0], loop->plant.out[1]);
}

/* Twenty equal converters in series behave like one, times twenty. There is no latency. */
static struct record closed_loop(const char *plant, const char *law, int64_t period_ns,
                                 int64_t duration_ns)
{
    const int64_t plant_period_ns = 10000;
    struct record record = {0, 0, 0};
    struct loop loop;
    double low = INFINITY, high = -INFINITY;

    loop_init(&loop, plant, law, (double)period_ns * 1e-9);
    for (int64_t controller_ns = 0, converter_ns = 0; controller_ns < duration_ns;) {
        if (converter_ns <= controller_ns) { /* at the same time the converter goes first */
            converter_tick(&loop, converter_ns);
            converter_ns += plant_period_ns;
            continue;
        }
        controller_tick(&loop);

        const double v = loop.plant.out[0];
        record.overshoot_percent = fmax(record.overshoot_percent, 100 * (v / 12 - 1));
        if (fabs(v - 12) > 0.02 * 12)
            record.settle_ms = (double)(controller_ns + period_ns) * 1e-6;
        if (controller_ns >= duration_ns / 10 * 9) {
            low = fmin(low, v);
            high = fmax(high, v);
        }
        controller_ns += period_ns;
    }
    record.swing_v = 20 * (high - low);
    loop_end(&loop);
    return record;
}

/* The cases of cases.json. The tolerances are those stated there, or tighter. */
Test(closed_loop, reference_cases)
{
    const struct {
        const char *law;
        int64_t period_us;
        double overshoot_percent, settle_ms;
    } cases[] = {
        {"pid", 10, 0, 0.99},
        {"pid", 20, 0, 0.92},
        {"pid", 30, 0.0017661624350277332, 0.78},
        {"pid", 40, 9.046110892524434, 2.4},
        {"pid", 44, 17.61967593786982, 9.768},
        {"pid", 45, 21.766832475924076, 32.22},
        {"type3", 20, 0, 1.62},
        {"type3", 40, 5.244728069123508, 2.36},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct record record =
            closed_loop("buck", cases[i].law, cases[i].period_us * 1000, 400000000);

        expect_close(record.overshoot_percent, cases[i].overshoot_percent, 1e-6, cases[i].law);
        expect_close(record.settle_ms, cases[i].settle_ms, 1e-9, cases[i].law);
        cr_expect(record.swing_v < 1e-9, "%s at %d us settles", cases[i].law,
                  (int)cases[i].period_us);
    }
}

static bool unstable(const char *plant, const char *law, int64_t period_ns)
{
    return closed_loop(plant, law, period_ns, 1000000000).swing_v > 50;
}

/* REFERENCE.md: 45.5 us averaged, 46.6 us switched. */
Test(closed_loop, critical_period)
{
    cr_expect(!unstable("buck", "pid", 45300));
    cr_expect(unstable("buck", "pid", 45600));
    cr_expect(unstable("buck", "pid", 46000));
    cr_expect(!unstable("switched_buck", "pid", 46400));
    cr_expect(unstable("switched_buck", "pid", 46700));
    cr_expect(unstable("buck", "type3", 50000));
}

Test(closed_loop, defaults_of_the_other_laws)
{
    for (int64_t us = 10; us <= 40; us += 5) {
        const struct record feedback = closed_loop("buck", "state_feedback", us * 1000, 100000000);
        const struct record pi = closed_loop("buck", "pi", us * 1000, 100000000);

        cr_expect(feedback.settle_ms < 1 && feedback.overshoot_percent < 0.5, "%d us: %g ms, %g %%",
                  (int)us, feedback.settle_ms, feedback.overshoot_percent);
        cr_expect(feedback.swing_v < 1e-9);
        cr_expect(pi.settle_ms < 5 && pi.overshoot_percent < 0.1, "%d us: %g ms, %g %%", (int)us,
                  pi.settle_ms, pi.overshoot_percent);
        cr_expect(pi.swing_v < 1e-9);
    }
}

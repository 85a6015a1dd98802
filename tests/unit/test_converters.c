/*
 * Tests what a converter has besides its ideal parts: diodes with a drop, a source with a
 * resistance, an inductor that saturates, and the current from the source. All against a fine
 * integration of the flux, written independently.
 */
#include <string.h>

#include "model_rig.h"

enum { DUTY, INPUT_VOLTAGE, LOAD, ENABLE };
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
enum { VOLTAGE, CURRENT, INPUT_CURRENT };

static const double cycle_s = 10e-6;

/* How the switches of a converter connect: with the main one off, and on. */
struct kind {
    const char *name;
    double source[2], feeding[2];
    enum { AVERAGED, SYNCHRONOUS, DIODE } rectifier;
};

static const struct kind kinds[] = {
    {"buck", {0, 1}, {1, 1}, AVERAGED},
    {"boost", {1, 1}, {1, 0}, AVERAGED},
    {"buck_boost", {0, 1}, {1, 0}, AVERAGED},
    {"switched_buck", {0, 1}, {1, 1}, SYNCHRONOUS},
    {"switched_boost", {1, 1}, {1, 0}, SYNCHRONOUS},
    {"switched_buck_boost", {0, 1}, {1, 0}, SYNCHRONOUS},
    {"dead_time_buck", {0, 1}, {1, 1}, SYNCHRONOUS},
    {"diode_buck", {0, 1}, {1, 1}, DIODE},
    {"diode_boost", {1, 1}, {1, 0}, DIODE},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* --- a fine integration of the flux ----------------------------------------------------------- */

struct fine {
    const struct kind *kind;
    const double *p, *in;
    double flux, capacitor_v, charge;
};

static double current_of(const double *p, double flux)
{
    const double knee = p[L] * p[I_SATURATION];

    if (p[I_SATURATION] == 0 || fabs(flux) <= knee)
        return flux / p[L];
    return copysign(p[I_SATURATION] + (fabs(flux) - knee) / p[L_SATURATED], flux);
}

/* Of a current that is not negative. */
static double flux_of(const double *p, double i)
{
    return p[I_SATURATION] == 0 || i <= p[I_SATURATION]
               ? p[L] * i
               : p[L] * p[I_SATURATION] + p[L_SATURATED] * (i - p[I_SATURATION]);
}

/* The voltage at the inductor, with these shares of the connections and this drop. */
static double inductor_v(const struct fine *f, double i, double v, double source, double feeding,
                         double drop)
{
    const double *p = f->p, load = f->in[LOAD];
    const double output = load / (load + p[ESR]) * (v + p[ESR] * i);

    return source * (f->in[INPUT_VOLTAGE] - p[RS] * i) - (p[RL] + p[RON]) * i - feeding * output -
           drop;
}

struct slope {
    double flux, capacitor, source_a;
};

static struct slope connected(const struct fine *f, double flux, double v, double source,
                              double feeding, double drop)
{
    const double i = current_of(f->p, flux), load = f->in[LOAD];
    const double g = 1 / (load + f->p[ESR]);

    return (struct slope){inductor_v(f, i, v, source, feeding, drop),
                          g * (load * feeding * i - v) / f->p[C], source * i};
}

static struct slope by_diodes(const struct fine *f, double flux, double v)
{
    const struct kind *k = f->kind;
    const double drop = f->p[DROP];
    const double other = inductor_v(f, 0, v, k->source[0], k->feeding[0], drop);
    const double main = inductor_v(f, 0, v, k->source[1], k->feeding[1], -drop);

    if (flux > 0 || (flux == 0 && other > 0))
        return connected(f, flux, v, k->source[0], k->feeding[0], drop);
    if (flux < 0 || (flux == 0 && main < 0))
        return connected(f, flux, v, k->source[1], k->feeding[1], -drop);
    return (struct slope){0, -v / (f->in[LOAD] + f->p[ESR]) / f->p[C], 0};
}

/* `on` is the share of the time with the main switch on, NAN with all gates off. */
static struct slope slope_of(const struct fine *f, double on, double flux, double v)
{
    const struct kind *k = f->kind;

    if (isnan(on) || (on == 0 && k->rectifier == DIODE))
        return by_diodes(f, flux, v);
    return connected(f, flux, v, k->source[0] + on * (k->source[1] - k->source[0]),
                     k->feeding[0] + on * (k->feeding[1] - k->feeding[0]), 0);
}

static void fine_part(struct fine *f, double on, double h)
{
    const struct slope a = slope_of(f, on, f->flux, f->capacitor_v);
    const struct slope b = slope_of(f, on, f->flux + h * a.flux, f->capacitor_v + h * a.capacitor);
    const double flux = f->flux + h / 2 * (a.flux + b.flux);
    const bool diodes = isnan(on) || (on == 0 && f->kind->rectifier == DIODE);

    f->capacitor_v += h / 2 * (a.capacitor + b.capacitor);
    f->charge += h / 2 * (a.source_a + b.source_a);
    f->flux = diodes && flux * f->flux < 0 ? 0 : flux;
}

static void fine_cycle(struct fine *f)
{
    enum { PARTS = 4000 };
    const double d = f->in[DUTY];

    f->charge = 0;
    for (int i = 0; i < PARTS; i++) {
        const double dead = f->p[DEAD_TIME] / cycle_s, at = (i + 0.5) / PARTS;
        double on = f->kind->rectifier == AVERAGED ? d : at < d ? 1 : 0;
        if (f->kind->rectifier == SYNCHRONOUS && (at < dead || (at > d && at < d + dead)))
            on = NAN;
        fine_part(f, f->in[ENABLE] < 0.5 ? NAN : on, cycle_s / PARTS);
    }
}

/* --- comparisons --------------------------------------------------------------------------------
 */

/* A model that lacks some rows has those before them. */
static void values_of(double p[PARAMETERS])
{
    rig_defaults(p, "switched_boost");
    p[C] = 20e-6; /* so that the output moves within a cycle */
}

static void expect_close(double actual, double expected, double tolerance, const char *name,
                         const char *what, int cycle)
{
    cr_expect(fabs(actual - expected) <= tolerance * fmax(1, fabs(expected)),
              "%s of %s after cycle %d: %.12g, not %.12g", what, name, cycle, actual, expected);
}

static void agrees(const struct kind *k, const double *p, double load, double tolerance)
{
    struct rig rig = rig_open(k->name, p, (const double[]){3, 8}, cycle_s);
    struct fine f = {k, p, rig.in, flux_of(p, 3), 8, 0};

    rig.in[LOAD] = load;
    for (int cycle = 0; cycle < 60; cycle++) {
        rig.in[DUTY] = cycle < 20 ? 0.25 : 0.4;
        rig.in[INPUT_VOLTAGE] = cycle < 30 ? 12 : 9;
        rig.in[ENABLE] = cycle < 40;
        rig_step(&rig);
        fine_cycle(&f);
        expect_close(rig.out[CURRENT], current_of(p, f.flux), tolerance, k->name, "current", cycle);
        if (k->rectifier != AVERAGED || cycle >= 40)
            expect_close(rig.out[INPUT_CURRENT], f.charge / cycle_s, tolerance, k->name,
                         "input current", cycle);
        else
            expect_close(rig.out[INPUT_CURRENT],
                         (k->source[0] + rig.in[DUTY] * (k->source[1] - k->source[0])) *
                             current_of(p, f.flux),
                         tolerance, k->name, "input current", cycle);
        const double g = 1 / (load + p[ESR]);
        if (k->feeding[1] == 1)
            expect_close(rig.out[VOLTAGE],
                         load * g * (f.capacitor_v + p[ESR] * current_of(p, f.flux)), tolerance,
                         k->name, "voltage", cycle);
    }
    rig_end(&rig);
}

/* The drop, the source's resistance, the current of saturation, the dead time. */
static void each_agrees(const double with[4], double load, double tolerance)
{
    for (int i = 0; i < KINDS; i++) {
        double p[PARAMETERS];
        values_of(p);
        if (kinds[i].rectifier == SYNCHRONOUS && strcmp(kinds[i].name, "switched_buck") != 0)
            p[DEAD_TIME] = with[3];
        p[DROP] = with[0];
        p[RS] = with[1];
        p[I_SATURATION] = with[2];
        p[L_SATURATED] = 12e-6;
        agrees(&kinds[i], p, load, tolerance);
    }
}

Test(converter_parts, ideal_ones_have_an_input_current)
{
    each_agrees((const double[]){0, 0, 0, 0}, 5, 1e-3);
}

Test(converter_parts, a_diode_has_a_drop)
{
    each_agrees((const double[]){0.8, 0, 0, 5e-7}, 5, 1e-3);
}

Test(converter_parts, a_source_has_a_resistance)
{
    each_agrees((const double[]){0, 0.3, 0, 0}, 5, 1e-3);
}

Test(converter_parts, an_inductor_saturates)
{
    each_agrees((const double[]){0, 0, 2.5, 0}, 2, 1e-3);
}

Test(converter_parts, all_at_once)
{
    each_agrees((const double[]){0.8, 0.3, 2.5, 5e-7}, 2, 1e-3);
}

/* A diode's current ends at zero, and begins again where the voltage is above the drop. */
Test(converter_parts, conduct_discontinuously_with_a_drop)
{
    each_agrees((const double[]){0.8, 0.3, 0, 0}, 200, 1e-3);
}

/* Exact where no diode and no knee of the core comes between: the fine integration is to 1e-6. */
Test(converter_parts, a_source_with_a_resistance_is_exact)
{
    for (int i = 0; i < 7; i++) {
        double p[PARAMETERS];
        values_of(p);
        p[RS] = 0.3;
        struct rig rig = rig_open(kinds[i].name, p, (const double[]){3, 8}, cycle_s);
        struct fine f = {&kinds[i], p, rig.in, 3 * p[L], 8, 0};
        rig.in[LOAD] = 5;
        rig.in[INPUT_VOLTAGE] = 12;
        for (int cycle = 0; cycle < 40; cycle++) {
            rig.in[DUTY] = cycle < 20 ? 0.25 : 0.4;
            rig_step(&rig);
            fine_cycle(&f);
            expect_close(rig.out[CURRENT], current_of(p, f.flux), 1e-6, kinds[i].name, "current",
                         cycle);
        }
        rig_end(&rig);
    }
}

/* What the source gives is what the load and the resistances take, once all is periodic. */
Test(converter_parts, power_is_kept)
{
    double p[PARAMETERS];

    values_of(p);
    p[RL] = p[RON] = p[ESR] = 0;
    struct rig rig = rig_open("switched_buck", p, (const double[]){3, 8}, cycle_s / 100);
    double from_source = 0, to_load = 0;

    rig.in[DUTY] = 0.4;
    rig.in[INPUT_VOLTAGE] = 12;
    rig.in[LOAD] = 2;
    for (int i = 0; i < 210000; i++) {
        rig_step(&rig);
        from_source += i < 200000 ? 0 : 12 * rig.out[INPUT_CURRENT];
        to_load += i < 200000 ? 0 : rig.out[VOLTAGE] * rig.out[VOLTAGE] / 2;
    }
    expect_close(from_source / to_load, 1, 1e-4, "switched_buck", "power", 0);
    rig_end(&rig);
}

Test(converter_parts, the_new_parameters_are_tuned)
{
    for (int i = 0; i < KINDS; i++) {
        double p[PARAMETERS], q[PARAMETERS];
        values_of(p);
        values_of(q);
        q[DROP] = 0.8, q[RS] = 0.3, q[I_SATURATION] = 2.5, q[L_SATURATED] = 12e-6;
        struct rig tuned = rig_open(kinds[i].name, p, (const double[]){3, 8}, cycle_s);
        struct rig made = rig_open(kinds[i].name, q, (const double[]){3, 8}, cycle_s);
        for (uint32_t place = DROP; place <= L_SATURATED; place++)
            cr_assert_eq(tuned.model->tune(tuned.self, place, q[place]), 0);
        for (int cycle = 0; cycle < 20; cycle++) {
            tuned.in[DUTY] = made.in[DUTY] = 0.4;
            tuned.in[ENABLE] = made.in[ENABLE] = cycle < 10;
            rig_step(&tuned);
            rig_step(&made);
            cr_expect_eq(tuned.out[CURRENT], made.out[CURRENT], "%s", kinds[i].name);
            cr_expect_eq(tuned.out[INPUT_CURRENT], made.out[INPUT_CURRENT], "%s", kinds[i].name);
        }
        rig_end(&tuned);
        rig_end(&made);
    }
}

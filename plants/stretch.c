#include "stretch.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

struct stretch stretch_conducting(const struct circuit *circuit,
                                  const struct circuit_topology *topology, int on, const double *in)
{
    struct stretch s = {.u = topology->source[on] * in[CIRCUIT_INPUT_VOLTAGE],
                        .feeding = topology->feeding[on]};

    circuit_equations(&s.equations, circuit, s.feeding, in[CIRCUIT_LOAD]);
    return s;
}

/* No current flows in the inductor: only the capacitor feeds the load. */
static struct stretch stretch_idle(const struct circuit *circuit, const double *in)
{
    struct stretch s = {0};

    circuit_equations(&s.equations, circuit, 0, in[CIRCUIT_LOAD]);
    s.equations.a[CIRCUIT_CURRENT][CIRCUIT_CURRENT] = 0;
    s.equations.b[CIRCUIT_CURRENT] = 0;
    return s;
}

double stretch_slope(const struct stretch *s, const double *x)
{
    const double *a = s->equations.a[CIRCUIT_CURRENT];

    return a[CIRCUIT_CURRENT] * x[CIRCUIT_CURRENT] + a[CIRCUIT_VOLTAGE] * x[CIRCUIT_VOLTAGE] +
           s->equations.b[CIRCUIT_CURRENT] * s->u;
}

/* Computes the state after t. */
static void stretch_after(const struct stretch *s, const double *x, double t, double *after)
{
    struct linear sampled;

    linear_sample(&sampled, &s->equations, t);
    after[0] = x[0];
    after[1] = x[1];
    linear_advance(&sampled, after, s->u);
}

/* A quantity of the state that is looked for: c x + d. */
struct stretch_quantity {
    double c[CIRCUIT_STATES], d;
};

static double stretch_of(const struct stretch_quantity *q, const double *x)
{
    return q->c[CIRCUIT_CURRENT] * x[CIRCUIT_CURRENT] + q->c[CIRCUIT_VOLTAGE] * x[CIRCUIT_VOLTAGE] +
           q->d;
}

/* Returns the time at which the quantity is zero. It has different signs at 0 and at t. Uses the
 * false position method in its Illinois variant. */
static double stretch_when(const struct stretch *s, const struct stretch_quantity *q,
                           const double *x, double t, const double *at_t)
{
    double low = 0, high = t, f_low = stretch_of(q, x), f_high = stretch_of(q, at_t);
    double found = t;
    int kept = 0;

    for (int i = 0; i < 40 && high - low > 1e-15 * t; i++) {
        double there[CIRCUIT_STATES];
        found = (low * f_high - high * f_low) / (f_high - f_low);
        stretch_after(s, x, found, there);
        const double f = stretch_of(q, there);
        if (f == 0)
            break;
        const bool beyond = (f > 0) == (f_high > 0);
        if (beyond) {
            high = found;
            f_high = f;
            f_low *= kept == 1 ? 0.5 : 1;
        } else {
            low = found;
            f_low = f;
            f_high *= kept == 2 ? 0.5 : 1;
        }
        kept = beyond ? 1 : 2;
    }
    return found;
}

/* Whether the current goes towards the level, or leaves it, and in the end goes away from it on the
 * same side or on the other one: so it has turned, and may have been at the level unseen. */
static bool stretch_turns(const struct stretch *s, const double *x, const double *after,
                          double level)
{
    const double at_first = stretch_slope(s, x), at_last = stretch_slope(s, after);

    return isfinite(level) && at_first * at_last < 0 &&
           (x[CIRCUIT_CURRENT] - level) * at_first <= 0 &&
           (after[CIRCUIT_CURRENT] - level) * at_last > 0;
}

/* Returns the time at which the current turns, and sets `after` to the state at it. A time that is
 * too short to count is lengthened, so that whoever advances comes to an end. */
static double stretch_turn(const struct stretch *s, const double *x, double t, double *after)
{
    const double *a = s->equations.a[CIRCUIT_CURRENT];
    const struct stretch_quantity slope = {{a[CIRCUIT_CURRENT], a[CIRCUIT_VOLTAGE]},
                                           s->equations.b[CIRCUIT_CURRENT] * s->u};
    const double turn = fmax(stretch_when(s, &slope, x, t, after), 1e-9 * t);

    stretch_after(s, x, turn, after);
    return turn;
}

static bool stretch_crosses(const double *x, const double *after, double level)
{
    const double from = x[CIRCUIT_CURRENT], to = after[CIRCUIT_CURRENT];

    return (from < level && to > level) || (from > level && to < level);
}

/* The longest time after which it can still be found that the current was at the level: half a
 * radian of the circuit's oscillation, in which the current turns at most once. It is unlimited
 * if nothing oscillates, or if the current cannot come to the level: the energy of what is still
 * to change never grows, and bounds it. */
static double stretch_longest_s(const struct stretch *s, const double *x, double level)
{
    const double(*a)[2] = s->equations.a;
    const double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    const double u = s->equations.b[CIRCUIT_CURRENT] * s->u;
    const double end[CIRCUIT_STATES] = {-a[1][1] * u / det, a[1][0] * u / det};
    const double swing = hypot(x[CIRCUIT_CURRENT] - end[CIRCUIT_CURRENT],
                               (x[CIRCUIT_VOLTAGE] - end[CIRCUIT_VOLTAGE]) *
                                   sqrt(-a[0][1] / a[1][0])); /* sqrt(C / L) */

    if (isinf(level) || s->feeding == 0 || fabs(level - end[CIRCUIT_CURRENT]) > 1.000001 * swing)
        return INFINITY;
    return 0.5 / sqrt(-a[0][1] * a[1][0]);
}

double stretch_run(const struct stretch *s, double *x, double t, double level)
{
    double after[CIRCUIT_STATES];

    t = fmin(t, stretch_longest_s(s, x, level));

    stretch_after(s, x, t, after);
    if (stretch_turns(s, x, after, level)) {
        double there[CIRCUIT_STATES] = {after[0], after[1]};
        const double turn = stretch_turn(s, x, t, there);
        if (x[CIRCUIT_CURRENT] == level || stretch_crosses(x, there, level)) {
            t = turn;
            after[0] = there[0];
            after[1] = there[1];
        }
    }
    if (stretch_crosses(x, after, level)) {
        const struct stretch_quantity current = {{1, 0}, -level};
        t = stretch_when(s, &current, x, t, after);
        stretch_after(s, x, t, after);
        after[CIRCUIT_CURRENT] = level;
    }
    x[CIRCUIT_CURRENT] = after[CIRCUIT_CURRENT];
    x[CIRCUIT_VOLTAGE] = after[CIRCUIT_VOLTAGE];
    return t;
}

/* The time for which no diode conducts, at most `t`: until the output has fallen below the source's
 * voltage, by what is more than rounding. */
static double stretch_rest(const struct circuit *circuit, const struct circuit_topology *topology,
                           const double *in, const double *x, double t)
{
    const double source = topology->source[0] * in[CIRCUIT_INPUT_VOLTAGE];
    double c[CIRCUIT_STATES];

    circuit_voltage(c, circuit, 1, in[CIRCUIT_LOAD]);
    const double output = c[CIRCUIT_VOLTAGE] * x[CIRCUIT_VOLTAGE];
    if (!(source > 0) || !(output > 0))
        return t;
    const double time_constant_s = circuit->capacitance_f * (in[CIRCUIT_LOAD] + circuit->esr_ohm);
    return fmin(t, fmax(time_constant_s * (log(output / source) + 1e-12), 1e-9 * t));
}

double stretch_by_diodes(const struct circuit *circuit, const struct circuit_topology *topology,
                         const double *in, double *x, double t, double *feeding)
{
    const struct stretch main = stretch_conducting(circuit, topology, 1, in),
                         other = stretch_conducting(circuit, topology, 0, in);
    const double current = x[CIRCUIT_CURRENT];
    const struct stretch *diode = NULL;

    if (current > 0 || (current == 0 && stretch_slope(&other, x) > 0))
        diode = &other;
    else if (current < 0 || (current == 0 && stretch_slope(&main, x) < 0))
        diode = &main;
    *feeding = diode ? diode->feeding : 0;
    if (diode)
        return stretch_run(diode, x, t, 0);
    const struct stretch idle = stretch_idle(circuit, in);
    return stretch_run(&idle, x, stretch_rest(circuit, topology, in, x, t), INFINITY);
}

int stretch_all_off(const struct circuit *circuit, const struct circuit_topology *topology,
                    const double *in, double *x, double t)
{
    double at = 0, feeding;

    for (int i = 0; i < STRETCHES_MAX; i++) {
        at += stretch_by_diodes(circuit, topology, in, x, t - at, &feeding);
        if (!(t - at > 1e-12 * t))
            return 0;
    }
    return stretch_too_many(circuit);
}

int stretch_refuse(hil_log_fn *log, void *log_arg, double longest_s)
{
    char line[160];

    snprintf(line, sizeof line,
             "its inductor and capacitor oscillate too often within a step; allowed: a step of at "
             "most %.3g s",
             STRETCHES_MAX * longest_s);
    log(log_arg, line);
    return -ERANGE;
}

int stretch_too_many(const struct circuit *circuit)
{
    return stretch_refuse(circuit->log, circuit->log_arg,
                          0.5 * sqrt(circuit->inductance_h * circuit->capacitance_f));
}

void stretch_off_output(const struct circuit *circuit, const struct circuit_topology *topology,
                        const double *in, const double *x, double *out)
{
    double c[CIRCUIT_STATES];

    circuit_voltage(c, circuit, topology->feeding[x[CIRCUIT_CURRENT] < 0], in[CIRCUIT_LOAD]);
    circuit_output(out, c, x);
}

#include "stretch.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* Chooses the inductance for the current and where it goes: the sign of its slope is the same with
 * either. */
static void stretch_saturate(struct stretch *s, const struct circuit *circuit, const double *x)
{
    const double current = x[CIRCUIT_CURRENT], at = circuit->saturation_a;
    const double slope = stretch_slope(s, x);
    const bool above = current > at || (current == at && slope > 0);
    const bool below = current < -at || (current == -at && slope < 0);

    s->least_a = above ? at : below ? -INFINITY : -at;
    s->most_a = above ? INFINITY : below ? -at : at;
    if (!above && !below)
        return;
    const double ratio = circuit->inductance_h / circuit->saturated_h;
    s->equations.a[CIRCUIT_CURRENT][CIRCUIT_CURRENT] *= ratio;
    s->equations.a[CIRCUIT_CURRENT][CIRCUIT_VOLTAGE] *= ratio;
    s->equations.b[CIRCUIT_CURRENT] *= ratio;
}

/* With these connections, from state x on. `drop_v` is added to what drives the inductor. */
static struct stretch stretch_connected(const struct circuit *circuit, double source,
                                        double feeding, double drop_v, const double *in,
                                        const double *x)
{
    struct stretch s = {.u = source * in[CIRCUIT_INPUT_VOLTAGE] + drop_v,
                        .source = source,
                        .feeding = feeding,
                        .least_a = -INFINITY,
                        .most_a = INFINITY};

    circuit_equations(&s.equations, circuit, source, feeding, in[CIRCUIT_LOAD]);
    if (circuit->saturation_a > 0)
        stretch_saturate(&s, circuit, x);
    return s;
}

struct stretch stretch_conducting(const struct circuit *circuit,
                                  const struct circuit_topology *topology, int on, const double *in,
                                  const double *x)
{
    return stretch_connected(circuit, topology->source[on], topology->feeding[on], 0, in, x);
}

/* No current flows in the inductor: only the capacitor feeds the load. */
static struct stretch stretch_idle(const struct circuit *circuit, const double *in)
{
    struct stretch s = {.least_a = -INFINITY, .most_a = INFINITY};

    circuit_equations(&s.equations, circuit, 0, 0, in[CIRCUIT_LOAD]);
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

/* Advances x by at most `t`, or until the current reaches the level. */
static double stretch_to(const struct stretch *s, double *x, double t, double level)
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

/* The integral of the inductor's current over t, from x to `after`. With C vC' and L iL' known from
 * the ends, it is the solution of the circuit's equations. Without an output to feed, it is that of
 * one decay, near whose beginning the mean of both ends is better. */
static double stretch_integral(const struct stretch *s, const double *x, const double *after,
                               double t)
{
    const double(*a)[2] = s->equations.a;
    const double change = after[CIRCUIT_CURRENT] - x[CIRCUIT_CURRENT];
    const double decay = -a[0][0] * t;

    if (s->feeding > 0) {
        const double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        const double driven = change - s->equations.b[0] * s->u * t;
        return (a[1][1] * driven - a[0][1] * (after[CIRCUIT_VOLTAGE] - x[CIRCUIT_VOLTAGE])) / det;
    }
    const double bend =
        decay < 0.01 ? decay / 12 * (1 - decay * decay / 60) : 0.5 / tanh(decay / 2) - 1 / decay;
    return t * ((x[CIRCUIT_CURRENT] + after[CIRCUIT_CURRENT]) / 2 + change * bend);
}

void stretch_charge(const struct stretch *s, const double *x, double *after, double t)
{
    if (s->source != 0)
        after[CIRCUIT_CHARGE] += s->source * stretch_integral(s, x, after, t);
}

/* Goes to the first of the level and the ends of the range in which the equations hold. */
static double stretch_within(const struct stretch *s, double *x, double t, double level)
{
    const double ends[] = {s->least_a, s->most_a};
    const double from[] = {x[0], x[1], x[2]};
    double went = stretch_to(s, x, t, level);

    for (int i = 0; i < 2; i++) {
        double there[] = {from[0], from[1], from[2]};
        if (isinf(ends[i]))
            continue;
        const double to = stretch_to(s, there, went, ends[i]);
        if (to >= went && there[CIRCUIT_CURRENT] != ends[i])
            continue;
        went = to;
        x[CIRCUIT_CURRENT] = there[CIRCUIT_CURRENT];
        x[CIRCUIT_VOLTAGE] = there[CIRCUIT_VOLTAGE];
    }
    return went;
}

double stretch_run(const struct stretch *s, double *x, double t, double level)
{
    const double before[] = {x[0], x[1], x[2]};
    const bool bounded = isfinite(s->least_a) || isfinite(s->most_a);

    t = bounded ? stretch_within(s, x, t, level) : stretch_to(s, x, t, level);
    stretch_charge(s, before, x, t);
    return t;
}

/* The time for which no diode conducts, at most `t`: until the output has fallen below the source's
 * voltage less the diode's, by what is more than rounding. */
static double stretch_rest(const struct circuit *circuit, const struct circuit_topology *topology,
                           const double *in, const double *x, double t)
{
    const double source = topology->source[0] * in[CIRCUIT_INPUT_VOLTAGE] - circuit->diode_v;
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
    const double drop_v = circuit->diode_v;
    const struct stretch main = stretch_connected(circuit, topology->source[1],
                                                  topology->feeding[1], drop_v, in, x),
                         other = stretch_connected(circuit, topology->source[0],
                                                   topology->feeding[0], -drop_v, in, x);
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

int stretch_through(const struct circuit *circuit, double source, double feeding, const double *in,
                    double *x, double t)
{
    double at = 0;

    for (int i = 0; i < STRETCHES_MAX; i++) {
        const struct stretch s = stretch_connected(circuit, source, feeding, 0, in, x);
        at += stretch_run(&s, x, t - at, INFINITY);
        if (!(t - at > 1e-12 * t))
            return 0;
    }
    return stretch_too_many(circuit);
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
                        const double *in, const double *x, double input_a, double *out)
{
    double c[CIRCUIT_STATES];

    circuit_voltage(c, circuit, topology->feeding[x[CIRCUIT_CURRENT] < 0], in[CIRCUIT_LOAD]);
    circuit_output(out, c, x, input_a);
}

/*
 * A string of bucks some of whose gates are all off. Between two events, a diode that begins or
 * ends to conduct, the equations are linear. A part of that time that is short beside the circuit's
 * fastest rate is solved by the Taylor series of its states, which is exact except for rounding,
 * and the first event is found on the series' polynomials.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "series.h"
#include "stretch.h"

/* A part is at most half a radian of the fastest rate. So a current turns at most once in it, and
 * the first term that is left out is below 0.5^15 / 15! = 3e-17 of the state. */
enum { SERIES_ORDER = 14 };
static const double series_part_rad = 0.5;

/* An event that comes at once still takes this share of a part, so that the step comes to an end.
 */
static const double series_least_share = 1e-9;

/* Why current flows in a converter's inductor, or that none does. */
enum series_path { SERIES_DRIVEN, SERIES_LOWER_DIODE, SERIES_UPPER_DIODE, SERIES_IDLE };

struct series_part {
    enum series_path path[SERIES_WIDTH_MAX];
    double u[SERIES_WIDTH_MAX];                         /* on the inductors */
    double x[SERIES_ORDER + 1][SERIES_STATES_MAX];      /* terms of the states' series */
    double voltage[SERIES_WIDTH_MAX][SERIES_ORDER + 1]; /* those of the outputs' */
    const double *source_v;
};

double series_current(const struct series *s, const double *x)
{
    double sum = 0;

    for (unsigned i = 0; i < s->n; i++)
        sum += x[2 * i + 1] + s->esr_ohm[i] * x[2 * i];
    return sum / s->path_ohm;
}

double series_voltage(const struct series *s, const double *x, double io, unsigned i)
{
    return x[2 * i + 1] + s->esr_ohm[i] * (x[2 * i] - io);
}

/* A bound on the rates of the circuit, in radians a second: the greatest sum of a row of its matrix
 * for sqrt(L) iL and sqrt(C) vC, by which both have the unit of the root of an energy. The string's
 * part of it is bounded by the load and the resistances in the path. */
static double series_rate(const struct series *s)
{
    double rate = 0, coupled = 0;

    for (unsigned j = 0; j < s->n; j++)
        coupled += s->esr_ohm[j] / sqrt(s->inductance_h[j]) + 1 / sqrt(s->capacitance_f[j]);
    coupled /= s->path_ohm;
    for (unsigned i = 0; i < s->n; i++) {
        const double l = s->inductance_h[i], c = s->capacitance_f[i], esr = s->esr_ohm[i];
        const double current =
            (s->resistance_ohm[i] + esr) / l + 1 / sqrt(l * c) + esr / sqrt(l) * coupled;
        const double voltage = 1 / sqrt(l * c) + coupled / sqrt(c);
        rate = fmax(rate, fmax(current, voltage));
    }
    return rate;
}

/* Converter i's path, and what it puts on the inductor, while all its gates are off. */
static void series_choose_diode(const struct series *s, struct series_part *p, const double *x,
                                double io, unsigned i)
{
    const double current = x[2 * i], voltage = series_voltage(s, x, io, i);

    p->u[i] = 0;
    p->path[i] = SERIES_IDLE;
    if (current > 0 || (current == 0 && voltage < -s->diode_v[i])) {
        p->path[i] = SERIES_LOWER_DIODE;
        p->u[i] = -s->diode_v[i];
    } else if (current < 0 || voltage > p->source_v[i] + s->diode_v[i]) {
        p->path[i] = SERIES_UPPER_DIODE;
        p->u[i] = p->source_v[i] + s->diode_v[i];
    }
}

static void series_choose(const struct series *s, struct series_part *p, const double *duty,
                          const double *enable, const double *x)
{
    const double io = series_current(s, x);

    for (unsigned i = 0; i < s->n; i++) {
        p->path[i] = SERIES_DRIVEN;
        p->u[i] = duty[i] * p->source_v[i];
        if (enable[i] < 0.5)
            series_choose_diode(s, p, x, io, i);
    }
}

/* Sets the terms of the series for a part of t, for the share of t from 0 to 1. */
static void series_expand(const struct series *s, struct series_part *p, const double *x, double t)
{
    for (unsigned i = 0; i < 2 * s->n; i++)
        p->x[0][i] = x[i];
    for (unsigned k = 0; k <= SERIES_ORDER; k++) {
        const double *at = p->x[k], io = series_current(s, at), share = t / (k + 1);
        for (unsigned i = 0; i < s->n; i++) {
            const double voltage = series_voltage(s, at, io, i), u = k ? 0 : p->u[i];
            const double slope = u - s->resistance_ohm[i] * at[2 * i] - voltage;
            p->voltage[i][k] = voltage;
            if (k == SERIES_ORDER)
                continue;
            p->x[k + 1][2 * i] = p->path[i] == SERIES_IDLE ? 0 : share * slope / s->inductance_h[i];
            p->x[k + 1][2 * i + 1] = share * (at[2 * i] - io) / s->capacitance_f[i];
        }
    }
}

/* A polynomial of the share of a part that must not fall below zero. */
struct series_guard {
    double c[SERIES_ORDER + 1];
};

static double series_value(const struct series_guard *g, double share)
{
    double value = 0;

    for (int k = SERIES_ORDER; k >= 0; k--)
        value = value * share + g->c[k];
    return value;
}

static double series_slope(const struct series_guard *g, double share)
{
    double slope = 0;

    for (int k = SERIES_ORDER; k > 0; k--)
        slope = slope * share + k * g->c[k];
    return slope;
}

/* The share in [low, high] at which the function changes its sign, by bisection. */
static double series_root(double value(const struct series_guard *, double),
                          const struct series_guard *g, double low, double high)
{
    const bool below = value(g, low) < 0;

    for (int i = 0; i < 60 && high - low > DBL_EPSILON * high; i++) {
        const double middle = (low + high) / 2;
        if ((value(g, middle) < 0) == below)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The share of the part at which the guard falls below zero, or 1 if it does not. */
static double series_falls(const struct series_guard *g)
{
    const double first = series_slope(g, 0), last = series_slope(g, 1);
    double low = 0, high = 1;

    if (first > 0 && last < 0)
        low = series_root(series_slope, g, 0, 1);
    else if (first < 0 && last > 0)
        high = series_root(series_slope, g, 0, 1);
    if (!(series_value(g, high) < 0))
        return 1;
    return series_root(series_value, g, low, high);
}

static double series_current_ends(const struct series_part *p, unsigned i, double sign)
{
    struct series_guard g;

    for (unsigned k = 0; k <= SERIES_ORDER; k++)
        g.c[k] = sign * p->x[k][2 * i];
    return series_falls(&g);
}

static double series_diode_begins(const struct series *s, const struct series_part *p, unsigned i)
{
    struct series_guard lower, upper;

    for (unsigned k = 0; k <= SERIES_ORDER; k++) {
        lower.c[k] = p->voltage[i][k];
        upper.c[k] = -p->voltage[i][k];
    }
    lower.c[0] += s->diode_v[i];
    upper.c[0] += p->source_v[i] + s->diode_v[i];
    return fmin(series_falls(&lower), series_falls(&upper));
}

/* The share of the part up to the first event, or 1. */
static double series_first_event(const struct series *s, const struct series_part *p)
{
    double first = 1;

    for (unsigned i = 0; i < s->n; i++)
        if (p->path[i] == SERIES_IDLE)
            first = fmin(first, series_diode_begins(s, p, i));
        else if (p->path[i] != SERIES_DRIVEN)
            first =
                fmin(first, series_current_ends(p, i, p->path[i] == SERIES_UPPER_DIODE ? -1 : 1));
    return fmax(first, series_least_share);
}

/* Sets x to the states at this share of the part. A diode's current that has reached zero in it is
 * exactly zero. */
static void series_arrive(const struct series *s, const struct series_part *p, double *x,
                          double share)
{
    for (unsigned i = 0; i < 2 * s->n; i++) {
        x[i] = 0;
        for (int k = SERIES_ORDER; k >= 0; k--)
            x[i] = x[i] * share + p->x[k][i];
    }
    for (unsigned i = 0; i < s->n; i++) {
        const double least = fabs(p->x[0][2 * i]) * 4 * DBL_EPSILON;
        if ((p->path[i] == SERIES_LOWER_DIODE && x[2 * i] < least) ||
            (p->path[i] == SERIES_UPPER_DIODE && x[2 * i] > -least))
            x[2 * i] = 0;
    }
}

int series_by_diodes(const struct series *s, const double *duty, const double *source_v,
                     const double *enable, double *x, double t)
{
    const double rate = series_rate(s);
    struct series_part part = {.source_v = source_v};
    double left = t;

    for (int i = 0; i < STRETCHES_MAX; i++) {
        const double length = fmin(left, series_part_rad / rate);
        series_choose(s, &part, duty, enable, x);
        series_expand(s, &part, x, length);
        const double share = series_first_event(s, &part);
        series_arrive(s, &part, x, share);
        left -= share * length;
        if (!(left > 1e-12 * t))
            return 0;
    }
    return stretch_refuse(s->log, s->log_arg, series_part_rad / rate);
}

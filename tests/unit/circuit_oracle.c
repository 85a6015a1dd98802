#include "circuit_oracle.h"

#include <math.h>
#include <string.h>

enum { STAGES = 5, FLIPS_MOST = 2000, STEPS_MOST = 4000000 };

#define SHORTEST 1e-19L

/* Steps grow slowly after an edge or a corner: a longer one would pass over two commutations within
 * some picoseconds, and its estimate would not see them. */
#define GROWTH 1.2L
#define SAME_S 2e-14

/* The L-stable method of Hairer and Wanner of order 4. */
#define GAMMA 0.25L
static const long double a_of[STAGES][STAGES] = {
    {0.25L},
    {0.5L, 0.25L},
    {17.0L / 50, -1.0L / 25, 0.25L},
    {371.0L / 1360, -137.0L / 2720, 15.0L / 544, 0.25L},
    {25.0L / 24, -49.0L / 48, 125.0L / 16, -85.0L / 12, 0.25L},
};
static const long double c_of[STAGES] = {0.25L, 0.75L, 11.0L / 20, 0.5L, 1};
static const long double lower[STAGES] = {59.0L / 48, -17.0L / 96, 225.0L / 32, -85.0L / 12, 0};

/* --- sources and gates ------------------------------------------------------------------------ */

/* The piece that holds in the middle of the present time goes on beyond its ends. */
static long double pieces(const struct oracle_wave *w, double t_s, double middle_s)
{
    double cycle = 0, since_s = middle_s - w->delay_s;
    unsigned i = 0;

    if (since_s < w->at_s[0])
        return w->value[0];
    if (w->period_s > 0)
        cycle = floor(since_s / w->period_s);
    since_s -= cycle * w->period_s;
    while (i + 1 < w->points && w->at_s[i + 1] <= since_s)
        i++;
    if (i + 1 == w->points)
        return w->value[i];
    const long double from_s = (long double)w->delay_s + cycle * w->period_s + w->at_s[i];
    return w->value[i] + (w->value[i + 1] - w->value[i]) * (t_s - from_s) /
                             ((long double)w->at_s[i + 1] - w->at_s[i]);
}

static long double value_of(const struct oracle *o, const struct oracle_wave *w, double t_s)
{
    if (w->points)
        return pieces(w, t_s, o->middle_s);
    const double since_s = o->middle_s < w->delay_s ? 0 : t_s - w->delay_s;
    return w->offset + w->amplitude * expl(-w->damping * since_s) *
                           sinl(2 * M_PIl * w->hertz * since_s + w->phase);
}

static bool conducts(const struct oracle *o, const struct oracle_element *e)
{
    const double since_s = o->middle_s - e->delay_s;

    if (since_s < 0)
        return e->inverted;
    const double at_s = since_s - floor(since_s / e->period_s) * e->period_s;
    const bool on = e->on_s < e->off_s ? at_s >= e->on_s && at_s < e->off_s
                                       : at_s >= e->on_s || at_s < e->off_s;
    return on != e->inverted;
}

/* The next instant of one that repeats, or does not. */
static double next_of(double first_s, double period_s, double t_s)
{
    if (period_s > 0 && first_s <= t_s + SAME_S)
        first_s += (floor((t_s + SAME_S - first_s) / period_s) + 1) * period_s;
    return first_s > t_s + SAME_S ? first_s : INFINITY;
}

static double next_corner(const struct oracle *o, double t_s)
{
    double next_s = INFINITY;

    for (unsigned i = 0; i < o->count; i++) {
        const struct oracle_element *e = &o->at[i];
        const struct oracle_wave *w = &e->wave;
        if (e->kind == 'S') {
            next_s = fmin(next_s, next_of(e->delay_s, 0, t_s));
            next_s = fmin(next_s, next_of(e->delay_s + e->on_s, e->period_s, t_s));
            next_s = fmin(next_s, next_of(e->delay_s + e->off_s, e->period_s, t_s));
        }
        if (e->kind != 'V' && e->kind != 'I')
            continue;
        next_s = fmin(next_s, next_of(w->delay_s, w->points ? w->period_s : 0, t_s));
        for (unsigned k = 0; k < w->points; k++)
            next_s = fmin(next_s, next_of(w->delay_s + w->at_s[k], w->period_s, t_s));
    }
    return next_s;
}

/* --- the network ------------------------------------------------------------------------------ */

static void stamp(struct oracle *o, int row, int column, long double value)
{
    if (row > 0 && column > 0)
        o->matrix[(unsigned)(row - 1) * o->unknowns + (unsigned)(column - 1)] += value;
}

/* A current of value times the voltage between two nodes flows between two others. */
static void stamp_conductance(struct oracle *o, const int *of, const int *by, long double value)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            stamp(o, of[i], by[k], i == k ? value : -value);
}

static void stamp_branch(struct oracle *o, const int *node, int branch)
{
    stamp(o, node[0], branch, 1);
    stamp(o, node[1], branch, -1);
    stamp(o, branch, node[0], 1);
    stamp(o, branch, node[1], -1);
}

static long double mutual(const struct oracle *o, const struct oracle_element *k)
{
    return k->value *
           sqrtl((long double)o->at[k->of[0]].value * (long double)o->at[k->of[1]].value);
}

/* `length` is that of the stage: a capacitor is a conductance C / length, an inductor a resistance
 * L / length. */
static void stamp_element(struct oracle *o, unsigned i, long double length)
{
    const struct oracle_element *e = &o->at[i];

    if (o->branch[i] > 0)
        stamp_branch(o, e->node, o->branch[i]);
    switch (e->kind) {
    case 'R':
        stamp_conductance(o, e->node, e->node, 1 / (long double)e->value);
        break;
    case 'S':
    case 'D':
        stamp_conductance(o, e->node, e->node, 1 / (long double)(o->on[i] ? e->ron : e->roff));
        break;
    case 'C':
        stamp_conductance(o, e->node, e->node, e->value / length);
        break;
    case 'L':
        stamp(o, o->branch[i], o->branch[i], -e->value / length);
        break;
    case 'K':
        stamp(o, o->branch[e->of[0]], o->branch[e->of[1]], -mutual(o, e) / length);
        stamp(o, o->branch[e->of[1]], o->branch[e->of[0]], -mutual(o, e) / length);
        break;
    case 'G':
        stamp_conductance(o, e->node, &e->node[2], e->value);
        break;
    case 'E':
        stamp(o, o->branch[i], e->node[2], -e->value);
        stamp(o, o->branch[i], e->node[3], e->value);
        break;
    case 'F':
        stamp(o, e->node[0], o->branch[e->of[0]], e->value);
        stamp(o, e->node[1], o->branch[e->of[0]], -e->value);
        break;
    case 'H':
        stamp(o, o->branch[i], o->branch[e->of[0]], -e->value);
        break;
    default:
        break;
    }
}

/* Gauss's elimination with the greatest pivot of each column. */
static bool factor(struct oracle *o)
{
    const unsigned n = o->unknowns;
    long double *a = o->matrix;

    for (unsigned k = 0; k < n; k++) {
        unsigned best = k;
        for (unsigned i = k + 1; i < n; i++)
            if (fabsl(a[i * n + k]) > fabsl(a[best * n + k]))
                best = i;
        if (a[best * n + k] == 0)
            return false;
        o->row[k] = best;
        for (unsigned j = 0; best != k && j < n; j++) {
            const long double t = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = t;
        }
        for (unsigned i = k + 1; i < n; i++) {
            const long double f = a[i * n + k] / a[k * n + k];
            a[i * n + k] = f;
            for (unsigned j = k + 1; f != 0 && j < n; j++)
                a[i * n + j] -= f * a[k * n + j];
        }
    }
    return true;
}

static void substitute(const struct oracle *o, long double *x)
{
    const unsigned n = o->unknowns;
    const long double *a = o->matrix;

    for (unsigned k = 0; k < n; k++) {
        const long double t = x[o->row[k]];
        x[o->row[k]] = x[k];
        x[k] = t;
    }
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < i; j++)
            x[i] -= a[i * n + j] * x[j];
    for (unsigned i = n; i-- > 0;) {
        for (unsigned j = i + 1; j < n; j++)
            x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
    }
}

static void drive(long double *x, int row, long double value)
{
    if (row > 0)
        x[row - 1] += value;
}

static void drive_current(long double *x, const int *node, long double value)
{
    drive(x, node[0], -value);
    drive(x, node[1], value);
}

/* `base` is what the states are without this stage. */
static void drive_element(const struct oracle *o, unsigned i, const long double *base, double t_s,
                          long double length, long double *x)
{
    const struct oracle_element *e = &o->at[i];

    if (e->kind == 'V')
        drive(x, o->branch[i], value_of(o, &e->wave, t_s));
    if (e->kind == 'I')
        drive_current(x, e->node, value_of(o, &e->wave, t_s));
    if (e->kind == 'D' && o->on[i])
        drive_current(x, e->node, -(long double)e->vf / e->ron);
    if (e->kind == 'C')
        drive_current(x, e->node, -e->value / length * base[i]);
    if (e->kind == 'L')
        drive(x, o->branch[i], -e->value / length * base[i]);
    if (e->kind == 'K') {
        drive(x, o->branch[e->of[0]], -mutual(o, e) / length * base[e->of[1]]);
        drive(x, o->branch[e->of[1]], -mutual(o, e) / length * base[e->of[0]]);
    }
}

static long double voltage(const struct oracle *o, const long double *x, const int *node)
{
    (void)o;
    return (node[0] ? x[node[0] - 1] : 0) - (node[1] ? x[node[1] - 1] : 0);
}

/* Flips the diodes that contradict their states, or the first. False: there is none. */
static bool flip(struct oracle *o, bool all)
{
    bool any = false;

    for (unsigned i = 0; i < o->count && (all || !any); i++) {
        const struct oracle_element *e = &o->at[i];
        if (e->kind != 'D')
            continue;
        const long double least = (long double)e->vf * e->roff / (e->roff - e->ron);
        const long double beyond = voltage(o, o->solution, e->node) - least;
        if (o->on[i] ? beyond < -1e-14L : beyond > 1e-14L) {
            o->on[i] = !o->on[i];
            any = true;
        }
    }
    if (any)
        o->factored = 0;
    return any;
}

static bool solve(struct oracle *o, const long double *base, double t_s, long double length)
{
    int flips = 0;

    do {
        if (o->factored != length) {
            memset(o->matrix, 0, sizeof o->matrix);
            for (unsigned i = 0; i < o->count; i++)
                stamp_element(o, i, length);
            if (!factor(o))
                return false;
            o->factored = length;
        }
        memset(o->solution, 0, sizeof o->solution);
        for (unsigned i = 0; i < o->count; i++)
            drive_element(o, i, base, t_s, length, o->solution);
        substitute(o, o->solution);
        if (flips++ == FLIPS_MOST)
            return false;
    } while (flip(o, flips < 4));
    return true;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* The rate of each state in a stage. */
static void rates(const struct oracle *o, const long double *base, long double length,
                  long double *rate)
{
    for (unsigned i = 0; i < o->count; i++) {
        rate[i] = 0;
        if (o->at[i].kind == 'C')
            rate[i] = (voltage(o, o->solution, o->at[i].node) - base[i]) / length;
        if (o->at[i].kind == 'L')
            rate[i] = (o->solution[o->branch[i] - 1] - base[i]) / length;
    }
}

/* Tries a step. Returns its error as a multiple of what is allowed; infinity: it fails. */
static long double try_step(struct oracle *o, double t_s, long double step, long double *next)
{
    long double rate[STAGES][ORACLE_ELEMENTS], base[ORACLE_ELEMENTS], worst = 0;

    for (unsigned s = 0; s < STAGES; s++) {
        for (unsigned i = 0; i < o->count; i++) {
            base[i] = o->state[i];
            for (unsigned k = 0; k < s; k++)
                base[i] += step * a_of[s][k] * rate[k][i];
        }
        if (!solve(o, base, t_s + (double)(c_of[s] * step), GAMMA * step))
            return INFINITY;
        rates(o, base, GAMMA * step, rate[s]);
    }
    for (unsigned i = 0; i < o->count; i++) {
        long double error = 0;
        next[i] = base[i] + step * GAMMA * rate[STAGES - 1][i];
        for (unsigned s = 0; s < STAGES; s++)
            error += step * (a_of[STAGES - 1][s] - lower[s]) * rate[s][i];
        const long double scale = fmaxl(fmaxl(o->peak[i], fabsl(next[i])), 1e-6L);
        worst = fmaxl(worst, fabsl(error) / (o->tolerance * scale));
    }
    return worst;
}

/* Advances over a time without edges and corners. */
static bool go(struct oracle *o, double end_s)
{
    long double next[ORACLE_ELEMENTS], since = 0;
    const long double length = (long double)end_s - o->t_s;
    long double step = o->step_s;

    while (since < length) {
        const bool last = since + step * 1.000001L >= length;
        const long double h = last ? length - since : step;
        bool on[ORACLE_ELEMENTS];
        memcpy(on, o->on, sizeof on);
        const long double error = try_step(o, (double)(o->t_s + since), h, next);
        const long double by = isinf(error) ? 0.1L : 0.9L * powl(fmaxl(error, 1e-9L), -0.25L);
        if (error > 1 && h > SHORTEST) {
            memcpy(o->on, on, sizeof on);
            o->factored = 0;
            step = h * fmaxl(by, 0.1L);
            continue;
        }
        if (isinf(error) || o->steps++ > STEPS_MOST)
            return false;
        since = last ? length : since + h;
        memcpy(o->state, next, sizeof next);
        for (unsigned i = 0; i < o->count; i++)
            o->peak[i] = fmaxl(o->peak[i], fabsl(next[i]));
        if (by > 1.1L || by < 1)
            step = fmaxl(h, last ? step : h) * fminl(by, GROWTH);
    }
    o->step_s = (double)step;
    o->t_s = end_s;
    return true;
}

bool oracle_advance(struct oracle *o, double t_s)
{
    while (o->t_s < t_s) {
        double end_s = next_corner(o, o->t_s);
        if (end_s > t_s - SAME_S)
            end_s = t_s;
        o->middle_s = (o->t_s + end_s) / 2;
        bool turned = false;
        for (unsigned i = 0; i < o->count; i++)
            if (o->at[i].kind == 'S' && o->on[i] != conducts(o, &o->at[i])) {
                o->on[i] = !o->on[i];
                turned = true;
            }
        if (turned || end_s != t_s)
            o->step_s = 1e-13;
        o->factored = 0;
        if (!go(o, end_s))
            return false;
    }
    return true;
}

void oracle_begin(struct oracle *o)
{
    o->unknowns = o->nodes - 1;
    for (unsigned i = 0; i < o->count; i++) {
        const struct oracle_element *e = &o->at[i];
        o->branch[i] = strchr("VELH", e->kind) ? (int)++o->unknowns : 0;
        o->state[i] = e->kind == 'C' || e->kind == 'L' ? e->initial : 0;
        o->peak[i] = fabsl(o->state[i]);
        o->on[i] = false;
    }
    o->t_s = 0;
    o->step_s = 1e-13;
    o->factored = 0;
    o->steps = 0;
}

double oracle_voltage(const struct oracle *o, unsigned node)
{
    return node ? (double)o->solution[node - 1] : 0;
}

double oracle_current(const struct oracle *o, unsigned element)
{
    return (double)o->solution[o->branch[element] - 1];
}

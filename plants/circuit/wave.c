#include "wave.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { PULSE_VALUES = 7, SINE_VALUES = 6 };

/* Values in a statement: the present token is the next one to read. */
struct values {
    const struct cir_wave_reader *reader;
    unsigned next;
};

static const struct cir_token *token_at(const struct cir_wave_reader *r, unsigned place)
{
    const struct cir_statement *s = r->statement;

    return &s->at[place < s->count ? place : s->count - 1];
}

static bool is(const struct cir_wave_reader *r, unsigned place, const char *text)
{
    return place < r->statement->count && strcmp(r->statement->at[place].text, text) == 0;
}

/* Reads the next value of a function. Returns 1 if there is none. */
static int next_value(struct values *v, double *value)
{
    const struct cir_wave_reader *r = v->reader;

    if (v->next >= r->statement->count || is(r, v->next, ")"))
        return 1;
    return cir_number(value, token_at(r, v->next++), r->lookup, r->arg, r->said);
}

/* Reads the values of a function of at most `max`. Their count, or a negative errno. */
static int read_values(struct values *v, double *values, int max, const char *allowed)
{
    int count = 0, rc;
    double value;

    v->next += is(v->reader, v->next, "(");
    while ((rc = next_value(v, &value)) == 0) {
        if (count == max)
            return cir_refuse(v->reader->said, token_at(v->reader, v->next - 1),
                              "found one value more; allowed: %s", allowed);
        values[count++] = value;
    }
    v->next += is(v->reader, v->next, ")");
    return rc < 0 ? rc : count;
}

/* --- pulse ------------------------------------------------------------------------------------ */

static int add_point(struct cir_wave *w, double t_s, double value)
{
    w->points[w->count++] = (struct cir_point){t_s, value};
    return 0;
}

/* The pieces of one period. What does not fit into it is cut off, and then the value jumps. */
static void pulse_points(struct cir_wave *w, const double *p)
{
    const double times[] = {0, p[3], p[3] + p[5], p[3] + p[5] + p[4]};
    const double values[] = {p[0], p[1], p[1], p[0]}, period = p[6];

    w->constant = p[0];
    for (int i = 0; i < 4; i++) {
        if (times[i] >= period) {
            const double share = (period - times[i - 1]) / (times[i] - times[i - 1]);
            add_point(w, period, values[i - 1] + share * (values[i] - values[i - 1]));
            break;
        }
        add_point(w, times[i], values[i]);
    }
    w->period_s = isfinite(period) ? period : 0;
}

static int read_pulse(struct cir_wave *w, struct values *v)
{
    const struct cir_wave_reader *r = v->reader;
    const struct cir_token *at = token_at(r, v->next - 1);
    double p[PULSE_VALUES] = {0};
    const int count = read_values(v, p, PULSE_VALUES, "pulse(V1 V2 DELAY RISE FALL WIDTH PERIOD)");
    const double forever = r->tran.stop_s > 0 ? r->tran.stop_s : INFINITY;

    if (count < 0)
        return count;
    if (count < 2)
        return cir_refuse(r->said, at,
                          "found pulse with %d values; allowed: pulse(V1 V2 DELAY "
                          "RISE FALL WIDTH PERIOD)",
                          count);
    p[3] = p[3] != 0 ? p[3] : r->tran.step_s; /* as SPICE does */
    p[4] = p[4] != 0 ? p[4] : r->tran.step_s;
    p[5] = p[5] != 0 ? p[5] : forever;
    p[6] = p[6] != 0 ? p[6] : forever;
    if (!(p[3] > 0 && p[4] > 0 && p[5] > 0 && p[6] > 0))
        return cir_refuse(r->said, at,
                          "found a pulse whose rise, fall, width or period is not above 0, and "
                          "no .tran that gives it; allowed: times above 0");
    w->kind = CIR_PIECES;
    w->delay_s = p[2];
    w->points = cir_allocate(r->blocks, 4 * sizeof *w->points);
    if (!w->points)
        return cir_say_no_memory(r->said);
    pulse_points(w, p);
    return 0;
}

/* --- the other functions ---------------------------------------------------------------------- */

static int read_sine(struct cir_wave *w, struct values *v)
{
    const struct cir_wave_reader *r = v->reader;
    const struct cir_token *at = token_at(r, v->next - 1);
    double p[SINE_VALUES] = {0};
    const int count =
        read_values(v, p, SINE_VALUES, "sin(OFFSET AMPLITUDE HZ DELAY DAMPING DEGREES)");

    if (count < 0)
        return count;
    if (p[2] == 0 && r->tran.stop_s > 0)
        p[2] = 1 / r->tran.stop_s;
    if (count < 2 || !(p[2] > 0))
        return cir_refuse(r->said, at,
                          "found sin without its frequency; allowed: sin(OFFSET "
                          "AMPLITUDE HZ DELAY DAMPING DEGREES)");
    if (p[3] < 0)
        return cir_refuse(r->said, at, "found a sin with a delay below 0; allowed: 0 or more");
    w->kind = CIR_SINE;
    w->constant = p[0];
    w->amplitude = p[1];
    w->hertz = p[2];
    w->delay_s = p[3];
    w->damping = p[4];
    w->phase = p[5] * M_PI / 180;
    return 0;
}

/* What may follow the values of pwl: r=0 repeats them, and td= is a delay. */
static int read_repetition(struct cir_wave *w, struct values *v)
{
    const struct cir_wave_reader *r = v->reader;
    double from_s;

    while ((is(r, v->next, "r") || is(r, v->next, "td")) && is(r, v->next + 1, "=")) {
        const struct cir_token *at = token_at(r, v->next);
        const bool repeats = at->text[0] == 'r';
        v->next += 2;
        const int rc = next_value(v, repeats ? &from_s : &w->delay_s);
        if (rc)
            return rc < 0 ? rc
                          : cir_refuse(r->said, at, "found no value; allowed: %s=VALUE", at->text);
        if (!repeats)
            continue;
        if (from_s != 0 || w->count < 2 || w->points[0].t_s != 0)
            return cir_refuse(r->said, at, "found r=%g; allowed: r=0, of values that begin at 0",
                              from_s);
        w->period_s = w->points[w->count - 1].t_s;
    }
    return 0;
}

static int read_pwl(struct cir_wave *w, struct values *v)
{
    const struct cir_wave_reader *r = v->reader;
    const struct cir_token *at = token_at(r, v->next - 1);
    double t_s, value;
    int rc = 0;

    v->next += is(r, v->next, "(");
    w->kind = CIR_PIECES;
    w->points = cir_allocate(r->blocks, r->statement->count * sizeof *w->points);
    if (!w->points)
        return cir_say_no_memory(r->said);
    while (!rc) {
        const struct cir_token *here = token_at(r, v->next);
        rc = next_value(v, &t_s);
        if (rc)
            break;
        rc = next_value(v, &value);
        if (rc == 1)
            return cir_refuse(r->said, here,
                              "found a time without a value; allowed: pwl(T V T V ...)");
        if (!rc && w->count && !(t_s > w->points[w->count - 1].t_s))
            return cir_refuse(r->said, here,
                              "found %s, which is not later than the time before; "
                              "allowed: times that rise",
                              here->text);
        if (!rc)
            add_point(w, t_s, value);
    }
    v->next += is(r, v->next, ")");
    if (rc >= 0)
        rc = read_repetition(w, v);
    if (rc >= 0 && w->count == 0)
        return cir_refuse(r->said, at, "found pwl without values; allowed: pwl(T V T V ...)");
    w->constant = w->count ? w->points[0].value : 0;
    return rc < 0 ? rc : 0;
}

/* One word of the source and what belongs to it. */
static int read_part(struct cir_wave *w, struct values *v)
{
    const struct cir_wave_reader *r = v->reader;
    const struct cir_token *at = token_at(r, v->next);
    double ignored;
    int rc;

    v->next++;
    if (strcmp(at->text, "pulse") == 0)
        return read_pulse(w, v);
    if (strcmp(at->text, "sin") == 0)
        return read_sine(w, v);
    if (strcmp(at->text, "pwl") == 0)
        return read_pwl(w, v);
    if (strcmp(at->text, "external") == 0) {
        w->kind = CIR_EXTERNAL;
        return 0;
    }
    if (strcmp(at->text, "ac") == 0) { /* for another analysis */
        const struct cir_said nobody = {(char[200]){0}, 200};
        for (int i = 0; i < 2; i++) {
            const struct cir_token *value = token_at(r, v->next);
            if (v->next < r->statement->count &&
                cir_number(&ignored, value, r->lookup, r->arg, &nobody) == 0)
                v->next++;
        }
        return 0;
    }
    if (strcmp(at->text, "dc") == 0) {
        v->next += is(r, v->next, "=");
        rc = next_value(v, &w->constant);
        return rc > 0 ? cir_refuse(r->said, at, "found dc without a value; allowed: dc VALUE") : rc;
    }
    if (at->text[0] >= 'a' && at->text[0] <= 'z')
        return cir_refuse(r->said, at, "found %s; allowed: VALUE, dc, pulse, sin, pwl, external",
                          at->text);
    v->next--;
    rc = next_value(v, &w->constant);
    return rc > 0 ? cir_refuse(r->said, at, "found %s; allowed: a value", at->text) : rc;
}

int cir_wave_read(struct cir_wave *wave, const struct cir_wave_reader *reader)
{
    struct values v = {reader, reader->first};
    int rc = 0;

    *wave = (struct cir_wave){.kind = CIR_CONSTANT};
    while (!rc && v.next < reader->statement->count) {
        if (wave->kind != CIR_CONSTANT && !is(reader, v.next, "ac"))
            return cir_refuse(reader->said, token_at(reader, v.next),
                              "found %s after a time function; allowed: nothing more",
                              token_at(reader, v.next)->text);
        rc = read_part(wave, &v);
    }
    return rc;
}

/* --- values ----------------------------------------------------------------------------------- */

double cir_corner_s(const struct cir_wave *w, unsigned long long place)
{
    const unsigned long long cycle = place / w->count;

    if (cycle > 0 && w->period_s == 0)
        return INFINITY;
    return w->delay_s + w->points[place % w->count].t_s + (double)cycle * w->period_s;
}

double cir_piece(const struct cir_wave *w, long long place, double *slope)
{
    *slope = 0;
    if (place < 0)
        return w->constant;
    const unsigned long long at = (unsigned long long)place;
    const struct cir_point *from = &w->points[at % w->count];
    const double length_s = cir_corner_s(w, at + 1) - cir_corner_s(w, at);
    const struct cir_point *to = &w->points[(at + 1) % w->count];
    /* From the last point of a period to the first of the next the value holds. */
    if (at % w->count + 1 < w->count && isfinite(length_s))
        *slope = (to->value - from->value) / (to->t_s - from->t_s);
    return from->value;
}

double cir_wave_value(const struct cir_wave *w, double t_s)
{
    double state[2], slope;

    if (w->kind == CIR_SINE) {
        cir_sine_state(w, fmax(t_s, w->delay_s), state);
        return w->constant + w->amplitude * state[0];
    }
    if (w->kind != CIR_PIECES || t_s < cir_corner_s(w, 0) - CIR_SAME_S(t_s))
        return w->constant;
    const double since_s = t_s - w->delay_s;
    const double cycle =
        w->period_s > 0 ? fmax(0, floor((since_s + CIR_SAME_S(t_s)) / w->period_s)) : 0;
    unsigned i = 0, end = w->count; /* the last point that is not later lies in i .. end - 1 */
    while (i + 1 < end) {
        const unsigned middle = i + (end - i) / 2;
        if (w->points[middle].t_s <= since_s - cycle * w->period_s + CIR_SAME_S(t_s))
            i = middle;
        else
            end = middle;
    }
    const double value = cir_piece(w, i, &slope);
    return value + slope * (since_s - cycle * w->period_s - w->points[i].t_s);
}

void cir_sine_state(const struct cir_wave *w, double t_s, double state[2])
{
    const double cycles = w->hertz * (t_s - w->delay_s);
    const double angle = 2 * M_PI * (cycles - floor(cycles)) + w->phase;
    const double size = w->damping != 0 ? exp(-w->damping * (t_s - w->delay_s)) : 1;

    state[0] = size * sin(angle);
    state[1] = size * cos(angle);
}

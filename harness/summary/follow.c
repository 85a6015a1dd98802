#include "follow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* An instant of the past. */
struct instant {
    double time_s, value;
};

/* Instants at which a slope may begin, ending with the newest. */
struct past {
    struct instant *at;
    size_t first, count, capacity;
};

struct step {
    bool outside_before; /* the value was outside the first band while it should be inside; `before`
                          * is the worst */
    struct look before;
    bool any_after, inside; /* relative to the second band */
    double inside_s;        /* the time since when it is inside */
    double last_s;
};

struct follow {
    const struct hil_limit *limit;
    struct hil_source reference;
    double absolute;    /* of the tolerance */
    bool uncovered;     /* the reference has no row for some time; */
    double uncovered_s; /* the first such time */
    bool seen[HIL_BOUNDS];
    struct look worst[HIL_BOUNDS];
    struct past past;
    struct step step;
};

/* The tolerance near a reference of 0 if the limit gives none: this share of the tolerance at the
 * greatest reference. */
static const double NEAR_ZERO_SHARE = 0.01;

static double greatest(const struct hil_column_source *c)
{
    double most = 0;

    for (unsigned i = 0; i < c->count; i++)
        most = fmax(most, fabs(c->values[i]));
    return most;
}

static void open_like(struct follow *f, unsigned number)
{
    const struct hil_limit_like *like = &f->limit->like;

    f->reference = like->references[number];
    f->absolute = isnan(like->absolute)
                      ? NEAR_ZERO_SHARE * like->relative * greatest(&f->reference.column)
                      : like->absolute;
}

int follow_open(struct follow **follow, const struct hil_limit *limit, unsigned number)
{
    struct follow *f = calloc(1, sizeof *f);

    if (!f)
        return -ENOMEM;
    f->limit = limit;
    if (limit->given[HIL_BOUND_LIKE])
        open_like(f, number);
    *follow = f;
    return 0;
}

void follow_close(struct follow *f)
{
    if (!f)
        return;
    free(f->past.at);
    free(f);
}

static void follow_keep(struct follow *f, enum hil_bound bound, struct look look)
{
    if (!f->limit->given[bound] || (f->seen[bound] && !(look.beyond > f->worst[bound].beyond)))
        return;
    f->seen[bound] = true;
    f->worst[bound] = look;
}

/* --- slopes ---------------------------------------------------------------------------------- */

static int past_add(struct past *p, struct instant instant)
{
    if (p->first + p->count == p->capacity && p->first > p->count) {
        for (size_t i = 0; i < p->count; i++)
            p->at[i] = p->at[p->first + i];
        p->first = 0;
    }
    if (p->first + p->count == p->capacity) {
        const size_t capacity = p->capacity ? 2 * p->capacity : 64;
        struct instant *at = reallocarray(p->at, capacity, sizeof *at);
        if (!at)
            return -ENOMEM;
        p->at = at;
        p->capacity = capacity;
    }
    p->at[p->first + p->count++] = instant;
    return 0;
}

/* The slope from the newest instant that is long enough ago; earlier instants are no longer
 * needed. */
static int follow_slope(struct follow *f, struct instant now)
{
    const double over_s = (double)f->limit->slope_ns * 1e-9 * (1 - 1e-9);
    struct past *p = &f->past;

    while (p->count > 1 && now.time_s - p->at[p->first + 1].time_s >= over_s) {
        p->first++;
        p->count--;
    }
    const struct instant then = p->count ? p->at[p->first] : now;
    if (now.time_s > then.time_s && now.time_s - then.time_s >= over_s) {
        const double slope = (now.value - then.value) / (now.time_s - then.time_s);
        follow_keep(f, HIL_BOUND_SLOPE_MIN,
                    look_at_least(slope, f->limit->bounds[HIL_BOUND_SLOPE_MIN], now.time_s));
        follow_keep(f, HIL_BOUND_SLOPE_MAX,
                    look_at_most(slope, f->limit->bounds[HIL_BOUND_SLOPE_MAX], now.time_s));
    }
    return past_add(p, now);
}

/* --- steps between bands --------------------------------------------------------------------- */

/* Compares with the end of the band that the value exceeds most, or is nearest to. */
static struct look look_at_band(struct instant now, const struct hil_band *band)
{
    const struct look low = look_at_least(now.value, band->min, now.time_s);
    const struct look high = look_at_most(now.value, band->max, now.time_s);

    return low.beyond > high.beyond ? low : high;
}

static void follow_step(struct follow *f, struct instant now)
{
    const struct hil_limit_step *limit = &f->limit->step;
    const bool before = now.time_s < (double)limit->at_ns * 1e-9;
    const struct look look = look_at_band(now, before ? &limit->from : &limit->to);
    struct step *s = &f->step;

    if (before) {
        if (look.beyond > 0 && (!s->outside_before || look.beyond > s->before.beyond)) {
            s->outside_before = true;
            s->before = look;
        }
        return;
    }
    if (look.beyond <= 0 && !s->inside)
        s->inside_s = now.time_s;
    s->inside = look.beyond <= 0;
    s->any_after = true;
    s->last_s = now.time_s;
}

/* Judges by the value that left the first band, or else by the time until it stayed in the second.
 * If it is not inside at the end, that time is infinite. */
static bool step_look(const struct follow *f, struct look *look)
{
    const struct hil_limit_step *limit = &f->limit->step;
    const struct step *s = &f->step;
    const double at_s = (double)limit->at_ns * 1e-9;

    if (s->outside_before)
        *look = s->before;
    else
        *look = look_at_most(s->inside ? 1e3 * (s->inside_s - at_s) : NAN,
                             (double)limit->within_ns * 1e-6, s->inside ? s->inside_s : s->last_s);
    return s->outside_before || s->any_after;
}

const char *follow_step_unit(const struct follow *f, const char *unit)
{
    return f->step.outside_before ? unit : "ms";
}

/* --- comparison with a reference ------------------------------------------------------------- */

/* The reference also covers one row interval beyond each of its ends. */
static bool has_reference(const struct hil_column_source *c, uint64_t t_ns)
{
    const uint64_t first = c->t_ns[0], last = c->t_ns[c->count - 1];
    const uint64_t begin = c->count > 1 ? c->t_ns[1] - first : 0;
    const uint64_t end = c->count > 1 ? last - c->t_ns[c->count - 2] : 0;

    return t_ns + begin >= first && t_ns <= last + end;
}

static void follow_like(struct follow *f, struct instant now)
{
    const uint64_t t_ns = (uint64_t)llround(now.time_s * 1e9);

    if (!has_reference(&f->reference.column, t_ns)) {
        f->uncovered_s = f->uncovered ? f->uncovered_s : now.time_s;
        f->uncovered = true;
        return;
    }
    const double reference = hil_source_at(&f->reference, t_ns);
    const double tolerance = f->absolute + f->limit->like.relative * fabs(reference);
    const struct hil_band band = {reference - tolerance, reference + tolerance};
    follow_keep(f, HIL_BOUND_LIKE, look_at_band(now, &band));
}

bool follow_uncovered(const struct follow *f, double *time_s)
{
    *time_s = f->uncovered_s;
    return f->uncovered;
}

/* --- all ------------------------------------------------------------------------------------- */

int follow_sample(struct follow *f, double time_s, double value)
{
    const struct hil_limit *limit = f->limit;
    const uint64_t t_ns = (uint64_t)llround(fmax(time_s, 0) * 1e9);
    const struct instant now = {time_s, value};

    if (t_ns < limit->from_ns || t_ns > limit->to_ns)
        return 0;
    follow_keep(f, HIL_BOUND_MIN, look_at_least(value, limit->bounds[HIL_BOUND_MIN], time_s));
    follow_keep(f, HIL_BOUND_MAX, look_at_most(value, limit->bounds[HIL_BOUND_MAX], time_s));
    if (limit->given[HIL_BOUND_STEP])
        follow_step(f, now);
    if (limit->given[HIL_BOUND_LIKE])
        follow_like(f, now);
    if (limit->given[HIL_BOUND_SLOPE_MIN] || limit->given[HIL_BOUND_SLOPE_MAX])
        return follow_slope(f, now);
    return 0;
}

bool follow_look(const struct follow *f, enum hil_bound bound, struct look *look)
{
    if (bound == HIL_BOUND_STEP)
        return step_look(f, look);
    *look = f->worst[bound];
    return f->seen[bound];
}

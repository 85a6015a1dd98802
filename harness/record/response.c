#include "response.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double BAND = 0.02;         /* half-width of the band as a share of the reference */
static const uint64_t STAYS_SHARE = 10;  /* settled: inside for a tenth of the available time */
static const uint64_t STAYS_SAMPLES = 5; /* and for this many samples */

static const double RISES_FROM = 0.1, RISES_TO = 0.9; /* shares of the change */

/* --- memory ---------------------------------------------------------------------------------- */

static size_t responses_count(unsigned events, unsigned measures)
{
    return (size_t)events * measures;
}

size_t hil_responses_size(unsigned events, unsigned measures)
{
    return events * sizeof(struct hil_event) +
           responses_count(events, measures) * sizeof(struct hil_response);
}

void hil_responses_init(struct hil_responses *r, void *memory, const struct hil_event *events,
                        unsigned event_count, unsigned measure_count)
{
    *r = (struct hil_responses){.events = memory,
                                .at = (void *)((struct hil_event *)memory + event_count),
                                .event_count = event_count,
                                .measure_count = measure_count};
    memcpy(r->events, events, event_count * sizeof *events);
}

void hil_responses_set_band(struct hil_responses *r, unsigned measure, double band)
{
    for (unsigned event = 0; event < r->event_count; event++)
        r->at[responses_count(event, r->measure_count) + measure].band = band;
}

/* --- samples --------------------------------------------------------------------------------- */

static struct hil_response *responses_to(const struct hil_responses *r, unsigned event)
{
    return &r->at[responses_count(event, r->measure_count)];
}

/* Updates the newest event; other writers may already be there. */
static void responses_reached(struct hil_responses *r, unsigned event)
{
    unsigned now = atomic_load_explicit(&r->now, memory_order_relaxed);

    while (now < event && !atomic_compare_exchange_weak_explicit(
                              &r->now, &now, event, memory_order_relaxed, memory_order_relaxed))
        ;
}

struct hil_moment hil_responses_at(struct hil_responses *r, struct hil_cursor *c, uint64_t t_ns)
{
    unsigned was = c->now;

    while (c->now + 1 < r->event_count && t_ns >= r->events[c->now + 1].begin_ns)
        c->now++;
    if (c->now != was) {
        c->before = was;
        responses_reached(r, c->now);
    }
    const struct hil_event *event = &r->events[c->now];
    const struct hil_moment moment = {
        .t_ns = t_ns,
        .event = event,
        .before = responses_to(r, c->before),
        .at = responses_to(r, c->now),
        .over = t_ns >= event->over_ns,
        .window_begins = c->newest_ns < event->window_ns && t_ns >= event->window_ns,
    };
    c->newest_ns = t_ns;
    return moment;
}

/* If there was no earlier event, the previous reference is the current one. */
static void response_begin(struct hil_response *r, const struct hil_moment *m,
                           const struct hil_response *before, double reference, double value)
{
    r->first = r->min = r->max = value;
    r->min_ns = r->max_ns = m->t_ns;
    r->before_reference = before->count ? before->reference : reference;
}

/* A share of the reference. If that is around 0, it is a share of the previous reference, because
 * there would be no band otherwise. */
static double response_band(const struct hil_response *r)
{
    const double reference = fabs(r->reference);
    const double from = fabs(r->before_reference != 0 ? r->before_reference : r->first);

    if (r->band > 0)
        return r->band;
    return BAND * (reference > BAND * from ? reference : from);
}

/* The signal left the band, so it had not settled. */
static void response_leave(struct hil_response *r)
{
    hil_samples_merge(&r->unsettled, &r->settled);
    r->settled.count = 0;
    r->inside = false;
}

/* A signal that is inside when the change is over has settled at that time. */
static void response_enter(struct hil_response *r, const struct hil_event *event, uint64_t t_ns)
{
    r->inside = true;
    r->inside_ns = r->judged ? t_ns : event->over_ns;
    r->inside_count = 0;
}

struct response_sample {
    uint64_t t_ns;
    double reference, value;
};

/* When the measure passed a share of its rise: on the line between two samples. */
static double response_passed_ns(const struct hil_response *r, const struct response_sample *s,
                                 double share, double before, double now)
{
    const double way = r->count && before < share ? (share - before) / (now - before) : 1;

    return r->count ? (double)r->last_ns + way * (double)(s->t_ns - r->last_ns) : (double)s->t_ns;
}

/* A new reference begins the rise anew. If the measure has already gone further than the lower
 * share by then, as it follows a ramp, its rise has no time of its own. */
static inline void response_rise(struct hil_response *r, const struct response_sample *s,
                                 bool startup)
{
    const double from = startup ? r->first : r->before_reference, way = s->reference - from;
    const double before = (r->last - from) / way, now = (s->value - from) / way;

    if (!(s->reference == r->reference))
        r->risen = r->count && before >= RISES_FROM ? HIL_RISE_UNSEEN : HIL_RISE_BEFORE;
    if (r->risen == HIL_RISE_BEFORE && now >= RISES_FROM) {
        r->rise_ns[0] = response_passed_ns(r, s, RISES_FROM, before, now);
        r->risen = HIL_RISE_UNDER_WAY;
    }
    if (r->risen == HIL_RISE_UNDER_WAY && now >= RISES_TO) {
        r->rise_ns[1] = response_passed_ns(r, s, RISES_TO, before, now);
        r->risen = HIL_RISE_OVER;
    }
}

/* For all samples. */
static inline void response_note(struct hil_response *r, const struct hil_event *event,
                                 const struct response_sample *s)
{
    if (r->risen < HIL_RISE_OVER || s->reference != r->reference)
        response_rise(r, s, event->startup);
    r->count++;
    r->reference = s->reference;
    r->last = s->value;
    r->last_ns = s->t_ns;
    if (!(s->value <= r->max)) {
        r->max = s->value;
        r->max_ns = s->t_ns;
    }
    if (!(s->value >= r->min)) {
        r->min = s->value;
        r->min_ns = s->t_ns;
    }
}

/* For samples after the end of the change. */
static inline void response_judge(struct hil_response *r, const struct hil_event *event,
                                  const struct response_sample *s, double band)
{
    if (fabs(s->value - s->reference) <= band) {
        if (!r->inside)
            response_enter(r, event, s->t_ns);
        r->inside_count++;
        hil_samples_add(&r->settled, s->t_ns, s->value);
    } else {
        if (r->inside)
            response_leave(r);
        hil_samples_add(&r->unsettled, s->t_ns, s->value);
    }
    r->judged = true;
}

void hil_response_add(const struct hil_moment *m, unsigned measure, double reference, double value)
{
    const struct response_sample sample = {m->t_ns, reference, value};
    struct hil_response *r = &m->at[measure];

    if (r->count == 0)
        response_begin(r, m, &m->before[measure], reference, value);
    response_note(r, m->event, &sample);
    if (!m->over)
        return;
    if (m->window_begins)
        r->settled.count = r->unsettled.count = 0;
    response_judge(r, m->event, &sample, response_band(r));
}

static inline struct response_sample response_sample(const struct hil_response_series *s,
                                                     unsigned i, unsigned reference, unsigned value)
{
    return (struct response_sample){s->t_ns[i], s->rows[i][reference], s->rows[i][value]};
}

/* Fast path for most series: the response has settled, so its memory is accessed once for the whole
 * series. Returns false, with nothing added, if the series does not qualify. */
static bool response_add_settled(struct hil_response *r, const struct hil_response_series *s,
                                 unsigned reference, unsigned value, double band)
{
    const double middle = r->reference;
    struct hil_samples settled = r->settled;
    bool same = true;

    for (unsigned i = 0; i < s->count; i++) {
        same &= s->rows[i][reference] == middle;
        hil_samples_add_value(&settled, s->rows[i][value]);
    }
    settled.to_ns = s->t_ns[s->count - 1];
    const bool inside = fabs(settled.min - middle) <= band && fabs(settled.max - middle) <= band;
    const bool between = settled.min >= r->min && settled.max <= r->max;
    if (!same || !inside || !between || isnan(settled.mean)) /* NAN: a value was not a number */
        return false;
    const struct response_sample last = response_sample(s, s->count - 1, reference, value);
    r->count += s->count;
    r->inside_count += s->count;
    r->reference = last.reference;
    r->last = last.value;
    r->last_ns = last.t_ns;
    r->settled = settled;
    return true;
}

/* The band is calculated anew whenever the reference changes. */
static void response_add_each(struct hil_response *r, const struct hil_moment *m,
                              const struct hil_response_series *s, unsigned reference,
                              unsigned value, double band)
{
    double before = r->reference;

    for (unsigned i = 0; i < s->count; i++) {
        const struct response_sample sample = response_sample(s, i, reference, value);
        response_note(r, m->event, &sample);
        if (!m->over)
            continue;
        if (sample.reference != before)
            band = response_band(r);
        before = sample.reference;
        response_judge(r, m->event, &sample, band);
    }
}

void hil_response_add_series(const struct hil_moment *m, unsigned measure,
                             const struct hil_response_series *s, unsigned reference,
                             unsigned value)
{
    struct hil_response *r = &m->at[measure];
    const double band = response_band(r);
    const bool settled = m->over && r->inside && r->settled.count;

    if (!settled || !response_add_settled(r, s, reference, value, band))
        response_add_each(r, m, s, reference, value, band);
}

/* --- figures --------------------------------------------------------------------------------- */

static double figures_s(uint64_t ns)
{
    return (double)ns * 1e-9;
}

static bool response_settled(const struct hil_response *r, const struct hil_event *e)
{
    uint64_t there_was = r->last_ns - e->over_ns;

    return r->inside && r->inside_count >= STAYS_SAMPLES &&
           r->last_ns - r->inside_ns >= there_was / STAYS_SHARE;
}

/* How far the reference moved; for the start-up, its distance from the initial signal. The result
 * is 0 if that is within the band, for the start-up and for measures with a band of their own. */
static double response_change(const struct hil_response *r, const struct hil_event *e)
{
    double change = r->reference - (e->startup ? r->first : r->before_reference);

    return (e->startup || r->band > 0) && fabs(change) <= response_band(r) ? 0 : change;
}

static void figures_extreme(const struct hil_response *r, double change, struct hil_figures *f)
{
    if (isnan(r->reference))
        return;
    bool up = change != 0 ? change > 0 : r->max - r->reference >= r->reference - r->min;

    f->extreme = up ? r->max : r->min;
    f->extreme_s = figures_s(up ? r->max_ns : r->min_ns);
    f->deviation = f->extreme - r->reference;
    if (change != 0)
        f->overshoot_pct = 100 * fmax(f->deviation / change, 0);
    if (fabs(r->reference) > f->band)
        f->deviation_pct = 100 * f->deviation / fabs(r->reference);
}

static void figures_window(const struct hil_response *r, bool settled, struct hil_figures *f)
{
    struct hil_samples window = settled ? (struct hil_samples){0} : r->unsettled;

    hil_samples_merge(&window, &r->settled);
    if (window.count == 0)
        return;
    f->from_s = figures_s(window.from_ns);
    f->to_s = figures_s(window.to_ns);
    f->mean = window.mean;
    f->pp = window.max - window.min;
    f->steady_error = window.mean - r->reference;
    f->rms_deviation =
        hypot(sqrt(window.squares / (double)window.count), window.mean - r->reference);
}

void hil_responses_figures(const struct hil_responses *all, unsigned event, unsigned measure,
                           struct hil_figures *f)
{
    const struct hil_event *e = &all->events[event];
    const struct hil_response *r = &responses_to(all, event)[measure];

    *f = (struct hil_figures){.reference = NAN,
                              .last = NAN,
                              .band = NAN,
                              .extreme = NAN,
                              .extreme_s = NAN,
                              .deviation = NAN,
                              .overshoot_pct = NAN,
                              .deviation_pct = NAN,
                              .rise_time_ms = NAN,
                              .settling_ms = NAN,
                              .min = NAN,
                              .min_s = NAN,
                              .max = NAN,
                              .max_s = NAN,
                              .last_s = NAN,
                              .from_s = NAN,
                              .to_s = NAN,
                              .mean = NAN,
                              .pp = NAN,
                              .rms_deviation = NAN,
                              .steady_error = NAN};
    if (r->count == 0)
        return;
    f->reference = r->reference;
    f->last = r->last;
    f->last_s = figures_s(r->last_ns);
    f->min = r->min;
    f->min_s = figures_s(r->min_ns);
    f->max = r->max;
    f->max_s = figures_s(r->max_ns);
    f->band = isnan(r->reference) ? NAN : response_band(r);
    f->settled = response_settled(r, e);
    if (f->settled)
        f->settling_ms = (double)(r->inside_ns - e->over_ns) * 1e-6;
    figures_extreme(r, response_change(r, e), f);
    if (r->risen == HIL_RISE_OVER && response_change(r, e) != 0)
        f->rise_time_ms = (r->rise_ns[1] - r->rise_ns[0]) * 1e-6;
    figures_window(r, f->settled, f);
}

static bool figures_worse(const struct hil_figures *a, const struct hil_figures *b)
{
    if (a->settled != b->settled)
        return !a->settled;
    if (a->settled && a->settling_ms != b->settling_ms)
        return a->settling_ms > b->settling_ms;
    return a->pp > b->pp || (isnan(b->pp) && !isnan(a->pp));
}

/* Makes the response the worst if it is worse. One without samples is none. */
static void worst_add(struct hil_worst_response *worst, bool *found,
                      const struct hil_responses *all, unsigned event, unsigned measure)
{
    struct hil_worst_response one = {.event = event, .measure = measure};

    if (responses_to(all, event)[measure].count == 0)
        return;
    hil_responses_figures(all, event, measure, &one.figures);
    if (!*found || figures_worse(&one.figures, &worst->figures))
        *worst = one;
    *found = true;
}

unsigned hil_responses_worst(const struct hil_responses *all, unsigned event, unsigned first,
                             unsigned count)
{
    struct hil_worst_response worst = {.measure = first};
    bool found = false;

    for (unsigned i = first; i < first + count; i++)
        worst_add(&worst, &found, all, event, i);
    return worst.measure;
}

struct hil_worst_response hil_responses_worst_of_all(const struct hil_responses *all, unsigned from,
                                                     unsigned first, unsigned count)
{
    struct hil_worst_response worst = {.event = all->now, .measure = first};
    bool found = false;

    for (unsigned event = from; event <= all->now; event++)
        for (unsigned i = first; i < first + count; i++)
            worst_add(&worst, &found, all, event, i);
    if (!found)
        hil_responses_figures(all, worst.event, first, &worst.figures);
    return worst;
}

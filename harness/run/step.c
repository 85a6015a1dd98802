#include <errno.h>
#include <math.h>
#include <string.h>

#include "clock.h"
#include "fault_links.h"
#include "note.h"
#include "shards.h"
#include "step_parts.h"
#include "tracer.h"
#include "tuner.h"

/* There are two kinds of steps, with shards and without: each has all the parts in its own
 * function, for a call costs more than some of them. */
#define STEP_INLINE static inline __attribute__((always_inline))

/* --- 1. what is continuous advances ----------------------------------------------------------- */

void hil_step_make_safe(const struct step_part *p)
{
    unsigned count;
    double *to = hil_step_safe_places(p, &count);

    for (unsigned i = 0; p->safe && i < count; i++)
        if (!isnan(p->safe[i]))
            to[i] = p->safe[i];
}

/* From now on what is continuous gives no number, by which the others know; and what is sampled is
 * safe, but for an output that is no number and has no safe value. */
__attribute__((cold, noinline)) static int step_failed(struct hil_step *s, struct step_part *p,
                                                       uint64_t n, const char *call, int rc)
{
    const struct hil_failing failing = {
        .component = p->config,
        .call = call,
        .step = n,
        .time_ns = hil_loop_due(&s->node->loop, n),
        .ends = p->config->on_error == HIL_ERROR_END,
    };

    p->failed = true;
    s->broken++;
    s->troubled = true;
    hil_note(s->node, n, failing.time_ns, HIL_EVENT_FAILED,
             hil_event_of_component(s->node->run->scenario->system, p->number), 0);
    rc = hil_failure_add(&s->executor->failures, &failing, rc, p->next);
    if (p->model->kind == HIL_SAMPLED)
        hil_step_make_safe(p);
    else
        for (unsigned i = 0; i < p->out_count; i++)
            p->out[i] = NAN;
    if (!hil_all_numbers(p->out, p->out_count)) {
        s->failed++;
        s->unfit++; /* what comes after it in this step is to look, too */
    }
    return rc;
}

/* The step of a model that a provider made. */
__attribute__((noinline)) static int
step_counted(const struct hil_step *s, const struct step_part *p, uint64_t n, uint64_t due)
{
    hil_step_enter(s, p, n);
    const uint64_t begin = hil_clock_monotonic();
    const int rc = p->model->step(p->self, due, p->in, p->next);
    hil_cost_add(p->cost, hil_clock_monotonic() - begin, s->node->loop.timing.period_ns);
    hil_step_leave(s, p);
    return rc;
}

static inline int step_move(const struct hil_step *s, const struct step_part *p, uint64_t n,
                            uint64_t due)
{
    if (__builtin_expect(p->cost != NULL, 0))
        return step_counted(s, p, n, due);
    return p->model->step(p->self, due, p->in, p->next);
}

static void step_stale_found(struct hil_step *s, struct step_part *p, uint64_t due)
{
    struct hil_stale_log *log = &s->executor->stale;
    const uint64_t count = atomic_load_explicit(&log->count, memory_order_relaxed);

    p->stale = true;
    if (count < HIL_STALE_LISTED)
        log->at[count] =
            (struct hil_stale){.from = s->node->id, .to = s->node->id, .found_ns = due};
    atomic_store_explicit(&log->count, count + 1, memory_order_release);
}

/* A device has not received in time what it should have: as with a link that is stale, its outputs
 * hold, or are no number so that what takes them is safe, or the run ends. */
__attribute__((cold, noinline)) static int step_stale(struct hil_step *s, struct step_part *p,
                                                      uint64_t due)
{
    const enum hil_on_stale action = s->node->config->stale.action;

    if (!p->stale)
        step_stale_found(s, p, due);
    if (action == HIL_STALE_SAFE)
        for (unsigned i = 0; i < p->out_count; i++)
            p->out[i] = NAN;
    s->stale += action == HIL_STALE_SAFE;
    return action == HIL_STALE_END ? -ESTALE : 0;
}

/* What a continuous component gives in step 0 is there from the beginning, but for a device's. */
static inline int step_part(struct hil_step *s, struct step_part *p, uint64_t n, uint64_t due)
{
    const bool moves = n > 0 || p->model->kind == HIL_SAMPLED || p->model->apply;
    const int rc = moves ? step_move(s, p, n, due) : 0;

    if (!rc && hil_all_numbers(p->next, p->out_count)) {
        if (__builtin_expect(p->stale, 0))
            p->stale = false;
        return 0;
    }
    return rc == -ESTALE && p->model->apply ? step_stale(s, p, due)
                                            : step_failed(s, p, n, "step", rc);
}

/* Over the interval that just ended, with what was held over it. */
static int step_advance(struct hil_step *s, uint64_t n, uint64_t due)
{
    int rc = 0;

    s->stale = 0;
    for (unsigned i = 0; !rc && i < s->continuous; i++)
        if (!s->parts[i].failed)
            rc = step_part(s, &s->parts[i], n, due);
    return rc;
}

/* --- fetching ahead --------------------------------------------------------------------------- */

/* The receivers have read what was sent before, so the lines of the messages are at other
 * processors. They come here while the node before this one does its step. */
static void step_prefetch(const struct hil_step *s, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        loco_owned_var_prefetch(s->departures[first + i].var);
}

/* --- 2. and 5. sending ------------------------------------------------------------------------ */

static inline void step_fill(const struct hil_step *s, const struct step_departure *d, uint64_t n)
{
    struct hil_message *m = s->message;

    m->step = n + 1;
    m->acted_on = d->back ? d->back->step : 0;
    for (unsigned i = 0; i < d->count; i++)
        m->values[i] = d->out[d->from[i]];
}

static void step_push(const struct hil_step *s, const struct step_departure *d, uint64_t n)
{
    step_fill(s, d, n);
    loco_owned_var_put(d->var, s->message);
}

/* With what faults do to the links. */
__attribute__((cold, noinline)) static void
step_send_faulted(const struct hil_step *s, unsigned first, unsigned end, uint64_t n)
{
    for (unsigned i = first; i < end; i++) {
        const struct step_departure *d = &s->departures[i];
        if (!s->computed && d->computed)
            continue;
        step_fill(s, d, n);
        const struct hil_message *carried = hil_fault_links_carry(s->faults, d, s->message);
        if (!carried)
            continue;
        loco_owned_var_put(d->var, carried);
    }
}

/* The departures from `first` up to `end`. */
static inline void step_send_all(const struct hil_step *s, unsigned first, unsigned end, uint64_t n)
{
    if (__builtin_expect(s->faulted, 0)) {
        step_send_faulted(s, first, end, n);
        return;
    }
    for (unsigned i = first; i < end; i++)
        if (s->computed || !s->departures[i].computed)
            step_push(s, &s->departures[i], n);
}

/* What goes to several nodes is sent together. */
static inline void step_send(const struct hil_step *s, unsigned first, unsigned end, uint64_t n)
{
    struct loco_manager *mgr = s->node->links.channel.mgr;
    const bool together = end - first > 1;

    if (together)
        loco_hold(mgr);
    step_send_all(s, first, end, n);
    if (together)
        loco_release(mgr);
}

/* What was computed with a delay is there now. */
static void step_release(const struct hil_step *s)
{
    if (!s->delays || !s->computed)
        return;
    for (unsigned i = s->continuous; i < s->part_count; i++) {
        const struct step_part *p = &s->parts[i];
        if (p->next != p->out && !p->failed && !p->rests)
            memcpy(p->out, p->next, p->out_count * sizeof *p->out);
    }
}

/* --- 3. taking what has come ------------------------------------------------------------------ */

/* Counts a time of the link, and keeps the link and when it was, if it is the greatest. */
static inline void step_count(struct hil_histogram *times, struct hil_link_moment *greatest,
                              uint64_t ns, unsigned link, uint64_t now)
{
    if (__builtin_expect(ns > times->max || times->count == 0, 0))
        *greatest = (struct hil_link_moment){link, now};
    hil_histogram_add(times, ns);
}

/* Now is when this node sees the first answer to an earlier step of its own. Returns how long that
 * took; 0: not known, because it is too long ago, or was a step of the node before it restarted. */
STEP_INLINE uint64_t step_account_round_trip(const struct hil_step *s, const struct step_arrival *a,
                                             uint64_t n, uint64_t now)
{
    if (n + 1 - a->acted_on >= STEP_SENT_MAX || a->acted_on <= s->node->loop.first)
        return 0;
    const uint64_t ns = now - s->sent_ns[a->acted_on % STEP_SENT_MAX];
    struct hil_link_figures *figures = &s->figures[a->figures];
    step_count(&figures->round_trip, &figures->longest, ns, a->link, now);
    return ns;
}

__attribute__((cold, noinline)) static void step_trace_input(const struct hil_step *s,
                                                             const struct step_arrival *a,
                                                             uint64_t n, uint64_t round_trip_ns)
{
    const struct hil_traced_input input = {
        .node = s->node->id,
        .link = a->link,
        .step = n + 1,
        .sent = a->step,
        .acted_on = a->acted_on,
        .round_trip_ns = round_trip_ns,
    };

    HIL_TRACE(input, &input);
}

/* An event of the sender. */
static void step_note(const struct hil_step *s, const struct step_arrival *a, uint64_t n,
                      uint64_t now, enum hil_event_kind kind, uint64_t ns)
{
    const struct hil_system *system = s->node->run->scenario->system;

    hil_note_ns(s->node, n, now, kind, hil_event_of_node(system, a->input.from), ns);
}

__attribute__((cold, noinline)) static void
step_lose(const struct hil_step *s, struct step_arrival *a, uint64_t n, uint64_t now)
{
    struct hil_loss_log *log = &s->executor->losses;

    hil_shards_begin_rare(s);
    /* What it sent last, and this node did not see any more, is no message of its next life. */
    if (loco_owned_var_load(a->var, s->message) == 0 && s->message->step > a->step)
        a->step = s->message->step;
    a->away = a->suspect = true;
    a->there = a->fresh = false;
    memcpy(s->values + a->at, s->beginning + a->at, a->count * sizeof *s->values);
    hil_step_forget_partial(s, a);
    hil_step_begin_again(s, a->early);
    hil_step_begin_again(s, a->late);
    a->loss = log->count < HIL_LOSSES_MAX ? &log->at[log->count] : NULL;
    if (a->loss)
        *a->loss = (struct hil_loss){.from = a->input.from, .to = a->input.to, .lost_ns = now};
    log->count++;
    a->lost_ns = now;
    step_note(s, a, n, now, HIL_EVENT_LOST, 0);
    hil_shards_end_rare(s);
}

__attribute__((cold, noinline)) static void
step_take_back(const struct hil_step *s, struct step_arrival *a, uint64_t n, uint64_t now)
{
    a->away = false;
    hil_shards_begin_rare(s);
    step_note(s, a, n, now, HIL_EVENT_BACK, now - a->lost_ns);
    if (a->loss)
        a->loss->back_ns = now;
    s->executor->losses.back_count++;
    hil_shards_end_rare(s);
}

/* Whether the sender is lost, or was, since the last step, and is there again. */
static bool step_was_lost(struct step_arrival *a)
{
    const struct loco_channel *c = &a->var->channel;
    const uint32_t life = atomic_load_explicit(
        &c->members[loco_channel_member(c, a->input.from)].incarnation, memory_order_acquire);
    const bool lost = a->life && life != a->life;

    a->life = life;
    return lost;
}

/* Whether the sender is away at this step. It is back with its first message. */
static bool step_is_away(const struct hil_step *s, struct step_arrival *a, uint64_t n, uint64_t now)
{
    if (step_was_lost(a) && !a->away)
        step_lose(s, a, n, now);
    if (loco_channel_check(&a->var->channel)) {
        if (!a->away)
            step_lose(s, a, n, now);
    } else if (a->away && loco_owned_var_load(a->var, s->message) == 0 &&
               s->message->step > a->step) {
        step_take_back(s, a, n, now);
    }
    return a->away;
}

STEP_INLINE void step_take(const struct hil_step *s, struct step_arrival *a)
{
    const struct hil_message *m = s->message;

    a->step = m->step;
    a->acted_on = m->acted_on;
    if (__builtin_expect(!hil_all_numbers(m->values, a->count), 0)) {
        hil_step_take_partial(s, a);
        return;
    }
    if (__builtin_expect(a->input.bad, 0))
        hil_step_forget_partial(s, a);
    for (unsigned i = 0; i < a->count; i++)
        s->values[a->at + i] = m->values[i];
    hil_step_copy(s, a->early);
    a->there = a->fresh = true;
}

__attribute__((cold, noinline)) static void step_torn(const struct hil_step *s)
{
    hil_shards_begin_rare(s);
    s->node->state->torn++;
    hil_shards_end_rare(s);
}

STEP_INLINE void step_load(const struct hil_step *s, struct step_arrival *a, uint64_t n,
                           uint64_t now)
{
    const uint64_t acted_on = a->acted_on;
    uint64_t round_trip_ns = 0;

    if (loco_owned_var_peek(a->var) == a->step)
        return;
    if (loco_owned_var_load(a->var, s->message)) {
        step_torn(s);
        return;
    }
    if (s->message->step == a->step)
        return;
    step_take(s, a);
    if (a->answers && a->acted_on > acted_on)
        round_trip_ns = step_account_round_trip(s, a, n, now);
    if (HIL_TRACED(input))
        step_trace_input(s, a, n, round_trip_ns);
}

/* What the scenario says of an input that is older than its limit, or no number too often. What
 * comes from a node that died is a loss, and not stale as well. Returns 0, or -ESTALE when that
 * ends the run. */
__attribute__((cold, noinline)) static int step_judge(struct hil_step *s, struct step_arrival *a,
                                                      uint64_t n, uint64_t age, uint64_t now)
{
    const enum hil_on_stale on_stale = s->node->config->stale.action;
    const bool lost = a->away || loco_channel_check(&a->var->channel);
    const bool was_stale = a->input.stale;

    hil_shards_begin_rare(s);
    const bool stale = hil_input_is_stale(&a->input, &s->executor->stale, lost ? 0 : age, now);

    if (stale && !was_stale)
        step_note(s, a, n, now, HIL_EVENT_STALE, age);
    else if (was_stale && !stale)
        step_note(s, a, n, now, HIL_EVENT_FRESH, now - a->input.found_ns);
    hil_shards_end_rare(s);
    a->unfit = stale && on_stale == HIL_STALE_SAFE;
    a->suspect = stale || a->input.bad || a->away;
    s->unfit += a->unfit || a->input.bad || a->away;
    return stale && on_stale == HIL_STALE_END ? -ESTALE : 0;
}

STEP_INLINE void step_count_oldest(const struct hil_step *s, const struct step_arrival *a,
                                   uint64_t age, unsigned link, uint64_t now)
{
    struct hil_link_figures *figures = &s->figures[a->figures];

    step_count(&figures->input_age, &figures->oldest, age, link, now);
    s->node->loop.has_input = true;
}

/* The oldest of each array's links is counted, or, of a shard, kept in `kept`. Returns 0, or
 * -ESTALE. */
STEP_INLINE int step_take_links(struct hil_step *s, uint64_t n, uint64_t now,
                                struct step_oldest *kept)
{
    uint64_t oldest = 0, oldest_of_all = 0;
    unsigned oldest_link = 0;
    bool arrived = false; /* one of this array had a message */
    int rc = 0;

    s->unfit = s->failed + s->stale;
    if (__builtin_expect(s->has_ages, 0))
        s->unfit += s->old;
    for (struct step_arrival *a = s->arrivals, *end = a + s->arrival_count; a < end; a++) {
        if (!s->goes_on || !step_is_away(s, a, n, now))
            step_load(s, a, n, now);
        const uint64_t age = hil_input_age(&a->input, a->step, now);
        if (__builtin_expect(a->suspect || a->input.limit_ns < age, 0) &&
            step_judge(s, a, n, age, now))
            rc = -ESTALE;
        if (a->step && !a->away) {
            oldest_link = !arrived || age > oldest ? a->link : oldest_link;
            oldest = age > oldest ? age : oldest;
            arrived = true;
        }
        if (!a->ends_array)
            continue;
        if (kept)
            *kept++ = (struct step_oldest){oldest, oldest_link, arrived};
        else if (arrived)
            step_count_oldest(s, a, oldest, oldest_link, now);
        oldest_of_all = oldest > oldest_of_all ? oldest : oldest_of_all;
        oldest = 0;
        arrived = false;
    }
    if (kept) /* of an array that goes on in the next shard */
        *kept = (struct step_oldest){oldest, oldest_link, arrived};
    else
        s->node->loop.input_age_ns = oldest_of_all;
    return rc;
}

/* Sends what is there, and takes what has come. Returns 0, or -ESTALE. */
static int step_begin_links(struct hil_step *s, uint64_t n, uint64_t now)
{
    step_send(s, 0, s->early, n);
    return step_take_links(s, n, now, NULL);
}

/* The sources' values at t_ns. A value that did not change is where it has to be already. */
void hil_step_take_sources(const struct hil_step *s, uint64_t t_ns)
{
    for (unsigned i = 0; i < s->feed_count; i++) {
        struct step_feed *f = &s->feeds[i];
        const double value = hil_source_at(f->source, t_ns);
        if (value == s->values[f->at])
            continue;
        s->values[f->at] = value;
        hil_step_copy(s, f->early);
        f->fresh = true;
    }
}

/* --- measures and record ---------------------------------------------------------------------- */

static double step_sum(const struct hil_step *s, const struct step_measured *m)
{
    const unsigned *at = s->signals + m->signals.first;
    double sum = 0;

    for (unsigned i = 0; i < m->signals.count; i++)
        sum += s->values[at[i]];
    return sum;
}

/* How each measure follows its reference; the first one is also for whoever watches. */
__attribute__((noinline)) static void step_measure(const struct hil_step *s, uint64_t now)
{
    struct hil_state *state = s->node->run->state;
    struct hil_moment moment = hil_responses_at(&state->responses, &s->node->state->measuring, now);
    for (unsigned i = 0; i < s->measured_count; i++) {
        struct step_measured *m = &s->measures[i];
        m->value = step_sum(s, m);
        m->reference = m->from < 0 ? NAN : s->values[m->from] * m->scale;
        if (__builtin_expect(s->stopping, 0))
            continue; /* the run's time is over */
        hil_response_add(&moment, m->measure, m->reference, m->value);
        if (m->measure == 0)
            hil_recent_add(&state->recent, now, m->reference, m->value);
    }
}

/* What the continuous components have reached; where there is none, the least that the senders had
 * by their newest messages. */
static uint64_t step_reached_ns(const struct hil_step *s, uint64_t due)
{
    uint64_t least = UINT64_MAX;

    if (s->continuous || s->arrival_count == 0)
        return due;
    for (unsigned i = 0; i < s->arrival_count; i++) {
        const struct step_arrival *a = &s->arrivals[i];
        const uint64_t at = hil_input_due(&a->input, a->step);
        least = at < least ? at : least;
    }
    return least;
}

__attribute__((noinline)) static void step_record(const struct hil_step *s, uint64_t n,
                                                  uint64_t due, uint64_t now)
{
    const struct hil_node *node = s->node;
    double *row = n % node->config->decimation == 0 ? hil_stream_row(node->stream) : NULL;

    if (!row)
        return;
    row[0] = (double)now * 1e-9;
    if (s->row.clocked) {
        row[1] = (double)n;
        row[2] = (double)step_reached_ns(s, due) * 1e-9;
    }
    double *measured = row + s->row.measures;
    for (unsigned i = 0; i < s->measured_count; i++) {
        const struct step_measured *m = &s->measures[i];
        if (!m->recorded)
            continue;
        *measured++ = m->value;
        if (m->from >= 0)
            *measured++ = m->reference;
    }
    for (unsigned i = 0; i < s->recorded_count; i++)
        row[s->row.signals + i] = s->values[s->recorded[i]];
    hil_stream_commit(node->stream);
}

static void step_tap_measures(const struct hil_step *s, uint64_t *to)
{
    for (unsigned i = 0; i < s->measured_count; i++) {
        const struct step_measured *m = &s->measures[i];
        if (!m->recorded)
            continue;
        loco_copy(to++, &m->value, sizeof *to);
        if (m->from >= 0)
            loco_copy(to++, &m->reference, sizeof *to);
    }
}

/* For whoever watches: of every step what the record has. */
static inline void step_tap(const struct hil_step *s, uint64_t n, uint64_t now)
{
    struct hil_tap_ring *ring = s->tap;

    if (__builtin_expect(!ring, 0))
        return;
    uint64_t *row = hil_tap_row(ring), *to = row + HIL_TAP_VALUES;
    hil_tap_values(to, s->values, ring->values);
    if (__builtin_expect(s->measured_count, 0))
        step_tap_measures(s, to + ring->values);
    if (__builtin_expect(!s->node->rehearsed, 1))
        hil_tap_commit(ring, row, n, now);
}

/* What a node without measures and a record has to do stands in its step. */
static inline void step_show(const struct hil_step *s, uint64_t n, uint64_t due, uint64_t now)
{
    if (s->measured_count)
        step_measure(s, now);
    if (s->tells_time && !s->stopping)
        atomic_store_explicit(&s->node->run->state->elapsed_ns, now, memory_order_relaxed);
    if (s->node->stream)
        step_record(s, n, due, now);
    step_tap(s, n, now);
}

/* --- 4. what is sampled computes -------------------------------------------------------------- */

/* Whether the component is not to compute with what it has; and makes it safe where it must be.
 * What comes from a component of this node that has failed is no number. */
static bool step_rests(const struct hil_step *s, const struct step_part *p)
{
    bool away = false, unfit = p->aged || !hil_all_numbers(p->in, p->config->in_count);

    for (unsigned i = 0; i < p->arrivals.count; i++) {
        const struct step_arrival *a = &s->arrivals[s->needs[p->arrivals.first + i]];
        away |= a->away;
        unfit |= a->unfit || (hil_input_is_bad(&a->input) && hil_step_takes_bad(s, p, a));
    }
    if (unfit)
        hil_step_make_safe(p);
    return away || unfit;
}

static int step_compute(struct hil_step *s, uint64_t n, uint64_t due)
{
    int rc = 0;

    for (unsigned i = s->continuous; !rc && i < s->part_count; i++) {
        struct step_part *p = &s->parts[i];
        hil_step_copy(s, p->local);
        p->rests = s->unfit && step_rests(s, p);
        if (!p->rests && !p->failed)
            rc = step_part(s, p, n, due);
    }
    s->computed = true;
    return rc;
}

/* --- 6. the continuous components' inputs are latched ----------------------------------------- */

/* Safe values, where they must be; in place of what has never come, or is still no number, what the
 * input began with. */
static void step_latch_safe(struct hil_step *s)
{
    s->safe = true;
    for (unsigned i = 0; i < s->arrival_count; i++)
        if (s->arrivals[i].partial)
            hil_step_begin_again(s, s->arrivals[i].late);
    for (unsigned i = 0; i < s->continuous; i++)
        step_rests(s, &s->parts[i]);
    const struct step_range late = hil_step_local_late(s);
    for (unsigned i = 0; i < late.count; i++) {
        const unsigned to = s->copies[late.first + i].to;
        if (!isfinite(s->values[to]))
            s->values[to] = s->beginning[to];
    }
}

/* Takes the safe values back: every input is what it began with, and what there is is new again. */
static void step_unlatch_safe(struct hil_step *s)
{
    s->safe = false;
    for (unsigned i = 0; i < s->continuous; i++) {
        const struct step_part *p = &s->parts[i];
        memcpy(p->in, s->beginning + (p->in - s->values), p->config->in_count * sizeof *p->in);
    }
    for (unsigned i = 0; i < s->arrival_count; i++)
        s->arrivals[i].fresh = s->arrivals[i].there;
    for (unsigned i = 0; i < s->feed_count; i++)
        s->feeds[i].fresh = true;
}

static inline void step_copy_late(const struct hil_step *s)
{
    for (unsigned i = 0; i < s->arrival_count; i++)
        if (s->arrivals[i].fresh) {
            hil_step_copy(s, s->arrivals[i].late);
            s->arrivals[i].fresh = false;
        }
    for (unsigned i = 0; i < s->feed_count; i++)
        if (s->feeds[i].fresh) {
            hil_step_copy(s, s->feeds[i].late);
            s->feeds[i].fresh = false;
        }
    hil_step_copy(s, hil_step_local_late(s));
}

/* The apply() of a model that a provider made. */
static int step_apply_counted(const struct hil_step *s, const struct step_part *p, uint64_t n)
{
    hil_step_enter(s, p, n);
    const uint64_t begin = hil_clock_monotonic();
    const int rc = p->model->apply(p->self, p->in);
    p->cost->apply_ns = hil_clock_monotonic() - begin;
    hil_step_leave(s, p);
    return rc;
}

static int step_apply(struct hil_step *s, struct step_part *p, uint64_t n)
{
    const int rc = p->cost ? step_apply_counted(s, p, n) : p->model->apply(p->self, p->in);

    return rc ? step_failed(s, p, n, "apply", rc) : 0;
}

static inline int step_latch(struct hil_step *s, uint64_t n)
{
    int rc = 0;

    if (s->continuous == 0)
        return 0;
    if (s->safe)
        step_unlatch_safe(s);
    step_copy_late(s);
    if (__builtin_expect(s->has_ages, 0) && s->replaced)
        hil_step_replace_old(s, true);
    if (s->unfit)
        step_latch_safe(s);
    for (unsigned i = 0; s->applies && !rc && i < s->continuous; i++)
        if (s->parts[i].model->apply && !s->parts[i].failed)
            rc = step_apply(s, &s->parts[i], n);
    return rc;
}

/* --- whether it is safe ------------------------------------------------------------------------
 */

static bool step_is_safe(const struct hil_step *s)
{
    bool safe = s->broken || s->old;

    for (unsigned i = 0; !safe && i < s->arrival_count; i++)
        safe = s->arrivals[i].unfit || hil_input_is_bad(&s->arrivals[i].input);
    return safe;
}

__attribute__((cold, noinline)) static void step_tell_safe(struct hil_step *s, uint64_t n,
                                                           uint64_t now)
{
    const bool safe = step_is_safe(s);

    if (safe != s->told_safe)
        hil_node_set_safe(s->node, n, now, safe);
    s->told_safe = safe;
    s->troubled = safe || s->broken;
}

/* --- the links of shards ----------------------------------------------------------------------
 */

static void step_send_range(const struct hil_step *s, struct step_range range, uint64_t n)
{
    if (range.count)
        step_send(s, range.first, range.first + range.count, n);
}

/* Before the components compute. */
static void step_begin_shard(void *arg, unsigned number)
{
    struct hil_shards *h = arg;
    struct hil_shard *shard = &h->at[number];
    struct hil_step *s = hil_shard_look(shard, h);

    step_prefetch(s, shard->late.first, shard->late.count);
    step_send_range(s, shard->early, h->n);
    shard->stale = step_take_links(s, h->n, h->now, shard->oldest);
}

/* After they have computed. */
static void step_end_shard(void *arg, unsigned number)
{
    struct hil_shards *h = arg;
    struct hil_shard *shard = &h->at[number];

    step_send_range(hil_shard_look(shard, h), shard->late, h->n);
}

/* What the shards found is the node's. */
static int step_gather_shards(struct hil_step *s, struct hil_shards *h)
{
    const unsigned before = s->failed + s->stale + (s->has_ages ? s->old : 0);
    uint64_t oldest_of_all = 0;
    int rc = 0;

    s->unfit = before;
    for (unsigned i = 0; i < h->count; i++) {
        s->unfit += h->at[i].step.unfit - before;
        rc = h->at[i].stale ? h->at[i].stale : rc;
    }
    hil_shards_gather(h);
    for (unsigned i = 0; i < h->array_count; i++) {
        const struct step_oldest *oldest = &h->oldest[i];
        if (oldest->arrived)
            step_count_oldest(s, h->arrays[i], oldest->age, oldest->link, h->now);
        oldest_of_all = oldest->age > oldest_of_all ? oldest->age : oldest_of_all;
    }
    s->node->loop.input_age_ns = oldest_of_all;
    return rc;
}

/* The same of all shards. */
__attribute__((noinline)) static int step_begin_shards(struct hil_step *s, uint64_t n, uint64_t now)
{
    s->shards->n = n;
    s->shards->now = now;
    hil_shards_do(s->shards, step_begin_shard);
    return step_gather_shards(s, s->shards);
}

__attribute__((noinline)) static void step_end_shards(const struct hil_step *s)
{
    if (s->early < s->departure_count)
        hil_shards_do(s->shards, step_end_shard);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Whether one is lost without whom the run does not go on. */
static int step_check_peers(const struct hil_step *s, uint64_t n)
{
    const struct hil_node *node = s->node;

    if (n % 64)
        return 0;
    if (!s->goes_on)
        return loco_channel_check(&node->links.channel);
    return node->id != 0 && loco_peer_lost(node->mgr, 0) ? -ECONNRESET : 0;
}

int hil_step_run(void *arg, uint64_t n, uint64_t now)
{
    struct hil_node *node = arg;
    struct hil_step *s = node->step;
    const uint64_t due = hil_loop_due(&node->loop, n);

    if (node->first)
        step_prefetch(s, 0, s->departure_count);
    if (node->next)
        step_prefetch(node->next->step, 0, node->next->step->departure_count);
    int rc = step_advance(s, n, due);
    if (rc)
        return rc;
    if (s->tuned && __builtin_expect(hil_tuner_is_asked(s->tuner), 0))
        hil_tuner_step(s, n, due, now);
    step_release(s);
    if (s->answered)
        s->sent_ns[(n + 1) % STEP_SENT_MAX] = now;
    const int old = __builtin_expect(s->has_ages, 0) ? hil_step_judge_ages(s, n, now) : 0;
    const int stale = s->split ? step_begin_shards(s, n, now) : step_begin_links(s, n, now);
    if (s->feed_count)
        hil_step_take_sources(s, due);
    hil_step_copy(s, s->local);
    if (__builtin_expect(s->has_ages, 0) && s->replaced)
        hil_step_replace_old(s, false);
    step_show(s, n, due, now); /* what is in force until now */
    rc = step_compute(s, n, due);
    if (rc)
        return rc;
    if (s->split)
        step_end_shards(s);
    else
        step_send(s, s->early, s->departure_count, n);
    rc = step_latch(s, n);
    if (rc)
        return rc;
    if (__builtin_expect(s->unfit || s->troubled, 0))
        step_tell_safe(s, n, now);
    hil_node_end_step(node, n, due, now);
    return stale || old ? -ESTALE : step_check_peers(s, n);
}

void hil_step_stand(void *arg, uint64_t n, uint64_t now)
{
    struct hil_node *node = arg;

    step_show(node->step, n, hil_loop_due(&node->loop, n), now);
}

#include <errno.h>
#include <math.h>
#include <string.h>

#include "clock.h"
#include "faulted_parts.h"
#include "note.h"
#include "shards.h"
#include "step_links.h"
#include "tracer.h"
#include "tuner.h"

/* What each step does is inlined in both kinds of step (step_run). */
#define STEP_INLINE __attribute__((always_inline)) static inline

/* --- 1. the continuous components advance ----------------------------------------------------- */

void hil_step_make_safe(const struct step_part *p)
{
    unsigned count;
    double *to = hil_step_safe_places(p, &count);

    for (unsigned i = 0; p->safe && i < count; i++)
        if (!isnan(p->safe[i]))
            to[i] = p->safe[i];
}

/* From now on a failed continuous component outputs NaN, which tells the other components. A failed
 * sampled component is safe, except for an output that is not a number and has no safe value. */
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
        s->unfit++; /* components later in this step must check their inputs */
    }
    return rc;
}

/* Steps a model that a provider made, and counts the time. */
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

STEP_INLINE int step_move(const struct hil_step *s, const struct step_part *p, uint64_t n,
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

/* The component ends the run. Its outputs stay, and this step is still shown and sent. */
__attribute__((cold, noinline)) static int step_ended(const struct hil_step *s, struct step_part *p,
                                                      uint64_t due)
{
    struct hil_state *state = s->node->run->state;
    uint32_t nobody = 0;

    p->failed = true;
    if (atomic_compare_exchange_strong(&state->ended_by, &nobody, p->number + 1))
        state->ended_ns = due;
    hil_state_stop(state, s->node->start_ns + due, 0);
    return 0;
}

/* A device did not receive what it needs in time. This is treated like a stale link: its outputs
 * hold, or they become NaN so that components that take them are safe, or the run ends. */
__attribute__((cold, noinline)) static int step_stale(struct hil_step *s, struct step_part *p,
                                                      uint64_t due)
{
    const enum hil_on_stale action = s->node->config->stale.action;

    if (hil_step_ends(s))
        return 0;
    if (!p->stale)
        step_stale_found(s, p, due);
    if (action == HIL_STALE_SAFE)
        for (unsigned i = 0; i < p->out_count; i++)
            p->out[i] = NAN;
    s->stale += action == HIL_STALE_SAFE;
    return action == HIL_STALE_END ? -ESTALE : 0;
}

/* In step 0 the outputs of continuous components are their initial ones, so of these only devices
 * are stepped. */
STEP_INLINE int step_part(struct hil_step *s, struct step_part *p, uint64_t n, uint64_t due)
{
    const bool moves = n > 0 || p->model->kind == HIL_SAMPLED || p->model->apply;
    const int rc = moves ? step_move(s, p, n, due) : 0;

    if (!rc && hil_all_numbers(p->next, p->out_count)) {
        if (__builtin_expect(p->stale, 0))
            p->stale = false;
        return 0;
    }
    if (rc == -ESHUTDOWN && hil_all_numbers(p->next, p->out_count))
        return step_ended(s, p, due);
    return rc == -ESTALE && p->model->apply ? step_stale(s, p, due)
                                            : step_failed(s, p, n, "step", rc);
}

/* Advances over the interval that just ended, with the inputs held over it. */
STEP_INLINE int step_advance(struct hil_step *s, uint64_t n, uint64_t due)
{
    const struct step_part *end = s->parts + s->continuous;
    int rc = 0;

    s->stale = 0;
    for (struct step_part *p = s->parts; !rc && p < end; p++)
        if (!p->failed)
            rc = step_part(s, p, n, due);
    return rc;
}

/* Publishes outputs that were computed with a delay. If no component was held back, all of them are
 * published, and they usually lie together. */
static void step_release(const struct hil_step *s)
{
    if (!s->delays || !s->computed)
        return;
    if (__builtin_expect(s->faulted, 0))
        hil_faulted_parts_release(s->faults);
    if (s->delayed.count && !(s->unfit | s->broken | s->old)) {
        memcpy(s->values + s->out + s->delayed.first, s->next + s->delayed.first,
               s->delayed.count * sizeof *s->next);
        return;
    }
    for (unsigned i = s->continuous; i < s->part_count; i++) {
        const struct step_part *p = &s->parts[i];
        if (p->next != p->out && !p->failed && !p->rests)
            memcpy(p->out, p->next, p->out_count * sizeof *p->out);
    }
}

/* Sends the early departures and takes what has come. Returns 0, or -ESTALE. */
STEP_INLINE int step_begin_links(struct hil_step *s, uint64_t n, uint64_t now)
{
    hil_step_send(s, 0, s->early, n);
    return hil_step_take(s, n, now);
}

/* Takes the sources' values at t_ns. A value that did not change is already in place. */
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

/* --- 4. the sampled components compute -------------------------------------------------------- */

/* Whether the component must not compute with its present inputs. Makes it safe where it must be.
 * Outputs of a failed component of this node are NaN. */
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

static int step_compute_part(struct hil_step *s, struct step_part *p, uint64_t n, uint64_t due)
{
    hil_step_copy(s, p->local);
    p->rests = s->unfit && step_rests(s, p);
    return p->rests || p->failed ? 0 : step_part(s, p, n, due);
}

/* Steps `p` and those that can be stepped in a row with it. Returns the end of the row. */
static struct step_part *step_compute_row(const struct hil_step *s, struct step_part *p)
{
    p->row_step(s->selves + (p - s->parts), p->row, p->in, p->next);
    return p + p->row;
}

/* While all is well, components that can be stepped in a row are. */
static int step_compute(struct hil_step *s, uint64_t n, uint64_t due)
{
    struct step_part *p = s->parts + s->continuous, *const end = s->parts + s->part_count;
    int rc = 0;

    while (!rc && p < end) {
        if (p->row > 1 && !(s->unfit | s->rested))
            p = step_compute_row(s, p);
        else
            rc = step_compute_part(s, p++, n, due);
    }
    s->rested = s->unfit;
    s->computed = true;
    return rc;
}

/* --- 6. the continuous components' inputs are latched ----------------------------------------- */

/* Puts safe values in force where they must be. An input whose value has never come, or is still
 * not a number, gets its initial value. */
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

/* Takes the safe values back: every input gets its initial value, and all present values count as
 * fresh, so that they are latched again. */
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

STEP_INLINE void step_copy_late(const struct hil_step *s, const bool plain)
{
    for (unsigned i = 0; i < s->arrival_count; i++)
        if (s->arrivals[i].fresh) {
            hil_step_copy(s, s->arrivals[i].late);
            s->arrivals[i].fresh = false;
        }
    if (plain)
        return;
    for (unsigned i = 0; i < s->feed_count; i++)
        if (s->feeds[i].fresh) {
            hil_step_copy(s, s->feeds[i].late);
            s->feeds[i].fresh = false;
        }
    hil_step_copy(s, hil_step_local_late(s));
}

/* Calls apply() of a model that a provider made, and measures the time. */
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

STEP_INLINE int step_latch(struct hil_step *s, uint64_t n, const bool plain)
{
    int rc = 0;

    if (s->continuous == 0)
        return 0;
    if (s->safe)
        step_unlatch_safe(s);
    step_copy_late(s, plain);
    if (!plain && __builtin_expect(s->has_ages, 0) && s->replaced)
        hil_step_replace_old(s, true);
    if (s->unfit)
        step_latch_safe(s);
    for (unsigned i = 0; !plain && s->applies && !rc && i < s->continuous; i++)
        if (s->parts[i].model->apply && !s->parts[i].failed)
            rc = step_apply(s, &s->parts[i], n);
    return rc;
}

/* --- measures and record ---------------------------------------------------------------------- */

/* The time that the continuous components have reached or, without any, that of the senders'
 * values. */
static uint64_t step_reached_ns(const struct hil_step *s, uint64_t due)
{
    return s->continuous || s->arrival_count == 0 ? due : s->reached_ns;
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
    if (s->measured_count)
        memcpy(row + s->row.measures, hil_step_sampled(s), s->samples.recorded * sizeof *row);
    double *to = row + s->row.signals;
    for (unsigned i = 0; i < s->recorded_count; i++) {
        const struct step_range run = s->recorded[i];
        memcpy(to, s->values + run.first, run.count * sizeof *to);
        to += run.count;
    }
    hil_stream_commit(node->stream);
}

/* Writes every step's recorded values to the tap, for programs that watch. */
STEP_INLINE void step_tap(const struct hil_step *s, uint64_t n, uint64_t now, const bool plain)
{
    struct hil_tap_ring *ring = s->tap;

    if (__builtin_expect(!ring, 0))
        return;
    uint64_t *row = hil_tap_row(ring), *to = row + HIL_TAP_VALUES;
    hil_tap_values(to, s->values, ring->values);
    if (!plain && __builtin_expect(s->measured_count, 0))
        loco_copy(to + ring->values, hil_step_sampled(s), s->samples.recorded * sizeof *to);
    if (__builtin_expect(!s->node->rehearsed, 1))
        hil_tap_commit(ring, row, n, now);
}

/* Inlined, so that a node without measures and a record pays only for the checks. */
STEP_INLINE void step_show(struct hil_step *s, uint64_t n, uint64_t due, uint64_t now,
                           const bool plain)
{
    if (!plain && s->measured_count)
        hil_step_measure(s, now);
    if (!plain && s->tells_time && !s->stopping)
        atomic_store_explicit(&s->node->run->state->elapsed_ns, now, memory_order_relaxed);
    if (s->node->stream)
        step_record(s, n, due, now);
    step_tap(s, n, now, plain);
}

/* --- whether the node is safe ----------------------------------------------------------------- */

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

/* --- the links of shards ---------------------------------------------------------------------- */

static void step_send_range(const struct hil_step *s, struct step_range range, uint64_t n)
{
    hil_step_send(s, range.first, range.first + range.count, n);
}

/* Before the components compute. */
static void step_begin_shard(void *arg, unsigned number)
{
    struct hil_shards *h = arg;
    struct hil_shard *shard = &h->at[number];
    struct hil_step *s = hil_shard_look(shard, h);

    hil_step_fetch_first_out(s, shard->early.first, shard->early.first + shard->early.count);
    hil_step_fetch_first_in(s);
    step_send_range(s, shard->early, h->n);
    shard->stale = hil_step_take_all(s, h->n, h->now, shard->oldest);
    hil_step_fetch_first_out(s, shard->late.first, shard->late.first + shard->late.count);
}

/* After they have computed. */
static void step_end_shard(void *arg, unsigned number)
{
    struct hil_shards *h = arg;
    struct hil_shard *shard = &h->at[number];

    step_send_range(hil_shard_look(shard, h), shard->late, h->n);
}

/* Merges what the shards found into the node's step. */
static int step_gather_shards(struct hil_step *s, struct hil_shards *h)
{
    const unsigned before = s->failed + s->stale + (s->has_ages ? s->old : 0);
    uint64_t oldest_of_all = 0;
    int rc = 0;

    s->unfit = before;
    s->reached_ns = UINT64_MAX;
    for (unsigned i = 0; i < h->count; i++) {
        const struct hil_step *shard = &h->at[i].step;
        s->unfit += shard->unfit - before;
        s->reached_ns = shard->reached_ns < s->reached_ns ? shard->reached_ns : s->reached_ns;
        rc = h->at[i].stale ? h->at[i].stale : rc;
    }
    hil_shards_gather(h);
    for (unsigned i = 0; i < h->array_count; i++) {
        const struct step_oldest *oldest = &h->oldest[i];
        if (oldest->arrived)
            hil_step_count_age(s, h->arrays[i], oldest->age, oldest->link, h->now);
        oldest_of_all = oldest->age > oldest_of_all ? oldest->age : oldest_of_all;
    }
    s->node->loop.input_age_ns = oldest_of_all;
    return rc;
}

/* Like step_begin_links, for all shards. */
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

/* --- the whole step --------------------------------------------------------------------------- */

/* A peer is lost without which the run cannot go on. If it left in order, the run ends in order
 * here too; whether that is an error is found at the end (hil_group_losses). */
__attribute__((cold, noinline)) static int step_lost_peer(const struct hil_step *s, uint64_t now)
{
    struct hil_node *node = s->node;

    if (hil_step_ends(s))
        return 0;
    if (hil_node_losses(node) != HIL_LEFT)
        return -ECONNRESET;
    hil_node_hear(node);
    hil_state_stop(node->run->state, node->start_ns + now, 0);
    return 0;
}

/* How often peers are checked, in steps. */
enum { CHECK_STEPS = 64 };

/* Checks whether a peer is lost without which the run cannot go on. */
__attribute__((noinline)) static int step_check_peers(const struct hil_step *s, uint64_t now)
{
    const struct hil_node *node = s->node;
    const bool lost = s->goes_on ? node->id != 0 && loco_peer_lost(node->mgr, 0)
                                 : loco_channel_check(&node->links.channel);
    return lost ? step_lost_peer(s, now) : 0;
}

/* 4. to 6. */
STEP_INLINE int step_act(struct hil_step *s, uint64_t n, uint64_t due, const bool plain)
{
    const int rc = plain ? 0 : step_compute(s, n, due);

    if (rc)
        return rc;
    if (!plain && s->split)
        step_end_shards(s);
    else
        hil_step_send(s, s->early, s->departure_count, n);
    return step_latch(s, n, plain);
}

/* `plain` is a constant. If it is true, the node has nothing but plants and their links (see struct
 * hil_step), and the compiler leaves out all that others need. */
STEP_INLINE int step_run(struct hil_step *s, uint64_t n, uint64_t now, const bool plain)
{
    struct hil_node *node = s->node;
    const uint64_t due = hil_loop_due(&node->loop, n);
    const bool split = !plain && s->split, has_ages = !plain && s->has_ages;

    if (node->first && !split) /* each shard prefetches the lines of its own links */
        hil_step_fetch_first(s);
    if (node->next)
        hil_step_fetch_first(node->next->step);
    if (!plain && s->measured_count)
        hil_step_add_share(s); /* while the lines arrive */
    int rc = step_advance(s, n, due);
    if (rc)
        return rc;
    if (!plain && s->tuned && __builtin_expect(hil_tuner_is_asked(s->tuner), 0))
        hil_tuner_step(s, n, due, now);
    if (!plain)
        step_release(s);
    if (!plain && s->answered)
        s->sent_ns[(n + 1) % STEP_SENT_MAX] = now;
    const int old = __builtin_expect(has_ages, 0) ? hil_step_judge_ages(s, n, now) : 0;
    const int stale = split ? step_begin_shards(s, n, now) : step_begin_links(s, n, now);
    if (!split)
        hil_step_fetch_first_out(s, s->early, s->departure_count);
    if (!plain && s->feed_count)
        hil_step_take_sources(s, due);
    if (!plain)
        hil_step_copy(s, s->local);
    if (__builtin_expect(has_ages, 0) && s->replaced)
        hil_step_replace_old(s, false);
    rc = step_act(s, n, due, plain);
    if (__builtin_expect(!plain && s->faulted, 0))
        hil_faulted_parts_look(s->faults);
    step_show(s, n, due, now, plain); /* a step that fails has its row, too */
    if (rc)
        return rc;
    if (__builtin_expect(s->unfit || s->troubled, 0))
        step_tell_safe(s, n, now);
    hil_node_end_step(node, n, due, now);
    if (stale || old)
        return -ESTALE;
    return n % CHECK_STEPS ? 0 : step_check_peers(s, now);
}

int hil_step_run(void *arg, uint64_t n, uint64_t now)
{
    struct hil_step *s = ((struct hil_node *)arg)->step;

    return s->plain ? step_run(s, n, now, true) : step_run(s, n, now, false);
}

void hil_step_stand(void *arg, uint64_t n, uint64_t now)
{
    struct hil_node *node = arg;

    step_show(node->step, n, hil_loop_due(&node->loop, n), now, false);
}

#include "step_links.h"

#include <errno.h>
#include <string.h>

#include "fault_links.h"
#include "tracer.h"

/* --- sending ---------------------------------------------------------------------------------- */

static void links_fill(const struct hil_step *s, const struct step_departure *d, uint64_t n)
{
    struct hil_message *m = s->message;

    m->step = n + 1;
    m->acted_on = d->back->step;
    for (unsigned i = 0; i < d->count; i++)
        m->values[i] = s->values[s->out + d->from[i]];
}

/* The general case. */
__attribute__((noinline)) static void links_send_message(const struct hil_step *s,
                                                         const struct step_departure *d, uint64_t n)
{
    links_fill(s, d, n);
    loco_owned_var_put(d->var, s->message);
}

static inline void links_send_quickly(const struct step_departure *d, uint64_t n)
{
    struct loco_triple message = {.first = n + 1, .second = d->back->step};

    memcpy(&message.third, d->value, sizeof message.third);
    loco_quick_put(&d->quick, message);
}

/* A link can be quick once a first message was sent, and again after a loss: so this is tried for
 * each new `life`. */
__attribute__((noinline)) static bool links_make_quick(struct step_departure *d, uint32_t life)
{
    return d->value && loco_quick_owner_init(&d->quick, d->var, life);
}

/* Like links_send_all, with the faults on the links. */
__attribute__((cold, noinline)) static void
links_send_faulted(const struct hil_step *s, unsigned first, unsigned end, uint64_t n)
{
    for (unsigned i = first; i < end; i++) {
        const struct step_departure *d = &s->departures[i];
        if (!s->computed && d->computed)
            continue;
        links_fill(s, d, n);
        const struct hil_message *carried = hil_fault_links_carry(s->faults, d, s->message);
        if (carried)
            loco_owned_var_put(d->var, carried);
    }
}

static void links_send_all(const struct hil_step *s, unsigned first, unsigned end, uint64_t n)
{
    const uint32_t life = loco_quick_begin(s->fabric);
    struct step_departure *d = &s->departures[first];

    for (unsigned left = end - first; left > 0; left--, d++) {
        if (left > STEP_AHEAD)
            hil_step_fetch_out(d + STEP_AHEAD);
        if (!s->computed && d->computed)
            continue;
        if (life && (d->quick.life == life || links_make_quick(d, life)))
            links_send_quickly(d, n);
        else
            links_send_message(s, d, n);
    }
}

/* Any departures. */
__attribute__((noinline)) static void links_send(const struct hil_step *s, unsigned first,
                                                 unsigned end, uint64_t n)
{
    const bool together = end - first > 1;

    if (together)
        loco_hold(s->node->mgr);
    if (__builtin_expect(s->faulted, 0))
        links_send_faulted(s, first, end, n);
    else
        links_send_all(s, first, end, n);
    if (together)
        loco_release(s->node->mgr);
}

/* The only departure of a plant, which makes many steps, is nearly always quick. */
void hil_step_send_some(const struct hil_step *s, unsigned first, unsigned end, uint64_t n)
{
    const struct step_departure *d = &s->departures[first];

    if (end - first == 1 && d->quick.life && s->computed && !s->faulted &&
        loco_quick_begin(s->fabric) == d->quick.life)
        links_send_quickly(d, n);
    else
        links_send(s, first, end, n);
}

/* --- round trips ------------------------------------------------------------------------------ */

/* Consecutive links that answered the same step, which took the same time. */
struct links_trips {
    uint64_t acted_on, ns;
    unsigned count;
    const struct step_arrival *first;
};

static void links_count_trips(const struct hil_step *s, const struct links_trips *trips,
                              uint64_t now)
{
    struct hil_link_figures *figures = &s->figures[trips->first->figures];

    hil_step_count(&figures->round_trip, &figures->longest, trips->ns, trips->count,
                   trips->first->link, now);
}

/* Begins to count round trips to the step that this link answered. */
__attribute__((noinline)) static void links_begin_trips(const struct hil_step *s,
                                                        struct links_trips *trips,
                                                        const struct step_arrival *a, uint64_t n,
                                                        uint64_t now)
{
    if (trips->count)
        links_count_trips(s, trips, now);
    *trips = (struct links_trips){0};
    if (n + 1 - a->acted_on >= STEP_SENT_MAX || a->acted_on <= s->node->loop.first)
        return;
    *trips = (struct links_trips){
        .acted_on = a->acted_on,
        .ns = now - s->sent_ns[a->acted_on % STEP_SENT_MAX],
        .count = 1,
        .first = a,
    };
}

/* Counts a round trip: `now` is when this node sees the first answer to an earlier step of its own.
 * Its duration is unknown, and not counted, if the step is too long ago or was before this node
 * restarted. */
static inline void links_add_trip(const struct hil_step *s, struct links_trips *trips,
                                  const struct step_arrival *a, uint64_t n, uint64_t now)
{
    if (trips->acted_on == a->acted_on)
        trips->count++;
    else if (a->answers)
        links_begin_trips(s, trips, a, n, now);
}

/* --- receiving -------------------------------------------------------------------------------- */

/* Takes the message in s->message, which came over this link. */
static void links_take_message(const struct hil_step *s, struct step_arrival *a)
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

/* The general case. Returns whether there was a new message. */
static bool links_take_any(const struct hil_step *s, struct step_arrival *a)
{
    if (loco_owned_var_load(a->var, s->message)) {
        hil_step_torn(s);
        return false;
    }
    if (s->message->step == a->step)
        return false;
    links_take_message(s, a);
    return true;
}

/* Infinities and NaNs have an exponent of ones. */
static inline bool links_is_number(uint64_t bits)
{
    return bits << 1 < UINT64_C(0xffe) << 52;
}

/* Takes the message if there is a new one. Returns false, with nothing taken, if the message is not
 * complete and ordinary. */
static inline bool links_take_quickly(const struct hil_step *s, struct step_arrival *a, uint64_t n,
                                      uint64_t now, struct links_trips *trips)
{
    const uint64_t acted_on = a->acted_on;
    struct loco_triple message;
    double value;

    if (a->general || a->suspect || !loco_quick_load(&a->quick, &message) ||
        !links_is_number(message.third))
        return false;
    if (message.first == a->step)
        return true;
    memcpy(&value, &message.third, sizeof value);
    a->step = message.first;
    a->acted_on = message.second;
    s->values[a->at] = value;
    s->values[a->to] = value;
    a->there = a->fresh = true;
    if (message.second > acted_on)
        links_add_trip(s, trips, a, n, now);
    return true;
}

/* The same for any link and message. */
__attribute__((noinline)) static void links_take(const struct hil_step *s, struct step_arrival *a,
                                                 uint64_t n, uint64_t now,
                                                 struct links_trips *trips)
{
    const uint64_t acted_on = a->acted_on;

    if (s->goes_on && hil_step_is_away(s, a, n, now))
        return;
    if (links_take_quickly(s, a, n, now, trips))
        return;
    if (__atomic_load_n(a->quick.copy, __ATOMIC_RELAXED) == a->step || !links_take_any(s, a))
        return;
    if (a->acted_on > acted_on)
        links_add_trip(s, trips, a, n, now);
}

/* --- ages ------------------------------------------------------------------------------------- */

static inline void links_add_oldest(struct step_oldest *oldest, uint64_t age, unsigned link)
{
    if (!oldest->arrived || age > oldest->age)
        *oldest = (struct step_oldest){age, link, true};
}

/* Judges the links one by one. */
__attribute__((cold, noinline)) static int
links_judge_each(struct hil_step *s, struct step_arrival *first, const struct step_arrival *end,
                 uint64_t n, uint64_t now, struct step_oldest *oldest)
{
    int rc = 0;

    for (struct step_arrival *a = first; a < end; a++) {
        const uint64_t age = hil_input_age(&a->input, a->step, now);
        if ((a->suspect || a->input.limit_ns < age) && hil_step_judge(s, a, n, age, now))
            rc = -ESTALE;
        if (a->step && !a->away)
            links_add_oldest(oldest, age, a->link);
    }
    return rc;
}

static inline void links_note_reached(struct hil_step *s, uint64_t due)
{
    s->reached_ns = due < s->reached_ns ? due : s->reached_ns;
}

/* --- all links -------------------------------------------------------------------------------- */

/* Takes what has come over `count` alike links, which begin with `first`, and judges its age. Of
 * the node's links, `left` are left. Returns 0, or -ESTALE if that ends the run. */
static inline int links_take_alike(struct hil_step *s, struct step_arrival *first, unsigned count,
                                   unsigned left, uint64_t n, uint64_t now,
                                   struct step_oldest *oldest)
{
    const bool ordinary = !s->goes_on;
    const struct step_arrival *eldest = first, *end = first + count;
    struct links_trips trips = {0};
    bool suspect = false;

    for (struct step_arrival *a = first; a < end; a++, left--) {
        if (left > STEP_AHEAD)
            hil_line_fetch(a[STEP_AHEAD].quick.copy);
        if (!ordinary || !links_take_quickly(s, a, n, now, &trips)) {
            links_take(s, a, n, now, &trips);
            suspect |= a->suspect;
        }
        eldest = a->step < eldest->step ? a : eldest;
    }
    if (trips.count)
        links_count_trips(s, &trips, now);

    const uint64_t age = hil_input_age(&eldest->input, eldest->step, now);
    if (s->continuous == 0)
        links_note_reached(s, hil_input_due(&eldest->input, eldest->step));
    if (__builtin_expect(suspect || !eldest->step || eldest->input.limit_ns < age, 0))
        return links_judge_each(s, first, end, n, now, oldest);
    links_add_oldest(oldest, age, age ? eldest->link : first->link);
    return 0;
}

int hil_step_take_all(struct hil_step *s, uint64_t n, uint64_t now, struct step_oldest *kept)
{
    struct step_oldest oldest = {0}; /* in the present array */
    uint64_t oldest_of_all = 0;
    int rc = 0;

    if (s->continuous == 0)
        s->reached_ns = UINT64_MAX;
    s->unfit = s->failed + s->stale;
    if (__builtin_expect(s->has_ages, 0))
        s->unfit += s->old;
    for (unsigned i = 0, count; i < s->arrival_count; i += count) {
        struct step_arrival *first = &s->arrivals[i];
        const unsigned left = s->arrival_count - i;
        count = first->alike < left ? first->alike : left; /* a shard may end in between */
        rc |= links_take_alike(s, first, count, left, n, now, &oldest);
        const struct step_arrival *last = first + count - 1;
        if (!last->ends_array)
            continue;
        if (kept)
            *kept++ = oldest;
        else if (oldest.arrived)
            hil_step_count_age(s, last, oldest.age, oldest.link, now);
        oldest_of_all = oldest.age > oldest_of_all ? oldest.age : oldest_of_all;
        oldest = (struct step_oldest){0};
    }
    if (kept) /* of an array that goes on in the next shard */
        *kept = oldest;
    else
        s->node->loop.input_age_ns = oldest_of_all;
    return rc;
}

/* --- tracing ---------------------------------------------------------------------------------- */

void hil_step_trace_newer(void *node, struct hil_traced_step *to)
{
    const struct hil_step *s = ((struct hil_node *)node)->step;

    for (unsigned i = 0; i < s->arrival_count; i++) {
        struct step_arrival *a = &s->arrivals[i];
        if ((uint32_t)a->step == a->traced)
            continue;
        a->traced = (uint32_t)a->step;
        hil_trace_newer(to, a->link, a->step, a->acted_on);
    }
}

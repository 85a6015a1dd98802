/*
 * The links in a step: sending, and taking what has come. With a thousand of them this is most of
 * the step, so what is the same for many is done once for all of them, and what is rare is apart
 * (step_judge.c).
 */
#ifndef HIL_STEP_LINKS_H
#define HIL_STEP_LINKS_H

#include "step_parts.h"

/* Of the links of an array, or of those of them that a shard has, what came last over which had
 * been sent longest ago. */
struct step_oldest {
    uint64_t age;
    unsigned link;
    bool arrived; /* over one of them */
};

/* The receivers have read what was sent before, so the lines of the messages are at other
 * processors. They come here while the node before this one does its step. */
static inline void hil_step_prefetch(const struct hil_step *s, unsigned first, unsigned count)
{
    for (const struct step_departure *d = s->departures + first; count > 0; d++, count--)
        if (d->quick.life)
            loco_prefetch_to_write(d->quick.there);
        else
            loco_owned_var_prefetch(d->var);
}

/* A core does not wait for this many lines at once. If there are more, one comes while each of the
 * sampled components computes. */
enum { STEP_FETCHED = 32 };

static inline void hil_step_prefetch_first(const struct hil_step *s)
{
    const unsigned most = s->early + STEP_FETCHED;

    hil_step_prefetch(s, 0, s->departure_count < most ? s->departure_count : most);
}

/* Sends the departures from `first` up to `end` at step n. What goes to several nodes is sent
 * together. */
void hil_step_send_some(const struct hil_step *step, unsigned first, unsigned end, uint64_t n);

static inline void hil_step_send(const struct hil_step *s, unsigned first, unsigned end, uint64_t n)
{
    if (first < end)
        hil_step_send_some(s, first, end, n);
}

/* Counts how old an array's oldest link was, of which this is an arrival. */
void hil_step_count_age(const struct hil_step *step, const struct step_arrival *of_array,
                        uint64_t age, unsigned link, uint64_t now);

/* Takes what has come by step n, which begins `now`. The oldest of each array's links is counted,
 * or, of a shard, kept in `kept`. Returns 0, or -ESTALE when that ends the run. */
int hil_step_take_all(struct hil_step *step, uint64_t n, uint64_t now, struct step_oldest *kept);

/* Whether nothing has come since the step before, over the only link of a plant, about which there
 * is nothing else to be found out but its age. */
static inline bool hil_step_is_quiet(const struct hil_step *s)
{
    const struct step_arrival *a = s->arrivals;

    return s->arrival_count == 1 && s->continuous && !s->goes_on && !s->has_ages && !a->suspect &&
           a->step && __atomic_load_n(a->quick.copy, __ATOMIC_RELAXED) == a->step;
}

/* The same of a node without shards. A plant is quiet in most of its steps, and has many of them:
 * so that is done here. */
static inline int hil_step_take(struct hil_step *s, uint64_t n, uint64_t now)
{
    const struct step_arrival *a = s->arrivals;

    if (!hil_step_is_quiet(s))
        return hil_step_take_all(s, n, now, NULL);
    const uint64_t age = hil_input_age(&a->input, a->step, now);
    if (__builtin_expect(a->input.limit_ns < age, 0))
        return hil_step_take_all(s, n, now, NULL);
    s->unfit = s->failed + s->stale;
    s->node->loop.input_age_ns = age;
    hil_step_count_age(s, a, age, a->link, now);
    return 0;
}

/* --- what is rare ---------------------------------------------------------------------------- */

/* Whether the sender is away at this step, in a run that goes on without it. It is back with its
 * first message. */
bool hil_step_is_away(const struct hil_step *step, struct step_arrival *arrival, uint64_t n,
                      uint64_t now);

/* What the scenario says of an input that is older than its limit, or no number too often. What
 * comes from a node that died is a loss, and not stale as well. Returns 0, or -ESTALE when that
 * ends the run. */
int hil_step_judge(struct hil_step *step, struct step_arrival *arrival, uint64_t n, uint64_t age,
                   uint64_t now);

/* A message stayed torn. */
void hil_step_torn(const struct hil_step *step);

/* Tells the tracer of a message that was taken. */
void hil_step_trace_input(const struct hil_step *step, const struct step_arrival *arrival,
                          uint64_t n, uint64_t round_trip_ns);

#endif

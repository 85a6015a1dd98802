/*
 * The links in a step: sending and receiving. With a thousand links this is most of the step. So
 * work that many links share is done once for all of them, and rare cases are in another file
 * (step_judge.c).
 */
#ifndef HIL_STEP_LINKS_H
#define HIL_STEP_LINKS_H

#include "step_parts.h"

/* The link whose newest value is the oldest, among the links of an array or those of them that a
 * shard has. */
struct step_oldest {
    uint64_t age;
    unsigned link;
    bool arrived; /* a value has come over at least one link */
};

/* How many lines are prefetched ahead: about as many as a core can wait for at once. */
enum { STEP_AHEAD = 16 };

/* Prefetches the line that the departure's message goes to. The receiver has read the previous
 * message, so the line is in another processor's cache. */
static inline void hil_step_fetch_out(const struct step_departure *d)
{
    if (d->quick.life)
        loco_prefetch_to_write(d->quick.there);
    else
        loco_owned_var_prefetch(d->var);
}

/* Prefetches the first lines of departures first..end - 1. Sending them prefetches the others. */
static inline void hil_step_fetch_first_out(const struct hil_step *s, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end && i < first + STEP_AHEAD; i++)
        hil_step_fetch_out(&s->departures[i]);
}

/* Prefetches the first lines of the arrivals. Taking them prefetches the others. */
static inline void hil_step_fetch_first_in(const struct hil_step *s)
{
    for (unsigned i = 0; i < s->arrival_count && i < STEP_AHEAD; i++)
        hil_line_fetch(s->arrivals[i].quick.copy); /* its sender has written it */
}

/* Prefetches the lines that the step needs first. They arrive while the node before this one does
 * its step. */
static inline void hil_step_fetch_first(const struct hil_step *s)
{
    hil_step_fetch_first_in(s);
    hil_step_fetch_first_out(s, 0, s->early);
}

/* Sends departures first..end - 1 at step n. Messages to several nodes are sent together. */
void hil_step_send_some(const struct hil_step *step, unsigned first, unsigned end, uint64_t n);

static inline void hil_step_send(const struct hil_step *s, unsigned first, unsigned end, uint64_t n)
{
    if (first < end)
        hil_step_send_some(s, first, end, n);
}

/* Counts times of links. If they are the greatest so far, keeps the first link and the time. */
static inline void hil_step_count(struct hil_histogram *times, struct hil_link_moment *greatest,
                                  uint64_t ns, unsigned count, unsigned link, uint64_t now)
{
    if (__builtin_expect(ns > times->max || times->count == 0, 0))
        *greatest = (struct hil_link_moment){link, now};
    hil_histogram_add_many(times, ns, count);
}

/* Counts the age of an array's oldest link; `of_array` is any arrival of that array. */
static inline void hil_step_count_age(const struct hil_step *s, const struct step_arrival *of_array,
                                      uint64_t age, unsigned link, uint64_t now)
{
    struct hil_link_figures *figures = &s->figures[of_array->figures];

    hil_step_count(&figures->input_age, &figures->oldest, age, 1, link, now);
    s->node->loop.has_input = true;
}

/* Takes what has come by step n, which begins at `now`. The oldest link of each array is counted
 * or, in a shard, stored to `kept`. Returns 0, or -ESTALE if that ends the run. */
int hil_step_take_all(struct hil_step *step, uint64_t n, uint64_t now, struct step_oldest *kept);

/* Whether nothing new has come over the only link of a plant, and only its age is left to judge. */
static inline bool hil_step_is_quiet(const struct hil_step *s)
{
    const struct step_arrival *a = s->arrivals;

    return s->arrival_count == 1 && s->continuous && !s->goes_on && !s->has_ages && !a->suspect &&
           a->step && __atomic_load_n(a->quick.copy, __ATOMIC_RELAXED) == a->step;
}

/* Like hil_step_take_all, for a node without shards. Plants are quiet in most of their many steps,
 * so that case is inlined here. */
__attribute__((always_inline)) static inline int hil_step_take(struct hil_step *s, uint64_t n,
                                                               uint64_t now)
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

/* --- rare cases (step_judge.c) ---------------------------------------------------------------- */

/* Whether the sender is away at this step, in a run that goes on without it. Its first message
 * brings it back. */
bool hil_step_is_away(const struct hil_step *step, struct step_arrival *arrival, uint64_t n,
                      uint64_t now);

/* Does what the scenario says about an input that is older than its limit, or that was bad too many
 * times. A link whose sender died counts as lost, not also as stale. Returns 0, or -ESTALE if that
 * ends the run. */
int hil_step_judge(struct hil_step *step, struct step_arrival *arrival, uint64_t n, uint64_t age,
                   uint64_t now);

/* Counts a message that stayed torn. */
void hil_step_torn(const struct hil_step *step);

#endif

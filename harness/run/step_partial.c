/* Messages that have values which are not numbers. */
#include <string.h>

#include "step_parts.h"

void hil_step_begin_again(const struct hil_step *s, struct step_range copies)
{
    for (unsigned i = 0; i < copies.count; i++) {
        const struct step_copy *c = &s->copies[copies.first + i];
        if (!s->came[c->from - s->arrived].came)
            s->values[c->to] = s->beginning[c->to];
    }
}

/* Takes the values first..end - 1 of the arrival, which come from one component. */
static void partial_take_component(const struct hil_step *s, const struct step_arrival *a,
                                   unsigned first, unsigned end)
{
    const double *values = s->message->values;
    const bool good = hil_all_numbers(values + first, end - first);

    for (unsigned i = first; i < end; i++) {
        struct step_came *c = &s->came[a->at + i - s->arrived];
        c->bad = good ? 0 : c->bad + 1;
        if (!good)
            continue;
        c->came = true;
        s->values[a->at + i] = values[i];
    }
}

void hil_step_take_partial(const struct hil_step *s, struct step_arrival *a)
{
    const struct hil_link *link = &s->node->run->scenario->system->links[a->link];
    struct step_came *came = s->came + (a->at - s->arrived);

    for (unsigned i = 0; a->there && !a->partial && i < a->count; i++)
        came[i].came = true;
    a->partial = false;
    a->input.bad = 0;
    for (unsigned first = 0, end; first < a->count; first = end) {
        for (end = first + 1; end < a->count && link->components[end] == link->components[first];)
            end++;
        partial_take_component(s, a, first, end);
        a->partial |= !came[first].came;
        a->input.bad = came[first].bad > a->input.bad ? came[first].bad : a->input.bad;
    }
    hil_step_copy(s, a->early);
    hil_step_begin_again(s, a->early);
    a->there = a->fresh = a->suspect = true;
    s->node->run->state->links[a->link].bad++;
}

void hil_step_forget_partial(const struct hil_step *s, struct step_arrival *a)
{
    memset(s->came + (a->at - s->arrived), 0, a->count * sizeof *s->came);
    a->partial = false;
    a->input.bad = 0;
}

bool hil_step_takes_bad(const struct hil_step *s, const struct step_part *p,
                        const struct step_arrival *a)
{
    const struct hil_component *c = p->config;

    for (unsigned i = c->in; i < c->in + c->in_count; i++) {
        const struct hil_feed *feed = &s->node->config->feeds[i];
        if (feed->kind == HIL_FEED_LINK && feed->from == a->link &&
            s->came[a->at + feed->at - s->arrived].bad >= a->input.bad_limit)
            return true;
    }
    return false;
}

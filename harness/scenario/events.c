#include "events.h"

#include <errno.h>
#include <stdlib.h>

static const uint64_t WINDOW_MOST_NS = 1000000000;

static const struct hil_profile *events_profile(const struct hil_scenario *s,
                                                enum hil_event_quantity quantity)
{
    return quantity == HIL_EVENT_REFERENCE ? &s->reference
           : quantity == HIL_EVENT_LOAD    ? &s->load
                                           : &s->input_voltage;
}

/* An event for each change that is one, and that comes before the end of the run. */
static unsigned events_of_profile(const struct hil_scenario *s, enum hil_event_quantity quantity,
                                  struct hil_event *events)
{
    const struct hil_profile *p = events_profile(s, quantity);
    double from = p->initial;
    unsigned count = 0;

    for (unsigned i = 0; i < p->count && p->changes[i].start_ns < s->duration_ns; i++) {
        const struct hil_change *change = &p->changes[i];
        if (change->value != from) {
            struct hil_event *e = &events[count++];
            *e = (struct hil_event){.begin_ns = change->start_ns,
                                    .over_ns = change->start_ns + change->ramp_ns};
            e->changes[quantity] = (struct hil_event_change){true, from, change->value};
        }
        from = change->value;
    }
    return count;
}

static int events_compare(const void *a, const void *b)
{
    const struct hil_event *one = a, *other = b;

    return (one->begin_ns > other->begin_ns) - (one->begin_ns < other->begin_ns);
}

static void events_join(struct hil_event *event, const struct hil_event *other)
{
    event->startup |= other->startup;
    if (other->over_ns > event->over_ns)
        event->over_ns = other->over_ns;
    for (int i = 0; i < HIL_EVENT_MAX; i++) {
        const struct hil_event_change *change = &other->changes[i];
        struct hil_event_change *to = &event->changes[i];
        if (change->there)
            *to = (struct hil_event_change){true, to->there ? to->from : change->from, change->to};
    }
}

/* Events at the same time become one. Returns how many are left. */
static unsigned events_join_all(struct hil_event *events, unsigned count)
{
    unsigned kept = 0;

    for (unsigned i = 1; i < count; i++) {
        if (events[i].begin_ns == events[kept].begin_ns)
            events_join(&events[kept], &events[i]);
        else
            events[++kept] = events[i];
    }
    return kept + 1;
}

/* A ramp may go on while the next event begins: that one is not over before the ramp is. */
static void events_set_times(struct hil_event *events, unsigned count, uint64_t duration_ns)
{
    for (unsigned i = 0; i < count; i++) {
        struct hil_event *e = &events[i];
        e->end_ns = i + 1 < count ? events[i + 1].begin_ns : duration_ns;
        if (i > 0 && events[i - 1].over_ns > e->over_ns)
            e->over_ns = events[i - 1].over_ns;
    }
    for (unsigned i = 0; i < count; i++) {
        struct hil_event *e = &events[i];
        uint64_t left = e->end_ns > e->over_ns ? e->end_ns - e->over_ns : 0;
        uint64_t window = left / 2 < WINDOW_MOST_NS ? left / 2 : WINDOW_MOST_NS;
        e->window_ns = e->end_ns - window;
    }
}

int hil_events_make(struct hil_event **events, unsigned *count, const struct hil_scenario *s)
{
    size_t most = (size_t)1 + s->reference.count + s->load.count + s->input_voltage.count;
    struct hil_event *e = calloc(most, sizeof *e);
    unsigned n = 1;

    if (!e)
        return -ENOMEM;
    e[0].startup = true;
    for (int i = 0; i < HIL_EVENT_MAX; i++)
        n += events_of_profile(s, (enum hil_event_quantity)i, &e[n]);
    qsort(e, n, sizeof *e, events_compare);
    n = events_join_all(e, n);
    events_set_times(e, n, s->duration_ns);
    *events = e;
    *count = n;
    return 0;
}

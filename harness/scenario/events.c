#include "events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t WINDOW_MOST_NS = 1000000000;

/* Adds an event for each actual change before the end of the run. */
static unsigned events_of_source(const struct hil_scenario *s, const struct hil_source *source,
                                 struct hil_event *events)
{
    const struct hil_profile *p = &source->steps;
    double from = p->initial;
    unsigned count = 0;

    for (unsigned i = 0; i < p->count && p->changes[i].start_ns < s->duration_ns; i++) {
        const struct hil_change *change = &p->changes[i];
        if (change->value != from)
            events[count++] = (struct hil_event){.begin_ns = change->start_ns,
                                                 .over_ns = change->start_ns + change->ramp_ns};
        from = change->value;
    }
    return count;
}

static int events_compare(const void *a, const void *b)
{
    const struct hil_event *one = a, *other = b;

    return (one->begin_ns > other->begin_ns) - (one->begin_ns < other->begin_ns);
}

/* Combines events at the same time. Returns the number of events left. */
static unsigned events_join_all(struct hil_event *events, unsigned count)
{
    unsigned kept = 0;

    for (unsigned i = 1; i < count; i++) {
        struct hil_event *event = &events[kept];
        if (events[i].begin_ns != event->begin_ns) {
            events[++kept] = events[i];
            continue;
        }
        event->startup |= events[i].startup;
        if (events[i].over_ns > event->over_ns)
            event->over_ns = events[i].over_ns;
    }
    return kept + 1;
}

/* If a ramp continues while the next event begins, that event is not over before the ramp is. */
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

static size_t events_most(const struct hil_system *system)
{
    size_t most = 1;

    for (unsigned i = 0; i < system->source_count; i++)
        if (system->sources[i].kind == HIL_SOURCE_STEPS)
            most += system->sources[i].steps.count;
    return most;
}

int hil_events_make(struct hil_event **events, unsigned *count, const struct hil_scenario *s)
{
    struct hil_event *e = calloc(events_most(s->system), sizeof *e);
    unsigned n = 1;

    if (!e)
        return -ENOMEM;
    e[0].startup = true;
    for (unsigned i = 0; i < s->system->source_count; i++)
        if (s->system->sources[i].kind == HIL_SOURCE_STEPS)
            n += events_of_source(s, &s->system->sources[i], &e[n]);
    qsort(e, n, sizeof *e, events_compare);
    n = events_join_all(e, n);
    events_set_times(e, n, s->duration_ns);
    *events = e;
    *count = n;
    return 0;
}

bool hil_event_change(const struct hil_event *e, const struct hil_source *source, double *from,
                      double *to)
{
    const struct hil_profile *p = &source->steps;
    bool there = false;

    if (source->kind != HIL_SOURCE_STEPS)
        return false;
    *from = *to = p->initial;
    for (unsigned i = 0; i < p->count && p->changes[i].start_ns <= e->begin_ns; i++) {
        const struct hil_change *change = &p->changes[i];
        if (change->start_ns < e->begin_ns)
            *from = change->value;
        else
            there |= change->value != *to;
        *to = change->value;
    }
    return there;
}

/* Whoever reads the time after the name needs all of it, so the name leaves room. */
enum { EVENT_TIME_BYTES = 24 };

void hil_event_name(const struct hil_event *e, const struct hil_system *s,
                    char name[HIL_EVENT_BYTES])
{
    const size_t size = HIL_EVENT_BYTES - EVENT_TIME_BYTES;
    double from, to;

    snprintf(name, size, "%s", e->startup ? "start-up" : "");
    for (unsigned i = 0; i < s->source_count; i++) {
        const size_t used = strlen(name);
        const char *unit = s->sources[i].unit;
        if (hil_event_change(e, &s->sources[i], &from, &to))
            snprintf(name + used, size - used, "%s%s %.4g to %.4g%s%s", used ? ", " : "",
                     s->sources[i].name, from, to, *unit ? " " : "", unit);
    }
}

void hil_event_words(const struct hil_event *e, const struct hil_system *s,
                     char words[HIL_EVENT_BYTES])
{
    hil_event_name(e, s, words);
    const size_t used = strlen(words);

    if (!e->startup)
        snprintf(words + used, HIL_EVENT_BYTES - used, " at %.9g s", (double)e->begin_ns * 1e-9);
}

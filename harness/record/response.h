/*
 * How signals answered the events of a run, judged as it happens and in constant memory.
 *
 * A *measure* is a signal that should follow a reference: the sum of the outputs, or one of
 * them. Its *response* to an event is what it did from then until the next event: how far it
 * went, when it settled, and what it did in the window of its steady state. docs/figures.md
 * defines each figure.
 *
 * The responses are plain memory; each measure has one writer, which has a cursor of its own. They
 * may lie in memory that processes share.
 */
#ifndef HIL_RESPONSE_H
#define HIL_RESPONSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../scenario/events.h"
#include "samples.h"

struct hil_response {
    double band; /* to either side of the reference; 0: a share of that */
    uint64_t count;
    uint64_t last_ns;        /* of the newest sample */
    double first, last;      /* samples */
    double before_reference; /* at the end of the event before */
    double reference;        /* the newest */
    double min, max;
    uint64_t min_ns, max_ns;

    /* Once the change is over: since when it is in the band without a break. */
    bool judged, inside;
    uint64_t inside_ns, inside_count;

    /* Of the window so far: the samples of that stretch, and those before it. */
    struct hil_samples settled, unsettled;
};

/* The responses of all measures to all events. */
struct hil_responses {
    struct hil_event *events;
    struct hil_response *at; /* by event, then by measure */
    unsigned event_count, measure_count;
    _Atomic unsigned now; /* the newest event that has a sample */
};

/* Where a writer is in the events. It begins with zero. */
struct hil_cursor {
    unsigned now;    /* the event that its newest sample is of */
    unsigned before; /* the one before that had samples; late steps may leave some out */
    uint64_t newest_ns;
};

/* The memory that they take. */
size_t hil_responses_size(unsigned events, unsigned measures);

/* Lays them out in `memory`, which is zero. */
void hil_responses_init(struct hil_responses *responses, void *memory,
                        const struct hil_event *events, unsigned event_count,
                        unsigned measure_count);

/* The measure has a band of so much to either side, in its own unit; 0: a share of its reference.
 */
void hil_responses_set_band(struct hil_responses *responses, unsigned measure, double band);

/* Touches the memory, so that no sample costs a page fault. */
void hil_responses_prepare(struct hil_responses *responses);

/* A time at which each of a writer's measures has a sample. */
struct hil_moment {
    uint64_t t_ns;
    const struct hil_event *event;
    struct hil_response *before, *at; /* the responses to the event before and to this */
    bool over;                        /* nothing changes any more */
    bool window_begins;               /* with this sample */
};

/* Times do not go back. */
struct hil_moment hil_responses_at(struct hil_responses *responses, struct hil_cursor *cursor,
                                   uint64_t t_ns);

/* Adds a sample of a measure, and the reference of that time; NAN: it has none. */
void hil_response_add(const struct hil_moment *moment, unsigned measure, double reference,
                      double value);

/* Samples that came one after another since a moment: a row for each time, which has values and
 * references of several measures. */
enum { HIL_SERIES_MAX = 8 };

struct hil_response_series {
    unsigned count; /* at least one */
    uint64_t t_ns[HIL_SERIES_MAX];
    const double *rows[HIL_SERIES_MAX];
};

/* Adds a measure's samples, of which `reference` and `value` say where they are in the rows; it has
 * had that of the moment. The result is the same as of adding them one by one, for less. */
void hil_response_add_series(const struct hil_moment *moment, unsigned measure,
                             const struct hil_response_series *series, unsigned reference,
                             unsigned value);

/* Whether `later`, the moment of the same writer's next sample, is one of those that can be added
 * in a series with it. */
static inline bool hil_moment_goes_on(const struct hil_moment *moment,
                                      const struct hil_moment *later)
{
    return later->at == moment->at && later->before == moment->before &&
           later->over == moment->over && !later->window_begins;
}

/* The figures. NAN: there is none. */
struct hil_figures {
    double reference, last;    /* at the end, which is last_s */
    double band;               /* to either side of the reference, at the end */
    double extreme, extreme_s; /* the furthest that it went, and when */
    double deviation;          /* of the extreme from the reference; below: negative */
    double overshoot_pct; /* beyond the new reference, of the change; NAN: not a change of it */
    double deviation_pct; /* of the reference; NAN: that is within the band of 0 */
    double settling_ms;   /* from the end of the change; NAN: it did not settle */
    bool settled;
    double min, min_s, max, max_s, last_s;
    double from_s, to_s; /* the window: its first and its last sample */
    double mean, pp, rms_deviation;
};

void hil_responses_figures(const struct hil_responses *responses, unsigned event, unsigned measure,
                           struct hil_figures *figures);

/* The one of `count` measures from `first` on that answered the event worst: of those that did not
 * settle the one that swings most, else the one that took longest. */
unsigned hil_responses_worst(const struct hil_responses *responses, unsigned event, unsigned first,
                             unsigned count);

#endif

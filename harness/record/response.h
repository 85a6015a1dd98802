/*
 * Judges how signals responded to the events of a run, during the run and in constant memory.
 *
 * A *measure* is a signal that should follow a reference: the sum of the outputs, or one of them.
 * Its *response* to an event is its course from then until the next event: how far it went, when it
 * settled, and its values in the window of the steady state. docs/figures.md defines each figure.
 *
 * The responses are plain memory, which processes may share. Each measure has one writer, which has
 * its own cursor.
 */
#ifndef HIL_RESPONSE_H
#define HIL_RESPONSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../scenario/events.h"
#include "samples.h"

/* How far a measure has risen, or fallen, to a new reference. */
enum hil_rise { HIL_RISE_BEFORE, HIL_RISE_UNDER_WAY, HIL_RISE_OVER, HIL_RISE_UNSEEN };

struct hil_response {
    double band; /* half-width around the reference; 0: a share of the reference */
    uint64_t count;
    uint64_t last_ns;        /* time of the newest sample */
    double first, last;      /* first and newest sample */
    double before_reference; /* reference at the end of the event before */
    double reference;        /* newest reference */
    double min, max;
    uint64_t min_ns, max_ns;

    /* The course of the rise from before the event to the newest reference. */
    unsigned risen;    /* an enum hil_rise */
    double rise_ns[2]; /* when it passed the lower and the upper share */

    /* Once the change is over: whether it is in the band, and since when without a break. */
    bool judged, inside;
    uint64_t inside_ns, inside_count;

    /* The window so far: the samples of the settled stretch, and the samples before it. */
    struct hil_samples settled, unsettled;
};

/* The responses of all measures to all events. */
struct hil_responses {
    struct hil_event *events;
    struct hil_response *at; /* indexed by event, then by measure */
    unsigned event_count, measure_count;
    _Atomic unsigned now; /* the newest event that has a sample */
};

/* A writer's position in the events. Initially zero. */
struct hil_cursor {
    unsigned now;    /* event of its newest sample */
    unsigned before; /* the last earlier event with samples; late steps may skip some events */
    uint64_t newest_ns;
};

/* The memory that they need. */
size_t hil_responses_size(unsigned events, unsigned measures);

/* Initializes them in `memory`, which must be zero. */
void hil_responses_init(struct hil_responses *responses, void *memory,
                        const struct hil_event *events, unsigned event_count,
                        unsigned measure_count);

/* Sets the half-width of the measure's band, in its own unit; 0: a share of its reference. */
void hil_responses_set_band(struct hil_responses *responses, unsigned measure, double band);

/* A time at which each of a writer's measures has a sample. */
struct hil_moment {
    uint64_t t_ns;
    const struct hil_event *event;
    struct hil_response *before, *at; /* responses to the event before and to the current one */
    bool over;                        /* all changes have ended */
    bool window_begins;               /* this sample begins the window */
};

/* Times must not decrease. */
struct hil_moment hil_responses_at(struct hil_responses *responses, struct hil_cursor *cursor,
                                   uint64_t t_ns);

/* Adds a sample of a measure, and the reference at that time (NAN: none). */
void hil_response_add(const struct hil_moment *moment, unsigned measure, double reference,
                      double value);

/* Consecutive samples after a moment. There is a row for each time, with values and references of
 * several measures. */
enum { HIL_SERIES_MAX = 16 };

struct hil_response_series {
    unsigned count; /* at least one, at most HIL_SERIES_MAX */
    const uint64_t *t_ns;
    const double *const *rows;
};

/* Adds a measure's samples; `reference` and `value` are its positions in the rows. The sample of
 * the moment itself must have been added before. The result is the same as of adding them one by
 * one, at a lower cost. */
void hil_response_add_series(const struct hil_moment *moment, unsigned measure,
                             const struct hil_response_series *series, unsigned reference,
                             unsigned value);

/* Whether `later`, the moment of the same writer's next sample, can be added in one series with
 * `moment`. */
static inline bool hil_moment_goes_on(const struct hil_moment *moment,
                                      const struct hil_moment *later)
{
    return later->at == moment->at && later->before == moment->before &&
           later->over == moment->over && !later->window_begins;
}

/* The figures. NAN: not available. */
struct hil_figures {
    double reference, last;    /* at last_s, the end */
    double band;               /* half-width around the reference at the end */
    double extreme, extreme_s; /* the value furthest away, and its time */
    double deviation;          /* extreme minus reference; below it is negative */
    double overshoot_pct; /* beyond the new reference, in percent of the change; NAN: the reference
                           * did not change */
    double deviation_pct; /* in percent of the reference; NAN: the reference is within the band
                           * around 0 */
    double rise_time_ms;  /* from 10 to 90 % of the change; NAN: there is no such time */
    double settling_ms;   /* from the end of the change; NAN: it did not settle */
    bool settled;
    double min, min_s, max, max_s, last_s;
    double from_s, to_s; /* times of the first and last sample in the window */
    double mean, pp, rms_deviation;
    double steady_error; /* mean minus reference */
};

void hil_responses_figures(const struct hil_responses *responses, unsigned event, unsigned measure,
                           struct hil_figures *figures);

/* The measure with the worst response to the event, among `count` measures from `first` on: the one
 * that swings most among those that did not settle, or else the one that took longest. */
unsigned hil_responses_worst(const struct hil_responses *responses, unsigned event, unsigned first,
                             unsigned count);

/* The worst response by the same order, from event `from` to the newest. This is what stands for a
 * measure or an array of measures wherever there is room for one figure only. */
struct hil_worst_response {
    unsigned event, measure;
    struct hil_figures figures;
};
struct hil_worst_response hil_responses_worst_of_all(const struct hil_responses *responses,
                                                     unsigned from, unsigned first, unsigned count);

#endif

/*
 * The events of a run: its start, and each change of a source that makes steps. What a measure does
 * is judged event by event.
 *
 *      begin_ns       over_ns            window_ns          end_ns
 *      |--- ramps ----|------ settles ---|===== window =====|  the next event, or the end
 *
 * Changes that begin at the same time are one event.
 */
#ifndef HIL_EVENTS_H
#define HIL_EVENTS_H

#include "system.h"

struct hil_event {
    uint64_t begin_ns;
    uint64_t over_ns;   /* every ramp that was under way has ended: what is measured may settle */
    uint64_t end_ns;    /* the next event begins, or the run ends */
    uint64_t window_ns; /* the figures of the steady state are from here on, at the earliest */
    bool startup;
};

/* Makes the list, in the order of time; the first is the start-up. It is to be freed. Returns 0
 * or -ENOMEM. */
int hil_events_make(struct hil_event **events, unsigned *count,
                    const struct hil_scenario *scenario);

/* Whether the source is among what changes then; if so, from what to what. */
bool hil_event_change(const struct hil_event *event, const struct hil_source *source, double *from,
                      double *to);

#endif

/*
 * The events of a run: its start, and each change of the reference, the load and the input
 * voltage. What an output does is judged event by event.
 *
 *      begin_ns       over_ns            window_ns          end_ns
 *      |--- ramps ----|------ settles ---|===== window =====|  the next event, or the end
 *
 * Changes that begin at the same time are one event.
 */
#ifndef HIL_EVENTS_H
#define HIL_EVENTS_H

#include "scenario.h"

enum hil_event_quantity { HIL_EVENT_REFERENCE, HIL_EVENT_LOAD, HIL_EVENT_INPUT, HIL_EVENT_MAX };

struct hil_event {
    uint64_t begin_ns;
    uint64_t over_ns;   /* every ramp that was under way has ended: the output may settle */
    uint64_t end_ns;    /* the next event begins, or the run ends */
    uint64_t window_ns; /* the figures of the steady state are from here on, at the earliest */
    bool startup;
    /* What changes, for a converter whose load and input voltage are those of the scenario. */
    struct hil_event_change {
        bool there;
        double from, to;
    } changes[HIL_EVENT_MAX];
};

/* Makes the list, in the order of time; the first is the start-up. It is to be freed. Returns 0
 * or -ENOMEM. */
int hil_events_make(struct hil_event **events, unsigned *count,
                    const struct hil_scenario *scenario);

#endif

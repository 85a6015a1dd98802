/*
 * The events of a run: its start, and each change of a source of kind `steps`. Measures are judged
 * event by event.
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
    uint64_t over_ns;   /* the end of all ramps that were under way; measures may settle from here
                         * on */
    uint64_t end_ns;    /* the next event begins, or the run ends */
    uint64_t window_ns; /* the steady-state figures begin here at the earliest */
    bool startup;
};

/* Makes the list in order of time, beginning with the start-up. The caller frees it. Returns 0 or
 * -ENOMEM. */
int hil_events_make(struct hil_event **events, unsigned *count,
                    const struct hil_scenario *scenario);

/* Whether the source changes in this event; if so, sets its values before and after. */
bool hil_event_change(const struct hil_event *event, const struct hil_source *source, double *from,
                      double *to);

/* "start-up", "load 10 to 8 Ohm"; and with its time: "load 10 to 8 Ohm at 0.2 s". */
enum { HIL_EVENT_BYTES = 160 };
void hil_event_name(const struct hil_event *event, const struct hil_system *system,
                    char name[HIL_EVENT_BYTES]);
void hil_event_words(const struct hil_event *event, const struct hil_system *system,
                     char words[HIL_EVENT_BYTES]);

#endif

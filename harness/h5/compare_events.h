/*
 * The events of two records side by side: trips and recoveries, faults, states. Events are alike
 * when they are of one kind, of the same thing, at the same node. Those that come within the
 * tolerance of each other agree; what is left of either record came at another time, or is missing
 * in the other.
 *
 * How the processes of a run come and go is not compared: the states init, ready and stopped.
 */
#ifndef HIL_COMPARE_EVENTS_H
#define HIL_COMPARE_EVENTS_H

#include <stdbool.h>

#include "compare.h"
#include "trace_events.h"

/* One that is in a single record, or at two times. */
struct hil_event_difference {
    const struct hil_trace_event *a, *b; /* NULL: not there */
};

struct hil_event_comparison {
    struct hil_trace_events first, second;
    bool known;                      /* both records have events */
    size_t count;                    /* what was compared: one that is in both counts once */
    struct hil_event_difference *at; /* in the order of time */
    size_t differ;
};

/* Returns 0 or a negative errno. hil_event_comparison_free in any case. */
int hil_compare_events(struct hil_event_comparison *comparison,
                       const struct hil_trace_reader *first, const struct hil_trace_reader *second,
                       const struct hil_tolerance *tolerance);
void hil_event_comparison_free(struct hil_event_comparison *comparison);

/* When the difference is first seen. */
double hil_event_difference_at(const struct hil_event_difference *difference);

#endif

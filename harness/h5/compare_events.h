/*
 * Compares the events of two records: trips and recoveries, faults, states. Two events match when
 * they have the same kind, the same subject and the same node, and agree when their times are also
 * within the tolerance. The remaining events of either record came at another time, or are missing
 * in the other record.
 *
 * The states init, ready and stopped, by which the processes of a run come and go, are not
 * compared.
 */
#ifndef HIL_COMPARE_EVENTS_H
#define HIL_COMPARE_EVENTS_H

#include <stdbool.h>

#include "compare.h"
#include "trace_events.h"

/* An event that is in one record only, or at different times in the two. */
struct hil_event_difference {
    const struct hil_trace_event *a, *b; /* NULL: not in that record */
};

struct hil_event_comparison {
    struct hil_trace_events first, second;
    bool known;                      /* both records have events */
    size_t count;                    /* events compared; one that is in both records counts once */
    struct hil_event_difference *at; /* in order of time */
    size_t differ;
};

/* Returns 0 or a negative errno. Call hil_event_comparison_free in any case. */
int hil_compare_events(struct hil_event_comparison *comparison,
                       const struct hil_trace_reader *first, const struct hil_trace_reader *second,
                       const struct hil_tolerance *tolerance);
void hil_event_comparison_free(struct hil_event_comparison *comparison);

#endif

/*
 * Reads the events of a trace as text. harness/record/event_rows.h writes them. A name that the
 * file does not have is "".
 */
#ifndef HIL_TRACE_EVENTS_H
#define HIL_TRACE_EVENTS_H

#include "trace_reader.h"

enum { HIL_EVENT_OF_BYTES = 160 };

struct hil_trace_event {
    double time_s, step;
    const char *node, *kind;     /* "converter[3]", "stale" */
    char of[HIL_EVENT_OF_BYTES]; /* "motor[3].speed_rad_per_s"; "": the node itself */
    double value;
    size_t row; /* row number in the file */
};

/* The lines of the attribute `names`. */
struct hil_trace_names {
    char *text;
    const char **at;
    size_t count;
};

/* All events in order of time. A trace without the group has none. */
struct hil_trace_events {
    struct hil_trace_event *at;
    size_t count;
    struct hil_trace_names nodes, kinds; /* storage of the names in the events */
};

/* Returns 0 or a negative errno; -EBADMSG when the group does not hold events. */
int hil_trace_events_read(struct hil_trace_events *events, const struct hil_trace_reader *trace);
void hil_trace_events_free(struct hil_trace_events *events);

#endif

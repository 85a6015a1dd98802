/* Writes the table of a record's events; shares number formatting with the tables of streams. */
#ifndef EXPORT_EVENTS_H
#define EXPORT_EVENTS_H

#include <stdio.h>

#include "../h5/trace_events.h"

/* The table's first line. */
static const char export_event_names[] = "time_s,step,node,kind,of,value\n";

/* Returns 0 or a negative errno. */
int export_write_events(const struct hil_trace_events *events, const char *path);

/* Writes a number that reads back as the same double. */
void export_number(double value, FILE *to);

#endif

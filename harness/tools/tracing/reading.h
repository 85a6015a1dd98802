/*
 * Reads all CTF traces under a folder as one sequence of events in order of time.
 */
#ifndef HIL_READING_H
#define HIL_READING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One event, valid during the call that passes it. */
struct hil_traced_event {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    int cpu;          /* -1: not in the trace */
    const char *name; /* "hiloco:loop_step" */
    const void *fields;
};

/* The value of a field; 0 or NULL when there is no field of that name and type. */
uint64_t hil_event_number(const struct hil_traced_event *event, const char *field);
const char *hil_event_text(const struct hil_traced_event *event, const char *field);

/* The numbers of a sequence: at most `max` of them. Returns how many these are. */
unsigned hil_event_numbers(const struct hil_traced_event *event, const char *field,
                           uint64_t *numbers, unsigned max);

struct hil_reader {
    void (*event)(void *arg, const struct hil_traced_event *event);
    void (*lost)(void *arg, uint64_t count); /* events for which the tracer had no room */
    void *arg;
};

/* Returns 0, or a negative errno after a line to `messages`: -ENOENT if there is no trace. */
int hil_traces_read(const char *folder, const struct hil_reader *reader, FILE *messages);

#endif

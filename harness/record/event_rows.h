/*
 * Events in a record: a group /events beside those of the nodes, with a row for each event, and a
 * dataset for each column:
 *
 *      time_s, step    when it was found, from the start of the run, at which step of the node
 *      node            whose step, by number
 *      kind            of the table in event_kinds.h
 *      of              what it is about, by number: a node, a component, one of its signals, or a
 *                      fault
 *      index, place    which of an array `of` is, and which place of a wide row
 *      value           the kind says what
 *
 * The datasets of `node`, `kind` and `of` have an attribute `names`, with a line for each number. A
 * name of an array has [*] where its index goes, and one of a wide row [#] where its place goes: so
 * there are few of them, however many components there are.
 *
 * Loops add events to a ring, one of each executor, as they add rows to a stream: hil_event_add
 * takes no lock, allocates nothing, and calls no system.
 */
#ifndef HIL_EVENT_ROWS_H
#define HIL_EVENT_ROWS_H

#include "../scenario/pool.h"
#include "../scenario/system.h"
#include "event_kinds.h"
#include "recorder.h"

/* What an event is about. All 0: nothing but its node. */
struct hil_event_of {
    uint32_t name, index, place;
};

/* Fixed for a run: found once, at set-up. */
struct hil_event_of hil_event_of_node(const struct hil_system *system, unsigned node);
struct hil_event_of hil_event_of_component(const struct hil_system *system, unsigned component);
struct hil_event_of hil_event_of_signal(const struct hil_system *system, unsigned component,
                                        bool output, unsigned number);
struct hil_event_of hil_event_of_fault(const struct hil_system *system, unsigned fault);
struct hil_event_of hil_event_of_tunable(const struct hil_system *system, unsigned tunable);

struct hil_event_row {
    double time_s; /* from the start of the run; before that it is negative */
    uint64_t step;
    uint32_t node;
    enum hil_event_kind kind;
    struct hil_event_of of;
    double value;
};

/* Adds it to the ring; NULL is allowed, and adds nothing. */
void hil_event_add(struct hil_stream *ring, const struct hil_event_row *event);

/* The stream of events of a trace; what it points at is the pool's. Returns 0 or -ENOMEM. */
int hil_event_stream(struct hil_stream_config *stream, struct hil_pool *pool,
                     const struct hil_system *system);

#endif

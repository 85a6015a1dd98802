/*
 * Events in a record: a group /events beside those of the nodes, with a row for each event, and a
 * dataset for each column:
 *
 *      time_s, step    when it was detected, from the start of the run, and its step at the node
 *      node            number of the node
 *      kind            its number in the table of event_kinds.h
 *      of              number of its subject: a node, a component, one of its signals, or a
 *                      fault
 *      index, place    index of the subject in its array, and its place in a wide row
 *      value           depends on the kind
 *
 * The datasets of `node`, `kind` and `of` have an attribute `names`, with a line for each number.
 * The name of an array has [*] in place of the index, and the name of a wide row has [#] in place
 * of the number. There are thus few names, however many components there are.
 *
 * Each executor has a ring, to which its loops add events as they add rows to a stream.
 * hil_event_add takes no lock, allocates no memory, and makes no system call.
 */
#ifndef HIL_EVENT_ROWS_H
#define HIL_EVENT_ROWS_H

#include "../base/pool.h"
#include "../scenario/system.h"
#include "event_kinds.h"
#include "recorder.h"

/* The subject of an event. All 0: only its node. */
struct hil_event_of {
    uint32_t name, index, place;
};

/* Constant for a run; find these once, during set-up. */
struct hil_event_of hil_event_of_node(const struct hil_system *system, unsigned node);
struct hil_event_of hil_event_of_component(const struct hil_system *system, unsigned component);
struct hil_event_of hil_event_of_signal(const struct hil_system *system, unsigned component,
                                        bool output, unsigned number);
struct hil_event_of hil_event_of_fault(const struct hil_system *system, unsigned fault);
struct hil_event_of hil_event_of_tunable(const struct hil_system *system, unsigned tunable);

struct hil_event_row {
    double time_s; /* from the start of the run; negative before it */
    uint64_t step;
    uint32_t node;
    enum hil_event_kind kind;
    struct hil_event_of of;
    double value;
};

/* Adds it to the ring. A NULL ring is allowed; nothing is added then. */
void hil_event_add(struct hil_stream *ring, const struct hil_event_row *event);

/* Configures the stream of events of a trace, in memory of the pool. Returns 0 or -ENOMEM. */
int hil_event_stream(struct hil_stream_config *stream, struct hil_pool *pool,
                     const struct hil_system *system);

#endif

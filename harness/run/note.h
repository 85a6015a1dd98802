/*
 * What happened at a step of a node becomes an event of the record (record/event_rows.h), a bit in
 * a row of the node's tap, a count for the summary, and an event of the trace.
 * Reporting it takes no lock,
 * allocates nothing, and makes no system call.
 */
#ifndef HIL_NOTE_H
#define HIL_NOTE_H

#include "node.h"

/* At step `n`, which began at `now_ns` after the start; before it that is less than 0, as an
 * int64_t. Nothing is told of what is rehearsed. */
void hil_note(struct hil_node *node, uint64_t n, uint64_t now_ns, enum hil_event_kind kind,
              struct hil_event_of of, double value);

/* The same of an age, or a time that something took. */
static inline void hil_note_ns(struct hil_node *node, uint64_t n, uint64_t now_ns,
                               enum hil_event_kind kind, struct hil_event_of of, uint64_t ns)
{
    hil_note(node, n, now_ns, kind, of, (double)ns * 1e-9);
}

/* That the node has come to this stage. */
void hil_note_stage(struct hil_node *node, uint64_t n, uint64_t now_ns, enum hil_stage stage);

#endif

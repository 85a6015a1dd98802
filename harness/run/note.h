/*
 * Notes what happened at a step of a node: as an event of the record (record/event_rows.h), a bit
 * in a row of the node's tap, a count for the summary, and an event of the trace. It takes no lock,
 * allocates nothing, and makes no system call.
 */
#ifndef HIL_NOTE_H
#define HIL_NOTE_H

#include "node.h"

/* Notes an event of step `n`, at `now_ns` after the start. For events before the start `now_ns` is
 * negative, as an int64_t. During a rehearsal nothing is noted. */
void hil_note(struct hil_node *node, uint64_t n, uint64_t now_ns, enum hil_event_kind kind,
              struct hil_event_of of, double value);

/* The same, with a time in ns as the value: an age or a duration. */
static inline void hil_note_ns(struct hil_node *node, uint64_t n, uint64_t now_ns,
                               enum hil_event_kind kind, struct hil_event_of of, uint64_t ns)
{
    hil_note(node, n, now_ns, kind, of, (double)ns * 1e-9);
}

/* Notes that the node has reached this stage. */
void hil_note_stage(struct hil_node *node, uint64_t n, uint64_t now_ns, enum hil_stage stage);

#endif

/*
 * The kinds of events in a record: what happened at a node's step. This table alone defines their
 * names; docs/record.md describes them.
 *
 *      KIND(NAME, name in the record, meaning of the event's value; "": it has none)
 */
#ifndef HIL_EVENT_KINDS_H
#define HIL_EVENT_KINDS_H

/* clang-format off */
#define HIL_EVENT_KINDS(KIND)                                                                      \
    /* A node enters this state. */                                                                \
    KIND(INIT, "init", "")                                                                         \
    KIND(READY, "ready", "")                                                                       \
    KIND(RUN, "run", "")                                                                           \
    KIND(SAFE, "safe", "")                                                                         \
    KIND(STOPPED, "stopped", "")                                                                   \
    /* A link's newest message is older than the node's limit; a newer one came. */                \
    KIND(STALE, "stale", "its age, s")                                                             \
    KIND(FRESH, "fresh", "for how long it was stale, s")                                           \
    /* The sender of a link died; it was restarted, and sent a message. */                         \
    KIND(LOST, "lost", "")                                                                         \
    KIND(BACK, "back", "for how long it was away, s")                                              \
    /* An input's value is older than its own limit; a newer one came. */                          \
    KIND(OLD, "old", "its age, which is the time to the answer, s")                                \
    KIND(NEW, "new", "for how long it was too old, s")                                             \
    /* A component failed. */                                                                      \
    KIND(FAILED, "failed", "")                                                                     \
    /* A fault of the scenario begins to act at a node; it ends. */                                \
    KIND(FAULT_BEGINS, "fault begins", "")                                                         \
    KIND(FAULT_ENDS, "fault ends", "for how long it was on, s")                                    \
    /* Tuning: node 0 accepts a request, for a source possibly with a ramp; a node carries it out, \
     * or its model refuses. */                                                                    \
    KIND(ASKED, "asked", "what it is to be")                                                       \
    KIND(RAMP, "ramp", "how long it takes, s")                                                     \
    KIND(SET, "set", "what it is from here on, or at the end of its ramp")                         \
    KIND(NOT_SET, "not set", "what it was to be")
/* clang-format on */

enum hil_event_kind {
#define HIL_EVENT_KIND(name, text, value) HIL_EVENT_##name,
    HIL_EVENT_KINDS(HIL_EVENT_KIND)
#undef HIL_EVENT_KIND
        HIL_EVENT_KIND_COUNT
};

const char *hil_event_kind_name(enum hil_event_kind kind);

#endif

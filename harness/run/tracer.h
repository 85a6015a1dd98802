/*
 * Where the loops tell a tracer what they do, as channels/loco/trace.h does for the channels. While
 * there is none an event costs a load and a branch.
 *
 * Events name nodes and links by number, those of the scenario's system. Before its loop starts, a
 * node says what its number means, and those of the links that it sends: so a trace can be read
 * without the scenario. Steps are numbered from 1, as the nodes tell them each other; times are in
 * ns.
 */
#ifndef HIL_TRACER_H
#define HIL_TRACER_H

#include <stddef.h>
#include <stdint.h>

#include "../record/event_rows.h"
#include "../scenario/system.h"
#include "state.h"

struct hil_traced_node {
    uint32_t node;
    const char *name, *array; /* "converter[3]", "converter" */
    uint64_t period_ns;
};

struct hil_traced_link {
    uint32_t link, from, to;
    int32_t back;        /* the link the other way; -1: there is none */
    const char *channel; /* that carries it, as libloco's events name it */
};

/* A step whose inputs were as old as this had none yet. */
static const uint64_t HIL_NO_AGE = UINT64_MAX;

struct hil_traced_step {
    uint32_t node;
    uint64_t step;
    uint64_t late_ns;      /* from its time to its beginning */
    uint64_t duration_ns;  /* from its beginning to its end, which is now */
    uint64_t input_age_ns; /* of the oldest message that it used; or HIL_NO_AGE */
};

struct hil_traced_miss {
    uint32_t node;
    uint64_t step;
    uint64_t over_ns; /* from its deadline to its end */
};

/* Steps that are not run, which is decided now. */
struct hil_traced_left_out {
    uint32_t node;
    uint64_t step, count; /* the first, and how many */
    uint64_t late_ns;     /* the last of them; the one before it a period more */
    uint64_t period_ns;
};

/* The node has found, in its `step`, a newer message of an incoming link: one that the sender
 * pushed in its own step `sent`. */
struct hil_traced_input {
    uint32_t node, link;
    uint64_t step, sent;
    uint64_t acted_on;      /* the node's step that the sender had acted on by then; 0: none */
    uint64_t round_trip_ns; /* since that step pushed, in its first answer; else 0 */
};

struct hil_tracer {
    void (*node)(const struct hil_traced_node *node);
    void (*link)(const struct hil_traced_link *link);
    void (*step)(const struct hil_traced_step *step);
    void (*miss)(const struct hil_traced_miss *miss);
    void (*left_out)(const struct hil_traced_left_out *left_out);
    void (*input)(const struct hil_traced_input *input);
    void (*state)(uint32_t node, enum hil_stage stage);
    void (*event)(const struct hil_event_row *event); /* of the record */

    /* Where the tracer says whether it wants the event at this moment: 0 there saves the call. */
    const int *node_wanted, *link_wanted, *step_wanted, *miss_wanted, *left_out_wanted;
    const int *input_wanted, *state_wanted, *event_wanted;
};

/* This process's; NULL: none. Set before its loops start. */
extern const struct hil_tracer *hil_tracer;

/* Whether somebody listens to the event now. */
#define HIL_TRACED(event)                                                                          \
    __builtin_expect(                                                                              \
        hil_tracer &&__atomic_load_n(hil_tracer->event##_wanted, __ATOMIC_RELAXED) != 0, 0)

#define HIL_TRACE(event, ...)                                                                      \
    do {                                                                                           \
        if (HIL_TRACED(event))                                                                     \
            hil_tracer->event(__VA_ARGS__);                                                        \
    } while (0)

/* Says what the numbers mean: of the node, and of a link that it sends by this channel. */
void hil_trace_node(const struct hil_system *system, unsigned node);
void hil_trace_link(const struct hil_system *system, unsigned link, const char *channel);

#endif

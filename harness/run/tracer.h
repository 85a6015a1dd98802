/*
 * The loops report to a tracer here, as channels/loco/trace.h does for the channels. Without a
 * tracer an event costs a load and a branch.
 *
 * Events name nodes and links by their numbers in the scenario's system. Before its loop starts, a
 * node reports what its number and the numbers of its outgoing links mean, so a trace can be read
 * without the scenario. Steps are numbered from 1, as in the messages between nodes. Times are in
 * ns.
 */
#ifndef HIL_TRACER_H
#define HIL_TRACER_H

#include <stdbool.h>
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
    int32_t back;        /* the link in the other direction; -1: none */
    bool late;           /* its messages are pushed at the end of a step; else at the beginning */
    const char *channel; /* the channel that carries it, as libloco's events name it */
};

/* Nodes of a batch, and newer messages, that one event tells of. */
enum { HIL_TRACED_NODES = 8, HIL_TRACED_LINKS = 64 };

/* Input age of a step that has had no input yet; a greater one than this counts as the next lower
 * number. */
static const uint32_t HIL_NO_AGE = UINT32_MAX;

/* A step of `nodes` nodes in a batch (batches.h), which begins with `node`. In it they found newer
 * messages over `newer_count` links, of whose steps the event has the lower 32 bits, to be small.
 */
struct hil_traced_step {
    uint32_t node;
    uint64_t step;
    uint64_t late_ns;     /* from its time to its beginning */
    uint64_t duration_ns; /* from its beginning to its end, which is now */
    unsigned nodes, newer_count;
    uint32_t ages_ns[HIL_TRACED_NODES]; /* of the oldest message that each node used, or
                                         * HIL_NO_AGE */
    struct hil_traced_newer {
        uint32_t link;
        uint32_t sent;     /* the sender's step that pushed it */
        uint32_t acted_on; /* the node's step that the sender had acted on; 0: none */
    } newer[HIL_TRACED_LINKS];
};

struct hil_traced_miss {
    uint32_t node, nodes; /* the first node of the batch, and their number */
    uint64_t step;
    uint64_t over_ns; /* from its deadline to its end */
};

/* Steps that will not run. The event is sent when that is decided. */
struct hil_traced_left_out {
    uint32_t node, nodes;
    uint64_t step, count; /* the first step, and their number */
    uint64_t late_ns;     /* of the last step; each step before it is one period later */
    uint64_t period_ns;
};

struct hil_tracer {
    void (*node)(const struct hil_traced_node *node);
    void (*link)(const struct hil_traced_link *link);
    void (*step)(const struct hil_traced_step *step);
    void (*links)(const struct hil_traced_step *step); /* newer messages that have no room in the
                                                        * step's own event, which follows */
    void (*miss)(const struct hil_traced_miss *miss);
    void (*left_out)(const struct hil_traced_left_out *left_out);
    void (*state)(uint32_t node, enum hil_stage stage);
    void (*event)(const struct hil_event_row *event); /* of the record */

    /* Each points to a word of the tracer that is 0 while nobody wants the event; that saves the
     * call. */
    const int *node_wanted, *link_wanted, *step_wanted, *links_wanted, *miss_wanted;
    const int *left_out_wanted, *state_wanted, *event_wanted;
};

/* The tracer of this process; NULL: none. Set before the loops start. */
extern const struct hil_tracer *hil_tracer;

/* Whether the tracer wants the event now. */
#define HIL_TRACED(event)                                                                          \
    __builtin_expect(                                                                              \
        hil_tracer &&__atomic_load_n(hil_tracer->event##_wanted, __ATOMIC_RELAXED) != 0, 0)

#define HIL_TRACE(event, ...)                                                                      \
    do {                                                                                           \
        if (HIL_TRACED(event))                                                                     \
            hil_tracer->event(__VA_ARGS__);                                                        \
    } while (0)

/* Report what the numbers mean: of a node, and of one of its outgoing links, which `channel`
 * carries. */
void hil_trace_node(const struct hil_system *system, unsigned node);
void hil_trace_link(const struct hil_system *system, unsigned link, const char *channel);

/* Adds a newer message to the event of a step. */
void hil_trace_newer(struct hil_traced_step *step, uint32_t link, uint64_t sent, uint64_t acted_on);

#endif

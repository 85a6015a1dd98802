/*
 * How the time of a round trip is spent. A node, the asker, sends a message over a link; the
 * answerer replies over the opposite link. A round lasts from the push of a message to the push of
 * the first message that depends on the answer. It has five parts:
 *
 *      asker's message pushed --answerer wait--> the answerer begins the step that finds it
 *          --answerer push--> the answer is pushed, in that step or a later one
 *          --asker wait--> the asker begins the step that finds it
 *          --asker step--> everything is computed
 *          --push back--> the asker's next message is pushed, in that step or the next
 *
 * The summary's round trip is the sum of the first three. The trace says which links the run has.
 * A message is pushed at the beginning or at the end of a step, which the trace says, too.
 */
#ifndef HIL_ROUND_TRIP_H
#define HIL_ROUND_TRIP_H

#include <stdbool.h>
#include <stdint.h>

#include "../../h5/histogram.h"
#include "loops.h"

enum hil_trip_leg {
    HIL_ANSWERER_WAIT,
    HIL_ANSWERER_PUSH,
    HIL_ASKER_WAIT,
    HIL_ASKER_STEP,
    HIL_PUSH_BACK,
    HIL_TRIP_LEGS,
};

/* The rounds from the nodes of one array to those of another, and back. */
struct hil_round_trip {
    unsigned asker, answerer; /* arrays in the caller's numbering */
    struct hil_histogram legs[HIL_TRIP_LEGS];
    struct hil_histogram whole;    /* the first three parts, as measured by the asker */
    struct hil_course course;      /* of the whole, by when the asker found the answer */
    uint64_t complete, incomplete; /* numbers of rounds; an incomplete one lacks an event */
};

struct hil_rounds {
    uint64_t start_ns; /* when the courses begin */
    struct hil_round_trip **trips;
    unsigned trip_count;
    struct hil_round_state *state;
};

/* Returns 0 or -ENOMEM. */
int hil_rounds_init(struct hil_rounds *rounds);
void hil_rounds_fini(struct hil_rounds *rounds);

/* Declares a link. The first declaration of a number wins. */
struct hil_round_link {
    uint64_t link, from, to;
    int64_t back; /* the opposite link; -1: none */
    bool late;    /* pushed at the end of a step, not at its beginning */
};
void hil_rounds_link(struct hil_rounds *rounds, const struct hil_round_link *link);

/* A node found a newer message, as in struct hil_traced_step. `asker` and `answerer` are the arrays
 * of the node and of the message's sender. Call it before the step that found the message. */
struct hil_round_input {
    uint64_t link;
    uint32_t sent, acted_on;
    unsigned asker, answerer;
};
void hil_rounds_input(struct hil_rounds *rounds, const struct hil_round_input *input);

/* Adds a step, in order of time. `own_ns` is when it began by the clock of its loop. */
struct hil_round_step {
    uint64_t node, step, begin_ns, end_ns, own_ns;
};
void hil_rounds_step(struct hil_rounds *rounds, const struct hil_round_step *step);

/* The node that sends over the link, or receives; -1: not known. */
int64_t hil_rounds_sender(const struct hil_rounds *rounds, uint64_t link);
int64_t hil_rounds_receiver(const struct hil_rounds *rounds, uint64_t link);

/* Call it at the end: rounds that still lack an event are incomplete. */
void hil_rounds_end(struct hil_rounds *rounds);

#endif

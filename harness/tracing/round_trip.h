/*
 * Where a round trip's time goes. A node asks by its link to another, which answers by the link
 * back. One round goes from the push of a message to that of the next one that takes its answer
 * into account, and has five parts:
 *
 *      asker's message pushed --answerer wait--> the answerer's step that finds it begins
 *          --answerer push--> the answer is pushed, in that step or a later one
 *          --asker wait--> the asker's step that finds it begins
 *          --asker step--> all is computed
 *          --push back--> the asker's next message is pushed, in that step or the next
 *
 * The first three together are what the summary calls the round trip. The run says in the trace
 * which links it has, and by which channels.
 */
#ifndef HIL_ROUND_TRIP_H
#define HIL_ROUND_TRIP_H

#include <stdint.h>

#include "../h5/histogram.h"

enum hil_part {
    HIL_ANSWERER_WAIT,
    HIL_ANSWERER_PUSH,
    HIL_ASKER_WAIT,
    HIL_ASKER_STEP,
    HIL_PUSH_BACK,
    HIL_PARTS,
};

/* The rounds from the nodes of one array to those of another, and back. */
struct hil_round_trip {
    unsigned asker, answerer; /* arrays, as the caller numbers them */
    struct hil_histogram parts[HIL_PARTS];
    struct hil_histogram whole;    /* as the asker measured it: the first three */
    uint64_t complete, incomplete; /* rounds; of the incomplete ones an event is missing */
};

struct hil_rounds {
    struct hil_round_trip **trips;
    unsigned trip_count;
    struct hil_round_state *state;
};

/* Returns 0 or -ENOMEM. */
int hil_rounds_init(struct hil_rounds *rounds);
void hil_rounds_fini(struct hil_rounds *rounds);

/* There is a link. What was said first of its number holds. */
struct hil_round_link {
    uint64_t link, from, to;
    int64_t back; /* the link the other way; -1: none */
    const char *channel;
};
void hil_rounds_link(struct hil_rounds *rounds, const struct hil_round_link *link);

/* What happened, in the order of time. */
void hil_rounds_push(struct hil_rounds *rounds, uint64_t node, const char *channel,
                     uint64_t time_ns);
void hil_rounds_step(struct hil_rounds *rounds, uint64_t node, uint64_t step, uint64_t begin_ns,
                     uint64_t end_ns);

/* A node found a newer message: as struct hil_traced_input says. `asker` and `answerer` are the
 * arrays of the node and of the message's sender. */
struct hil_round_input {
    uint64_t link, step, sent, acted_on, round_trip_ns, time_ns;
    unsigned asker, answerer;
};
void hil_rounds_input(struct hil_rounds *rounds, const struct hil_round_input *input);

/* Who sends by the link; -1: not known. */
int64_t hil_rounds_sender(const struct hil_rounds *rounds, uint64_t link);

/* No more comes: rounds that still miss an event are incomplete. */
void hil_rounds_end(struct hil_rounds *rounds);

#endif

/*
 * The shards of a node: parts of its links, each of which a thread of the node's executor serves.
 *
 *      shard 0      | send, take | compute, show | send |
 *      shard 1      | send, take |               | send |
 *
 * A shard has the links with some of the node's peers, so that what goes to a peer and what comes
 * from it are in one. It works on a copy of the node's step in which there are no other links; the
 * numbers are the node's own. Components see nothing of it. What is rare, and changes what is the
 * whole node's, the shards do one at a time.
 *
 * Without a crew, as in virtual time, one thread does the shards' work, one after the other: with
 * the same results.
 */
#ifndef HIL_SHARDS_H
#define HIL_SHARDS_H

#include "crew.h"
#include "step_links.h"

struct hil_shard {
    alignas(HIL_LINE) struct hil_step step; /* the node's, as this shard has it */
    struct step_range early, late; /* in departures[]: sent before components compute, and after */
    struct step_range arrivals;    /* in the node's */
    struct hil_message *message;   /* its own */
    unsigned first_array;          /* of its arrivals, among the node's arrays */
    struct step_oldest *oldest;    /* of each of them; the last may go on in the next shard */
    unsigned arrays;
    int stale; /* 0, or -ESTALE */
};

struct hil_shards {
    struct hil_crew *crew; /* NULL: there is none */
    unsigned count, array_count;
    unsigned figures_apart; /* from a shard's figures to those of the next, in the state */
    const struct step_arrival **arrays; /* the last of each array's arrivals */
    uint64_t n, now;                    /* the step's */
    struct step_oldest *oldest;         /* of each array, of all shards */
    _Atomic bool rare;                  /* one of them does what is rare */
    struct hil_step *whole;
    struct hil_shard *at;
};

/* Splits the step of a node that has shards. Returns 0 or a negative errno. */
int hil_shards_open(struct hil_step *step, unsigned count);
void hil_shards_close(struct hil_shards *shards);

/* Each shard is done by one of these from now on. NULL: all by the caller. */
void hil_shards_set_crew(struct hil_shards *shards, struct hil_crew *crew);

/* Has each shard's work done. */
void hil_shards_do(struct hil_shards *shards, hil_crew_work *work);

/* Makes the shard's step as the node's is now, but for the links. */
struct hil_step *hil_shard_look(struct hil_shard *shard, const struct hil_shards *shards);

/* The oldest of each array, from what the shards found. */
void hil_shards_gather(struct hil_shards *shards);

/* Around what is rare: in a node without shards, nothing. */
void hil_shards_begin_rare(const struct hil_step *step);
void hil_shards_end_rare(const struct hil_step *step);

#endif

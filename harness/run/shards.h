/*
 * The shards of a node: parts of its links. A thread of the node's executor serves each.
 *
 *      shard 0      | send, take | compute, show | send |
 *      shard 1      | send, take |               | send |
 *
 * A shard has all the links with some of the node's peers, in both directions. It works on a copy
 * of the node's step that has only these links; the values are the node's own, at a place for each
 * link. Components see nothing of shards. Where a rare event changes what belongs to the whole
 * node, such as its record of events, one shard at a time does so.
 *
 * In virtual time there is no crew: one thread does the work of all shards, one after the other,
 * with the same results.
 */
#ifndef HIL_SHARDS_H
#define HIL_SHARDS_H

#include "crew.h"
#include "step_links.h"

struct hil_shard {
    alignas(HIL_LINE) struct hil_step step; /* the node's, as this shard has it */
    struct step_range early, late; /* in departures[]: sent before components compute, and after */
    struct step_range arrivals;    /* in arrivals[] of the node's step */
    struct hil_message *message;   /* its own */
    unsigned first_array, arrays;  /* those of its arrivals, among the node's arrays */
    struct step_oldest *oldest;    /* of each of them; the last may go on in the next shard */
    int stale;                     /* 0, or -ESTALE: an input that ends the run */
};

struct hil_shards {
    struct hil_crew *crew; /* NULL: there is none */
    unsigned count, array_count;
    unsigned figures_apart; /* from a shard's figures to those of the next, in the state */
    const struct step_arrival **arrays; /* the last arrival of each array */
    uint64_t n, now;                    /* of the step that is done */
    struct step_oldest *oldest;         /* of each array, over all shards */
    _Atomic bool rare;                  /* a lock, for what is rare */
    struct hil_step *whole;             /* the node's */
    struct hil_shard *at;
};

/* Splits the step of a node that has shards. Returns 0 or a negative errno. */
int hil_shards_open(struct hil_step *step, unsigned count);
void hil_shards_close(struct hil_shards *shards);

/* From now on each thread of the crew does one shard. NULL: the caller does all of them. */
void hil_shards_set_crew(struct hil_shards *shards, struct hil_crew *crew);

/* Has each shard's work done. */
void hil_shards_do(struct hil_shards *shards, hil_crew_work *work);

/* Makes the shard's step what the node's is now, with the shard's links only. */
struct hil_step *hil_shard_look(struct hil_shard *shard, const struct hil_shards *shards);

/* Finds the oldest link of each array, from what the shards found. */
void hil_shards_gather(struct hil_shards *shards);

/* Around what is rare: only one shard at a time is between these two. Without shards they do
 * nothing. */
void hil_shards_begin_rare(const struct hil_step *step);
void hil_shards_end_rare(const struct hil_step *step);

#endif

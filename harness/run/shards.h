/*
 * The shards of a node: its links are divided among them. A thread of the node's executor serves
 * each shard.
 *
 *      shard 0      | send, take | compute, show | send |
 *      shard 1      | send, take |               | send |
 *
 * A shard has all links with some of the node's peers, in both directions. It works on a copy of
 * the node's step that has only these links. The values are the node's own: each link has its place
 * in them. Components see nothing of shards. A rare event may change what belongs to the whole
 * node, such as its record of events; only one shard at a time may do that.
 *
 * In virtual time there is no crew: one thread does the work of all shards, one after another, with
 * the same results.
 */
#ifndef HIL_SHARDS_H
#define HIL_SHARDS_H

#include "crew.h"
#include "step_links.h"

struct hil_shard {
    alignas(HIL_LINE) struct hil_step step; /* a copy of the node's */
    struct step_range early, late; /* in departures[]: sent before components compute, and after */
    struct step_range arrivals;    /* in arrivals[] of the node's step */
    struct hil_message *message;   /* room for the shard's own messages */
    unsigned first_array, arrays;  /* arrays of its arrivals, among the node's */
    struct step_oldest *oldest;    /* of each array; the last may go on in the next shard */
    int stale;                     /* 0, or -ESTALE: a stale input ends the run */
};

struct hil_shards {
    struct hil_crew *crew; /* NULL: one thread does all shards */
    unsigned count, array_count;
    unsigned figures_apart; /* distance between the figures of two shards, in the state */
    const struct step_arrival **arrays; /* the last arrival of each array */
    uint64_t n, now;                    /* of the present step */
    struct step_oldest *oldest;         /* of each array, over all shards */
    _Atomic bool rare;                  /* lock for rare events */
    struct hil_step *whole;             /* the node's step */
    struct hil_shard *at;
};

/* Splits the step of a node that has shards. Returns 0 or a negative errno. */
int hil_shards_open(struct hil_step *step, unsigned count);
void hil_shards_close(struct hil_shards *shards);

/* From now on each thread of the crew does one shard. NULL: the calling thread does all of them. */
void hil_shards_set_crew(struct hil_shards *shards, struct hil_crew *crew);

/* Does the work of each shard, and returns when all is done. */
void hil_shards_do(struct hil_shards *shards, hil_crew_work *work);

/* Refreshes the shard's copy of the node's step, with the shard's links only. */
struct hil_step *hil_shard_look(struct hil_shard *shard, const struct hil_shards *shards);

/* Merges the shards' results: the oldest link of each array. */
void hil_shards_gather(struct hil_shards *shards);

/* These two enclose rare events: only one shard at a time is between them. Without shards they do
 * nothing. */
void hil_shards_begin_rare(const struct hil_step *step);
void hil_shards_end_rare(const struct hil_step *step);

#endif

/*
 * An ack: the handle of one or more operations in flight.
 *
 * Operations of one thread are numbered upwards, and those of one link end in the order of
 * their numbers. So an ack is a set of peers and a number: it is done when, on the links to
 * those peers, everything up to the number is done. That makes it a plain value without a
 * slot that could be recycled under it, and a union costs a few instructions. A union may
 * wait for a little more than its parts: for what its thread posted to the same peers in
 * between.
 *
 * The set holds the peers of one group of 64 ids. A union over several groups holds ids modulo 64:
 * it also waits for, and tells the loss of, whatever its thread posted to other peers of those ids
 * and had not done.
 *
 * Zero-initialised, an ack is done.
 */
#ifndef LOCO_ACK_H
#define LOCO_ACK_H

#include <stdint.h>

#include "language.h"
#include "manager.h"

LOCO_DECLARATIONS

struct loco_thread;

struct loco_ack {
    struct loco_thread *thread; /* whose operations; NULL: none in flight */
    uint64_t number;
    uint64_t peers; /* bit n: the peer 64 * group + n; or all those whose id is n modulo 64 */
    uint32_t group; /* LOCO_ALL_GROUPS: peers of several */
    uint32_t epoch; /* the manager's at the post: over which link to a peer that restarted */
    int error;      /* of the post; 0: none */
};

#define LOCO_ALL_GROUPS UINT32_MAX

/* Whether it is done: 0 while any operation in it is in flight, and its source may still be read.
 * Then 1, or the negative errno of one of them (-ECONNRESET when a peer was lost). Never waits. Any
 * thread of the node, also after the one that posted has detached. */
int loco_ack_query(const struct loco_ack *ack);

/* Waits until it is done. Returns 0, -ETIMEDOUT (the operations go on), or an operation's
 * error as above. Any attached thread of the node. */
int loco_ack_wait(const struct loco_ack *ack, uint64_t timeout_ns);

/* The group of a union. */
static inline uint32_t loco_ack_groups(const struct loco_ack *a, const struct loco_ack *b)
{
    if (!a->thread || !b->thread)
        return a->thread ? a->group : b->group;
    return a->group == b->group ? a->group : LOCO_ALL_GROUPS;
}

/* An ack that is done when both are. Both are of the same thread. */
static inline struct loco_ack loco_ack_union(struct loco_ack a, struct loco_ack b)
{
    struct loco_ack both = a;

    both.thread = a.thread ? a.thread : b.thread;
    both.number = a.number > b.number ? a.number : b.number;
    both.peers = a.peers | b.peers;
    both.group = loco_ack_groups(&a, &b);
    both.epoch = !b.thread || (a.thread && a.epoch < b.epoch) ? a.epoch : b.epoch;
    both.error = a.error ? a.error : b.error;
    return both;
}

LOCO_DECLARATIONS_END

#endif

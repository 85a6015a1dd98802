/*
 * An ack: the handle of one or more operations in flight.
 *
 * Operations of one thread are numbered upwards, and those of one link end in the order of
 * their numbers. So an ack is a set of peers and a number: it is done when, on the links to
 * those peers, everything up to the number is done. That makes it a plain value without a
 * slot that could be recycled under it, and a union costs two instructions. A union may
 * wait for a little more than its parts: for what its thread posted to the same peers in
 * between.
 *
 * Zero-initialised, an ack is done.
 */
#ifndef LOCO_ACK_H
#define LOCO_ACK_H

#include <stdint.h>

#include "thread.h"

struct loco_ack {
    struct loco_thread *thread; /* whose operations; NULL: none in flight */
    uint64_t number;
    uint64_t peers; /* bit n: the peers whose id is n modulo 64 */
    int error;      /* of the post; 0: none */
    uint32_t epoch; /* the manager's at the post: over which link to a peer that restarted */
};

/* Whether it is done: 1 done, 0 in flight, or the negative errno of an operation in it
 * (-ECONNRESET when a peer was lost). Never waits. Any thread of the node. */
int loco_ack_query(const struct loco_ack *ack);

/* Waits until it is done. Returns 0, -ETIMEDOUT (the operations go on), or an operation's
 * error as above. Any attached thread of the node. */
int loco_ack_wait(const struct loco_ack *ack, uint64_t timeout_ns);

/* An ack that is done when both are. Both are of the same thread. */
static inline struct loco_ack loco_ack_union(struct loco_ack a, struct loco_ack b)
{
    return (struct loco_ack){
        .thread = a.thread ? a.thread : b.thread,
        .number = a.number > b.number ? a.number : b.number,
        .peers = a.peers | b.peers,
        .error = a.error ? a.error : b.error,
        .epoch = !b.thread || (a.thread && a.epoch < b.epoch) ? a.epoch : b.epoch,
    };
}

#endif

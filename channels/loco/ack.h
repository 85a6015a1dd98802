/*
 * An ack: the handle of one or more operations in flight.
 *
 * Operations of one thread are numbered upwards, and those of one link end in the order of
 * their numbers. So an ack is a set of peers and a number: it is done when everything up to that
 * number is done on the links to those peers. An ack is therefore a plain value, with no slot
 * behind it that could be reused, and a union costs a few instructions. A union may wait for a
 * little more than its parts: it also waits for what its thread posted to the same peers in
 * between.
 *
 * The set holds peers of one group of 64 node ids. A union over several groups holds ids modulo 64.
 * It then also waits for its thread's operations on other peers with the same id modulo 64, and
 * reports their loss.
 *
 * A zero-initialised ack is done.
 */
#ifndef LOCO_ACK_H
#define LOCO_ACK_H

#include <stdint.h>

#include "fabric/language.h"
#include "manager.h"

LOCO_DECLARATIONS

struct loco_thread;

struct loco_ack {
    struct loco_thread *thread; /* the thread that posted; NULL: nothing is in flight */
    uint64_t number;            /* of its newest operation in the ack */
    uint64_t peers; /* bit n: peer 64 * group + n; or every peer whose id is n modulo 64 */
    uint32_t group; /* LOCO_ALL_GROUPS: the peers are of several groups */
    uint32_t epoch; /* the manager's when posting; tells which link to a peer that restarted */
    int error;      /* negative errno of posting; 0: none */
};

#define LOCO_ALL_GROUPS UINT32_MAX

/* Returns 0 while any operation of the ack is in flight: sources may still be read, and results may
 * still change. Afterwards returns 1, or the negative errno of one of the operations (-ECONNRESET
 * when a peer was lost). Never waits. Any thread of the node may call, also after the thread that
 * posted has detached. */
int loco_ack_query(const struct loco_ack *ack);

/* Waits until the ack is done, for at most `timeout_ns` (UINT64_MAX: without a limit). Returns 0,
 * -ETIMEDOUT (the operations are still in flight), or an error as above. Any attached thread of
 * the node. */
int loco_ack_wait(const struct loco_ack *ack, uint64_t timeout_ns);

/* The group of a union of both. */
static inline uint32_t loco_ack_groups(const struct loco_ack *a, const struct loco_ack *b)
{
    if (!a->thread || !b->thread)
        return a->thread ? a->group : b->group;
    return a->group == b->group ? a->group : LOCO_ALL_GROUPS;
}

/* Returns an ack that is done when both are. Both must be of the same thread. */
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

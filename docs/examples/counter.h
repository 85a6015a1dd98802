/*
 * counter: each participant adds to it, and each can have the sum.
 *
 * To add touches only the participant's own memory; to sum reads the others'. So it is for what
 * is counted often and looked at seldom. The counter is linearizable: an add takes effect before
 * it returns, a sum is what the counter was at one moment between call and return.
 *
 * Threads: one thread at a time adds, and one at a time sums, at each node.
 */
#ifndef COUNTER_H
#define COUNTER_H

#include <loco/loco.h>

struct counter {
    struct loco_channel channel;
    struct loco_sst parts; /* a row of each participant: all that it has added */
    uint64_t part;         /* this node's */
};

/* Constructs and joins. `members` stays valid while the endpoint lives. Errors as of
 * loco_channel_init. */
int counter_init(struct counter *counter, struct loco_manager *manager,
                 const struct loco_channel *parent, const char *name, struct loco_members members);
void counter_fini(struct counter *counter);

/* Adds. Never waits. */
void counter_add(struct counter *counter, uint64_t amount);

/* Sums. Lock-free: it goes on for as long as others add. Returns 0; -ECONNRESET when a
 * participant was lost, and its part with it; -EPERM from a thread that is not attached. */
int counter_sum(struct counter *counter, uint64_t *sum);

#endif

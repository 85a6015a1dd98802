/*
 * counter: each participant adds to it, and each can have the sum.
 *
 * An add touches only the participant's own memory; a sum reads the others'. So the counter suits
 * what is counted often and read seldom. It is linearizable: an add takes effect before it returns,
 * and a sum is the counter's value at one moment between call and return.
 *
 * Threads: at each node one thread at a time adds, and one attached thread at a time sums.
 */
#ifndef COUNTER_H
#define COUNTER_H

#include <loco/loco.h>

struct counter {
    struct loco_channel channel;
    struct loco_sst parts; /* each participant's row is the sum of its own adds */
    uint64_t part;         /* this node's */
};

/* Constructs and joins. The nodes of `members` must stay valid while the endpoint lives. Returns 0
 * or an error of loco_channel_init. */
int counter_init(struct counter *counter, struct loco_manager *manager,
                 const struct loco_channel *parent, const char *name, struct loco_members members);
void counter_fini(struct counter *counter);

/* Adds. Never waits. */
void counter_add(struct counter *counter, uint64_t amount);

/* Gets the sum. Lock-free: it may go on for as long as others add. Returns 0; -ECONNRESET when a
 * participant was lost, and its part with it; or -EPERM when the thread is not attached. */
int counter_sum(struct counter *counter, uint64_t *sum);

#endif

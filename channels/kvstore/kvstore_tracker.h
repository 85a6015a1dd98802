/*
 * The kvstore's trackers: each node broadcasts its changes of the index to all others. A node that
 * receives a change applies it to its own index and then acknowledges it.
 */
#ifndef LOCO_KVSTORE_TRACKER_H
#define LOCO_KVSTORE_TRACKER_H

#include "kvstore_chain.h"

enum kv_change_kind { KV_ADDED = 1, KV_REMOVED };

/* A message. */
struct kv_change {
    uint32_t kind;
    uint32_t host, slot;
    uint32_t unused;
    uint64_t hash;
    uint64_t counter;
};

_Static_assert(sizeof(struct kv_change) == 32, "crosses the network");

/* A ring has room for the changes in flight, not for a history. At most KV_IN_FLIGHT of them are
 * not yet acknowledged by some receiver: each takes a word more than its size. */
enum {
    KV_RING_SIZE = 64 << 10,
    KV_IN_FLIGHT = KV_RING_SIZE / (sizeof(struct kv_change) + sizeof(uint64_t)),
};

int kv_trackers_open(struct loco_kvstore *store);
void kv_trackers_close(struct loco_kvstore *store);

/* Broadcasts what the operation changes, and applies it here. Returns 0, and sets the operation's
 * position for kv_change_known; -EAGAIN when another thread is sending, what another thread sent
 * was not placed within LOCO_LOOK_NS, or the ring is full; or another error of
 * loco_ringbuffer_send. After an error nothing is changed. Any attached thread. */
int kv_change_make(struct loco_kv_op *op, enum kv_change_kind kind);

/* Whether every node that is not lost has applied what the operation has broadcast. */
bool kv_change_known(const struct loco_kv_op *op);

#endif

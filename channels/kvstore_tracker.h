/*
 * The kvstore's trackers: a broadcast from each node to all others of the changes to the
 * index. Whoever receives one applies it to the own node's index and then acknowledges.
 */
#ifndef LOCO_KVSTORE_TRACKER_H
#define LOCO_KVSTORE_TRACKER_H

#include "kvstore_index.h"
#include "loco/kvstore.h"

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

/* A ring is room for the changes that are in flight, not for a history. It never holds more than
 * KV_IN_FLIGHT that some receiver has not acknowledged: a message takes a word more. */
enum {
    KV_RING_SIZE = 64 << 10,
    KV_IN_FLIGHT = KV_RING_SIZE / (sizeof(struct kv_change) + sizeof(uint64_t)),
};

int kv_trackers_open(struct loco_kvstore *store);
void kv_trackers_close(struct loco_kvstore *store);

/* Tells the others, and changes this node's index and slots. Returns 0; -EAGAIN: not now; or an
 * error of loco_ringbuffer_send that is for good, with nothing changed here. Any attached thread.
 */
int kv_change_make(struct loco_kvstore *store, const struct kv_change *change, uint64_t *position);

/* Whether all have made the changes up to `position`. */
bool kv_change_known(const struct loco_kvstore *store, uint64_t position);

#endif

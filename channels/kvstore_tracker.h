/*
 * The kvstore's trackers: a broadcast from each node to all others of the changes to the
 * index. Whoever receives one applies it to the own node's index and then acknowledges.
 */
#ifndef LOCO_KVSTORE_TRACKER_H
#define LOCO_KVSTORE_TRACKER_H

#include "kvstore.h"
#include "kvstore_index.h"

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

/* One sender's. */
struct kv_tracker {
    struct loco_ringbuffer ring;
    struct loco_message message; /* received, but not applied yet; its data NULL: none */
};

int kv_trackers_open(struct loco_kvstore *store);
void kv_trackers_close(struct loco_kvstore *store);

/* Changes this node's index, and its slots. Returns 0, or -ENOMEM: not now. Any thread. */
int kv_change_apply(struct loco_kvstore *store, const struct kv_change *change);

/* Tells the others. Returns 0; -EAGAIN: not now; or an error of loco_ringbuffer_send that is
 * for good. Any attached thread. */
int kv_change_send(struct loco_kvstore *store, const struct kv_change *change, uint64_t *position);

/* Whether all have applied what was sent up to `position`. */
bool kv_change_known(const struct loco_kvstore *store, uint64_t position);

#endif

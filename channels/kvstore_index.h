/*
 * The kvstore's index at one node: where each key is. A hash table of liburcu (rculfhash):
 * look-ups and changes are lock-free, and a look-up takes no more than reads.
 *
 * Look-ups are between kv_index_enter and kv_index_leave: what is removed in the meantime is
 * not used again before. Nothing in between may wait: on the simulator that would switch to
 * another fiber of the same thread, which may wait for the look-up's end in turn.
 *
 * Keys come as their hashes: kv_hash is a bijection, so the hash is the key.
 *
 * Threads: any.
 */
#ifndef LOCO_KVSTORE_INDEX_H
#define LOCO_KVSTORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kv_index;

/* The slot of a key, and which of its uses. */
struct kv_place {
    uint32_t host, slot;
    uint64_t counter;
};

/* Takes all the memory: for `keys` keys, and for `late` more that are gone elsewhere while this
 * node has still to hear of it. Returns 0 or -ENOMEM. */
int kv_index_open(struct kv_index **index, size_t keys, size_t late);
void kv_index_close(struct kv_index *index);

/* The finalizer of MurmurHash3: each step can be undone. */
static inline uint64_t kv_hash(uint64_t key)
{
    key = (key ^ (key >> 33)) * 0xff51afd7ed558ccdu;
    key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53u;
    return key ^ (key >> 33);
}

void kv_index_enter(void);
void kv_index_leave(void);

/* Whether the key is there, and where. Within enter and leave. */
bool kv_index_find(const struct kv_index *index, uint64_t hash, struct kv_place *place);

/* Adds a key that is not there. Returns 0, or -ENOMEM: `keys` and `late` are too few. */
int kv_index_add(struct kv_index *index, uint64_t hash, struct kv_place place);

/* Whether it was there. */
bool kv_index_remove(struct kv_index *index, uint64_t hash);

/* Fetch what a look-up will touch into the cache, the first and then the second line of it,
 * so that the misses of several look-ups overlap. The second is within enter and leave. */
void kv_index_prefetch_bucket(const struct kv_index *index, uint64_t hash);
void kv_index_prefetch_entry(const struct kv_index *index, uint64_t hash);

#endif

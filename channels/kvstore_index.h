/*
 * The kvstore's index at one node: where each key is. A hash table of the store's own, for what the
 * store needs of one: a look-up that usually touches one cache line, waits for nobody, and can be
 * had without being sure.
 *
 * Keys come as their hashes: kv_hash is a bijection, so the hash is the key.
 *
 * Threads: any. Changes wait for one another; changes of one key come one after the other anyway,
 * for whoever makes them holds the key's lock.
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
    uint64_t counter; /* from 1; 0: not known */
};

/* Takes all the memory: for a key in each of the `slots` at each of the `hosts`, and for `late`
 * more that are gone elsewhere while this node has still to hear of it. Returns 0 or -ENOMEM. */
int kv_index_open(struct kv_index **index, uint32_t hosts, uint32_t slots, size_t late);
void kv_index_close(struct kv_index *index);

/* The finalizer of MurmurHash3: each step can be undone. */
static inline uint64_t kv_hash(uint64_t key)
{
    key = (key ^ (key >> 33)) * 0xff51afd7ed558ccdu;
    key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53u;
    return key ^ (key >> 33);
}

/* Whether the key is there, and where. */
bool kv_index_find(const struct kv_index *index, uint64_t hash, struct kv_place *place);

/* Where the key is if it is there, without its counter. False: it is not there. The slot may be
 * another key's, which one look-up in four thousand million finds. */
bool kv_index_guess(const struct kv_index *index, uint64_t hash, struct kv_place *place);

/* Adds a key that is not there. Returns 0, or -ENOMEM: there are more than it was opened for. */
int kv_index_add(struct kv_index *index, uint64_t hash, struct kv_place place);

/* Whether it was there, in this place. */
bool kv_index_remove(struct kv_index *index, uint64_t hash, struct kv_place place);

/* Fetch into the cache what a guess touches; and what a find touches besides, when the place is
 * guessed. So the misses of several operations overlap. */
void kv_index_prefetch(const struct kv_index *index, uint64_t hash);
void kv_index_prefetch_use(const struct kv_index *index, struct kv_place place);

#endif

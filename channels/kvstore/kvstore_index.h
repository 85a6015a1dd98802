/*
 * The kvstore's index at one node: a hash table that says where each key's slot is. A look-up never
 * waits, and usually touches one cache line. A guess is cheaper, and may be wrong.
 *
 * Keys are given as their hashes: kv_hash is a bijection, so the hash is the key.
 *
 * Threads: any. Changes exclude one another. Two changes of one key are never made at the same
 * time, since each is made under the key's lock.
 */
#ifndef LOCO_KVSTORE_INDEX_H
#define LOCO_KVSTORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kv_index;

/* A key's slot, and which use of that slot the key has. */
struct kv_place {
    uint32_t host, slot;
    uint64_t counter; /* of the use, from 1; 0: not known */
};

enum { KV_NOWHERE = UINT32_MAX }; /* a host */

/* Allocates all the memory: for a key in each of the `slots` at each of the `hosts`, and for `late`
 * more keys, whose removal this node has yet to apply. Returns 0 or -ENOMEM. */
int kv_index_open(struct kv_index **index, uint32_t hosts, uint32_t slots, size_t late);
void kv_index_close(struct kv_index *index);

/* The finalizer of MurmurHash3. Each step can be undone. */
static inline uint64_t kv_hash(uint64_t key)
{
    key = (key ^ (key >> 33)) * 0xff51afd7ed558ccdu;
    key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53u;
    return key ^ (key >> 33);
}

/* Returns the key with this hash. */
static inline uint64_t kv_key(uint64_t hash)
{
    hash = (hash ^ (hash >> 33)) * 0x9cb4b2f8129337dbu;
    hash = (hash ^ (hash >> 33)) * 0x4f74430c22a54005u;
    return hash ^ (hash >> 33);
}

/* Returns where the key is. The host is KV_NOWHERE if the key is not there. */
struct kv_place kv_index_find(const struct kv_index *index, uint64_t hash);

/* The same, but the place is a guess, without a counter: about once in four billion look-ups the
 * slot is another key's. KV_NOWHERE is certain. */
struct kv_place kv_index_guess(const struct kv_index *index, uint64_t hash);

/* Finds the first slot from *at on that is in use, in the order of their numbers, and sets *hash to
 * its key. *at is then the next slot. Returns false if there is none. A key that is there all the
 * time is found by going through all slots from 0. */
bool kv_index_next(const struct kv_index *index, uint64_t *at, uint64_t *hash);

/* Adds a key that is not there. Returns 0, or -ENOMEM: there are more keys than it was opened for.
 */
int kv_index_add(struct kv_index *index, uint64_t hash, struct kv_place place);

/* Removes a key from this place. Returns whether it was there. */
bool kv_index_remove(struct kv_index *index, uint64_t hash, struct kv_place place);

/* Prefetch the memory that a guess touches; and the memory that a find touches besides, once the
 * place was guessed. So the cache misses of several operations overlap. */
void kv_index_prefetch(const struct kv_index *index, uint64_t hash);
void kv_index_prefetch_use(const struct kv_index *index, struct kv_place place);

#endif

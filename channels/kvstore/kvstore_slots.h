/*
 * The kvstore's slots: their format, and which of them are in use.
 *
 *      word 0      counter << 1 | valid
 *      value       padded with zeros to whole words
 *      word n      a checksum of the value and the counter
 *
 * The counter tells the uses of a slot apart: it is 1 in the first, and 0 in a slot that was never
 * used. The counter and the valid bit are one word, so one is never seen without the other, and the
 * valid bit is flipped by one write that leaves the checksum right. The checksum is one word too,
 * and a value counts as written when its checksum is placed: an update writes the value and the
 * checksum, and leaves word 0 alone.
 *
 * Each node owns slots at some or all hosts, and gives them to the keys that it inserts. Only the
 * owner increments their counters, so it knows them without asking.
 *
 * A host's slots lie in groups, with one slot of each owner in a group. Two groups are a key's
 * homes; they follow from its hash. The key gets its inserter's slot in one of them, or else the
 * nearest free slot, counted from the first home. So most keys' slots can be prefetched before the
 * index has said where they are: 78 percent of them when 80 percent of the slots are in use.
 *
 * Threads: any.
 */
#ifndef LOCO_KVSTORE_SLOTS_H
#define LOCO_KVSTORE_SLOTS_H

#include "../loco/kvstore.h"
#include "kvstore_index.h"

struct kv_slots {
    struct loco_region *region;
    size_t value_size, stride; /* bytes; of the value, and from slot to slot */
    uint32_t node_count;
    uint32_t hosted;          /* at each host */
    uint32_t owners, owner;   /* of a host's slots, and which of them this node is */
    uint32_t own;             /* of each owner at each host */
    unsigned home_lines;      /* cache lines of a group; 0: too many to prefetch */
    uint32_t capacity, used;  /* of this node's slots, at all hosts */
    pthread_mutex_t lock;     /* of `used` and all below */
    struct kv_spares *spares; /* by host */

    /* By host: its slots, where this CPU can reach them; NULL: it cannot, or the host is lost. */
    const unsigned char *_Atomic *nearby;
};

enum { KV_VALUE_AT = sizeof(uint64_t) };

/* --- one slot ----------------------------------------------------------------------------- */

static inline size_t kv_value_room(const struct kv_slots *slots)
{
    return (slots->value_size + 7) / 8 * 8;
}

static inline size_t kv_slot_size(const struct kv_slots *slots)
{
    return KV_VALUE_AT + kv_value_room(slots) + sizeof(uint64_t);
}

static inline size_t kv_slot_at(const struct kv_slots *slots, uint32_t slot)
{
    return slot * slots->stride;
}

static inline uint64_t kv_slot_state(uint64_t counter, bool valid)
{
    return counter << 1 | (valid ? 1 : 0);
}

static inline const unsigned char *kv_slots_nearby(const struct kv_slots *slots, uint32_t host)
{
    return atomic_load_explicit(&slots->nearby[host], memory_order_acquire);
}

/* Fetches a slot into the cache, for a read or for a write, if this CPU can reach it. */
static inline void kv_slot_prefetch(const struct kv_slots *slots, uint32_t host, uint32_t slot,
                                    bool writes)
{
    const unsigned char *base = kv_slots_nearby(slots, host);

    if (base && writes)
        __builtin_prefetch(base + kv_slot_at(slots, slot), 1);
    else if (base)
        __builtin_prefetch(base + kv_slot_at(slots, slot));
}

enum { KV_HOMES = 2 };

/* Returns one of the key's home groups. They depend on different bits of the hash and, with up to
 * 2^16 nodes, on none of the bits that choose the host. */
static inline uint32_t kv_slots_home(const struct kv_slots *slots, uint64_t hash, unsigned which)
{
    return (uint32_t)((hash >> 16 * which & UINT32_MAX) * slots->own >> 32);
}

/* Fetches the key's homes into the cache, unless they are too large. */
static inline void kv_slots_prefetch_homes(const struct kv_slots *slots, uint32_t host,
                                           uint64_t hash)
{
    for (unsigned i = 0; i < KV_HOMES && slots->home_lines > 0; i++) {
        const uint32_t first = kv_slots_home(slots, hash, i) * slots->owners;
        kv_slot_prefetch(slots, host, first, false);
        if (slots->home_lines > 1)
            kv_slot_prefetch(slots, host, first + slots->owners - 1, false);
    }
}

/* Completes the copy of a slot, which has its value already: adds the checksum, and word 0 with the
 * valid bit off. */
void kv_slot_seal(const struct kv_slots *slots, void *copy, uint64_t hash, uint64_t counter);

enum kv_seen { KV_PRESENT, KV_ABSENT, KV_UNCLEAR };

/* What a slot's copy says of the key with this hash. The index has said that the key has use
 * `counter` of the slot. With counter 0 it was only a guess, and the answer is never KV_ABSENT. */
enum kv_seen kv_slot_judge(const struct kv_slots *slots, const void *copy, uint64_t hash,
                           uint64_t counter);

/* --- all slots ---------------------------------------------------------------------------- */

/* Cuts the region. Returns 0 or -ENOMEM. */
int kv_slots_open(struct kv_slots **slots, struct loco_channel *channel,
                  const struct loco_kvstore_config *config);
void kv_slots_close(struct kv_slots *slots);

/* Must be called when the host has connected, and when it is lost. */
void kv_slots_meet(struct kv_slots *slots, uint32_t host);
void kv_slots_part(struct kv_slots *slots, uint32_t host);

/* Takes one of this node's slots at `host` for a new key, and increments its counter. Returns 0 or
 * -ENOSPC. */
int kv_slots_take(struct kv_slots *slots, uint32_t host, uint64_t hash, struct kv_place *place);

/* Gives a slot back, if it is this node's. The slot's valid bit must be off. */
void kv_slots_put(struct kv_slots *slots, struct kv_place place);

#endif

/*
 * The kvstore's slots: their format, and who has which.
 *
 *      word 0      counter << 1 | valid
 *      value       padded with zeros to whole words
 *      word n      a checksum of the value and the counter
 *
 * The counter says which use of the slot this is, from 1; 0: never used. It and the valid bit
 * are one word, so they are never torn from one another, and the valid bit flips with one
 * write that leaves the checksum right. The checksum is one word too, and the value counts as
 * written when that is placed: an update is a write of the value and the checksum that leaves
 * word 0 alone.
 *
 * Each node has slots of its own at some or all hosts, and gives them to the keys that it
 * inserts. Only it counts up their counters, so it knows them without asking.
 *
 * Threads: any.
 */
#ifndef LOCO_KVSTORE_SLOTS_H
#define LOCO_KVSTORE_SLOTS_H

#include "kvstore_index.h"
#include "loco/kvstore.h"

struct kv_slots {
    struct loco_region *region;
    size_t value_size, stride; /* bytes; of the value, and from slot to slot */
    uint32_t node_count;
    uint32_t own;             /* how many this node has at each host where it has any */
    uint32_t capacity, used;  /* of this node's slots, at all hosts */
    pthread_mutex_t lock;     /* of `used` and all below */
    struct kv_spares *spares; /* by host */

    /* By host: where its slots are in this CPU's reach, for prefetching; NULL: they are not. */
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

/* Fetches a slot into the cache, for a read or for a write, if that is possible. */
static inline void kv_slot_prefetch(const struct kv_slots *slots, uint32_t host, uint32_t slot,
                                    bool writes)
{
    const unsigned char *base = atomic_load_explicit(&slots->nearby[host], memory_order_relaxed);

    if (base && writes)
        __builtin_prefetch(base + kv_slot_at(slots, slot), 1);
    else if (base)
        __builtin_prefetch(base + kv_slot_at(slots, slot));
}

/* Completes a copy whose value is there: word 0, not valid, and the checksum. */
void kv_slot_seal(const struct kv_slots *slots, void *copy, uint64_t counter);

enum kv_seen { KV_PRESENT, KV_ABSENT, KV_TORN };

/* What a copy says to who looks for use `counter` of its slot. */
enum kv_seen kv_slot_judge(const struct kv_slots *slots, const void *copy, uint64_t counter);

/* --- all slots ---------------------------------------------------------------------------- */

/* Cuts the region. Returns 0 or -ENOMEM. */
int kv_slots_open(struct kv_slots **slots, struct loco_channel *channel,
                  const struct loco_kvstore_config *config);
void kv_slots_close(struct kv_slots *slots);

/* The host has connected. */
void kv_slots_meet(struct kv_slots *slots, uint32_t host);

/* One of this node's slots for a new key, if it can be at `host`, and the counter of this use.
 * Returns 0 or -ENOSPC. */
int kv_slots_take(struct kv_slots *slots, uint32_t host, struct kv_place *place);

/* Gives it back, if it is this node's. Its valid bit is off. */
void kv_slots_put(struct kv_slots *slots, struct kv_place place);

#endif

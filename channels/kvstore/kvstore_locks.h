/*
 * The kvstore's locks: ticket locks of one word each, for operations that do not wait in a call but
 * are polled. A key's lock follows from its hash.
 *
 *      bits 32..63     now_serving
 *      bit 31          a carry out of next_ticket
 *      bits 0..30      next_ticket
 *
 * One fetch-and-add takes a ticket and also tells which ticket is being served, so a free lock
 * costs one round trip. A second one releases the lock; as an atomic, it executes only after the
 * holder's earlier writes on the same link are placed.
 *
 * loco_ticket_lock would not do. It waits inside its calls, and it hands over within a node: two
 * threads' writes to one slot would then be on two links, in no order. Here every handover between
 * threads goes through the word.
 */
#ifndef LOCO_KVSTORE_LOCKS_H
#define LOCO_KVSTORE_LOCKS_H

#include "../loco/kvstore.h"

#define KV_TICKETS (UINT64_C(1) << 31) /* after so many, tickets start again at 0 */

/* Finds the key's lock. */
static inline void kv_lock_find(struct loco_kv_op *op, const struct loco_kvstore *store)
{
    const uint64_t at = (op->hash >> 32) * store->channel.mgr->count;

    op->lock_host = (uint32_t)(at >> 32);
    op->lock_index = (uint32_t)((at & UINT32_MAX) * store->locks_each >> 32);
}

static inline struct loco_atomic_word kv_lock_word(const struct loco_kv_op *op,
                                                   const struct loco_kvstore *store)
{
    return loco_atomic_at(&store->locks, op->lock_host, op->lock_index);
}

/* The number that is added to take a ticket. */
#define KV_LOCK_TAKE UINT64_C(1)

/* The number that is added to release the lock. When the last ticket was taken, next_ticket carried
 * into bit 31. The release of that ticket carries the bit on into now_serving, and so increments
 * it. */
static inline uint64_t kv_lock_release(uint32_t ticket)
{
    return ticket == KV_TICKETS - 1 ? KV_TICKETS : UINT64_C(1) << 32;
}

static inline uint32_t kv_lock_next(uint64_t word)
{
    return (uint32_t)(word % KV_TICKETS);
}

static inline uint32_t kv_lock_serving(uint64_t word)
{
    return (uint32_t)((word >> 32) % KV_TICKETS);
}

#endif

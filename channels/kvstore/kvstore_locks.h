/*
 * The kvstore's locks: ticket locks of one word each, for operations that do not wait in a call but
 * are polled. A key's lock follows from its hash.
 *
 *      bits 32..63     now_serving
 *      bit 31          a carry out of next_ticket
 *      bits 0..30      next_ticket
 *
 * One fetch-and-add takes a ticket and also tells which ticket is being served, so a free lock
 * costs one round trip. A waiting operation looks by plain reads, as it matters little if it learns
 * a bit later that its turn has come. A second fetch-and-add releases the lock; as an atomic, it
 * executes only after the holder's earlier writes on the same link are placed.
 *
 * loco_ticket_lock would not do. It waits inside its calls, and it hands over within a node: two
 * threads' writes to one slot would then be on two links, in no order. Here every handover between
 * threads goes through the word.
 *
 * Operations of one window that want the same lock stand in a line, and only the first takes a
 * ticket. When it is done with the lock, it hands the lock to the next in line, which so waits
 * neither for other nodes nor for its own next poll. The number of handovers is bounded, so that
 * other nodes get their turn. A handover has no release that would order the operation's writes, so
 * these are placed before it.
 */
#ifndef LOCO_KVSTORE_LOCKS_H
#define LOCO_KVSTORE_LOCKS_H

#include "kvstore_chain.h"

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

/* The number that is added to release the lock: it passes on to the next ticket. When the last
 * ticket was taken, next_ticket carried into bit 31. The release of that ticket carries the bit on
 * into now_serving, and so increments it. */
static inline uint64_t kv_lock_pass_on(uint32_t ticket)
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

/* --- an operation's use of its key's lock --------------------------------------------------- */

/* The step that the operation takes once it has the lock. */
kv_step *kv_held_step(const struct loco_kv_op *op);

/* Begins to acquire the lock. */
bool kv_lock_acquire(struct loco_kv_op *op);

/* Whether kv_lock_release will hand the lock over. */
bool kv_lock_hands_over(const struct loco_kv_op *op);

/* Hands the lock over or releases it, and ends the operation with `result`. Before a handover the
 * operation's writes to the slot must be placed; before a release they may also be under way on the
 * lock's own link. */
bool kv_lock_release(struct loco_kv_op *op, int result);

#endif

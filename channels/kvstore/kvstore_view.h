/*
 * The view: which nodes a kvstore with replicas still uses. It changes when a node is lost.
 *
 * A lost node's values and locks move to other nodes, but not all nodes hear of a loss at the same
 * time. Until each one has, one node could still read the old copy of a value while another
 * already writes the new one. So operations begin in a view that is settled:
 *
 *      1. A node hears of a loss. Its view is unsettled: no operation begins, and no lock that is
 *         granted from now on counts.
 *      2. Once its operations that hold a lock have released it, the node leaves the lost node:
 *         it tells all others, in their memory. It will never use the lost node again.
 *      3. Once all nodes that it still uses have left all nodes that it has lost, its view is
 *         settled.
 *
 * A read takes no lock, so step 2 does not wait for it. Instead a read that was made while the view
 * changed does not count.
 *
 * Half of the nodes may lose the other half, because the network between them fails. At most one
 * of the two may go on. So there is a limit on how many nodes may be lost: fewer than half. On
 * coherent memory a lost node is dead, and any number may be.
 *
 * Threads: any attached thread, except as said.
 */
#ifndef LOCO_KVSTORE_VIEW_H
#define LOCO_KVSTORE_VIEW_H

#include "kvstore_chain.h"

struct kv_view {
    struct loco_region
        *left; /* a word for each pair of nodes: not 0 when the first left the second */
    uint32_t node, count;
    uint32_t limit; /* how many nodes may be lost */
    LOCO_ATOMIC(uint64_t) now;
    LOCO_ATOMIC(uint32_t) holders;    /* operations of this node that hold a lock */
    LOCO_ATOMIC(uint32_t) lost_count; /* of `lost` */
    LOCO_ATOMIC(bool) * lost;         /* by node */
    bool *told;                       /* by node: all others were told that this node has left it */
};

/* The view's number is `now`. A number whose lower bits are not 0 is of an unsettled view. */
enum { KV_VIEW_UNSETTLED = 1, KV_VIEW_CHANGING = 3, KV_VIEW_NEXT = 4 };

/* How many nodes a store of `count` nodes can lose. */
uint32_t kv_view_limit(const struct loco_manager *manager);

/* Cuts the region. Returns 0 or -ENOMEM. */
int kv_view_open(struct kv_view **view, struct loco_channel *channel);
void kv_view_close(struct kv_view *view);

/* Must be called when a node is lost; one call at a time. */
void kv_view_lose(struct kv_view *view, uint32_t node);

static inline uint64_t kv_view_now(const struct kv_view *view)
{
    return atomic_load_explicit(&view->now, memory_order_acquire);
}

static inline bool kv_view_is_settled(uint64_t number)
{
    return !(number & KV_VIEW_CHANGING);
}

static inline bool kv_view_has_lost(const struct kv_view *view, uint32_t node)
{
    return atomic_load_explicit(&view->lost[node], memory_order_acquire);
}

static inline uint32_t kv_view_lost_count(const struct kv_view *view)
{
    return atomic_load_explicit(&view->lost_count, memory_order_acquire);
}

/* Whether the view that the operation began in is not the present one any more. */
static inline bool kv_view_is_over(const struct loco_kv_op *op)
{
    return kv_view_now(kv_op_store(op)->view) != op->view;
}

/* Begins the operation in the present view. Returns 0, and sets its view; -EAGAIN: not yet;
 * -ECONNRESET: too many nodes are lost, or the view has not settled for owner_ns; or -ETIMEDOUT for
 * an operation that was left. */
int kv_view_enter(struct loco_kv_op *op);

/* To be called by an operation that was granted a lock in view `number`. Returns false when the
 * view has changed: the lock does not count. Else the view does not settle again before
 * kv_view_release, which is called once what the operation wrote is placed. */
bool kv_view_hold(struct kv_view *view, uint64_t number);
void kv_view_release(struct kv_view *view);

/* Takes the next step of a change, if it can be taken now. `number` is the view's before the caller
 * applied all that lost nodes had sent to this node. Returns whether the view is settled now, and
 * was not before. One thread at a time. */
bool kv_view_move_on(struct kv_view *view, uint64_t number);

#endif

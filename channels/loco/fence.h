/*
 * Fences (the paper's section "Memory consistency"): the remote operations from before a
 * fence are placed and visible before any operation after it. A write followed by a fence
 * releases; a reader needs no acquire fence of its own.
 *
 * Each returns 0 at once when nothing is outstanding; else it waits for the least that is
 * sufficient. -ECONNRESET: a peer was lost, and with it operations that the fence is about, which
 * will never be placed; those to other peers are. A thread is told once of each such loss. A peer
 * to which nothing was outstanding is no concern of a fence, nor is any on a LOCO_COHERENT fabric.
 * Any attached thread.
 *
 * The timed ones wait for at most `timeout_ns`: -ETIMEDOUT says that the operations are still on
 * their way, and that nothing is ordered yet. A later fence goes on from there.
 */
#ifndef LOCO_FENCE_H
#define LOCO_FENCE_H

#include "language.h"
#include "manager.h"

LOCO_DECLARATIONS

enum loco_fence {
    LOCO_FENCE_NONE,
    LOCO_FENCE_PAIR,   /* this thread's operations on one peer */
    LOCO_FENCE_THREAD, /* this thread's operations on all peers */
    LOCO_FENCE_GLOBAL, /* all threads' operations, of this node, on all peers */
};

int loco_fence_pair(struct loco_manager *manager, uint32_t node);
int loco_fence_thread(struct loco_manager *manager);
int loco_fence_global(struct loco_manager *manager);

int loco_fence_pair_timed(struct loco_manager *manager, uint32_t node, uint64_t timeout_ns);
int loco_fence_thread_timed(struct loco_manager *manager, uint64_t timeout_ns);
int loco_fence_global_timed(struct loco_manager *manager, uint64_t timeout_ns);

LOCO_DECLARATIONS_END

#endif

/*
 * Fences (the paper's section "Memory consistency"). All remote operations in the scope of a fence
 * that were posted before it are done and placed before any operation after it. A write followed by
 * a fence releases. A reader needs no acquire fence of its own.
 *
 * A fence waits only for operations in its scope; when none is outstanding it returns at once.
 * Returns
 *      0
 *      -ECONNRESET  a peer was lost together with operations in the fence's scope. Those will never
 *                   be placed; operations on the other peers are placed. A thread is told once of
 *                   each such loss. The loss of a peer to which nothing was outstanding is not
 *                   reported, and neither is any loss on a LOCO_COHERENT fabric
 *      -ETIMEDOUT   only the _timed calls: `timeout_ns` have passed. The operations are still on
 *                   their way, and nothing is ordered yet. The next fence waits for them again
 *      -EPERM       the calling thread is not attached
 *      -EINVAL      a pair fence: there is no such node
 *
 * Threads: any attached thread.
 */
#ifndef LOCO_FENCE_H
#define LOCO_FENCE_H

#include "fabric/language.h"
#include "manager.h"

LOCO_DECLARATIONS

enum loco_fence {
    LOCO_FENCE_NONE,
    LOCO_FENCE_PAIR,   /* the calling thread's operations on one peer */
    LOCO_FENCE_THREAD, /* the calling thread's operations on all peers */
    LOCO_FENCE_GLOBAL, /* the operations of all threads of this node on all peers */
};

int loco_fence_pair(struct loco_manager *manager, uint32_t node);
int loco_fence_thread(struct loco_manager *manager);
int loco_fence_global(struct loco_manager *manager);

int loco_fence_pair_timed(struct loco_manager *manager, uint32_t node, uint64_t timeout_ns);
int loco_fence_thread_timed(struct loco_manager *manager, uint64_t timeout_ns);
int loco_fence_global_timed(struct loco_manager *manager, uint64_t timeout_ns);

LOCO_DECLARATIONS_END

#endif

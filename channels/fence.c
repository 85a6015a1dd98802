#include "fence.h"

#include <errno.h>
#include <stdatomic.h>

#include "thread.h"
#include "trace_internal.h"

/* Which links a fence is about. */
struct scope {
    const struct loco_thread *thread; /* NULL: every thread of the node */
    uint32_t first, last;             /* peers */
};

enum { SETTLED, PENDING };

/* Whether writes went to a peer that has restarted since; that is told once. */
static bool owes_the_dead(const struct loco_link *link)
{
    bool owes = false;

    for (struct loco_link *older = link->older; older; older = older->older)
        owes |= atomic_exchange(&older->unplaced, 0) != 0;
    return owes;
}

/* Finds out what the link owes, and posts a flush where writes may not be placed yet. */
static int begin(struct loco_manager *m, struct loco_link *link)
{
    link->fence_number = atomic_load_explicit(&link->posted, memory_order_acquire);
    link->fence_write = atomic_load_explicit(&link->unplaced, memory_order_acquire);
    if (link->fence_write)
        link->fence_ticket = m->fabric->ops->flush(link);
    return SETTLED;
}

static int look(struct loco_manager *m, struct loco_link *link)
{
    loco_poll_inline(link, m);
    if (atomic_load_explicit(&link->flushed, memory_order_acquire) < link->fence_ticket)
        return PENDING;
    if (atomic_load_explicit(&link->done, memory_order_acquire) < link->fence_number)
        return PENDING;
    /* Unless its thread has written again, the link owes nothing now. */
    atomic_compare_exchange_strong(&link->unplaced, &link->fence_write, 0);
    return SETTLED;
}

/* Applies `step` to the scope's links; PENDING if any is, an error if any peer is lost. */
static int each(struct loco_manager *m, struct scope scope,
                int (*step)(struct loco_manager *, struct loco_link *))
{
    int result = SETTLED;

    pthread_mutex_lock(&m->lock);
    for (struct loco_thread *t = m->threads; t; t = t->next) {
        if (scope.thread && t != scope.thread)
            continue;
        for (uint32_t node = scope.first; node <= scope.last; node++) {
            if (!t->links[node])
                continue;
            int rc = loco_peer_lost(m, node) ? -ECONNRESET : step(m, t->links[node]);
            if (rc == SETTLED && owes_the_dead(t->links[node]))
                rc = -ECONNRESET;
            if (rc == PENDING || (rc && result == SETTLED))
                result = rc;
        }
    }
    pthread_mutex_unlock(&m->lock);
    return result;
}

static int settle(struct loco_manager *m, struct scope scope)
{
    struct loco_wait wait = loco_wait_for(m, UINT64_MAX);
    int rc = each(m, scope, begin);

    for (;;) {
        int looked = each(m, scope, look);
        if (looked != PENDING)
            return rc ? rc : looked;
        loco_relax(m, &wait);
    }
}

/* On coherent memory the stores only have to leave this CPU's store buffer. What another
 * thread of the node stored, and this one knows of, has left that thread's already. */
static int fence_coherent(struct loco_thread *t)
{
    if (t->unplaced) {
        atomic_thread_fence(memory_order_seq_cst);
        t->unplaced = false;
    }
    return 0;
}

static int fence(struct loco_manager *m, enum loco_fence kind, struct scope scope)
{
    struct loco_thread *self = loco_self(m);

    if (!self)
        return -EPERM;
    bool coherent = m->fabric->capabilities & LOCO_COHERENT;
    int rc = coherent ? fence_coherent(self) : settle(m, scope);
    LOCO_TRACE(fence, m->id, kind);
    return rc;
}

int loco_fence_pair(struct loco_manager *m, uint32_t node)
{
    if (node >= m->count)
        return -EINVAL;
    return fence(m, LOCO_FENCE_PAIR,
                 (struct scope){.thread = loco_self(m), .first = node, .last = node});
}

int loco_fence_thread(struct loco_manager *m)
{
    return fence(m, LOCO_FENCE_THREAD,
                 (struct scope){.thread = loco_self(m), .last = m->count - 1});
}

int loco_fence_global(struct loco_manager *m)
{
    return fence(m, LOCO_FENCE_GLOBAL, (struct scope){.last = m->count - 1});
}

/*
 * A thread's context: its private links, one for each peer, and its pool of mem_refs.
 *
 * A context outlives its thread. The next thread to attach takes it over, and every context stays
 * on the manager's list until the manager closes. So a fence may walk the list without a lock, and
 * an ack may be queried after its thread has detached.
 */
#ifndef LOCO_THREAD_LINKS_H
#define LOCO_THREAD_LINKS_H

#include "loco/fabric/context.h"
#include "loco/thread.h"

struct loco_mem_pool;

struct loco_thread {
    struct loco_manager *mgr;
    uint64_t number; /* number of the newest operation */
    uint32_t told;   /* number of losses reported to the thread */
    bool attached;   /* protected by the manager's lock, as are `owner` and `linked` */
    /* Has a link to each peer. If a peer does not answer, the links that were opened stay for the
     * next thread: a fabric may have a limited number of them. */
    bool linked;
    pthread_t owner; /* the thread that attached last */
    struct loco_mem_pool *pool;
    struct loco_thread *next; /* next on the manager's list */
    /* Has, for each peer, a struct loco_link *_Atomic; NULL while no channel has connected. When a
     * peer restarts, a new link replaces its link. The old one is kept as `older`, as a thread may
     * be about to use it. */
    struct loco_by_node links;
};

/* Iterates over every context that the manager ever had. */
#define loco_each_thread(manager, t)                                                               \
    for (struct loco_thread *t = atomic_load_explicit(&(manager)->threads, memory_order_acquire);  \
         t; t = t->next)

static inline struct loco_link *loco_thread_link(const struct loco_thread *thread, uint32_t node)
{
    struct loco_link *_Atomic *link = loco_by_node_find(&thread->links, node);

    return link ? atomic_load_explicit(link, memory_order_acquire) : NULL;
}

/* Whether the link's operation of this number is done. It also is if everything that was posted is
 * done. */
static inline bool loco_link_done(const struct loco_link *link, uint64_t number)
{
    uint64_t posted = atomic_load_explicit(&link->posted, memory_order_relaxed);
    uint64_t done = atomic_load_explicit(&link->done, memory_order_acquire);

    return done >= number || done == posted;
}

/* The calling thread's context; NULL when it is not attached. */
static inline struct loco_thread *loco_self(const struct loco_manager *manager)
{
    return (struct loco_thread *)loco_context_at(manager->slot);
}

/* Polls the link for completions, unless only loco_manager_poll does that. */
static inline void loco_poll_inline(struct loco_link *link, const struct loco_manager *manager)
{
    if (manager->config.completions == LOCO_INLINE)
        manager->fabric->ops->poll(link);
}

#endif

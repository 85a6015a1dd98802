/*
 * A thread's private endpoints: one link for each peer, and a pool of mem_refs. A thread
 * attaches to a manager before it uses the manager's channels; the thread that opened the
 * manager is attached already.
 */
#ifndef LOCO_THREAD_H
#define LOCO_THREAD_H

#include "fabric/context.h"
#include "manager.h"

struct loco_mem_pool;

struct loco_thread {
    struct loco_manager *mgr;
    uint64_t number; /* of the newest operation */
    bool unplaced;   /* a write of any link may not be placed yet */
    struct loco_mem_pool *pool;
    struct loco_thread *next; /* of the manager */
    /* By node; NULL where no channel has connected. One to a peer that restarts is replaced by
     * another, and kept as its `older` until the thread detaches: who was about to use it may. */
    struct loco_link *_Atomic links[];
};

/* The calling thread's context; NULL when it is not attached. */
static inline struct loco_thread *loco_self(const struct loco_manager *manager)
{
    return (struct loco_thread *)loco_context_at(manager->slot);
}

/* Looks for the link's completions, where that is not left to loco_manager_poll. */
static inline void loco_poll_inline(struct loco_link *link, const struct loco_manager *manager)
{
    if (manager->config.completions == LOCO_INLINE)
        manager->fabric->ops->poll(link);
}

/* Attaches the calling thread. Returns 0, -EEXIST when it is attached, or -ENOMEM. */
int loco_thread_attach(struct loco_manager *manager);

/* Detaches the calling thread, once all that it posted is done and placed. manager_close
 * detaches the rest. */
void loco_thread_detach(struct loco_manager *manager);

#endif

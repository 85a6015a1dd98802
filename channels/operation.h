/*
 * An operation on its way to the fabric, and the route that a row of pushes keeps between them.
 */
#ifndef LOCO_OPERATION_H
#define LOCO_OPERATION_H

#include <errno.h>

#include "loco/channel.h"
#include "thread_links.h"

struct loco_operation {
    struct loco_thread *thread; /* NULL: the calling thread is not attached */
    struct loco_link *link;
    uint32_t epoch; /* of the manager, read before the link: never newer than the link */
};

static inline struct loco_operation loco_operation_of(const struct loco_manager *mgr)
{
    const uint32_t epoch = atomic_load_explicit(&mgr->epoch, memory_order_acquire);

    return (struct loco_operation){.thread = loco_self(mgr), .epoch = epoch};
}

/* Numbers the operation, so that the fabric can say when it is done. */
static inline void loco_operation_number(struct loco_operation op)
{
    atomic_store_explicit(&op.link->posted, ++op.thread->number, memory_order_relaxed);
}

/* Marks a write as written. Only now, after it was posted: a flush that another thread's fence
 * posts must not seem to come behind a write that was still about to be posted. */
static inline void loco_operation_written(struct loco_operation op)
{
    atomic_store_explicit(&op.link->written, op.thread->number, memory_order_release);
}

/* The ack of an operation, from what beginning or posting it returned. */
static inline struct loco_ack loco_operation_end(struct loco_operation op, bool writes, int rc)
{
    if (rc < 0)
        return (struct loco_ack){.error = rc};
    if (writes)
        loco_operation_written(op);
    if (rc != LOCO_POSTED)
        return (struct loco_ack){0};
    return (struct loco_ack){.thread = op.thread,
                             .number = op.thread->number,
                             .peers = 1ull << (op.link->peer % 64),
                             .group = op.link->peer / 64,
                             .epoch = op.epoch};
}

/* --- pushes ----------------------------------------------------------------------------------- */

/* What a thread found for its last push to a member's region, for the next one. */
struct loco_route {
    struct loco_thread *thread; /* NULL: it has found nothing yet */
    struct loco_link *link;     /* the thread's */
    int (*write)(struct loco_link *link, struct loco_remote to, const void *from, size_t size);
    struct loco_remote to; /* the region */
    const struct loco_member *member;
    uint32_t incarnation; /* of the member. In another one the route leads nowhere */
};

/* Finds the thread's route to the region of member `m`. Returns 0 or an error of loco_region_write.
 */
int loco_route_find(struct loco_route *route, struct loco_thread *thread,
                    const struct loco_region *region, unsigned m);

static inline bool loco_route_leads(const struct loco_route *r, const struct loco_thread *thread)
{
    return thread && r->thread == thread &&
           r->incarnation == atomic_load_explicit(&r->member->incarnation, memory_order_acquire);
}

/* Writes `size` bytes to the beginning of the region of member `m`. The operation has begun; it and
 * what is returned are for loco_operation_end. The route is zero at first. One thread at a time
 * uses it. */
static inline int loco_route_write(struct loco_route *route, struct loco_operation *op,
                                   const struct loco_region *region, unsigned m, const void *from,
                                   size_t size)
{
    if (__builtin_expect(!loco_route_leads(route, op->thread), 0)) {
        int rc = loco_route_find(route, op->thread, region, m);
        if (rc)
            return rc;
    }
    op->link = route->link;
    loco_operation_number(*op);
    return route->write(op->link, route->to, from, size);
}

#endif

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

/* Counts the times that something changed on which routes depend. */
extern _Atomic uint64_t loco_routes_age;

/* Makes all routes be found again. Must be called after a member connected or was lost, after a
 * link was replaced, and after a thread attached or detached. */
static inline void loco_routes_renew(void)
{
    atomic_fetch_add_explicit(&loco_routes_age, 1, memory_order_release);
}

/* What a thread found for its last push to a member's region, for the next one: one cache line. */
struct loco_route {
    _Alignas(64) void **table; /* the context of the thread that found it; NULL: none has */
    uint64_t age;              /* in which it was found. In another one the route leads nowhere */
    struct loco_thread *thread;
    struct loco_link *link; /* the thread's */
    int (*write)(struct loco_link *link, struct loco_remote to, const void *from, size_t size);
    struct loco_remote to; /* the region */
    uint32_t epoch;        /* of the manager, as in struct loco_operation */
    bool only;             /* pushes go to this member only, and always over the fabric */
};

/* Finds the calling thread's route to the region of member `m`. Returns 0 or an error of
 * loco_region_write. */
int loco_route_find(struct loco_route *route, const struct loco_region *region, unsigned m);

static inline bool loco_route_leads(const struct loco_route *r)
{
    return r->table == loco_context.table &&
           r->age == atomic_load_explicit(&loco_routes_age, memory_order_acquire);
}

static inline struct loco_operation loco_route_operation(const struct loco_route *r)
{
    return (struct loco_operation){.thread = r->thread, .link = r->link, .epoch = r->epoch};
}

/* Writes `size` bytes to the beginning of the region. The route leads there. What is returned is
 * for loco_operation_end. One thread at a time uses a route. */
static inline int loco_route_write(const struct loco_route *r, const void *from, size_t size)
{
    loco_operation_number(loco_route_operation(r));
    return r->write(r->link, r->to, from, size);
}

#endif

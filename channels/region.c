/* Operations on the regions of channels. */
#include <errno.h>

#include "core.h"
#include "loco/fabric/atomic_copy.h"
#include "operation.h"
#include "thread_links.h"

void *loco_region_reach(const struct loco_region *r, unsigned m)
{
    const struct loco_manager *mgr = r->channel->mgr;
    const struct loco_fabric_ops *fabric = mgr->fabric->ops;

    if (!fabric->reach)
        return NULL;
    return fabric->reach(mgr->node, r->channel->members[m].node, r->peers[m], r->size);
}

void *loco_region_direct(const struct loco_region *r, unsigned m)
{
    return r->channel->mgr->fabric->capabilities & LOCO_COHERENT ? loco_region_reach(r, m) : NULL;
}

/* Finds the link to the member, and *at, the place in its region. Returns 0 or an error as of
 * loco_region_write. (`at` is apart from the operation, which so stays in registers.) */
__attribute__((always_inline)) static inline int
operation_address(struct loco_operation *op, struct loco_remote *at, const struct loco_region *r,
                  unsigned m, size_t offset, size_t size)
{
    const struct loco_channel *c = r->channel;

    if (!op->thread)
        return -EPERM;
    if ((m >= c->member_count && m != LOCO_SELF) || offset > r->size || size > r->size - offset)
        return -ERANGE;
    if (m == LOCO_SELF) {
        op->link = loco_thread_link(op->thread, c->mgr->id);
        *at = r->where;
    } else {
        const struct loco_member *member = &c->members[m];
        uint32_t incarnation = atomic_load_explicit(&member->incarnation, memory_order_acquire);
        if (!(incarnation & 1))
            return incarnation ? -ECONNRESET : -ENOTCONN;
        op->link = loco_thread_link(op->thread, member->node);
        loco_copy(at, &r->peers[m], sizeof *at);
        /* The link and the address are of one incarnation: an address of a peer's earlier life is
         * never used on a link to its next one. */
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&member->incarnation, memory_order_relaxed) != incarnation)
            return -ECONNRESET;
    }
    at->offset += offset;
    return 0;
}

/* Prepares an operation. Returns 0 when it may be posted. */
__attribute__((always_inline)) static inline int
operation_begin(struct loco_operation *op, struct loco_remote *at, const struct loco_region *r,
                unsigned m, size_t offset, size_t size)
{
    *op = loco_operation_of(r->channel->mgr);
    int rc = operation_address(op, at, r, m, offset, size);
    if (!rc)
        loco_operation_number(*op);
    return rc;
}

struct loco_ack loco_region_write(struct loco_region *r, unsigned m, size_t offset,
                                  const void *from, size_t size)
{
    struct loco_operation op;
    struct loco_remote at;
    int rc = operation_begin(&op, &at, r, m, offset, size);

    if (!rc)
        rc = r->channel->mgr->fabric->ops->write(op.link, at, from, size);
    return loco_operation_end(op, true, rc);
}

_Atomic uint64_t loco_routes_age = 1;

/* The age is the one before the link and the address were found. */
int loco_route_find(struct loco_route *route, const struct loco_region *r, unsigned m)
{
    const struct loco_manager *mgr = r->channel->mgr;
    const uint64_t age = atomic_load_explicit(&loco_routes_age, memory_order_acquire);
    struct loco_operation op = loco_operation_of(mgr);
    struct loco_remote to;
    int rc = operation_address(&op, &to, r, m, 0, r->size);

    if (rc)
        return rc;
    *route = (struct loco_route){.table = loco_context.table,
                                 .age = age,
                                 .thread = op.thread,
                                 .link = op.link,
                                 .write = mgr->fabric->ops->write,
                                 .to = to,
                                 .epoch = op.epoch,
                                 .only = route->only};
    return 0;
}

struct loco_ack loco_region_read(struct loco_region *r, unsigned m, size_t offset, void *to,
                                 size_t size)
{
    struct loco_operation op;
    struct loco_remote at;
    int rc = operation_begin(&op, &at, r, m, offset, size);

    if (!rc)
        rc = r->channel->mgr->fabric->ops->read(op.link, at, to, size);
    return loco_operation_end(op, false, rc);
}

/* Whether fences count an atomic as a write: its word may not be placed when it is done. */
static bool atomic_is_placed_late(const struct loco_region *r)
{
    return !(r->channel->mgr->fabric->capabilities & LOCO_ATOMICS_PLACED);
}

struct loco_ack loco_region_fetch_add(struct loco_region *r, unsigned m, size_t offset,
                                      uint64_t add, uint64_t *old)
{
    struct loco_operation op;
    struct loco_remote at;
    int rc = operation_begin(&op, &at, r, m, offset, sizeof *old);

    if (!rc)
        rc = r->channel->mgr->fabric->ops->fetch_add(op.link, at, add, old);
    return loco_operation_end(op, atomic_is_placed_late(r), rc);
}

struct loco_ack loco_region_compare_swap(struct loco_region *r, unsigned m, size_t offset,
                                         uint64_t expected, uint64_t desired, uint64_t *old)
{
    struct loco_operation op;
    struct loco_remote at;
    int rc = operation_begin(&op, &at, r, m, offset, sizeof *old);

    if (!rc)
        rc = r->channel->mgr->fabric->ops->compare_swap(op.link, at, expected, desired, old);
    return loco_operation_end(op, atomic_is_placed_late(r), rc);
}

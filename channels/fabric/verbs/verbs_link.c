/*
 * Links of the verbs fabric: how operations are posted, and how their completions are found.
 *
 * The completions of a queue pair arrive in the order of posting, so each one says that all earlier
 * operations are done, too. Therefore only some writes ask for a completion (they are signalled).
 * If the newest operations were not signalled, verbs_poll() posts an empty write that is.
 *
 * Neither queue can overflow. A post waits for a free slot, so there are at most `depth` operations
 * in the send queue. Of any signal_each successive ones at least one is signalled. A completion
 * queue has an entry for each slot of its links. The sending device itself limits the number of
 * reads and atomics in flight to the number that the two devices agreed on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_internal.h"

enum {
    SIGNAL_EACH = 16,
    DEPTH = 128,
    DEPTH_LEAST = 4,
    TRANSFER_MAX = 1 << 30, /* bytes of one operation; devices do not take much more */
    SHARED_FIRST = 1024,    /* entries of a shared completion queue at first */
};

/* --- completions ------------------------------------------------------------------------ */

static int queue_open(struct verbs_queue *q, struct ibv_context *device, unsigned size)
{
    q->cq = ibv_create_cq(device, (int)size, NULL, NULL, 0);
    q->size = size;
    return q->cq ? 0 : -errno;
}

void verbs_queue_close(struct verbs_queue *q)
{
    if (q->cq)
        ibv_destroy_cq(q->cq);
    q->cq = NULL;
}

static void link_break(struct verbs_link *l, enum ibv_wc_status status)
{
    if (!atomic_exchange(&l->broken, true))
        verbs_link_failed(l, status);
}

static void link_complete(const struct ibv_wc *wc)
{
    const struct verbs_slot *s = (const struct verbs_slot *)(uintptr_t)wc->wr_id;
    struct verbs_link *l = s->link;

    if (wc->status != IBV_WC_SUCCESS) {
        link_break(l, wc->status);
        return;
    }
    if (s->reads)
        atomic_store_explicit(&l->base.flushed, s->sequence, memory_order_release);
    atomic_store_explicit(&l->base.done, s->number, memory_order_release);
    atomic_store_explicit(&l->completed, s->sequence, memory_order_release);
}

static void queue_drain_locked(struct verbs_queue *q)
{
    enum { AT_ONCE = 8 };
    struct ibv_wc found[AT_ONCE];
    int count;

    do {
        count = ibv_poll_cq(q->cq, AT_ONCE, found);
        for (int i = 0; i < count; i++)
            link_complete(&found[i]);
    } while (count == AT_ONCE);
}

/* If the lock is held, its holder is already polling. */
static void queue_drain(struct verbs_queue *q)
{
    if (!verbs_try_lock(&q->lock))
        return;
    queue_drain_locked(q);
    verbs_unlock(&q->lock);
}

static bool link_has_slot(const struct verbs_link *l)
{
    return atomic_load_explicit(&l->posted, memory_order_relaxed) -
               atomic_load_explicit(&l->completed, memory_order_acquire) <
           l->depth;
}

static bool link_is_broken(const struct verbs_link *l)
{
    return atomic_load_explicit(&l->broken, memory_order_relaxed);
}

/* Waits for a free slot. Within the device's time-outs a slot becomes free, or the link breaks. */
static int link_wait_for_slot(struct verbs_link *l)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    while (!link_has_slot(l)) {
        if (link_is_broken(l))
            return -ECONNRESET;
        queue_drain(l->queue);
        l->base.node->fabric->ops->relax(l->base.node, &wait);
    }
    return 0;
}

/* --- posting: with the link's lock held ------------------------------------------------- */

/* Posts l->request. Reads and atomics are always signalled. */
static int link_post(struct verbs_link *l, enum ibv_wr_opcode opcode, unsigned flags)
{
    struct ibv_send_wr *bad;
    bool reads = opcode != IBV_WR_RDMA_WRITE;

    if (link_is_broken(l) || (!link_has_slot(l) && link_wait_for_slot(l)))
        return -ECONNRESET;
    uint64_t sequence = atomic_load_explicit(&l->posted, memory_order_relaxed) + 1;
    uint64_t signalled = atomic_load_explicit(&l->signalled, memory_order_relaxed);
    if (reads || sequence - signalled >= l->signal_each)
        flags |= IBV_SEND_SIGNALED;
    struct verbs_slot *s = &l->slots[sequence & (l->depth - 1)];
    s->sequence = sequence;
    s->number = l->number;
    s->reads = reads;
    l->request.wr_id = (uintptr_t)s;
    l->request.opcode = opcode;
    l->request.send_flags = flags;
    atomic_store_explicit(&l->posted, sequence, memory_order_relaxed);
    if (flags & IBV_SEND_SIGNALED)
        atomic_store_explicit(&l->signalled, sequence, memory_order_relaxed);
    if (opcode == IBV_WR_RDMA_READ)
        l->last_read = sequence;
    int rc = ibv_post_send(l->qp, &l->request, &bad);
    if (rc) {
        link_break(l, IBV_WC_GENERAL_ERR);
        return -ECONNRESET;
    }
    return LOCO_POSTED;
}

/* Posts a write or an atomic. An atomic needs a flush, too: the device promises that one that is
 * done is placed only if its atomics are atomic with the CPU's. */
static int link_post_change(struct verbs_link *l, enum ibv_wr_opcode opcode, unsigned flags)
{
    int rc = link_post(l, opcode, flags);

    l->last_write = atomic_load_explicit(&l->posted, memory_order_relaxed);
    return rc;
}

static void link_aim_at_nothing(struct verbs_link *l)
{
    l->request.num_sge = 0;
    l->request.wr.rdma.remote_addr = l->arenas->at[0].base;
    l->request.wr.rdma.rkey = l->arenas->at[0].remote_key;
}

/* Posts an empty, signalled write. Its completion says that all operations before it are done. */
static int link_post_nothing(struct verbs_link *l)
{
    link_aim_at_nothing(l);
    return link_post(l, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED);
}

/* For an operation that cannot be posted. The core has already numbered it, so an empty write takes
 * its place. The completion of that write ends waits for the number. */
static int link_fail(struct verbs_link *l, int error)
{
    link_post_nothing(l);
    return error;
}

/* The peer's arena that contains the whole range, or NULL. */
static const struct verbs_arena *link_target(const struct verbs_link *l, struct loco_remote at,
                                             size_t size)
{
    if (at.arena >= VERBS_ARENAS_MAX || size > TRANSFER_MAX)
        return NULL;
    const struct verbs_arena *a = &l->arenas->at[at.arena];
    return at.offset <= a->size && size <= a->size - at.offset ? a : NULL;
}

/* Describes own memory to the device; false if no arena contains it. */
static bool link_describe(struct verbs_link *l, const void *memory, size_t size)
{
    const struct verbs_arenas *own = &l->node->own;
    uint64_t address = (uintptr_t)memory;

    l->request.num_sge = 1;
    l->part.addr = address;
    l->part.length = (uint32_t)size;
    for (uint32_t i = atomic_load_explicit(&own->count, memory_order_acquire); i-- > 0;) {
        const struct verbs_arena *a = &own->at[i];
        if (address - a->base < a->size && size <= a->size - (address - a->base)) {
            l->part.lkey = a->local_key;
            return true;
        }
    }
    return false;
}

/* Describes a short source, which may be in any memory: the device or this function copies it now.
 * Returns false if the source is too long for that. */
static bool link_describe_inline(struct verbs_link *l, const void *from, size_t size,
                                 unsigned *flags)
{
    l->request.num_sge = size > 0;
    l->part.addr = (uintptr_t)from;
    l->part.length = (uint32_t)size;
    if (size <= l->inline_max) {
        *flags = IBV_SEND_INLINE;
        return true;
    }
    if (size > LOCO_INLINE_MAX)
        return false;
    if (!link_has_slot(l) && link_wait_for_slot(l)) /* so the slot's former bytes were sent */
        return true;
    uint64_t sequence = atomic_load_explicit(&l->posted, memory_order_relaxed) + 1;
    unsigned char *stage = l->staging + (sequence & (l->depth - 1)) * LOCO_INLINE_MAX;
    memcpy(stage, from, size);
    l->part.addr = (uintptr_t)stage;
    l->part.lkey = l->staging_mr->lkey;
    return true;
}

/* --- operations ------------------------------------------------------------------------- */

static struct verbs_link *link_begin(struct loco_link *base)
{
    struct verbs_link *l = (struct verbs_link *)base;

    verbs_lock(&l->lock);
    l->number = atomic_load_explicit(&base->posted, memory_order_relaxed);
    return l;
}

static int link_end(struct verbs_link *l, int rc)
{
    verbs_unlock(&l->lock);
    return rc;
}

int verbs_write(struct loco_link *base, struct loco_remote to, const void *from, size_t size)
{
    struct verbs_link *l = link_begin(base);
    const struct verbs_arena *target = link_target(l, to, size);
    unsigned flags = 0;

    if (link_is_broken(l))
        return link_end(l, -ECONNRESET);
    if (!target)
        return link_end(l, link_fail(l, -ERANGE));
    if (!link_describe_inline(l, from, size, &flags) && !link_describe(l, from, size))
        return link_end(l, link_fail(l, -EFAULT));
    l->request.wr.rdma.remote_addr = target->base + to.offset;
    l->request.wr.rdma.rkey = target->remote_key;
    return link_end(l, link_post_change(l, IBV_WR_RDMA_WRITE, flags));
}

int verbs_read(struct loco_link *base, struct loco_remote from, void *to, size_t size)
{
    struct verbs_link *l = link_begin(base);
    const struct verbs_arena *target = link_target(l, from, size);

    if (link_is_broken(l))
        return link_end(l, -ECONNRESET);
    if (!target)
        return link_end(l, link_fail(l, -ERANGE));
    if (!link_describe(l, to, size))
        return link_end(l, link_fail(l, -EFAULT));
    l->request.wr.rdma.remote_addr = target->base + from.offset;
    l->request.wr.rdma.rkey = target->remote_key;
    return link_end(l, link_post(l, IBV_WR_RDMA_READ, 0));
}

static int link_post_atomic(struct loco_link *base, struct loco_remote at,
                            enum ibv_wr_opcode opcode, uint64_t first, uint64_t second,
                            uint64_t *old)
{
    struct verbs_link *l = link_begin(base);
    const struct verbs_arena *target = link_target(l, at, sizeof *old);

    if (link_is_broken(l))
        return link_end(l, -ECONNRESET);
    if (!target || at.offset % sizeof *old)
        return link_end(l, link_fail(l, -ERANGE));
    if (!link_describe(l, old, sizeof *old))
        return link_end(l, link_fail(l, -EFAULT));
    l->request.wr.atomic.remote_addr = target->base + at.offset;
    l->request.wr.atomic.rkey = target->remote_key;
    l->request.wr.atomic.compare_add = first;
    l->request.wr.atomic.swap = second;
    return link_end(l, link_post_change(l, opcode, 0));
}

int verbs_fetch_add(struct loco_link *base, struct loco_remote at, uint64_t add, uint64_t *old)
{
    return link_post_atomic(base, at, IBV_WR_ATOMIC_FETCH_AND_ADD, add, 0, old);
}

int verbs_compare_swap(struct loco_link *base, struct loco_remote at, uint64_t expected,
                       uint64_t desired, uint64_t *old)
{
    return link_post_atomic(base, at, IBV_WR_ATOMIC_CMP_AND_SWP, expected, desired, old);
}

/* Posts a read of the peer's first arena into memory that is not used. verbs.h says why it reads
 * some bytes. The first arena is known, because peers announce their arenas in order and a write to
 * one of them was posted. It exists as long as the peer. */
static int link_post_flush(struct verbs_link *l)
{
    link_aim_at_nothing(l);
    if (!l->node->verbs->config.flush_by_nothing) {
        l->request.num_sge = 1;
        l->part = (struct ibv_sge){.addr = (uintptr_t)l->node->landing,
                                   .length = sizeof(uint64_t),
                                   .lkey = l->node->landing_mr->lkey};
    }
    return link_post(l, IBV_WR_RDMA_READ, 0);
}

/* A read that was posted after the newest write also serves as a flush. Without a write there is
 * nothing to flush. */
uint64_t verbs_flush(struct loco_link *base)
{
    struct verbs_link *l = (struct verbs_link *)base;

    verbs_lock(&l->lock);
    int rc = l->last_read >= l->last_write ? 0 : link_post_flush(l);
    uint64_t ticket = rc ? UINT64_MAX : l->last_read; /* UINT64_MAX: never, the peer is lost */
    verbs_unlock(&l->lock);
    return ticket;
}

/* The caller may wait for the newest operations. If they are not signalled, posts a write that is.
 */
static void link_ask_tail(struct verbs_link *l)
{
    if (!verbs_try_lock(&l->lock))
        return;
    bool asked = atomic_load_explicit(&l->signalled, memory_order_relaxed) ==
                 atomic_load_explicit(&l->posted, memory_order_relaxed);
    if (!asked && link_has_slot(l))
        link_post_nothing(l);
    verbs_unlock(&l->lock);
}

void verbs_poll(struct loco_link *base)
{
    struct verbs_link *l = (struct verbs_link *)base;
    uint64_t posted = atomic_load_explicit(&l->posted, memory_order_relaxed);

    if (atomic_load_explicit(&l->completed, memory_order_relaxed) == posted)
        return;
    if (atomic_load_explicit(&l->signalled, memory_order_relaxed) != posted)
        link_ask_tail(l);
    queue_drain(l->queue);
}

/* --- opening and closing ---------------------------------------------------------------- */

static unsigned link_power_of_two(unsigned least)
{
    unsigned power = DEPTH_LEAST;

    while (power < least)
        power *= 2;
    return power;
}

/* Opens or enlarges the queue that the link's completions go to. */
static int link_choose_queue(struct verbs_link *l)
{
    struct verbs_node *n = l->node;
    struct verbs_queue *q = &n->shared;

    if (!n->verbs->config.shared_completions) {
        l->queue = &l->own_queue;
        return queue_open(l->queue, n->device, l->depth);
    }
    l->queue = q;
    verbs_lock(&q->lock);
    int rc = q->cq ? 0 : queue_open(q, n->device, SHARED_FIRST);
    unsigned size = q->size;
    while (!rc && q->used + l->depth > size)
        size *= 2;
    if (!rc && size > q->size)
        rc = -ibv_resize_cq(q->cq, (int)size);
    if (!rc) {
        q->size = size;
        q->used += l->depth;
    }
    verbs_unlock(&q->lock);
    if (rc)
        l->queue = NULL;
    return rc;
}

/* Removes the link's last completions from its queue. Its queue pair must be gone. */
static void link_leave_queue(struct verbs_link *l)
{
    struct verbs_queue *q = l->queue;

    if (q != &l->own_queue && q) {
        verbs_lock(&q->lock);
        queue_drain_locked(q);
        q->used -= l->depth;
        verbs_unlock(&q->lock);
    }
    verbs_queue_close(&l->own_queue);
}

static int link_make_staging(struct verbs_link *l)
{
    size_t page = 4096, size = ((size_t)l->depth * LOCO_INLINE_MAX + page - 1) / page * page;

    l->staging = aligned_alloc(page, size);
    if (!l->staging)
        return -ENOMEM;
    return verbs_register(l->node, l->staging, size, 0, &l->staging_mr);
}

static int link_connect(struct verbs_link *l, uint64_t until)
{
    struct ibv_qp_init_attr attributes = {
        .qp_type = IBV_QPT_RC,
        .send_cq = l->queue->cq,
        .recv_cq = l->queue->cq,
        .cap = {.max_send_wr = l->depth,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = LOCO_INLINE_MAX},
    };
    int rc = verbs_link_connect(l, &attributes, until);

    if (rc)
        return rc;
    l->inline_max = attributes.cap.max_inline_data;
    return l->inline_max < LOCO_INLINE_MAX ? link_make_staging(l) : 0;
}

static int link_make_slots(struct verbs_link *l)
{
    unsigned depth = l->node->verbs->config.send_depth;

    l->depth = link_power_of_two(depth ? depth : DEPTH);
    l->signal_each = l->depth / 2 < SIGNAL_EACH ? l->depth / 2 : SIGNAL_EACH;
    if (l->node->verbs->config.shared_completions)
        l->signal_each = 1; /* a thread polls the shared queue all the time */
    l->slots = calloc(l->depth, sizeof *l->slots);
    if (!l->slots)
        return -ENOMEM;
    for (unsigned i = 0; i < l->depth; i++)
        l->slots[i].link = l;
    return 0;
}

/* The arenas of a lost peer. */
static const struct verbs_arenas no_arenas;

/* A link to a lost peer is opened broken. That is no error, since a peer may be lost right after
 * the link was opened, too. */
int verbs_link_open(struct loco_node *base, uint32_t peer, uint64_t until, struct loco_link **link)
{
    struct verbs_node *n = (struct verbs_node *)base;
    struct verbs_link *l = calloc(1, sizeof *l);

    if (!l)
        return -ENOMEM;
    l->base.node = base;
    l->base.peer = peer;
    l->node = n;
    l->request.sg_list = &l->part;
    int rc = link_make_slots(l);
    if (!rc)
        rc = link_choose_queue(l);

    pthread_mutex_lock(&n->verbs->control.lock);
    const struct verbs_connection *c = verbs_connection_to(n, peer);
    const bool there = c && control_is_up(&c->control);
    l->arenas = peer == base->id ? &n->own : there ? c->arenas : &no_arenas;
    l->next = n->links;
    n->links = l;
    pthread_mutex_unlock(&n->verbs->control.lock);

    if (!rc)
        rc = l->arenas == &no_arenas ? -ECONNRESET : link_connect(l, until);
    if (rc == -ECONNRESET)
        atomic_store(&l->broken, true);
    if (rc && rc != -ECONNRESET) {
        verbs_link_close(&l->base);
        return rc;
    }
    *link = &l->base;
    return 0;
}

void verbs_link_close(struct loco_link *link)
{
    struct verbs_link *l = (struct verbs_link *)link;
    struct verbs *v = l->node->verbs;

    pthread_mutex_lock(&v->control.lock);
    for (struct verbs_link **at = &l->node->links; *at; at = &(*at)->next) {
        if (*at == l) {
            *at = l->next;
            break;
        }
    }
    atomic_store(&l->broken, true); /* failures from now on do not mean that the peer is lost */
    pthread_mutex_unlock(&v->control.lock);
    if (l->id) {
        if (l->id->qp)
            rdma_destroy_qp(l->id);
        rdma_destroy_id(l->id);
    }
    if (l->channel)
        rdma_destroy_event_channel(l->channel);
    link_leave_queue(l);
    if (l->staging_mr)
        ibv_dereg_mr(l->staging_mr);
    free(l->staging);
    free(l->slots);
    free(l);
}

void verbs_links_break(struct verbs_node *n, const struct verbs_arenas *arenas)
{
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};

    for (struct verbs_link *l = n->links; l; l = l->next) {
        if (l->arenas != arenas)
            continue;
        atomic_store(&l->broken, true);
        if (l->qp)
            ibv_modify_qp(l->qp, &error, IBV_QP_STATE);
    }
}

/*
 * Links of the verbs fabric: how operations are posted, and how it is learned that they are done.
 *
 * The completions of a queue pair come in the order of posting, so one says that all the earlier
 * operations are done too, and only some writes ask for one. Whoever waits for the rest finds a
 * tail that asked for none; verbs_poll() then posts an empty write that does.
 *
 * Neither queue can overflow. A post waits for its slot, so no more than `depth` operations are in
 * the send queue, at least one of any signal_each of them will say that it is done, and a
 * completion queue has an entry for each slot of its links. How many reads and atomics are in
 * flight at once is held below what the two devices agreed on by the sending device itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_internal.h"

enum {
    SIGNAL_EACH = 16,
    DEPTH = 128,
    DEPTH_LEAST = 4,
    TRANSFER_MAX = 1 << 30, /* every device takes this much at once, none much more */
    SHARED_FIRST = 1024,    /* entries of a shared completion queue, to begin with */
};

/* --- completions ------------------------------------------------------------------------ */

int verbs_queue_open(struct verbs_queue *q, struct ibv_context *device, unsigned size)
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

static void break_link(struct verbs_link *l, enum ibv_wc_status status)
{
    if (!atomic_exchange(&l->broken, true))
        verbs_link_failed(l, status);
}

static void complete(const struct ibv_wc *wc)
{
    const struct verbs_slot *s = (const struct verbs_slot *)(uintptr_t)wc->wr_id;
    struct verbs_link *l = s->link;

    if (wc->status != IBV_WC_SUCCESS) {
        break_link(l, wc->status);
        return;
    }
    if (s->reads)
        atomic_store_explicit(&l->base.flushed, s->sequence, memory_order_release);
    atomic_store_explicit(&l->base.done, s->number, memory_order_release);
    atomic_store_explicit(&l->completed, s->sequence, memory_order_release);
}

static void drain_locked(struct verbs_queue *q)
{
    enum { AT_ONCE = 8 };
    struct ibv_wc found[AT_ONCE];
    int count;

    do {
        count = ibv_poll_cq(q->cq, AT_ONCE, found);
        for (int i = 0; i < count; i++)
            complete(&found[i]);
    } while (count == AT_ONCE);
}

/* Who finds the lock taken need not wait: somebody is looking. */
static void drain(struct verbs_queue *q)
{
    if (!verbs_try_lock(&q->lock))
        return;
    drain_locked(q);
    verbs_unlock(&q->lock);
}

static bool has_slot(const struct verbs_link *l)
{
    return atomic_load_explicit(&l->posted, memory_order_relaxed) -
               atomic_load_explicit(&l->completed, memory_order_acquire) <
           l->depth;
}

static bool is_broken(const struct verbs_link *l)
{
    return atomic_load_explicit(&l->broken, memory_order_relaxed);
}

/* Waits for a slot. It comes, or the link breaks, within the device's time-outs. */
static int wait_for_slot(struct verbs_link *l)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    while (!has_slot(l)) {
        if (is_broken(l))
            return -ECONNRESET;
        drain(l->queue);
        l->node->base.fabric->ops->relax(&l->node->base, &wait);
    }
    return 0;
}

/* --- posting: with the link's lock held ------------------------------------------------- */

/* Sends off the request that was made ready. */
static int post(struct verbs_link *l, enum ibv_wr_opcode opcode, unsigned flags)
{
    struct ibv_send_wr *bad;
    bool reads = opcode != IBV_WR_RDMA_WRITE;

    if (is_broken(l) || (!has_slot(l) && wait_for_slot(l)))
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
    if (reads)
        l->last_reads = sequence;
    int rc = ibv_post_send(l->qp, &l->request, &bad);
    if (rc) {
        break_link(l, IBV_WC_GENERAL_ERR);
        return -ECONNRESET;
    }
    return LOCO_POSTED;
}

static void aim_at_nothing(struct verbs_link *l)
{
    l->request.num_sge = 0;
    l->request.wr.rdma.remote_addr = l->arenas->at[0].base;
    l->request.wr.rdma.rkey = l->arenas->at[0].remote_key;
}

/* An empty write, which says when all before it is done. */
static int post_nothing(struct verbs_link *l)
{
    aim_at_nothing(l);
    return post(l, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED);
}

/* An operation that is not posted still has a number, and who waits for that must not wait for
 * ever. */
static int fail(struct verbs_link *l, int error)
{
    post_nothing(l);
    return error;
}

/* The peer's arena that has all of this, or NULL. */
static const struct verbs_arena *target_of(const struct verbs_link *l, struct loco_remote at,
                                           size_t size)
{
    if (at.arena >= VERBS_ARENAS_MAX || size > TRANSFER_MAX)
        return NULL;
    const struct verbs_arena *a = &l->arenas->at[at.arena];
    return at.offset <= a->size && size <= a->size - at.offset ? a : NULL;
}

/* Finds the key by which the device knows own memory. */
static bool describe(struct verbs_link *l, const void *memory, size_t size)
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

/* A source of any memory is read at once. */
static bool describe_inline(struct verbs_link *l, const void *from, size_t size, unsigned *flags)
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
    if (!has_slot(l) && wait_for_slot(l)) /* the bytes of the slot's last use are gone by then */
        return true;
    uint64_t sequence = atomic_load_explicit(&l->posted, memory_order_relaxed) + 1;
    unsigned char *stage = l->staging + (sequence & (l->depth - 1)) * LOCO_INLINE_MAX;
    memcpy(stage, from, size);
    l->part.addr = (uintptr_t)stage;
    l->part.lkey = l->staging_mr->lkey;
    return true;
}

/* --- operations ------------------------------------------------------------------------- */

static struct verbs_link *begin(struct loco_link *base)
{
    struct verbs_link *l = (struct verbs_link *)base;

    verbs_lock(&l->lock);
    l->number = atomic_load_explicit(&base->posted, memory_order_relaxed);
    return l;
}

static int end(struct verbs_link *l, int rc)
{
    verbs_unlock(&l->lock);
    return rc;
}

int verbs_write(struct loco_link *base, struct loco_remote to, const void *from, size_t size)
{
    struct verbs_link *l = begin(base);
    const struct verbs_arena *target = target_of(l, to, size);
    unsigned flags = 0;

    if (is_broken(l))
        return end(l, -ECONNRESET);
    if (!target)
        return end(l, fail(l, -ERANGE));
    if (!describe_inline(l, from, size, &flags) && !describe(l, from, size))
        return end(l, fail(l, -EFAULT));
    l->request.wr.rdma.remote_addr = target->base + to.offset;
    l->request.wr.rdma.rkey = target->remote_key;
    int rc = post(l, IBV_WR_RDMA_WRITE, flags);
    l->last_write = atomic_load_explicit(&l->posted, memory_order_relaxed);
    return end(l, rc);
}

int verbs_read(struct loco_link *base, struct loco_remote from, void *to, size_t size)
{
    struct verbs_link *l = begin(base);
    const struct verbs_arena *target = target_of(l, from, size);

    if (!target)
        return end(l, fail(l, -ERANGE));
    if (!describe(l, to, size))
        return end(l, fail(l, -EFAULT));
    l->request.wr.rdma.remote_addr = target->base + from.offset;
    l->request.wr.rdma.rkey = target->remote_key;
    return end(l, post(l, IBV_WR_RDMA_READ, 0));
}

static int post_atomic(struct loco_link *base, struct loco_remote at, enum ibv_wr_opcode opcode,
                       uint64_t first, uint64_t second, uint64_t *old)
{
    struct verbs_link *l = begin(base);
    const struct verbs_arena *target = target_of(l, at, sizeof *old);

    if (!target || at.offset % sizeof *old)
        return end(l, fail(l, -ERANGE));
    if (!describe(l, old, sizeof *old))
        return end(l, fail(l, -EFAULT));
    l->request.wr.atomic.remote_addr = target->base + at.offset;
    l->request.wr.atomic.rkey = target->remote_key;
    l->request.wr.atomic.compare_add = first;
    l->request.wr.atomic.swap = second;
    return end(l, post(l, opcode, 0));
}

int verbs_fetch_add(struct loco_link *base, struct loco_remote at, uint64_t add, uint64_t *old)
{
    return post_atomic(base, at, IBV_WR_ATOMIC_FETCH_AND_ADD, add, 0, old);
}

int verbs_compare_swap(struct loco_link *base, struct loco_remote at, uint64_t expected,
                       uint64_t desired, uint64_t *old)
{
    return post_atomic(base, at, IBV_WR_ATOMIC_CMP_AND_SWP, expected, desired, old);
}

/* A read of the peer's first arena, to where nobody looks; verbs.h says why it is one of bytes.
 * That arena is known where something was written, as arenas are told in their order, and is there
 * for as long as the peer. */
static int post_flush(struct verbs_link *l)
{
    aim_at_nothing(l);
    if (!l->node->verbs->config.flush_by_nothing) {
        l->request.num_sge = 1;
        l->part = (struct ibv_sge){.addr = (uintptr_t)l->node->buffers,
                                   .length = sizeof(uint64_t),
                                   .lkey = l->node->buffers_mr->lkey};
    }
    return post(l, IBV_WR_RDMA_READ, 0);
}

/* A read or an atomic that was posted after the newest write does as well; and without a write
 * there is nothing to place. */
uint64_t verbs_flush(struct loco_link *base)
{
    struct verbs_link *l = (struct verbs_link *)base;

    verbs_lock(&l->lock);
    int rc = l->last_reads >= l->last_write ? 0 : post_flush(l);
    uint64_t ticket = rc ? UINT64_MAX : l->last_reads; /* never: the peer is lost */
    verbs_unlock(&l->lock);
    return ticket;
}

/* Who looks may wait for operations that said nothing. */
static void ask_tail(struct verbs_link *l)
{
    if (!verbs_try_lock(&l->lock))
        return;
    bool asked = atomic_load_explicit(&l->signalled, memory_order_relaxed) ==
                 atomic_load_explicit(&l->posted, memory_order_relaxed);
    if (!asked && has_slot(l))
        post_nothing(l);
    verbs_unlock(&l->lock);
}

void verbs_poll(struct loco_link *base)
{
    struct verbs_link *l = (struct verbs_link *)base;
    uint64_t posted = atomic_load_explicit(&l->posted, memory_order_relaxed);

    if (atomic_load_explicit(&l->completed, memory_order_relaxed) == posted)
        return;
    if (atomic_load_explicit(&l->signalled, memory_order_relaxed) != posted)
        ask_tail(l);
    drain(l->queue);
}

/* --- opening and closing ---------------------------------------------------------------- */

static unsigned power_of_two(unsigned least)
{
    unsigned power = DEPTH_LEAST;

    while (power < least)
        power *= 2;
    return power;
}

/* The queue that the link's completions go to. */
static int choose_queue(struct verbs_link *l)
{
    struct verbs_node *n = l->node;
    struct verbs_queue *q = &n->shared;

    if (!n->verbs->config.shared_completions) {
        l->queue = &l->own_queue;
        return verbs_queue_open(l->queue, n->device, l->depth);
    }
    l->queue = q;
    verbs_lock(&q->lock);
    int rc = q->cq ? 0 : verbs_queue_open(q, n->device, SHARED_FIRST);
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

/* Nothing of this link is to be found in the queue any more. Its queue pair is gone. */
static void leave_queue(struct verbs_link *l)
{
    struct verbs_queue *q = l->queue;

    if (q != &l->own_queue && q) {
        verbs_lock(&q->lock);
        drain_locked(q);
        q->used -= l->depth;
        verbs_unlock(&q->lock);
    }
    verbs_queue_close(&l->own_queue);
}

static int make_staging(struct verbs_link *l)
{
    size_t page = 4096, size = ((size_t)l->depth * LOCO_INLINE_MAX + page - 1) / page * page;

    l->staging = aligned_alloc(page, size);
    if (!l->staging)
        return -ENOMEM;
    return verbs_register(l->node, l->staging, size, 0, &l->staging_mr);
}

static int connect_link(struct verbs_link *l)
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
    int rc = verbs_link_connect(l, &attributes);

    if (rc)
        return rc;
    l->inline_max = attributes.cap.max_inline_data;
    return l->inline_max < LOCO_INLINE_MAX ? make_staging(l) : 0;
}

static int make_slots(struct verbs_link *l)
{
    unsigned depth = l->node->verbs->config.send_depth;

    l->depth = power_of_two(depth ? depth : DEPTH);
    l->signal_each = l->depth / 2 < SIGNAL_EACH ? l->depth / 2 : SIGNAL_EACH;
    if (l->node->verbs->config.shared_completions)
        l->signal_each = 1; /* somebody is looking all the time */
    l->slots = calloc(l->depth, sizeof *l->slots);
    if (!l->slots)
        return -ENOMEM;
    for (unsigned i = 0; i < l->depth; i++)
        l->slots[i].link = l;
    return 0;
}

/* Those of a peer that is not there. */
static const struct verbs_arenas no_arenas;

/* A link to a peer that is lost is broken, which is no error: one may be lost right after, too. */
int verbs_link_open(struct loco_node *base, uint32_t peer, struct loco_link **link)
{
    struct verbs_node *n = (struct verbs_node *)base;
    struct verbs_link *l = calloc(1, sizeof *l);

    if (!l)
        return -ENOMEM;
    l->base.node = base;
    l->base.peer = peer;
    l->node = n;
    l->request.sg_list = &l->part;
    int rc = make_slots(l);
    if (!rc)
        rc = choose_queue(l);

    pthread_mutex_lock(&n->verbs->lock);
    const struct verbs_connection *c = n->peers[peer].connection;
    bool there = c && c->established && !c->down;
    l->arenas = peer == n->base.id ? &n->own : there ? c->arenas : &no_arenas;
    l->next = n->links;
    n->links = l;
    pthread_mutex_unlock(&n->verbs->lock);

    if (!rc)
        rc = l->arenas == &no_arenas ? -ECONNRESET : connect_link(l);
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

    pthread_mutex_lock(&v->lock);
    for (struct verbs_link **at = &l->node->links; *at; at = &(*at)->next) {
        if (*at == l) {
            *at = l->next;
            break;
        }
    }
    atomic_store(&l->broken, true); /* what its end does to operations is no loss */
    pthread_mutex_unlock(&v->lock);
    if (l->id) {
        if (l->id->qp)
            rdma_destroy_qp(l->id);
        rdma_destroy_id(l->id);
    }
    if (l->channel)
        rdma_destroy_event_channel(l->channel);
    leave_queue(l);
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

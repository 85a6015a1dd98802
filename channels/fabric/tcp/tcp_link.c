/*
 * Links of the tcp fabric: how operations are posted, and when they are done.
 *
 * When a post returns, the kernel has the operation, or gets it from the lane's output or log. The
 * source may be used again. So a write is done at once, unless an earlier operation of its link
 * still waits for an answer: operations are done in order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../loco/fabric/atomic_copy.h"
#include "tcp_internal.h"
#include "tcp_words.h"

static bool link_is_broken(const struct tcp_link *l)
{
    return atomic_load_explicit(&l->broken, memory_order_relaxed);
}

static struct tcp_lane *link_lane(const struct tcp_link *l)
{
    return atomic_load_explicit(&l->lane, memory_order_relaxed);
}

/* --- posting: with the lane's lock held --------------------------------------------------- */

/* Ends an operation that was posted, or failed. It is done if no request of the link waits for an
 * answer. */
static int link_conclude(struct tcp_link *l, int rc)
{
    l->number = atomic_load_explicit(&l->base.posted, memory_order_relaxed);
    if (atomic_load_explicit(&l->waiting, memory_order_relaxed) > 0)
        return rc ? rc : LOCO_POSTED;
    atomic_store_explicit(&l->base.done, l->number, memory_order_release);
    return rc ? rc : LOCO_DONE;
}

/* How many bytes of a transfer fit into one request. No word of the peer's memory is split. */
static size_t link_piece(uint64_t offset, size_t size)
{
    return size <= TCP_PIECE ? size : tcp_whole_words(offset, TCP_PIECE);
}

static int link_send_write(struct tcp_link *l, struct loco_remote to, const unsigned char *from,
                           size_t size)
{
    int rc = 0;

    while (!rc && size > 0) {
        const size_t piece = link_piece(to.offset, size);
        const struct tcp_request r = {.operation = TCP_WRITE,
                                      .arena = (uint8_t)to.arena,
                                      .link = l->index,
                                      .size = (uint32_t)piece,
                                      .offset = to.offset};
        l->last_write = ++l->sequence;
        rc = tcp_lane_post(l, r, from, piece);
        to.offset += piece;
        from += piece;
        size -= piece;
    }
    return rc;
}

/* Posts a request with an answer; an atomic has operands, other requests none (NULL). */
static int link_ask(struct tcp_link *l, struct tcp_request r, const struct tcp_operands *operands,
                    void *to, size_t size)
{
    const struct tcp_pending pending = {.link = l,
                                        .index = l->index,
                                        .size = (uint32_t)size,
                                        .number = l->number,
                                        .sequence = l->sequence + 1,
                                        .to = to};

    l->last_reads = ++l->sequence;
    return tcp_lane_ask(l, r, operands, operands ? r.size : 0, &pending);
}

static int link_send_read(struct tcp_link *l, struct loco_remote from, unsigned char *to,
                          size_t size)
{
    int rc = 0;

    while (!rc && size > 0) {
        const size_t piece = link_piece(from.offset, size);
        const struct tcp_request r = {.operation = TCP_READ,
                                      .arena = (uint8_t)from.arena,
                                      .link = l->index,
                                      .size = (uint32_t)piece,
                                      .offset = from.offset};
        rc = link_ask(l, r, NULL, to, piece);
        from.offset += piece;
        to += piece;
        size -= piece;
    }
    return rc;
}

/* Every fabric refuses results and long sources outside network memory, because some fabrics read
 * long sources late. */
static bool link_is_network_memory(const struct tcp_link *l, const void *memory, size_t size)
{
    const struct tcp_arenas *own = &l->node->own;
    const unsigned char *at = memory;

    for (uint32_t i = atomic_load_explicit(&own->count, memory_order_acquire); i-- > 0;) {
        const struct tcp_arena *a = &own->at[i];
        if (at >= a->base && at < a->base + a->size)
            return size <= (size_t)(a->base + a->size - at);
    }
    return false;
}

/* --- operations --------------------------------------------------------------------------- */

/* Held writes of the link count as one write. They are counted before they are collected: so all
 * that are counted are in the output when the caller posts. What others hold is left where it is:
 * for that there may be no room. */
static void link_collect_held(struct tcp_link *l, struct tcp_lane *lane)
{
    if (!atomic_load_explicit(&l->held, memory_order_relaxed) ||
        !atomic_exchange_explicit(&l->held, false, memory_order_acquire))
        return;
    l->last_write = ++l->sequence;
    tcp_lane_collect(lane);
}

static struct tcp_link *link_begin(struct loco_link *base)
{
    struct tcp_link *l = (struct tcp_link *)base;

    if (!link_lane(l))
        return l;
    pthread_mutex_lock(&link_lane(l)->lock);
    link_collect_held(l, link_lane(l));
    return l;
}

static int link_end(struct tcp_link *l, int rc)
{
    rc = link_is_broken(l) ? -ECONNRESET : link_conclude(l, rc);
    if (link_lane(l))
        pthread_mutex_unlock(&link_lane(l)->lock);
    return rc;
}

/* A node accesses its own memory with the processor. The service thread executes peers' atomics
 * with the processor as well, so both compose. */
static unsigned char *link_own_place(const struct tcp_link *l, struct loco_remote at)
{
    return l->node->own.at[at.arena].base + at.offset;
}

int tcp_link_write(struct tcp_link *l, struct loco_remote to, const void *from, size_t size)
{
    link_begin(&l->base);

    if (link_is_broken(l))
        return link_end(l, -ECONNRESET);
    if (!tcp_arena_has(l->arenas, to.arena, to.offset, size))
        return link_end(l, -ERANGE);
    if (size > LOCO_INLINE_MAX && !link_is_network_memory(l, from, size))
        return link_end(l, -EFAULT);
    if (!l->own)
        return link_end(l, link_send_write(l, to, from, size));
    atomic_thread_fence(memory_order_release);
    loco_copy(link_own_place(l, to), from, size);
    atomic_thread_fence(memory_order_seq_cst);
    return link_end(l, 0);
}

int tcp_read(struct loco_link *base, struct loco_remote from, void *to, size_t size)
{
    struct tcp_link *l = link_begin(base);

    if (link_is_broken(l))
        return link_end(l, -ECONNRESET);
    if (!tcp_arena_has(l->arenas, from.arena, from.offset, size))
        return link_end(l, -ERANGE);
    if (!link_is_network_memory(l, to, size))
        return link_end(l, -EFAULT);
    if (!l->own)
        return link_end(l, link_send_read(l, from, to, size));
    loco_copy(to, link_own_place(l, from), size);
    return link_end(l, 0);
}

static int link_post_atomic(struct loco_link *base, enum tcp_operation operation,
                            const struct tcp_operands *operands, struct loco_remote at,
                            uint64_t *old)
{
    struct tcp_link *l = link_begin(base);

    if (link_is_broken(l))
        return link_end(l, -ECONNRESET);
    if (!tcp_arena_has(l->arenas, at.arena, at.offset, sizeof *old) || at.offset % sizeof *old)
        return link_end(l, -ERANGE);
    if (!link_is_network_memory(l, old, sizeof *old))
        return link_end(l, -EFAULT);
    if (l->own) {
        *old = tcp_execute((uint64_t *)(void *)link_own_place(l, at), operation, operands);
        return link_end(l, 0);
    }
    const struct tcp_request r = {.operation = (uint8_t)operation,
                                  .arena = (uint8_t)at.arena,
                                  .link = l->index,
                                  .size = operation == TCP_FETCH_ADD ? sizeof operands->first
                                                                     : sizeof *operands,
                                  .offset = at.offset};
    return link_end(l, link_ask(l, r, operands, old, sizeof *old));
}

int tcp_fetch_add(struct loco_link *base, struct loco_remote at, uint64_t add, uint64_t *old)
{
    return link_post_atomic(base, TCP_FETCH_ADD, &(struct tcp_operands){.first = add}, at, old);
}

int tcp_compare_swap(struct loco_link *base, struct loco_remote at, uint64_t expected,
                     uint64_t desired, uint64_t *old)
{
    return link_post_atomic(base, TCP_COMPARE_SWAP,
                            &(struct tcp_operands){.first = expected, .second = desired}, at, old);
}

/* No flush is needed if there was no write, or if a read or an atomic was posted after the newest
 * write: its answer says that the write is placed. */
uint64_t tcp_flush(struct loco_link *base)
{
    struct tcp_link *l = link_begin(base);
    int rc = 0;

    if (l->last_reads < l->last_write) {
        const struct tcp_request r = {.operation = TCP_FLUSH, .link = l->index};
        rc = link_is_broken(l) ? -ECONNRESET : link_ask(l, r, NULL, NULL, 0);
    }
    uint64_t ticket = rc ? UINT64_MAX : l->last_reads; /* never: the peer is lost */
    if (link_lane(l))
        pthread_mutex_unlock(&link_lane(l)->lock);
    return ticket;
}

void tcp_poll(struct loco_link *base)
{
    struct tcp_link *l = (struct tcp_link *)base;

    if (atomic_load_explicit(&l->waiting, memory_order_relaxed) > 0)
        tcp_serve_in_wait(l->node->tcp, link_lane(l));
}

/* --- opening and closing -------------------------------------------------------------------- */

/* The arenas of a lost peer. */
static const struct tcp_arenas no_arenas;

/* A link to a lost peer is opened broken. That is no error, since a peer may be lost right after
 * the link was opened, too. */
int tcp_link_open(struct loco_node *base, uint32_t peer, uint64_t until, struct loco_link **link)
{
    struct tcp_node *n = (struct tcp_node *)base;
    struct tcp_link *l = aligned_alloc(TCP_LINE, sizeof *l);
    int rc = 0;

    if (!l)
        return -ENOMEM;
    *l =
        (struct tcp_link){.base = {.node = base, .peer = peer}, .node = n, .own = peer == base->id};
    pthread_mutex_lock(&n->tcp->control.lock);
    const struct tcp_connection *c = tcp_connection_to(n, peer);
    l->arenas = l->own ? &n->own : c && control_is_up(&c->control) ? c->arenas : &no_arenas;
    l->next = n->links;
    n->links = l;
    pthread_mutex_unlock(&n->tcp->control.lock);
    if (!l->own)
        rc = l->arenas == &no_arenas ? -ECONNRESET : tcp_link_connect(l, until);
    if (rc && rc != -ECONNRESET) {
        tcp_link_close(&l->base);
        return rc;
    }
    if (rc)
        atomic_store(&l->broken, true);
    *link = &l->base;
    return 0;
}

void tcp_link_close(struct loco_link *link)
{
    struct tcp_link *l = (struct tcp_link *)link;
    struct tcp *t = l->node->tcp;

    pthread_mutex_lock(&t->control.lock);
    for (struct tcp_link **at = &l->node->links; *at; at = &(*at)->next) {
        if (*at == l) {
            *at = l->next;
            break;
        }
    }
    pthread_mutex_unlock(&t->control.lock);
    if (link_lane(l))
        tcp_lane_leave(link_lane(l), l);
    free(l);
}

void tcp_links_break(struct tcp_node *n, const struct tcp_arenas *arenas)
{
    for (struct tcp_link *l = n->links; l; l = l->next) {
        if (l->arenas != arenas)
            continue;
        struct tcp_lane *lane = atomic_load(&l->lane);
        atomic_store(&l->broken, true);
        if (lane)
            tcp_lane_forget(lane, l);
    }
}

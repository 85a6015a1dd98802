/*
 * Links of the tcp fabric: how operations are posted, and how it is learned that they are done.
 *
 * An operation is in the kernel's hands when it was posted: a post waits for room there. So a write
 * is done unless the answer to an earlier operation of its link is still to come, for what is done
 * is counted in order. Answers are read by who looks for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../words.h"
#include "tcp_internal.h"
#include "tcp_words.h"

/* --- answers: with the link's lock held --------------------------------------------------- */

static bool is_broken(const struct tcp_link *l)
{
    return atomic_load_explicit(&l->broken, memory_order_relaxed);
}

static void break_link(struct tcp_link *l)
{
    if (!atomic_exchange(&l->broken, true))
        l->failed = true;
}

static uint64_t waiting(const struct tcp_link *l)
{
    return atomic_load_explicit(&l->waiting, memory_order_relaxed);
}

/* The i-th that waits. */
static struct tcp_pending *pending(struct tcp_link *l, uint64_t i)
{
    return &l->pending[(l->asked - waiting(l) + i) % TCP_DEPTH];
}

/* Everything before the next that waits is done; without one, everything. */
static void advance(struct tcp_link *l)
{
    const uint64_t done = waiting(l) > 0 ? pending(l, 0)->number : l->number;

    atomic_store_explicit(&l->base.done, done, memory_order_release);
}

static void finish_first(struct tcp_link *l)
{
    const struct tcp_pending *p = pending(l, 0);
    const uint64_t sequence = p->sequence;

    if (!p->to && l->echo != sequence) {
        break_link(l);
        return;
    }
    atomic_store_explicit(&l->waiting, waiting(l) - 1, memory_order_release);
    atomic_store_explicit(&l->base.flushed, sequence, memory_order_release);
    advance(l);
}

/* Gives what has come to those that wait for it, as far as whole words go. */
static void share_out(struct tcp_link *l)
{
    size_t at = 0, part = 1;

    while (part > 0 && waiting(l) > 0 && !is_broken(l)) {
        struct tcp_pending *p = pending(l, 0);
        unsigned char *to = p->to ? p->to : (unsigned char *)&l->echo;
        part = l->in - at < p->left ? l->in - at : p->left;
        part = tcp_place(to, l->input + at, part, part < p->left);
        p->left -= part;
        p->to += p->to ? part : 0;
        at += part;
        if (p->left == 0)
            finish_first(l);
    }
    memmove(l->input, l->input + at, l->in - at);
    l->in -= at;
}

static void receive(struct tcp_link *l)
{
    while (waiting(l) > 0 && !is_broken(l)) {
        ssize_t got = recv(l->fd, l->input + l->in, sizeof l->input - l->in, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            break_link(l);
        if (got <= 0)
            return;
        l->in += (size_t)got;
        share_out(l);
    }
}

/* --- posting: with the link's lock held --------------------------------------------------- */

static int wait_a_turn(struct tcp_link *l, struct loco_wait *wait)
{
    receive(l);
    if (is_broken(l))
        return -ECONNRESET;
    l->node->base.fabric->ops->relax(&l->node->base, wait);
    return 0;
}

/* Hands to the kernel what was put into the output. The peer takes it, or the link breaks, within
 * the time-out. */
static int send_out(struct tcp_link *l)
{
    struct loco_wait wait = {.until = UINT64_MAX};
    size_t at = 0;

    while (at < l->out) {
        if (is_broken(l))
            return -ECONNRESET;
        ssize_t sent = send(l->fd, l->output + at, l->out - at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent >= 0)
            at += (size_t)sent;
        else if (errno != EAGAIN && errno != EINTR)
            break_link(l);
        else if (wait_a_turn(l, &wait))
            return -ECONNRESET;
    }
    l->out = 0;
    return 0;
}

/* A request, and what is written by it. */
static int send_request(struct tcp_link *l, const struct tcp_request *r, const unsigned char *data,
                        size_t size)
{
    int rc = is_broken(l) ? -ECONNRESET : 0;

    memcpy(l->output, r, sizeof *r);
    l->out = sizeof *r;
    while (!rc && size > 0) {
        const size_t room = sizeof l->output - l->out;
        const size_t part = size < room ? size : tcp_whole_words((uintptr_t)data, room);
        tcp_fetch(l->output + l->out, data, part);
        l->out += part;
        data += part;
        size -= part;
        if (size > 0)
            rc = send_out(l);
    }
    if (!rc)
        rc = send_out(l);
    l->sequence += !rc;
    return rc;
}

/* An operation that will be answered. */
static int ask(struct tcp_link *l, const struct tcp_request *r, void *to, size_t size)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    if (is_broken(l))
        return -ECONNRESET;
    while (waiting(l) == TCP_DEPTH)
        if (wait_a_turn(l, &wait))
            return -ECONNRESET;
    l->pending[l->asked % TCP_DEPTH] = (struct tcp_pending){
        .number = l->number - (to != NULL), /* a flush is no operation of the core's */
        .sequence = l->sequence + 1,
        .to = to,
        .left = size};
    int rc = send_request(l, r, NULL, 0);
    if (rc)
        return rc;
    l->asked++;
    l->last_reads = l->sequence;
    atomic_store_explicit(&l->waiting, waiting(l) + 1, memory_order_release);
    return LOCO_POSTED;
}

/* What needs no answer is done with what was posted before it. */
static int done_at_once(struct tcp_link *l, int rc)
{
    if (waiting(l) > 0)
        return rc ? rc : LOCO_POSTED;
    advance(l);
    return rc ? rc : LOCO_DONE;
}

static bool is_own(const struct tcp_link *l)
{
    return l->base.peer == l->node->base.id;
}

/* Results, and sources that are read late, lie in network memory on every fabric. */
static bool is_network_memory(const struct tcp_link *l, const void *memory, size_t size)
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

static struct tcp_link *begin(struct loco_link *base)
{
    struct tcp_link *l = (struct tcp_link *)base;

    pthread_mutex_lock(&l->lock);
    l->number = atomic_load_explicit(&base->posted, memory_order_relaxed);
    return l;
}

/* What broke it is reported without its lock. */
static void release(struct tcp_link *l)
{
    bool failed = l->failed;

    l->failed = false;
    pthread_mutex_unlock(&l->lock);
    if (failed)
        tcp_link_failed(l->node, l->base.peer, l->arenas);
}

static int end(struct tcp_link *l, int rc)
{
    release(l);
    return rc;
}

/* Its own memory a node reaches by its processor, whose atomic operations are those of the service
 * thread as well. */
static unsigned char *own_place(const struct tcp_link *l, struct loco_remote at)
{
    return l->node->own.at[at.arena].base + at.offset;
}

int tcp_write(struct loco_link *base, struct loco_remote to, const void *from, size_t size)
{
    struct tcp_link *l = begin(base);
    const struct tcp_request r = {
        .operation = TCP_WRITE, .arena = to.arena, .offset = to.offset, .first = size};

    if (is_broken(l))
        return end(l, -ECONNRESET);
    if (!tcp_arena_has(l->arenas, to.arena, to.offset, size))
        return end(l, done_at_once(l, -ERANGE));
    if (size > LOCO_INLINE_MAX && !is_network_memory(l, from, size))
        return end(l, done_at_once(l, -EFAULT));
    if (is_own(l)) {
        atomic_thread_fence(memory_order_release);
        loco_copy(own_place(l, to), from, size);
        atomic_thread_fence(memory_order_seq_cst);
        return end(l, done_at_once(l, 0));
    }
    int rc = send_request(l, &r, from, size);
    l->last_write = l->sequence;
    return end(l, rc ? rc : done_at_once(l, 0));
}

int tcp_read(struct loco_link *base, struct loco_remote from, void *to, size_t size)
{
    struct tcp_link *l = begin(base);
    const struct tcp_request r = {
        .operation = TCP_READ, .arena = from.arena, .offset = from.offset, .first = size};

    if (!tcp_arena_has(l->arenas, from.arena, from.offset, size))
        return end(l, is_broken(l) ? -ECONNRESET : done_at_once(l, -ERANGE));
    if (!is_network_memory(l, to, size))
        return end(l, done_at_once(l, -EFAULT));
    if (is_own(l))
        loco_copy(to, own_place(l, from), size);
    if (is_own(l) || size == 0)
        return end(l, done_at_once(l, 0));
    return end(l, ask(l, &r, to, size));
}

static int post_atomic(struct loco_link *base, struct tcp_request r, uint64_t *old)
{
    struct tcp_link *l = begin(base);
    const struct loco_remote at = {.arena = r.arena, .offset = r.offset};

    if (!tcp_arena_has(l->arenas, r.arena, r.offset, sizeof *old) || r.offset % sizeof *old)
        return end(l, is_broken(l) ? -ECONNRESET : done_at_once(l, -ERANGE));
    if (!is_network_memory(l, old, sizeof *old))
        return end(l, done_at_once(l, -EFAULT));
    if (!is_own(l))
        return end(l, ask(l, &r, old, sizeof *old));
    *old = tcp_execute((uint64_t *)(void *)own_place(l, at), &r);
    return end(l, done_at_once(l, 0));
}

int tcp_fetch_add(struct loco_link *base, struct loco_remote at, uint64_t add, uint64_t *old)
{
    return post_atomic(
        base,
        (struct tcp_request){
            .operation = TCP_FETCH_ADD, .arena = at.arena, .offset = at.offset, .first = add},
        old);
}

int tcp_compare_swap(struct loco_link *base, struct loco_remote at, uint64_t expected,
                     uint64_t desired, uint64_t *old)
{
    return post_atomic(base,
                       (struct tcp_request){.operation = TCP_COMPARE_SWAP,
                                            .arena = at.arena,
                                            .offset = at.offset,
                                            .first = expected,
                                            .second = desired},
                       old);
}

/* A read or an atomic that was posted after the newest write does as well; and without a write
 * there is nothing to place. */
uint64_t tcp_flush(struct loco_link *base)
{
    struct tcp_link *l = (struct tcp_link *)base;
    int rc = 0;

    pthread_mutex_lock(&l->lock);
    if (l->last_reads < l->last_write) {
        const struct tcp_request r = {.operation = TCP_FLUSH, .first = l->sequence + 1};
        rc = ask(l, &r, NULL, sizeof l->echo);
    }
    uint64_t ticket = rc < 0 ? UINT64_MAX : l->last_reads; /* never: the peer is lost */
    release(l);
    return ticket;
}

/* If the lock is held, its holder looks as well, or posts, and is looked after again. */
void tcp_poll(struct loco_link *base)
{
    struct tcp_link *l = (struct tcp_link *)base;

    if (waiting(l) == 0 || pthread_mutex_trylock(&l->lock))
        return;
    receive(l);
    release(l);
}

/* --- opening and closing -------------------------------------------------------------------- */

/* Those of a peer that is not there. */
static const struct tcp_arenas no_arenas;

/* One that posts in real time may wait for another thread that holds the lock: that one then runs
 * as urgently. */
static int init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    int rc = -pthread_mutexattr_init(&attributes);

    if (rc)
        return rc;
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    rc = -pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return rc;
}

/* A link to a peer that is lost is broken, which is no error: one may be lost right after, too. */
int tcp_link_open(struct loco_node *base, uint32_t peer, struct loco_link **link)
{
    struct tcp_node *n = (struct tcp_node *)base;
    struct tcp_link *l = calloc(1, sizeof *l);

    if (!l)
        return -ENOMEM;
    int rc = init_lock(&l->lock);
    if (rc) {
        free(l);
        return rc;
    }
    l->base.node = base;
    l->base.peer = peer;
    l->node = n;
    l->fd = -1;
    pthread_mutex_lock(&n->tcp->lock);
    const struct tcp_connection *c = n->peers[peer].connection;
    l->arenas = peer == base->id ? &n->own : tcp_is_up(c) ? c->arenas : &no_arenas;
    l->next = n->links;
    n->links = l;
    pthread_mutex_unlock(&n->tcp->lock);
    if (!is_own(l))
        rc = l->arenas == &no_arenas ? -ECONNRESET : tcp_link_connect(l);
    if (rc && rc != -ECONNRESET) {
        tcp_link_close(&l->base);
        return rc;
    }
    if (rc) {
        pthread_mutex_lock(&l->lock);
        break_link(l);
        release(l);
    }
    *link = &l->base;
    return 0;
}

void tcp_link_close(struct loco_link *link)
{
    struct tcp_link *l = (struct tcp_link *)link;
    struct tcp *t = l->node->tcp;

    pthread_mutex_lock(&t->lock);
    for (struct tcp_link **at = &l->node->links; *at; at = &(*at)->next) {
        if (*at == l) {
            *at = l->next;
            break;
        }
    }
    pthread_mutex_unlock(&t->lock);
    if (l->fd >= 0)
        close(l->fd);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

void tcp_links_break(struct tcp_node *n, const struct tcp_arenas *arenas)
{
    for (struct tcp_link *l = n->links; l; l = l->next) {
        if (l->arenas != arenas)
            continue;
        atomic_store(&l->broken, true);
        if (l->fd >= 0)
            shutdown(l->fd, SHUT_RDWR);
        pthread_mutex_lock(&l->lock); /* who receives has received */
        pthread_mutex_unlock(&l->lock);
    }
}

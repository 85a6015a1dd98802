/*
 * What a thread holds (loco_hold): it is sent when the thread releases, so that one system call
 * sends all that the thread wrote to one process.
 *
 * A link has room for one short write. Its thread puts a write there without taking a lock, which
 * costs far less than the lane's output. From there the write moves to the lane's output, with the
 * lane's lock held, before anything else of the link goes there: when the thread releases or waits,
 * when it posts again on this link, or when any thread flushes the link. Other writes of a thread
 * that holds go to the lane's output at once, and are only not sent.
 *
 * The thread keeps a list of the links with a held write: their lanes and indices, not pointers to
 * them, because a link may be closed before its thread releases. Lanes stay until the fabric
 * closes.
 */
#include <string.h>

#include "../host_time.h"
#include "tcp_internal.h"
#include "tcp_words.h"

enum { HOLD_LINKS = 64 };

static __thread struct {
    struct tcp *tcp; /* whose writes are held; NULL: the thread does not hold */
    unsigned count;
    struct {
        struct tcp_lane *lane;
        uint16_t index;
    } links[HOLD_LINKS];
} hold;

bool tcp_holds(const struct tcp *t)
{
    return hold.tcp == t;
}

/* --- from the links to the lanes: with the lane's lock held -------------------------------- */

static void hold_move(struct tcp_lane *lane, struct tcp_link *l)
{
    const struct tcp_held *h = &l->held;

    memcpy(lane->output + lane->out, &h->request, sizeof h->request);
    memcpy(lane->output + lane->out + sizeof h->request, h->data, h->request.size);
    lane->out += sizeof h->request + h->request.size;
    l->last_write = ++l->sequence;
    l->number = h->number;
    atomic_store_explicit(&lane->held, true, memory_order_relaxed);
    atomic_store_explicit(&l->held.there, false, memory_order_release);
}

static bool hold_has(const struct tcp_link *l)
{
    return l && atomic_load_explicit(&l->held.there, memory_order_acquire) &&
           !atomic_load_explicit(&l->broken, memory_order_relaxed);
}

void tcp_lane_collect(struct tcp_lane *lane, uint16_t index)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    while (hold_has(lane->by_index[index])) {
        struct tcp_link *l = lane->by_index[index];
        if (tcp_lane_has_room(lane, sizeof l->held.request + l->held.request.size)) {
            hold_move(lane, l);
            return;
        }
        pthread_mutex_unlock(&lane->lock);
        tcp_serve_in_wait(lane->tcp, lane);
        loco_host_relax(NULL, &wait);
        pthread_mutex_lock(&lane->lock);
    }
}

/* --- holding -------------------------------------------------------------------------------- */

/* Links of one lane mostly follow one another: its lock is taken once for them. */
static void hold_collect(void)
{
    struct tcp_lane *locked = NULL;

    for (unsigned i = 0; i < hold.count; i++) {
        struct tcp_lane *lane = hold.links[i].lane;
        if (lane != locked) {
            if (locked)
                pthread_mutex_unlock(&locked->lock);
            pthread_mutex_lock(&lane->lock);
        }
        locked = lane;
        tcp_lane_collect(lane, hold.links[i].index);
    }
    if (locked)
        pthread_mutex_unlock(&locked->lock);
    hold.count = 0;
}

static void hold_send(struct tcp *t)
{
    hold_collect();
    tcp_lanes_send_held(t);
}

/* Whether a write goes to the place of the link's last held one, which was found to be the
 * peer's. */
static bool hold_is_same_place(const struct tcp_request *r, struct loco_remote to, size_t size)
{
    return r->arena == to.arena && r->offset == to.offset && r->size == size &&
           r->operation == TCP_WRITE;
}

bool tcp_hold_write(struct tcp_link *l, struct loco_remote to, const void *from, size_t size)
{
    struct tcp_held *h = &l->held;

    if (!hold.tcp || hold.tcp != l->tcp || size > sizeof h->data ||
        atomic_load_explicit(&h->there, memory_order_acquire))
        return false;
    if (!hold_is_same_place(&h->request, to, size)) {
        if (!tcp_arena_has(l->arenas, to.arena, to.offset, size))
            return false;
        h->request = (struct tcp_request){.operation = TCP_WRITE,
                                          .arena = (uint8_t)to.arena,
                                          .link = l->index,
                                          .size = (uint32_t)size,
                                          .offset = to.offset};
    }
    if (hold.count == HOLD_LINKS)
        hold_collect();
    tcp_fetch(h->data, from, size);
    h->number = atomic_load_explicit(&l->base.posted, memory_order_relaxed);
    atomic_store_explicit(&h->there, true, memory_order_release);
    hold.links[hold.count].lane = atomic_load_explicit(&l->lane, memory_order_relaxed);
    hold.links[hold.count++].index = l->index;
    return true;
}

void tcp_hold(struct loco_node *node)
{
    if (loco_context.holds++ > 0)
        return;
    hold.tcp = ((struct tcp_node *)node)->tcp;
    hold.count = 0;
}

void tcp_release(struct loco_node *node)
{
    struct tcp *t = hold.tcp;

    (void)node;
    if (--loco_context.holds > 0)
        return;
    if (t)
        hold_send(t);
    hold.tcp = NULL;
}

void tcp_hold_forget(const struct tcp *t)
{
    if (hold.tcp == t)
        hold.tcp = NULL;
}

/* A thread that waits may wait for what it holds to arrive; and for what peers send, which it hears
 * itself. */
void tcp_relax(struct loco_node *node, struct loco_wait *wait)
{
    struct tcp *t = node ? ((struct tcp_node *)node)->tcp : NULL;

    if (hold.tcp)
        hold_send(hold.tcp);
    if (t)
        tcp_serve_in_wait(t, NULL);
    loco_host_relax(node, wait);
}

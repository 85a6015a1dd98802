/*
 * The writes that a thread holds (loco_hold). They are sent when the thread releases, so that one
 * system call sends all that the thread wrote to one process.
 *
 * A link has room for one short write. Its thread puts a write there without taking a lock, which
 * costs far less than the lane's output. From there the write moves to the lane's output, with the
 * lane's lock held, before anything else of the link goes there: when the thread releases or waits,
 * when it posts again on this link, or when any thread flushes the link. Other writes of a thread
 * that holds go to the lane's output at once, and are sent with the rest.
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

/* Copies the whole message, whatever its size: a copy of constant size is quicker. */
static inline void hold_move(struct tcp_lane *lane, struct tcp_link *l)
{
    struct tcp_held *h = &l->held;

    memcpy(lane->output + lane->out, &h->message, sizeof h->message);
    lane->out += sizeof h->message.request + h->message.request.size;
    l->last_write = ++l->sequence;
    l->number = h->number;
    atomic_store_explicit(&lane->held, true, memory_order_relaxed);
    atomic_store_explicit(&h->there, false, memory_order_release);
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
        if (tcp_lane_has_room(lane, sizeof l->held.message)) {
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

/* Collects the thread's held writes. Returns the last lane, which is still locked; NULL: there is
 * none. Links of one lane mostly follow one another, so its lock is taken once for them. */
static struct tcp_lane *hold_collect(void)
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
    hold.count = 0;
    return locked;
}

/* Mostly there is one lane, which is sent under the same lock. */
static void hold_send(struct tcp *t)
{
    struct tcp_lane *lane = hold_collect();

    if (lane) {
        tcp_lane_send_held(lane);
        pthread_mutex_unlock(&lane->lock);
    }
    tcp_lanes_send_held(t);
}

/* Whether the write can be held. A held write is done at once, so no earlier operation of the link
 * may be outstanding. None can start meanwhile, since only the link's thread posts them. */
static inline bool hold_has_room(const struct tcp_link *l, size_t size)
{
    return hold.tcp == l->tcp && size <= sizeof l->held.message.data &&
           !atomic_load_explicit(&l->held.there, memory_order_acquire) &&
           !atomic_load_explicit(&l->waiting, memory_order_acquire) &&
           !atomic_load_explicit(&l->broken, memory_order_relaxed);
}

/* Makes the request of the held write. If it has the place of the last one, that was checked. */
static inline bool hold_address(struct tcp_link *l, struct loco_remote to, size_t size)
{
    struct tcp_request *r = &l->held.message.request;

    if (r->operation && r->arena == to.arena && r->offset == to.offset && r->size == size)
        return true;
    if (!tcp_arena_has(l->arenas, to.arena, to.offset, size))
        return false;
    *r = (struct tcp_request){.operation = TCP_WRITE,
                              .arena = (uint8_t)to.arena,
                              .link = l->index,
                              .size = (uint32_t)size,
                              .offset = to.offset};
    return true;
}

static void hold_note(const struct tcp_link *l)
{
    if (hold.count == HOLD_LINKS) {
        struct tcp_lane *lane = hold_collect();
        pthread_mutex_unlock(&lane->lock);
    }
    hold.links[hold.count].lane = atomic_load_explicit(&l->lane, memory_order_relaxed);
    hold.links[hold.count++].index = l->index;
}

int tcp_write(struct loco_link *base, struct loco_remote to, const void *from, size_t size)
{
    struct tcp_link *l = (struct tcp_link *)base;
    struct tcp_held *h = &l->held;

    if (!hold.tcp || !hold_has_room(l, size) || !hold_address(l, to, size))
        return tcp_link_write(l, to, from, size);
    tcp_fetch(h->message.data, from, size);
    h->number = atomic_load_explicit(&base->posted, memory_order_relaxed);
    hold_note(l);
    atomic_store_explicit(&h->there, true, memory_order_release);
    atomic_store_explicit(&base->done, h->number, memory_order_release);
    return LOCO_DONE;
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

/* A thread that waits may wait for the effect of what it holds, so that is sent. It may also wait
 * for what peers send, so it serves the lanes. */
void tcp_relax(struct loco_node *node, struct loco_wait *wait)
{
    struct tcp *t = node ? ((struct tcp_node *)node)->tcp : NULL;

    if (hold.tcp)
        hold_send(hold.tcp);
    if (t)
        tcp_serve_in_wait(t, NULL);
    loco_host_relax(node, wait);
}

/*
 * The writes that a thread holds (loco_hold). They are sent when the thread releases, so that one
 * system call sends all that the thread wrote to one process.
 *
 * Each lane has a log for held writes. A thread claims the log of the lane that it writes to, and
 * appends to the log without taking a lock, which costs far less than the lane's output. From the
 * log the writes move to the lane's output, with the lane's lock held: when the thread releases or
 * waits, when it writes to another lane, when the log is full, and before anything else is posted
 * on a link of the lane. So the order of each link's operations is kept.
 *
 * If another thread has claimed the log, a held write goes to the lane's output at once, and is
 * sent with the rest. So does a write that is long, or that follows an operation that is not done.
 */
#include <string.h>

#include "../host_time.h"
#include "tcp_internal.h"
#include "tcp_words.h"

/* The longest held write in the log. */
enum { HOLD_MAX = sizeof(struct tcp_request) + LOCO_INLINE_MAX };

static __thread __attribute__((tls_model("initial-exec"))) struct {
    struct tcp *tcp;       /* whose writes are held; NULL: the thread does not hold */
    struct tcp_lane *lane; /* whose log the thread has claimed; NULL: none */
} hold;

bool tcp_holds(const struct tcp *t)
{
    return hold.tcp == t;
}

/* --- from the log to the output: with the lane's lock held ---------------------------------- */

void tcp_lane_collect(struct tcp_lane *lane)
{
    struct tcp_log *log = &lane->log;
    struct loco_wait wait = {.until = UINT64_MAX};
    size_t size;

    while ((size = atomic_load_explicit(&log->end, memory_order_acquire) - log->begin) > 0) {
        const bool broken = atomic_load_explicit(&lane->broken, memory_order_relaxed);
        if (broken || tcp_lane_has_room(lane, &log->share, size)) {
            memcpy(lane->output + lane->out, log->bytes + log->begin, broken ? 0 : size);
            lane->out += broken ? 0 : size;
            tcp_lane_note(lane, &log->share, size);
            log->begin += (uint32_t)size;
            atomic_store_explicit(&lane->held, true, memory_order_relaxed);
            return;
        }
        pthread_mutex_unlock(&lane->lock);
        tcp_serve_in_wait(lane->tcp, lane);
        loco_host_relax(NULL, &wait);
        pthread_mutex_lock(&lane->lock);
    }
}

/* --- holding -------------------------------------------------------------------------------- */

/* Collects what the thread holds, and gives up the log. Returns the lane, which is still locked;
 * NULL: the thread had claimed no log. */
static struct tcp_lane *hold_collect(void)
{
    struct tcp_lane *lane = hold.lane;

    if (!lane)
        return NULL;
    pthread_mutex_lock(&lane->lock);
    tcp_lane_collect(lane);
    lane->log.begin = 0;
    atomic_store_explicit(&lane->log.end, 0, memory_order_relaxed);
    atomic_store_explicit(&lane->log.claimed, false, memory_order_release);
    hold.lane = NULL;
    return lane;
}

/* Mostly there is one lane, which is sent under the same lock. */
static void hold_send(struct tcp *t)
{
    struct tcp_lane *lane = hold_collect();

    if (lane) {
        tcp_lane_send(lane);
        pthread_mutex_unlock(&lane->lock);
    }
    tcp_lanes_send_held(t);
}

/* Claims the lane's log, empty, if the thread holds. Returns whether it could. */
static bool hold_claim(struct tcp_lane *lane)
{
    if (!lane || hold.tcp != lane->tcp)
        return false;
    struct tcp_lane *before = hold_collect();
    if (before)
        pthread_mutex_unlock(&before->lock);
    if (atomic_exchange_explicit(&lane->log.claimed, true, memory_order_acquire))
        return false;
    hold.lane = lane;
    return true;
}

/* Where the thread may append another write to the lane's log; NULL: it may not. */
static inline unsigned char *hold_room(struct tcp_lane *lane)
{
    if (!lane || hold.lane != lane)
        return NULL;
    const uint32_t end = atomic_load_explicit(&lane->log.end, memory_order_relaxed);
    return end <= TCP_LOG - HOLD_MAX ? lane->log.bytes + end : NULL;
}

/* Whether a write may be held. A held write is done at once, so no earlier operation of the link
 * may be outstanding. None can start meanwhile, since only the link's thread posts them. */
static inline bool hold_may(const struct tcp_link *l)
{
    return !atomic_load_explicit(&l->waiting, memory_order_acquire) &&
           !atomic_load_explicit(&l->broken, memory_order_relaxed);
}

/* Whether the write has the place of the link's last held write, which was checked. */
static inline bool hold_is_repeated(const struct tcp_link *l, struct loco_remote to, size_t size)
{
    const struct tcp_request *r = &l->last;

    return r->operation && r->offset == to.offset && r->arena == to.arena && r->size == size;
}

/* The link's last write is in the log whole, at `at`. */
static inline int hold_done(struct tcp_lane *lane, struct tcp_link *l, const unsigned char *at,
                            size_t size)
{
    const size_t begin = (size_t)(at - lane->log.bytes);

    atomic_store_explicit(&lane->log.end, (uint32_t)(begin + sizeof l->last + size),
                          memory_order_release);
    atomic_store_explicit(&l->held, true, memory_order_release);
    atomic_store_explicit(&l->base.done,
                          atomic_load_explicit(&l->base.posted, memory_order_relaxed),
                          memory_order_release);
    return LOCO_DONE;
}

/* The first held write to a place, or to a lane; or one that cannot be held. */
__attribute__((noinline)) static int hold_first(struct tcp_link *l, struct loco_remote to,
                                                const void *from, size_t size)
{
    struct tcp_lane *lane = atomic_load_explicit(&l->lane, memory_order_relaxed);

    if (size > LOCO_INLINE_MAX || !hold_may(l) ||
        !tcp_arena_has(l->arenas, to.arena, to.offset, size) ||
        (!hold_room(lane) && !hold_claim(lane)))
        return tcp_link_write(l, to, from, size);
    unsigned char *at = hold_room(lane);
    l->last = (struct tcp_request){.operation = TCP_WRITE,
                                   .arena = (uint8_t)to.arena,
                                   .link = l->index,
                                   .size = (uint32_t)size,
                                   .offset = to.offset};
    memcpy(at, &l->last, sizeof l->last);
    tcp_fetch(at + sizeof l->last, from, size);
    return hold_done(lane, l, at, size);
}

/* Mostly a write is of whole words, all is as with the link's last write, and the thread has
 * claimed the log. */
int tcp_write(struct loco_link *base, struct loco_remote to, const void *from, size_t size)
{
    struct tcp_link *l = (struct tcp_link *)base;
    struct tcp_lane *lane = atomic_load_explicit(&l->lane, memory_order_relaxed);
    unsigned char *at = hold_room(lane);

    if (!at || !hold_may(l) || !hold_is_repeated(l, to, size) || !tcp_is_words(from, size))
        return hold_first(l, to, from, size);
    memcpy(at, &l->last, sizeof l->last);
    tcp_fetch_words(at + sizeof l->last, from, size);
    return hold_done(lane, l, at, size);
}

void tcp_hold(struct loco_node *node)
{
    if (loco_context.holds++ == 0)
        hold.tcp = ((struct tcp_node *)node)->tcp;
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
    if (hold.tcp != t)
        return;
    hold.tcp = NULL;
    hold.lane = NULL;
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

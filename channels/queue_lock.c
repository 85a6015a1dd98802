/*
 * The queue of nodes is a chain. A place in it is a number, from 1, that says whose it is and is
 * used once:
 *
 *      bits 16 to 63   counts the node's places
 *      bits 0 to 15    the node's id + 1
 *
 * The words, each at a cache line of its own:
 *
 *      LAST      at the host: the last place; 0: the lock is free
 *      FOLLOWER  at each node: the place after this node's newest, once that node has said so
 *      TURN      at each node: the place of this node whose turn has come
 *      ENDED     at each node: not 0: a participant was lost
 *
 * LAST is changed by compare-and-swaps only. The other words are written by one node at a time: who
 * comes next writes FOLLOWER, and that node waits for it before it uses another place, unless none
 * came; the same goes for TURN. As a place is used once, an earlier value is never taken for a new
 * one, and none of the words is reset.
 */
#include "loco/queue_lock.h"

#include <errno.h>
#include <stdio.h>

#include "core.h"
#include "ended.h"
#include "loco/memory.h"
#include "thread_links.h"
#include "trace_internal.h"

enum { LINE = LOCO_CACHE_LINE / sizeof(uint64_t) };
enum { LAST = 0, FOLLOWER = LINE, TURN = 2 * LINE, ENDED = 3 * LINE, WORDS = 4 * LINE };

enum { PLACE_NODE = 0xffff, PLACE_STEP = PLACE_NODE + 1 };

static uint32_t place_node(uint64_t place)
{
    return (uint32_t)(place & PLACE_NODE) - 1;
}

static struct loco_manager *lock_manager(const struct loco_queue_lock *l)
{
    return l->words.channel.mgr;
}

static struct loco_atomic_word lock_last(const struct loco_queue_lock *l)
{
    return loco_atomic_at(&l->words, l->host, LAST);
}

static uint64_t lock_here(const struct loco_queue_lock *l, size_t word)
{
    return __atomic_load_n((const uint64_t *)l->words.region->memory + word, __ATOMIC_ACQUIRE);
}

/* --- the queue of this node's threads ----------------------------------------------------------
 */

static void local_enter(struct loco_queue_lock *l)
{
    const uint64_t ticket = __atomic_fetch_add(&l->local_next, 1, __ATOMIC_RELAXED);
    struct loco_wait wait = {.until = UINT64_MAX};

    while (__atomic_load_n(&l->local_serving, __ATOMIC_ACQUIRE) != ticket)
        loco_relax(lock_manager(l), &wait);
}

static bool local_try(struct loco_queue_lock *l)
{
    uint64_t serving = __atomic_load_n(&l->local_serving, __ATOMIC_ACQUIRE);

    return __atomic_compare_exchange_n(&l->local_next, &serving, serving + 1, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void local_leave(struct loco_queue_lock *l)
{
    __atomic_store_n(&l->local_serving, l->local_serving + 1, __ATOMIC_RELEASE);
}

static bool local_has_more(const struct loco_queue_lock *l)
{
    return __atomic_load_n(&l->local_next, __ATOMIC_RELAXED) != l->local_serving + 1;
}

/* --- the queue of nodes ------------------------------------------------------------------------
 */

/* Puts the node behind the last place, and sets *before to that. */
static int queue_join(struct loco_queue_lock *l, uint64_t *before)
{
    uint64_t old, expected = 0;

    l->place += PLACE_STEP;
    for (;; expected = old) {
        int rc = loco_atomic_compare_swap(lock_last(l), expected, l->place, &old);
        *before = old;
        if (rc || old == expected)
            return rc;
    }
}

/* Waits for a word of this node: until it is `value`, or until it is not. */
static int queue_wait(struct loco_queue_lock *l, size_t word, bool is, uint64_t value)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    while ((lock_here(l, word) == value) != is) {
        int rc = loco_ended(&l->words, ENDED);
        if (rc)
            return rc;
        loco_relax(lock_manager(l), &wait);
    }
    return 0;
}

static int queue_enter(struct loco_queue_lock *l, const struct loco_wait *wait)
{
    uint64_t before;
    int rc = loco_ended(&l->words, ENDED);

    (void)wait;
    if (!rc)
        rc = queue_join(l, &before);
    if (rc || !before)
        return rc;
    loco_atomic_write(loco_atomic_at(&l->words, place_node(before), FOLLOWER), l->place);
    return queue_wait(l, TURN, true, l->place);
}

/* Takes the lock only if it is free. Only the look has a time limit: a compare-and-swap that was
 * given up might still take the lock. */
static int queue_try(struct loco_queue_lock *l, const struct loco_wait *wait)
{
    const uint64_t time = wait ? loco_time_for_look(lock_manager(l), wait) : UINT64_MAX;
    uint64_t last;
    int rc = loco_ended(&l->words, ENDED);

    if (!rc)
        rc = loco_atomic_look(lock_last(l), &last, time);
    if (rc || last)
        return rc ? rc : -EBUSY;
    l->place += PLACE_STEP;
    rc = loco_atomic_compare_swap(lock_last(l), 0, l->place, &last);
    return rc ? rc : last ? -EBUSY : 0;
}

/* The fence of a release to a thread of `node`. A release that is written to the host itself goes
 * behind this thread's writes there, on one link. */
static int queue_settle(const struct loco_queue_lock *l, enum loco_fence fence, uint32_t node,
                        uint64_t timeout_ns)
{
    struct loco_manager *m = lock_manager(l);

    if (m->fabric->capabilities & LOCO_COHERENT)
        return 0; /* the release's own store comes after all before it */
    if (fence == LOCO_FENCE_PAIR && node != l->host)
        return loco_fence_pair_timed(m, l->host, timeout_ns);
    if (fence == LOCO_FENCE_THREAD)
        return loco_fence_thread_timed(m, timeout_ns);
    return fence == LOCO_FENCE_GLOBAL ? loco_fence_global_timed(m, timeout_ns) : 0;
}

static int queue_hand_over(struct loco_queue_lock *l)
{
    l->follower = lock_here(l, FOLLOWER);
    return loco_atomic_write(loco_atomic_at(&l->words, place_node(l->follower), TURN), l->follower)
        .error;
}

/* Nobody has come yet. If somebody is about to, the compare-and-swap fails. It executed after this
 * thread's writes to the host, so these need no further fence. */
static int queue_leave_empty(struct loco_queue_lock *l)
{
    uint64_t old;
    int rc = loco_atomic_compare_swap(lock_last(l), l->place, 0, &old);

    if (rc || old == l->place)
        return rc;
    rc = queue_wait(l, FOLLOWER, false, l->follower);
    return rc ? rc : queue_hand_over(l);
}

static int queue_leave(struct loco_queue_lock *l, enum loco_fence fence, uint64_t timeout_ns)
{
    const uint64_t follower = lock_here(l, FOLLOWER);
    const bool empty = follower == l->follower;
    int rc = queue_settle(l, fence, empty ? l->host : place_node(follower), timeout_ns);

    if (rc == -ETIMEDOUT)
        return rc;
    const int left = empty ? queue_leave_empty(l) : queue_hand_over(l);
    return rc ? rc : left;
}

/* --- the lock ----------------------------------------------------------------------------------
 */

/* The calling thread has passed its node's queue. */
static int lock_enter(struct loco_queue_lock *l,
                      int (*enter)(struct loco_queue_lock *l, const struct loco_wait *wait),
                      const struct loco_wait *wait)
{
    const struct loco_channel *c = &l->words.channel;

    if (!l->kept) {
        int rc = enter(l, wait);
        if (rc) {
            local_leave(l);
            return rc;
        }
        l->passed = 0;
    }
    LOCO_TRACE(lock_acquire, c->mgr->id, c->name, l->host, 0);
    return 0;
}

int loco_queue_lock_acquire(struct loco_queue_lock *l)
{
    if (!loco_self(lock_manager(l)))
        return -EPERM;
    local_enter(l);
    return lock_enter(l, queue_enter, NULL);
}

static int lock_try(struct loco_queue_lock *l, const struct loco_wait *wait)
{
    if (!loco_self(lock_manager(l)))
        return -EPERM;
    return local_try(l) ? lock_enter(l, queue_try, wait) : -EBUSY;
}

int loco_queue_lock_try(struct loco_queue_lock *l)
{
    return lock_try(l, NULL);
}

int loco_queue_lock_timed(struct loco_queue_lock *l, uint64_t timeout_ns)
{
    const struct loco_manager *m = lock_manager(l);
    struct loco_wait wait = loco_wait_for(m, timeout_ns);

    for (;;) {
        int rc = lock_try(l, &wait);
        if (rc != -EBUSY)
            return rc;
        rc = loco_accept_backoff_between_looks(m, &wait);
        if (rc)
            return rc;
    }
}

int loco_queue_lock_release(struct loco_queue_lock *l, enum loco_fence fence)
{
    return loco_queue_lock_release_timed(l, fence, UINT64_MAX);
}

int loco_queue_lock_release_timed(struct loco_queue_lock *l, enum loco_fence fence,
                                  uint64_t timeout_ns)
{
    const struct loco_channel *c = &l->words.channel;
    const bool keep = l->passed < l->handover && local_has_more(l);

    if (!loco_self(c->mgr))
        return -EPERM;
    int rc =
        keep ? queue_settle(l, fence, UINT32_MAX, timeout_ns) : queue_leave(l, fence, timeout_ns);
    if (rc == -ETIMEDOUT)
        return rc;
    LOCO_TRACE(lock_release, c->mgr->id, c->name, l->host, 0);
    l->kept = keep;
    l->passed += keep;
    local_leave(l);
    return rc;
}

/* --- setup --------------------------------------------------------------------------------------
 */

int loco_queue_lock_init(struct loco_queue_lock *l, struct loco_manager *manager,
                         const struct loco_channel *parent, const char *name, uint32_t host,
                         struct loco_members members, unsigned handover)
{
    char options[LOCO_OPTIONS_MAX];

    *l = (struct loco_queue_lock){.host = host, .handover = handover, .place = manager->id + 1};
    if (host >= manager->count || manager->count > PLACE_NODE)
        return -EINVAL;
    snprintf(options, sizeof options, "host=%u\nhandover=%u\n", host, handover);
    return loco_atomic_words_init(&l->words, manager, parent, name, WORDS, members, options);
}

void loco_queue_lock_fini(struct loco_queue_lock *l)
{
    loco_atomic_array_fini(&l->words);
}

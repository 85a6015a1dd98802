/*
 * A lock is two gates (lock_gate.h). A thread goes through the local gate of its own node first.
 * Then it goes through the network gate at the lock's host, on behalf of its whole node. The local
 * gate's words are in this node's memory, the network gate's in the host's.
 */
#include "loco/ticket_lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core.h"
#include "lock_claims.h"
#include "thread_links.h"
#include "trace_internal.h"

/* --- the fast ways in and out ----------------------------------------------------------------- */

/* `inside` is what now_serving is. It need not be known where the CPU reaches the word. */
static inline int gate_leave(struct loco_atomic_word now_serving, uint64_t *after,
                             unsigned handover, uint64_t inside)
{
    uint64_t *reached = loco_atomic_reach(now_serving);

    *after = serving_left(*after, handover);
    if (!reached)
        return loco_atomic_post_replace(now_serving, inside, *after);
    __atomic_store_n(reached, *after, __ATOMIC_RELEASE);
    loco_stored();
    return 0;
}

/* The fast way in, tried first: one atomic operation on an open gate that this CPU can reach. */
static inline bool gate_walk_in(uint64_t *serving, uint64_t *after, uint32_t node)
{
    uint64_t old, seen = __atomic_load_n(serving, __ATOMIC_ACQUIRE);

    if (serving_state(seen) != OPEN)
        return false;
    loco_atomic_compare_swap((struct loco_atomic_word){.own = serving}, seen,
                             serving_held_by(seen, node), &old);
    if (old != seen)
        return false;
    *after = seen - OPEN + PASS;
    return true;
}

/* --- the two gates of a lock ------------------------------------------------------------------ */

static struct loco_atomic_word lock_local_serving(struct loco_ticket_lock *l)
{
    return (struct loco_atomic_word){.own = &l->local_serving};
}

static inline struct loco_atomic_word lock_network_serving(const struct loco_ticket_lock *l)
{
    return loco_atomic_at(l->words, l->host, l->index + LINE);
}

static struct gate lock_local_gate(struct loco_ticket_lock *l)
{
    return (struct gate){
        .mgr = l->words->channel.mgr,
        .next_ticket = {.own = &l->local_next},
        .now_serving = lock_local_serving(l),
        .near = &l->local_serving,
        .after = &l->local_after,
        .handover = l->handover,
    };
}

static struct gate lock_network_gate(struct loco_ticket_lock *l)
{
    struct loco_manager *m = l->words->channel.mgr;
    struct gate g = {
        .mgr = m,
        .lock = l,
        .next_ticket = loco_atomic_at(l->words, l->host, l->index),
        .now_serving = lock_network_serving(l),
        .after = &l->after,
        .handover = l->handover,
    };

    g.near = loco_atomic_reach(g.now_serving);
    if (l->host == m->id)
        g.near = (const uint64_t *)l->words->region->memory + l->index + LINE;
    return g;
}

/* Go through one gate: fast if it is open, else by `through`, which is loco_gate_enter or
 * loco_gate_try. */
static int lock_through_local(struct loco_ticket_lock *l, int (*through)(const struct gate *g))
{
    if (gate_walk_in(&l->local_serving, &l->local_after, 0))
        return 0;
    const struct gate local = lock_local_gate(l);
    return through(&local);
}

static int lock_through_network(struct loco_ticket_lock *l, uint64_t *reached,
                                int (*through)(const struct gate *g), const struct loco_wait *wait)
{
    if (reached && gate_walk_in(reached, &l->after, l->words->channel.mgr->id))
        return 0;
    struct gate network = lock_network_gate(l);
    network.wait = wait;
    return through(&network);
}

static int lock_acquire_with(struct loco_ticket_lock *l, int (*through)(const struct gate *g),
                             const struct loco_wait *wait)
{
    const struct loco_atomic_word serving = lock_network_serving(l);

    /* The word is fetched into the cache while this thread goes through the local gate. */
    loco_atomic_prefetch(serving);
    int rc = lock_through_local(l, through);
    if (rc || l->kept)
        return rc;
    rc = lock_through_network(l, loco_atomic_reach(serving), through, wait);
    if (rc)
        gate_leave(lock_local_serving(l), &l->local_after, l->handover, 0);
    return rc;
}

static int lock_acquire_traced(struct loco_ticket_lock *l, int (*through)(const struct gate *g),
                               const struct loco_wait *wait)
{
    const struct loco_channel *c = &l->words->channel;
    int rc = loco_self(c->mgr) ? lock_acquire_with(l, through, wait) : -EPERM;

    if (!rc)
        LOCO_TRACE(lock_acquire, c->mgr->id, c->name, l->host, l->index / WORDS);
    return rc;
}

int loco_ticket_lock_acquire(struct loco_ticket_lock *l)
{
    return lock_acquire_traced(l, loco_gate_enter, NULL);
}

int loco_ticket_lock_try(struct loco_ticket_lock *l)
{
    return lock_acquire_traced(l, loco_gate_try, NULL);
}

/* Waits for a change before the next try, or for a short time where no change can be seen in this
 * node's memory. Returns 0, or -ETIMEDOUT when the wait's own time is over. */
static int lock_rest_between_tries(struct loco_ticket_lock *l, struct loco_wait *wait)
{
    const struct loco_manager *m = l->words->channel.mgr;
    const struct gate network = lock_network_gate(l);

    return !network.near || loco_gate_has_losses(&network)
               ? loco_accept_backoff_between_looks(m, wait)
               : loco_relax(m, wait);
}

int loco_ticket_lock_timed(struct loco_ticket_lock *l, uint64_t timeout_ns)
{
    const struct loco_channel *c = &l->words->channel;
    struct loco_wait wait = loco_wait_for(c->mgr, timeout_ns);

    for (;;) {
        int rc = lock_acquire_traced(l, loco_gate_try, &wait);
        if (rc != -EBUSY)
            return rc;
        rc = lock_rest_between_tries(l, &wait);
        if (rc)
            return rc;
    }
}

/* Whether the lock stays with this node: another of its threads has a local ticket, and the network
 * gate may still be passed once more. */
static bool lock_may_keep(const struct loco_ticket_lock *l)
{
    return serving_passes(l->after) < l->handover &&
           __atomic_load_n(&l->local_next, __ATOMIC_RELAXED) != serving_turn(l->local_after);
}

/* The fence of a release. `on_link`: the release itself is written to the host over this thread's
 * link, behind its other writes, so LOCO_FENCE_PAIR needs no waiting. */
static int lock_settle(const struct loco_ticket_lock *l, enum loco_fence fence, bool on_link,
                       uint64_t timeout_ns)
{
    struct loco_manager *m = l->words->channel.mgr;

    if (m->fabric->capabilities & LOCO_COHERENT)
        return 0; /* the release's own store comes after all before it */
    if (fence == LOCO_FENCE_PAIR && !on_link)
        return loco_fence_pair_timed(m, l->host, timeout_ns);
    if (fence == LOCO_FENCE_THREAD)
        return loco_fence_thread_timed(m, timeout_ns);
    return fence == LOCO_FENCE_GLOBAL ? loco_fence_global_timed(m, timeout_ns) : 0;
}

int loco_ticket_lock_release(struct loco_ticket_lock *l, enum loco_fence fence)
{
    return loco_ticket_lock_release_timed(l, fence, UINT64_MAX);
}

int loco_ticket_lock_release_timed(struct loco_ticket_lock *l, enum loco_fence fence,
                                   uint64_t timeout_ns)
{
    const struct loco_channel *c = &l->words->channel;
    const struct loco_atomic_word serving = lock_network_serving(l);
    const bool keep = lock_may_keep(l);

    if (!loco_self(c->mgr))
        return -EPERM;
    int rc = lock_settle(l, fence, !keep && !loco_atomic_reach(serving), timeout_ns);
    if (rc == -ETIMEDOUT)
        return rc;
    LOCO_TRACE(lock_release, c->mgr->id, c->name, l->host, l->index / WORDS);

    l->kept = keep;
    if (keep) {
        l->after += PASS;
    } else {
        int left = gate_leave(serving, &l->after, l->handover, l->inside);
        rc = rc ? rc : left;
    }
    gate_leave(lock_local_serving(l), &l->local_after, l->handover, 0);
    return rc;
}

/* --- setup -------------------------------------------------------------------------------- */

static void lock_set_up(struct loco_ticket_lock *l, struct loco_atomic_array *words, uint32_t host,
                        size_t count, size_t index, unsigned handover)
{
    *l = (struct loco_ticket_lock){
        .words = words,
        .host = host,
        .count = (uint32_t)count,
        .index = (uint32_t)(index * WORDS),
        .handover = (uint16_t)handover,
    };
}

int loco_ticket_lock_array_init(struct loco_ticket_lock_array *a, struct loco_manager *manager,
                                const struct loco_channel *parent, const char *name, size_t count,
                                struct loco_members members, unsigned handover)
{
    *a = (struct loco_ticket_lock_array){0};
    if (count == 0 || handover > LOCO_HANDOVER_MAX || manager->count > HOLDER)
        return -EINVAL;
    if (count > UINT32_MAX / WORDS ||
        count > SIZE_MAX / (WORDS * sizeof(uint64_t) + sizeof a->locks[0]) / (manager->count + 1))
        return -EINVAL;
    a->count = count;
    a->locks = aligned_alloc(_Alignof(struct loco_ticket_lock),
                             manager->count * count * sizeof a->locks[0]);
    if (!a->locks)
        return -ENOMEM;
    for (uint32_t host = 0; host < manager->count; host++)
        for (size_t i = 0; i < count; i++)
            lock_set_up(&a->locks[host * count + i], &a->words, host, count, i, handover);
    char options[LOCO_OPTIONS_MAX];
    snprintf(options, sizeof options, "handover=%u\n", handover);
    int rc = loco_atomic_words_init(&a->words, manager, parent, name,
                                    loco_claims_and_locks(count, manager->count), members, options);
    if (rc) {
        free(a->locks);
        a->locks = NULL;
    }
    return rc;
}

void loco_ticket_lock_array_fini(struct loco_ticket_lock_array *a)
{
    loco_atomic_array_fini(&a->words);
    free(a->locks);
    *a = (struct loco_ticket_lock_array){0};
}

struct loco_ticket_lock *loco_ticket_lock_at(const struct loco_ticket_lock_array *a, uint32_t host,
                                             size_t index)
{
    return &a->locks[host * a->count + index];
}

int loco_ticket_lock_init(struct loco_ticket_lock *l, struct loco_manager *manager,
                          const struct loco_channel *parent, const char *name, uint32_t host,
                          struct loco_members members, unsigned handover)
{
    *l = (struct loco_ticket_lock){0};
    if (host >= manager->count || manager->count > HOLDER || handover > LOCO_HANDOVER_MAX)
        return -EINVAL;
    char options[LOCO_OPTIONS_MAX];
    struct loco_atomic_array *words = malloc(sizeof *words);
    if (!words)
        return -ENOMEM;
    snprintf(options, sizeof options, "host=%u\nhandover=%u\n", host, handover);
    int rc = loco_atomic_words_init(words, manager, parent, name,
                                    loco_claims_and_locks(1, manager->count), members, options);
    if (rc) {
        free(words);
        return rc;
    }
    lock_set_up(l, words, host, 1, 0, handover);
    return 0;
}

void loco_ticket_lock_fini(struct loco_ticket_lock *l)
{
    if (l->words)
        loco_atomic_array_fini(l->words);
    free(l->words);
    *l = (struct loco_ticket_lock){0};
}

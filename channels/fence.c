/*
 * A fence collects the debts of each link in its scope: operations that are not done, and writes
 * that may not be placed. Where there are such writes it posts a flush behind them. Then it waits
 * for all debts at once.
 *
 * Each fence waits for the debts that it has collected itself. Fences of several threads about the
 * same link share only the link's marks (written, placed, done), which only grow.
 *
 * Waiting cannot settle the debts of a link to a lost peer. They are counted as a loss, and each
 * thread that has the link in the scope of a fence is told of it once, by -ECONNRESET.
 */
#include "loco/fence.h"

#include <errno.h>
#include <stdatomic.h>

#include "fabric/by_node_make.h"
#include "loco/thread.h"
#include "thread_links.h"
#include "trace_internal.h"

/* Which links a fence is about. */
struct scope {
    struct loco_thread *thread; /* NULL: every thread of the node */
    uint32_t first, last;       /* peers */
};

/* What a link owed when the fence began. */
struct debt {
    struct loco_thread *thread;
    struct loco_link *link;
    uint64_t operation; /* the newest operation; 0: all are done */
    uint64_t write;     /* the newest write that may not be placed; 0: none */
    uint64_t ticket;    /* of a flush behind that write: it is placed when `flushed` reaches this */
};

/* A fence that finds more debts settles these first. */
enum { DEBTS = 32 };

struct debts {
    unsigned count;
    struct debt at[DEBTS];
};

/* The newest write that may not be placed; 0: none. */
static uint64_t fence_unplaced(const struct loco_link *link)
{
    uint64_t written = atomic_load_explicit(&link->written, memory_order_acquire);

    if (atomic_load_explicit(&link->placed, memory_order_acquire) >= written ||
        atomic_load_explicit(&link->lost, memory_order_acquire) >= written)
        return 0;
    return written;
}

/* The newest operation, where it is not done; 0: all are done. */
static uint64_t fence_undone(const struct loco_link *link)
{
    uint64_t posted = atomic_load_explicit(&link->posted, memory_order_acquire);

    if (loco_link_done(link, posted) ||
        atomic_load_explicit(&link->lost, memory_order_acquire) >= posted)
        return 0;
    return posted;
}

/* Whether the link's peer is lost, or came back and has another link now. */
static bool fence_link_dead(const struct loco_thread *t, const struct loco_link *link)
{
    /* In this order: when a peer counts as back, its new link is in the table. */
    return loco_peer_lost(t->mgr, link->peer) || loco_thread_link(t, link->peer) != link;
}

/* Counts what the link owes as lost. The counts come before the mark `lost`, so a thread that sees
 * by the mark that nothing is owed also sees the loss. The lock is not the manager's, because a
 * fence does not wait for a thread that opens a link. */
static void fence_give_up(struct loco_manager *m, struct loco_link *link)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    if (!fence_unplaced(link) && !fence_undone(link))
        return;
    pthread_mutex_lock(&lock);
    if (fence_unplaced(link) || fence_undone(link)) {
        atomic_fetch_add(&m->losses, 1);
        atomic_fetch_add(&link->losses, 1);
        atomic_store_explicit(&link->lost, atomic_load(&link->posted), memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

static void fence_raise(_Atomic uint64_t *mark, uint64_t to)
{
    uint64_t from = atomic_load_explicit(mark, memory_order_relaxed);

    while (from < to && !atomic_compare_exchange_weak_explicit(
                            mark, &from, to, memory_order_release, memory_order_relaxed))
        ;
}

static bool debt_is_settled(const struct debt *d)
{
    struct loco_link *link = d->link;

    loco_poll_inline(link, d->thread->mgr);
    if (d->write && atomic_load_explicit(&link->flushed, memory_order_acquire) < d->ticket)
        return false;
    if (!loco_link_done(link, d->operation))
        return false;
    fence_raise(&link->placed, d->write);
    return true;
}

/* Waits for all debts. Returns 0 or -ETIMEDOUT. */
static int debts_settle(struct loco_manager *m, struct debts *debts, struct loco_wait *wait)
{
    int rc = 0;

    while (debts->count > 0 && !rc) {
        unsigned left = 0;
        for (unsigned i = 0; i < debts->count; i++) {
            struct debt *d = &debts->at[i];
            if (debt_is_settled(d))
                continue;
            if (fence_link_dead(d->thread, d->link))
                fence_give_up(m, d->link);
            else
                debts->at[left++] = *d;
        }
        debts->count = left;
        if (left > 0)
            rc = loco_relax(m, wait);
    }
    return rc;
}

/* The ticket of a flush behind the write: an earlier fence's if there is one, else of a new flush.
 * So a peer that stands still is not sent a flush by each fence that times out. */
static uint64_t fence_ask(struct loco_link *link, uint64_t write)
{
    if (atomic_load_explicit(&link->asked, memory_order_acquire) >= write)
        return atomic_load_explicit(&link->ticket, memory_order_relaxed);
    const uint64_t ticket = link->node->fabric->ops->flush(link);
    /* The ticket first: a thread that sees `asked` then sees this ticket or a later one. */
    fence_raise(&link->ticket, ticket);
    fence_raise(&link->asked, write);
    return ticket;
}

static int fence_begin_link(struct loco_thread *t, struct loco_link *link, struct debts *debts,
                            struct loco_wait *wait)
{
    int rc = 0;

    struct debt d = {
        .thread = t, .link = link, .operation = fence_undone(link), .write = fence_unplaced(link)};

    for (struct loco_link *older = link->older; older; older = older->older)
        fence_give_up(t->mgr, older);
    if (!d.operation && !d.write)
        return 0;
    if (fence_link_dead(t, link)) {
        fence_give_up(t->mgr, link);
        return 0;
    }
    if (d.write)
        d.ticket = fence_ask(link, d.write);
    if (debts->count == DEBTS)
        rc = debts_settle(t->mgr, debts, wait);
    if (!rc)
        debts->at[debts->count++] = d;
    return rc;
}

static int fence_begin_thread(struct loco_thread *t, struct scope scope, struct debts *debts,
                              struct loco_wait *wait)
{
    const struct loco_by_node *links = &t->links;
    int rc = 0;

    for (uint32_t node = scope.first; !rc && (node = loco_by_node_next(links, node)) <= scope.last;
         node++) {
        struct loco_link *link = loco_thread_link(t, node);
        if (link)
            rc = fence_begin_link(t, link, debts, wait);
    }
    return rc;
}

/* Whether any of the calling thread's operations were lost since it was last told: -ECONNRESET. */
static int fence_tell_own(struct loco_thread *self, struct scope scope)
{
    const struct loco_by_node *links = &self->links;
    uint32_t news = 0;

    for (uint32_t node = scope.first; (node = loco_by_node_next(links, node)) <= scope.last;
         node++) {
        for (struct loco_link *link = loco_thread_link(self, node); link; link = link->older) {
            uint32_t losses = atomic_load_explicit(&link->losses, memory_order_acquire);
            news += losses - link->told;
            link->told = losses;
        }
    }
    self->told += news;
    return news ? -ECONNRESET : 0;
}

/* The same of the operations of any thread. */
static int fence_tell_all(struct loco_thread *self, struct scope scope)
{
    int rc = fence_tell_own(self, scope);
    uint32_t losses = atomic_load_explicit(&self->mgr->losses, memory_order_acquire);

    if (self->told != losses)
        rc = -ECONNRESET;
    self->told = losses;
    return rc;
}

static int fence_links(struct loco_thread *self, struct scope scope, uint64_t timeout_ns)
{
    struct loco_manager *m = self->mgr;
    struct loco_wait wait = loco_wait_for(m, timeout_ns);
    struct debts debts;
    int rc = 0;

    debts.count = 0;
    if (scope.thread)
        rc = fence_begin_thread(scope.thread, scope, &debts, &wait);
    else
        loco_each_thread (m, t)
            rc = rc ? rc : fence_begin_thread(t, scope, &debts, &wait);
    if (!rc)
        rc = debts_settle(m, &debts, &wait);
    if (rc)
        return rc;
    return scope.thread ? fence_tell_own(self, scope) : fence_tell_all(self, scope);
}

static int fence(struct loco_manager *m, enum loco_fence kind, struct scope scope,
                 uint64_t timeout_ns)
{
    struct loco_thread *self = loco_self(m);
    int rc = 0;

    if (!self)
        return -EPERM;
    if (m->fabric->capabilities & LOCO_COHERENT)
        loco_place_stores();
    else
        rc = fence_links(self, scope, timeout_ns);
    LOCO_TRACE(fence, m->id, kind);
    return rc;
}

int loco_fence_pair_timed(struct loco_manager *m, uint32_t node, uint64_t timeout_ns)
{
    if (node >= m->count)
        return -EINVAL;
    return fence(m, LOCO_FENCE_PAIR,
                 (struct scope){.thread = loco_self(m), .first = node, .last = node}, timeout_ns);
}

int loco_fence_thread_timed(struct loco_manager *m, uint64_t timeout_ns)
{
    return fence(m, LOCO_FENCE_THREAD, (struct scope){.thread = loco_self(m), .last = m->count - 1},
                 timeout_ns);
}

int loco_fence_global_timed(struct loco_manager *m, uint64_t timeout_ns)
{
    return fence(m, LOCO_FENCE_GLOBAL, (struct scope){.last = m->count - 1}, timeout_ns);
}

int loco_fence_pair(struct loco_manager *m, uint32_t node)
{
    return loco_fence_pair_timed(m, node, UINT64_MAX);
}

int loco_fence_thread(struct loco_manager *m)
{
    return loco_fence_thread_timed(m, UINT64_MAX);
}

int loco_fence_global(struct loco_manager *m)
{
    return loco_fence_global_timed(m, UINT64_MAX);
}

#include "loco/thread.h"

#include <errno.h>
#include <stdlib.h>

#include "core.h"
#include "fabric/by_node_make.h"
#include "loco/fence.h"
#include "operation.h"
#include "thread_links.h"

static int thread_link_to(struct loco_thread *t, uint32_t node, uint64_t until)
{
    struct loco_link *_Atomic *entry = loco_by_node_make(&t->links, node);
    struct loco_link *link;
    int rc = entry ? t->mgr->fabric->ops->link_open(t->mgr->node, node, until, &link) : -ENOMEM;

    if (rc)
        return rc;
    link->older = *entry;
    link->epoch = t->mgr->epoch + 1;
    atomic_store_explicit(entry, link, memory_order_release);
    return 0;
}

int loco_threads_link(struct loco_manager *m, uint32_t node)
{
    struct loco_peer *peer = loco_by_node_find(&m->peers, node);

    if (peer->linked)
        return 0;
    loco_each_thread (m, t) {
        int rc = thread_link_to(t, node, UINT64_MAX);
        if (rc)
            return rc;
    }
    peer->linked = true;
    /* After the links: an operation of this epoch went over a new link, never over an older one. */
    atomic_fetch_add_explicit(&m->epoch, 1, memory_order_release);
    loco_routes_renew();
    atomic_store_explicit(&peer->lost, false, memory_order_release);
    return 0;
}

/* Opens the links that are missing: to this node itself, and to each peer that a channel has
 * connected to already. */
static int thread_link_to_all(struct loco_thread *t, uint64_t until)
{
    int rc = loco_thread_link(t, t->mgr->id) ? 0 : thread_link_to(t, t->mgr->id, until);

    loco_each_entry (&t->mgr->peers, node) {
        const struct loco_peer *peer = loco_by_node_find(&t->mgr->peers, node);
        if (!rc && peer->linked && !loco_thread_link(t, node))
            rc = thread_link_to(t, node, until);
    }
    t->linked = !rc;
    return rc;
}

/* Finds a context for a thread. One that has all its links comes first. */
static struct loco_thread *thread_find_detached(const struct loco_manager *m)
{
    struct loco_thread *found = NULL;

    loco_each_thread (m, t)
        if (!t->attached && (!found || t->linked))
            found = t;
    return found;
}

/* Its links are still missing. */
static int thread_make(struct loco_manager *m, struct loco_thread **made)
{
    struct loco_thread *t = calloc(1, sizeof *t);

    if (!t)
        return -ENOMEM;
    t->mgr = m;
    int rc = loco_by_node_init(&t->links, m->count, sizeof(struct loco_link *));
    if (!rc)
        rc = loco_mem_pool_open(t);
    if (rc) {
        loco_thread_free(t);
        return rc;
    }
    t->next = atomic_load_explicit(&m->threads, memory_order_relaxed);
    atomic_store_explicit(&m->threads, t, memory_order_release);
    *made = t;
    return 0;
}

/* Whether the calling thread is attached. Its table may still name a context of a manager that had
 * this one's slot and was closed meanwhile. */
static bool thread_is_attached(const struct loco_manager *m)
{
    const struct loco_thread *self = loco_self(m);

    if (!self)
        return false;
    loco_each_thread (m, t) {
        if (t == self)
            return t->attached && pthread_equal(t->owner, pthread_self());
    }
    return false;
}

int loco_thread_attach(struct loco_manager *m)
{
    return loco_thread_attach_timed(m, UINT64_MAX);
}

int loco_thread_attach_timed(struct loco_manager *m, uint64_t timeout_ns)
{
    struct loco_wait wait = loco_wait_for(m, timeout_ns);
    void **table = loco_context_table();

    if (!table)
        return -ENOMEM;
    if (loco_manager_lock(m, &wait))
        return -ETIMEDOUT;
    struct loco_thread *t = thread_find_detached(m);
    int rc = thread_is_attached(m) ? -EEXIST : t ? 0 : thread_make(m, &t);
    if (!rc && !t->linked)
        rc = thread_link_to_all(t, wait.until);
    if (!rc) {
        t->attached = true;
        t->owner = pthread_self();
        t->told = atomic_load(&m->losses);
        loco_mem_pool_fill(t);
        table[m->slot] = t;
        loco_routes_renew();
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

void loco_hold(struct loco_manager *m)
{
    if (m->fabric->ops->hold)
        m->fabric->ops->hold(m->node);
}

void loco_release(struct loco_manager *m)
{
    if (m->fabric->ops->release)
        m->fabric->ops->release(m->node);
}

static void thread_close_links(struct loco_thread *t, uint32_t node)
{
    for (struct loco_link *link = loco_thread_link(t, node), *older; link; link = older) {
        older = link->older;
        t->mgr->fabric->ops->link_close(link);
    }
}

void loco_thread_free(struct loco_thread *t)
{
    loco_each_entry (&t->links, node)
        thread_close_links(t, node);
    loco_by_node_free(&t->links);
    loco_mem_pool_close(t);
    free(t);
}

void loco_thread_detach(struct loco_manager *m)
{
    loco_thread_detach_timed(m, UINT64_MAX);
}

int loco_thread_detach_timed(struct loco_manager *m, uint64_t timeout_ns)
{
    struct loco_wait wait = loco_wait_for(m, timeout_ns);
    struct loco_thread *self = loco_self(m);

    if (!self)
        return 0;
    /* This fence also tells of losses, which the context's next thread must not hear of. */
    if (loco_fence_thread_timed(m, timeout_ns) == -ETIMEDOUT)
        return -ETIMEDOUT;
    if (loco_manager_lock(m, &wait))
        return -ETIMEDOUT;
    self->attached = false;
    pthread_mutex_unlock(&m->lock);
    loco_context.table[m->slot] = NULL;
    loco_routes_renew();
    return 0;
}

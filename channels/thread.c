#include "thread.h"

#include <errno.h>
#include <stdlib.h>

#include "core.h"
#include "fence.h"

static int link_to(struct loco_thread *t, uint32_t node)
{
    if (t->links[node])
        return 0;
    return t->mgr->fabric->ops->link_open(t->mgr->node, node, &t->links[node]);
}

int loco_threads_link(struct loco_manager *m, uint32_t node)
{
    m->linked[node] = true;
    for (struct loco_thread *t = m->threads; t; t = t->next) {
        int rc = link_to(t, node);
        if (rc)
            return rc;
    }
    return 0;
}

/* To whom a channel has connected already, and to itself. */
static int link_to_all(struct loco_thread *t)
{
    t->mgr->linked[t->mgr->id] = true;
    for (uint32_t node = 0; node < t->mgr->count; node++) {
        int rc = t->mgr->linked[node] ? link_to(t, node) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

int loco_thread_attach(struct loco_manager *m)
{
    if (loco_self(m))
        return -EEXIST;

    struct loco_thread *t = calloc(1, sizeof *t + m->count * sizeof(struct loco_link *));
    if (!t)
        return -ENOMEM;
    t->mgr = m;
    pthread_mutex_lock(&m->lock);
    int rc = loco_mem_pool_open(t);
    if (!rc)
        rc = link_to_all(t);
    if (!rc) {
        t->next = m->threads;
        m->threads = t;
    }
    pthread_mutex_unlock(&m->lock);
    if (rc)
        loco_thread_free(t);
    else
        loco_context_table()[m->slot] = t;
    return rc;
}

void loco_thread_free(struct loco_thread *t)
{
    for (uint32_t node = 0; node < t->mgr->count; node++)
        if (t->links[node])
            t->mgr->fabric->ops->link_close(t->links[node]);
    loco_mem_pool_close(t);
    free(t);
}

void loco_thread_detach(struct loco_manager *m)
{
    struct loco_thread *self = loco_self(m);

    if (!self)
        return;
    loco_fence_thread(m); /* no later global fence would know of its operations */
    pthread_mutex_lock(&m->lock);
    for (struct loco_thread **t = &m->threads; *t; t = &(*t)->next) {
        if (*t == self) {
            *t = self->next;
            break;
        }
    }
    pthread_mutex_unlock(&m->lock);
    loco_context_table()[m->slot] = NULL;
    loco_thread_free(self);
}

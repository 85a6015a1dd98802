/* The control thread of a process, and the nodes of the process that it serves. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../by_node_make.h"
#include "shm_internal.h"

void shm_wake_thread(struct shm *s)
{
    uint64_t one = 1;

    if (write(s->wakeup, &one, sizeof one) < 0)
        return; /* the counter is full, so the thread is awake anyway */
}

/* With the lock held. The first node of the process sets what all its nodes have in common; others
 * must agree. */
static int nodes_agree(struct shm *s, uint32_t count, const struct loco_key *key)
{
    if (s->nodes)
        return s->self.count == count && !memcmp(&s->self.key, key, sizeof *key) ? 0 : -EINVAL;
    int rc = loco_by_node_init(&s->by_id, count, sizeof(struct shm_node *));
    if (!rc)
        rc = loco_by_node_init(&s->try_at, count, sizeof(uint64_t));
    s->self.count = count;
    s->self.key = *key;
    return rc;
}

/* Ends the process's part in the network, after its last node has closed. */
static void nodes_leave(struct shm *s)
{
    shm_drop_connections(s);
    if (s->listener >= 0)
        close(s->listener);
    s->listener = -1;
    for (int i = 0; i < SHM_FILES; i++)
        shm_close_file(&s->files[i]);
    loco_by_node_free(&s->by_id);
    loco_by_node_free(&s->try_at);
    s->refusals = 0;
}

static int nodes_enter(struct shm *s, struct shm_node *n, const struct loco_key *key)
{
    int rc = nodes_agree(s, n->base.count, key);
    if (rc)
        return rc;
    struct shm_node **entry = loco_by_node_make(&s->by_id, n->base.id);
    if (!entry)
        return -ENOMEM;
    if (*entry)
        return -EADDRINUSE;
    rc = shm_show(n);
    if (rc)
        return rc;
    *entry = n;
    n->next = s->nodes;
    s->nodes = n;
    return 0;
}

int shm_enter(struct shm_node *n, const struct loco_key *key)
{
    struct shm *s = n->shm;

    pthread_mutex_lock(&s->lock);
    int rc = nodes_enter(s, n, key);
    if (rc && !s->nodes)
        nodes_leave(s);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* Ends a node: parts from its peers, and removes its name. With the lock held. */
static void node_shut(struct shm_node *n)
{
    struct shm_node **entry = loco_by_node_find(&n->shm->by_id, n->base.id);

    shm_part_from_peers(n);
    shm_hide(n);
    *entry = NULL;
}

/* Ends the nodes that are to close, and asks for missing peers of the others. Returns how long to
 * wait for events, in ms; -1: for ever. */
static int nodes_tend(struct shm *s)
{
    int retry = -1;

    pthread_mutex_lock(&s->lock);
    for (struct shm_node **n = &s->nodes; *n;) {
        if (!(*n)->closing) {
            retry = shm_sooner(retry, shm_seek_peers(*n));
            n = &(*n)->next;
            continue;
        }
        struct shm_node *gone = *n;
        node_shut(gone);
        *n = gone->next;
        if (!s->nodes)
            nodes_leave(s);
        gone->closed = true;
        pthread_cond_broadcast(&s->node_closed);
    }
    retry = shm_sooner(retry, shm_tend_strangers(s));
    retry = shm_sooner(retry, shm_tend_listener(s));
    pthread_mutex_unlock(&s->lock);
    return retry;
}

static void control_serve(struct shm_connection *c, uint32_t events)
{
    if (events & EPOLLOUT) {
        pthread_mutex_lock(&c->shm->lock);
        shm_send_queued(c);
        pthread_mutex_unlock(&c->shm->lock);
    }
    shm_hear(c);
}

void *shm_control_thread(void *arg)
{
    struct shm *s = arg;

    /* One event at a time, as serving one may free what another points to. */
    while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
        struct epoll_event event;
        int count = epoll_wait(s->epoll, &event, 1, nodes_tend(s));
        uint64_t turns;
        if (count < 1)
            continue;
        if (event.data.ptr == s)
            shm_accept(s);
        else if (event.data.ptr)
            control_serve(event.data.ptr, event.events);
        else if (read(s->wakeup, &turns, sizeof turns) < 0)
            continue;
    }
    return NULL;
}

/*
 * The thread that connects the nodes of the verbs fabric. Each node listens. The thread keeps
 * asking for the control connections that are missing. It receives all events of rdma_cm except
 * those of links that this process opens, and passes them to verbs_control.c and verbs_request.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "../host_time.h"
#include "verbs_internal.h"

enum {
    MS = 1000000,
    RETRY_MS = 100, /* between attempts to reach a peer that is not there yet */
    RETRY_LATER_MS = 1000,
    BACKLOG = 1024,
    AT_ONCE = 64 /* events that are handled before the nodes are looked after */
};

/* --- the listener ----------------------------------------------------------------------- */

int verbs_bind(struct verbs_node *n)
{
    struct sockaddr_storage a = verbs_connect_address(n, n->base.id, true);
    struct rdma_cm_id *id;

    if (rdma_create_id(n->verbs->channel, &id, &n->listener, RDMA_PS_TCP))
        return -errno;
    int rc = rdma_bind_addr(id, (struct sockaddr *)&a) ? -errno : 0;
    if (!rc && !id->verbs)
        rc = -ENODEV;
    if (rc) {
        rdma_destroy_id(id);
        return rc;
    }
    n->listener = (struct verbs_end){.role = VERBS_LISTENER, .node = n, .id = id};
    n->device = id->verbs;
    return 0;
}

int verbs_listen(struct verbs_node *n)
{
    return rdma_listen(n->listener.id, BACKLOG) ? -errno : 0;
}

/* --- events ----------------------------------------------------------------------------------- */

/* The node's device is gone. Marks all its connections, and that to itself, as lost. With the lock
 * held. */
static void device_lose(struct verbs_node *n)
{
    n->own_loss = true;
    for (uint32_t id = 0; id < n->base.count; id++)
        if (n->peers[id].connection && n->peers[id].connection->established)
            n->peers[id].connection->down = true;
    verbs_node_due(n);
}

static void connect_on_event(struct rdma_cm_event *event)
{
    struct rdma_cm_event e = *event;
    const struct verbs_hello h = verbs_hello_from(event);
    struct verbs_end *end = e.listen_id ? e.listen_id->context : e.id->context;

    rdma_ack_cm_event(event);
    if (e.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        verbs_on_request(end->node, e.id, &h);
    } else if (end->role == VERBS_CONTROL) {
        verbs_connection_on_event((struct verbs_connection *)end, &e, &h);
    } else if (end->role == VERBS_TARGET) {
        if (e.event != RDMA_CM_EVENT_ESTABLISHED && e.event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
            verbs_target_drop(end);
    } else if (e.event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
        pthread_mutex_lock(&end->node->verbs->lock);
        device_lose(end->node);
        pthread_mutex_unlock(&end->node->verbs->lock);
    }
}

static void device_on_event(struct verbs *v, struct verbs_device *d)
{
    struct ibv_async_event event;

    if (ibv_get_async_event(d->context, &event)) {
        d->failed = errno != EAGAIN;
        return;
    }
    enum ibv_event_type type = event.event_type;
    ibv_ack_async_event(&event);
    pthread_mutex_lock(&v->lock);
    for (struct verbs_node *n = v->nodes; n; n = n->next) {
        if (n->device != d->context)
            continue;
        if (type == IBV_EVENT_DEVICE_FATAL)
            device_lose(n);
        if (type == IBV_EVENT_DEVICE_FATAL || type == IBV_EVENT_PORT_ERR)
            verbs_warn(n, "node %u: RDMA device %s says: %s", n->base.id,
                       ibv_get_device_name(d->context->device), ibv_event_type_str(type));
    }
    pthread_mutex_unlock(&v->lock);
}

/* --- the connecting thread --------------------------------------------------------------- */

static void connect_bury(struct verbs_node *n)
{
    pthread_mutex_lock(&n->verbs->lock);
    struct verbs_end *dead = n->dead;
    n->dead = NULL;
    pthread_mutex_unlock(&n->verbs->lock);
    while (dead) {
        struct verbs_end *next = dead->next;
        verbs_destroy_id(dead->id);
        free(dead); /* its struct verbs_end is the first member of the allocation */
        dead = next;
    }
}

/* Tries to reach the peers that this node connects to. Returns whether any is still missing. */
static bool connect_peers(struct verbs_node *n)
{
    uint64_t now = loco_host_clock(&n->base);
    bool missing = false;

    for (uint32_t id = 0; id < n->base.id; id++) {
        struct verbs_peer *p = &n->peers[id];
        if (!p->asked || verbs_connection_of(p, n->verbs))
            continue;
        missing = true;
        if (p->try_at > now)
            continue;
        bool patient = ++p->attempts > VERBS_PATIENCE;
        p->eager = true;
        p->try_at = now + (patient ? RETRY_LATER_MS : RETRY_MS) * (uint64_t)MS;
        verbs_connection_start(n, p);
    }
    return missing;
}

int verbs_meet(struct loco_node *base, uint32_t peer)
{
    struct verbs_node *n = (struct verbs_node *)base;

    pthread_mutex_lock(&n->verbs->lock);
    n->peers[peer].asked = true;
    pthread_mutex_unlock(&n->verbs->lock);
    if (peer < base->id)
        verbs_wake(n->verbs->wake_connecting);
    return 0;
}

/* Closes the remaining connections of a node whose peers know that it leaves. */
static void connect_shut_node(struct verbs_node *n)
{
    for (uint32_t id = 0; id < n->base.count; id++) {
        struct verbs_peer *p = &n->peers[id];
        while (p->targets)
            verbs_target_drop(p->targets);
        if (p->connection)
            verbs_give_up(p->connection);
    }
    connect_bury(n);
    verbs_destroy_id(n->listener.id);
}

static void connect_unlink_node(struct verbs *v, struct verbs_node *n)
{
    pthread_mutex_lock(&v->lock);
    for (struct verbs_node **at = &v->nodes; *at; at = &(*at)->next) {
        if (*at == n) {
            *at = n->next;
            break;
        }
    }
    n->closed = true;
    pthread_cond_broadcast(&v->node_closed);
    pthread_mutex_unlock(&v->lock);
}

/* Connects missing peers, and ends the nodes that are to close. Only this thread removes nodes from
 * the list, and others add at its head, so it may walk on after it has released the lock. Returns
 * how long to wait for events, in ms; -1: for ever. */
static int connect_tend_nodes(struct verbs *v)
{
    bool missing = false;

    pthread_mutex_lock(&v->lock);
    struct verbs_node *n = v->nodes;
    while (n) {
        struct verbs_node *after = n->next;
        bool closing = n->closing, quiet = n->quiet;
        pthread_mutex_unlock(&v->lock);
        connect_bury(n);
        if (!closing)
            missing |= connect_peers(n);
        if (quiet) {
            connect_shut_node(n);
            connect_unlink_node(v, n);
        }
        n = after;
        pthread_mutex_lock(&v->lock);
    }
    pthread_mutex_unlock(&v->lock);
    return missing ? RETRY_MS / 4 : -1;
}

void *verbs_connecting_thread(void *arg)
{
    struct verbs *v = arg;
    uint64_t turns;

    while (!__atomic_load_n(&v->stop, __ATOMIC_ACQUIRE)) {
        int wait = connect_tend_nodes(v);
        struct pollfd fds[2 + VERBS_DEVICES_MAX] = {{.fd = v->wake_connecting, .events = POLLIN},
                                                    {.fd = v->channel->fd, .events = POLLIN}};
        pthread_mutex_lock(&v->lock);
        unsigned devices = v->device_count;
        pthread_mutex_unlock(&v->lock);
        for (unsigned i = 0; i < devices; i++)
            fds[2 + i] =
                (struct pollfd){.fd = v->devices[i].failed ? -1 : v->devices[i].context->async_fd,
                                .events = POLLIN};
        if (poll(fds, 2 + devices, wait) < 1)
            continue;
        if (fds[0].revents && read(v->wake_connecting, &turns, sizeof turns) < 0)
            continue;
        struct rdma_cm_event *event;
        for (int i = 0; i < AT_ONCE && !rdma_get_cm_event(v->channel, &event); i++)
            connect_on_event(event);
        for (unsigned i = 0; i < devices; i++)
            if (fds[2 + i].revents)
                device_on_event(v, &v->devices[i]);
    }
    return NULL;
}

/*
 * The thread that answers requests for links. It receives all events of rdma_cm except those of
 * links that this process opens, and those of the devices.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "verbs_internal.h"

enum {
    BACKLOG = 1024,
    AT_ONCE = 64 /* events that are handled before the nodes are looked after */
};

/* --- the listener ----------------------------------------------------------------------- */

int verbs_bind(struct verbs_node *n)
{
    struct sockaddr_storage a = verbs_connect_address(n, n->control.base.id, true);
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
    n->listener = (struct verbs_end){.listens = true, .node = n, .id = id};
    n->device = id->verbs;
    return 0;
}

int verbs_listen(struct verbs_node *n)
{
    return rdma_listen(n->listener.id, BACKLOG) ? -errno : 0;
}

/* --- events ----------------------------------------------------------------------------------- */

/* The node's device is gone, and with it all its peers and the node itself. With the lock held. */
static void device_lose(struct verbs_node *n)
{
    for (uint32_t id = 0; id < n->control.base.count; id++)
        if (control_is_up(n->control.peers[id].connection))
            control_connection_end(n->control.peers[id].connection);
    verbs_lose_self(n);
}

static void connect_on_event(struct rdma_cm_event *event)
{
    struct rdma_cm_event e = *event;
    const struct verbs_hello h = verbs_hello_from(event);
    struct verbs_end *end = e.listen_id ? e.listen_id->context : e.id->context;

    rdma_ack_cm_event(event);
    if (e.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        verbs_on_request(end->node, e.id, &h);
    } else if (!end->listens) {
        if (e.event != RDMA_CM_EVENT_ESTABLISHED && e.event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
            verbs_target_drop(end);
    } else if (e.event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
        pthread_mutex_lock(&end->node->verbs->control.lock);
        device_lose(end->node);
        pthread_mutex_unlock(&end->node->verbs->control.lock);
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
    pthread_mutex_lock(&v->control.lock);
    for (struct verbs_node *n = v->nodes; n; n = n->next) {
        if (n->device != d->context)
            continue;
        if (type == IBV_EVENT_DEVICE_FATAL)
            device_lose(n);
        if (type == IBV_EVENT_DEVICE_FATAL || type == IBV_EVENT_PORT_ERR)
            control_warn(&n->control, "node %u: RDMA device %s says: %s", n->control.base.id,
                         ibv_get_device_name(d->context->device), ibv_event_type_str(type));
    }
    pthread_mutex_unlock(&v->control.lock);
}

/* --- the connecting thread --------------------------------------------------------------- */

static void connect_bury(struct verbs_node *n)
{
    pthread_mutex_lock(&n->verbs->control.lock);
    struct verbs_end *dead = n->dead;
    n->dead = NULL;
    pthread_mutex_unlock(&n->verbs->control.lock);
    while (dead) {
        struct verbs_end *next = dead->next;
        verbs_destroy_end(dead);
        dead = next;
    }
}

/* Ends a node that has left its peers. Those of its links to itself are its last targets. */
static void connect_shut_node(struct verbs_node *n)
{
    while (n->targets)
        verbs_target_drop(n->targets);
    rdma_destroy_id(n->listener.id);
}

static void connect_unlink_node(struct verbs *v, struct verbs_node *n)
{
    pthread_mutex_lock(&v->control.lock);
    for (struct verbs_node **at = &v->nodes; *at; at = &(*at)->next) {
        if (*at == n) {
            *at = n->next;
            break;
        }
    }
    n->shut = true;
    pthread_cond_broadcast(&v->control.node_closed);
    pthread_mutex_unlock(&v->control.lock);
}

/* Only this thread removes nodes from the list, and others add at its head, so it may walk on after
 * it has released the lock. */
static void connect_tend_nodes(struct verbs *v)
{
    pthread_mutex_lock(&v->control.lock);
    struct verbs_node *n = v->nodes;
    while (n) {
        struct verbs_node *after = n->next;
        const bool shuts = n->shuts;
        pthread_mutex_unlock(&v->control.lock);
        connect_bury(n);
        if (shuts) {
            connect_shut_node(n);
            connect_unlink_node(v, n);
        }
        n = after;
        pthread_mutex_lock(&v->control.lock);
    }
    pthread_mutex_unlock(&v->control.lock);
}

void *verbs_connecting_thread(void *arg)
{
    struct verbs *v = arg;
    uint64_t turns;

    while (!atomic_load(&v->stop)) {
        connect_tend_nodes(v);
        struct pollfd fds[2 + VERBS_DEVICES_MAX] = {{.fd = v->wake_connecting, .events = POLLIN},
                                                    {.fd = v->channel->fd, .events = POLLIN}};
        pthread_mutex_lock(&v->control.lock);
        unsigned devices = v->device_count;
        pthread_mutex_unlock(&v->control.lock);
        for (unsigned i = 0; i < devices; i++)
            fds[2 + i] =
                (struct pollfd){.fd = v->devices[i].failed ? -1 : v->devices[i].context->async_fd,
                                .events = POLLIN};
        if (poll(fds, 2 + devices, -1) < 1)
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

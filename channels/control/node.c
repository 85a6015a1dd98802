/* How nodes are opened and closed, and find their addresses. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../fabric/addresses.h"
#include "control.h"

void control_wake(struct control *ctl)
{
    uint64_t one = 1;

    atomic_store(&ctl->due, true);
    if (write(ctl->wake, &one, sizeof one) < 0)
        return; /* full: it is awake */
}

/* --- addresses -------------------------------------------------------------------------------- */

/* Calls the core directly, because the telling thread does not know the node yet. */
static int node_refuse_address(const struct control_node *n, uint32_t id, const char *why)
{
    char text[300];

    snprintf(text, sizeof text, "node %u: cannot find the address of node %u, %s: %s", n->base.id,
             id, n->control->names[id], why);
    n->base.events.warning(n->base.events.arg, text);
    return -EINVAL;
}

/* Many machines' own name is at loopback in their /etc/hosts (127.0.1.1), and elsewhere on other
 * machines. So if the node is at such a name and others are not at loopback, the name stands for
 * the address by which these are reached. */
static void node_mend_own_name(struct control_node *n)
{
    const char *own_name = n->control->names[n->base.id];
    const struct sockaddr_storage own = n->addresses[n->base.id];
    struct sockaddr_storage better;
    uint32_t other = 0;

    while (other < n->base.count && loco_address_is_loopback(&n->addresses[other]))
        other++;
    if (!loco_address_is_loopback(&own) || !own_name[strspn(own_name, "0123456789.:")] ||
        other == n->base.count || loco_address_towards(&n->addresses[other], &better))
        return;
    for (uint32_t id = 0; id < n->base.count; id++)
        if (loco_address_same_host((const struct sockaddr *)&own, &n->addresses[id]))
            n->addresses[id] = better;
}

static int node_make_peers(struct control_node *n)
{
    const uint32_t count = n->base.count;

    n->peers = calloc(count, sizeof *n->peers);
    n->addresses = calloc(count, sizeof *n->addresses);
    n->quiet = control_told_new(n, CONTROL_QUIET, 0);
    if (!n->peers || !n->addresses || !n->quiet)
        return -ENOMEM;
    for (uint32_t id = 0; id < count; id++) {
        n->peers[id].id = id;
        if (id >= n->control->name_count)
            return node_refuse_address(n, id % n->control->name_count, "there are too few");
        const char *why = loco_address_find(n->control->names[id], &n->addresses[id]);
        if (why)
            return node_refuse_address(n, id, why);
    }
    node_mend_own_name(n);
    return 0;
}

static void node_warn_of_port(const struct control_node *n, int error)
{
    char text[300];

    snprintf(text, sizeof text, "node %u: cannot listen at %s, port %u: %s", n->base.id,
             n->control->names[n->base.id], n->control->port + n->base.id, strerror(-error));
    n->base.events.warning(n->base.events.arg, text);
}

/* --- nodes ------------------------------------------------------------------------------------ */

void control_node_free(struct control_node *n)
{
    free(n->quiet);
    free(n->addresses);
    free(n->peers);
}

int control_node_open(struct control *ctl, struct control_node *n, uint32_t id, uint32_t count,
                      struct loco_secret secret, const struct loco_events *events)
{
    n->base.id = id;
    n->base.count = count;
    n->base.events = *events;
    n->control = ctl;
    n->self = *ctl->self;
    n->self.id = id;
    n->self.count = count;
    loco_key_of(&n->self.key, secret);
    const int rc = node_make_peers(n);
    if (rc)
        control_node_free(n);
    return rc;
}

int control_node_start(struct control_node *n)
{
    struct control *ctl = n->control;

    pthread_mutex_lock(&ctl->lock);
    const int rc = control_listen(n);
    if (!rc) {
        n->next = ctl->nodes;
        ctl->nodes = n;
    }
    pthread_mutex_unlock(&ctl->lock);
    if (rc)
        node_warn_of_port(n, rc);
    return rc;
}

void control_node_stop(struct control_node *n)
{
    struct control *ctl = n->control;

    pthread_mutex_lock(&ctl->lock);
    n->closing = true;
    control_wake(ctl);
    while (!n->closed)
        pthread_cond_wait(&ctl->node_closed, &ctl->lock);
    pthread_mutex_unlock(&ctl->lock);
}

/* --- the process ------------------------------------------------------------------------------ */

static int control_open_descriptors(struct control *ctl)
{
    struct epoll_event event = {.events = EPOLLIN};

    ctl->epoll = epoll_create1(EPOLL_CLOEXEC);
    ctl->wake = ctl->epoll < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (ctl->wake < 0)
        return -errno;
    return epoll_ctl(ctl->epoll, EPOLL_CTL_ADD, ctl->wake, &event) ? -errno : 0;
}

static void control_free(struct control *ctl)
{
    control_forget_told(ctl);
    if (ctl->epoll >= 0)
        close(ctl->epoll);
    if (ctl->wake >= 0)
        close(ctl->wake);
    pthread_mutex_destroy(&ctl->lock);
    pthread_cond_destroy(&ctl->node_closed);
    pthread_cond_destroy(&ctl->news);
}

int control_open(struct control *ctl)
{
    ctl->told_end = &ctl->told;
    pthread_mutex_init(&ctl->lock, NULL);
    pthread_cond_init(&ctl->node_closed, NULL);
    pthread_cond_init(&ctl->news, NULL);
    int rc = control_open_descriptors(ctl);
    if (!rc)
        rc = -pthread_create(&ctl->telling, NULL, control_telling_thread, ctl);
    if (rc)
        control_free(ctl);
    return rc;
}

void control_close(struct control *ctl)
{
    pthread_mutex_lock(&ctl->lock);
    ctl->stop_telling = true;
    pthread_cond_signal(&ctl->news);
    pthread_mutex_unlock(&ctl->lock);
    pthread_join(ctl->telling, NULL);
    control_free(ctl);
}

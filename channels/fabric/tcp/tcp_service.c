/* The thread that serves a process's nodes. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "tcp_internal.h"

enum { AT_ONCE = 64, CALL_MS = 25 };

int tcp_watch(struct tcp *t, struct tcp_end *end, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = end};
    const uint32_t before = end->events;
    const int operation = !before ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

    if (before == events)
        return 0;
    end->events = events;
    return epoll_ctl(t->epoll, operation, end->fd, &event) ? -errno : 0;
}

int tcp_take_socket(struct tcp *t, struct tcp_end *end)
{
    const int fd = end->fd;

    epoll_ctl(t->epoll, EPOLL_CTL_DEL, fd, NULL);
    end->fd = -1;
    return fd;
}

void tcp_bury(struct tcp *t, struct tcp_end *end)
{
    if (end->fd >= 0)
        close(tcp_take_socket(t, end));
    end->next = t->dead;
    t->dead = end;
}

/* Nobody names them any more. */
static void free_dead(struct tcp *t)
{
    while (t->dead) {
        struct tcp_end *end = t->dead;
        t->dead = end->next;
        free(end);
    }
}

static void serve(struct tcp_end *end)
{
    struct tcp_connection *c = (struct tcp_connection *)end;

    if (end->fd < 0)
        return;
    if (end->role == TCP_TARGET) {
        tcp_target_serve((struct tcp_target *)end);
        return;
    }
    struct tcp *t = end->node->tcp;
    pthread_mutex_lock(&t->lock);
    if (end->role == TCP_LISTENER)
        tcp_accept(end->node);
    else if (c->established)
        tcp_hear(c);
    else
        tcp_greet(c);
    pthread_mutex_unlock(&t->lock);
}

/* --- nodes, as time goes by: with the lock held --------------------------------------------- */

static void end_node(struct tcp_node *n)
{
    for (uint32_t id = 0; id < n->base.count; id++) {
        struct tcp_peer *p = &n->peers[id];
        while (p->targets)
            tcp_target_drop(p->targets);
        if (p->connection)
            tcp_connection_drop(p->connection);
    }
    tcp_tell(n, TCP_QUIET, 0);
}

/* Returns whether it is to be looked at again soon. */
static bool tend_node(struct tcp_node **at, uint64_t now)
{
    struct tcp_node *n = *at;

    if (atomic_load(&n->closing) && !n->leave_by)
        tcp_leave(n, now);
    tcp_tend_strangers(n, now);
    bool soon = tcp_tend_listener(n, now);
    soon |= tcp_tend_peers(n, now);
    if (!n->leave_by)
        return soon;
    if (!tcp_has_left(n, now))
        return true;
    *at = n->next;
    end_node(n);
    return false;
}

/* Returns when to look again. */
static uint64_t tend(struct tcp *t, uint64_t now)
{
    bool soon = false;

    pthread_mutex_lock(&t->lock);
    for (struct tcp_node **at = &t->nodes; *at;) {
        struct tcp_node *n = *at;
        soon |= tend_node(at, now);
        if (*at == n)
            at = &n->next;
    }
    pthread_mutex_unlock(&t->lock);
    return now + (soon ? CALL_MS * TCP_MS : tcp_timeout_ns(t) / 8);
}

/* --- the thread ----------------------------------------------------------------------------- */

static int until(const struct tcp *t, uint64_t tend_at)
{
    const uint64_t now = t->config.spin ? 0 : tcp_now();

    if (t->config.spin || now >= tend_at)
        return 0;
    return (int)((tend_at - now + TCP_MS - 1) / TCP_MS);
}

void *tcp_service_thread(void *arg)
{
    struct tcp *t = arg;
    struct epoll_event events[AT_ONCE];
    uint64_t tend_at = 0, turns;

    while (!atomic_load_explicit(&t->stop, memory_order_acquire)) {
        if (atomic_exchange(&t->due, false) || tcp_now() >= tend_at)
            tend_at = tend(t, tcp_now());
        int count = epoll_wait(t->epoll, events, AT_ONCE, until(t, tend_at));
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr)
                serve(events[i].data.ptr);
            else if (read(t->wake, &turns, sizeof turns) < 0)
                continue;
        }
        free_dead(t);
    }
    return NULL;
}

/*
 * Who serves a process's nodes: a thread of its own; and, while they wait, those that use them. One
 * at a time.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "tcp_internal.h"

enum { AT_ONCE = 64, CALL_MS = 25, ASIDE_NS = 500000, KEPT_OUT_MAX = 1000, LOOKS = 16 };

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
    if (end->role == TCP_LANE) {
        tcp_lane_serve((struct tcp_lane *)end);
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
        tcp_targets_drop(n, p);
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
    tcp_tend_lanes(t);
    for (struct tcp_node **at = &t->nodes; *at;) {
        struct tcp_node *n = *at;
        soon |= tend_node(at, now);
        if (*at == n)
            at = &n->next;
    }
    pthread_mutex_unlock(&t->lock);
    return now + (soon ? CALL_MS * TCP_MS : tcp_timeout_ns(t) / 8);
}

/* --- a turn, of whoever serves: with `serving` held ------------------------------------------ */

static void serve_turn(struct tcp *t, uint64_t now)
{
    struct epoll_event events[AT_ONCE];
    uint64_t turns;

    if (atomic_exchange(&t->due, false) || now >= t->tend_at) {
        tcp_look_after_lanes(t);
        t->tend_at = tend(t, now);
    }
    const int count = epoll_wait(t->epoll, events, AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr)
            serve(events[i].data.ptr);
        else if (read(t->wake, &turns, sizeof turns) < 0)
            continue;
    }
    free_dead(t);
}

/* What it waits for comes most likely from where something came last, and one system call less
 * finds it there. */
static void serve_most_likely(struct tcp *t)
{
    if (t->recent && ++t->looks % LOOKS) {
        tcp_lane_serve(t->recent);
        return;
    }
    const uint64_t now = tcp_now();
    atomic_store_explicit(&t->served_ns, now, memory_order_relaxed);
    serve_turn(t, now);
}

/* If another thread serves, the next look is soon. But it may be kept from going on by this very
 * one, which is more urgent: then it runs as urgently. */
void tcp_serve_in_wait(struct tcp *t, struct tcp_lane *lane)
{
    if (pthread_mutex_trylock(&t->serving)) {
        if (atomic_fetch_add_explicit(&t->kept_out, 1, memory_order_relaxed) < KEPT_OUT_MAX)
            return;
        pthread_mutex_lock(&t->serving);
    }
    atomic_store_explicit(&t->kept_out, 0, memory_order_relaxed);
    if (lane)
        tcp_lane_serve(lane);
    else
        serve_most_likely(t);
    pthread_mutex_unlock(&t->serving);
}

/* --- the thread ----------------------------------------------------------------------------- */

/* Until something comes, or it is time to look after the nodes. While a thread that waits serves,
 * this one would only take the core from it. */
static void rest(const struct tcp *t)
{
    static const struct timespec aside = {.tv_nsec = ASIDE_NS};
    const uint64_t now = tcp_now(), tend_at = t->tend_at;
    struct pollfd look = {.fd = t->epoll, .events = POLLIN};

    if (now < atomic_load_explicit(&t->served_ns, memory_order_relaxed) + ASIDE_NS)
        nanosleep(&aside, NULL);
    else if (now < tend_at)
        poll(&look, 1, (int)((tend_at - now + TCP_MS - 1) / TCP_MS));
}

void *tcp_service_thread(void *arg)
{
    struct tcp *t = arg;

    while (!atomic_load_explicit(&t->stop, memory_order_acquire)) {
        if (!t->config.spin)
            rest(t);
        pthread_mutex_lock(&t->serving);
        serve_turn(t, tcp_now());
        pthread_mutex_unlock(&t->serving);
    }
    return NULL;
}

/* What the thread that serves does: it receives, and looks after the nodes. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../fabric/host_time.h"
#include "control.h"

enum { AT_ONCE = 64, SOON_MS = 25, LOOK_MS = 1000 };

int control_watch(struct control *ctl, struct control_end *end, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = end};
    const uint32_t before = end->events;
    const int operation = !before ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

    if (before == events)
        return 0;
    end->events = events;
    return epoll_ctl(ctl->epoll, operation, end->fd, &event) ? -errno : 0;
}

int control_take_socket(struct control *ctl, struct control_end *end)
{
    const int fd = end->fd;

    epoll_ctl(ctl->epoll, EPOLL_CTL_DEL, fd, NULL);
    end->fd = -1;
    return fd;
}

void control_bury(struct control *ctl, struct control_end *end)
{
    if (end->fd >= 0)
        close(control_take_socket(ctl, end));
    end->next = ctl->dead;
    ctl->dead = end;
}

void control_free_dead(struct control *ctl)
{
    while (ctl->dead) {
        struct control_end *end = ctl->dead;
        ctl->dead = end->next;
        free(end);
    }
}

static void turn_serve(struct control *ctl, struct control_end *end)
{
    struct control_connection *c = (struct control_connection *)end;

    if (end->fd < 0)
        return;
    pthread_mutex_lock(&ctl->lock);
    if (end->listens)
        control_accept(end->node);
    else if (c->established)
        control_hear(c);
    else
        control_greet(c);
    pthread_mutex_unlock(&ctl->lock);
}

void control_serve(struct control *ctl)
{
    struct epoll_event events[AT_ONCE];
    uint64_t wakes;

    const int count = epoll_wait(ctl->epoll, events, AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr)
            turn_serve(ctl, events[i].data.ptr);
        else if (read(ctl->wake, &wakes, sizeof wakes) < 0)
            continue;
    }
}

/* --- looking after nodes: with the lock held ------------------------------------------------ */

static void turn_end_node(struct control_node *n)
{
    for (uint32_t id = 0; id < n->base.count; id++)
        if (n->peers[id].connection)
            control_connection_drop(n->peers[id].connection);
    control_tell(n->quiet);
    n->quiet = NULL;
}

/* Returns whether the node is to be looked after again soon. Takes it off the list when it has
 * left. */
static bool turn_tend_node(struct control_node **at, uint64_t now)
{
    struct control_node *n = *at;

    if (atomic_load(&n->closing) && !n->leave_by)
        control_leave(n, now);
    bool soon = control_tend_strangers(n, now);
    soon |= control_tend_listener(n, now);
    soon |= control_tend_peers(n, now);
    if (!n->leave_by)
        return soon;
    if (!control_has_left(n, now))
        return true;
    *at = n->next;
    turn_end_node(n);
    return false;
}

uint64_t control_tend(struct control *ctl, uint64_t now)
{
    bool soon = false;

    pthread_mutex_lock(&ctl->lock);
    for (struct control_node **at = &ctl->nodes; *at;) {
        struct control_node *n = *at;
        soon |= turn_tend_node(at, now);
        if (*at == n)
            at = &n->next;
    }
    pthread_mutex_unlock(&ctl->lock);
    return now + (soon ? SOON_MS * CONTROL_MS : control_timeout_ns(ctl) / 8);
}

void *control_serving_thread(void *arg)
{
    struct control *ctl = arg;
    uint64_t tend_at = 0;

    while (!atomic_load(&ctl->stop)) {
        struct pollfd look = {.fd = ctl->epoll, .events = POLLIN};
        poll(&look, 1, loco_host_poll_ms(tend_at, LOOK_MS));
        control_serve(ctl);
        const uint64_t now = loco_host_clock(NULL);
        if (atomic_exchange(&ctl->due, false) || now >= tend_at)
            tend_at = control_tend(ctl, now);
        control_free_dead(ctl);
    }
    return NULL;
}

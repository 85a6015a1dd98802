/*
 * How the nodes of the shm fabric meet: each listens on a Unix socket in the run directory, of
 * each pair that is to meet the one with the higher id connects, and over the connection go
 * descriptors of arenas and the core's control messages.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host_time.h"
#include "shm_internal.h"

/* Between attempts to reach a peer that is not there yet, or not there again. */
enum { RETRY_MS = 5, RETRY_LOST_MS = 200, MS = 1000000 };

/* --- what goes over the sockets --------------------------------------------------------- *
 *
 * hello   the first of each side: who it is
 * arena   the descriptor of one arena, before any control message that names it
 * core    a control message of the core
 * bye     the last: the node leaves in order
 */

enum kind { HELLO = 0x4c4f434f, ARENA, CORE, BYE };

struct wire {
    uint32_t kind;
    uint32_t id;    /* hello: the sender; arena: its number */
    uint64_t value; /* hello: the node count; arena: the size */
};

_Static_assert(sizeof(struct wire) == 16, "crosses processes");

void shm_wake_thread(struct shm *s)
{
    uint64_t one = 1;

    if (write(s->wakeup, &one, sizeof one) < 0)
        return; /* full: it is awake */
}

/* Of two times to wait; -1: for ever. */
static int sooner(int a, int b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return a < b ? a : b;
}

static bool is_up(const struct shm_peer *p)
{
    return p && p->up;
}
/* --- sending: with the lock held ------------------------------------------------------ */

static int send_now(int socket, const void *data, size_t size, int fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = (void *)data, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void watch(struct shm *s, struct source *source, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = source};

    epoll_ctl(s->epoll, operation, source->fd, &event);
}

static int enqueue(struct shm_node *n, struct shm_peer *p, const void *data, size_t size, int fd)
{
    struct queued *q = malloc(sizeof *q + size);

    if (!q)
        return -ENOMEM;
    *q = (struct queued){.size = size, .fd = fd};
    memcpy(q->data, data, size);
    if (!p->queue) {
        p->queue_end = &p->queue;
        watch(n->shm, p->source, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
    }
    *p->queue_end = q;
    p->queue_end = &q->next;
    return 0;
}

static int post(struct shm_node *n, struct shm_peer *p, const void *data, size_t size, int fd)
{
    if (!p->source)
        return -ECONNRESET;
    int rc = p->queue ? -EAGAIN : send_now(p->source->fd, data, size, fd);
    return rc == -EAGAIN ? enqueue(n, p, data, size, fd) : rc;
}

static void send_queued(struct shm_node *n, struct shm_peer *p)
{
    while (p->queue) {
        struct queued *q = p->queue;
        if (send_now(p->source->fd, q->data, q->size, q->fd) == -EAGAIN)
            return;
        p->queue = q->next; /* one that failed otherwise is lost with its connection */
        free(q);
    }
    watch(n->shm, p->source, EPOLL_CTL_MOD, EPOLLIN);
}

void shm_post_arena(struct shm_node *n, struct shm_peer *p, uint32_t number)
{
    const struct map *a = &n->arenas[number];
    const struct wire w = {.kind = ARENA, .id = number, .value = a->size};

    post(n, p, &w, sizeof w, a->fd);
}

static struct wire hello_of(const struct shm_node *n)
{
    return (struct wire){.kind = HELLO, .id = n->base.id, .value = n->base.count};
}

static void post_hello(struct shm_node *n, struct shm_peer *p)
{
    const struct wire w = hello_of(n);

    post(n, p, &w, sizeof w, -1);
    for (uint32_t i = 0; i < n->arena_count; i++)
        shm_post_arena(n, p, i);
}
/* --- connections: the control thread, with the lock held -------------------------------- */

static struct sockaddr_un address_of(const struct shm *s, uint32_t id)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    snprintf(a.sun_path, sizeof a.sun_path, "%s/node%u", s->directory, id);
    return a;
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static void connect_to(struct shm_node *n, struct shm_peer *p)
{
    const struct sockaddr_un a = address_of(n->shm, p->id);
    int fd = new_socket();
    struct source *source = fd < 0 ? NULL : malloc(sizeof *source);

    if (!source || connect(fd, (const struct sockaddr *)&a, sizeof a)) {
        free(source);
        if (fd >= 0)
            close(fd);
        return; /* not there yet: tried again */
    }
    *source = (struct source){.node = n, .peer = p, .fd = fd};
    p->source = source;
    watch(n->shm, source, EPOLL_CTL_ADD, EPOLLIN);
    post_hello(n, p);
}

/* Counts a peer that was asked for, and was found or missed. */
static void count_missing(struct shm_node *n, const struct shm_peer *p, int change)
{
    unsigned *count = p->id < n->base.id ? &n->to_reach : &n->to_await;

    if (p->asked)
        *count += (unsigned)change;
}

/* When the peer may be tried again; NULL: at any time. */
static uint64_t *try_at(struct shm *s, const struct shm_node *n, uint32_t peer)
{
    if (!s->try_at.pages && loco_by_node_init(&s->try_at, n->base.count, sizeof(uint64_t)))
        return NULL;
    return peer < s->try_at.count ? loco_by_node_make(&s->try_at, peer) : NULL;
}

/* Thousands of nodes may wait for one that is not there yet: one of them tries. Returns how soon to
 * try again, in ms; -1: not by itself. */
static int try_peer(struct shm_node *n, struct shm_peer *p)
{
    const int retry = p->met ? RETRY_LOST_MS : RETRY_MS;
    const uint64_t now = loco_host_clock(&n->base);
    uint64_t *at = try_at(n->shm, n, p->id);

    if (at && *at > now)
        return (int)((*at - now) / MS) + 1;
    connect_to(n, p);
    if (p->source)
        return -1;
    if (at)
        *at = now + (uint64_t)retry * MS;
    return retry;
}

/* Of each pair the node with the higher id connects. Returns how soon to try again, in ms; -1:
 * there is nobody to connect to. */
static int connect_down(struct shm_node *n)
{
    int retry = -1;

    if (n->to_reach == 0)
        return -1;
    loco_each_entry (&n->peers, id) {
        struct shm_peer *p = shm_peer_of(n, id);
        if (id >= n->base.id)
            break;
        if (!p || !p->asked || p->source || p->up || p->refused)
            continue;
        retry = sooner(retry, try_peer(n, p));
    }
    return retry;
}

/* When all whom the node asked for have come nobody needs the socket's name any more, and it should
 * not stay. */
static void hide_when_met(struct shm_node *n)
{
    if (!n->asked || n->to_reach > 0 || n->to_await > 0)
        return;
    if (n->path[0])
        unlink(n->path);
    n->path[0] = '\0';
}

/* A peer that would connect to this node, and is lost or was asked for late, may do so: by another
 * socket, where the name of the first is gone. Returns how soon to look again, in ms; -1: not by
 * itself. */
static int show_to_missing(struct shm_node *n)
{
    if (n->to_await == 0)
        return -1;
    if (!n->path[0] || access(n->path, F_OK)) {
        int old = n->listener.fd;
        if (shm_make_directory(n->shm->directory) == 0 && shm_listen(n) == 0) {
            close(old);
            watch(n->shm, &n->listener, EPOLL_CTL_ADD, EPOLLIN);
        }
    }
    return RETRY_LOST_MS; /* somebody may tidy up the directory */
}

static void accept_stranger(struct shm_node *n)
{
    int fd = accept4(n->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct source *source = fd < 0 ? NULL : malloc(sizeof *source);

    if (!source) {
        if (fd >= 0)
            close(fd);
        return;
    }
    *source = (struct source){.node = n, .fd = fd, .next = n->strangers};
    n->strangers = source;
    watch(n->shm, source, EPOLL_CTL_ADD, EPOLLIN);
}

static void forget_stranger(struct source *source)
{
    for (struct source **s = &source->node->strangers; *s; s = &(*s)->next) {
        if (*s == source) {
            *s = source->next;
            return;
        }
    }
}

static void drop(struct source *source)
{
    struct shm_peer *p = source->peer;

    if (p) {
        p->source = NULL;
        while (p->queue) {
            struct queued *q = p->queue;
            p->queue = q->next;
            free(q);
        }
    } else {
        forget_stranger(source);
    }
    close(source->fd);
    free(source);
}

static int map_arena(struct shm_peer *p, const struct wire *w, int fd)
{
    if (fd < 0)
        return -EMFILE; /* the kernel had no room for the descriptor */
    if (w->id >= SHM_ARENAS_MAX || p->arenas->maps[w->id].base)
        return -EPROTO;
    return shm_share(&p->arenas->maps[w->id], fd, w->value);
}
/* A socket that nobody listens to was left by a process that died. */
static bool is_stale(const struct sockaddr_un *a)
{
    int fd = new_socket();
    bool refused =
        fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof *a) && errno == ECONNREFUSED;

    if (fd >= 0)
        close(fd);
    return refused;
}

int shm_listen(struct shm_node *n)
{
    const struct sockaddr_un a = address_of(n->shm, n->base.id);
    const struct sockaddr *address = (const struct sockaddr *)&a;
    int fd = new_socket();

    if (fd < 0)
        return -errno;
    int rc = bind(fd, address, sizeof a) ? -errno : 0;
    if (rc == -EADDRINUSE && is_stale(&a)) {
        unlink(a.sun_path);
        rc = bind(fd, address, sizeof a) ? -errno : 0;
    }
    if (!rc && listen(fd, SOMAXCONN))
        rc = -errno;
    if (rc) {
        close(fd);
        return rc;
    }
    memcpy(n->path, a.sun_path, sizeof n->path);
    n->listener = (struct source){.node = n, .fd = fd};
    return 0;
}
/* --- what the control thread tells the core: without the lock -------------------------- */

static void tell_up(struct shm_node *n, uint32_t id)
{
    n->base.events.peer_up(n->base.events.arg, id);
}

void shm_warn(struct shm_node *n, const char *text)
{
    n->base.events.warning(n->base.events.arg, text);
}

/* A stranger from another network is told who is here, so that its user learns of it too. */
static bool refuse(struct source *source, const struct wire *w)
{
    struct shm_node *n = source->node;
    const struct wire here = hello_of(n);
    char text[160];

    snprintf(text, sizeof text, "node %u (of %u) met a node that says it is node %u of %llu: %s",
             n->base.id, n->base.count, w->id, (unsigned long long)w->value,
             w->value != n->base.count ? "another network" : "its place is taken");
    shm_warn(n, text);
    if (w->value != n->base.count && n->base.events.foreigner)
        n->base.events.foreigner(n->base.events.arg, (uint32_t)w->value);
    if (source->peer)
        source->peer->refused = true;
    else
        send_now(source->fd, &here, sizeof here, -1);
    return false;
}

/* What the node knows of a peer, from now on; NULL when there is no memory. With the lock held. */
static struct shm_peer *make_peer(struct shm_node *n, uint32_t id)
{
    struct shm_peer *p = loco_by_node_make(&n->peers, id);

    if (p && !p->arenas) {
        p->id = id;
        p->arenas = calloc(1, sizeof *p->arenas);
    }
    return p && p->arenas ? p : NULL;
}

/* A peer that comes back has none of the arenas that it had. */
static int renew_arenas(struct shm_peer *p)
{
    if (!p->met)
        return 0;
    struct shm_arenas *a = calloc(1, sizeof *a);
    if (!a)
        return -ENOMEM;
    a->older = p->arenas;
    p->arenas = a;
    return 0;
}

static void hear_out(struct source *source);

/* A hello: who the connection is with. Returns whether it may stay. */
static bool greet(struct source *source, const struct wire *w)
{
    struct shm_node *n = source->node;

    if (w->value != n->base.count || w->id >= n->base.count || w->id == n->base.id)
        return refuse(source, w);
    pthread_mutex_lock(&n->shm->lock);
    struct shm_peer *p = make_peer(n, w->id);
    pthread_mutex_unlock(&n->shm->lock);
    if (!p || p->refused)
        return false;
    if (!source->peer && p->source)
        hear_out(p->source);
    if ((source->peer ? source->peer != p : p->source || p->up) || renew_arenas(p))
        return refuse(source, w);

    pthread_mutex_lock(&n->shm->lock);
    if (!source->peer) {
        forget_stranger(source);
        source->peer = p;
        p->source = source;
        post_hello(n, p);
    }
    p->up = p->met = true;
    p->bye = false;
    count_missing(n, p, -1);
    hide_when_met(n);
    pthread_mutex_unlock(&n->shm->lock);
    tell_up(n, p->id);
    return true;
}

/* Without its memory there is no talking to a peer. Returns whether the connection may stay. */
static bool take_arena(struct source *source, const struct wire *w, int fd)
{
    struct shm_node *n = source->node;
    struct shm_peer *p = source->peer;
    int rc = map_arena(p, w, fd);
    char text[160];

    if (!rc)
        return true;
    snprintf(text, sizeof text, "node %u cannot map arena %u of node %u (%llu bytes): %s",
             n->base.id, w->id, p->id, (unsigned long long)w->value, strerror(-rc));
    shm_warn(n, text);
    p->refused = true;
    return false;
}

static bool handle(struct source *source, const unsigned char *data, size_t size, int fd)
{
    struct shm_node *n = source->node;
    struct wire w;

    if (size < sizeof w.kind)
        return false;
    memcpy(&w, data, size < sizeof w ? size : sizeof w);
    if (w.kind == HELLO)
        return size == sizeof w && greet(source, &w);
    if (!source->peer)
        return false;
    if (w.kind == ARENA)
        return size == sizeof w && take_arena(source, &w, fd);
    if (w.kind == CORE)
        n->base.events.message(n->base.events.arg, source->peer->id, data + sizeof w.kind,
                               size - sizeof w.kind);
    else if (w.kind == BYE)
        source->peer->bye = true;
    return true;
}

/* One message, if there is one: 1 handled, 0 none, -1 the connection is over. */
static int receive(struct source *source)
{
    unsigned char data[SHM_MESSAGE_MAX];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = data, .iov_len = sizeof data};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t size = recvmsg(source->fd, &message, MSG_CMSG_CLOEXEC);
    int fd = -1;

    /* A peer that closed before it had read all is told of first, and once: what it said last, such
     * as why it refuses, is still there. */
    if (size < 0 && errno == ECONNRESET)
        size = recvmsg(source->fd, &message, MSG_CMSG_CLOEXEC);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (size == 0)
        return -1;
    if (message.msg_controllen && control.head.cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(&control.head), sizeof fd);
    bool stay = handle(source, data, (size_t)size, fd);
    if (fd >= 0)
        close(fd);
    return stay ? 1 : -1;
}

static void hang_up(struct source *source)
{
    struct shm_node *n = source->node;
    struct shm_peer *p = source->peer;
    bool was_up = is_up(p);

    pthread_mutex_lock(&n->shm->lock);
    drop(source);
    if (was_up) {
        p->up = false;
        count_missing(n, p, 1);
    }
    pthread_mutex_unlock(&n->shm->lock);
    if (was_up)
        n->base.events.peer_lost(n->base.events.arg, p->id, p->bye);
}

/* All that a connection still has to say; and it may be over. */
static void hear_out(struct source *source)
{
    int more = 1;

    while (more > 0)
        more = receive(source);
    if (more < 0)
        hang_up(source);
}

static void serve(struct source *source, uint32_t events)
{
    struct shm_node *n = source->node;

    if (source == &n->listener) {
        pthread_mutex_lock(&n->shm->lock);
        accept_stranger(n);
        pthread_mutex_unlock(&n->shm->lock);
        return;
    }
    if (events & EPOLLOUT) {
        pthread_mutex_lock(&n->shm->lock);
        send_queued(n, source->peer);
        pthread_mutex_unlock(&n->shm->lock);
    }
    hear_out(source);
}
/* --- the control thread ------------------------------------------------------------------ */

static void shut(struct shm_node *n)
{
    const struct wire bye = {.kind = BYE};

    loco_each_entry (&n->peers, id) {
        struct shm_peer *p = shm_peer_of(n, id);
        if (!p || !p->source)
            continue;
        post(n, p, &bye, sizeof bye, -1);
        drop(p->source);
    }
    while (n->strangers)
        drop(n->strangers);
    close(n->listener.fd);
    if (n->path[0])
        unlink(n->path);
}

/* Ends the nodes that are to close, and looks for missing peers of the others. Returns how
 * long to wait for events, in ms. */
static int tend_nodes(struct shm *s)
{
    int retry = -1;

    pthread_mutex_lock(&s->lock);
    for (struct shm_node **n = &s->nodes; *n;) {
        if (!(*n)->closing) {
            retry = sooner(retry, connect_down(*n));
            retry = sooner(retry, show_to_missing(*n));
            n = &(*n)->next;
            continue;
        }
        struct shm_node *gone = *n;
        *n = gone->next;
        shut(gone);
        gone->closed = true;
        pthread_cond_broadcast(&s->node_closed);
    }
    pthread_mutex_unlock(&s->lock);
    return retry;
}

void *shm_control_thread(void *arg)
{
    struct shm *s = arg;

    /* One event a turn: serving it may free what the others name. */
    while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
        struct epoll_event event;
        int count = epoll_wait(s->epoll, &event, 1, tend_nodes(s));
        uint64_t turns;
        if (count < 1)
            continue;
        if (event.data.ptr)
            serve(event.data.ptr, event.events);
        else if (read(s->wakeup, &turns, sizeof turns) < 0)
            continue;
    }
    return NULL;
}

int shm_meet(struct loco_node *base, uint32_t peer)
{
    struct shm_node *n = (struct shm_node *)base;
    struct shm *s = n->shm;

    pthread_mutex_lock(&s->lock);
    struct shm_peer *p = make_peer(n, peer);
    if (p && !p->asked) {
        n->asked = p->asked = true;
        if (!p->up)
            count_missing(n, p, 1);
    }
    pthread_mutex_unlock(&s->lock);
    shm_wake_thread(s);
    return p ? 0 : -ENOMEM;
}

void shm_tend(struct shm_node *n)
{
    struct shm *s = n->shm;

    pthread_mutex_lock(&s->lock);
    n->next = s->nodes;
    s->nodes = n;
    watch(s, &n->listener, EPOLL_CTL_ADD, EPOLLIN);
    hide_when_met(n);
    pthread_mutex_unlock(&s->lock);
    shm_wake_thread(s);
}

int shm_post_core(struct shm_node *n, struct shm_peer *p, const void *message, size_t size)
{
    struct {
        uint32_t kind;
        unsigned char data[SHM_MESSAGE_MAX - sizeof(uint32_t)];
    } m = {.kind = CORE};

    if (size > sizeof m.data)
        return -EMSGSIZE;
    memcpy(m.data, message, size);
    return post(n, p, &m, sizeof m.kind + size, -1);
}

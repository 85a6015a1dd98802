#include "shm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "words.h"

enum {
    ARENAS_MAX = 64, /* of one node */
    RETRY_MS = 5,    /* between attempts to reach a peer that is not there yet */
    MESSAGE_MAX = 4096,
    HUGE_PAGE = 2 << 20,
};

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

/* A message that the socket had no room for yet. */
struct queued {
    struct queued *next;
    size_t size;
    int fd; /* an arena's, or -1; not owned */
    unsigned char data[];
};

struct map {
    unsigned char *base;
    size_t size;
    int fd; /* of an own arena */
};

/* What epoll names: a node's listener, or a connection. */
struct source {
    struct shm_node *node;
    struct shm_peer *peer; /* NULL: the listener, or a connection whose hello has not come */
    int fd;
    struct source *next; /* among the node's strangers */
};

struct shm_peer {
    uint32_t id;
    bool up, bye;
    bool refused;          /* it is of another network: not tried again */
    struct source *source; /* NULL: not connected */
    struct queued *queue, **queue_end;
    struct map arenas[ARENAS_MAX]; /* the peer's, mapped here */
};

struct shm_node {
    struct loco_node base;
    struct shm *shm;
    struct source listener;
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    struct shm_peer **peers; /* by id; itself NULL */
    struct source *strangers;
    struct map arenas[ARENAS_MAX];
    uint32_t arena_count;
    bool closing, closed;
    struct shm_node *next;
};

struct shm {
    struct loco_fabric base;
    char directory[80];
    int epoll, wakeup;
    pthread_t thread;
    pthread_mutex_t lock; /* of everything below, and of the peers' queues and sources */
    pthread_cond_t node_closed;
    struct shm_node *nodes;
    bool stop, warned;
};

struct shm_link {
    struct loco_link base;
    const struct map *arenas; /* the peer's */
    bool unfenced;            /* a store since the last fence */
};

static struct shm *shm_of(const struct loco_fabric *fabric)
{
    return (struct shm *)fabric;
}

static void wake_thread(struct shm *s)
{
    uint64_t one = 1;

    if (write(s->wakeup, &one, sizeof one) < 0)
        return; /* full: it is awake */
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

static void post_arena(struct shm_node *n, struct shm_peer *p, uint32_t number)
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
        post_arena(n, p, i);
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

/* Of each pair the node with the higher id connects. Returns whether any is still to do. */
static bool connect_down(struct shm_node *n)
{
    bool missing = false;

    for (uint32_t id = 0; id < n->base.id; id++) {
        struct shm_peer *p = n->peers[id];
        if (p->source || p->up || p->refused)
            continue;
        connect_to(n, p);
        missing |= !p->source;
    }
    return missing;
}

/* When all have come nobody needs the socket's name any more, and it should not stay. */
static void hide_when_met(struct shm_node *n)
{
    for (uint32_t id = n->base.id + 1; id < n->base.count; id++)
        if (!is_up(n->peers[id]))
            return;
    if (n->path[0])
        unlink(n->path);
    n->path[0] = '\0';
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

static void map_arena(struct shm_peer *p, const struct wire *w, int fd)
{
    if (fd < 0 || w->id >= ARENAS_MAX || p->arenas[w->id].base)
        return;
    void *base = mmap(NULL, w->value, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base != MAP_FAILED)
        p->arenas[w->id] = (struct map){.base = base, .size = w->value, .fd = -1};
}

/* --- what the control thread tells the core: without the lock -------------------------- */

static void tell_up(struct shm_node *n, uint32_t id)
{
    n->base.events.peer_up(n->base.events.arg, id);
}

static void warn(struct shm_node *n, const char *text)
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
    warn(n, text);
    if (source->peer)
        source->peer->refused = true;
    else
        send_now(source->fd, &here, sizeof here, -1);
    return false;
}

/* A hello: who the connection is with. Returns whether it may stay. */
static bool greet(struct source *source, const struct wire *w)
{
    struct shm_node *n = source->node;

    if (w->value != n->base.count || w->id >= n->base.count || !n->peers[w->id])
        return refuse(source, w);
    struct shm_peer *p = n->peers[w->id];
    if (source->peer ? source->peer != p : p->source || p->up)
        return refuse(source, w);

    pthread_mutex_lock(&n->shm->lock);
    if (!source->peer) {
        forget_stranger(source);
        source->peer = p;
        p->source = source;
        post_hello(n, p);
    }
    p->up = true;
    hide_when_met(n);
    pthread_mutex_unlock(&n->shm->lock);
    tell_up(n, p->id);
    return true;
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
    if (w.kind == ARENA && size == sizeof w)
        map_arena(source->peer, &w, fd);
    else if (w.kind == CORE)
        n->base.events.message(n->base.events.arg, source->peer->id, data + sizeof w.kind,
                               size - sizeof w.kind);
    else if (w.kind == BYE)
        source->peer->bye = true;
    return true;
}

/* One message, if there is one: 1 handled, 0 none, -1 the connection is over. */
static int receive(struct source *source)
{
    unsigned char data[MESSAGE_MAX];
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
    pthread_mutex_unlock(&n->shm->lock);
    if (was_up)
        n->base.events.peer_lost(n->base.events.arg, p->id, p->bye);
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
    int more = 1;
    while (more > 0)
        more = receive(source);
    if (more < 0)
        hang_up(source);
}

/* --- the control thread ------------------------------------------------------------------ */

static void unmap(struct map *maps)
{
    for (int i = 0; i < ARENAS_MAX && maps[i].base; i++) {
        munmap(maps[i].base, maps[i].size);
        if (maps[i].fd >= 0)
            close(maps[i].fd);
    }
}

static void shut(struct shm_node *n)
{
    const struct wire bye = {.kind = BYE};

    for (uint32_t id = 0; id < n->base.count; id++) {
        struct shm_peer *p = n->peers[id];
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
    bool missing = false;

    pthread_mutex_lock(&s->lock);
    for (struct shm_node **n = &s->nodes; *n;) {
        if (!(*n)->closing) {
            missing |= connect_down(*n);
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
    return missing ? RETRY_MS : -1;
}

static void *control_thread(void *arg)
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

/* --- nodes ------------------------------------------------------------------------------- */

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

static int listen_at(struct shm_node *n)
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

static void free_node(struct shm_node *n)
{
    for (uint32_t id = 0; n->peers && id < n->base.count; id++) {
        if (n->peers[id])
            unmap(n->peers[id]->arenas);
        free(n->peers[id]);
    }
    free(n->peers);
    unmap(n->arenas);
    free(n);
}

static int make_peers(struct shm_node *n)
{
    n->peers = calloc(n->base.count, sizeof(struct shm_peer *));
    if (!n->peers)
        return -ENOMEM;
    for (uint32_t id = 0; id < n->base.count; id++) {
        if (id == n->base.id)
            continue;
        n->peers[id] = calloc(1, sizeof *n->peers[id]);
        if (!n->peers[id])
            return -ENOMEM;
        n->peers[id]->id = id;
    }
    return 0;
}

static int shm_node_open(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                         const struct loco_events *events, struct loco_node **node)
{
    struct shm *s = shm_of(fabric);
    struct shm_node *n = calloc(1, sizeof *n);

    if (!n)
        return -ENOMEM;
    n->base = (struct loco_node){.fabric = fabric, .id = id, .count = count, .events = *events};
    n->shm = s;
    int rc = make_peers(n);
    if (!rc)
        rc = listen_at(n);
    if (rc) {
        free_node(n);
        return rc;
    }
    *node = &n->base;
    pthread_mutex_lock(&s->lock);
    n->next = s->nodes;
    s->nodes = n;
    watch(s, &n->listener, EPOLL_CTL_ADD, EPOLLIN);
    hide_when_met(n);
    pthread_mutex_unlock(&s->lock);
    wake_thread(s);
    return 0;
}

static void shm_node_close(struct loco_node *base)
{
    struct shm_node *n = (struct shm_node *)base;
    struct shm *s = n->shm;

    pthread_mutex_lock(&s->lock);
    n->closing = true;
    wake_thread(s);
    while (!n->closed)
        pthread_cond_wait(&s->node_closed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    free_node(n);
}

static int shm_send(struct loco_node *base, uint32_t peer, const void *message, size_t size)
{
    struct shm_node *n = (struct shm_node *)base;
    struct {
        uint32_t kind;
        unsigned char data[MESSAGE_MAX - sizeof(uint32_t)];
    } m = {.kind = CORE};

    if (size > sizeof m.data)
        return -EMSGSIZE;
    memcpy(m.data, message, size);
    pthread_mutex_lock(&n->shm->lock);
    int rc = post(n, n->peers[peer], &m, sizeof m.kind + size, -1);
    pthread_mutex_unlock(&n->shm->lock);
    return rc;
}

/* --- arenas ------------------------------------------------------------------------------ */

static int map_file(struct map *map, size_t size, unsigned flags)
{
    int fd = memfd_create("loco", MFD_CLOEXEC | flags);

    if (fd < 0)
        return -errno;
    void *base = ftruncate(fd, (off_t)size)
                     ? MAP_FAILED
                     : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    *map = (struct map){.base = base, .size = size, .fd = fd};
    return 0;
}

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

static int shm_arena_map(struct loco_node *base, size_t size, struct loco_arena *arena)
{
    struct shm_node *n = (struct shm_node *)base;
    struct shm *s = n->shm;
    struct map map;

    if (n->arena_count == ARENAS_MAX)
        return -ENOSPC;
    int rc = map_file(&map, round_up(size, HUGE_PAGE), MFD_HUGETLB);
    bool ordinary = rc != 0;
    if (ordinary)
        rc = map_file(&map, round_up(size, (size_t)sysconf(_SC_PAGESIZE)), 0);
    if (rc)
        return rc;

    pthread_mutex_lock(&s->lock);
    bool say = ordinary && !s->warned;
    s->warned |= ordinary;
    uint32_t number = n->arena_count++;
    n->arenas[number] = map;
    for (uint32_t id = 0; id < n->base.count; id++)
        if (n->peers[id] && n->peers[id]->source)
            post_arena(n, n->peers[id], number);
    pthread_mutex_unlock(&s->lock);
    if (say)
        warn(n, "no huge pages are free: arenas are on ordinary pages (as root: sysctl "
                "vm.nr_hugepages=64)");
    *arena = (struct loco_arena){.base = map.base, .size = map.size, .number = number};
    return 0;
}

/* --- links and operations ------------------------------------------------------------------ */

static int shm_link_open(struct loco_node *base, uint32_t peer, struct loco_link **link)
{
    const struct shm_node *n = (const struct shm_node *)base;
    struct shm_link *l = calloc(1, sizeof *l);

    if (!l)
        return -ENOMEM;
    l->base.node = base;
    l->base.peer = peer;
    l->arenas = peer == base->id ? n->arenas : n->peers[peer]->arenas;
    *link = &l->base;
    return 0;
}

static void shm_link_close(struct loco_link *link)
{
    free(link);
}

static unsigned char *target_of(const struct shm_link *l, struct loco_remote at, size_t size)
{
    if (at.arena >= ARENAS_MAX)
        return NULL;
    const struct map *a = &l->arenas[at.arena];
    return at.offset <= a->size && size <= a->size - at.offset ? a->base + at.offset : NULL;
}

static int shm_write(struct loco_link *base, struct loco_remote to, const void *from, size_t size)
{
    struct shm_link *l = (struct shm_link *)base;
    unsigned char *target = target_of(l, to, size);

    if (!target)
        return -ERANGE;
    atomic_thread_fence(memory_order_release); /* after every earlier write of the link */
    loco_copy(target, from, size);
    l->unfenced = true;
    return LOCO_DONE;
}

/* A store may still be in this CPU's buffer when a later load runs; a read of the link comes
 * after its writes. */
static void after_writes(struct shm_link *l)
{
    if (!l->unfenced)
        return;
    atomic_thread_fence(memory_order_seq_cst);
    l->unfenced = false;
}

static int shm_read(struct loco_link *base, struct loco_remote from, void *to, size_t size)
{
    struct shm_link *l = (struct shm_link *)base;
    const unsigned char *source = target_of(l, from, size);

    if (!source)
        return -ERANGE;
    after_writes(l);
    loco_copy(to, source, size);
    atomic_thread_fence(memory_order_acquire);
    return LOCO_DONE;
}

static uint64_t *word_of(const struct shm_link *l, struct loco_remote at)
{
    unsigned char *target = target_of(l, at, sizeof(uint64_t));

    return (uintptr_t)target % sizeof(uint64_t) ? NULL : (uint64_t *)(void *)target;
}

static int shm_fetch_add(struct loco_link *base, struct loco_remote at, uint64_t add, uint64_t *old)
{
    uint64_t *word = word_of((struct shm_link *)base, at);

    if (!word)
        return -ERANGE;
    *old = __atomic_fetch_add(word, add, __ATOMIC_SEQ_CST);
    return LOCO_DONE;
}

static int shm_compare_swap(struct loco_link *base, struct loco_remote at, uint64_t expected,
                            uint64_t desired, uint64_t *old)
{
    uint64_t *word = word_of((struct shm_link *)base, at);

    if (!word)
        return -ERANGE;
    *old = expected;
    __atomic_compare_exchange_n(word, old, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return LOCO_DONE;
}

/* --- time ---------------------------------------------------------------------------------- */

static uint64_t shm_clock(struct loco_node *node)
{
    struct timespec t;

    (void)node;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Most waits end within a microsecond, and are spun through. One that does not may be for a
 * thread that needs this very core; one that lasts is for a person or a disk. */
static void shm_relax(struct loco_node *node, struct loco_wait *wait)
{
    static const struct timespec nap = {.tv_nsec = 100000};

    (void)node;
    uint64_t turn = wait->turns++;
    if (turn < 200)
        return;
    if (turn < 1000) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    } else if (turn < 100000) {
        sched_yield();
    } else {
        nanosleep(&nap, NULL);
    }
}

static const struct loco_fabric_ops shm_ops = {
    .name = "shm",
    .node_open = shm_node_open,
    .node_close = shm_node_close,
    .send = shm_send,
    .arena_map = shm_arena_map,
    .link_open = shm_link_open,
    .link_close = shm_link_close,
    .write = shm_write,
    .read = shm_read,
    .fetch_add = shm_fetch_add,
    .compare_swap = shm_compare_swap,
    .clock = shm_clock,
    .relax = shm_relax,
};

/* --- the fabric ------------------------------------------------------------------------------ */

/* The directory keeps other users out; one that does not is no place for our memory. */
static int make_directory(const char *path)
{
    struct stat st;

    if (mkdir(path, 0700) && errno != EEXIST)
        return -errno;
    if (lstat(path, &st))
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    return st.st_uid == geteuid() && (st.st_mode & 077) == 0 ? 0 : -EPERM;
}

static int open_descriptors(struct shm *s)
{
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll < 0)
        return -errno;
    s->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wakeup < 0) {
        int rc = -errno;
        close(s->epoll);
        return rc;
    }
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->wakeup, &event);
    return 0;
}

int loco_shm_open(struct loco_fabric **fabric, const char *directory)
{
    /* Room for "/node4294967295" after it in a socket's address. */
    if (strlen(directory) >= sizeof((struct shm *)0)->directory)
        return -ENAMETOOLONG;
    int rc = make_directory(directory);
    if (rc)
        return rc;

    struct shm *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->base = (struct loco_fabric){
        .ops = &shm_ops,
        .capabilities = LOCO_COHERENT | LOCO_CPU_ATOMICS | LOCO_SHARED_CLOCK,
    };
    snprintf(s->directory, sizeof s->directory, "%s", directory);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->node_closed, NULL);
    rc = open_descriptors(s);
    if (rc)
        goto free_shm;
    rc = -pthread_create(&s->thread, NULL, control_thread, s);
    if (rc)
        goto close_descriptors;
    *fabric = &s->base;
    return 0;

close_descriptors:
    close(s->epoll);
    close(s->wakeup);
free_shm:
    free(s);
    return rc;
}

void loco_shm_close(struct loco_fabric *fabric)
{
    struct shm *s = shm_of(fabric);

    if (!s)
        return;
    __atomic_store_n(&s->stop, true, __ATOMIC_RELEASE);
    wake_thread(s);
    pthread_join(s->thread, NULL);
    close(s->epoll);
    close(s->wakeup);
    rmdir(s->directory); /* stays while another process has a socket there */
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->node_closed);
    free(s);
}

/*
 * How the nodes of the shm fabric meet: each listens on a Unix socket in the run directory, of
 * each pair that is to meet the one with the higher id connects, both prove that they know the
 * network's secret, and then descriptors of arenas and the core's control messages go over the
 * connection.
 *
 * Of a stranger, who has proven nothing, a node keeps a connection for a while, and no more of them
 * than a certain number; what else one may make it keep is in shm_internal.h.
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
    if (sendmsg(socket, &message, MSG_NOSIGNAL) >= 0)
        return 0;
    return errno == EPIPE ? -ECONNRESET : -errno; /* the control thread is about to see it */
}

static void watch(struct shm *s, struct source *source, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = source};

    epoll_ctl(s->epoll, operation, source->fd, &event);
}

/* A peer that does not take its messages is as good as lost: the control thread finds its
 * connection at an end. */
static int overrun(struct shm_peer *p)
{
    p->overrun = true;
    shutdown(p->source->fd, SHUT_RDWR);
    return -ECONNRESET;
}

static int enqueue(struct shm_node *n, struct shm_peer *p, const void *data, size_t size, int fd)
{
    if (p->queued + size > SHM_QUEUE_MAX)
        return overrun(p);
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
    p->queued += size;
    return 0;
}

static int post(struct shm_node *n, struct shm_peer *p, const void *data, size_t size, int fd)
{
    if (!p->source)
        return -ECONNRESET;
    int rc = p->queue ? -EAGAIN : send_now(p->source->fd, data, size, fd);
    return rc == -EAGAIN ? enqueue(n, p, data, size, fd) : rc;
}

static void take_off(struct shm_peer *p)
{
    struct queued *q = p->queue;

    p->queue = q->next;
    p->queued -= q->size;
    free(q);
}

static void send_queued(struct shm_node *n, struct shm_peer *p)
{
    while (p->queue) {
        struct queued *q = p->queue;
        if (send_now(p->source->fd, q->data, q->size, q->fd) == -EAGAIN)
            return;
        take_off(p); /* one that failed otherwise is lost with its connection */
    }
    watch(n->shm, p->source, EPOLL_CTL_MOD, EPOLLIN);
}

void shm_post_arena(struct shm_node *n, struct shm_peer *p, uint32_t number)
{
    const struct map *a = &n->arenas[number];
    const struct shm_arena_notice notice = {
        .kind = SHM_ARENA, .number = number, .offset = a->offset, .size = a->size};

    post(n, p, &notice, sizeof notice, n->shm->files[a->file].fd);
}

static struct shm_greeting greeting_of(const struct shm_node *n, enum shm_kind kind)
{
    return (struct shm_greeting){.kind = kind, .id = n->base.id, .count = n->base.count};
}

/* Strangers' sockets have room for the little that is said to them. */
static void say(const struct source *source, const struct shm_greeting *g)
{
    send_now(source->fd, g, sizeof *g, -1);
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

static bool is_own_user(int socket)
{
    struct ucred other;
    socklen_t size = sizeof other;

    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
           other.uid == geteuid();
}

static struct source *new_source(struct shm_node *n, int fd)
{
    struct source *source = fd < 0 ? NULL : calloc(1, sizeof *source);

    if (!source || loco_nonce_new(&source->nonce)) {
        free(source);
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    source->node = n;
    source->fd = fd;
    return source;
}

static void connect_to(struct shm_node *n, struct shm_peer *p)
{
    const struct sockaddr_un a = address_of(n->shm, p->id);
    struct source *source = new_source(n, new_socket());

    if (!source)
        return;
    if (connect(source->fd, (const struct sockaddr *)&a, sizeof a) || !is_own_user(source->fd)) {
        close(source->fd);
        free(source);
        return; /* not there yet: tried again */
    }
    source->peer = p;
    p->source = source;
    watch(n->shm, source, EPOLL_CTL_ADD, EPOLLIN);
    struct shm_greeting hello = greeting_of(n, SHM_HELLO);
    hello.nonce = source->nonce;
    say(source, &hello);
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
    const int retry = p->lives ? RETRY_LOST_MS : RETRY_MS;
    const uint64_t now = loco_host_clock(&n->base);
    uint64_t *at = try_at(n->shm, n, p->id);

    const uint64_t due = at && *at > p->try_at ? *at : p->try_at;
    if (due > now)
        return (int)((due - now) / MS) + 1;
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
        if (shm_listen(n) == 0) {
            close(old);
            watch(n->shm, &n->listener, EPOLL_CTL_ADD, EPOLLIN);
        }
    }
    return RETRY_LOST_MS; /* somebody may tidy up the directory */
}

static void forget_stranger(struct source *source)
{
    struct shm_node *n = source->node;

    for (struct source **s = &n->strangers; *s; s = &(*s)->next) {
        if (*s == source) {
            *s = source->next;
            n->stranger_count--;
            return;
        }
    }
}

static void drop(struct source *source)
{
    struct shm_peer *p = source->peer;

    if (p) {
        p->source = NULL;
        while (p->queue)
            take_off(p);
    } else {
        forget_stranger(source);
    }
    close(source->fd);
    free(source);
}

static void drop_strangers(struct shm_node *n, uint64_t older_than)
{
    struct source **s = &n->strangers;

    while (*s && (*s)->until > older_than)
        s = &(*s)->next;
    while (*s)
        drop(*s); /* which takes it off */
}

/* Drops those whose time is over. Returns how soon to look again, in ms; -1: there is none. */
static int tend_strangers(struct shm_node *n)
{
    if (!n->strangers)
        return -1;
    drop_strangers(n, loco_host_clock(&n->base));
    return n->strangers ? RETRY_LOST_MS : -1;
}

/* All of an arena may be touched, and stays until the node closes. */
static bool has_room(const struct shm_node *n, uint64_t size)
{
    const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    return n->mapped <= machine && size <= machine - n->mapped;
}

static int map_arena(struct shm_node *n, struct shm_peer *p, const struct shm_arena_notice *a,
                     int fd)
{
    struct map *maps = p->arenas->maps;

    if (fd < 0)
        return -EMFILE; /* the kernel had no room for the descriptor */
    if (a->number >= SHM_ARENAS_MAX || maps[a->number].base ||
        (a->number > 0 && !maps[a->number - 1].base))
        return -EPROTO;
    if (!has_room(n, a->size))
        return -ENOMEM;
    int rc = shm_share(&maps[a->number], fd, (struct shm_range){a->offset, a->size});
    if (!rc)
        n->mapped += a->size;
    return rc;
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

/* Who leaves takes an empty directory away, maybe at this very moment. */
static int bind_in_directory(const struct shm *s, int fd, const struct sockaddr_un *a)
{
    int rc = -ENOENT;

    for (int tries = 0; rc == -ENOENT && tries < 100; tries++) {
        rc = shm_make_directory(s->directory);
        if (!rc && bind(fd, (const struct sockaddr *)a, sizeof *a))
            rc = -errno;
    }
    return rc;
}

int shm_listen(struct shm_node *n)
{
    const struct sockaddr_un a = address_of(n->shm, n->base.id);
    int fd = new_socket();

    if (fd < 0)
        return -errno;
    int rc = bind_in_directory(n->shm, fd, &a);
    if (rc == -EADDRINUSE && is_stale(&a)) {
        unlink(a.sun_path);
        rc = bind_in_directory(n->shm, fd, &a);
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

/* Who comes again and again fills no log. */
static bool is_worth_saying(struct shm_node *n)
{
    return n->refusals++ < SHM_REFUSALS_SAID;
}

static const char *name_reason(uint32_t reason)
{
    return reason == SHM_FOREIGN ? "another network"
           : reason == SHM_TAKEN ? "its place is taken"
                                 : "it does not know this network's secret";
}

/* Where there are too many strangers the one that was here for longest goes: a node needs only
 * moments for its proof. */
static void accept_stranger(struct shm_node *n)
{
    int fd = accept4(n->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd >= 0 && !is_own_user(fd)) {
        if (is_worth_saying(n))
            shm_warn(n, "a process of another user was refused");
        close(fd);
        return;
    }
    struct source *source = new_source(n, fd);
    if (!source)
        return;
    pthread_mutex_lock(&n->shm->lock);
    if (n->stranger_count == SHM_STRANGERS_MAX + n->base.count) {
        struct source *oldest = n->strangers;
        while (oldest->next)
            oldest = oldest->next;
        drop(oldest);
    }
    source->until = loco_host_clock(&n->base) + SHM_STRANGER_NS;
    source->next = n->strangers;
    n->strangers = source;
    n->stranger_count++;
    watch(n->shm, source, EPOLL_CTL_ADD, EPOLLIN);
    pthread_mutex_unlock(&n->shm->lock);
}

/* A stranger is told who is here and why it may not stay, so that its user learns of it too. */
static bool refuse(struct source *source, uint32_t id, uint32_t count, enum shm_reason reason)
{
    struct shm_node *n = source->node;
    struct shm_greeting refusal = greeting_of(n, SHM_REFUSAL);
    char text[160];

    refusal.reason = reason;
    say(source, &refusal);
    if (!is_worth_saying(n))
        return false;
    snprintf(text, sizeof text, "node %u (of %u) met a node that says it is node %u of %u: %s",
             n->base.id, n->base.count, id, count, name_reason(reason));
    shm_warn(n, text);
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

static void try_later(struct shm_node *n, struct shm_peer *p, int ms)
{
    const uint64_t at = loco_host_clock(&n->base) + (uint64_t)ms * MS;

    if (p->try_at < at)
        p->try_at = at;
}

static void hear_refusal(struct source *source, const struct shm_greeting *g)
{
    struct shm_node *n = source->node;
    struct shm_peer *p = source->peer;
    char text[160];

    p->refused = g->reason != SHM_TAKEN;
    try_later(n, p, RETRY_LOST_MS);
    if (!is_worth_saying(n))
        return;
    snprintf(text, sizeof text,
             "node %u (of %u) was refused by a node that says it is %u of %u: %s", n->base.id,
             n->base.count, g->id, g->count,
             g->reason == SHM_FOREIGN ? "another network"
             : g->reason == SHM_TAKEN ? "this place is taken"
                                      : "it has another secret");
    shm_warn(n, text);
}

/* A peer that comes back has none of the arenas that it had. */
static int renew_arenas(struct shm_peer *p)
{
    if (!p->lives)
        return 0;
    if (p->lives > SHM_RETURNS_MAX)
        return -ENOSPC;
    struct shm_arenas *a = calloc(1, sizeof *a);
    if (!a)
        return -ENOMEM;
    a->older = p->arenas;
    p->arenas = a;
    return 0;
}

static void hear_out(struct source *source);

/* Whether a stranger may become the peer, of whom nothing may be known yet: the one before may have
 * ended, and nobody has seen it. */
static bool is_free(struct shm_peer *p)
{
    if (p && p->source)
        hear_out(p->source);
    return !p || (!p->source && !p->up && !p->refused);
}

/* The core is told of a foreigner who knows the secret, and of no other. */
static bool refuse_foreigner(struct source *source, uint32_t id, uint32_t count)
{
    const struct loco_events *events = &source->node->base.events;

    refuse(source, id, count, SHM_FOREIGN);
    if (events->foreigner)
        events->foreigner(events->arg, count);
    return false;
}

/* `count` is that of who connects. */
static struct loco_claim claim_of(uint32_t purpose, uint32_t from, uint32_t to, uint32_t count,
                                  const struct loco_nonce *asked, const struct loco_nonce *given)
{
    return (struct loco_claim){.purpose = purpose,
                               .from = from,
                               .to = to,
                               .count = count,
                               .asked = *asked,
                               .given = *given};
}

/* --- greetings; each returns whether the connection may stay ------------------------------- */

/* The peer has proven itself: from now on it is heard. */
static bool welcome(struct source *source, struct shm_peer *p)
{
    struct shm_node *n = source->node;

    if (renew_arenas(p)) {
        if (is_worth_saying(n))
            shm_warn(n, "a node came back too often, or there is no memory for it");
        return false;
    }
    pthread_mutex_lock(&n->shm->lock);
    if (!source->peer) {
        forget_stranger(source);
        source->peer = p;
        p->source = source;
    }
    p->up = true;
    p->lives++;
    p->bye = p->overrun = false;
    for (uint32_t i = 0; i < n->arena_count; i++)
        shm_post_arena(n, p, i);
    count_missing(n, p, -1);
    hide_when_met(n);
    pthread_mutex_unlock(&n->shm->lock);
    tell_up(n, p->id);
    return true;
}

/* Who connects says who it is, and is asked for a proof. */
static bool on_hello(struct source *source, const struct shm_greeting *g)
{
    struct shm_node *n = source->node;
    const uint32_t me = n->base.id;

    if (source->peer || source->claim.purpose)
        return false;
    if (g->id <= me || g->id >= g->count)
        return refuse(source, g->id, g->count, SHM_FOREIGN);
    if (g->count == n->base.count && !is_free(shm_peer_of(n, g->id)))
        return refuse(source, g->id, g->count, SHM_TAKEN);
    struct shm_greeting answer = greeting_of(n, SHM_ANSWER);
    const struct loco_claim mine =
        claim_of(SHM_OF_ANSWER, me, g->id, g->count, &g->nonce, &source->nonce);
    source->claim = claim_of(SHM_OF_PROOF, g->id, me, g->count, &source->nonce, &g->nonce);
    answer.nonce = source->nonce;
    answer.proof = loco_prove(&n->key, &mine);
    say(source, &answer);
    return true;
}

static bool on_answer(struct source *source, const struct shm_greeting *g)
{
    struct shm_node *n = source->node;
    struct shm_peer *p = source->peer;
    const uint32_t me = n->base.id;

    if (!p || p->up)
        return false;
    const struct loco_claim theirs =
        claim_of(SHM_OF_ANSWER, p->id, me, n->base.count, &source->nonce, &g->nonce);
    const struct loco_claim mine =
        claim_of(SHM_OF_PROOF, me, p->id, n->base.count, &g->nonce, &source->nonce);
    struct shm_greeting proof = greeting_of(n, SHM_PROOF);
    proof.proof = loco_prove(&n->key, &mine); /* where it is wrong too, so that the other says so */
    say(source, &proof);
    bool right = loco_proves(&n->key, &theirs, &g->proof);
    if (right && g->count == n->base.count)
        return welcome(source, p);
    p->refused = true;
    return right ? refuse_foreigner(source, p->id, g->count)
                 : refuse(source, p->id, g->count, SHM_UNPROVEN);
}

static bool on_proof(struct source *source, const struct shm_greeting *g)
{
    struct shm_node *n = source->node;

    const uint32_t id = source->claim.from;

    if (source->peer || !source->claim.purpose)
        return false;
    if (!loco_proves(&n->key, &source->claim, &g->proof))
        return refuse(source, id, source->claim.count, SHM_UNPROVEN);
    if (source->claim.count != n->base.count)
        return refuse_foreigner(source, id, source->claim.count);
    if (!is_free(shm_peer_of(n, id)))
        return refuse(source, id, n->base.count, SHM_TAKEN);
    pthread_mutex_lock(&n->shm->lock);
    struct shm_peer *p = make_peer(n, id);
    pthread_mutex_unlock(&n->shm->lock);
    return p && welcome(source, p);
}

static bool on_greeting(struct source *source, const struct shm_greeting *g)
{
    switch (g->kind) {
    case SHM_HELLO:
        return on_hello(source, g);
    case SHM_ANSWER:
        return on_answer(source, g);
    case SHM_PROOF:
        return on_proof(source, g);
    default:
        if (source->peer && !source->peer->up)
            hear_refusal(source, g);
        return false;
    }
}

/* --- messages; each returns whether the connection may stay -------------------------------- */

/* Without its memory there is no talking to a peer. */
static bool take_arena(struct source *source, const struct shm_arena_notice *a, int fd)
{
    struct shm_node *n = source->node;
    struct shm_peer *p = source->peer;
    int rc = map_arena(n, p, a, fd);
    char text[160];

    if (!rc)
        return true;
    snprintf(text, sizeof text, "node %u cannot map arena %u of node %u (%llu bytes): %s",
             n->base.id, a->number, p->id, (unsigned long long)a->size,
             rc == -EPERM    ? "its file may shrink"
             : rc == -EPROTO ? "its file, or its number, is another"
                             : strerror(-rc));
    shm_warn(n, text);
    p->refused = true;
    return false;
}

/* What a peer that has proven itself says. */
static bool on_message(struct source *source, uint32_t kind, const unsigned char *data, size_t size,
                       int fd)
{
    struct shm_node *n = source->node;
    struct shm_arena_notice arena;

    switch (kind) {
    case SHM_ARENA:
        if (size != sizeof arena)
            return false;
        memcpy(&arena, data, sizeof arena);
        return take_arena(source, &arena, fd);
    case SHM_CORE:
        n->base.events.message(n->base.events.arg, source->peer->id, data + sizeof kind,
                               size - sizeof kind);
        return true;
    case SHM_BYE:
        source->peer->bye = true;
        return size == sizeof kind;
    default:
        return false;
    }
}

/* Only an arena comes with a descriptor. */
static bool handle(struct source *source, const unsigned char *data, size_t size, int fd)
{
    struct shm_greeting greeting;
    uint32_t kind;

    if (size < sizeof kind)
        return false;
    memcpy(&kind, data, sizeof kind);
    if (fd >= 0 && kind != SHM_ARENA)
        return false;
    if (kind >= SHM_HELLO && kind <= SHM_REFUSAL) {
        if (size != sizeof greeting)
            return false;
        memcpy(&greeting, data, sizeof greeting);
        return on_greeting(source, &greeting);
    }
    return source->peer && source->peer->up && on_message(source, kind, data, size, fd);
}

/* There is room for some descriptors more than a message has, as there may be more with it: the
 * kernel has opened here all that there was room for. */
enum { DESCRIPTORS_MAX = 4 };

/* Takes the one descriptor of a message, or -1 where there is none. Where there are more, none is
 * kept, and it returns false. */
static bool take_descriptor(struct msghdr *message, int *fd)
{
    unsigned count = 0;

    *fd = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = CMSG_LEN(0); at + sizeof *fd <= c->cmsg_len; at += sizeof *fd) {
            if (count++ > 0)
                close(*fd);
            memcpy(fd, (const unsigned char *)c + at, sizeof *fd);
        }
    }
    if (count < 2)
        return true;
    close(*fd);
    return false;
}

/* One message, if there is one: 1 handled, 0 none, -1 the connection is over. */
static int receive(struct source *source)
{
    unsigned char data[SHM_MESSAGE_MAX];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    } control;
    struct iovec part = {.iov_base = data, .iov_len = sizeof data};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t size = recvmsg(source->fd, &message, MSG_CMSG_CLOEXEC);
    int fd;

    /* A peer that closed before it had read all is told of first, and once: what it said last, such
     * as why it refuses, is still there. */
    if (size < 0 && errno == ECONNRESET)
        size = recvmsg(source->fd, &message, MSG_CMSG_CLOEXEC);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (!take_descriptor(&message, &fd) || size == 0)
        return -1;
    bool stay = !(message.msg_flags & MSG_TRUNC) && handle(source, data, (size_t)size, fd);
    if (fd >= 0)
        close(fd);
    return stay ? 1 : -1;
}

static void hang_up(struct source *source)
{
    struct shm_node *n = source->node;
    struct shm_peer *p = source->peer;
    bool was_up = is_up(p), overran = p && p->overrun;
    char text[160];

    pthread_mutex_lock(&n->shm->lock);
    drop(source);
    if (was_up)
        count_missing(n, p, 1);
    if (p) {
        p->up = p->overrun = false;
        try_later(n, p, RETRY_MS);
    }
    pthread_mutex_unlock(&n->shm->lock);
    if (overran) {
        snprintf(text, sizeof text, "node %u: node %u did not take %u MiB of control messages",
                 n->base.id, p->id, SHM_QUEUE_MAX >> 20);
        shm_warn(n, text);
    }
    if (was_up)
        n->base.events.peer_lost(n->base.events.arg, p->id, p->bye);
}

/* All that a connection has to say, but not so much that others are never heard; and it may be
 * over. */
static void hear_out(struct source *source)
{
    enum { AT_ONCE = 256 };
    int more = 1;

    for (int i = 0; i < AT_ONCE && more > 0; i++)
        more = receive(source);
    if (more < 0)
        hang_up(source);
}

static void serve(struct source *source, uint32_t events)
{
    struct shm_node *n = source->node;

    if (source == &n->listener) {
        accept_stranger(n);
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
    const uint32_t bye = SHM_BYE;

    loco_each_entry (&n->peers, id) {
        struct shm_peer *p = shm_peer_of(n, id);
        if (!p || !p->source)
            continue;
        post(n, p, &bye, sizeof bye, -1);
        drop(p->source);
    }
    drop_strangers(n, UINT64_MAX);
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
            retry = sooner(retry, tend_strangers(*n));
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
    } m = {.kind = SHM_CORE};

    if (size > sizeof m.data)
        return -EMSGSIZE;
    memcpy(m.data, message, size);
    return post(n, p, &m, sizeof m.kind + size, -1);
}

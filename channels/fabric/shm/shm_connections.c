/*
 * How two processes of the shm fabric are connected: one calls the other's socket for a node that
 * is to meet a node there, both prove that they know the network's secret, and from then on all the
 * nodes of both use the connection. There is one of them, or one that each has called where both
 * did at the same time.
 *
 * Of a stranger, who has proven nothing, a process keeps a connection for a while, and no more of
 * them than a certain number; what else one may make it keep is in shm_internal.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "../host_time.h"
#include "shm_internal.h"

enum { LOOK_MS = 200 };

void shm_watch(struct shm *s, int operation, int fd, void *source, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = source};

    epoll_ctl(s->epoll, operation, fd, &event);
}

void shm_warn(struct shm_node *n, const char *text)
{
    n->base.events.warning(n->base.events.arg, text);
}

bool shm_is_worth_saying(struct shm *s)
{
    return s->refusals++ < SHM_REFUSALS_SAID;
}

static struct shm_node *node_of(struct shm *s, uint32_t id)
{
    pthread_mutex_lock(&s->lock);
    struct shm_node *n = shm_node_of(s, id);
    pthread_mutex_unlock(&s->lock);
    return n;
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

/* A process that does not take its messages is as good as lost: the control thread finds its
 * connection at an end. */
static int overrun(struct shm_connection *c)
{
    c->overrun = true;
    shutdown(c->fd, SHUT_RDWR);
    return -ECONNRESET;
}

static int enqueue(struct shm_connection *c, const void *data, size_t size, int fd)
{
    const bool first = !c->unsent.first;

    if (!loco_unsent_has_room(&c->unsent, size, (size_t)LOCO_UNSENT_MAX * (c->pairs + 1)))
        return overrun(c);
    struct loco_unsent_message *m = loco_unsent_add(&c->unsent, data, size, NULL, 0);
    if (!m)
        return -ENOMEM;
    m->descriptor = fd;
    if (first)
        shm_watch(c->shm, EPOLL_CTL_MOD, c->fd, c, EPOLLIN | EPOLLOUT);
    return 0;
}

int shm_post(struct shm_connection *c, const void *data, size_t size, int fd)
{
    int rc = c->unsent.first ? -EAGAIN : send_now(c->fd, data, size, fd);

    return rc == -EAGAIN ? enqueue(c, data, size, fd) : rc;
}

void shm_post_file(struct shm_connection *c, uint32_t file)
{
    const struct shm_file_notice notice = {.kind = SHM_FILE, .file = file};

    if (c->has_file[file])
        return;
    c->has_file[file] = true;
    shm_post(c, &notice, sizeof notice, c->shm->files[file].fd);
}

/* Returns whether nothing is left. */
static bool send_waiting(struct shm_connection *c)
{
    while (c->unsent.first) {
        const struct loco_unsent_message *m = c->unsent.first;
        if (send_now(c->fd, m->data, m->size, m->descriptor) == -EAGAIN)
            return false;
        loco_unsent_take_off(
            &c->unsent); /* one that failed otherwise is lost with its connection */
    }
    return true;
}

void shm_send_queued(struct shm_connection *c)
{
    if (send_waiting(c))
        shm_watch(c->shm, EPOLL_CTL_MOD, c->fd, c, EPOLLIN);
}

/* The last that a process says is that its nodes leave in order, so it waits a little for one that
 * is slow to hear it. It does not hear anything itself any more. */
static void send_rest(struct shm_connection *c)
{
    const struct timeval moment = {.tv_usec = 200000};

    if (!c->unsent.first || c->process == c->shm->number)
        return;
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &moment, sizeof moment);
    fcntl(c->fd, F_SETFL, 0);
    send_waiting(c);
}

/* Strangers' sockets have room for the little that is said to them. */
static void say(const struct shm_connection *c, struct shm_greeting g)
{
    g.from = c->own;
    g.to = c->other;
    g.count = c->shm->count;
    g.process = c->shm->number;
    send_now(c->fd, &g, sizeof g, -1);
}

/* --- connections: the control thread, with the lock held -------------------------------- */

static bool is_own_user(int socket)
{
    struct ucred other;
    socklen_t size = sizeof other;

    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
           other.uid == geteuid();
}

/* Takes the socket. */
static struct shm_connection *new_connection(struct shm *s, int fd)
{
    struct shm_connection *c = fd < 0 ? NULL : calloc(1, sizeof *c);

    if (!c || loco_nonce_new(&c->nonce)) {
        free(c);
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    c->shm = s;
    c->fd = fd;
    for (int i = 0; i < SHM_FILES; i++)
        c->files[i] = -1;
    c->next = s->connections;
    s->connections = c;
    shm_watch(s, EPOLL_CTL_ADD, fd, c, EPOLLIN);
    return c;
}

static bool is_stranger(const struct shm_connection *c)
{
    return !c->called && !c->proven;
}

static void drop(struct shm_connection *c)
{
    struct shm_connection **at = &c->shm->connections;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    c->shm->strangers -= is_stranger(c);
    loco_unsent_clear(&c->unsent);
    for (int i = 0; i < SHM_FILES; i++)
        if (c->files[i] >= 0)
            close(c->files[i]);
    close(c->fd);
    free(c);
}

void shm_drop_connections(struct shm *s)
{
    while (s->connections) {
        send_rest(s->connections);
        drop(s->connections);
    }
}

static void drop_strangers(struct shm *s, uint64_t older_than)
{
    struct shm_connection *next;

    for (struct shm_connection *c = s->connections; c; c = next) {
        next = c->next;
        if (is_stranger(c) && c->until <= older_than)
            drop(c);
    }
}

int shm_tend_strangers(struct shm *s)
{
    if (!s->strangers)
        return -1;
    drop_strangers(s, loco_host_clock(NULL));
    return s->strangers ? LOOK_MS : -1;
}

static struct shm_connection *call(struct shm_node *n, uint32_t peer, const struct sockaddr_un *a)
{
    struct shm_connection *c = new_connection(n->shm, shm_new_socket());

    if (!c)
        return NULL;
    c->called = true;
    if (connect(c->fd, (const struct sockaddr *)a, sizeof *a) || !is_own_user(c->fd)) {
        drop(c);
        return NULL; /* not there yet: tried again */
    }
    c->own = n->base.id;
    c->other = peer;
    say(c, (struct shm_greeting){.kind = SHM_HELLO, .nonce = c->nonce});
    return c;
}

struct shm_connection *shm_call(struct shm_node *n, uint32_t peer)
{
    const struct sockaddr_un a = shm_address_of(n->shm, peer);
    const struct shm_place place = shm_place_at(&a);
    struct shm_connection *c = n->shm->connections;

    if (!place.file)
        return NULL;
    while (c && !shm_same_place(c->place, place))
        c = c->next;
    if (c)
        return c;
    c = call(n, peer, &a);
    if (c)
        c->place = place;
    return c;
}

/* Where there are too many strangers the one that was here for longest goes: a process needs only
 * moments for its proof. */
static void drop_oldest_stranger(struct shm *s)
{
    struct shm_connection *oldest = NULL;

    for (struct shm_connection *c = s->connections; c; c = c->next)
        if (is_stranger(c))
            oldest = c;
    drop(oldest);
}

static void add_stranger(struct shm *s, int fd)
{
    if (s->strangers == SHM_STRANGERS_MAX + s->count)
        drop_oldest_stranger(s);
    struct shm_connection *c = new_connection(s, fd);
    if (!c)
        return;
    c->until = loco_host_clock(NULL) + SHM_STRANGER_NS;
    s->strangers++;
}

/* After accept() has failed. Returns whether it is to be told. */
static bool rest_listener(struct shm *s, int error)
{
    const bool told = s->rest.told;

    if (!loco_rest_begin(&s->rest, error, loco_host_clock(NULL)))
        return false;
    shm_watch(s, EPOLL_CTL_MOD, s->listener, s, 0);
    s->rest.told = true;
    return !told;
}

int shm_tend_listener(struct shm *s)
{
    if (loco_rest_end(&s->rest, loco_host_clock(NULL)) && s->listener >= 0)
        shm_watch(s, EPOLL_CTL_MOD, s->listener, s, EPOLLIN);
    return s->rest.until ? LOOK_MS : -1;
}

static void warn_of_rest(struct shm_node *n, int error)
{
    char text[160];

    snprintf(text, sizeof text, "node %u cannot accept connections: %s; it goes on trying",
             n->base.id, strerror(error));
    shm_warn(n, text);
}

void shm_accept(struct shm *s)
{
    pthread_mutex_lock(&s->lock);
    int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    const int error = errno;
    struct shm_node *n = s->nodes;
    bool own = fd >= 0 && is_own_user(fd), rests = fd < 0 && rest_listener(s, error);
    if (own)
        add_stranger(s, fd);
    pthread_mutex_unlock(&s->lock);
    if (rests && n)
        warn_of_rest(n, error);
    if (fd < 0 || own)
        return;
    close(fd);
    if (shm_is_worth_saying(s))
        shm_warn(n, "a process of another user was refused");
}

/* --- greetings; each returns whether the connection may stay ------------------------------- */

static const char *name_reason(uint64_t reason)
{
    return reason == SHM_FOREIGN ? "another network" : "it does not know this network's secret";
}

/* A stranger is told who is here and why it may not stay, so that its user learns of it too. */
static bool refuse(struct shm_connection *c, uint32_t count, enum shm_reason reason)
{
    struct shm *s = c->shm;
    struct shm_node *n = node_of(s, c->own);
    char text[160];

    say(c, (struct shm_greeting){.kind = SHM_REFUSAL, .reason = reason});
    if (c->called)
        shm_peer_refused(c, false);
    if (!n || !shm_is_worth_saying(s))
        return false;
    snprintf(text, sizeof text, "node %u (of %u) met a node that says it is node %u of %u: %s",
             c->own, s->count, c->other, count, name_reason(reason));
    shm_warn(n, text);
    return false;
}

/* The core is told of a foreigner who knows the secret, and of no other. */
static bool refuse_foreigner(struct shm_connection *c, uint32_t count)
{
    struct shm_node *n = node_of(c->shm, c->own);

    refuse(c, count, SHM_FOREIGN);
    if (n && n->base.events.foreigner)
        n->base.events.foreigner(n->base.events.arg, count);
    return false;
}

static bool hear_refusal(struct shm_connection *c, const struct shm_greeting *g)
{
    struct shm *s = c->shm;
    struct shm_node *n = node_of(s, c->own);
    char text[160];

    if (!c->called || c->proven)
        return false;
    shm_peer_refused(c, g->reason == SHM_ABSENT);
    if (!n || g->reason == SHM_ABSENT || !shm_is_worth_saying(s))
        return false;
    snprintf(text, sizeof text,
             "node %u (of %u) was refused by a node that says it is %u of %u: %s", c->own, s->count,
             g->from, g->count,
             g->reason == SHM_FOREIGN ? "another network" : "it has another secret");
    shm_warn(n, text);
    return false;
}

/* The other has proven itself: from now on it is heard. */
static bool welcome(struct shm_connection *c, uint64_t process)
{
    struct shm *s = c->shm;

    pthread_mutex_lock(&s->lock);
    s->strangers -= is_stranger(c);
    c->proven = true;
    c->process = process;
    pthread_mutex_unlock(&s->lock);
    return true;
}

/* Who calls says who it is, and is asked for a proof. */
static bool on_hello(struct shm_connection *c, const struct shm_greeting *g)
{
    if (c->called || c->claim.purpose)
        return false;
    c->own = g->to;
    c->other = g->from;
    if (!node_of(c->shm, g->to)) {
        say(c, (struct shm_greeting){.kind = SHM_REFUSAL, .reason = SHM_ABSENT});
        return false;
    }
    if (g->from <= g->to || g->from >= g->count)
        return refuse(c, g->count, SHM_FOREIGN);
    const struct loco_claim mine =
        loco_claim_of(SHM_OF_ANSWER, g->to, g->from, g->count, &g->nonce, &c->nonce);
    c->claim = loco_claim_of(SHM_OF_PROOF, g->from, g->to, g->count, &c->nonce, &g->nonce);
    say(c, (struct shm_greeting){
               .kind = SHM_ANSWER, .nonce = c->nonce, .proof = loco_prove(&c->shm->key, &mine)});
    return true;
}

/* The connection that there is to this process already; NULL: there is none. */
static struct shm_connection *other_to(const struct shm_connection *connection, uint64_t process)
{
    struct shm_connection *c = connection->shm->connections;

    while (c && (c == connection || !c->proven || c->process != process))
        c = c->next;
    return c;
}

static bool on_answer(struct shm_connection *c, const struct shm_greeting *g)
{
    const struct shm *s = c->shm;

    if (!c->called || c->proven)
        return false;
    const struct loco_claim theirs =
        loco_claim_of(SHM_OF_ANSWER, c->other, c->own, s->count, &c->nonce, &g->nonce);
    const struct loco_claim mine =
        loco_claim_of(SHM_OF_PROOF, c->own, c->other, s->count, &g->nonce, &c->nonce);
    bool right = loco_proves(&s->key, &theirs, &g->proof);
    struct shm_connection *same = right ? other_to(c, g->process) : NULL;
    if (same) {
        same->place = c->place;
        return false;
    }
    /* Where theirs is wrong too, so that the other says so. */
    say(c, (struct shm_greeting){.kind = SHM_PROOF, .proof = loco_prove(&s->key, &mine)});
    if (right && g->count == s->count)
        return welcome(c, g->process);
    return right ? refuse_foreigner(c, g->count) : refuse(c, g->count, SHM_UNPROVEN);
}

static bool on_proof(struct shm_connection *c, const struct shm_greeting *g)
{
    const uint32_t count = c->claim.count;

    if (c->called || c->proven || !c->claim.purpose)
        return false;
    if (!loco_proves(&c->shm->key, &c->claim, &g->proof))
        return refuse(c, count, SHM_UNPROVEN);
    return count == c->shm->count ? welcome(c, g->process) : refuse_foreigner(c, count);
}

static bool on_greeting(struct shm_connection *c, const struct shm_greeting *g)
{
    switch (g->kind) {
    case SHM_HELLO:
        return on_hello(c, g);
    case SHM_ANSWER:
        return on_answer(c, g);
    case SHM_PROOF:
        return on_proof(c, g);
    default:
        return hear_refusal(c, g);
    }
}

/* --- messages --------------------------------------------------------------------------- */

/* Keeps the descriptor. */
static bool on_file(struct shm_connection *c, const struct shm_file_notice *notice, int *fd)
{
    if (notice->file >= SHM_FILES || c->files[notice->file] >= 0)
        return false;
    c->files[notice->file] = *fd; /* -1: the kernel had no room for it */
    *fd = -1;
    return true;
}

/* Only a memory file comes with a descriptor. */
static bool handle(struct shm_connection *c, const unsigned char *data, size_t size, int *fd)
{
    union {
        uint32_t kind;
        struct shm_greeting greeting;
        struct shm_file_notice file;
        struct shm_head head;
    } m;

    if (size < sizeof m.kind)
        return false;
    memcpy(&m, data, size < sizeof m ? size : sizeof m);
    if (*fd >= 0 && m.kind != SHM_FILE)
        return false;
    if (m.kind >= SHM_HELLO && m.kind <= SHM_REFUSAL)
        return size == sizeof m.greeting && on_greeting(c, &m.greeting);
    if (!c->proven)
        return false;
    if (m.kind == SHM_FILE)
        return size == sizeof m.file && on_file(c, &m.file, fd);
    return size >= sizeof m.head && shm_on_message(c, &m.head, data, size);
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
static int receive(struct shm_connection *c)
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
    ssize_t size = recvmsg(c->fd, &message, MSG_CMSG_CLOEXEC);
    int fd;

    /* A process that closed before it had read all is told of first, and once: what it said last,
     * such as why it refuses, is still there. */
    if (size < 0 && errno == ECONNRESET)
        size = recvmsg(c->fd, &message, MSG_CMSG_CLOEXEC);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (!take_descriptor(&message, &fd) || size == 0)
        return -1;
    bool stay = !(message.msg_flags & MSG_TRUNC) && handle(c, data, (size_t)size, &fd);
    if (fd >= 0)
        close(fd);
    return stay ? 1 : -1;
}

static void hang_up(struct shm_connection *c)
{
    struct shm *s = c->shm;

    shm_connection_lost(c);
    pthread_mutex_lock(&s->lock);
    drop(c);
    pthread_mutex_unlock(&s->lock);
}

/* All that a connection has to say, but not so much that others are never heard; and it may be
 * over. */
void shm_hear(struct shm_connection *c)
{
    enum { AT_ONCE = 256 };
    int more = 1;

    c->heard = true;
    for (int i = 0; i < AT_ONCE && more > 0; i++)
        more = receive(c);
    c->heard = false;
    if (more < 0)
        hang_up(c);
}

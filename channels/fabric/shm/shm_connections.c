/*
 * How two processes of the shm fabric are connected. One calls the other's socket, because a node
 * of its own is to meet a node there. Both prove that they know the network's secret. From then on
 * all nodes of both processes use the connection. Two processes have one connection, or two if both
 * called at the same time.
 *
 * A caller is a stranger until it has proven itself. Connections to strangers are limited in time
 * and in number, by the limits in shm_internal.h.
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

/* --- sending: with the lock held ------------------------------------------------------ */

static int connection_send_now(int socket, const void *data, size_t size, int fd)
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
    return errno == EPIPE ? -ECONNRESET : -errno; /* the control thread will notice the end */
}

static int connection_enqueue(struct shm_connection *c, const void *data, size_t size, int fd)
{
    const bool first = !c->unsent.first;
    struct loco_send_queue_message *m = loco_send_queue_add(&c->unsent, data, size, NULL, 0);

    if (!m)
        return -ENOMEM;
    m->descriptor = fd;
    if (first)
        shm_watch(c->shm, EPOLL_CTL_MOD, c->fd, c, EPOLLIN | EPOLLOUT);
    return 0;
}

int shm_post(struct shm_connection *c, const void *data, size_t size, int fd)
{
    int rc = c->unsent.first ? -EAGAIN : connection_send_now(c->fd, data, size, fd);

    return rc == -EAGAIN ? connection_enqueue(c, data, size, fd) : rc;
}

int shm_post_file(struct shm_connection *c, uint32_t file)
{
    const struct shm_file_notice notice = {.kind = SHM_FILE, .file = file};

    if (c->has_file[file])
        return 0;
    int rc = shm_post(c, &notice, sizeof notice, c->shm->files[file].fd);
    c->has_file[file] = !rc;
    return rc;
}

/* Sends queued messages, as far as the socket takes them. Returns whether none are left. */
static bool connection_send_waiting(struct shm_connection *c)
{
    while (c->unsent.first) {
        const struct loco_send_queue_message *m = c->unsent.first;
        if (connection_send_now(c->fd, m->data, m->size, m->descriptor) == -EAGAIN)
            return false;
        loco_send_queue_take_off(
            &c->unsent); /* after another error the connection is over anyway */
    }
    return true;
}

void shm_send_queued(struct shm_connection *c)
{
    if (connection_send_waiting(c))
        shm_watch(c->shm, EPOLL_CTL_MOD, c->fd, c, EPOLLIN);
}

/* Before a connection is closed: its last messages say that the nodes leave in order, so this waits
 * a little for a slow receiver. Nothing is received any more. */
static void connection_send_rest(struct shm_connection *c)
{
    const struct timeval moment = {.tv_usec = 200000};

    if (!c->unsent.first || c->greet.process == c->shm->self.process)
        return;
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &moment, sizeof moment);
    fcntl(c->fd, F_SETFL, 0);
    connection_send_waiting(c);
}

/* --- connections: the control thread, with the lock held -------------------------------- */

static bool connection_is_own_user(int socket)
{
    struct ucred other;
    socklen_t size = sizeof other;

    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
           other.uid == geteuid();
}

/* Makes a stranger's connection of the socket, which it owns from now on. NULL, with the socket
 * closed, when there is no memory. */
static struct shm_connection *connection_new(struct shm *s, int fd)
{
    struct shm_connection *c = fd < 0 ? NULL : calloc(1, sizeof *c);

    if (!c) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    c->shm = s;
    c->fd = fd;
    c->self = s->self;
    c->until = loco_host_clock(NULL) + CONTROL_GREETING_NS;
    c->process_fd = -1;
    for (int i = 0; i < SHM_FILES; i++)
        c->files[i] = -1;
    c->next = s->connections;
    s->connections = c;
    s->strangers++;
    shm_watch(s, EPOLL_CTL_ADD, fd, c, EPOLLIN);
    return c;
}

static void connection_drop(struct shm_connection *c)
{
    struct shm_connection **at = &c->shm->connections;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    c->shm->strangers -= !c->greet.proven;
    loco_send_queue_clear(&c->unsent);
    for (int i = 0; i < SHM_FILES; i++)
        if (c->files[i] >= 0)
            close(c->files[i]);
    if (c->process_fd >= 0)
        close(c->process_fd);
    close(c->fd);
    free(c);
}

void shm_drop_connections(struct shm *s)
{
    while (s->connections) {
        connection_send_rest(s->connections);
        connection_drop(s->connections);
    }
}

static void strangers_drop(struct shm *s, uint64_t older_than)
{
    struct shm_connection *next;

    for (struct shm_connection *c = s->connections; c; c = next) {
        next = c->next;
        if (!c->greet.proven && c->until <= older_than)
            connection_drop(c);
    }
}

int shm_tend_strangers(struct shm *s)
{
    if (!s->strangers)
        return -1;
    strangers_drop(s, loco_host_clock(NULL));
    return LOOK_MS; /* a process that did not answer is called again */
}

static struct shm_connection *connection_call(struct shm_node *n, uint32_t peer,
                                              const struct sockaddr_un *a)
{
    struct shm_connection *c = connection_new(n->shm, shm_new_socket());

    if (!c)
        return NULL;
    c->self.id = n->base.id;
    if (connect(c->fd, (const struct sockaddr *)a, sizeof *a) || !connection_is_own_user(c->fd) ||
        control_greet_call(&c->greet, &c->self, peer) || !control_greet_hello(&c->greet, c->fd)) {
        connection_drop(c);
        return NULL; /* not there yet; the caller tries again */
    }
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
    c = connection_call(n, peer, &a);
    if (c)
        c->place = place;
    return c;
}

/* Makes room for another stranger. A process of this network proves itself at once, so the oldest
 * stranger is the one to drop. */
static void strangers_drop_oldest(struct shm *s)
{
    struct shm_connection *oldest = NULL;

    for (struct shm_connection *c = s->connections; c; c = c->next)
        if (!c->greet.proven)
            oldest = c;
    connection_drop(oldest);
}

static void strangers_add(struct shm *s, int fd)
{
    if (s->strangers == SHM_STRANGERS_MAX + s->self.count)
        strangers_drop_oldest(s);
    struct shm_connection *c = connection_new(s, fd);
    if (c)
        control_greet_await(&c->greet, &c->self);
}

/* To be called when accept() has failed. Returns whether this rest is to be logged. */
static bool listener_rest(struct shm *s, int error)
{
    const bool told = s->rest.told;

    if (!loco_accept_backoff_begin(&s->rest, error, loco_host_clock(NULL)))
        return false;
    shm_watch(s, EPOLL_CTL_MOD, s->listener, s, 0);
    s->rest.told = true;
    return !told;
}

int shm_tend_listener(struct shm *s)
{
    if (loco_accept_backoff_end(&s->rest, loco_host_clock(NULL)) && s->listener >= 0)
        shm_watch(s, EPOLL_CTL_MOD, s->listener, s, EPOLLIN);
    return s->rest.until ? LOOK_MS : -1;
}

static void listener_warn(struct shm_node *n, int error)
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
    bool own = fd >= 0 && connection_is_own_user(fd), rests = fd < 0 && listener_rest(s, error);
    if (own)
        strangers_add(s, fd);
    pthread_mutex_unlock(&s->lock);
    if (rests && n)
        listener_warn(n, error);
    if (fd < 0 || own)
        return;
    if (shm_is_worth_saying(s))
        shm_warn(n, "a process of another user was refused");
    close(fd);
}

void shm_connection_end(struct shm_connection *c)
{
    shutdown(c->fd, SHUT_RDWR);
}

/* --- messages --------------------------------------------------------------------------- */

/* Receives a memory file, and keeps its descriptor. */
static bool connection_on_file(struct shm_connection *c, const struct shm_file_notice *notice,
                               int *fd)
{
    if (notice->file >= SHM_FILES || c->files[notice->file] >= 0)
        return false;
    c->files[notice->file] = *fd; /* -1: the kernel had no room for it */
    *fd = -1;
    return true;
}

/* Only the message of a memory file may come with a descriptor. */
static bool connection_on_message(struct shm_connection *c, const unsigned char *data, size_t size,
                                  int *fd)
{
    union {
        uint32_t kind;
        struct shm_file_notice file;
        struct shm_head head;
    } m;

    if (size < sizeof m.kind)
        return false;
    memcpy(&m, data, size < sizeof m ? size : sizeof m);
    if (*fd >= 0 && m.kind != SHM_FILE)
        return false;
    if (m.kind == SHM_FILE)
        return size == sizeof m.file && connection_on_file(c, &m.file, fd);
    return size >= sizeof m.head && shm_on_message(c, &m.head, data, size);
}

/* A message has one descriptor at most. A stranger may send more, and the kernel opens as many as
 * the receive buffer has room for. So the buffer has room for several, to detect that. */
enum { DESCRIPTORS_MAX = 4 };

/* Takes the descriptor of a message; -1 if there is none. If there are several, closes them all and
 * returns false. */
static bool connection_take_descriptor(struct msghdr *message, int *fd)
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

/* Receives and handles one message. Returns 1, 0 when there is none, or -1: the connection is over.
 */
static int connection_receive(struct shm_connection *c)
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

    /* If the other process closed without reading everything, the kernel first reports that, once.
     * The last messages of that process, such as why it refuses, can still be read afterwards. */
    if (size < 0 && errno == ECONNRESET)
        size = recvmsg(c->fd, &message, MSG_CMSG_CLOEXEC);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (!connection_take_descriptor(&message, &fd) || size == 0)
        return -1;
    bool stay =
        !(message.msg_flags & MSG_TRUNC) && connection_on_message(c, data, (size_t)size, &fd);
    if (fd >= 0)
        close(fd);
    return stay ? 1 : -1;
}

static void connection_hang_up(struct shm_connection *c)
{
    struct shm *s = c->shm;

    shm_connection_lost(c);
    pthread_mutex_lock(&s->lock);
    connection_drop(c);
    pthread_mutex_unlock(&s->lock);
}

/* Handles at most AT_ONCE messages, so that other connections have their turn. What a process sent
 * before it ended is heard too. */
void shm_hear(struct shm_connection *c)
{
    enum { AT_ONCE = 256 };
    int more = 1;

    if (c->process_fd >= 0 && shm_process_has_ended(c->process_fd))
        shm_connection_end(c);
    c->heard = true;
    for (int i = 0; i < AT_ONCE && more > 0; i++)
        more = c->greet.proven ? connection_receive(c) : shm_greet(c);
    c->heard = false;
    if (more < 0)
        connection_hang_up(c);
}

/* The connections of loco/control.h. */
#include "../loco/control.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../fabric/addresses.h"
#include "../fabric/host_time.h"
#include "../fabric/sockets.h"
#include "../room.h"
#include "greet.h"
#include "stream.h"

enum { CONNECT_MS = 1000, SILENCE_S = 10, LOOK_MS = 1000 };

struct loco_connection {
    int fd;
    struct control_self self;
    struct control_greet greet;
    struct control_stream stream;
    const char *program;
    uint64_t until; /* all greetings end by then */
    char why[LOCO_WHY_BYTES];
};

/* --- sockets ---------------------------------------------------------------------------------- */

/* An end whose machine has not answered the kernel for SILENCE_S is gone. A machine that lost power
 * has forgotten the connection when it is back, so the next question, after a second, ends it. */
static void connection_set_options(int fd)
{
    loco_socket_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    loco_socket_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    loco_socket_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1);
    loco_socket_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
    loco_socket_set(fd, IPPROTO_TCP, TCP_KEEPCNT, SILENCE_S);
    loco_socket_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 1000 * SILENCE_S);
}

int loco_connect(const struct sockaddr *to, uint32_t to_size)
{
    const int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    int error = 0;

    if (fd < 0)
        return -errno;
    if (connect(fd, to, to_size) && errno != EINPROGRESS)
        error = errno;
    else if (poll(&look, 1, CONNECT_MS) < 1)
        error = ETIMEDOUT;
    else
        error = loco_socket_error(fd);
    connection_set_options(fd);
    if (!error)
        return fd;
    close(fd);
    return -error;
}

/* --- connections ------------------------------------------------------------------------------ */

static struct loco_connection *connection_new(const struct loco_party *own, int fd)
{
    struct loco_connection *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->fd = fd;
    c->self = (struct control_self){.magic = own->protocol,
                                    .version = (uint16_t)own->version,
                                    .purpose = own->purpose,
                                    .id = own->id,
                                    .count = own->count};
    loco_key_of(&c->self.key, own->secret);
    c->stream.most = own->most;
    c->program = own->program;
    c->until = loco_host_clock(NULL) + CONTROL_GREETING_NS;
    return c;
}

int loco_connection_accept(struct loco_connection **connection, int listener,
                           const struct loco_party *own)
{
    if (!loco_room_is_empty(own->room, sizeof own->room))
        return -EINVAL;
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return -errno;
    struct loco_connection *c = connection_new(own, fd);
    if (!c) {
        close(fd);
        return -ENOMEM;
    }
    connection_set_options(fd);
    control_greet_await(&c->greet, &c->self);
    *connection = c;
    return 0;
}

void loco_connection_close(struct loco_connection *c)
{
    if (!c)
        return;
    close(c->fd);
    control_stream_free(&c->stream);
    free(c);
}

int loco_connection_socket(const struct loco_connection *c, short *events)
{
    *events = c->stream.unsent.first ? POLLIN | POLLOUT : POLLIN;
    return c->fd;
}

const char *loco_connection_why(const struct loco_connection *c)
{
    return c->why;
}

uint32_t loco_connection_other(const struct loco_connection *c, uint32_t *count)
{
    *count = c->greet.other_count;
    return c->greet.other_id;
}

/* --- greetings -------------------------------------------------------------------------------- */

int loco_connection_welcome(struct loco_connection *c)
{
    return control_greet_welcome(&c->greet, c->fd) ? 0 : -ECONNRESET;
}

void loco_connection_refuse(struct loco_connection *c)
{
    control_greet_refuse(&c->greet, c->fd, LOCO_FOREIGN);
}

static int connection_refuse(struct loco_connection *c, enum loco_refusal why)
{
    const struct control_greeting *g = &c->greet.heard;

    if (why == LOCO_UNPROVEN)
        snprintf(c->why, sizeof c->why, "%s", loco_refusal_of(why));
    else if (g->magic == c->self.magic && g->version != c->self.version)
        snprintf(c->why, sizeof c->why, "it is of another version: %u there, %u here", g->version,
                 c->self.version);
    else
        snprintf(c->why, sizeof c->why,
                 c->greet.active ? "the program there is not %s" : "it is not %s", c->program);
    if (!c->greet.active)
        control_greet_refuse(&c->greet, c->fd, why);
    return -EACCES;
}

/* The other end refuses this one; that is final if it has proven that it knows the secret. */
static int connection_hear_refusal(struct loco_connection *c)
{
    const char *why = loco_refusal_by(c->greet.heard.refusal);

    snprintf(c->why, sizeof c->why, "%s", why ? why : "it refused this process");
    return control_greet_is_foreign(&c->greet) ? -EPROTO : -EACCES;
}

static int connection_greet(struct loco_connection *c, struct loco_control_message *m)
{
    switch (control_greet_hear(&c->greet, c->fd)) {
    case CONTROL_NOTHING:
        return loco_host_clock(NULL) < c->until ? 0 : -ETIMEDOUT;
    case CONTROL_CALLED:
        return control_greet_challenge(&c->greet, c->fd) ? 0 : -ECONNRESET;
    case CONTROL_PROVEN:
        *m = (struct loco_control_message){.kind = LOCO_PROVEN};
        return 1;
    case CONTROL_UNPROVEN:
        return connection_refuse(c, LOCO_UNPROVEN);
    case CONTROL_REFUSED:
        return connection_hear_refusal(c);
    case CONTROL_ENDED:
        return -ECONNRESET;
    default:
        return connection_refuse(c, LOCO_UNKNOWN);
    }
}

/* --- messages --------------------------------------------------------------------------------- */

int loco_connection_hear(struct loco_connection *c, struct loco_control_message *m)
{
    if (!c->greet.proven)
        return connection_greet(c, m);
    const int rc = control_stream_send(&c->stream, c->fd);
    return rc ? rc : control_stream_take(&c->stream, c->fd, m);
}

int loco_connection_await(struct loco_connection *c, struct loco_control_message *m, uint64_t until)
{
    int rc;

    while ((rc = loco_connection_hear(c, m)) == 0) {
        struct pollfd look;
        look.fd = loco_connection_socket(c, &look.events);
        if (loco_host_clock(NULL) >= until)
            return -EAGAIN;
        poll(&look, 1, loco_host_poll_ms(until, LOOK_MS));
    }
    return rc;
}

int loco_connection_post(struct loco_connection *c, uint32_t kind, const void *body, size_t size)
{
    return control_stream_post(&c->stream, c->fd, kind, body, size);
}

/* --- calling ---------------------------------------------------------------------------------- */

/* Connects to the first address that answers. Returns a socket, or a negative errno. */
static int call_host(const char *host, uint16_t port, char why[LOCO_WHY_BYTES])
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found;
    char service[8];
    int fd = -EADDRNOTAVAIL;

    snprintf(service, sizeof service, "%u", port);
    const int rc = getaddrinfo(host, service, &hints, &found);
    snprintf(why, LOCO_WHY_BYTES, "%s", rc ? gai_strerror(rc) : loco_address_only_link_local);
    if (rc)
        return fd;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
        if (loco_address_is_link_local(at->ai_addr))
            continue;
        fd = loco_connect(at->ai_addr, at->ai_addrlen);
        snprintf(why, LOCO_WHY_BYTES, "%s", fd < 0 ? strerror(-fd) : "");
    }
    freeaddrinfo(found);
    return fd;
}

static int call_greet(struct loco_connection *c, char why[LOCO_WHY_BYTES])
{
    struct loco_control_message m;
    int rc = control_greet_call(&c->greet, &c->self, 0);

    if (!rc && !control_greet_hello(&c->greet, c->fd))
        rc = -ECONNRESET;
    if (!rc)
        rc = loco_connection_await(c, &m, c->until);
    if (rc == -EAGAIN)
        rc = -ETIMEDOUT;
    snprintf(why, LOCO_WHY_BYTES, "%s",
             c->why[0]           ? c->why
             : rc == -ETIMEDOUT  ? "the program there does not answer"
             : rc == -ECONNRESET ? "the program there ended the connection"
                                 : strerror(-rc));
    return rc > 0 ? 0 : rc;
}

int loco_connection_call(struct loco_connection **connection, const struct loco_party *own,
                         const char *host, uint16_t port, uint32_t *count, char why[LOCO_WHY_BYTES])
{
    snprintf(why, LOCO_WHY_BYTES, "a later version is needed");
    if (!loco_room_is_empty(own->room, sizeof own->room))
        return -EINVAL;
    const int fd = call_host(host, port, why);
    struct loco_connection *c = fd < 0 ? NULL : connection_new(own, fd);
    if (!c) {
        if (fd >= 0)
            close(fd);
        return fd < 0 ? fd : -ENOMEM;
    }
    const int rc = call_greet(c, why);
    *count = c->greet.other_count;
    if (rc)
        loco_connection_close(c);
    else
        *connection = c;
    return rc;
}

/*
 * How nodes connect, and which are refused; greet.c proves and asks for proofs. All of this runs
 * with the lock held.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../fabric/addresses.h"
#include "../fabric/host_time.h"
#include "../fabric/sockets.h"
#include "control.h"

enum { BUSY_POLL_US = 50, TAKEN_PATIENCE = 50 };

/* --- sockets ------------------------------------------------------------------------------ */

static void meet_set_options(const struct control_node *n, int fd)
{
    loco_socket_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    loco_socket_set(fd, IPPROTO_TCP, TCP_QUICKACK, 0); /* no packet for each one received */
    loco_socket_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)n->control->timeout_ms);
    loco_socket_set(fd, SOL_SOCKET, SO_BUSY_POLL, BUSY_POLL_US);
}

static struct sockaddr_storage meet_address_of(const struct control_node *n, uint32_t id)
{
    return loco_address_with_port(&n->addresses[id], (uint16_t)(n->control->port + id));
}

int control_connect_start(const struct control_node *n, uint32_t peer)
{
    const struct sockaddr_storage from = loco_address_with_port(&n->addresses[n->base.id], 0);
    const struct sockaddr_storage to = meet_address_of(n, peer);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    meet_set_options(n, fd);
    loco_socket_set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    if (!bind(fd, (const struct sockaddr *)&from, loco_address_size(&from)) &&
        (!connect(fd, (const struct sockaddr *)&to, loco_address_size(&to)) ||
         errno == EINPROGRESS))
        return fd;
    int rc = -errno;
    close(fd);
    return rc;
}

int control_listen(struct control_node *n)
{
    const struct sockaddr_storage a = meet_address_of(n, n->base.id);
    const int fd = loco_listen((const struct sockaddr *)&a, loco_address_size(&a), true);

    if (fd < 0)
        return fd;
    n->listener = (struct control_end){.listens = true, .fd = fd, .node = n};
    const int rc = control_watch(n->control, &n->listener, EPOLLIN);
    if (rc)
        close(fd);
    return rc;
}

/* --- greetings ---------------------------------------------------------------------------- */

/* Limits the warnings, so that a stranger who keeps coming does not fill the log. */
static bool meet_is_worth_saying(struct control_node *n)
{
    return n->refusals++ < CONTROL_REFUSALS_SAID;
}

static void meet_warn(struct control_node *n, uint32_t id, uint32_t count, const char *why)
{
    control_warn(n, "node %u (of %u) met a node that says it is node %u of %u: %s", n->base.id,
                 n->base.count, id, count, why);
}

void control_warn_of(struct control_node *n, uint32_t id, uint32_t count, const char *why)
{
    if (meet_is_worth_saying(n))
        meet_warn(n, id, count, why);
}

/* --- the called end ----------------------------------------------------------------------- */

void control_refuse(struct control_connection *c, enum loco_refusal why)
{
    control_greet_refuse(&c->greet, c->end.fd, why);
    control_connection_drop(c);
}

static void meet_refuse_stranger(struct control_connection *c, enum loco_refusal why)
{
    control_warn_of(c->end.node, c->greet.other_id, c->greet.other_count, loco_refusal_of(why));
    control_refuse(c, why);
}

bool control_is_at_home(int fd, const struct sockaddr_storage *home)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;

    return !getpeername(fd, (struct sockaddr *)&from, &size) &&
           loco_address_same_host((struct sockaddr *)&from, home);
}

static bool meet_is_at_a_home(const struct control_connection *c)
{
    uint32_t id = 0;

    while (id < c->end.node->base.count &&
           !control_is_at_home(c->end.fd, &c->end.node->addresses[id]))
        id++;
    return id < c->end.node->base.count;
}

/* Whether the caller could be a peer. Its number of nodes may still differ. */
static bool meet_is_one_of_us(const struct control_connection *c)
{
    const struct control_greeting *g = &c->greet.heard;

    return g->to == c->end.node->base.id && g->from > g->to && g->from < g->count;
}

static void meet_hear_hello(struct control_connection *c)
{
    struct control_node *n = c->end.node;
    const struct control_greeting *g = &c->greet.heard;

    if (!meet_is_one_of_us(c))
        meet_refuse_stranger(c, LOCO_FOREIGN);
    else if (g->count == n->base.count ? !control_is_at_home(c->end.fd, &n->addresses[g->from])
                                       : !meet_is_at_a_home(c))
        meet_refuse_stranger(c, LOCO_STRAY);
    else if (!control_greet_challenge(&c->greet, c->end.fd))
        control_connection_drop(c);
}

void control_forget_stranger(struct control_connection *c)
{
    struct control_node *n = c->end.node;

    for (struct control_connection **at = &n->strangers; *at; at = &(*at)->next) {
        if (*at == c) {
            *at = c->next;
            n->stranger_count--;
            break;
        }
    }
}

/* Moves the connection from the strangers to its peer. */
static void meet_admit(struct control_connection *c, struct control_peer *p)
{
    control_forget_stranger(c);
    c->peer = p;
    p->connection = c;
}

/* If the peer has another connection that was never established, it has given that attempt up. */
static void meet_accept_control(struct control_connection *c)
{
    struct control_peer *p = &c->end.node->peers[c->greet.other_id];

    if (p->connection && !p->connection->established)
        control_connection_drop(p->connection);
    if (p->connection || p->lost) {
        control_refuse(c, LOCO_TAKEN);
        return;
    }
    meet_admit(c, p);
    if (!control_greet_welcome(&c->greet, c->end.fd))
        control_connection_drop(c);
}

/* The caller has proven itself. */
static void meet_hear_caller(struct control_connection *c)
{
    struct control_node *n = c->end.node;
    const uint32_t count = c->greet.other_count;

    if (count == n->base.count) {
        meet_accept_control(c);
        return;
    }
    control_warn_of(n, c->greet.other_id, count, loco_refusal_of(LOCO_FOREIGN));
    control_tell_foreigner(n, count);
    control_refuse(c, LOCO_FOREIGN);
}

/* --- the calling end ---------------------------------------------------------------------- */

/* Any program may say anything. The right one may come later, so the peer is called again, but not
 * as often. */
static bool meet_warn_once(struct control_peer *p)
{
    const bool first = !p->warned;

    p->warned = true;
    p->attempts = CONTROL_PATIENCE;
    return first;
}

static void meet_hear_impostor(struct control_connection *c)
{
    const struct control_node *n = c->end.node;

    if (meet_warn_once(c->peer))
        control_warn(c->end.node,
                     "node %u (of %u): at node %u's address is a program that does not know this "
                     "network's secret",
                     n->base.id, n->base.count, c->peer->id);
    control_connection_drop(c);
}

static void meet_hear_refusal(struct control_connection *c)
{
    const struct control_greeting *g = &c->greet.heard;
    const char *mismatch = loco_refusal_by(g->refusal);
    struct control_node *n = c->end.node;
    struct control_peer *p = c->peer;

    if (mismatch && meet_warn_once(p))
        meet_warn(n, g->from, g->count, mismatch);
    else if (!mismatch && g->refusal == LOCO_TAKEN && p->attempts == TAKEN_PATIENCE)
        control_warn(n, "node %u (of %u): node %u says that this place is taken", n->base.id,
                     n->base.count, p->id);
    if (control_greet_is_foreign(&c->greet))
        control_tell_foreigner(n, g->count);
    control_connection_drop(c);
}

/* --- connections -------------------------------------------------------------------------- */

static struct control_connection *meet_new_connection(struct control_node *n, int fd)
{
    struct control_connection *c = calloc(1, n->control->hooks->connection_size);

    if (!c)
        return NULL;
    c->end = (struct control_end){.fd = fd, .node = n};
    c->stream.most = CONTROL_MESSAGE_MAX;
    c->until = loco_host_clock(NULL) + CONTROL_GREETING_NS;
    return c;
}

void control_call(struct control_node *n, struct control_peer *p)
{
    int fd = control_connect_start(n, p->id);
    struct control_connection *c = fd < 0 ? NULL : meet_new_connection(n, fd);

    if (fd >= 0 && !c)
        close(fd);
    if (!c)
        return;
    c->connecting = true;
    c->peer = p;
    p->connection = c;
    if (control_greet_call(&c->greet, &n->self, p->id) ||
        control_watch(n->control, &c->end, EPOLLOUT))
        control_connection_drop(c);
}

/* The list begins with the newest. */
static void meet_drop_oldest_stranger(struct control_node *n)
{
    struct control_connection *c = n->strangers;

    while (c->next)
        c = c->next;
    control_connection_drop(c);
}

/* After accept() has failed. */
static void meet_rest_listener(struct control_node *n, int error)
{
    if (!loco_accept_backoff_begin(&n->rest, error, loco_host_clock(NULL)))
        return;
    control_watch(n->control, &n->listener, 0);
    atomic_store(&n->control->due, true);
    if (!n->rest.told)
        control_warn(n, "node %u cannot accept connections: %s; it goes on trying", n->base.id,
                     strerror(error));
    n->rest.told = true;
}

bool control_tend_listener(struct control_node *n, uint64_t now)
{
    if (loco_accept_backoff_end(&n->rest, now) && n->listener.fd >= 0)
        control_watch(n->control, &n->listener, EPOLLIN);
    return n->rest.until;
}

void control_accept(struct control_node *n)
{
    int fd = accept4(n->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0) {
        meet_rest_listener(n, errno);
        return;
    }
    struct control_connection *c = meet_new_connection(n, fd);
    if (!c) {
        close(fd);
        return;
    }
    control_greet_await(&c->greet, &n->self);
    meet_set_options(n, fd);
    if (n->stranger_count == CONTROL_STRANGERS_MAX + n->base.count)
        meet_drop_oldest_stranger(n);
    c->next = n->strangers;
    n->strangers = c;
    n->stranger_count++;
    atomic_store(&n->control->due, true);
    if (control_watch(n->control, &c->end, EPOLLIN))
        control_connection_drop(c);
}

bool control_tend_strangers(struct control_node *n, uint64_t now)
{
    for (struct control_connection *c = n->strangers, *next; c; c = next) {
        next = c->next;
        if (now >= c->until)
            control_connection_drop(c);
    }
    return n->strangers;
}

static void meet_go_on_calling(struct control_connection *c)
{
    if (loco_socket_error(c->end.fd)) {
        control_connection_drop(c);
        return;
    }
    c->connecting = false;
    if (!control_greet_hello(&c->greet, c->end.fd) ||
        control_watch(c->end.node->control, &c->end, EPOLLIN))
        control_connection_drop(c);
}

void control_warn_of_program(struct control_node *n)
{
    if (meet_is_worth_saying(n))
        control_warn(n, "node %u (of %u) met a program that is none of this version's nodes",
                     n->base.id, n->base.count);
}

static void meet_warn_of_language(struct control_node *n, const struct control_greeting *g)
{
    if (g->magic != n->self.magic)
        control_warn_of_program(n);
    else if (meet_is_worth_saying(n))
        control_warn(n, "node %u (of %u) met a node of another version: %u there, %u here",
                     n->base.id, n->base.count, g->version, n->self.version);
}

/* Refuses a program of another version, or of another kind. */
static void meet_refuse_language(struct control_connection *c)
{
    meet_warn_of_language(c->end.node, &c->greet.heard);
    control_refuse(c, LOCO_UNKNOWN);
}

/* Waits for the caller's first message. */
static void meet_hear_here(struct control_connection *c)
{
    struct loco_control_message m;
    const int rc = control_stream_take(&c->stream, c->end.fd, &m);

    if (rc < 0 || (rc && (m.kind != CONTROL_HERE || m.size)))
        control_connection_drop(c);
    else if (rc && control_establish(c))
        control_hear(c); /* what came with it */
}

static void meet_handle(struct control_connection *c, enum control_event event)
{
    switch (event) {
    case CONTROL_NOTHING:
        break;
    case CONTROL_CALLED:
        meet_hear_hello(c);
        break;
    case CONTROL_PROVEN:
        if (c->peer)
            control_establish(c);
        else
            meet_hear_caller(c);
        break;
    case CONTROL_UNPROVEN:
        if (c->peer)
            meet_hear_impostor(c);
        else
            meet_refuse_stranger(c, LOCO_UNPROVEN);
        break;
    case CONTROL_REFUSED:
        meet_hear_refusal(c);
        break;
    case CONTROL_LINKED:
        c->end.node->control->hooks->linked(c);
        break;
    case CONTROL_STRANGE:
        meet_refuse_language(c);
        break;
    case CONTROL_ENDED:
        control_connection_drop(c);
        break;
    }
}

void control_greet(struct control_connection *c)
{
    if (c->connecting)
        meet_go_on_calling(c);
    else if (c->greet.proven)
        meet_hear_here(c);
    else
        meet_handle(c, control_greet_hear(&c->greet, c->end.fd));
}

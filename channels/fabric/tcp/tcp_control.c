/*
 * Control connections: the messages on them, how a lost peer is noticed, and what happens then.
 * Functions are called with the fabric's lock held, except for those of the fabric's table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "tcp_internal.h"

enum { RETRY_MS = 100, RETRY_LATER_MS = 1000, FAREWELL_MS = 1000 };

bool tcp_is_up(const struct tcp_connection *c)
{
    return c && c->established && !c->down;
}

void tcp_connection_end(struct tcp_connection *c)
{
    c->down = true;
    tcp_wake(c->end.node->tcp);
}

static void control_warn_of_silence(const struct tcp_connection *c)
{
    struct tcp_node *n = c->end.node;

    tcp_warn(n, "node %u: nothing was heard of node %u for %u ms", n->base.id, c->peer->id,
             n->tcp->config.timeout_ms);
}

/* The kernel waits no longer than we do (TCP_USER_TIMEOUT), and may notice silence first. */
static void control_break(struct tcp_connection *c, int rc)
{
    if (!c->down && (rc == -ETIMEDOUT || rc == -EHOSTUNREACH || rc == -ENETUNREACH))
        control_warn_of_silence(c);
    tcp_connection_end(c);
}

/* --- sending -------------------------------------------------------------------------------- */

/* A peer that does not take its messages counts as lost. */
static void control_overrun(struct tcp_connection *c)
{
    tcp_warn(c->end.node, "node %u: node %u did not take %u MiB of control messages",
             c->end.node->base.id, c->peer->id, LOCO_UNSENT_MAX >> 20);
    tcp_connection_end(c);
}

/* Watches for what is to be heard, and for room for what waits. */
static void control_watch(struct tcp_connection *c)
{
    tcp_watch(c->end.node->tcp, &c->end, c->stream.unsent.first ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static int control_post(struct tcp_connection *c, enum tcp_kind kind, const void *body, size_t size)
{
    const int rc = control_stream_post(&c->stream, c->end.fd, kind, body, size);

    if (rc == -ENOBUFS)
        control_overrun(c);
    else if (rc)
        control_break(c, rc);
    control_watch(c);
    return rc == -ENOBUFS ? -ECONNRESET : rc == -ENOMEM ? rc : 0;
}

void tcp_post_arena(struct tcp_connection *c, uint32_t number)
{
    const struct tcp_arena_notice a = {.number = number, .size = c->end.node->own.at[number].size};

    control_post(c, TCP_ARENA, &a, sizeof a);
}

int tcp_send(struct loco_node *base, uint32_t peer, const void *message, size_t size)
{
    struct tcp_node *n = (struct tcp_node *)base;
    int rc = -ECONNRESET;

    if (size > TCP_MESSAGE_MAX)
        return -EMSGSIZE;
    pthread_mutex_lock(&n->tcp->lock);
    struct tcp_connection *c = n->peers[peer].connection;
    if (tcp_is_up(c))
        rc = control_post(c, TCP_CORE, message, size);
    pthread_mutex_unlock(&n->tcp->lock);
    return rc;
}

bool tcp_establish(struct tcp_connection *c)
{
    struct tcp_node *n = c->end.node;
    struct tcp_told *up = tcp_told_new(n, TCP_UP, c->peer->id);

    c->loss = tcp_told_new(n, TCP_LOST, c->peer->id);
    c->arenas = up && c->loss ? calloc(1, sizeof *c->arenas) : NULL;
    if (!c->arenas) {
        free(up);
        tcp_connection_drop(c);
        return false;
    }
    c->arenas->next = n->arenas;
    n->arenas = c->arenas;
    c->established = true;
    c->peer->attempts = 0;
    c->heard_ns = tcp_now();
    if (c->greet.active)
        control_post(c, TCP_HERE, NULL, 0);
    for (uint32_t i = 0; i < atomic_load(&n->own.count); i++)
        tcp_post_arena(c, i);
    tcp_tell(up);
    return true;
}

/* --- hearing -------------------------------------------------------------------------------- */

/* Notes an arena of the peer. A peer sends each once, in the order of their numbers. */
static bool control_learn_arena(struct tcp_connection *c, const unsigned char *body, size_t size)
{
    struct tcp_arena_notice a;

    if (size != sizeof a)
        return false;
    memcpy(&a, body, sizeof a);
    if (a.number >= TCP_ARENAS_MAX || c->arenas->at[a.number].size || !a.size ||
        (a.number > 0 && !c->arenas->at[a.number - 1].size))
        return false;
    __atomic_store_n(&c->arenas->at[a.number].size, a.size, __ATOMIC_RELEASE);
    return true;
}

/* Passes a message on to the core. Returns false if the core has too many to hear. */
static bool control_pass_on(struct tcp_connection *c, const unsigned char *body, size_t size)
{
    if (c->peer->untold + size > LOCO_UNSENT_MAX)
        return false;
    if (tcp_tell_message(c, body, size))
        tcp_connection_end(c);
    return true;
}

/* Handles a message; returns false for one that no node sends. */
static bool control_understand(struct tcp_connection *c, const struct loco_control_message *m)
{
    switch (m->kind) {
    case TCP_ARENA:
        return control_learn_arena(c, m->body, m->size);
    case TCP_CORE:
        return control_pass_on(c, m->body, m->size);
    case TCP_ALIVE:
        return m->size == 0;
    case TCP_BYE:
        c->bye = true;
        tcp_connection_end(c);
        return m->size == 0;
    default:
        return false;
    }
}

void tcp_hear(struct tcp_connection *c)
{
    const uint64_t before = c->stream.received;
    struct loco_control_message m;
    int rc = 0;

    while (!c->down && (rc = control_stream_take(&c->stream, c->end.fd, &m)) > 0)
        if (!control_understand(c, &m)) {
            rc = -EBADMSG;
            break;
        }
    if (c->stream.received != before)
        c->heard_ns = tcp_now();
    if (!rc)
        rc = control_stream_send(&c->stream, c->end.fd);
    if (rc == -EBADMSG)
        tcp_warn(c->end.node, "node %u: node %u sent what no node sends", c->end.node->base.id,
                 c->peer->id);
    if (rc < 0)
        control_break(c, rc);
    control_watch(c);
}

/* --- the loss of a peer --------------------------------------------------------------------- */

static bool control_leads_to(const struct tcp_connection *c, uint64_t process)
{
    return c && c->greet.proven && c->greet.process == process;
}

/* Whether any node of this process has a connection to that process. */
static bool control_is_connected_with(const struct tcp *t, uint64_t process)
{
    for (const struct tcp_node *n = t->nodes; n; n = n->next)
        for (uint32_t id = 0; id < n->base.count; id++)
            if (control_leads_to(n->peers[id].connection, process))
                return true;
    return false;
}

void tcp_connection_drop(struct tcp_connection *c)
{
    struct tcp_node *n = c->end.node;

    for (struct tcp_connection **at = &n->strangers; *at; at = &(*at)->next) {
        if (*at == c) {
            *at = c->next;
            n->stranger_count--;
            break;
        }
    }
    if (c->peer && c->peer->connection == c)
        c->peer->connection = NULL;
    if (c->greet.proven && !control_is_connected_with(n->tcp, c->greet.process))
        tcp_lanes_end(n->tcp, c->greet.process);
    control_stream_free(&c->stream);
    free(c->loss);
    tcp_bury(n->tcp, &c->end);
}

/* The peer is lost. After this, neither its operations nor its answers to this node's operations
 * change memory. */
static void control_lose(struct tcp_connection *c)
{
    struct tcp_node *n = c->end.node;
    struct tcp_peer *p = c->peer;

    tcp_targets_drop(n, p);
    tcp_links_break(n, c->arenas);
    p->lost = true;
    c->loss->news = c->bye ? TCP_LEFT : TCP_LOST;
    tcp_tell(c->loss);
    c->loss = NULL;
    p->try_at = tcp_now() + RETRY_MS * TCP_MS;
    tcp_connection_drop(c);
}

void tcp_link_failed(struct tcp_node *n, uint32_t peer, const struct tcp_arenas *arenas)
{
    struct tcp_connection *c = n->peers[peer].connection;

    if (tcp_is_up(c) && c->arenas == arenas && !c->doubt_ns)
        c->doubt_ns = tcp_now() + tcp_timeout_ns(n->tcp);
}

static bool control_is_silent(const struct tcp_connection *c, uint64_t now)
{
    return now >= c->heard_ns + tcp_timeout_ns(c->end.node->tcp);
}

/* Whether the peer has been silent for too long, or a link to it broke a while ago. Messages that
 * have arrived are handled before, as it may be this process that stood still. */
static bool control_is_over(struct tcp_connection *c, uint64_t now)
{
    const bool doubted = c->doubt_ns && now >= c->doubt_ns;

    if (!control_is_silent(c, now) && !doubted)
        return false;
    tcp_hear(c);
    return !c->down && (doubted || control_is_silent(c, now));
}

static void control_tend(struct tcp_connection *c, uint64_t now)
{
    const struct tcp *t = c->end.node->tcp;
    struct tcp_node *n = c->end.node;

    if (!c->down && now >= c->alive_ns) {
        c->alive_ns = now + tcp_timeout_ns(t) / 4;
        if (!n->leave_by)
            control_post(c, TCP_ALIVE, NULL, 0);
    }
    if (!c->down && control_is_over(c, now)) {
        if (control_is_silent(c, now))
            control_warn_of_silence(c);
        else
            tcp_warn(n, "node %u: a link to node %u broke", n->base.id, c->peer->id);
        c->down = true;
    }
    if (c->down)
        control_lose(c);
}

/* --- looking after peers -------------------------------------------------------------------- */

/* Whether the peer is missing and this node calls it: of each pair, the node with the higher id
 * does. */
static bool peer_is_missing(const struct tcp_node *n, const struct tcp_peer *p)
{
    const bool is_there = p->connection && p->connection->established;

    return p->asked && p->id < n->base.id && !is_there && !p->lost && !n->leave_by;
}

static void peer_call(struct tcp_node *n, struct tcp_peer *p, uint64_t now)
{
    if (p->connection || now < p->try_at)
        return;
    p->try_at = now + (++p->attempts > TCP_PATIENCE ? RETRY_LATER_MS : RETRY_MS) * TCP_MS;
    tcp_call(n, p);
}

bool tcp_tend_peers(struct tcp_node *n, uint64_t now)
{
    bool missing = false;

    for (uint32_t id = 0; id < n->base.count; id++) {
        struct tcp_peer *p = &n->peers[id];
        struct tcp_connection *c = p->connection;
        if (c && c->established)
            control_tend(c, now);
        else if (c && now >= c->until)
            tcp_connection_drop(c);
        if (peer_is_missing(n, p)) {
            peer_call(n, p, now);
            missing = true;
        }
    }
    return missing;
}

int tcp_meet(struct loco_node *base, uint32_t peer)
{
    struct tcp_node *n = (struct tcp_node *)base;

    pthread_mutex_lock(&n->tcp->lock);
    n->peers[peer].asked = true;
    pthread_mutex_unlock(&n->tcp->lock);
    if (peer < base->id)
        tcp_wake(n->tcp);
    return 0;
}

/* --- leaving -------------------------------------------------------------------------------- */

void tcp_leave(struct tcp_node *n, uint64_t now)
{
    n->leave_by = now + FAREWELL_MS * TCP_MS;
    close(n->listener.fd);
    n->listener.fd = -1;
    while (n->strangers)
        tcp_connection_drop(n->strangers);
    for (uint32_t id = 0; id < n->base.count; id++) {
        struct tcp_connection *c = n->peers[id].connection;
        if (c && !c->established)
            tcp_connection_drop(c);
        else if (tcp_is_up(c))
            control_post(c, TCP_BYE, NULL, 0);
    }
}

bool tcp_has_left(const struct tcp_node *n, uint64_t now)
{
    for (uint32_t id = 0; id < n->base.count; id++)
        if (n->peers[id].connection && now < n->leave_by)
            return false;
    return true;
}

/*
 * Control connections: the messages on them, how a lost peer is noticed, and what happens then.
 * All with the lock held, except for those of the fabric's table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../fabric/host_time.h"
#include "control.h"

enum { RETRY_MS = 100, RETRY_LATER_MS = 1000, FAREWELL_MS = 1000 };

bool control_is_up(const struct control_connection *c)
{
    return c && c->established && !c->down;
}

void control_connection_end(struct control_connection *c)
{
    c->down = true;
    control_wake(c->end.node->control);
}

static void control_warn_of_silence(const struct control_connection *c)
{
    struct control_node *n = c->end.node;

    control_warn(n, "node %u: nothing was heard of node %u for %u ms", n->base.id, c->peer->id,
                 n->control->timeout_ms);
}

/* The kernel waits no longer than we do (TCP_USER_TIMEOUT), and may notice silence first. */
static void control_break(struct control_connection *c, int rc)
{
    if (!c->down && (rc == -ETIMEDOUT || rc == -EHOSTUNREACH || rc == -ENETUNREACH))
        control_warn_of_silence(c);
    control_connection_end(c);
}

/* --- sending -------------------------------------------------------------------------------- */

/* A peer that does not take its messages counts as lost. */
static void control_overrun(struct control_connection *c)
{
    control_warn(c->end.node, "node %u: node %u did not take %u MiB of control messages",
                 c->end.node->base.id, c->peer->id, LOCO_SEND_QUEUE_MAX >> 20);
    control_connection_end(c);
}

/* Watches for what is to be heard, and for room for what waits. */
static void life_watch(struct control_connection *c)
{
    control_watch(c->end.node->control, &c->end,
                  c->stream.unsent.first ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

int control_post(struct control_connection *c, uint32_t kind, const void *body, size_t size)
{
    const int rc = control_stream_post(&c->stream, c->end.fd, kind, body, size);

    if (rc == -ENOBUFS)
        control_overrun(c);
    else if (rc)
        control_break(c, rc);
    life_watch(c);
    return rc == -ENOBUFS ? -ECONNRESET : rc == -ENOMEM ? rc : 0;
}

int control_send(struct loco_node *base, uint32_t peer, const void *message, size_t size)
{
    struct control_node *n = (struct control_node *)base;
    int rc = -ECONNRESET;

    if (size > CONTROL_MESSAGE_MAX)
        return -EMSGSIZE;
    pthread_mutex_lock(&n->control->lock);
    struct control_connection *c = n->peers[peer].connection;
    if (control_is_up(c))
        rc = control_post(c, CONTROL_CORE, message, size);
    pthread_mutex_unlock(&n->control->lock);
    return rc;
}

bool control_establish(struct control_connection *c)
{
    struct control_node *n = c->end.node;
    struct control_told *up = control_told_new(n, CONTROL_UP, c->peer->id);

    c->loss = control_told_new(n, CONTROL_LOST, c->peer->id);
    if (up && c->loss && c->greet.active)
        control_post(c, CONTROL_HERE, NULL, 0);
    if (!up || !c->loss || n->control->hooks->up(c)) {
        free(up);
        control_connection_drop(c);
        return false;
    }
    c->established = true;
    c->peer->attempts = 0;
    c->heard_ns = loco_host_clock(NULL);
    control_tell(up);
    return true;
}

/* --- hearing -------------------------------------------------------------------------------- */

/* Passes a message on to the core. Returns false if the core has too many to hear. */
static bool control_pass_on(struct control_connection *c, const unsigned char *body, size_t size)
{
    if (c->peer->untold + size > LOCO_SEND_QUEUE_MAX)
        return false;
    if (control_tell_message(c, body, size))
        control_connection_end(c);
    return true;
}

/* Handles a message; returns false for one that no node sends. */
static bool control_understand(struct control_connection *c, const struct loco_control_message *m)
{
    switch (m->kind) {
    case CONTROL_CORE:
        return control_pass_on(c, m->body, m->size);
    case CONTROL_ALIVE:
        return m->size == 0;
    case CONTROL_BYE:
        c->bye = true;
        control_connection_end(c);
        return m->size == 0;
    case CONTROL_OWN:
        return c->end.node->control->hooks->heard(c, m);
    default:
        return false;
    }
}

void control_hear(struct control_connection *c)
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
        c->heard_ns = loco_host_clock(NULL);
    if (!rc)
        rc = control_stream_send(&c->stream, c->end.fd);
    if (rc == -EBADMSG)
        control_warn(c->end.node, "node %u: node %u sent what no node sends", c->end.node->base.id,
                     c->peer->id);
    if (rc < 0)
        control_break(c, rc);
    life_watch(c);
}

/* --- the loss of a peer --------------------------------------------------------------------- */

static bool control_leads_to(const struct control_connection *c, uint64_t process)
{
    return c && c->greet.proven && c->greet.process == process;
}

bool control_is_connected_with(const struct control *ctl, uint64_t process)
{
    for (const struct control_node *n = ctl->nodes; n; n = n->next)
        for (uint32_t id = 0; id < n->base.count; id++)
            if (control_leads_to(n->peers[id].connection, process))
                return true;
    return false;
}

void control_connection_drop(struct control_connection *c)
{
    struct control_node *n = c->end.node;

    control_forget_stranger(c);
    if (c->peer && c->peer->connection == c)
        c->peer->connection = NULL;
    if (c->greet.proven)
        n->control->hooks->cut_off(c);
    control_stream_free(&c->stream);
    free(c->loss);
    control_bury(n->control, &c->end);
}

static void control_lose(struct control_connection *c)
{
    struct control_told *loss = c->loss;
    const bool left = c->bye;

    c->peer->lost = true;
    c->peer->try_at = loco_host_clock(NULL) + RETRY_MS * CONTROL_MS;
    c->loss = NULL;
    control_connection_drop(c);
    control_tell_loss(loss, left);
}

void control_doubt(struct control_connection *c, uint64_t patience_ns, const char *failure)
{
    if (c->doubt_ns)
        return;
    c->doubt_ns = loco_host_clock(NULL) + patience_ns;
    c->failure = failure;
    control_wake(c->end.node->control);
}

static bool control_is_silent(const struct control_connection *c, uint64_t now)
{
    return now >= c->heard_ns + control_timeout_ns(c->end.node->control);
}

/* Whether the peer has been silent for too long, or a link to it broke a while ago. Messages that
 * have arrived are handled before, as it may be this process that stood still. */
static bool control_is_over(struct control_connection *c, uint64_t now)
{
    const bool doubted = c->doubt_ns && now >= c->doubt_ns;

    if (!control_is_silent(c, now) && !doubted)
        return false;
    control_hear(c);
    return !c->down && (doubted || control_is_silent(c, now));
}

static void life_tend(struct control_connection *c, uint64_t now)
{
    const struct control *ctl = c->end.node->control;
    struct control_node *n = c->end.node;

    if (!c->down && now >= c->alive_ns) {
        c->alive_ns = now + control_timeout_ns(ctl) / 4;
        if (!n->leave_by)
            control_post(c, CONTROL_ALIVE, NULL, 0);
    }
    if (!c->down && control_is_over(c, now)) {
        if (c->failure)
            control_warn(n, "node %u: an operation to node %u failed: %s", n->base.id, c->peer->id,
                         c->failure);
        else if (control_is_silent(c, now))
            control_warn_of_silence(c);
        else
            control_warn(n, "node %u: a link to node %u broke", n->base.id, c->peer->id);
        c->down = true;
    }
    if (c->down)
        control_lose(c);
}

/* --- looking after peers -------------------------------------------------------------------- */

/* Whether the peer is missing and this node calls it: of each pair, the node with the higher id
 * does. */
static bool peer_is_missing(const struct control_node *n, const struct control_peer *p)
{
    const bool is_there = p->connection && p->connection->established;

    return p->asked && p->id < n->base.id && !is_there && !p->lost && !n->leave_by;
}

static void peer_call(struct control_node *n, struct control_peer *p, uint64_t now)
{
    if (p->connection || now < p->try_at)
        return;
    p->try_at = now + (++p->attempts > CONTROL_PATIENCE ? RETRY_LATER_MS : RETRY_MS) * CONTROL_MS;
    control_call(n, p);
}

bool control_tend_peers(struct control_node *n, uint64_t now)
{
    bool missing = false;

    for (uint32_t id = 0; id < n->base.count; id++) {
        struct control_peer *p = &n->peers[id];
        struct control_connection *c = p->connection;
        if (c && c->established)
            life_tend(c, now);
        else if (c && now >= c->until)
            control_connection_drop(c);
        if (peer_is_missing(n, p)) {
            peer_call(n, p, now);
            missing = true;
        }
    }
    return missing;
}

int control_meet(struct loco_node *base, uint32_t peer)
{
    struct control_node *n = (struct control_node *)base;

    pthread_mutex_lock(&n->control->lock);
    n->peers[peer].asked = true;
    pthread_mutex_unlock(&n->control->lock);
    if (peer < base->id)
        control_wake(n->control);
    return 0;
}

/* --- leaving -------------------------------------------------------------------------------- */

void control_leave(struct control_node *n, uint64_t now)
{
    n->leave_by = now + FAREWELL_MS * CONTROL_MS;
    close(n->listener.fd);
    n->listener.fd = -1;
    while (n->strangers)
        control_connection_drop(n->strangers);
    for (uint32_t id = 0; id < n->base.count; id++) {
        struct control_connection *c = n->peers[id].connection;
        if (c && !c->established)
            control_connection_drop(c);
        else if (control_is_up(c))
            control_post(c, CONTROL_BYE, NULL, 0);
    }
}

bool control_has_left(const struct control_node *n, uint64_t now)
{
    for (uint32_t id = 0; id < n->base.count; id++)
        if (n->peers[id].connection && now < n->leave_by)
            return false;
    return true;
}

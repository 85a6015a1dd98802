/*
 * How links connect. A link's proof needs no challenge, as the nodes' control connection has agreed
 * on its key.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "../host_time.h"
#include "../sockets.h"
#include "tcp_internal.h"

enum { LOOK_MS = 50 };

/* A link's proof needs no challenge: its key belongs to one connection, and its number to one
 * link. */
static struct loco_claim greet_claim_of_link(const struct control_greeting *g)
{
    return loco_claim_of(LOCO_OF_LINK, g->from, g->to, g->count, &(struct loco_nonce){{0}},
                         &g->nonce);
}

static struct loco_nonce greet_nonce_of_link(uint32_t number)
{
    struct loco_nonce nonce = {{0}};

    memcpy(nonce.bytes, &number, sizeof number);
    return nonce;
}

static bool greet_is_new_link(struct tcp_connection *c, uint32_t number)
{
    if (number >= TCP_LINKS_MAX || c->links_seen[number / 64] >> number % 64 & 1)
        return false;
    c->links_seen[number / 64] |= (uint64_t)1 << number % 64;
    return true;
}

static bool greet_is_proven_link(struct tcp_connection *c, const struct control_greeting *g)
{
    const struct loco_nonce nonce = greet_nonce_of_link(g->number);
    const struct loco_claim claim = greet_claim_of_link(g);

    return !memcmp(&nonce, &g->nonce, sizeof nonce) &&
           loco_proves(&c->control.greet.links, &claim, &g->proof);
}

struct control_peer *tcp_admit_link(struct tcp_node *n, int fd, const struct control_greeting *g)
{
    enum loco_refusal why = LOCO_WELCOME;

    if (g->to != n->control.base.id || g->count != n->control.base.count ||
        g->from >= n->control.base.count) {
        control_warn_of(&n->control, g->from, g->count, loco_refusal_of(LOCO_FOREIGN));
        return NULL;
    }
    struct control_peer *p = &n->control.peers[g->from];
    struct tcp_connection *c = tcp_connection_to(n, g->from);
    if (!c || !c->control.greet.proven || c->control.down)
        return NULL; /* of a peer that is lost */
    if (!control_is_at_home(fd, &n->control.addresses[p->id]))
        why = LOCO_STRAY;
    else if (!greet_is_proven_link(c, g) || !greet_is_new_link(c, g->number))
        why = LOCO_UNPROVEN;
    if (why != LOCO_WELCOME)
        control_warn_of(&n->control, g->from, g->count, loco_refusal_of(why));
    return why != LOCO_WELCOME || p->target_count == TCP_TARGETS_MAX ? NULL : p;
}

/* Whether this call must not make a lane, because another lane is being made. If two processes call
 * each other at once, the one with the greater number makes the lane. The call of the other one may
 * arrive after that lane was made. So a call says how many lanes its caller knows of. */
static bool greet_has_other_lane(const struct tcp_node *n, const struct control_greeting *g)
{
    const struct tcp *t = n->tcp;

    if (t->calls && g->process == t->calls && g->process < t->self.process)
        return true;
    return g->from < n->control.base.count && tcp_lanes_count(n, g->from, g->process) > g->refusal;
}

static int greet_welcome_lane(struct tcp_node *n, struct control_peer *p, int fd)
{
    const struct control_greeting g =
        control_greeting_make(&n->control.self, p->id, CONTROL_WELCOME);

    return control_greeting_send(fd, &g) ? tcp_lane_take(n, p, fd) : -ECONNRESET;
}

void tcp_hear_link(struct control_connection *stranger)
{
    const struct control_greeting g = stranger->greet.heard;
    struct tcp_node *n = (struct tcp_node *)stranger->end.node;

    if (greet_has_other_lane(n, &g)) {
        stranger->greet.other_id = g.from;
        control_refuse(stranger, LOCO_TAKEN);
        return;
    }
    struct control_peer *p = tcp_admit_link(n, stranger->end.fd, &g);
    const int fd = p ? control_take_socket(&n->tcp->control, &stranger->end) : -1;
    control_connection_drop(stranger);
    if (p && greet_welcome_lane(n, p, fd))
        close(fd);
}

/* Returns 0 while a link may go on waiting for its peer; -ECONNRESET when the peer is lost, or was
 * silent until `lost_at`; or -ETIMEDOUT from `until` on. */
static int greet_may_wait(const struct tcp_link *l, uint64_t lost_at, uint64_t until)
{
    const uint64_t now = tcp_now();

    if (atomic_load(&l->broken) || now >= lost_at)
        return -ECONNRESET;
    return now >= until ? -ETIMEDOUT : 0;
}

/* Waits until the kernel has connected. */
static int greet_await_connection(const struct tcp_link *l, int fd, uint64_t until)
{
    const uint64_t lost_at = tcp_now() + control_timeout_ns(&l->node->tcp->control);
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    int rc = 0;

    while (!rc && poll(&look, 1, loco_host_poll_ms(until, LOOK_MS)) < 1)
        rc = greet_may_wait(l, lost_at, until);
    if (rc)
        return rc;
    return loco_socket_error(fd) ? -ECONNRESET : 0;
}

/* The links to the peer of this one, with it; with the fabric's lock held. */
static unsigned greet_links_of(const struct tcp_link *l)
{
    unsigned count = 0;

    for (const struct tcp_link *other = l->node->links; other; other = other->next)
        count += other->base.peer == l->base.peer && other->arenas == l->arenas;
    return count;
}

/* The connection to the link's peer, unless that peer is lost. */
static struct tcp_connection *greet_connection_of(const struct tcp_link *l)
{
    struct tcp_connection *c = tcp_connection_to(l->node, l->base.peer);

    return c && control_is_up(&c->control) && c->arenas == l->arenas ? c : NULL;
}

void tcp_link_failed(const struct tcp_link *l)
{
    struct tcp_connection *c = greet_connection_of(l);

    if (c)
        control_doubt(&c->control, control_timeout_ns(&l->node->tcp->control), NULL);
}

/* Fills in the link's greeting, and finds the process that it leads to. Returns 0, -ECONNRESET, or
 * -ENOSPC if the peer would accept no further link. */
static int greet_prepare_link(struct tcp_link *l, struct control_greeting *g, uint64_t *process)
{
    struct tcp_node *n = l->node;
    struct loco_key key;

    pthread_mutex_lock(&n->tcp->control.lock);
    struct tcp_connection *c = greet_connection_of(l);
    int rc = c ? 0 : -ECONNRESET;
    if (!rc && (c->link_number == TCP_LINKS_MAX || greet_links_of(l) > TCP_TARGETS_MAX))
        rc = -ENOSPC;
    if (!rc) {
        key = c->control.greet.links;
        g->number = c->link_number++;
        *process = c->control.greet.process;
    }
    pthread_mutex_unlock(&n->tcp->control.lock);
    if (rc)
        return rc;
    g->nonce = greet_nonce_of_link(g->number);
    const struct loco_claim claim = greet_claim_of_link(g);
    g->proof = loco_prove(&key, &claim);
    return 0;
}

/* Waits for the answer to a greeting. */
static int greet_await_answer(const struct tcp_link *l, int fd, struct control_greeting *g,
                              uint64_t until)
{
    const uint64_t lost_at = tcp_now() + control_timeout_ns(&l->node->tcp->control);
    struct pollfd look = {.fd = fd, .events = POLLIN};
    size_t in = 0;

    while (in < sizeof *g) {
        int rc = greet_may_wait(l, lost_at, until);
        if (rc)
            return rc;
        if (poll(&look, 1, loco_host_poll_ms(until, LOOK_MS)) < 1)
            continue;
        ssize_t got = recv(fd, (unsigned char *)g + in, sizeof *g - in, MSG_DONTWAIT);
        if (got <= 0 && !(got < 0 && (errno == EAGAIN || errno == EINTR)))
            return -ECONNRESET;
        in += got > 0 ? (size_t)got : 0;
    }
    return control_is_alike(&l->node->control.self, g) ? 0 : -ECONNRESET;
}

/* Returns 0, -ECONNRESET, -ETIMEDOUT, or -EAGAIN when the other process makes the lane. */
static int greet_lane(const struct tcp_link *l, int fd, const struct control_greeting *g,
                      uint64_t until)
{
    struct control_greeting answer;
    int rc = greet_await_connection(l, fd, until);

    if (!rc && !control_greeting_send(fd, g))
        rc = -ECONNRESET;
    if (!rc)
        rc = greet_await_answer(l, fd, &answer, until);
    if (rc || answer.step == CONTROL_WELCOME)
        return rc;
    return answer.step == CONTROL_REFUSAL && answer.refusal == LOCO_TAKEN ? -EAGAIN : -ECONNRESET;
}

/* Connects the link over a new lane. */
static int greet_connect_lane(struct tcp_link *l, const struct control_greeting *g,
                              uint64_t process, uint64_t until)
{
    int fd = control_connect_start(&l->node->control, l->base.peer);

    if (fd < 0)
        return fd == -EMFILE || fd == -ENFILE ? fd : -ECONNRESET;
    int rc = greet_lane(l, fd, g, until);
    if (!rc)
        rc = tcp_lane_make(l, fd, process);
    if (rc)
        close(fd);
    return rc;
}

/* The greeting was never sent, and its number is the newest. */
static void greet_return_number(const struct tcp_link *l)
{
    struct tcp_node *n = l->node;

    pthread_mutex_lock(&n->tcp->control.lock);
    struct tcp_connection *c = greet_connection_of(l);
    if (c)
        c->link_number--;
    pthread_mutex_unlock(&n->tcp->control.lock);
}

static int greet_join_lane(struct tcp_link *l, struct tcp_lane *lane,
                           const struct control_greeting *g, uint64_t until)
{
    int rc = tcp_lane_join(lane, l, g, until);

    if (rc == -ETIMEDOUT)
        greet_return_number(l);
    return rc;
}

static void greet_note_call(struct tcp *t, uint64_t process)
{
    pthread_mutex_lock(&t->control.lock);
    t->calls = process;
    pthread_mutex_unlock(&t->control.lock);
}

/* After the note, calls of the other process are refused. If it called before, its call has made a
 * lane, which is found. */
static int greet_find_or_connect(struct tcp_link *l, struct control_greeting *g, uint64_t process,
                                 uint64_t until)
{
    struct tcp *t = l->node->tcp;

    greet_note_call(t, process);
    struct tcp_lane *lane = tcp_lane_find(l, process);
    g->refusal = (uint8_t)tcp_lanes_count(l->node, l->base.peer, process);
    int rc = lane ? greet_join_lane(l, lane, g, until) : greet_connect_lane(l, g, process, until);
    greet_note_call(t, 0);
    return rc;
}

/* The link could not be opened, so the peer may be lost. */
static void greet_doubt_peer(const struct tcp_link *l)
{
    pthread_mutex_lock(&l->node->tcp->control.lock);
    tcp_link_failed(l);
    pthread_mutex_unlock(&l->node->tcp->control.lock);
}

/* With `connecting` held. */
static int greet_link(struct tcp_link *l, uint64_t until)
{
    struct control_greeting g =
        control_greeting_make(&l->node->control.self, l->base.peer, CONTROL_LINK);
    const uint64_t lost_at = tcp_now() + control_timeout_ns(&l->node->tcp->control);
    struct loco_wait wait = {.until = until};
    uint64_t process;
    int rc = greet_prepare_link(l, &g, &process);

    if (rc)
        return rc;
    while ((rc = greet_find_or_connect(l, &g, process, until)) == -EAGAIN) {
        rc = greet_may_wait(l, lost_at, until);
        if (rc)
            return rc;
        loco_host_relax(&l->node->control.base, &wait);
    }
    return atomic_load(&l->broken) ? -ECONNRESET : rc;
}

/* Another thread that connects may be waiting for another peer. */
static int greet_await_turn(struct tcp *t, uint64_t until)
{
    struct loco_wait wait = {.until = until};

    while (pthread_mutex_trylock(&t->connecting)) {
        if (tcp_now() >= until)
            return -ETIMEDOUT;
        loco_host_relax(NULL, &wait);
    }
    return 0;
}

int tcp_link_connect(struct tcp_link *l, uint64_t until)
{
    struct tcp *t = l->node->tcp;
    int rc = greet_await_turn(t, until);

    if (rc)
        return rc;
    rc = greet_link(l, until);
    pthread_mutex_unlock(&t->connecting);
    if (rc == -ECONNRESET)
        greet_doubt_peer(l);
    return rc;
}

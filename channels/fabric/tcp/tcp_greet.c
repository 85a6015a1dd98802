/*
 * How nodes connect, and which are refused; tcp_wire.h says how they prove themselves. With the
 * fabric's lock held.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../addresses.h"
#include "tcp_internal.h"

enum { BUSY_POLL_US = 50, TAKEN_PATIENCE = 50 };

/* --- sockets ------------------------------------------------------------------------------ */

static void greet_set_option(int fd, int level, int option, int value)
{
    setsockopt(fd, level, option, &value, sizeof value); /* may fail: the options only speed up */
}

static void greet_set_options(const struct tcp_node *n, int fd)
{
    greet_set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    greet_set_option(fd, IPPROTO_TCP, TCP_QUICKACK, 0); /* no packet for each one received */
    greet_set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)n->tcp->config.timeout_ms);
    greet_set_option(fd, SOL_SOCKET, SO_BUSY_POLL, BUSY_POLL_US);
}

static struct sockaddr_storage greet_address_of(const struct tcp_node *n, uint32_t id)
{
    return loco_address_with_port(&n->addresses[id], (uint16_t)(n->tcp->config.port + id));
}

int tcp_connect_start(const struct tcp_node *n, uint32_t peer)
{
    const struct sockaddr_storage from = loco_address_with_port(&n->addresses[n->base.id], 0);
    const struct sockaddr_storage to = greet_address_of(n, peer);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    greet_set_options(n, fd);
    greet_set_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    if (!bind(fd, (const struct sockaddr *)&from, loco_address_size(&from)) &&
        (!connect(fd, (const struct sockaddr *)&to, loco_address_size(&to)) ||
         errno == EINPROGRESS))
        return fd;
    int rc = -errno;
    close(fd);
    return rc;
}

int tcp_connect_error(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) ? errno : error;
}

int tcp_listen(struct tcp_node *n)
{
    const struct sockaddr_storage a = greet_address_of(n, n->base.id);
    const int fd = loco_listen((const struct sockaddr *)&a, loco_address_size(&a), true);

    if (fd < 0)
        return fd;
    n->listener = (struct tcp_end){.role = TCP_LISTENER, .fd = fd, .node = n};
    const int rc = tcp_watch(n->tcp, &n->listener, EPOLLIN);
    if (rc)
        close(fd);
    return rc;
}

/* --- greetings ---------------------------------------------------------------------------- */

struct tcp_greeting tcp_greet_make(const struct tcp_node *n, uint32_t to, enum tcp_step step)
{
    return (struct tcp_greeting){.magic = TCP_MAGIC,
                                 .version = TCP_VERSION,
                                 .step = (uint8_t)step,
                                 .from = n->base.id,
                                 .to = to,
                                 .count = n->base.count,
                                 .process = n->tcp->process};
}

bool tcp_greet_say(int fd, const struct tcp_greeting *g)
{
    return send(fd, g, sizeof *g, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof *g;
}

static bool greet_say_step(struct tcp_connection *c, enum tcp_step step,
                           const struct loco_claim *claim)
{
    struct tcp_greeting g = tcp_greet_make(c->end.node, c->other_id, step);

    g.nonce = c->own;
    if (claim)
        g.proof = loco_prove(&c->end.node->key, claim);
    return tcp_greet_say(c->end.fd, &g);
}

/* The claim that this end proves. The next function makes the claim of the other end. */
static struct loco_claim greet_own_claim(const struct tcp_connection *c, enum loco_purpose purpose)
{
    const struct tcp_node *n = c->end.node;

    return loco_claim_of(purpose, n->base.id, c->other_id, n->base.count, &c->other, &c->own);
}

static struct loco_claim greet_other_claim(const struct tcp_connection *c,
                                           enum loco_purpose purpose)
{
    return loco_claim_of(purpose, c->other_id, c->end.node->base.id, c->other_count, &c->own,
                         &c->other);
}

/* Limits the warnings, so that a stranger who keeps coming does not fill the log. */
static bool greet_is_worth_saying(struct tcp_node *n)
{
    return n->refusals++ < TCP_REFUSALS_SAID;
}

void tcp_greet_warn_of(struct tcp_node *n, uint32_t id, uint32_t count, const char *why)
{
    if (greet_is_worth_saying(n))
        tcp_warn(n, "node %u (of %u) met a node that says it is node %u of %u: %s", n->base.id,
                 n->base.count, id, count, why);
}

/* --- the called end ----------------------------------------------------------------------- */

void tcp_greet_refuse(struct tcp_connection *c, enum loco_refusal why,
                      const struct loco_claim *claim)
{
    struct tcp_greeting g = tcp_greet_make(c->end.node, c->other_id, TCP_REFUSAL);

    g.refusal = (uint8_t)why;
    g.nonce = c->own;
    if (claim)
        g.proof = loco_prove(&c->end.node->key, claim);
    tcp_greet_say(c->end.fd, &g);
    tcp_connection_drop(c);
}

static void greet_refuse_stranger(struct tcp_connection *c, enum loco_refusal why)
{
    tcp_greet_warn_of(c->end.node, c->other_id, c->other_count, loco_refusal_of(why));
    tcp_greet_refuse(c, why, NULL);
}

bool tcp_is_at_home(int fd, const struct sockaddr_storage *home)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;

    return !getpeername(fd, (struct sockaddr *)&from, &size) &&
           loco_address_same_host((struct sockaddr *)&from, home);
}

static bool greet_is_at_a_home(const struct tcp_connection *c)
{
    uint32_t id = 0;

    while (id < c->end.node->base.count && !tcp_is_at_home(c->end.fd, &c->end.node->addresses[id]))
        id++;
    return id < c->end.node->base.count;
}

/* Whether the caller could be a peer. Its number of nodes may still differ. */
static bool greet_is_one_of_us(const struct tcp_connection *c, const struct tcp_greeting *g)
{
    return g->to == c->end.node->base.id && g->from > g->to && g->from < g->count;
}

static void greet_hear_hello(struct tcp_connection *c, const struct tcp_greeting *g)
{
    struct tcp_node *n = c->end.node;

    c->other_id = g->from;
    c->other_count = g->count;
    c->other = g->nonce;
    const bool same = g->count == n->base.count;
    if (!greet_is_one_of_us(c, g))
        greet_refuse_stranger(c, LOCO_FOREIGN);
    else if (same ? !tcp_is_at_home(c->end.fd, &n->addresses[g->from]) : !greet_is_at_a_home(c))
        greet_refuse_stranger(c, LOCO_STRAY);
    else if (loco_nonce_new(&c->own) || !greet_say_step(c, TCP_CHALLENGE, NULL))
        tcp_connection_drop(c);
    else
        c->step = TCP_PROOF;
}

/* Moves the connection from the strangers to its peer. */
static void greet_admit(struct tcp_connection *c, struct tcp_peer *p)
{
    struct tcp_node *n = c->end.node;

    for (struct tcp_connection **at = &n->strangers; *at; at = &(*at)->next) {
        if (*at == c) {
            *at = c->next;
            n->stranger_count--;
            break;
        }
    }
    c->peer = p;
    p->connection = c;
}

/* The proof was right. If the peer has another connection that was never established, it has given
 * that attempt up. */
static void greet_accept_control(struct tcp_connection *c, const struct tcp_greeting *g)
{
    struct tcp_node *n = c->end.node;
    struct tcp_peer *p = &n->peers[c->other_id];
    const struct loco_claim answer = greet_own_claim(c, LOCO_OF_ANSWER);
    const struct loco_claim links = greet_other_claim(c, LOCO_OF_LINKS);

    if (p->connection && !p->connection->established)
        tcp_connection_drop(p->connection);
    if (p->connection || p->lost) {
        tcp_greet_refuse(c, LOCO_TAKEN, NULL);
        return;
    }
    greet_admit(c, p);
    c->process = g->process;
    loco_key_between(&c->links, &n->key, &links);
    c->proven = true;
    if (!greet_say_step(c, TCP_WELCOME, &answer))
        tcp_connection_drop(c);
}

static void greet_hear_proof(struct tcp_connection *c, const struct tcp_greeting *g)
{
    struct tcp_node *n = c->end.node;
    const struct loco_claim claim = greet_other_claim(c, LOCO_OF_REQUEST);
    const struct loco_claim answer = greet_own_claim(c, LOCO_OF_ANSWER);

    if (!loco_proves(&n->key, &claim, &g->proof)) {
        greet_refuse_stranger(c, LOCO_UNPROVEN);
    } else if (c->other_count != n->base.count) {
        tcp_greet_warn_of(n, c->other_id, c->other_count, loco_refusal_of(LOCO_FOREIGN));
        tcp_tell_foreigner(n, c->other_count);
        tcp_greet_refuse(c, LOCO_FOREIGN, &answer);
    } else {
        greet_accept_control(c, g);
    }
}

/* --- the calling end ---------------------------------------------------------------------- */

static void greet_hear_challenge(struct tcp_connection *c, const struct tcp_greeting *g)
{
    c->other = g->nonce;
    c->other_count = g->count;
    const struct loco_claim claim = greet_own_claim(c, LOCO_OF_REQUEST);
    c->step = TCP_WELCOME;
    if (!greet_say_step(c, TCP_PROOF, &claim))
        tcp_connection_drop(c);
}

/* Any program may say anything. The right one may come later, so the peer is called again, but not
 * as often. */
static bool greet_warn_once(struct tcp_peer *p)
{
    const bool first = !p->warned;

    p->warned = true;
    p->attempts = TCP_PATIENCE;
    return first;
}

/* The peer must prove itself as well, before this end listens to anything else. */
static void greet_hear_welcome(struct tcp_connection *c, const struct tcp_greeting *g)
{
    struct tcp_node *n = c->end.node;
    const struct loco_claim answer = greet_other_claim(c, LOCO_OF_ANSWER);
    const struct loco_claim links = greet_own_claim(c, LOCO_OF_LINKS);

    if (loco_proves(&n->key, &answer, &g->proof)) {
        loco_key_between(&c->links, &n->key, &links);
        c->proven = true;
        c->process = g->process;
        tcp_establish(c);
        return;
    }
    if (greet_warn_once(c->peer))
        tcp_warn(n,
                 "node %u (of %u): at node %u's address is a program that does not know this "
                 "network's secret",
                 n->base.id, n->base.count, c->peer->id);
    tcp_connection_drop(c);
}

/* Whether the node that refused this one has proven that it knows the secret and has a different
 * number of nodes. */
static bool greet_proves_foreign(const struct tcp_connection *c, const struct tcp_greeting *g)
{
    const struct loco_claim answer = greet_other_claim(c, LOCO_OF_ANSWER);

    return g->refusal == LOCO_FOREIGN && g->count != c->end.node->base.count &&
           c->step == TCP_WELCOME && loco_proves(&c->end.node->key, &answer, &g->proof);
}

static void greet_hear_refusal(struct tcp_connection *c, const struct tcp_greeting *g)
{
    struct tcp_node *n = c->end.node;
    struct tcp_peer *p = c->peer;
    const char *mismatch = loco_refusal_by(g->refusal);

    if (mismatch && greet_warn_once(p)) {
        tcp_warn(n, "node %u (of %u) met a node that says it is node %u of %u: %s", n->base.id,
                 n->base.count, g->from, g->count, mismatch);
    } else if (!mismatch && g->refusal == LOCO_TAKEN && p->attempts == TAKEN_PATIENCE) {
        tcp_warn(n, "node %u (of %u): node %u says that this place is taken", n->base.id,
                 n->base.count, p->id);
    }
    if (greet_proves_foreign(c, g))
        tcp_tell_foreigner(n, g->count);
    tcp_connection_drop(c);
}

/* --- connections -------------------------------------------------------------------------- */

static struct tcp_connection *greet_new_connection(struct tcp_node *n, int fd, uint8_t step)
{
    struct tcp_connection *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->end = (struct tcp_end){.role = TCP_CONNECTION, .fd = fd, .node = n};
    c->step = step;
    c->until = tcp_now() + TCP_GREETING_NS;
    return c;
}

void tcp_call(struct tcp_node *n, struct tcp_peer *p)
{
    int fd = tcp_connect_start(n, p->id);
    struct tcp_connection *c = fd < 0 ? NULL : greet_new_connection(n, fd, TCP_CHALLENGE);

    if (fd >= 0 && !c)
        close(fd);
    if (!c)
        return;
    c->active = c->connecting = true;
    c->peer = p;
    c->other_id = p->id;
    p->connection = c;
    if (loco_nonce_new(&c->own) || tcp_watch(n->tcp, &c->end, EPOLLOUT))
        tcp_connection_drop(c);
}

/* The list begins with the newest. */
static void greet_drop_oldest_stranger(struct tcp_node *n)
{
    struct tcp_connection *c = n->strangers;

    while (c->next)
        c = c->next;
    tcp_connection_drop(c);
}

/* After accept() has failed. */
static void greet_rest_listener(struct tcp_node *n, int error)
{
    if (!loco_rest_begin(&n->rest, error, tcp_now()))
        return;
    tcp_watch(n->tcp, &n->listener, 0);
    atomic_store(&n->tcp->due, true);
    if (!n->rest.told)
        tcp_warn(n, "node %u cannot accept connections: %s; it goes on trying", n->base.id,
                 strerror(error));
    n->rest.told = true;
}

bool tcp_tend_listener(struct tcp_node *n, uint64_t now)
{
    if (loco_rest_end(&n->rest, now) && n->listener.fd >= 0)
        tcp_watch(n->tcp, &n->listener, EPOLLIN);
    return n->rest.until;
}

void tcp_accept(struct tcp_node *n)
{
    int fd = accept4(n->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0) {
        greet_rest_listener(n, errno);
        return;
    }
    struct tcp_connection *c = greet_new_connection(n, fd, TCP_HELLO);
    if (!c) {
        close(fd);
        return;
    }
    greet_set_options(n, fd);
    if (n->stranger_count == TCP_STRANGERS_MAX + n->base.count)
        greet_drop_oldest_stranger(n);
    c->next = n->strangers;
    n->strangers = c;
    n->stranger_count++;
    atomic_store(&n->tcp->due, true);
    if (tcp_watch(n->tcp, &c->end, EPOLLIN))
        tcp_connection_drop(c);
}

bool tcp_tend_strangers(struct tcp_node *n, uint64_t now)
{
    for (struct tcp_connection *c = n->strangers, *next; c; c = next) {
        next = c->next;
        if (now >= c->until)
            tcp_connection_drop(c);
    }
    return n->strangers;
}

static void greet_go_on_calling(struct tcp_connection *c)
{
    if (tcp_connect_error(c->end.fd)) {
        tcp_connection_drop(c);
        return;
    }
    c->connecting = false;
    if (!greet_say_step(c, TCP_HELLO, NULL) || tcp_watch(c->end.node->tcp, &c->end, EPOLLIN))
        tcp_connection_drop(c);
}

static void greet_warn_of_language(struct tcp_node *n, const struct tcp_greeting *g)
{
    if (!greet_is_worth_saying(n))
        return;
    if (g->magic == TCP_MAGIC)
        tcp_warn(n, "node %u (of %u) met a node of another version: %u there, %u here", n->base.id,
                 n->base.count, g->version, TCP_VERSION);
    else
        tcp_warn(n, "node %u (of %u) met a program that is none of this version's nodes",
                 n->base.id, n->base.count);
}

/* Refuses a program of another version, or of another kind. */
static void greet_refuse_language(struct tcp_connection *c, const struct tcp_greeting *g)
{
    greet_warn_of_language(c->end.node, g);
    tcp_greet_refuse(c, LOCO_UNKNOWN, NULL);
}

static void greet_hear_greeting(struct tcp_connection *c, const struct tcp_greeting *g)
{
    if (g->magic != TCP_MAGIC || g->version != TCP_VERSION)
        greet_refuse_language(c, g);
    else if (c->active && g->step == TCP_REFUSAL)
        greet_hear_refusal(c, g);
    else if (c->step == TCP_HELLO && g->step == TCP_LINK)
        tcp_hear_link(c, g);
    else if (g->step != c->step || (c->active && g->from != c->peer->id))
        greet_refuse_language(c, g);
    else if (c->step == TCP_HELLO)
        greet_hear_hello(c, g);
    else if (c->step == TCP_CHALLENGE)
        greet_hear_challenge(c, g);
    else if (c->step == TCP_PROOF)
        greet_hear_proof(c, g);
    else
        greet_hear_welcome(c, g);
}

/* The size of the next message. After the welcome, that is the caller's message "here". */
static size_t greet_expected_size(const struct tcp_connection *c)
{
    return c->proven ? sizeof(struct tcp_head) : sizeof(struct tcp_greeting);
}

static void greet_hear_here(struct tcp_connection *c)
{
    const struct tcp_head here = {.kind = TCP_HERE};

    if (memcmp(c->input, &here, sizeof here))
        tcp_connection_drop(c);
    else
        tcp_establish(c);
}

void tcp_greet(struct tcp_connection *c)
{
    struct tcp_greeting g;

    if (c->connecting) {
        greet_go_on_calling(c);
        return;
    }
    ssize_t got = recv(c->end.fd, c->input + c->in, greet_expected_size(c) - c->in, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        tcp_connection_drop(c);
        return;
    }
    c->in += (size_t)got;
    if (c->in < greet_expected_size(c))
        return;
    c->in = 0;
    memcpy(&g, c->input, sizeof g);
    if (c->proven)
        greet_hear_here(c);
    else
        greet_hear_greeting(c, &g);
}

/*
 * The sim's nodes: how they open, meet, send control messages, close and crash. What a node learns
 * about a peer arrives as news: it is up, it sent a message, it was lost.
 *
 * News of one peer arrive in the order in which they were sent. Under chaos, news of different
 * peers arrive in any order. So two nodes learn of a loss at different times, and meanwhile the
 * operations of the lost node may still be placed. Under chaos each node handles its news on a
 * fiber of its own, as it does on a thread on other fabrics.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../by_node_make.h"
#include "sim_internal.h"

enum {
    CONTROL_LATENCY_NS = 1000, /* control messages are setup; their latency has no model */
    CHAOS_LATENCY_NS = 500,
    DETECTION_NS = 3000, /* under chaos, the longest time until a loss is noticed */
};

/* --- hearing -------------------------------------------------------------------------- */

/* The peer is lost. Completions that came before are still found; no more will come. */
static void link_deafen(struct sim_link *l)
{
    sim_poll(&l->base);
    l->deaf = true;
}

/* If an atomic that was completed has not written its word, the peer's NIC does so now: else an
 * atomic could be taken back that another node has heard of. */
static void link_sever(struct sim_link *l)
{
    struct operation *o = l->peer->atomic;

    if (o && o->link == l && o->finished)
        sim_end_atomic(o);
    else if (o && o->link == l)
        l->peer->atomic = NULL;
    l->severed = true;
}

static void peers_part(struct sim_node *here, struct sim_node *lost)
{
    for (struct sim_link *l = sim_peer_of(here, lost->base.id)->links; l; l = l->next_to_peer)
        if (l->peer == lost)
            link_deafen(l);
    for (struct sim_link *l = sim_peer_of(lost, here->base.id)->links; l; l = l->next_to_peer)
        if (l->peer == here)
            link_sever(l);
}

static void news_hear(const struct news *news)
{
    struct sim_node *from = news->from, *to = news->to;
    struct sim_peer *peer = sim_peer_of(to, from->base.id);
    const struct loco_events *events = &to->base.events;
    bool connected = peer->node == from && peer->up;

    if (news->topic == UP) {
        peer->node = from;
        peer->up = true;
        events->peer_up(events->arg, from->base.id);
    } else if (news->topic == MESSAGE && connected && !from->silent) {
        events->message(events->arg, from->base.id, news->data, news->size);
    } else if (news->topic != MESSAGE && connected) {
        peer->up = false;
        peers_part(to, from);
        events->peer_lost(events->arg, from->base.id, news->topic == LEFT);
    }
    sim_wake(to);
}

/* --- the control fiber ------------------------------------------------------------------ */

static void control_body(void *arg)
{
    struct sim_node *n = arg;

    while (!n->closed) {
        struct news *news = n->news;
        if (!news) {
            sim_asleep(n->control);
            n->sim->physics->pause(n->control);
            continue;
        }
        n->news = news->next;
        news_hear(news);
        free(news);
    }
    n->control = NULL;
}

/* Ends the node's control fiber. If it is in a call of the core, waits until that returns. */
static void control_end(struct sim_node *n)
{
    if (n->control)
        sim_awake(n->control);
    while (n->control && n->sim->current != &n->sim->main)
        sim_wait_for_change(n->sim, "the end of", n->control);
}

void sim_news_come(struct news *news)
{
    struct sim_node *n = news->to;

    if (n->closed || !n->control) {
        if (!n->closed)
            news_hear(news);
        free(news);
        return;
    }
    news->next = NULL;
    *(n->news ? &n->newest_news->next : &n->news) = news;
    n->newest_news = news;
    sim_awake(n->control);
}

/* --- telling ---------------------------------------------------------------------------- */

static uint64_t news_delay(struct sim *s, enum topic topic)
{
    if (!s->config.chaos)
        return topic == MESSAGE ? CONTROL_LATENCY_NS : 0;
    uint64_t most = topic == LOST && sim_draw(&s->random) % 2 ? DETECTION_NS : CHAOS_LATENCY_NS;
    return 1 + sim_ask(s, LOCO_CHOICE_NEWS, most, 0, sim_draw(&s->random) % most);
}

static int news_tell(struct sim_node *from, struct sim_node *to, enum topic topic,
                     const void *message, size_t size)
{
    struct sim *s = from->sim;
    struct sim_peer *peer = sim_peer_of(to, from->base.id);
    struct news *news = malloc(sizeof *news + size);

    if (!news)
        return -ENOMEM;
    *news = (struct news){.kind = NEWS, .topic = topic, .from = from, .to = to, .size = size};
    if (size)
        memcpy(news->data, message, size);
    uint64_t time = s->now + news_delay(s, topic);
    peer->newest = time > peer->newest ? time : peer->newest;
    if (!s->config.chaos && topic != MESSAGE) {
        sim_news_come(news);
        return 0;
    }
    int rc = loco_timeline_add(&s->timeline, peer->newest, LOCO_SIM_NETWORK, news);
    if (rc)
        free(news);
    return rc;
}

int sim_send(struct loco_node *base, uint32_t peer, const void *message, size_t size)
{
    struct sim_node *n = (struct sim_node *)base;

    const struct sim_peer *p = sim_peer_of(n, peer);

    if (n->closed || !p->up)
        return -ECONNRESET;
    return news_tell(n, p->node, MESSAGE, message, size);
}

/* --- coming and going ------------------------------------------------------------------- */

static int peers_introduce(struct sim_node *a, struct sim_node *b)
{
    int rc = news_tell(b, a, UP, NULL, 0);

    return rc ? rc : news_tell(a, b, UP, NULL, 0);
}

/* Whether both nodes have asked to meet each other. */
static bool peers_are_to_meet(const struct sim_node *a, const struct sim_node *b)
{
    const struct sim_peer *a_sees = sim_peer_of(a, b->base.id),
                          *b_sees = sim_peer_of(b, a->base.id);

    return a_sees && a_sees->asked && b_sees && b_sees->asked;
}

static struct sim_node *node_that_is_open(const struct sim *s, uint32_t id)
{
    struct sim_node *n = id < s->node_count ? s->nodes[id] : NULL;

    return n && !n->closed ? n : NULL;
}

int sim_meet(struct loco_node *base, uint32_t peer)
{
    struct sim_node *n = (struct sim_node *)base, *other = node_that_is_open(n->sim, peer);
    struct sim_peer *p = loco_by_node_make(&n->peers, peer);

    if (!p)
        return -ENOMEM;
    p->asked = true;
    return !n->closed && other && peers_are_to_meet(n, other) ? peers_introduce(n, other) : 0;
}

static int node_make_peers(struct sim_node *n)
{
    struct sim_peer *self;
    int rc = loco_by_node_init(&n->peers, n->base.count, sizeof *self);

    if (rc)
        return rc;
    self = loco_by_node_make(&n->peers, n->base.id);
    if (!self)
        return -ENOMEM;
    self->node = n;
    self->up = true;
    return 0;
}

static struct sim_node *node_make(struct sim *s, uint32_t id, const struct loco_events *events)
{
    struct sim_node *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->base =
        (struct loco_node){.fabric = &s->base, .id = id, .count = s->node_count, .events = *events};
    n->sim = s;
    int rc = node_make_peers(n);
    if (!rc && s->config.chaos)
        n->control = sim_spawn(s, control_body, n, true);
    if (rc || (s->config.chaos && !n->control)) {
        loco_by_node_free(&n->peers);
        free(n);
        return NULL;
    }
    return n;
}

int sim_node_open(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                  struct loco_secret secret, const struct loco_events *events,
                  struct loco_node **node)
{
    struct sim *s = (struct sim *)fabric;

    (void)secret; /* all nodes are in one process, so none has to prove it */
    if (!s->nodes) {
        s->nodes = calloc(count, sizeof(struct sim_node *));
        s->node_count = count;
    }
    if (!s->nodes)
        return -ENOMEM;
    if (count != s->node_count)
        return -EINVAL;
    if (node_that_is_open(s, id))
        return -EADDRINUSE;

    struct sim_node *n = node_make(s, id, events);
    if (!n)
        return -ENOMEM;
    n->older = s->nodes[id];
    s->nodes[id] = n;
    s->open_count++;
    *node = &n->base;
    return 0;
}

/* The node's memory stays until the sim closes: deliveries to it may still be under way. */
static void node_end(struct sim_node *n, enum topic topic)
{
    struct sim *s = n->sim;

    n->closed = true;
    s->open_count--;
    loco_each_entry (&n->peers, id) {
        struct sim_node *peer = node_that_is_open(s, id);
        if (peer && peers_are_to_meet(n, peer))
            news_tell(n, peer, topic, NULL, 0);
    }
    s->changes++;
}

void sim_node_close(struct loco_node *base)
{
    struct sim_node *n = (struct sim_node *)base;

    if (!n->closed)
        node_end(n, LEFT);
    control_end(n);
}

void loco_sim_crash(struct loco_fabric *fabric, uint32_t id)
{
    struct sim *s = (struct sim *)fabric;
    struct sim_node *n = node_that_is_open(s, id);

    if (!n)
        return;
    n->silent = !s->config.chaos || sim_ask(s, LOCO_CHOICE_NEWS, 2, 0, sim_draw(&s->random) % 2);
    s->base.busy++; /* never undone: its direct stores must not reach other nodes any more */
    node_end(n, LOST);
    for (struct sim_link *l = n->links; l; l = l->next) {
        atomic_store(&l->base.done, atomic_load(&l->base.posted));
        atomic_store(&l->base.flushed, l->flushes);
    }
    sim_wake(n);
}

void loco_sim_cut(struct loco_fabric *fabric, uint32_t a, uint32_t b)
{
    const struct sim *s = (const struct sim *)fabric;
    struct sim_node *one = node_that_is_open(s, a), *other = node_that_is_open(s, b);

    if (!one || !other || !peers_are_to_meet(one, other))
        return;
    news_tell(one, other, LOST, NULL, 0);
    news_tell(other, one, LOST, NULL, 0);
}

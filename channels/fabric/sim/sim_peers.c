/*
 * The sim's nodes: how they come, what they tell one another, and how they go.
 *
 * News of one peer come in the order in which they were sent; of different peers in any, under
 * chaos. So two nodes hear of a loss at times of their own, and meanwhile what the lost one had
 * posted may still be placed. Under chaos each node hears its news on a fiber of its own, as on
 * other fabrics on a thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../by_node_make.h"
#include "sim_internal.h"

enum {
    CONTROL_LATENCY_NS = 1000, /* control messages are setup; their latency has no model */
    CHAOS_LATENCY_NS = 500,
    DETECTION_NS = 3000, /* a loss is noticed within this under chaos */
};

/* --- hearing -------------------------------------------------------------------------- */

/* What the link has done is still known; the rest is never done. */
static void deafen(struct sim_link *l)
{
    sim_poll(&l->base);
    l->deaf = true;
}

static void sever(struct sim_link *l)
{
    if (l->peer->atomic && l->peer->atomic->link == l)
        l->peer->atomic = NULL;
    l->severed = true;
}

static void part(struct sim_node *here, struct sim_node *lost)
{
    for (struct sim_link *l = sim_peer_of(here, lost->base.id)->links; l; l = l->next_to_peer)
        if (l->peer == lost)
            deafen(l);
    for (struct sim_link *l = sim_peer_of(lost, here->base.id)->links; l; l = l->next_to_peer)
        if (l->peer == here)
            sever(l);
}

static void hear(const struct news *news)
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
        part(to, from);
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
        hear(news);
        free(news);
    }
    n->control = NULL;
}

/* It may be within a call, which ends first. */
static void end_control(struct sim_node *n)
{
    if (n->control)
        sim_awake(n->control);
    while (n->control && n->sim->current != &n->sim->main)
        sim_wait_for_change(n->sim);
}

void sim_news_come(struct news *news)
{
    struct sim_node *n = news->to;

    if (n->closed || !n->control) {
        if (!n->closed)
            hear(news);
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
    return 1 + sim_draw(&s->random) % most;
}

static int tell(struct sim_node *from, struct sim_node *to, enum topic topic, const void *message,
                size_t size)
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
    int rc = timeline_add(&s->timeline, peer->newest, LOCO_SIM_NETWORK, news);
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
    return tell(n, p->node, MESSAGE, message, size);
}

/* --- coming and going ------------------------------------------------------------------- */

static int introduce(struct sim_node *a, struct sim_node *b)
{
    int rc = tell(b, a, UP, NULL, 0);

    return rc ? rc : tell(a, b, UP, NULL, 0);
}

/* Whether both asked for it. */
static bool are_to_meet(const struct sim_node *a, const struct sim_node *b)
{
    const struct sim_peer *a_sees = sim_peer_of(a, b->base.id),
                          *b_sees = sim_peer_of(b, a->base.id);

    return a_sees && a_sees->asked && b_sees && b_sees->asked;
}

static struct sim_node *open_node(const struct sim *s, uint32_t id)
{
    struct sim_node *n = s->nodes[id];

    return n && !n->closed ? n : NULL;
}

int sim_meet(struct loco_node *base, uint32_t peer)
{
    struct sim_node *n = (struct sim_node *)base, *other = open_node(n->sim, peer);
    struct sim_peer *p = loco_by_node_make(&n->peers, peer);

    if (!p)
        return -ENOMEM;
    p->asked = true;
    return !n->closed && other && are_to_meet(n, other) ? introduce(n, other) : 0;
}

static int make_peers(struct sim_node *n)
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

static struct sim_node *make_node(struct sim *s, uint32_t id, const struct loco_events *events)
{
    struct sim_node *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->base =
        (struct loco_node){.fabric = &s->base, .id = id, .count = s->node_count, .events = *events};
    n->sim = s;
    int rc = make_peers(n);
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

    (void)secret; /* one process: there is nobody to prove it to */
    if (!s->nodes) {
        s->nodes = calloc(count, sizeof(struct sim_node *));
        s->node_count = count;
    }
    if (!s->nodes)
        return -ENOMEM;
    if (count != s->node_count)
        return -EINVAL;
    if (open_node(s, id))
        return -EADDRINUSE;

    struct sim_node *n = make_node(s, id, events);
    if (!n)
        return -ENOMEM;
    n->older = s->nodes[id];
    s->nodes[id] = n;
    s->open_count++;
    *node = &n->base;
    return 0;
}

/* The node's memory stays until the sim closes: deliveries to it may still be under way. */
static void end_node(struct sim_node *n, enum topic topic)
{
    struct sim *s = n->sim;

    n->closed = true;
    s->open_count--;
    loco_each_entry (&n->peers, id) {
        struct sim_node *peer = open_node(s, id);
        if (peer && are_to_meet(n, peer))
            tell(n, peer, topic, NULL, 0);
    }
    s->changes++;
}

void sim_node_close(struct loco_node *base)
{
    struct sim_node *n = (struct sim_node *)base;

    if (!n->closed)
        end_node(n, LEFT);
    end_control(n);
}

void loco_sim_crash(struct loco_fabric *fabric, uint32_t id)
{
    struct sim *s = (struct sim *)fabric;
    struct sim_node *n = s->nodes[id];

    n->silent = !s->config.chaos || sim_draw(&s->random) % 2;
    s->base.busy++; /* for ever: nobody is to see its stores any more */
    end_node(n, LOST);
    for (struct sim_link *l = n->links; l; l = l->next) {
        atomic_store(&l->base.done, atomic_load(&l->base.posted));
        atomic_store(&l->base.flushed, l->flushes);
    }
    sim_wake(n);
}

void loco_sim_cut(struct loco_fabric *fabric, uint32_t a, uint32_t b)
{
    struct sim *s = (struct sim *)fabric;

    if (!are_to_meet(s->nodes[a], s->nodes[b]))
        return;
    tell(s->nodes[a], s->nodes[b], LOST, NULL, 0);
    tell(s->nodes[b], s->nodes[a], LOST, NULL, 0);
}

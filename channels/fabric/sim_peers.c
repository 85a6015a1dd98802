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
    for (struct sim_link *l = here->links; l; l = l->next)
        if (l->peer == lost)
            deafen(l);
    for (struct sim_link *l = lost->links; l; l = l->next)
        if (l->peer == here)
            sever(l);
}

static void hear(const struct news *news)
{
    struct sim_node *from = news->from, *to = news->to;
    struct sim_peer *peer = &to->peers[from->base.id];
    const struct loco_events *events = &to->base.events;
    bool connected = peer->node == from && peer->up;

    if (news->topic == UP) {
        *peer = (struct sim_peer){.node = from, .up = true, .newest = peer->newest};
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
    struct sim_peer *peer = &to->peers[from->base.id];
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

    if (n->closed || !n->peers[peer].up)
        return -ECONNRESET;
    return tell(n, n->peers[peer].node, MESSAGE, message, size);
}

/* --- coming and going ------------------------------------------------------------------- */

static int introduce(struct sim_node *a, struct sim_node *b)
{
    int rc = tell(b, a, UP, NULL, 0);

    return rc ? rc : tell(a, b, UP, NULL, 0);
}

static struct sim_node *make_node(struct sim *s, uint32_t id, const struct loco_events *events)
{
    struct sim_node *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->base =
        (struct loco_node){.fabric = &s->base, .id = id, .count = s->node_count, .events = *events};
    n->sim = s;
    n->peers = calloc(s->node_count, sizeof *n->peers);
    if (n->peers && s->config.chaos)
        n->control = sim_spawn(s, control_body, n, true);
    if (!n->peers || (s->config.chaos && !n->control)) {
        free(n->peers);
        free(n);
        return NULL;
    }
    n->peers[id] = (struct sim_peer){.node = n, .up = true};
    return n;
}

int sim_node_open(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                  const struct loco_events *events, struct loco_node **node)
{
    struct sim *s = (struct sim *)fabric;

    if (!s->nodes) {
        s->nodes = calloc(count, sizeof(struct sim_node *));
        s->node_count = count;
    }
    if (!s->nodes)
        return -ENOMEM;
    if (count != s->node_count)
        return -EINVAL;
    if (s->nodes[id] && !s->nodes[id]->closed)
        return -EADDRINUSE;

    struct sim_node *n = make_node(s, id, events);
    if (!n)
        return -ENOMEM;
    n->older = s->nodes[id];
    s->nodes[id] = n;
    *node = &n->base;
    int rc = 0;
    for (uint32_t i = 0; i < count && !rc; i++)
        if (i != id && s->nodes[i] && !s->nodes[i]->closed)
            rc = introduce(n, s->nodes[i]);
    if (rc)
        sim_node_close(&n->base);
    return rc;
}

/* The node's memory stays until the sim closes: deliveries to it may still be under way. */
static void end_node(struct sim_node *n, enum topic topic)
{
    struct sim *s = n->sim;

    n->closed = true;
    for (uint32_t i = 0; i < s->node_count; i++)
        if (s->nodes[i] && !s->nodes[i]->closed)
            tell(n, s->nodes[i], topic, NULL, 0);
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

    tell(s->nodes[a], s->nodes[b], LOST, NULL, 0);
    tell(s->nodes[b], s->nodes[a], LOST, NULL, 0);
}

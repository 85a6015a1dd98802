/*
 * How the nodes of the shm fabric meet. Of each pair, the node with the higher id asks the other
 * one, over a connection between their processes. That connection then carries the arenas and the
 * core's control messages of the pair. The core is told of lost peers: a peer that has closed, or
 * all peers of a connection that has ended.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../by_node_make.h"
#include "../host_time.h"
#include "shm_internal.h"

/* Times between attempts to reach a peer: one that was never there, and one that was lost. */
enum { RETRY_MS = 5, RETRY_LOST_MS = 200, MS = 1000000 };

struct shm_node *shm_find_node(struct shm *s, uint32_t id)
{
    pthread_mutex_lock(&s->lock);
    struct shm_node **entry = id < s->by_id.count ? loco_by_node_find(&s->by_id, id) : NULL;
    struct shm_node *n = entry ? *entry : NULL;
    pthread_mutex_unlock(&s->lock);
    return n;
}

/* --- sending: with the lock held ------------------------------------------------------ */

static struct shm_head peer_head(const struct shm_node *n, const struct shm_peer *p,
                                 enum shm_kind kind)
{
    return (struct shm_head){.kind = kind, .from = n->base.id, .to = p->id, .call = p->call};
}

int shm_post_arena(struct shm_node *n, struct shm_peer *p, uint32_t number)
{
    const struct map *a = &n->arenas[number];
    const struct shm_arena_notice notice = {.head = peer_head(n, p, SHM_ARENA),
                                            .number = number,
                                            .file = a->file,
                                            .offset = a->offset,
                                            .size = a->size};

    int rc = shm_post_file(p->way, a->file);
    return rc ? rc : shm_post(p->way, &notice, sizeof notice, -1);
}

int shm_post_core(struct shm_node *n, struct shm_peer *p, const void *message, size_t size)
{
    struct {
        struct shm_head head;
        unsigned char data[SHM_MESSAGE_MAX - sizeof(struct shm_head)];
    } m;

    if (size > sizeof m.data)
        return -EMSGSIZE;
    if (!p->up)
        return -ECONNRESET;
    if (!loco_send_queue_has_room(&p->way->unsent, size,
                                  (size_t)LOCO_SEND_QUEUE_MAX * p->way->pairs))
        return -ENOBUFS;
    m.head = peer_head(n, p, SHM_CORE);
    memcpy(m.data, message, size);
    return shm_post(p->way, &m, sizeof m.head + size, -1);
}

static void peer_post_parting(struct shm_connection *c, struct shm_head head,
                              enum shm_reason reason)
{
    const struct shm_parting parting = {.head = head, .reason = reason};

    shm_post(c, &parting, sizeof parting, -1);
}

/* --- asking: the control thread, with the lock held -------------------------------------- */

/* Counts a peer that this node asked for as missing (change 1), or as found (-1). */
static void peer_count_missing(struct shm_node *n, const struct shm_peer *p, int change)
{
    unsigned *count = p->id < n->base.id ? &n->to_reach : &n->to_await;

    if (p->asked)
        *count += (unsigned)change;
}

static void peer_try_later(struct shm_peer *p, int ms)
{
    const uint64_t at = loco_host_clock(NULL) + (uint64_t)ms * MS;

    if (p->try_at < at)
        p->try_at = at;
}

static void peer_ask_to_meet(struct shm_node *n, struct shm_peer *p, struct shm_connection *c)
{
    p->way = c;
    p->call = ++n->shm->calls;
    const struct shm_head meet = peer_head(n, p, SHM_MEET);
    shm_post(c, &meet, sizeof meet, -1);
}

/* No node of this process tries the peer for `ms`. */
static void peers_miss(struct shm *s, uint32_t peer, int ms)
{
    uint64_t *at = loco_by_node_make(&s->try_at, peer);

    if (at)
        *at = loco_host_clock(NULL) + (uint64_t)ms * MS;
}

/* Asks the peer to meet, if it is time to. Thousands of nodes of this process may wait for an
 * absent peer, so one failure postpones the attempts of all. Returns when to try again, in ms; -1:
 * when an event comes. */
static int peer_try(struct shm_node *n, struct shm_peer *p)
{
    const int retry = p->lives ? RETRY_LOST_MS : RETRY_MS;
    const uint64_t now = loco_host_clock(&n->base);
    const uint64_t *at = loco_by_node_find(&n->shm->try_at, p->id);
    const uint64_t due = at && *at > p->try_at ? *at : p->try_at;

    if (due > now)
        return (int)((due - now) / MS) + 1;
    struct shm_connection *c = shm_call(n, p->id);
    if (!c) {
        peers_miss(n->shm, p->id, retry);
        return retry;
    }
    if (c->greet.proven)
        peer_ask_to_meet(n, p, c);
    return -1;
}

/* Asks the missing peers with lower ids. Returns when to try again, in ms; -1: none is left to ask.
 */
static int peers_ask(struct shm_node *n)
{
    int retry = -1;

    if (n->to_reach == 0)
        return -1;
    loco_each_entry (&n->peers, id) {
        struct shm_peer *p = shm_peer_of(n, id);
        if (id >= n->base.id)
            break;
        if (!p || !p->asked || p->way || p->refused)
            continue;
        retry = shm_sooner(retry, peer_try(n, p));
    }
    return retry;
}

/* When all peers that the node asked for are up, no peer needs its name any more. */
static void peers_hide_when_met(struct shm_node *n)
{
    if (n->asked && n->to_reach == 0 && n->to_await == 0)
        shm_hide(n);
}

/* Gives the node its name again while a peer with a higher id is missing, because that peer has to
 * find it. Returns when to look again, in ms; -1: no peer is missing. */
static int peers_show_to_missing(struct shm_node *n)
{
    if (n->to_await == 0)
        return -1;
    if (!shm_is_shown(n))
        shm_show(n);
    return RETRY_LOST_MS; /* another program may remove the name, such as one that cleans /tmp */
}

int shm_seek_peers(struct shm_node *n)
{
    return shm_sooner(peers_ask(n), peers_show_to_missing(n));
}

/* --- meeting: the control thread; without the lock, as it calls the core ------------------- */

/* The node's entry of the peer, made if there is none; NULL when there is no memory. With the lock
 * held. */
static struct shm_peer *peer_make(struct shm_node *n, uint32_t id)
{
    struct shm_peer *p = loco_by_node_make(&n->peers, id);

    if (p && !p->arenas) {
        p->id = id;
        p->arenas = calloc(1, sizeof *p->arenas);
    }
    return p && p->arenas ? p : NULL;
}

/* A peer that came back has new arenas. The old ones stay mapped. */
static int peer_renew_arenas(struct shm_peer *p)
{
    if (!p->lives)
        return 0;
    if (p->lives > SHM_RETURNS_MAX)
        return -ENOSPC;
    struct shm_arenas *a = calloc(1, sizeof *a);
    if (!a)
        return -ENOMEM;
    a->older = p->arenas;
    p->arenas = a;
    return 0;
}

static void peer_lose(struct shm_node *n, struct shm_peer *p, bool left)
{
    const bool was_up = p->up;

    pthread_mutex_lock(&n->shm->lock);
    p->way->pairs -= was_up;
    p->way = NULL;
    p->up = false;
    if (was_up)
        peer_count_missing(n, p, 1);
    peer_try_later(p, RETRY_MS);
    pthread_mutex_unlock(&n->shm->lock);
    if (was_up)
        n->base.events.peer_lost(n->base.events.arg, p->id, left);
}

/* The pair is up, over this connection. The node that was asked tells the one that asked. */
static void peer_connect(struct shm_node *n, struct shm_peer *p, struct shm_connection *c,
                         const struct shm_head *asked)
{
    pthread_mutex_lock(&n->shm->lock);
    p->way = c;
    p->call = asked->call;
    p->up = true;
    p->lives++;
    c->pairs++;
    if (asked->kind == SHM_MEET) {
        const struct shm_head met = peer_head(n, p, SHM_MET);
        shm_post(c, &met, sizeof met, -1);
    }
    for (uint32_t i = 0; i < n->arena_count; i++)
        shm_post_arena(n, p, i);
    peer_count_missing(n, p, -1);
    peers_hide_when_met(n);
    pthread_mutex_unlock(&n->shm->lock);
    n->base.events.peer_up(n->base.events.arg, p->id);
}

/* Answers a message with a parting. */
static void peer_part(struct shm_connection *c, const struct shm_head *from, enum shm_reason reason)
{
    const struct shm_head back = {
        .from = from->to, .to = from->from, .call = from->call, .kind = SHM_PARTING};

    pthread_mutex_lock(&c->shm->lock);
    peer_post_parting(c, back, reason);
    pthread_mutex_unlock(&c->shm->lock);
}

/* Whether the peer's id is free here. Its former process may have ended unnoticed, so the messages
 * left on its connection are handled first. */
static bool peer_is_free(struct shm_peer *p)
{
    if (p && p->way && !p->way->heard)
        shm_hear(p->way);
    return !p || (!p->way && !p->refused);
}

/* A node of another process asks to meet. Returns whether the connection may stay. */
static bool peer_on_meet(struct shm_connection *c, const struct shm_head *h)
{
    struct shm *s = c->shm;
    struct shm_node *n = shm_find_node(s, h->to);
    char text[160];

    if (!n) {
        peer_part(c, h, SHM_ABSENT);
        return true;
    }
    if (h->from <= h->to || h->from >= s->self.count)
        return false;
    if (!peer_is_free(shm_peer_of(n, h->from))) {
        peer_part(c, h, SHM_TAKEN);
        if (shm_is_worth_saying(s)) {
            snprintf(text, sizeof text,
                     "node %u met a node that says it is node %u: its place is taken", h->to,
                     h->from);
            shm_warn(n, text);
        }
        return true;
    }
    pthread_mutex_lock(&s->lock);
    struct shm_peer *p = peer_make(n, h->from);
    pthread_mutex_unlock(&s->lock);
    if (p && !peer_renew_arenas(p)) {
        peer_connect(n, p, c, h);
        return true;
    }
    peer_part(c, h, SHM_UNFIT);
    if (shm_is_worth_saying(s))
        shm_warn(n, "a node came back too often, or there is no memory for it");
    return true;
}

/* The pair that a message belongs to. n is NULL when there is no such pair, for instance when the
 * node has closed since the message was sent. */
struct pair {
    struct shm_node *n;
    struct shm_peer *p;
};

static struct pair pair_find(struct shm_connection *c, const struct shm_head *h)
{
    struct shm_node *n = shm_find_node(c->shm, h->to);
    struct shm_peer *p = n ? shm_peer_of(n, h->from) : NULL;

    return p && p->way == c && p->call == h->call ? (struct pair){n, p} : (struct pair){0};
}

static void pair_on_met(struct shm_connection *c, const struct pair *pair, const struct shm_head *h)
{
    if (!peer_renew_arenas(pair->p)) {
        peer_connect(pair->n, pair->p, c, h);
        return;
    }
    pair->p->refused = true; /* it does not part: the peer would take this node for dead */
    if (shm_is_worth_saying(c->shm))
        shm_warn(pair->n, "a node came back too often, or there is no memory for it");
}

static void pair_on_parting(struct shm_connection *c, const struct pair *pair, uint32_t reason)
{
    struct shm_peer *p = pair->p;
    char text[160];

    if (reason == SHM_ABSENT)
        c->place = (struct shm_place){0}; /* the node is in another process now */
    if (reason == SHM_TAKEN || reason == SHM_ABSENT)
        peer_try_later(p, RETRY_LOST_MS);
    p->refused |= reason == SHM_UNFIT;
    if (reason == SHM_TAKEN && shm_is_worth_saying(c->shm)) {
        snprintf(text, sizeof text, "node %u was refused by node %u: this place is taken",
                 pair->n->base.id, p->id);
        shm_warn(pair->n, text);
    }
    peer_lose(pair->n, p, reason == SHM_LEFT);
}

/* Whether the machine's memory could hold the arena besides those mapped so far. All of an arena
 * may be used, and it stays until the node closes. */
static bool peer_has_room(const struct shm_node *n, uint64_t size)
{
    const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    return n->mapped <= machine && size <= machine - n->mapped;
}

static int pair_map_arena(struct shm_connection *c, const struct pair *pair,
                          const struct shm_arena_notice *a)
{
    struct map *maps = pair->p->arenas->maps;

    if (a->file >= SHM_FILES || a->number >= SHM_ARENAS_MAX || maps[a->number].base)
        return -EPROTO;
    if (c->files[a->file] < 0)
        return -EMFILE; /* the kernel had no room for the descriptor */
    if (!peer_has_room(pair->n, a->size))
        return -ENOMEM;
    int rc = shm_share(&maps[a->number], c->files[a->file],
                       (struct shm_range){.offset = a->offset, .size = a->size});
    if (!rc)
        pair->n->mapped += a->size;
    return rc;
}

/* Maps an arena of the peer. If that fails, the channels that have regions there fail. The two do
 * not part: both live, and neither may take the other for dead. */
static void pair_on_arena(struct shm_connection *c, const struct pair *pair,
                          const struct shm_arena_notice *a)
{
    int rc = pair_map_arena(c, pair, a);
    char text[160];

    if (!rc || !shm_is_worth_saying(c->shm))
        return;
    snprintf(text, sizeof text, "node %u cannot map arena %u of node %u (%llu bytes): %s",
             pair->n->base.id, a->number, pair->p->id, (unsigned long long)a->size,
             rc == -EPERM    ? "its file may shrink"
             : rc == -EPROTO ? "its file, or its number, is another"
                             : strerror(-rc));
    shm_warn(pair->n, text);
}

static void pair_on_core(const struct pair *pair, const unsigned char *data, size_t size)
{
    const struct loco_events *events = &pair->n->base.events;

    events->message(events->arg, pair->p->id, data + sizeof(struct shm_head),
                    size - sizeof(struct shm_head));
}

/* Handles a message of a pair that is up, or that asked to meet. */
static void pair_on_message(struct shm_connection *c, const struct pair *pair,
                            const struct shm_head *h, const unsigned char *data, size_t size)
{
    struct shm_arena_notice arena;
    struct shm_parting parting;

    if (h->kind == SHM_PARTING) {
        memcpy(&parting, data, sizeof parting);
        pair_on_parting(c, pair, parting.reason);
    } else if (h->kind == SHM_MET && !pair->p->up) {
        pair_on_met(c, pair, h);
    } else if (h->kind == SHM_ARENA && pair->p->up) {
        memcpy(&arena, data, sizeof arena);
        pair_on_arena(c, pair, &arena);
    } else if (h->kind == SHM_CORE && pair->p->up) {
        pair_on_core(pair, data, size);
    }
}

static bool message_is_of_size(uint32_t kind, size_t size)
{
    switch (kind) {
    case SHM_MEET:
    case SHM_MET:
        return size == sizeof(struct shm_head);
    case SHM_ARENA:
        return size == sizeof(struct shm_arena_notice);
    case SHM_PARTING:
        return size == sizeof(struct shm_parting);
    default:
        return kind == SHM_CORE;
    }
}

bool shm_on_message(struct shm_connection *c, const struct shm_head *h, const unsigned char *data,
                    size_t size)
{
    if (!message_is_of_size(h->kind, size))
        return false;
    if (h->kind == SHM_MEET)
        return peer_on_meet(c, h);
    const struct pair pair = pair_find(c, h);
    if (pair.n)
        pair_on_message(c, &pair, h, data, size);
    return true;
}

bool shm_peer_refused(struct shm_connection *c, bool absent)
{
    struct shm_node *n = shm_find_node(c->shm, c->self.id);
    struct shm_peer *p = n ? shm_peer_of(n, c->greet.other_id) : NULL;

    if (!p)
        return false;
    const bool first = !absent && !p->warned;
    p->warned |= first;
    peer_try_later(p, RETRY_LOST_MS);
    return first;
}

void shm_connection_lost(struct shm_connection *c)
{
    struct shm *s = c->shm;

    pthread_mutex_lock(&s->lock);
    struct shm_node *first = s->nodes;
    if (c->greet.active && !c->greet.proven)
        peers_miss(s, c->greet.other_id, RETRY_MS);
    pthread_mutex_unlock(&s->lock);
    for (struct shm_node *n = first; n; n = n->next) {
        loco_each_entry (&n->peers, id) {
            struct shm_peer *p = shm_peer_of(n, id);
            if (p && p->way == c)
                peer_lose(n, p, false);
        }
    }
}

int shm_meet(struct loco_node *base, uint32_t peer)
{
    struct shm_node *n = (struct shm_node *)base;
    struct shm *s = n->shm;

    pthread_mutex_lock(&s->lock);
    struct shm_peer *p = peer_make(n, peer);
    if (p && !p->asked) {
        n->asked = p->asked = true;
        if (!p->up)
            peer_count_missing(n, p, 1);
    }
    pthread_mutex_unlock(&s->lock);
    shm_wake_thread(s);
    return p ? 0 : -ENOMEM;
}

void shm_part_from_peers(struct shm_node *n)
{
    loco_each_entry (&n->peers, id) {
        struct shm_peer *p = shm_peer_of(n, id);
        if (!p || !p->way)
            continue;
        peer_post_parting(p->way, peer_head(n, p, SHM_PARTING), SHM_LEFT);
        p->way->pairs -= p->up;
        p->way = NULL;
    }
}

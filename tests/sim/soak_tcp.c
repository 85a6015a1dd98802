/*
 * Workloads of the tcp fabric for soak-shm, over loopback: histories of one link with holds, and a
 * peer that is lost while it writes. Node 0 is of one process, as far as the fabric knows, and the
 * others are of another.
 */
#include <errno.h>
#include <pthread.h>

#include "channels/fabric/tcp/tcp_internal.h"
#include "tests/ear.h"
#include "tests/sim/soak_shm.h"

/* The node that is lost while it writes, and the word that it writes to. */
enum { FLOODER = 2, FLOOD = 7 };

enum { FAR_NODES_MAX = 3, FAR_ARENA = 1 << 12, FAR_LIMIT_S = 60 };

struct far_end_of {
    struct ear ear;
    struct loco_fabric *fabric;
    struct loco_node *node;
    struct loco_arena arena;
    struct loco_link *link;
    uint64_t number;  /* of the link's newest operation */
    uint64_t at_loss; /* the word that is flooded, when the first peer was lost */
};

struct far_stage {
    struct far_end_of at[FAR_NODES_MAX];
    uint32_t nodes;
    struct loco_fabric *fabrics[2];
    int failures;
};

static void far_expect(struct far_stage *s, bool holds, const char *what)
{
    if (holds)
        return;
    s->failures++;
    fprintf(stderr, "tcp: %s\n", what);
}

#define FAR_AWAIT(stage, end, condition)                                                           \
    do {                                                                                           \
        struct loco_wait wait_ = {0};                                                              \
        const uint64_t begin_ = (end)->fabric->ops->clock(NULL);                                   \
        bool late_ = false;                                                                        \
        while (!(condition) && !late_) {                                                           \
            (end)->fabric->ops->relax((end)->node, &wait_);                                        \
            late_ = (end)->fabric->ops->clock(NULL) - begin_ > FAR_LIMIT_S * UINT64_C(1000000000); \
        }                                                                                          \
        far_expect(stage, !late_, #condition " never came true");                                  \
    } while (0)

static uint64_t *far_word(const struct far_end_of *e, size_t index)
{
    return (uint64_t *)(void *)e->arena.base + index;
}

static void far_lost(void *arg, uint32_t peer, bool left)
{
    struct far_end_of *e = arg; /* which begins with the ear */

    if (e->ear.losts == 0)
        e->at_loss = __atomic_load_n(far_word(e, FLOOD), __ATOMIC_ACQUIRE);
    ear_lost(&e->ear, peer, left);
}

static void far_open_end(struct far_stage *s, uint32_t id)
{
    struct far_end_of *e = &s->at[id];
    struct loco_events events = ear_events(&e->ear);

    events.peer_lost = far_lost;
    e->fabric = s->fabrics[id > 0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    far_expect(
        s, ops->node_open(e->fabric, id, s->nodes, (struct loco_secret){0}, &events, &e->node) == 0,
        "no node");
    for (uint32_t peer = 0; peer < s->nodes; peer++)
        if (peer != id)
            ops->meet(e->node, peer);
    far_expect(s, ops->arena_map(e->node, FAR_ARENA, &e->arena) == 0, "no arena");
}

/* Opens the nodes. Those but node 0 have a link to it, and node 0 has one to node 1. */
static void far_open_stage(struct far_stage *s, uint32_t nodes)
{
    *s = (struct far_stage){.nodes = nodes};
    for (unsigned i = 0; i < 2; i++)
        far_expect(s, open_tcp(&s->fabrics[i], (struct loco_tcp_config){0}) == 0, "no fabric");
    for (uint32_t id = 0; id < nodes; id++)
        far_open_end(s, id);
    for (uint32_t id = 0; id < nodes; id++)
        FAR_AWAIT(s, &s->at[id], s->at[id].ear.ups == nodes - 1);
    for (uint32_t id = 0; id < nodes; id++)
        for (uint32_t peer = 0; peer < nodes; peer++)
            if (peer != id)
                s->at[id].fabric->ops->send(s->at[id].node, peer, "hello", 5);
    for (uint32_t id = 0; id < nodes; id++)
        FAR_AWAIT(s, &s->at[id], s->at[id].ear.messages == nodes - 1);
    for (uint32_t id = 0; id < nodes; id++)
        far_expect(s,
                   s->at[id].fabric->ops->link_open(s->at[id].node, id == 0, UINT64_MAX,
                                                    &s->at[id].link) == 0,
                   "no link");
}

static int far_close_stage(struct far_stage *s)
{
    for (uint32_t id = 0; id < s->nodes; id++) {
        s->at[id].fabric->ops->link_close(s->at[id].link);
        s->at[id].fabric->ops->node_close(s->at[id].node);
    }
    for (unsigned i = 0; i < 2; i++)
        loco_tcp_close(s->fabrics[i]);
    return s->failures;
}

static struct loco_remote far_there(size_t index)
{
    return (struct loco_remote){.known = 1, .offset = index * sizeof(uint64_t)};
}

/* The link, for its next operation. */
static struct loco_link *far_next(struct far_end_of *e)
{
    atomic_store(&e->link->posted, ++e->number);
    return e->link;
}

static void far_flush(struct far_stage *s, struct far_end_of *e)
{
    const uint64_t ticket = e->fabric->ops->flush(e->link);

    FAR_AWAIT(s, e, atomic_load(&e->link->flushed) >= ticket);
}

/* --- holds --------------------------------------------------------------------------------------
 */

/*
 * One thread writes, reads and adds in random order, and holds now and then. Since a link's
 * operations are executed in order, the result of each is known when it is posted. It must be there
 * as soon as the operation, or a later one, is said to be done.
 */
enum { HOLD_OPS = 600, HOLD_WORDS = 4, COUNTER = 8, RESULTS = 16, RESULTS_AT = 32 };

struct hold_history {
    struct far_stage stage;
    uint64_t random, values[HOLD_WORDS], counter;
    uint64_t numbers[RESULTS], expected[RESULTS]; /* numbers: of the operations; 0: at rest */
    bool holds;
};

static uint64_t hold_draw(struct hold_history *h, uint64_t below)
{
    h->random = h->random * 6364136223846793005u + 1442695040888963407u;
    return (h->random >> 33) % below;
}

/* Judges the operations that are said to be done. Returns the place for another result; or RESULTS:
 * none is free. */
static unsigned hold_judge(struct hold_history *h)
{
    struct far_end_of *e = &h->stage.at[0];
    const uint64_t done = atomic_load(&e->link->done);
    unsigned rest = RESULTS;

    for (unsigned i = 0; i < RESULTS; i++) {
        if (h->numbers[i] && h->numbers[i] <= done) {
            far_expect(&h->stage, *far_word(e, RESULTS_AT + i) == h->expected[i],
                       "an operation that is done has no result, or the wrong one");
            h->numbers[i] = 0;
        }
        rest = h->numbers[i] ? rest : i;
    }
    return rest;
}

static void hold_await_all(struct hold_history *h)
{
    struct far_end_of *e = &h->stage.at[0];

    FAR_AWAIT(&h->stage, e, atomic_load(&e->link->done) == e->number);
    hold_judge(h);
}

static void hold_ask(struct hold_history *h, bool adds)
{
    struct far_end_of *e = &h->stage.at[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    const uint64_t w = hold_draw(h, HOLD_WORDS);
    unsigned i = hold_judge(h);

    if (i == RESULTS) {
        hold_await_all(h);
        i = 0;
    }
    uint64_t *result = far_word(e, RESULTS_AT + i);
    *result = UINT64_MAX;
    h->expected[i] = adds ? h->counter++ : h->values[w];
    struct loco_link *link = far_next(e);
    h->numbers[i] = e->number;
    if (adds)
        ops->fetch_add(link, far_there(COUNTER), 1, result);
    else
        ops->read(link, far_there(w), result, sizeof *result);
}

static void hold_write(struct hold_history *h)
{
    struct far_end_of *e = &h->stage.at[0];
    const uint64_t w = hold_draw(h, HOLD_WORDS), value = ++h->values[w];

    e->fabric->ops->write(far_next(e), far_there(w), &value, sizeof value);
}

static void hold_toggle(struct hold_history *h)
{
    const struct loco_node *n = h->stage.at[0].node;

    if (h->holds)
        n->fabric->ops->release(h->stage.at[0].node);
    else
        n->fabric->ops->hold(h->stage.at[0].node);
    h->holds = !h->holds;
}

static void hold_step(struct hold_history *h)
{
    switch (hold_draw(h, 16)) {
    case 0:
    case 1:
    case 2:
        hold_toggle(h);
        break;
    case 3:
        hold_await_all(h);
        break;
    case 4:
        hold_ask(h, true);
        break;
    case 5:
    case 6:
    case 7:
        hold_ask(h, false);
        break;
    default:
        hold_write(h);
    }
    hold_judge(h);
}

static int run_holds(uint64_t seed)
{
    struct hold_history h = {.random = seed};

    far_open_stage(&h.stage, 2);
    for (unsigned i = 0; !h.stage.failures && i < HOLD_OPS; i++)
        hold_step(&h);
    if (h.holds)
        hold_toggle(&h);
    hold_await_all(&h);
    far_flush(&h.stage, &h.stage.at[0]);
    for (unsigned w = 0; w < HOLD_WORDS; w++)
        far_expect(&h.stage, *far_word(&h.stage.at[1], w) == h.values[w], "a write is missing");
    return far_close_stage(&h.stage);
}

const struct loco_sim_workload workload_tcp_holds = {.name = "tcp_holds", .run = run_holds};

/* --- losses -------------------------------------------------------------------------------------
 */

/* Node 2 writes to one place, again and again. Its connection to node 0 breaks, but not the lane,
 * which it shares with node 1. Once node 0 has lost it, nothing that it wrote is placed. */
static void *flood(void *arg)
{
    struct far_end_of *e = arg;

    for (uint64_t i = 1; e->fabric->ops->write(far_next(e), far_there(FLOOD), &i, sizeof i) >= 0;)
        i++;
    return NULL;
}

/* Node 0 loses node 2, which goes on to write: its process does not notice, as its lock is held. */
static void lose_flooder(struct far_stage *s)
{
    struct tcp_node *n = (struct tcp_node *)s->at[0].node;
    struct tcp *here = n->tcp, *there = ((struct tcp_node *)s->at[FLOODER].node)->tcp;
    const struct loco_link *flooding = s->at[FLOODER].link;

    pthread_mutex_lock(&there->control.lock);
    pthread_mutex_lock(&here->control.lock);
    if (n->control.peers[FLOODER].connection)
        control_connection_end(n->control.peers[FLOODER].connection);
    pthread_mutex_unlock(&here->control.lock);
    FAR_AWAIT(s, &s->at[0], s->at[0].ear.losts > 0);
    const uint64_t posted = atomic_load(&flooding->posted);
    FAR_AWAIT(s, &s->at[0], atomic_load(&flooding->posted) > posted + 100);
    pthread_mutex_unlock(&there->control.lock);
}

static int run_losses(uint64_t seed)
{
    struct far_stage s;
    pthread_t flooder;

    far_open_stage(&s, FAR_NODES_MAX);
    const struct far_end_of *e = &s.at[0];
    const uint64_t *place = far_word(e, FLOOD);
    pthread_create(&flooder, NULL, flood, &s.at[FLOODER]);
    FAR_AWAIT(&s, e, __atomic_load_n(place, __ATOMIC_ACQUIRE) > seed * 37 % 1000);
    lose_flooder(&s);
    pthread_join(flooder, NULL);
    far_flush(&s, &s.at[1]); /* behind all that node 2 has sent over the lane */
    far_expect(&s, __atomic_load_n(place, __ATOMIC_ACQUIRE) == e->at_loss,
               "a lost peer's write was placed");
    return far_close_stage(&s);
}

const struct loco_sim_workload workload_tcp_losses = {.name = "tcp_losses", .run = run_losses};

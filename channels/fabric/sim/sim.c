/* The sim fabric: its links, their operations, and the nodes' arenas. */
#include "../../loco/fabric/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../loco/fabric/atomic_copy.h"
#include "../../loco/memory.h"
#include "../../room.h"
#include "../by_node_make.h"
#include "sim_internal.h"

static struct sim *sim_of(const struct loco_fabric *fabric)
{
    return (struct sim *)fabric;
}

/* --- operations ---------------------------------------------------------------------- */

enum { SMALL = LOCO_INLINE_MAX };

static struct operation *sim_operation_new(struct sim *s, size_t size)
{
    struct operation *o = s->spare;

    if (size <= SMALL && o) {
        s->spare = o->next;
        return o;
    }
    size_t room = size > SMALL ? size : SMALL;
    o = malloc(sizeof *o + room);
    if (o)
        o->room = room;
    return o;
}

void sim_operation_free(struct sim *s, struct operation *o)
{
    if (o->room > SMALL) {
        free(o);
        return;
    }
    o->next = s->spare;
    s->spare = o;
}

void sim_execute(struct operation *o)
{
    uint64_t *word = (uint64_t *)o->target;

    switch (o->verb) {
    case WRITE:
        loco_copy(o->target, o->data, o->size);
        break;
    case READ:
        loco_copy(o->data, o->target, o->size);
        break;
    case FETCH_ADD:
        *(uint64_t *)o->data = __atomic_fetch_add(word, o->operand, __ATOMIC_SEQ_CST);
        break;
    case COMPARE_SWAP:
        *(uint64_t *)o->data = o->expected;
        __atomic_compare_exchange_n(word, (uint64_t *)o->data, o->operand, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
        break;
    case FLUSH:
        break;
    }
}

static unsigned char *sim_place_in(const struct sim_node *n, struct loco_remote at, size_t size)
{
    if (at.arena >= n->arena_count)
        return NULL;
    const struct sim_arena *a = &n->arenas[at.arena];
    return at.offset <= a->size && size <= a->size - at.offset ? a->base + at.offset : NULL;
}

/* Ends a post that failed. Takes its number back, so that nobody waits for it. */
static int sim_fail(struct sim_link *l, int error)
{
    atomic_store(&l->base.posted, l->last);
    return error;
}

void sim_poll(struct loco_link *link)
{
    const struct sim_link *l = (struct sim_link *)link;

    if (sim_hears(l))
        l->node->sim->physics->poll(link);
}

static void sim_interrupt(struct sim *s)
{
    if (s->physics->interrupt)
        s->physics->interrupt(s);
}

/* Reads the source word by word, as other fibers may write to it meanwhile. */
static void sim_read_source(struct sim *s, struct operation *o)
{
    const unsigned char *from = o->source;
    size_t at = 0;

    sim_note_words(s, s->current->number, LOCO_SIM_READS, from, o->size);
    for (; s->physics->interrupt && o->size - at > sizeof(uint64_t); at += sizeof(uint64_t)) {
        loco_copy(o->data + at, from + at, sizeof(uint64_t));
        sim_interrupt(s);
        sim_note_words(s, s->current->number, LOCO_SIM_READS, from + at + sizeof(uint64_t),
                       sizeof(uint64_t));
    }
    loco_copy(o->data + at, from + at, o->size - at);
}

/* Posts an operation. `like` contains the fields that depend on the verb. */
static int sim_submit(struct sim_link *l, enum verb verb, struct loco_remote at, size_t size,
                      const struct operation *like)
{
    unsigned char *target = sim_place_in(l->peer, at, size);
    struct sim *s = l->node->sim;

    sim_drain(s->current);
    sim_interrupt(s);
    sim_poll(&l->base);
    if (!target)
        return sim_fail(l, -ERANGE);
    if (!sim_hears(l))
        return sim_fail(l, -ECONNRESET);
    struct operation *o = sim_operation_new(s, size);
    if (!o)
        return sim_fail(l, -ENOMEM);
    size_t room = o->room;
    *o = *like;
    o->room = room;
    o->verb = verb;
    o->link = l;
    o->number = atomic_load_explicit(&l->base.posted, memory_order_relaxed);
    o->target = target;
    o->size = size;
    if (o->source && (size <= LOCO_INLINE_MAX || s->config.chaos < LOCO_SIM_DEFERRED)) {
        sim_read_source(s, o);
        o->source = NULL;
    }
    uint64_t number = o->number;
    int rc = s->physics->post(l, o);
    if (rc < 0)
        return sim_fail(l, rc);
    l->last = number;
    return rc;
}

/* Whether a write is placed before the post returns: the link has no latency, and nothing in
 * flight. */
static bool sim_is_immediate(const struct sim_link *l)
{
    return l->immediate && !l->oldest && sim_hears(l);
}

static int sim_write(struct loco_link *base, struct loco_remote to, const void *from, size_t size)
{
    struct sim_link *l = (struct sim_link *)base;
    unsigned char *target;

    if (!sim_is_immediate(l) || !(target = sim_place_in(l->peer, to, size)))
        return sim_submit(l, WRITE, to, size, &(struct operation){.source = from});
    loco_copy(target, from, size);
    if (l->peer->waiting)
        sim_wake(l->peer);
    l->last = atomic_load_explicit(&base->posted, memory_order_relaxed);
    atomic_store_explicit(&base->done, l->last, memory_order_release);
    return LOCO_DONE;
}

static int sim_read(struct loco_link *base, struct loco_remote from, void *to, size_t size)
{
    const struct operation like = {.result = to};

    return sim_submit((struct sim_link *)base, READ, from, size, &like);
}

static int sim_fetch_add(struct loco_link *base, struct loco_remote at, uint64_t add, uint64_t *old)
{
    const struct operation like = {.result = old, .operand = add};

    return sim_submit((struct sim_link *)base, FETCH_ADD, at, sizeof *old, &like);
}

static int sim_compare_swap(struct loco_link *base, struct loco_remote at, uint64_t expected,
                            uint64_t desired, uint64_t *old)
{
    const struct operation like = {.result = old, .operand = desired, .expected = expected};

    return sim_submit((struct sim_link *)base, COMPARE_SWAP, at, sizeof *old, &like);
}

static uint64_t sim_flush(struct loco_link *base)
{
    struct sim_link *l = (struct sim_link *)base;

    if (!sim_hears(l) && !l->node->closed)
        return UINT64_MAX; /* never reached, as the peer is lost */
    struct operation *o = l->node->closed ? NULL : sim_operation_new(l->node->sim, 0);
    if (!o)
        return l->flushes; /* the next fence asks again */
    size_t room = o->room;
    *o = (struct operation){.verb = FLUSH, .link = l, .number = ++l->flushes, .room = room};
    l->node->sim->physics->post(l, o);
    return l->flushes;
}

/* --- links and arenas ------------------------------------------------------------------ */

/* Thousands of nodes may have a small arena each. These are cut from common blocks, so that they
 * lie in a row and in few pages. A large arena has a block of its own. Pages that nobody uses cost
 * nothing: that counts where each seed of a test opens nodes anew. */
enum { BLOCK = 1 << 20, LARGE = BLOCK / 16 };

struct sim_block {
    struct sim_block *next;
    size_t size, used, room;
    uint64_t number; /* from 1 */
    unsigned char *lines;
};

static struct sim_block *sim_new_block(struct sim *s, size_t room)
{
    const size_t size = sizeof(struct sim_block) + LOCO_CACHE_LINE + room;
    struct sim_block *b =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (b == MAP_FAILED)
        return NULL;
    b->size = size;
    b->lines = (unsigned char *)(b + 1);
    b->lines += LOCO_CACHE_LINE - (uintptr_t)b->lines % LOCO_CACHE_LINE;
    b->room = room;
    b->next = s->blocks;
    b->number = 1 + (s->blocks ? s->blocks->number : 0);
    s->blocks = b;
    return b;
}

/* Returns zeroed memory in whole lines, which is freed with the sim; NULL when there is none. */
static unsigned char *sim_cut(struct sim *s, size_t size)
{
    const size_t whole = (size + LOCO_CACHE_LINE - 1) / LOCO_CACHE_LINE * LOCO_CACHE_LINE;
    struct sim_block *b = s->blocks;

    if (!b || b->room - b->used < whole)
        b = sim_new_block(s, whole < LARGE ? BLOCK : whole);
    if (!b)
        return NULL;
    unsigned char *memory = b->lines + b->used;
    b->used += whole;
    return memory;
}

static const struct sim_block *sim_block_of(const struct sim *s, const void *at)
{
    const uintptr_t place = (uintptr_t)at;
    const struct sim_block *b = s->blocks;

    while (b && place - (uintptr_t)b->lines >= b->used)
        b = b->next;
    return b;
}

bool sim_is_network_memory(const struct sim *s, const void *at)
{
    return sim_block_of(s, at) != NULL;
}

uint64_t sim_number_of_word(const struct sim *s, const void *at)
{
    const struct sim_block *b = sim_block_of(s, at);

    return b ? (b->number << 40) + ((uintptr_t)at - (uintptr_t)b->lines) / sizeof(uint64_t) : 0;
}

static int sim_arena_map(struct loco_node *base, size_t size, struct loco_arena *arena)
{
    struct sim_node *n = (struct sim_node *)base;
    struct sim_arena *more = realloc(n->arenas, (n->arena_count + 1) * sizeof *more);

    if (!more)
        return -ENOMEM;
    n->arenas = more;
    unsigned char *memory = sim_cut(n->sim, size);
    if (!memory)
        return -ENOMEM;
    n->arenas[n->arena_count] = (struct sim_arena){memory, size};
    *arena = (struct loco_arena){.base = memory, .size = size, .number = n->arena_count++};
    return 0;
}

static struct loco_sim_link sim_link_between(const struct sim *s, uint32_t from, uint32_t to)
{
    return s->config.link ? s->config.link(s->config.arg, from, to) : (struct loco_sim_link){0};
}

static bool sim_takes_no_time(const struct sim *s, uint32_t a, uint32_t b)
{
    const struct loco_sim_link there = sim_link_between(s, a, b), back = sim_link_between(s, b, a);

    return s->physics == &sim_timed &&
           !(there.latency_ns | there.jitter_ns | back.latency_ns | back.jitter_ns);
}

static void *sim_reach(struct loco_node *base, uint32_t peer, struct loco_remote at, size_t size)
{
    const struct sim_node *n = (struct sim_node *)base;

    return sim_takes_no_time(n->sim, base->id, peer)
               ? sim_place_in(sim_peer_of(n, peer)->node, at, size)
               : NULL;
}

static uint64_t sim_number_of_link(const struct sim_node *n, uint32_t peer)
{
    uint64_t others = 0;

    for (const struct sim_link *l = n->links; l; l = l->next)
        others += l->base.peer == peer;
    return ((uint64_t)n->base.id << 40) + ((uint64_t)peer << 20) + others;
}

/* Waits for nothing. */
static int sim_link_open(struct loco_node *base, uint32_t peer, uint64_t until,
                         struct loco_link **link)
{
    struct sim_node *n = (struct sim_node *)base;
    struct sim_peer *p = sim_peer_of(n, peer);
    struct sim *s = n->sim;

    (void)until;
    if (!p || !p->node)
        return -ENOTCONN;
    struct sim_link *l = calloc(1, sizeof *l);
    if (!l)
        return -ENOMEM;
    l->base.node = base;
    l->base.peer = peer;
    l->node = n;
    l->peer = p->node;
    l->deaf = !p->up;
    l->there = sim_link_between(s, base->id, peer);
    l->back = sim_link_between(s, peer, base->id);
    l->immediate = sim_takes_no_time(s, base->id, peer);
    l->random = s->config.seed * 0x9e3779b97f4a7c15u + ++s->link_count;
    l->number = sim_number_of_link(n, peer);
    l->next = n->links;
    n->links = l;
    l->next_to_peer = p->links;
    p->links = l;
    *link = &l->base;
    return 0;
}

/* The link is freed with the sim, as operations in flight still refer to it. */
static void sim_link_close(struct loco_link *link)
{
    (void)link;
}

static uint64_t sim_clock(struct loco_node *node)
{
    struct sim *s = ((struct sim_node *)node)->sim;

    sim_note(s, s->current->number, LOCO_SIM_TIMES, 0);
    return s->now;
}

static void sim_relax(struct loco_node *node, struct loco_wait *wait)
{
    wait->turns++;
    ((struct sim_node *)node)->sim->physics->relax(node, wait);
}

static const struct loco_fabric_ops sim_ops = {
    .name = "sim",
    .node_open = sim_node_open,
    .node_close = sim_node_close,
    .meet = sim_meet,
    .send = sim_send,
    .arena_map = sim_arena_map,
    .reach = sim_reach,
    .link_open = sim_link_open,
    .link_close = sim_link_close,
    .write = sim_write,
    .read = sim_read,
    .fetch_add = sim_fetch_add,
    .compare_swap = sim_compare_swap,
    .flush = sim_flush,
    .poll = sim_poll,
    .clock = sim_clock,
    .relax = sim_relax,
};

struct loco_fabric *loco_sim_open(const struct loco_sim_config *config)
{
    if (!loco_room_is_empty(config->room, sizeof config->room))
        return NULL;
    struct sim *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->base = (struct loco_fabric){
        .ops = &sim_ops,
        .capabilities = LOCO_SHARED_CLOCK | (config->chaos ? 0 : LOCO_WHOLE) |
                        (config->chaos < LOCO_SIM_DEFERRED ? LOCO_ATOMICS_PLACED : 0),
    };
    s->config = *config;
    s->physics = config->chaos ? &sim_chaos : &sim_timed;
    s->random = config->seed;
    s->main = (struct sim_fiber){.kind = FIBER, .sim = s, .fiber = loco_fiber_current()};
    if (!s->main.fiber) {
        free(s);
        return NULL;
    }
    return &s->base;
}

static void sim_free_node(struct sim *s, struct sim_node *n)
{
    while (n->links) {
        struct sim_link *l = n->links;
        n->links = l->next;
        while (l->oldest) {
            struct operation *o = l->oldest;
            l->oldest = o->next;
            sim_operation_free(s, o);
        }
        free(l);
    }
    while (n->news) {
        struct news *next = n->news->next;
        free(n->news);
        n->news = next;
    }
    free(n->arenas);
    loco_by_node_free(&n->peers);
    free(n);
}

void loco_sim_close(struct loco_fabric *fabric)
{
    struct sim *s = sim_of(fabric);
    struct loco_timeline_entry left;

    if (!s)
        return;
    while (loco_timeline_take(&s->timeline, &left))
        if (*(enum kind *)left.what == NEWS)
            free(left.what);
    for (uint32_t i = 0; i < s->node_count; i++)
        while (s->nodes[i]) {
            struct sim_node *n = s->nodes[i];
            s->nodes[i] = n->older;
            sim_free_node(s, n);
        }
    free(s->nodes);
    while (s->blocks) {
        struct sim_block *b = s->blocks;
        s->blocks = b->next;
        munmap(b, b->size);
    }
    while (s->spare) {
        struct operation *o = s->spare;
        s->spare = o->next;
        free(o);
    }
    sim_fibers_free(s);
    free(s->active);
    loco_timeline_free(&s->timeline);
    free(s);
}

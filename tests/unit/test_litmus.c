/*
 * Litmus tests with real threads and processes. They run rounds in step, so that the nodes act at
 * the same moment on different processors. Outcomes that docs/memory-model.md forbids must never
 * happen. Outcomes that it allows need not happen on every fabric; tests/sim shows those.
 *
 * LITMUS_ROUNDS is the number of rounds (make soak: millions).
 */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/nodes.h"

enum { NODES_MAX = 3, ROUNDS = 20000, ROUNDS_EMULATED = 50, X = 0, Y = 64, SPINS = 2000 };

struct player {
    struct node *node;
    struct loco_shared_region memory;
    struct loco_atomic_array array;
    uint64_t *words;  /* this node's copy of the region */
    uint64_t *result; /* network memory */
};

/* The actions of a program. All its values increase with the rounds. */
struct program {
    uint32_t nodes;
    uint64_t (*act)(struct player *player, uint64_t round);
    /* Whether the nodes' results of this round are forbidden. */
    bool (*is_wrong)(const uint64_t *got, uint64_t round);
};

/* One node's part of the shared state, in a cache line of its own. */
struct stand {
    _Alignas(128) _Atomic uint64_t begun;
    _Atomic uint64_t ended;
    uint64_t got;
};

struct match {
    const struct program *program;
    uint64_t rounds, wrong;
    struct stand stands[NODES_MAX];
};

static void await_step(_Atomic uint64_t *step, uint64_t round)
{
    for (unsigned spins = 0; atomic_load_explicit(step, memory_order_acquire) < round; spins++)
        if (spins > SPINS)
            sched_yield();
}

static void play_round(struct player *p, struct match *m, uint64_t round)
{
    struct stand *own = &m->stands[p->node->id];
    uint64_t got[NODES_MAX] = {0};

    atomic_store(&own->begun, round);
    for (uint32_t i = 0; i < m->program->nodes; i++)
        await_step(&m->stands[i].begun, round);
    own->got = m->program->act(p, round);
    atomic_store(&own->ended, round);
    for (uint32_t i = 0; i < m->program->nodes; i++) {
        await_step(&m->stands[i].ended, round);
        got[i] = m->stands[i].got;
    }
    if (p->node->id == 0)
        m->wrong += m->program->is_wrong(got, round);
}

static void play(struct node *n)
{
    struct match *m = n->arg;
    struct player p = {.node = n};

    CHECK(n, loco_shared_region_init(&p.memory, n->mgr, NULL, "m", LOCO_ALL, 128) == 0);
    CHECK(n, loco_atomic_array_init(&p.array, n->mgr, NULL, "a", 2, LOCO_ALL, 0) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    p.words = loco_shared_region_local(&p.memory);
    p.result = loco_mem_ref_take(n->mgr);
    for (uint64_t round = 1; round <= m->rounds; round++)
        play_round(&p, m, round);
    loco_mem_ref_put(n->mgr, p.result);
    loco_atomic_array_fini(&p.array);
    loco_shared_region_fini(&p.memory);
}

static void run_match(enum where where, const struct program *program)
{
    const char *rounds = getenv("LITMUS_ROUNDS");
    struct match *m =
        mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    cr_assert(m != MAP_FAILED);
    m->program = program;
    m->rounds = rounds ? strtoull(rounds, NULL, 10) : effort(ROUNDS, ROUNDS_EMULATED);
    cr_assert_eq(run_nodes(where, program->nodes, play, m), 0);
    cr_assert_eq(m->wrong, 0, "forbidden, and seen in %llu of %llu rounds",
                 (unsigned long long)m->wrong, (unsigned long long)m->rounds);
    munmap(m, sizeof *m);
}

#define LITMUS(name, nodes, act, is_wrong)                                                         \
    static const struct program name = {nodes, act, is_wrong};                                     \
    Test(litmus, name##_threads)                                                                   \
    {                                                                                              \
        run_match(ON_THREADS, &name);                                                              \
    }                                                                                              \
    Test(litmus, name##_processes)                                                                 \
    {                                                                                              \
        run_match(ON_PROCESSES, &name);                                                            \
    }

/* --- the actions of a program -------------------------------------------------------------- */

static void put(struct player *p, uint32_t node, size_t at, uint64_t value)
{
    CHECK(p->node, loco_shared_region_write(&p->memory, node, at, &value, sizeof value).error == 0);
}

static uint64_t get(struct player *p, uint32_t node, size_t at)
{
    struct loco_ack ack =
        loco_shared_region_read(&p->memory, node, at, p->result, sizeof *p->result);

    CHECK(p->node, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    return *p->result;
}

static uint64_t local(struct player *p, size_t at)
{
    return __atomic_load_n(&p->words[at / 8], __ATOMIC_ACQUIRE);
}

/* One of the array's words at each node. */
static struct loco_atomic_word word_at(struct player *p, uint32_t node, uint32_t index)
{
    return loco_atomic_at(&p->array, node, index);
}

static void fence(struct player *p, enum loco_fence kind, uint32_t peer)
{
    struct loco_manager *m = p->node->mgr;
    int rc = kind == LOCO_FENCE_PAIR     ? loco_fence_pair(m, peer)
             : kind == LOCO_FENCE_THREAD ? loco_fence_thread(m)
                                         : loco_fence_global(m);

    CHECK(p->node, rc == 0);
}

static bool neither_saw(const uint64_t *got, uint64_t round)
{
    return got[0] < round && got[1] < round;
}

/* --- store buffering: a write to the other, a fence, a look at what the other wrote ---------- */

static uint64_t write_and_look(struct player *p, uint64_t round, enum loco_fence kind)
{
    uint32_t peer = 1 - p->node->id;

    put(p, peer, X, round);
    fence(p, kind, peer);
    return local(p, X);
}

static uint64_t write_pair_look(struct player *p, uint64_t round)
{
    return write_and_look(p, round, LOCO_FENCE_PAIR);
}

static uint64_t write_thread_look(struct player *p, uint64_t round)
{
    return write_and_look(p, round, LOCO_FENCE_THREAD);
}

static uint64_t write_global_look(struct player *p, uint64_t round)
{
    return write_and_look(p, round, LOCO_FENCE_GLOBAL);
}

LITMUS(buffering_pair, 2, write_pair_look, neither_saw)
LITMUS(buffering_thread, 2, write_thread_look, neither_saw)
LITMUS(buffering_global, 2, write_global_look, neither_saw)

/* --- the same with atomic words, of the own node and of the other ----------------------------- */

static uint64_t set_and_load(struct player *p, uint64_t round, enum loco_fence kind, bool near)
{
    uint32_t own = p->node->id, peer = 1 - own, to = near ? own : peer, from = near ? peer : own;
    uint64_t got = 0;

    CHECK(p->node, loco_atomic_write(word_at(p, to, 0), round).error == 0);
    fence(p, kind, to);
    CHECK(p->node, loco_atomic_load(word_at(p, from, 0), &got) == 0);
    return got;
}

static uint64_t set_near_thread_load(struct player *p, uint64_t round)
{
    return set_and_load(p, round, LOCO_FENCE_THREAD, true);
}

static uint64_t set_far_thread_load(struct player *p, uint64_t round)
{
    return set_and_load(p, round, LOCO_FENCE_THREAD, false);
}

static uint64_t set_near_global_load(struct player *p, uint64_t round)
{
    return set_and_load(p, round, LOCO_FENCE_GLOBAL, true);
}

static uint64_t set_far_pair_load(struct player *p, uint64_t round)
{
    return set_and_load(p, round, LOCO_FENCE_PAIR, false);
}

LITMUS(words_near_thread, 2, set_near_thread_load, neither_saw)
LITMUS(words_far_thread, 2, set_far_thread_load, neither_saw)
LITMUS(words_near_global, 2, set_near_global_load, neither_saw)
LITMUS(words_far_pair, 2, set_far_pair_load, neither_saw)

/* --- an operation on a word comes after the thread's writes to the word's node ---------------- */

static uint64_t write_then_load(struct player *p, uint64_t round)
{
    uint64_t got = 0;

    if (p->node->id == 0) {
        put(p, 1, X, round);
        CHECK(p->node, loco_atomic_load(word_at(p, 1, 0), &got) == 0);
        return got;
    }
    CHECK(p->node, loco_atomic_exchange(word_at(p, 1, 0), round, &got) == 0);
    return local(p, X);
}

LITMUS(write_before_load, 2, write_then_load, neither_saw)

/* --- a read of a link comes after its writes: both words are at node 1 ------------------------ */

static uint64_t write_then_read(struct player *p, uint64_t round)
{
    unsigned member = p->node->id == 0 ? 0 : LOCO_SELF;
    size_t to = p->node->id == 0 ? X : Y, from = p->node->id == 0 ? Y : X;

    CHECK(p->node,
          loco_region_write(p->memory.region, member, to, &round, sizeof round).error == 0);
    struct loco_ack ack =
        loco_region_read(p->memory.region, member, from, p->result, sizeof *p->result);
    CHECK(p->node, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    return *p->result;
}

LITMUS(write_before_read, 2, write_then_read, neither_saw)

/* --- message passing on one link -------------------------------------------------------------- */

static uint64_t pass(struct player *p, uint64_t round)
{
    if (p->node->id == 0) {
        put(p, 1, X, round);
        put(p, 1, Y, round);
        return round;
    }
    while (local(p, Y) < round)
        sched_yield();
    return local(p, X);
}

static bool message_missing(const uint64_t *got, uint64_t round)
{
    return got[1] < round;
}

LITMUS(passing, 2, pass, message_missing)

/* --- message passing by way of a third node --------------------------------------------------- */

static uint64_t pass_by_third(struct player *p, uint64_t round)
{
    if (p->node->id == 0) {
        put(p, 1, X, round);
        fence(p, LOCO_FENCE_THREAD, 1);
        put(p, 2, Y, round);
        return round;
    }
    if (p->node->id == 1)
        return round;
    while (local(p, Y) < round)
        sched_yield();
    return get(p, 1, X);
}

static bool third_missed(const uint64_t *got, uint64_t round)
{
    return got[2] < round;
}

LITMUS(passing_by_third, 3, pass_by_third, third_missed)

/* --- atomics: of all that add at once, none is lost ------------------------------------------- */

static uint64_t add(struct player *p, uint64_t round)
{
    uint64_t old = 0;

    (void)round;
    CHECK(p->node, loco_atomic_fetch_add(word_at(p, 1, 1), 1, &old) == 0);
    return old;
}

static bool sum_is_wrong(const uint64_t *got, uint64_t round)
{
    return got[0] + got[1] != 4 * (round - 1) + 1; /* 2n and 2n + 1 */
}

LITMUS(adding, 2, add, sum_is_wrong)

/* --- a word is never torn --------------------------------------------------------------------- */

static uint64_t write_halves(struct player *p, uint64_t round)
{
    if (p->node->id == 0) {
        put(p, 1, X, round << 32 | (uint32_t)round);
        fence(p, LOCO_FENCE_PAIR, 1);
        return 0;
    }
    uint64_t got = local(p, X);
    while (got >> 32 == (uint32_t)got && (uint32_t)got < round) {
        sched_yield();
        got = local(p, X);
    }
    return got;
}

static bool halves_differ(const uint64_t *got, uint64_t round)
{
    (void)round;
    return got[1] >> 32 != (uint32_t)got[1];
}

LITMUS(word, 2, write_halves, halves_differ)

/*
 * Workloads that only real threads on real memory can test: these have store buffers, and can be
 * interrupted for as long as a node takes to restart. They are the workloads of build/soak-shm,
 * which runs on shm, or over tcp, instead of the simulator. A seed is some thousand shots, and
 * repeating it need not give the same result. Faults are caught only if threads run at the same
 * time, on two cores.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "tests/sim/soak_shm.h"

void run_on_own_cpu(const struct node *n)
{
    cpu_set_t all, own;
    unsigned seen = 0;

    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof all, &all))
        return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && seen <= n->id; cpu++)
        if (CPU_ISSET(cpu, &all) && seen++ == n->id)
            CPU_SET(cpu, &own);
    if (CPU_COUNT(&own) > 0)
        sched_setaffinity(0, sizeof own, &own);
}

/* --- store buffering: each stores to the other, and then loads what the other stored ---------- */

/* Each node's region has the word that the other node stores and, alternating between two places,
 * whether the other node missed this node's store, with the number of its shot. The other node may
 * be one shot ahead. */
enum { SHOTS = 20000, X = 0, SAW = 64, SIZE = 192 };

static size_t saw_at(uint64_t shot)
{
    return SAW + shot % 2 * 64;
}

struct litmus {
    struct node *node;
    struct loco_shared_region region;
    uint64_t *local;
};

/* A shot: stores its number at the other node, and returns the number that the other node stored
 * here. */
struct gun {
    uint64_t (*shoot)(struct litmus *l, uint64_t shot);
};

static void store_to_other(struct litmus *l, size_t at, uint64_t value)
{
    loco_shared_region_write(&l->region, 1 - l->node->id, at, &value, sizeof value);
}

/* Waits for the other node's shot, and returns whether it missed the store of this one. */
static bool other_missed(struct litmus *l, uint64_t shot)
{
    struct loco_wait wait = {.until = UINT64_MAX};
    uint64_t saw;

    while ((saw = __atomic_load_n(&l->local[saw_at(shot) / 8], __ATOMIC_ACQUIRE)) / 2 < shot)
        loco_relax(l->node->mgr, &wait);
    return saw % 2;
}

static void litmus_body(struct node *n)
{
    const struct gun *gun = n->arg;
    struct litmus l = {.node = n};
    struct loco_barrier end;

    run_on_own_cpu(n);
    CHECK(n, loco_shared_region_init(&l.region, n->mgr, NULL, "region", LOCO_ALL, SIZE) == 0);
    CHECK(n, loco_barrier_init(&end, n->mgr, NULL, "end", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, UINT64_MAX) == 0);
    l.local = loco_shared_region_local(&l.region);
    unsigned misses = 0;
    for (uint64_t shot = 1; shot <= SHOTS; shot++) {
        bool missed = gun->shoot(&l, shot) < shot;
        store_to_other(&l, saw_at(shot), 2 * shot + missed);
        misses += other_missed(&l, shot) && missed;
    }
    CHECK(n, misses == 0); /* counts shots in which neither saw the other's store */
    loco_barrier_wait(&end);
    loco_shared_region_fini(&l.region);
    loco_barrier_fini(&end);
}

static uint64_t load_here(struct litmus *l)
{
    return __atomic_load_n(&l->local[X / 8], __ATOMIC_ACQUIRE);
}

static uint64_t shoot_pair(struct litmus *l, uint64_t shot)
{
    store_to_other(l, X, shot);
    loco_fence_pair(l->node->mgr, 1 - l->node->id);
    return load_here(l);
}

static uint64_t shoot_thread(struct litmus *l, uint64_t shot)
{
    store_to_other(l, X, shot);
    loco_fence_thread(l->node->mgr);
    return load_here(l);
}

static uint64_t shoot_global(struct litmus *l, uint64_t shot)
{
    store_to_other(l, X, shot);
    loco_fence_global(l->node->mgr);
    return load_here(l);
}

/* Node 0 reads over the link of its write, so it needs no fence. Both words are at node 1. */
static uint64_t shoot_read(struct litmus *l, uint64_t shot)
{
    uint64_t *own = &l->local[X / 8 + 1], got;

    if (l->node->id == 1) {
        __atomic_store_n(own, shot, __ATOMIC_SEQ_CST);
        return load_here(l);
    }
    store_to_other(l, X, shot);
    loco_shared_region_read(&l->region, 1, X + 8, &got, sizeof got);
    return got;
}

/* Runs the fences in turn. */
static int run_fences(uint64_t seed)
{
    static struct gun guns[] = {{shoot_pair}, {shoot_thread}, {shoot_global}};

    return run_nodes(ON_THREADS, 2, litmus_body, &guns[seed % 3]);
}

static int run_reads(uint64_t seed)
{
    static struct gun gun = {shoot_read};

    (void)seed;
    return run_nodes(ON_THREADS, 2, litmus_body, &gun);
}

static const struct loco_sim_workload store_buffers = {.name = "store_buffers", .run = run_fences};
static const struct loco_sim_workload read_after_write = {.name = "read_after_write",
                                                          .run = run_reads};

/* --- owned_var: no load gives the halves of two values, nor an older one after a newer -------- */

enum { WIDE = 64, VALUES = 20000 };

/* Stores and pushes at once, or in two steps. */
static void push_wide(struct loco_owned_var *v, uint64_t value)
{
    uint64_t wide[WIDE];

    for (unsigned i = 0; i < WIDE; i++)
        wide[i] = value;
    if (value % 3) {
        loco_owned_var_put(v, wide);
    } else {
        loco_owned_var_store(v, wide);
        loco_owned_var_push(v);
    }
}

/* Whether the value is whole and no older than `last`. */
static bool is_wide(const uint64_t *wide, unsigned words, uint64_t last)
{
    for (unsigned i = 1; i < words; i++)
        if (wide[i] != wide[0])
            return false;
    return wide[0] >= last;
}

static void owned_var_body(struct node *n)
{
    const unsigned *words = n->arg;
    struct loco_owned_var v;
    uint64_t wide[WIDE], last = 0;
    unsigned torn = 0;

    run_on_own_cpu(n);
    CHECK(n, loco_owned_var_init(&v, n->mgr, NULL, "v", 0, LOCO_ALL, *words * sizeof *wide) == 0);
    CHECK(n, loco_manager_ready(n->mgr, UINT64_MAX) == 0);
    for (uint64_t i = 1; n->id == 0 && i <= VALUES; i++) {
        struct loco_wait wait = loco_wait_for(n->mgr, i % 2 * 1000);
        while (!loco_relax(n->mgr, &wait))
            ; /* every second value stays for as long as a load takes */
        push_wide(&v, i);
    }
    while (n->id == 1 && last < VALUES) {
        if (loco_owned_var_load(&v, wide))
            continue;
        torn += !is_wide(wide, *words, last);
        last = wide[0];
    }
    CHECK(n, torn == 0);
    loco_owned_var_fini(&v);
}

/* Runs with values of many words, and with values so small that they fit in a line. */
static int run_owned_var(uint64_t seed)
{
    static unsigned words[] = {WIDE, 7};

    return run_nodes(ON_THREADS, 2, owned_var_body, &words[seed % 2]);
}

static const struct loco_sim_workload owned_var = {.name = "owned_var", .run = run_owned_var};

/* --- shared_queue: entries are whole, and those of one pusher come in its order, each once ---- */

enum { ENTRY_MAX = 13, ENTRIES = 2000, NODES = 2 };

struct queue_round {
    size_t words;
    bool one_way; /* node 0 pushes, node 1 pops */
};

struct tally {
    uint64_t last[NODES]; /* the last number popped here, by pusher */
    uint64_t sum;
    unsigned wrong;
};

/* Checks an entry: all its words are number * NODES + pusher. */
static void take_entry(struct tally *t, const uint64_t *entry, size_t words)
{
    uint64_t *last = &t->last[entry[0] % NODES];

    for (size_t i = 1; i < words; i++)
        t->wrong += entry[i] != entry[0];
    t->wrong += entry[0] / NODES <= *last;
    *last = entry[0] / NODES;
    t->sum += entry[0];
}

static void queue_body(struct node *n)
{
    const struct queue_round *round = n->arg;
    const size_t words = round->words;
    struct loco_shared_queue q;
    struct loco_sst sums;
    uint64_t entry[ENTRY_MAX], sum, all = 0;
    struct tally tally = {0};

    run_on_own_cpu(n);
    CHECK(n, loco_shared_queue_init(&q, n->mgr, NULL, "q", 0, LOCO_ALL, NODES, words * 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, UINT64_MAX) == 0);
    for (uint64_t i = 1; i <= ENTRIES; i++) {
        for (size_t k = 0; k < words; k++)
            entry[k] = i * NODES + n->id;
        if (!round->one_way || n->id == 0)
            CHECK(n, loco_shared_queue_push(&q, entry, UINT64_MAX) == 0);
        if (round->one_way && n->id == 0)
            continue;
        CHECK(n, loco_shared_queue_pop(&q, entry, UINT64_MAX) == 0);
        take_entry(&tally, entry, words);
    }
    CHECK(n, tally.wrong == 0);
    struct loco_barrier end;
    CHECK(n, loco_sst_init(&sums, n->mgr, NULL, "sums", LOCO_ALL, sizeof sum) == 0);
    CHECK(n, loco_barrier_init(&end, n->mgr, NULL, "end", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, UINT64_MAX) == 0);
    loco_sst_store_mine(&sums, &tally.sum);
    loco_sst_push_broadcast(&sums);
    loco_barrier_wait(&end);
    loco_sst_each (&sums, row) {
        loco_owned_var_load(row, &sum);
        all += sum;
    }
    const uint64_t of_one = (uint64_t)ENTRIES * (ENTRIES + 1); /* NODES is 2 */
    CHECK(n, all == (round->one_way ? of_one : 2 * of_one + ENTRIES));
    loco_barrier_wait(&end);
    loco_barrier_fini(&end);
    loco_sst_fini(&sums);
    loco_shared_queue_fini(&q);
}

/* Runs with entries of one word, of some words that share a line with other entries, and of more
 * than a line. Both nodes push and pop, or one node pushes and mostly waits for room. */
static int run_queue(uint64_t seed)
{
    static struct queue_round rounds[] = {{ENTRY_MAX, true},  {1, false}, {5, true},
                                          {ENTRY_MAX, false}, {1, true},  {5, false}};

    return run_nodes(ON_THREADS, NODES, queue_body, &rounds[seed % 6]);
}

static const struct loco_sim_workload shared_queue = {.name = "shared_queue", .run = run_queue};

/* --- pulls: an owner that ends within a pull leaves a whole value ----------------------------- */

/*
 * Node 1 owns a value, ends, and owns it again, while one thread of node 0 pulls the value and
 * another loads it. The value is so long that a pull can be interrupted in the middle.
 */
enum { LONG = 8192, OWNERS = 4 };

struct puller {
    struct node *node;
    struct loco_owned_var *var;
    pthread_t thread;
    _Atomic bool *over;
};

static void *pull_all_the_time(void *arg)
{
    struct puller *p = arg;

    loco_thread_attach(p->node->mgr);
    while (!*p->over)
        loco_owned_var_pull(p->var);
    loco_thread_detach(p->node->mgr);
    return NULL;
}

/* Whether all words are equal. */
static bool is_even(const uint64_t words[LONG])
{
    for (unsigned i = 1; i < LONG; i++)
        if (words[i] != words[0])
            return false;
    return true;
}

static void load_until_last_life(struct node *n, struct loco_owned_var *var)
{
    static uint64_t words[LONG]; /* static, as only one node loads */
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
    unsigned mixed = 0;
    bool whole;

    do {
        whole = loco_owned_var_load(var, words) == 0;
        mixed += whole && !is_even(words);
    } while ((!whole || words[0] != OWNERS) && !loco_relax(n->mgr, &wait));
    CHECK(n, whole && words[0] == OWNERS);
    CHECK(n, mixed == 0);
}

static void watch_owner(struct node *n, struct loco_owned_var *var, struct loco_owned_var *seen)
{
    _Atomic bool over = false;
    struct puller p = {.node = n, .var = var, .over = &over};
    const uint64_t yes = 1;

    pthread_create(&p.thread, NULL, pull_all_the_time, &p);
    load_until_last_life(n, var);
    over = true;
    pthread_join(p.thread, NULL);
    loco_owned_var_store(seen, &yes);
    loco_owned_var_push(seen);
}

/* Owns the value for one life. The last life ends when the reader has seen its value. */
static void own_once(struct node *n, struct loco_owned_var *var, struct loco_owned_var *seen)
{
    static uint64_t words[LONG];
    struct loco_wait wait = loco_wait_for(n->mgr, 300000);
    uint64_t end = 0;

    for (unsigned i = 0; i < LONG; i++)
        words[i] = n->life + 1;
    loco_owned_var_store(var, words);
    if (n->life == OWNERS - 1)
        AWAIT(n, loco_owned_var_load(seen, &end) == 0 && end == 1);
    else
        while (!loco_relax(n->mgr, &wait))
            ;
}

static void pulls_body(struct node *n)
{
    struct loco_owned_var var, seen;

    for (;;) {
        CHECK(n, loco_owned_var_init(&var, n->mgr, NULL, "var", 1, LOCO_ALL, LONG * 8) == 0);
        CHECK(n, loco_owned_var_init(&seen, n->mgr, NULL, "seen", 0, LOCO_ALL, 8) == 0);
        CHECK(n, loco_manager_ready(n->mgr, UINT64_MAX) == 0);
        if (n->id == 0)
            watch_owner(n, &var, &seen);
        else
            own_once(n, &var, &seen);
        loco_owned_var_fini(&var);
        loco_owned_var_fini(&seen);
        if (n->id == 0 || n->life == OWNERS - 1)
            return;
        node_return(n);
    }
}

static int run_pulls(uint64_t seed)
{
    (void)seed;
    return run_nodes(ON_THREADS, 2, pulls_body, NULL);
}

static const struct loco_sim_workload pulls = {.name = "pulls", .run = run_pulls, .weight = 4};

/* --- restarts: reads give the region's content, of whichever life of its node ----------------- */

/*
 * Node 1 has several lives, and in each its region is elsewhere. Threads of node 0 read it all the
 * time. A thread that is interrupted within a read must not combine the link to one life with the
 * place in another.
 */
enum { LIVES = 12, READERS = 3, WORDS = 64, INSIDE = 1, OUTSIDE = 2 };

struct reader {
    struct node *node;
    struct loco_shared_region *region;
    pthread_t thread;
    _Atomic bool *over;
    int failures;
};

static void fill(struct loco_shared_region *region, uint64_t value)
{
    uint64_t *words = loco_shared_region_local(region);

    for (unsigned i = 0; i < WORDS; i++)
        __atomic_store_n(&words[i], value, __ATOMIC_RELAXED);
}

/* Makes node 1's region together with others, which nobody reads. It is the first or the last of
 * them. */
static void live_once(struct node *n, struct loco_shared_region *over)
{
    const struct loco_members nobody = {.nodes = &n->id, .count = 0};
    struct loco_shared_region region, other;
    struct loco_wait wait = loco_wait_for(n->mgr, 200000);
    bool first = n->life % 2;

    if (first)
        CHECK(n, loco_shared_region_init(&other, n->mgr, NULL, "other", nobody, WORDS * 8) == 0);
    CHECK(n, loco_shared_region_init(&region, n->mgr, NULL, "region", LOCO_ALL, WORDS * 8) == 0);
    if (!first)
        CHECK(n, loco_shared_region_init(&other, n->mgr, NULL, "other", nobody, WORDS * 8) == 0);
    fill(&region, INSIDE);
    fill(&other, OUTSIDE);
    CHECK(n, loco_shared_region_init(over, n->mgr, NULL, "over", LOCO_ALL, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, UINT64_MAX) == 0);
    while (!loco_relax(n->mgr, &wait))
        ;
    if (n->life == LIVES - 1) {
        const uint64_t yes = 1;
        loco_shared_region_write(over, 0, 0, &yes, sizeof yes);
        while (!loco_peer_lost(n->mgr, 0))
            loco_relax(n->mgr, &wait);
    }
    loco_shared_region_fini(over);
    loco_shared_region_fini(&region);
    loco_shared_region_fini(&other);
}

static void *read_all_the_time(void *arg)
{
    struct reader *r = arg;
    uint64_t got;

    loco_thread_attach(r->node->mgr);
    while (!*r->over) {
        struct loco_ack ack = loco_shared_region_read(r->region, 1, 0, &got, sizeof got);
        if (ack.error ? ack.error != -ECONNRESET : got == OUTSIDE)
            r->failures++;
    }
    loco_thread_detach(r->node->mgr);
    return NULL;
}

static void watch(struct node *n)
{
    struct loco_shared_region region, told;
    struct loco_wait wait = {.until = UINT64_MAX};
    struct reader readers[READERS];
    _Atomic bool over = false;

    CHECK(n, loco_shared_region_init(&region, n->mgr, NULL, "region", LOCO_ALL, WORDS * 8) == 0);
    CHECK(n, loco_shared_region_init(&told, n->mgr, NULL, "over", LOCO_ALL, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, UINT64_MAX) == 0);
    for (unsigned i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.node = n, .region = &region, .over = &over};
        pthread_create(&readers[i].thread, NULL, read_all_the_time, &readers[i]);
    }
    while (!__atomic_load_n((uint64_t *)loco_shared_region_local(&told), __ATOMIC_ACQUIRE))
        loco_relax(n->mgr, &wait);
    over = true;
    for (unsigned i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        n->failures += readers[i].failures;
    }
    if (n->failures)
        fprintf(stderr, "%d reads got what is outside of the region\n", n->failures);
    loco_shared_region_fini(&told);
    loco_shared_region_fini(&region);
}

static void restarts_body(struct node *n)
{
    struct loco_shared_region over;

    if (n->id == 0) {
        watch(n);
        return;
    }
    for (live_once(n, &over); n->life < LIVES - 1; live_once(n, &over))
        node_return(n);
}

static int run_restarts(uint64_t seed)
{
    (void)seed;
    return run_nodes(ON_THREADS, 2, restarts_body, NULL);
}

static const struct loco_sim_workload restarts = {.name = "restarts", .run = run_restarts};

/* --- in place of the simulator's -------------------------------------------------------------- */

const struct loco_sim_workload *const workloads[] = {
    &store_buffers, &read_after_write,   &owned_var,           &shared_queue,
    &pulls,         &restarts,           &kvstore_killed,      &quick_puts,
    &owner_dies,    &workload_tcp_holds, &workload_tcp_losses, NULL};

/* Only the simulator can be directed. */
int loco_sim_workload_run_by(const struct loco_sim_workload *w, uint64_t seed,
                             enum loco_sim_chaos chaos, bool loud,
                             struct loco_sim_director *director)
{
    (void)director;
    return loco_sim_workload_run(w, seed, chaos, loud);
}

int loco_sim_workload_run(const struct loco_sim_workload *w, uint64_t seed,
                          enum loco_sim_chaos chaos, bool loud)
{
    (void)chaos;
    int failures = w->run(seed);
    if (failures && loud)
        fprintf(stderr, "workload %s fails in round %llu\n", w->name, (unsigned long long)seed);
    return failures != 0;
}

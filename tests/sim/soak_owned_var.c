/*
 * More workloads of owned_vars for soak-shm: the quick puts and loads of a loop's inputs, and an
 * owner whose process ends within a put.
 */
#include <pthread.h>
#include <time.h>

#include "channels/loco/owned_var_quick.h"
#include "tests/sim/soak_shm.h"

/* --- quick puts: no load gives the parts of two values, nor an older one after a newer ---------
 */

enum { QUICK_VALUES = 200000 };

static void quick_put_all(struct node *n, struct loco_owned_var *v)
{
    uint64_t first[3] = {0};
    struct loco_quick_owner owner;

    loco_owned_var_put(v, first);
    const uint32_t life = loco_quick_begin(n->fabric);
    CHECK(n, life && loco_quick_owner_init(&owner, v, life));
    for (uint64_t i = 1; !n->failures && i <= QUICK_VALUES; i++)
        loco_quick_put(&owner, (struct loco_triple){i, i, i});
}

static void quick_load_all(struct node *n, const struct loco_owned_var *v)
{
    struct loco_quick_reader reader;
    struct loco_triple got = {0};
    unsigned torn = 0;

    CHECK(n, loco_quick_reader_init(&reader, v));
    for (uint64_t last = 0; !n->failures && last < QUICK_VALUES;) {
        if (!loco_quick_load(&reader, &got))
            continue;
        torn += got.first != got.second || got.first != got.third || got.first < last;
        last = got.first;
    }
    CHECK(n, torn == 0);
}

static void quick_body(struct node *n)
{
    struct loco_owned_var v;

    run_on_own_cpu(n);
    CHECK(n, loco_owned_var_init(&v, n->mgr, NULL, "v", 0, LOCO_ALL, 24) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 0)
        quick_put_all(n, &v);
    else
        quick_load_all(n, &v);
    loco_owned_var_fini(&v);
}

static int run_quick(uint64_t seed)
{
    (void)seed;
    return run_nodes(ON_THREADS, 2, quick_body, NULL);
}

const struct loco_sim_workload quick_puts = {.name = "quick_puts", .run = run_quick};

/* --- an owner whose process ends, mostly within a put ------------------------------------------
 */

enum { DEAD_WORDS = 512, ENDS_WITHIN_NS = 300000 };

/* Ends the process while its other thread puts values. */
static void *end_process(void *arg)
{
    struct node *n = arg;
    const uint64_t seed = *(const uint64_t *)n->arg;
    const struct timespec wait = {.tv_nsec = (long)(seed * 2654435761 % ENDS_WITHIN_NS)};

    nanosleep(&wait, NULL);
    node_end(n);
}

static void put_until_the_end(struct node *n, struct loco_owned_var *v)
{
    static uint64_t words[DEAD_WORDS];
    pthread_t ender;

    CHECK(n, pthread_create(&ender, NULL, end_process, n) == 0);
    for (;;) {
        for (unsigned i = 0; i < DEAD_WORDS; i++)
            words[i]++;
        loco_owned_var_put(v, words);
    }
}

/* Once the owner is lost, its last value is whole, or zero if it was left half-written: loads do
 * not go on failing. */
static void load_what_is_left(struct node *n, struct loco_owned_var *v)
{
    static uint64_t words[DEAD_WORDS];
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);

    while (!loco_peer_lost(n->mgr, 1) && !loco_relax(n->mgr, &wait))
        ;
    CHECK(n, loco_owned_var_load(v, words) == 0);
    for (unsigned i = 1; i < DEAD_WORDS; i++)
        CHECK(n, words[i] == words[0]);
}

static void dies_body(struct node *n)
{
    struct loco_owned_var v;

    CHECK(n, loco_owned_var_init(&v, n->mgr, NULL, "v", 1, LOCO_ALL, 8 * DEAD_WORDS) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 1)
        put_until_the_end(n, &v);
    load_what_is_left(n, &v);
    loco_owned_var_fini(&v);
}

static int run_dies(uint64_t seed)
{
    return run_nodes(ON_PROCESSES, 2, dies_body, &seed);
}

const struct loco_sim_workload owner_dies = {.name = "owner_dies", .run = run_dies};

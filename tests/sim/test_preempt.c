/*
 * Tests that threads of the simulation are interrupted anywhere, and that locks and the like keep
 * them apart. This file is compiled as the channels are for the simulator: the thread may be
 * suspended after each of its accesses. Under other sanitizers nothing interrupts it.
 */
#include <criterion/criterion.h>
#include <pthread.h>

#include "channels/fabric/sim/sim_internal.h"
#include "channels/loco/fabric/language.h"
#include "channels/loco/thread.h"
#include "channels/thread_links.h"
#include "tests/nodes.h"

#if defined(LOCO_TSAN)
enum { INTERRUPTED = 1 };
#else
enum { INTERRUPTED = 0 };
#endif

enum { SEEDS = 300, SEEDS_EMULATED = 30, THREADS = 3, ROUNDS = 20 };

struct shared {
    bool right; /* use the means that keeps the threads apart */
    pthread_mutex_t lock;
    volatile int count;
    bool over, surprise;
};

/* Runs the threads with each seed, first without the means that keeps them apart, then with it. */
static void surprised_only_without(void (*body)(void *arg))
{
    int surprises[2] = {0};

    for (uint64_t run = 0; run < 2 * effort(SEEDS, SEEDS_EMULATED); run++) {
        const struct loco_sim_config config = {.seed = run / 2 + 1, .chaos = LOCO_SIM_DEFERRED};
        struct loco_fabric *sim = loco_sim_open(&config);
        struct shared shared = {.right = run % 2, .lock = PTHREAD_MUTEX_INITIALIZER};
        for (int i = 0; i < THREADS; i++)
            cr_assert_eq(loco_sim_spawn(sim, body, &shared), 0);
        cr_assert_eq(loco_sim_run(sim), 0);
        loco_sim_close(sim);
        surprises[run % 2] += shared.surprise;
    }
    cr_assert(surprises[0] > 0 || !INTERRUPTED, "no thread was interrupted there");
    cr_assert_eq(surprises[1], 0, "%d times although it is forbidden", surprises[1]);
}

/* --- between two instructions, unless a lock is held ------------------------------------------ */

static void count_with(struct shared *s, void (*take)(pthread_mutex_t *lock))
{
    for (int i = 0; i < ROUNDS; i++) {
        if (s->right)
            take(&s->lock);
        int before = s->count;
        s->count = before + 1;
        s->surprise |= s->count != before + 1;
        if (s->right)
            pthread_mutex_unlock(&s->lock);
    }
}

static void take(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
}

static void counting(void *arg)
{
    count_with(arg, take);
}

Test(preempt, a_lock_keeps_threads_apart)
{
    surprised_only_without(counting);
}

static void try_and_take(pthread_mutex_t *lock)
{
    if (pthread_mutex_trylock(lock))
        pthread_mutex_lock(lock);
}

static void counting_by_tries(void *arg)
{
    count_with(arg, try_and_take);
}

Test(preempt, a_lock_that_was_tried_keeps_threads_apart)
{
    surprised_only_without(counting_by_tries);
}

/* --- between an operation's number and its post ----------------------------------------------- */

struct watch {
    struct node *node;
    const struct loco_link *link;
    bool over, ended, caught;
};

static void watching(void *arg)
{
    struct watch *w = arg;
    const struct sim_link *in_the_sim = (const struct sim_link *)w->link;
    struct loco_wait wait = loco_wait_for(w->node->mgr, UINT64_MAX);

    while (!w->over) {
        w->caught |= w->link->posted > in_the_sim->last;
        loco_relax(w->node->mgr, &wait);
    }
    w->ended = true;
}

static void numbering_body(struct node *n)
{
    struct loco_shared_region memory;
    struct loco_barrier end;
    struct watch watch = {.node = n};

    CHECK(n, loco_shared_region_init(&memory, n->mgr, NULL, "m", LOCO_ALL, 64) == 0);
    CHECK(n, loco_barrier_init(&end, n->mgr, NULL, "end", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 0) {
        struct loco_wait wait = loco_wait_for(n->mgr, UINT64_MAX);
        watch.link = loco_thread_link(loco_self(n->mgr), 1);
        CHECK(n, loco_sim_spawn(n->fabric, watching, &watch) == 0);
        for (uint64_t i = 0; i < ROUNDS; i++) {
            struct loco_ack ack = loco_shared_region_write(&memory, 1, 0, &i, sizeof i);
            CHECK(n, loco_ack_wait(&ack, UINT64_MAX) == 0);
        }
        watch.over = true;
        while (!watch.ended)
            loco_relax(n->mgr, &wait);
        *(bool *)n->arg |= watch.caught;
    }
    CHECK(n, loco_barrier_wait(&end) == 0);
    loco_barrier_fini(&end);
    loco_shared_region_fini(&memory);
}

Test(preempt, an_operation_is_numbered_and_not_posted_yet)
{
    bool caught = false;

    for (uint64_t seed = 1; seed <= 20; seed++)
        cr_assert_eq(run_chaos_nodes(seed, LOCO_SIM_DEFERRED, 2, numbering_body, &caught), 0);
    cr_assert(caught);
}

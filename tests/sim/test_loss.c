/*
 * What the simulator lets happen around a loss, as fabric.h promises it: at one node, and at two
 * that hear of it at times of their own.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "tests/nodes.h"

enum { SEEDS = 500 };

static const uint64_t OURS = 0x5a5a5a5a5a5a5a5a;

struct place {
    struct loco_shared_region memory;
    struct loco_barrier barrier;
};

static void open_place(struct place *p, struct node *n)
{
    CHECK(n, loco_shared_region_init(&p->memory, n->mgr, NULL, "m", LOCO_ALL, 1024) == 0);
    CHECK(n, loco_barrier_init(&p->barrier, n->mgr, NULL, "b", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_wait(&p->barrier) == 0);
}

static void close_place(struct place *p)
{
    loco_barrier_fini(&p->barrier);
    loco_shared_region_fini(&p->memory);
}

/* Where node 0 says that it has begun. */
enum { BEGUN = 512 };

static void pass_time(struct node *n, uint64_t ns)
{
    struct loco_wait wait = loco_wait_for(n->mgr, ns);

    while (!loco_relax(n->mgr, &wait))
        ;
}

/* --- no answer of an operation to the lost one lands any more ---------------------------------- */

static void await_begun(struct node *n, struct place *p)
{
    const uint64_t *words = loco_shared_region_local(&p->memory);
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);

    while (!__atomic_load_n(&words[BEGUN / 8], __ATOMIC_ACQUIRE))
        loco_relax(n->mgr, &wait);
}

/* Reads and atomics until one says that the peer is lost; then their results' memory is ours. */
static void read_from_the_dying(struct node *n, struct place *p)
{
    uint64_t *block = loco_mem_ref_take(n->mgr), *old = loco_mem_ref_take(n->mgr);
    const uint64_t begun = 1;
    int rc = 0;

    loco_shared_region_write(&p->memory, 1, BEGUN, &begun, sizeof begun);
    while (rc != -ECONNRESET) {
        struct loco_ack read = loco_shared_region_read(&p->memory, 1, 0, block, 128);
        struct loco_ack add = loco_region_fetch_add(p->memory.region, 0, 128, 1, old);
        rc = loco_ack_wait(&read, TEST_TIMEOUT);
        int other = loco_ack_wait(&add, TEST_TIMEOUT);
        rc = rc ? rc : other;
        CHECK(n, rc == 0 || rc == -ECONNRESET);
    }
    for (int i = 0; i < 16; i++)
        block[i] = OURS;
    *old = OURS;
    pass_time(n, 2000);
    for (int i = 0; i < 16; i++)
        CHECK(n, block[i] == OURS);
    CHECK(n, *old == OURS);
    loco_mem_ref_put(n->mgr, old);
    loco_mem_ref_put(n->mgr, block);
}

static void late_answer_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 1) {
        await_begun(n, &p);
        node_die(n);
    } else {
        read_from_the_dying(n, &p);
    }
    close_place(&p);
}

Test(loss, no_answer_of_the_lost_lands)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (enum loco_sim_chaos chaos = LOCO_SIM_DELAYED; chaos <= LOCO_SIM_DEFERRED; chaos++)
            cr_assert_eq(run_chaos_nodes(seed, chaos, 2, late_answer_body, NULL), 0);
    cr_assert_eq(run_sim_nodes(1, 1000, 500, 2, late_answer_body, NULL), 0);
}

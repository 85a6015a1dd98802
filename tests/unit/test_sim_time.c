/*
 * The sim's virtual time: what a wait costs goes by what comes to its node, not by how long it
 * lasts; and it ends at the very time of what it is for.
 */
#include <criterion/criterion.h>

#include "tests/nodes.h"

static const uint64_t LATENCY_NS = 1000000;

enum { NODES = 3, WRITES = 5 };

/* Each node's word, in everybody's copy. */
struct words {
    struct loco_shared_region region;
    uint64_t *here;
};

static void sleep_for(struct node *n, uint64_t time_ns)
{
    loco_sim_sleep(n->fabric, loco_sim_now(n->fabric) + time_ns, LOCO_SIM_FIRST);
}

static void open_words(struct node *n, struct words *w)
{
    CHECK(n, loco_shared_region_init(&w->region, n->mgr, NULL, "r", LOCO_ALL, 8 * NODES) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    w->here = loco_shared_region_local(&w->region);
}

static struct loco_ack tell(struct node *n, struct words *w, uint32_t peer, uint64_t value)
{
    return loco_shared_region_write(&w->region, peer, 8 * n->id, &value, 8);
}

/* Waits for another node's word. Returns how often it had to look. */
static uint64_t await_word(struct node *n, struct words *w, uint32_t peer, uint64_t value)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    while (__atomic_load_n(&w->here[peer], __ATOMIC_ACQUIRE) != value)
        loco_relax(n->mgr, &wait);
    return wait.turns;
}

/* Node 0 has writes in flight that nobody asks about, and waits for what node 1 sends late. */
static void long_wait_body(struct node *n)
{
    struct words w;

    open_words(n, &w);
    if (n->id == 0) {
        for (uint64_t i = 1; i <= WRITES; i++)
            for (uint32_t peer = 1; peer < NODES; peer++)
                tell(n, &w, peer, i);
        uint64_t turns = await_word(n, &w, 1, 1);
        CHECK(n, turns <= 1 + 2 * WRITES);
    } else {
        await_word(n, &w, 0, WRITES);
        if (n->id == 1)
            sleep_for(n, 10 * LATENCY_NS);
        tell(n, &w, 0, 1);
    }
    loco_shared_region_fini(&w.region);
}

Test(sim_time, a_long_wait_looks_when_something_comes)
{
    cr_expect_eq(run_sim_nodes(1, LATENCY_NS, 0, NODES, long_wait_body, NULL), 0);
}

static void completion_body(struct node *n)
{
    struct words w;

    open_words(n, &w);
    for (uint64_t i = 1; n->id == 0 && i <= WRITES; i++) {
        uint64_t posted = loco_sim_now(n->fabric);
        struct loco_ack early = tell(n, &w, 1, i);
        sleep_for(n, LATENCY_NS / 2);
        struct loco_ack late = tell(n, &w, 1 + i % 2, i);
        CHECK(n, loco_ack_wait(&early, TEST_TIMEOUT) == 0);
        CHECK(n, loco_sim_now(n->fabric) == posted + 2 * LATENCY_NS);
        CHECK(n, loco_ack_wait(&late, TEST_TIMEOUT) == 0);
        CHECK(n, loco_sim_now(n->fabric) == posted + LATENCY_NS / 2 + 2 * LATENCY_NS);
    }
    if (n->id != 0) {
        await_word(n, &w, 0, WRITES);
        sleep_for(n, 2 * LATENCY_NS); /* until node 0 knows that it is done */
    }
    loco_shared_region_fini(&w.region);
}

Test(sim_time, a_wait_for_a_write_ends_when_it_is_done)
{
    cr_expect_eq(run_sim_nodes(1, LATENCY_NS, 0, NODES, completion_body, NULL), 0);
}

/*
 * Tests the sim's virtual time: the cost of a wait depends on what arrives at its node, not on its
 * length. A wait ends at the exact time of the event that it is for.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "tests/nodes.h"

static const uint64_t LATENCY_NS = 1000000;

enum { NODES = 3, WRITES = 5 };

/* A word for each node, in every node's copy. */
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

/* Waits for another node's word. Returns the number of looks that this took. */
static uint64_t await_word(struct node *n, struct words *w, uint32_t peer, uint64_t value)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    while (__atomic_load_n(&w->here[peer], __ATOMIC_ACQUIRE) != value)
        loco_relax(n->mgr, &wait);
    return wait.turns;
}

/* Node 0 has writes in flight about which nobody asks, and waits for a late message from node 1. */
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
        sleep_for(n, 2 * LATENCY_NS); /* until node 0 knows that the write is done */
    }
    loco_shared_region_fini(&w.region);
}

Test(sim_time, a_wait_for_a_write_ends_when_it_is_done)
{
    cr_expect_eq(run_sim_nodes(1, LATENCY_NS, 0, NODES, completion_body, NULL), 0);
}

/* --- without latency: writes that the CPU does itself ----------------------------------------- */

static void open_value(struct node *n, struct loco_owned_var *v)
{
    CHECK(n, loco_owned_var_init(v, n->mgr, NULL, "v", 0, LOCO_ALL, sizeof(uint64_t)) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
}

static struct loco_ack push_value(struct loco_owned_var *v, uint64_t value)
{
    loco_owned_var_store(v, &value);
    return loco_owned_var_push(v);
}

static bool has_value(const struct loco_owned_var *v, uint64_t value)
{
    uint64_t got;

    return loco_owned_var_load(v, &got) == 0 && got == value;
}

/* A push wakes the node that waits for it, even if earlier pushes did not have to wake anybody. */
static void wake_body(struct node *n)
{
    struct loco_wait wait = {.until = UINT64_MAX};
    struct loco_owned_var v;

    open_value(n, &v);
    const uint64_t begin = 10 * LATENCY_NS;
    loco_sim_sleep(n->fabric, begin, LOCO_SIM_FIRST);
    if (n->id == 0) {
        push_value(&v, 1);
        sleep_for(n, 7 * LATENCY_NS);
        push_value(&v, 2);
        sleep_for(n, LATENCY_NS); /* its leaving wakes all nodes */
    } else {
        sleep_for(n, LATENCY_NS);
        CHECK(n, has_value(&v, 1));
        while (!has_value(&v, 2))
            loco_relax(n->mgr, &wait);
        CHECK(n, loco_sim_now(n->fabric) == begin + 7 * LATENCY_NS);
    }
    loco_owned_var_fini(&v);
}

Test(sim_time, a_push_wakes_who_waits_for_it)
{
    cr_expect_eq(run_sim_nodes(1, 0, 0, 2, wake_body, NULL), 0);
}

/* The actions of a node after its death are not visible. */
static void dead_body(struct node *n)
{
    struct loco_owned_var v;

    open_value(n, &v);
    loco_sim_sleep(n->fabric, 10 * LATENCY_NS, LOCO_SIM_FIRST);
    if (n->id == 0) {
        CHECK(n, push_value(&v, 1).error == 0);
        node_die(n);
        CHECK(n, push_value(&v, 2).error == -ECONNRESET);
    } else {
        sleep_for(n, LATENCY_NS);
        CHECK(n, has_value(&v, 1));
    }
    loco_owned_var_fini(&v);
}

Test(sim_time, a_push_after_death_is_not_seen)
{
    cr_expect_eq(run_sim_nodes(1, 0, 0, 2, dead_body, NULL), 0);
}

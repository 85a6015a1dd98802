#include "litmus.h"

#include <criterion/criterion.h>

enum { SEEDS = 3000 };

void open_place(struct place *p, struct node *n)
{
    *p = (struct place){.node = n, .shot = n->arg};
    CHECK(n, loco_shared_region_init(&p->memory, n->mgr, NULL, "m", LOCO_ALL, 1024) == 0);
    CHECK(n, loco_barrier_init(&p->barrier, n->mgr, NULL, "b", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    p->words = loco_shared_region_local(&p->memory);
    CHECK(n, loco_barrier_wait(&p->barrier) == 0);
}

void close_place(struct place *p)
{
    CHECK(p->node, loco_barrier_wait(&p->barrier) == 0);
    loco_barrier_fini(&p->barrier);
    loco_shared_region_fini(&p->memory);
}

struct loco_ack put(struct place *p, uint32_t node, size_t at, uint64_t value)
{
    return loco_shared_region_write(&p->memory, node, at, &value, sizeof value);
}

struct loco_ack get(struct place *p, uint32_t node, size_t at, uint64_t *value)
{
    return loco_shared_region_read(&p->memory, node, at, value, sizeof *value);
}

void wait_for(struct place *p, struct loco_ack ack)
{
    CHECK(p->node, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
}

uint64_t local(const struct place *p, size_t at)
{
    return __atomic_load_n(&p->words[at / 8], __ATOMIC_ACQUIRE);
}

void set_local(struct place *p, size_t at, uint64_t value)
{
    __atomic_store_n(&p->words[at / 8], value, __ATOMIC_RELEASE);
}

void await_local(struct place *p, size_t at, uint64_t value)
{
    struct loco_wait wait = loco_wait_for(p->node->mgr, TEST_TIMEOUT);

    while (local(p, at) != value && !loco_relax(p->node->mgr, &wait))
        ;
}

static void run_shot(struct shot *shot, uint64_t seed, uint32_t nodes,
                     void (*body)(struct node *node), bool right)
{
    *shot = (struct shot){.right = right};
    cr_assert_eq(run_chaos_nodes(seed, LOCO_SIM_DEFERRED, nodes, body, shot), 0);
}

void reached_only_without(uint32_t nodes, void (*body)(struct node *node),
                          bool (*surprising)(const struct shot *shot))
{
    struct shot shot;
    bool without = false;
    int with = 0;

    for (uint64_t seed = 1; seed <= SEEDS && !without; seed++) {
        run_shot(&shot, seed, nodes, body, false);
        without = surprising(&shot);
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run_shot(&shot, seed, nodes, body, true);
        with += surprising(&shot);
    }
    cr_assert(without, "the weak outcome was never reached");
    cr_assert_eq(with, 0, "reached %d times although it is forbidden", with);
}

void never_reached(uint32_t nodes, void (*body)(struct node *node),
                   bool (*surprising)(const struct shot *shot))
{
    struct shot shot;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run_shot(&shot, seed, nodes, body, true);
        cr_assert(!surprising(&shot), "reached with seed %llu", (unsigned long long)seed);
    }
}

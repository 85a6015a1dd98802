/* A workload of channels that come and go: each is constructed where another one was, and must find
 * nothing of it. */
#include "tests/sim/workloads.h"

enum { ROUNDS = 4, WORDS = 8 };

static struct loco_sim_model word_model(void)
{
    return loco_sim_model_word(0);
}

static int between_open(struct loco_manager *m, void *object)
{
    return loco_barrier_init(object, m, NULL, "between", LOCO_ALL);
}

static void between_close(void *object)
{
    loco_barrier_fini(object);
}

/* The channels of a round. Each has the size of its predecessor in the round before. */
struct round {
    struct loco_shared_region region;
    struct loco_ticket_lock lock;
    struct loco_atomic_var counter;
};

static void open_round(struct loco_sim_actor *a, struct round *r)
{
    struct loco_manager *m = a->mgr;

    LOCO_SIM_EXPECT(
        a, loco_shared_region_init(&r->region, m, NULL, "region", LOCO_ALL, 8 * WORDS) == 0);
    LOCO_SIM_EXPECT(a, loco_ticket_lock_init(&r->lock, m, NULL, "lock", 0, LOCO_ALL, 0) == 0);
    LOCO_SIM_EXPECT(a, loco_atomic_var_init(&r->counter, m, NULL, "counter", 1, LOCO_ALL, 0) == 0);
    LOCO_SIM_EXPECT(a, loco_manager_ready(m, UINT64_MAX) == 0);
}

static void close_round(struct round *r)
{
    loco_atomic_var_fini(&r->counter);
    loco_ticket_lock_fini(&r->lock);
    loco_shared_region_fini(&r->region);
}

static void use_round(struct loco_sim_actor *a, struct round *r)
{
    const struct loco_atomic_word counter = loco_atomic_of(&r->counter);
    const uint64_t *words = loco_shared_region_local(&r->region);
    uint64_t full[WORDS], old = UINT64_MAX;

    for (unsigned i = 0; i < WORDS; i++) {
        LOCO_SIM_EXPECT(a, __atomic_load_n(&words[i], __ATOMIC_RELAXED) == 0);
        full[i] = UINT64_MAX;
    }
    LOCO_SIM_EXPECT(a, loco_barrier_wait(a->object) == 0);
    for (uint32_t node = 0; node < a->mgr->count; node++)
        if (node != a->node)
            loco_shared_region_write(&r->region, node, 0, full, sizeof full);
    LOCO_SIM_EXPECT(a, loco_ticket_lock_acquire(&r->lock) == 0);
    LOCO_SIM_EXPECT(a, loco_atomic_fetch_add(counter, 1, &old) == 0 && old < a->mgr->count);
    LOCO_SIM_EXPECT(a, loco_ticket_lock_release(&r->lock, LOCO_FENCE_THREAD) == 0);
    LOCO_SIM_EXPECT(a, loco_barrier_wait(a->object) == 0);
}

static void again_act(struct loco_sim_actor *a)
{
    struct round r;

    for (int i = 0; i < ROUNDS && *a->failures == 0; i++) {
        open_round(a, &r);
        if (*a->failures == 0)
            use_round(a, &r);
        close_round(&r);
        LOCO_SIM_EXPECT(a, loco_barrier_wait(a->object) == 0);
    }
}

const struct loco_sim_workload workload_again = {
    .name = "again",
    .nodes = 3,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct loco_barrier),
    .open = between_open,
    .close = between_close,
    .act = again_act,
};

/* Workloads of owned_vars and barriers, and the list of all workloads. */
#include "tests/sim/workloads.h"

/* --- owned_var: a register, written by node 0 and read by all -------------------------------- */

struct wide {
    uint64_t words[6]; /* more than a word, and together with its checksum still inline */
};

static struct loco_sim_model word_model(void)
{
    return loco_sim_model_word(0);
}

static int wide_open(struct loco_manager *m, void *object)
{
    return loco_owned_var_init(object, m, NULL, "var", 0, LOCO_ALL, sizeof(struct wide));
}

static void wide_close(void *object)
{
    loco_owned_var_fini(object);
}

static void store_wide(struct loco_sim_actor *a, uint64_t value)
{
    struct wide wide;

    for (int i = 0; i < 6; i++)
        wide.words[i] = value;
    loco_owned_var_store(a->object, &wide);
}

static void write_wide(struct loco_sim_actor *a, uint64_t value)
{
    store_wide(a, value);
    struct loco_ack ack = loco_owned_var_push(a->object);
    LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0);
}

/* Each copy is a separate register, and takes its writer's values in their order, so reads of a
 * copy never go back. A register promises no more: copies need not agree at the same time. */
static void wide_act(struct loco_sim_actor *a)
{
    struct wide wide;
    uint64_t last = 0;

    for (uint64_t i = 1; a->index == 0 && i <= 12; i++)
        write_wide(a, i);
    for (int i = 0; a->index != 0 && i < 30; i++) {
        struct loco_wait wait = loco_wait_for(a->mgr, 5);
        if (loco_owned_var_load(a->object, &wide) == 0) {
            for (int w = 1; w < 6; w++)
                LOCO_SIM_EXPECT(a, wide.words[w] == wide.words[0]);
            LOCO_SIM_EXPECT(a, wide.words[0] >= last);
            last = wide.words[0];
        }
        loco_relax(a->mgr, &wait);
    }
}

static const struct loco_sim_workload owned_var_push = {
    .name = "owned_var",
    .nodes = 3,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct loco_owned_var),
    .open = wide_open,
    .close = wide_close,
    .act = wide_act,
};

/* With pulls there is a single register: a write is complete when it is in the owner's memory. */
static void pull_act(struct loco_sim_actor *a)
{
    struct wide wide;

    for (uint64_t i = 1; i <= 8; i++) {
        if (a->node == 0) {
            int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_STORE, 0, i, 0);
            struct loco_wait wait = loco_wait_for(a->mgr, 5);
            store_wide(a, i);
            loco_relax(a->mgr, &wait);
            loco_sim_history_return(a->history, op, true, 0);
            continue;
        }
        int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_LOAD, 0, 0, 0);
        struct loco_ack ack = loco_owned_var_pull(a->object);
        LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0);
        if (loco_owned_var_load(a->object, &wide) == 0)
            loco_sim_history_return(a->history, op, true, wide.words[5]);
    }
}

static const struct loco_sim_workload owned_var_pull = {
    .name = "owned_var_pull",
    .nodes = 2,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct loco_owned_var),
    .open = wide_open,
    .close = wide_close,
    .act = pull_act,
};

/* The same for reads, many of which are given up: what they fetch arrives later. */
static int short_open(struct loco_manager *m, void *object)
{
    return loco_owned_var_init(object, m, NULL, "short", 0, LOCO_ALL, sizeof(uint64_t));
}

static void give_up_act(struct loco_sim_actor *a)
{
    uint64_t value;

    for (uint64_t i = 1; i <= 8; i++) {
        if (a->node == 0) {
            int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_STORE, 0, i, 0);
            loco_owned_var_store(a->object, &i);
            loco_sim_history_return(a->history, op, true, 0);
            loco_sim_actor_dawdle(a, 300);
            continue;
        }
        loco_owned_var_read_timed(a->object, &value, loco_sim_actor_draw(a, 200));
        int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_LOAD, 0, 0, 0);
        LOCO_SIM_EXPECT(a, loco_owned_var_read(a->object, &value) == 0);
        loco_sim_history_return(a->history, op, true, value);
    }
}

static const struct loco_sim_workload owned_var_given_up = {
    .name = "owned_var_given_up",
    .nodes = 2,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct loco_owned_var),
    .open = short_open,
    .close = wide_close,
    .act = give_up_act,
};

/* --- barrier: writes posted before it are placed after it ------------------------------------- */

struct barred {
    struct loco_barrier barrier;
    struct loco_shared_region region;
    _Atomic uint64_t told; /* between the node's two threads */
};

static int barred_open(struct loco_manager *m, void *object)
{
    struct barred *b = object;
    int rc = loco_barrier_init(&b->barrier, m, NULL, "barrier", LOCO_ALL);

    return rc ? rc : loco_shared_region_init(&b->region, m, NULL, "region", LOCO_ALL, 64);
}

static void barred_close(void *object)
{
    struct barred *b = object;

    loco_barrier_fini(&b->barrier);
    loco_shared_region_fini(&b->region);
}

/* The word that one of the other nodes wrote at the third. */
static uint64_t between_others(struct loco_sim_actor *a, struct barred *b)
{
    uint32_t at = (a->node + 1) % a->mgr->count, from = (a->node + 2) % a->mgr->count;
    uint64_t *block = loco_mem_ref_take(a->mgr);
    struct loco_ack ack = loco_shared_region_read(&b->region, at, 8 * from, block, 8);

    LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0);
    uint64_t value = *block;
    loco_mem_ref_put(a->mgr, block);
    return value;
}

static void barred_act(struct loco_sim_actor *a)
{
    struct barred *b = a->object;
    uint64_t *local = loco_shared_region_local(&b->region);

    for (uint64_t round = 1; round <= 6; round++) {
        for (uint32_t node = 0; node < a->mgr->count; node++)
            if (node != a->node)
                loco_shared_region_write(&b->region, node, 8 * a->node, &round, 8);
        LOCO_SIM_EXPECT(a, loco_barrier_wait(&b->barrier) == 0);
        for (uint32_t node = 0; node < a->mgr->count; node++)
            LOCO_SIM_EXPECT(a, node == a->node ||
                                   __atomic_load_n(&local[node], __ATOMIC_RELAXED) >= round);
        LOCO_SIM_EXPECT(a, between_others(a, b) >= round);
    }
}

static const struct loco_sim_workload barrier = {
    .name = "barrier",
    .nodes = 3,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct barred),
    .open = barred_open,
    .close = barred_close,
    .act = barred_act,
};

/* The same, but another thread of the node posted what is checked: the fence is global. Thread 1
 * posts, and tells thread 0, which enters the barrier for both. */
static void global_act(struct loco_sim_actor *a)
{
    struct barred *b = a->object;
    uint64_t *local = loco_shared_region_local(&b->region);
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    bool poster = a->index % 2 == 1;

    for (uint64_t round = 1; round <= 4; round++) {
        while (b->told % 2 != (poster ? 0 : 1))
            loco_relax(a->mgr, &wait);
        for (uint32_t node = 0; poster && node < a->mgr->count; node++)
            if (node != a->node)
                loco_shared_region_write(&b->region, node, 8 * a->node, &round, 8);
        if (!poster) {
            LOCO_SIM_EXPECT(a, loco_barrier_wait(&b->barrier) == 0);
            for (uint32_t node = 0; node < a->mgr->count; node++)
                LOCO_SIM_EXPECT(a, node == a->node ||
                                       __atomic_load_n(&local[node], __ATOMIC_RELAXED) >= round);
        }
        b->told++;
        wait = loco_wait_for(a->mgr, UINT64_MAX);
    }
}

static const struct loco_sim_workload barrier_global = {
    .name = "barrier_global",
    .nodes = 2,
    .threads = 2,
    .model = word_model,
    .object_size = sizeof(struct barred),
    .open = barred_open,
    .close = barred_close,
    .act = global_act,
};

const struct loco_sim_workload *const workloads[] = {
    &owned_var_push,
    &owned_var_pull,
    &owned_var_given_up,
    &barrier,
    &barrier_global,
    &workload_atomic_var,
    &workload_lock_strict,
    &workload_lock_handover,
    &workload_lock_mortal,
    &workload_lock_mortal_strict,
    &workload_lock_mortal_tries,
    &workload_lock_parted,
    &queue_lock_strict,
    &queue_lock_handover,
    &queue_lock_mortal,
    &queue_lock_parted,
    &rw_lock,
    &rw_lock_mortal,
    &rw_lock_parted,
    &workload_ringbuffer,
    &workload_queue,
    &workload_queue_tries,
    &workload_queue_short,
    &kvstore_at_lock,
    &kvstore_at_inserter,
    &kvstore_window,
    &kvstore_reuse,
    &restarted_reader,
    &restarted_owner,
    &restarted_client,
    &kvstore_full,
    &kvstore_full_at_inserter,
    &owned_var_mixed,
    &owned_var_mixed_word,
    &kvstore_lines,
    &kvstore_reuse_far,
    &workload_fences,
    &workload_fences_beside,
    &workload_lock_fences,
    &workload_ring_full,
    &workload_ring_mortal,
    &workload_again,
    &workload_index,
    &kvstore_timed,
    &kvstore_timed_at_inserter,
    &kvstore_swap,
    &kvstore_swap_window,
    &kvstore_iterate,
    &kvstore_closed,
    &kvstore_lent,
    &kvstore_mortal,
    &small_put,
    &small_owned_var,
    &small_owned_var_claims,
    &small_barrier,
    &small_lock,
    &small_ring,
    &small_queue,
    &small_kvstore,
    NULL,
};

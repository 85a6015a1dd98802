/*
 * Small workloads: one channel, two nodes with a thread each, and a few operations. They are for
 * exploring every run with a few preemptions and delays.
 */
#include <errno.h>

#include "channels/loco/ringbuffer.h"
#include "channels/loco/shared_queue.h"
#include "tests/sim/workload_kvstore.h"

static struct loco_sim_model no_model(void)
{
    return loco_sim_model_word(0);
}

/* --- put and load: what was put before a flag is there when the flag is ------------------------
 */

enum { FLAG = 0, DATA = 1 }; /* words */

static int put_open(struct loco_manager *m, void *object)
{
    return loco_shared_region_init(object, m, NULL, "memory", LOCO_ALL, 64);
}

static void put_close(void *object)
{
    loco_shared_region_fini(object);
}

static uint64_t word(void *region, size_t i)
{
    const uint64_t *local = loco_shared_region_local(region);

    return __atomic_load_n(&local[i], __ATOMIC_ACQUIRE);
}

static void put_act(struct loco_sim_actor *a)
{
    const uint64_t one = 1, data[2] = {1, 1};
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    if (a->node == 0) {
        loco_shared_region_write(a->object, 1, 8 * DATA, data, sizeof data);
        LOCO_SIM_EXPECT(a, loco_fence_pair(a->mgr, 1) == 0);
        loco_shared_region_write(a->object, 1, 8 * FLAG, &one, sizeof one);
        return;
    }
    while (!word(a->object, FLAG))
        loco_relax(a->mgr, &wait);
    LOCO_SIM_EXPECT(a, word(a->object, DATA) == 1 && word(a->object, DATA + 1) == 1);
}

const struct loco_sim_workload small_put = {
    .name = "small_put",
    .nodes = 2,
    .threads = 1,
    .model = no_model,
    .object_size = sizeof(struct loco_shared_region),
    .open = put_open,
    .close = put_close,
    .act = put_act,
};

/* --- owned_var: two values of two words, pushed; reads do not tear nor go back -----------------
 */

static int var_open(struct loco_manager *m, void *object)
{
    return loco_owned_var_init(object, m, NULL, "var", 0, LOCO_ALL, 16);
}

static void var_close(void *object)
{
    loco_owned_var_fini(object);
}

static void var_act(struct loco_sim_actor *a)
{
    uint64_t value[2] = {0}, last = 0;

    for (uint64_t i = 1; i <= 2; i++) {
        struct loco_wait wait = loco_wait_for(a->mgr, 5);
        if (a->node == 0) {
            value[0] = value[1] = i;
            loco_owned_var_store(a->object, value);
            loco_owned_var_push(a->object);
        } else if (loco_owned_var_load(a->object, value) == 0) {
            LOCO_SIM_EXPECT(a, value[0] == value[1] && value[0] >= last);
            last = value[0];
        }
        loco_relax(a->mgr, &wait);
    }
}

const struct loco_sim_workload small_owned_var = {
    .name = "small_owned_var",
    .nodes = 2,
    .threads = 1,
    .model = no_model,
    .object_size = sizeof(struct loco_owned_var),
    .open = var_open,
    .close = var_close,
    .act = var_act,
};

/* --- owned_var: its owner pushes it while its reader pulls it; one of them is refused -----------
 */

static int word_open(struct loco_manager *m, void *object)
{
    return loco_owned_var_init(object, m, NULL, "var", 0, LOCO_ALL, 8);
}

/* The side that is accepted has the variable for good, as a lock. A refusal proves nothing, as both
 * may be refused. */
static void claim_act(struct loco_sim_actor *a)
{
    int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_ACQUIRE, 0, a->node, 0);
    struct loco_ack ack =
        a->node == 0 ? loco_owned_var_push(a->object) : loco_owned_var_pull(a->object);

    if (loco_ack_wait(&ack, UINT64_MAX) == 0)
        loco_sim_history_return(a->history, op, true, 0);
}

const struct loco_sim_workload small_owned_var_claims = {
    .name = "small_owned_var_claims",
    .nodes = 2,
    .threads = 1,
    .model = loco_sim_model_lock,
    .object_size = sizeof(struct loco_owned_var),
    .open = word_open,
    .close = var_close,
    .act = claim_act,
};

/* --- a barrier, and a lock, with a word of each node -------------------------------------------
 */

struct kept {
    struct loco_barrier barrier;
    struct loco_ticket_lock lock;
    struct loco_shared_region region;
};

static int barrier_open(struct loco_manager *m, void *object)
{
    struct kept *k = object;
    int rc = loco_barrier_init(&k->barrier, m, NULL, "barrier", LOCO_ALL);

    return rc ? rc : put_open(m, &k->region);
}

static void barrier_close(void *object)
{
    struct kept *k = object;

    loco_barrier_fini(&k->barrier);
    put_close(&k->region);
}

static void barrier_act(struct loco_sim_actor *a)
{
    const uint64_t one = 1;
    struct kept *k = a->object;

    loco_shared_region_write(&k->region, 1 - a->node, 0, &one, sizeof one);
    LOCO_SIM_EXPECT(a, loco_barrier_wait(&k->barrier) == 0);
    LOCO_SIM_EXPECT(a, word(&k->region, 0) == 1);
}

const struct loco_sim_workload small_barrier = {
    .name = "small_barrier",
    .nodes = 2,
    .threads = 1,
    .model = no_model,
    .object_size = sizeof(struct kept),
    .open = barrier_open,
    .close = barrier_close,
    .act = barrier_act,
};

static int lock_open(struct loco_manager *m, void *object)
{
    struct kept *k = object;
    int rc = loco_ticket_lock_init(&k->lock, m, NULL, "lock", 0, LOCO_ALL, LOCO_HANDOVER_STRICT);

    return rc ? rc : put_open(m, &k->region);
}

static void lock_close(void *object)
{
    struct kept *k = object;

    loco_ticket_lock_fini(&k->lock);
    put_close(&k->region);
}

/* Each adds 1, plainly, to a word at node 1. */
static void lock_act(struct loco_sim_actor *a)
{
    struct kept *k = a->object;
    uint64_t *local = loco_shared_region_local(&k->region), *block = loco_mem_ref_take(a->mgr);

    int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_FETCH_ADD, 0, 1, 0);
    LOCO_SIM_EXPECT(a, loco_ticket_lock_acquire(&k->lock) == 0);
    if (a->node == 1) {
        *block = word(&k->region, 0);
        __atomic_store_n(local, *block + 1, __ATOMIC_RELAXED);
    } else {
        struct loco_ack ack = loco_shared_region_read(&k->region, 1, 0, block, 8);
        LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0);
        const uint64_t next = *block + 1;
        loco_shared_region_write(&k->region, 1, 0, &next, sizeof next);
    }
    LOCO_SIM_EXPECT(a, loco_ticket_lock_release(&k->lock, LOCO_FENCE_THREAD) == 0);
    loco_sim_history_return(a->history, op, true, *block);
    loco_mem_ref_put(a->mgr, block);
}

const struct loco_sim_workload small_lock = {
    .name = "small_lock",
    .nodes = 2,
    .threads = 1,
    .model = no_model,
    .object_size = sizeof(struct kept),
    .open = lock_open,
    .close = lock_close,
    .act = lock_act,
};

/* --- ring and queue: two entries ---------------------------------------------------------------
 */

static int ring_open(struct loco_manager *m, void *object)
{
    return loco_ringbuffer_init(object, m, NULL, "ring", 0, LOCO_ALL, 128, 24);
}

static void ring_close(void *object)
{
    loco_ringbuffer_fini(object);
}

static void ring_act(struct loco_sim_actor *a)
{
    struct loco_message m;

    for (uint64_t i = 1; i <= 2; i++) {
        const uint64_t words[2] = {i, i};
        if (a->node == 0) {
            LOCO_SIM_EXPECT(a, loco_ringbuffer_send_wait(a->object, words, sizeof words, NULL,
                                                         UINT64_MAX) == 0);
            continue;
        }
        LOCO_SIM_EXPECT(a, loco_ringbuffer_receive_wait(a->object, &m, UINT64_MAX) == 0);
        const uint64_t *got = m.data;
        LOCO_SIM_EXPECT(a, m.size == sizeof words && got[0] == i && got[1] == i);
        loco_ringbuffer_release(a->object, m.position);
    }
}

const struct loco_sim_workload small_ring = {
    .name = "small_ring",
    .nodes = 2,
    .threads = 1,
    .model = no_model,
    .object_size = sizeof(struct loco_ringbuffer),
    .open = ring_open,
    .close = ring_close,
    .act = ring_act,
};

static struct loco_sim_model queue_model(void)
{
    return loco_sim_model_queue(2);
}

static int queue_open(struct loco_manager *m, void *object)
{
    return loco_shared_queue_init(object, m, NULL, "queue", 0, LOCO_ALL, 2, 8);
}

static void queue_close(void *object)
{
    loco_shared_queue_fini(object);
}

/* Each node pushes one entry and pops one. */
static void queue_act(struct loco_sim_actor *a)
{
    uint64_t entry = a->node + 1;

    int push = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_PUSH, 0, entry, 0);
    LOCO_SIM_EXPECT(a, loco_shared_queue_push(a->object, &entry, UINT64_MAX) == 0);
    loco_sim_history_return(a->history, push, true, 0);
    int pop = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_POP, 0, 0, 0);
    LOCO_SIM_EXPECT(a, loco_shared_queue_pop(a->object, &entry, UINT64_MAX) == 0);
    loco_sim_history_return(a->history, pop, true, entry);
}

const struct loco_sim_workload small_queue = {
    .name = "small_queue",
    .nodes = 2,
    .threads = 1,
    .model = queue_model,
    .object_size = sizeof(struct loco_shared_queue),
    .open = queue_open,
    .close = queue_close,
    .act = queue_act,
};

/* --- one key of a kvstore: node 0 inserts and deletes it while node 1 reads it -----------------
 */

static int key_open(struct loco_manager *m, void *object)
{
    return kv_work_open(m, object,
                        (struct loco_kvstore_config){.value_size = 16, .capacity = 1, .locks = 1});
}

static void key_operate(struct loco_sim_actor *a, enum loco_kv_kind kind)
{
    uint64_t words[KV_WORK_WORDS_MAX];

    kv_work_set_value(a, words, 1);
    int op = kv_work_invoke(a, kind, 0, words[0]);
    int rc = kv_work_operate(a, kind, 0, words, UINT64_MAX);
    LOCO_SIM_EXPECT(a, kv_work_is_definite(kind, rc) || (kind == LOCO_KV_READ && rc == -EAGAIN));
    kv_work_record(a, op, kind, rc, words);
}

/* A node that has ended serves the other. */
static void key_act(struct loco_sim_actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    key_operate(a, a->node == 0 ? LOCO_KV_INSERT : LOCO_KV_READ);
    key_operate(a, a->node == 0 ? LOCO_KV_DELETE : LOCO_KV_READ);
    for (--*a->acting; *a->acting > 0;) {
        loco_kvstore_serve(a->object);
        loco_relax(a->mgr, &wait);
    }
}

const struct loco_sim_workload small_kvstore = {
    .name = "small_kvstore",
    .nodes = 2,
    .threads = 1,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = key_open,
    .close = kv_work_close,
    .act = key_act,
};

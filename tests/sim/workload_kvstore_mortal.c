/*
 * A workload of the kvstore whose last node dies during whatever it does. Each node is the host of
 * one key that all use, with its lock. A key of the dead node is absent, or its operations return
 * -ECONNRESET. Other operations may return -EOWNERDEAD, since the dead node may hold the lock. All
 * other results are linearizable. An operation without a definite result may have taken effect.
 *
 * Keys whose locks the dead node never held work as before.
 */
#include <errno.h>

#include "tests/sim/workload_kvstore.h"

enum { MORTAL_NODES = 3, MORTAL = MORTAL_NODES - 1, MORTAL_OPS = 10, MORTAL_LOCKS = 4 };
enum { MORTAL_THREADS = 3 };

/* A time limit above the duration of any operation. Without it, some operations on the dead node
 * would wait for ever. */
static const uint64_t MORTAL_NS = 1000000;

static uint64_t mortal_key(const struct loco_sim_actor *a, uint32_t host)
{
    return kv_work_key_of_lock(a, host, 0, 0);
}

static bool mortal_may_fail(const struct loco_sim_actor *a, enum loco_kv_kind kind, uint32_t host,
                            int rc)
{
    if (*a->crashed)
        return true;
    if (kind == LOCO_KV_READ && rc == -EAGAIN) /* the node died while it wrote the value */
        return true;
    return rc == (host == MORTAL ? -ECONNRESET : kind == LOCO_KV_READ ? 0 : -EOWNERDEAD);
}

static void mortal_do_one(struct loco_sim_actor *a, uint64_t i)
{
    const enum loco_kv_kind kind = kv_work_draw_kind(a);
    const uint32_t host = (uint32_t)loco_sim_actor_draw(a, MORTAL_NODES);
    uint64_t key = mortal_key(a, host), words[KV_WORK_WORDS_MAX];

    kv_work_set_value(a, words, kv_work_fresh_value(a, i));
    int op = kv_work_invoke(a, kind, key, words[0]);
    int rc = kv_work_operate(a, kind, key, words, a->node == MORTAL ? MORTAL_NS : UINT64_MAX);
    if (*a->crashed)
        return; /* it stays pending */
    LOCO_SIM_EXPECT(a, kv_work_is_definite(kind, rc) || mortal_may_fail(a, kind, host, rc));
    kv_work_record(a, op, kind, rc, words);
}

/* After the death, uses a key of this thread alone. */
static void mortal_use_after(struct loco_sim_actor *a)
{
    const uint32_t survivors = MORTAL_NODES - 1;
    const uint64_t key =
        kv_work_key_of_lock(a, (a->node + 1) % survivors, 1 + a->index % MORTAL_THREADS, 0);
    uint64_t words[KV_WORK_WORDS_MAX], value = kv_work_fresh_value(a, MORTAL_OPS);
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    while (!loco_peer_lost(a->mgr, MORTAL))
        loco_relax(a->mgr, &wait);
    kv_work_set_value(a, words, value);
    LOCO_SIM_EXPECT(a, loco_kvstore_insert(a->object, key, words) == 0);
    kv_work_set_value(a, words, value + 1);
    LOCO_SIM_EXPECT(a, loco_kvstore_update(a->object, key, words) == 0);
    kv_work_set_value(a, words, 0);
    LOCO_SIM_EXPECT(a, loco_kvstore_read(a->object, key, words) == 0);
    LOCO_SIM_EXPECT(a, kv_work_get_value(a, words) == value + 1);
    LOCO_SIM_EXPECT(a, loco_kvstore_delete(a->object, key) == 0);
    LOCO_SIM_EXPECT(a, loco_kvstore_read(a->object, key, words) == -ENOENT);
}

static void mortal_act(struct loco_sim_actor *a)
{
    if (kv_work_is_tracker(a, MORTAL_THREADS)) {
        kv_work_track(a);
        return;
    }
    for (uint64_t i = 0; i < MORTAL_OPS && !*a->crashed; i++)
        mortal_do_one(a, i);
    if (a->node != MORTAL)
        mortal_use_after(a);
    --*a->acting;
}

static int mortal_open(struct loco_manager *m, void *object)
{
    return kv_work_open(m, object,
                        (struct loco_kvstore_config){.value_size = 16,
                                                     .capacity = 64,
                                                     .locks = MORTAL_NODES * MORTAL_LOCKS,
                                                     .torn_ns = 20000,
                                                     .owner_ns = 200000});
}

const struct loco_sim_workload kvstore_mortal = {
    .name = "kvstore_mortal",
    .nodes = MORTAL_NODES,
    .threads = MORTAL_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = mortal_open,
    .close = kv_work_close,
    .act = mortal_act,
    .dies = true,
    .within_ns = 60000,
};

/*
 * A workload of the kvstore's windows that are closed with operations in flight, some of them
 * cancelled before. The trackers finish these operations and give their locks back: at the end each
 * thread uses every key once more, without a time limit.
 */
#include <errno.h>

#include "tests/sim/workload_kvstore.h"

enum { CLOSED_THREADS = 3, CLOSED_KEYS = 2, CLOSED_WINDOW = 3, CLOSED_ROUNDS = 4, TURNS_MAX = 12 };

static void closed_round(struct loco_sim_actor *a, uint64_t first)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    struct loco_kv_window *w;
    int at[CLOSED_WINDOW];

    LOCO_SIM_EXPECT(a, loco_kv_window_open(&w, a->object, CLOSED_WINDOW) == 0);
    for (unsigned i = 0; i < CLOSED_WINDOW; i++)
        kv_work_start(a, loco_kv_window_op(w, i), &at[i], CLOSED_KEYS,
                      kv_work_fresh_value(a, first + i));
    for (uint64_t turns = loco_sim_actor_draw(a, TURNS_MAX); turns > 0; turns--) {
        for (struct loco_kv_op *op; (op = loco_kv_window_next(w));)
            kv_work_report(a, op);
        if (turns == TURNS_MAX / 2)
            loco_kv_cancel(loco_kv_window_op(w, (unsigned)loco_sim_actor_draw(a, CLOSED_WINDOW)));
        loco_relax(a->mgr, &wait);
    }
    loco_kv_window_close(w);
}

static void closed_last(struct loco_sim_actor *a, uint64_t key, uint64_t value)
{
    uint64_t words[KV_WORK_WORDS_MAX];

    kv_work_set_value(a, words, value);
    const int at = kv_work_invoke(a, LOCO_KV_UPDATE, key, value);
    const int rc = kv_work_operate(a, LOCO_KV_UPDATE, key, words, UINT64_MAX);
    LOCO_SIM_EXPECT(a, kv_work_is_definite(LOCO_KV_UPDATE, rc));
    kv_work_record(a, at, LOCO_KV_UPDATE, rc, words);
}

static void closed_act(struct loco_sim_actor *a)
{
    if (kv_work_is_tracker(a, CLOSED_THREADS)) {
        kv_work_track(a);
        return;
    }
    for (uint64_t i = 0; i < CLOSED_ROUNDS; i++)
        closed_round(a, i * CLOSED_WINDOW);
    for (uint64_t key = 0; key < CLOSED_KEYS; key++)
        closed_last(a, key, kv_work_fresh_value(a, 100 + key));
    --*a->acting;
}

static int closed_open(struct loco_manager *m, void *object)
{
    return kv_work_open(m, object,
                        (struct loco_kvstore_config){.value_size = 80, .capacity = 16, .locks = 2});
}

const struct loco_sim_workload kvstore_closed = {
    .name = "kvstore_closed",
    .nodes = 2,
    .threads = CLOSED_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = closed_open,
    .close = kv_work_close,
    .act = closed_act,
};

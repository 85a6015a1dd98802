/*
 * Workloads of the kvstore's compare_swap, and of iterations over its keys while they come and go.
 *
 * An iteration is a read of each key: one that it gives is read within the call that gives it, and
 * one that it does not give is missing at some moment of the iteration.
 */
#include <errno.h>

#include "tests/sim/workload_kvstore.h"

enum { SWAP_THREADS = 3, SWAP_KEYS = 2, SWAP_OPS = 12, SWAP_WINDOW = 3, SWAP_SHORT_NS = 8000 };

/* --- compare_swap ----------------------------------------------------------------------------- */

static int swap_invoke(struct loco_sim_actor *a, uint64_t key, uint64_t expected, uint64_t desired)
{
    return loco_sim_history_invoke(a->history, a->index, LOCO_SIM_CAS, key, expected, desired);
}

/* Records the result. *seen was expected; it becomes the value that the key is known to have had.
 * *words is what was found, after -ECANCELED. */
static void swap_return(struct loco_sim_actor *a, int at, int rc, const uint64_t *words,
                        uint64_t desired, uint64_t *seen)
{
    LOCO_SIM_EXPECT(a, rc == 0 || rc == -ECANCELED || rc == -ENOENT || rc == -ETIMEDOUT);
    if (rc == 0) {
        loco_sim_history_return(a->history, at, true, *seen);
        *seen = desired;
    } else if (rc == -ECANCELED) {
        const uint64_t found = kv_work_get_value(a, words);
        LOCO_SIM_EXPECT(a, found != *seen);
        loco_sim_history_return(a->history, at, true, found);
        *seen = found;
    } else if (rc == -ENOENT) {
        loco_sim_history_return(a->history, at, false, 0);
    }
}

static void swap_one(struct loco_sim_actor *a, uint64_t key, uint64_t desired, uint64_t *seen,
                     uint64_t timeout_ns)
{
    uint64_t expected[KV_WORK_WORDS_MAX], words[KV_WORK_WORDS_MAX];

    kv_work_set_value(a, expected, *seen);
    kv_work_set_value(a, words, desired);
    const int at = swap_invoke(a, key, *seen, desired);
    const int rc = loco_kvstore_compare_swap_timed(a->object, key, expected, words, timeout_ns);
    LOCO_SIM_EXPECT(a, rc != -ETIMEDOUT || timeout_ns != UINT64_MAX);
    swap_return(a, at, rc, expected, desired, seen);
}

/* Any other operation. */
static void do_another(struct loco_sim_actor *a, uint64_t key, uint64_t value, uint64_t timeout_ns)
{
    const enum loco_kv_kind kind = kv_work_draw_kind(a);
    uint64_t words[KV_WORK_WORDS_MAX];

    kv_work_set_value(a, words, value);
    const int at = kv_work_invoke(a, kind, key, value);
    const int rc = kv_work_operate(a, kind, key, words, timeout_ns);
    LOCO_SIM_EXPECT(a, rc == -ETIMEDOUT || kv_work_is_definite(kind, rc));
    kv_work_record(a, at, kind, rc, words);
}

/* Half of the operations are compare_swaps, and a third of all may time out. */
static void swap_act(struct loco_sim_actor *a)
{
    uint64_t seen[SWAP_KEYS] = {0};

    if (kv_work_is_tracker(a, SWAP_THREADS)) {
        kv_work_track(a);
        return;
    }
    for (uint64_t i = 0; i < SWAP_OPS; i++) {
        const uint64_t key = loco_sim_actor_draw(a, SWAP_KEYS), value = kv_work_fresh_value(a, i);
        const bool may_end = i > 0 && i % 3 == 0 && i < SWAP_OPS - 2;
        const uint64_t ns = may_end ? loco_sim_actor_draw(a, SWAP_SHORT_NS) : UINT64_MAX;
        if (loco_sim_actor_draw(a, 2) == 0)
            swap_one(a, key, value, &seen[key], ns);
        else
            do_another(a, key, value, ns);
    }
    --*a->acting;
}

/* --- the same, several at a time -------------------------------------------------------------- */

struct swapping {
    uint64_t key, seen, desired;
    int at;
    bool busy;
};

static void swap_start(struct loco_sim_actor *a, struct loco_kv_op *op, struct swapping *s,
                       uint64_t i)
{
    uint64_t expected[KV_WORK_WORDS_MAX];

    s->key = loco_sim_actor_draw(a, SWAP_KEYS);
    s->desired = kv_work_fresh_value(a, i);
    s->busy = true;
    kv_work_set_value(a, expected, s->seen);
    kv_work_set_value(a, op->value, s->desired);
    s->at = swap_invoke(a, s->key, s->seen, s->desired);
    loco_kv_start_compare_swap(op, s->key, expected, NULL);
}

static void swap_many(struct loco_sim_actor *a, struct loco_kv_window *w)
{
    struct swapping all[SWAP_WINDOW] = {0};
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    for (uint64_t started = 0, over = 0; over < SWAP_OPS;) {
        for (unsigned i = 0; i < SWAP_WINDOW; i++) {
            struct loco_kv_op *op = loco_kv_window_op(w, i);
            if (all[i].busy && loco_kv_poll(op)) {
                swap_return(a, all[i].at, op->result, op->value, all[i].desired, &all[i].seen);
                all[i].busy = false;
                over++;
            }
            if (!all[i].busy && started < SWAP_OPS)
                swap_start(a, op, &all[i], started++);
        }
        loco_relax(a->mgr, &wait);
    }
}

/* One thread of each node inserts a key first. */
static void swap_window_act(struct loco_sim_actor *a)
{
    uint64_t words[KV_WORK_WORDS_MAX];
    struct loco_kv_window *w;

    if (kv_work_is_tracker(a, SWAP_THREADS)) {
        kv_work_track(a);
        return;
    }
    const uint64_t key = a->node % SWAP_KEYS, value = kv_work_fresh_value(a, SWAP_OPS);
    kv_work_set_value(a, words, value);
    const int at = kv_work_invoke(a, LOCO_KV_INSERT, key, value);
    kv_work_record(a, at, LOCO_KV_INSERT, loco_kvstore_insert(a->object, key, words), words);
    LOCO_SIM_EXPECT(a, loco_kv_window_open(&w, a->object, SWAP_WINDOW) == 0);
    swap_many(a, w);
    loco_kv_window_close(w);
    --*a->acting;
}

/* --- iterations ------------------------------------------------------------------------------- */

enum { ITERATED_KEYS = 3, ITERATIONS = 6, CHANGES = 10 };

/* Records the read of the key that was given. Which key it is turns out only then. */
static void iterate_return(struct loco_sim_actor *a, int at, uint64_t key, const uint64_t *words)
{
    if (at < 0)
        return;
    a->history->op[at].key = key;
    loco_sim_history_return(a->history, at, true, kv_work_get_value(a, words));
}

static void iterate_once(struct loco_sim_actor *a)
{
    uint64_t cursor = 0, key, words[KV_WORK_WORDS_MAX];
    int missing[ITERATED_KEYS];
    bool given[ITERATED_KEYS] = {0};

    for (uint64_t k = 0; k < ITERATED_KEYS; k++)
        missing[k] = kv_work_invoke(a, LOCO_KV_READ, k, 0);
    for (int rc = 0; rc != -ENOENT;) {
        const int at = kv_work_invoke(a, LOCO_KV_READ, 0, 0);
        const uint64_t ns = loco_sim_actor_draw(a, 2) ? UINT64_MAX : loco_sim_actor_draw(a, 3000);
        rc = loco_kvstore_next_timed(a->object, &cursor, &key, words, ns);
        LOCO_SIM_EXPECT(a, rc == 0 || rc == -ENOENT || (rc == -ETIMEDOUT && ns != UINT64_MAX));
        if (rc)
            continue; /* it stays pending, and a read has no effect */
        LOCO_SIM_EXPECT(a, key < ITERATED_KEYS);
        given[key % ITERATED_KEYS] = true;
        iterate_return(a, at, key, words);
    }
    for (uint64_t k = 0; k < ITERATED_KEYS; k++)
        if (!given[k])
            loco_sim_history_return(a->history, missing[k], false, 0);
}

/* The second thread of each node iterates. The third inserts, deletes and swaps, but leaves key 0
 * where node 0 has put it. */
static void iterate_act(struct loco_sim_actor *a)
{
    uint64_t seen[ITERATED_KEYS] = {0};

    if (kv_work_is_tracker(a, SWAP_THREADS)) {
        kv_work_track(a);
        return;
    }
    for (int i = 0; a->index % SWAP_THREADS == 1 && i < ITERATIONS; i++)
        iterate_once(a);
    for (uint64_t i = 0; a->index % SWAP_THREADS == 2 && i < CHANGES; i++) {
        const uint64_t key = i == 0 ? 0 : loco_sim_actor_draw(a, ITERATED_KEYS);
        const enum loco_kv_kind kind = key == 0 || i % 2 == 0 ? LOCO_KV_INSERT : LOCO_KV_DELETE;
        uint64_t words[KV_WORK_WORDS_MAX];
        if (loco_sim_actor_draw(a, 3) == 0) {
            swap_one(a, key, kv_work_fresh_value(a, CHANGES + i), &seen[key], UINT64_MAX);
            continue;
        }
        kv_work_set_value(a, words, kv_work_fresh_value(a, i));
        const int at = kv_work_invoke(a, kind, key, words[0]);
        kv_work_record(a, at, kind, kv_work_operate(a, kind, key, words, UINT64_MAX), words);
    }
    --*a->acting;
}

/* --- the workloads ---------------------------------------------------------------------------- */

static int swap_open(struct loco_manager *m, void *object)
{
    return kv_work_open(m, object,
                        (struct loco_kvstore_config){.value_size = 80, /* its source is read late */
                                                     .capacity = SWAP_KEYS,
                                                     .locks = 2,
                                                     .placement = LOCO_KV_AT_INSERTER});
}

static int iterate_open(struct loco_manager *m, void *object)
{
    return kv_work_open(
        m, object,
        (struct loco_kvstore_config){.value_size = 16, .capacity = ITERATED_KEYS, .locks = 3});
}

const struct loco_sim_workload kvstore_swap = {
    .name = "kvstore_swap",
    .nodes = 3,
    .threads = SWAP_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = swap_open,
    .close = kv_work_close,
    .act = swap_act,
};

const struct loco_sim_workload kvstore_swap_window = {
    .name = "kvstore_swap_window",
    .nodes = 2,
    .threads = SWAP_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = swap_open,
    .close = kv_work_close,
    .act = swap_window_act,
};

const struct loco_sim_workload kvstore_iterate = {
    .name = "kvstore_iterate",
    .nodes = 3,
    .threads = SWAP_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = iterate_open,
    .close = kv_work_close,
    .act = iterate_act,
};

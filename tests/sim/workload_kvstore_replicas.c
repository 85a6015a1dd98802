/*
 * Workloads of the kvstore with replicas. As in workload_kvstore_mortal.c the last node dies during
 * whatever it does; but here no operation of another node may fail because of that. Each node is
 * the host of two keys that all use. Together with what the dead node may have done, all results
 * are linearizable.
 */
#include <errno.h>

#include "channels/loco/fabric/sim.h"
#include "tests/sim/workload_kvstore.h"

enum { THREADS = 3, OPS = 8, OPS_AFTER = 4, WINDOW = 3, LOCKS_EACH = 2 };

static const uint64_t NEVER_NS = 20000000000; /* no change of the view takes so long */

static int open_with(struct loco_manager *m, void *object, size_t value_size,
                     enum loco_kv_placement placement, size_t replicas, uint64_t owner_ns)
{
    return kv_work_open(m, object,
                        (struct loco_kvstore_config){.value_size = value_size,
                                                     .capacity = 64,
                                                     .placement = placement,
                                                     .replicas = replicas,
                                                     .locks = LOCKS_EACH * m->count,
                                                     .torn_ns = NEVER_NS,
                                                     .owner_ns = owner_ns});
}

static uint32_t mortal(const struct loco_sim_actor *a)
{
    return a->mgr->count - 1;
}

static uint64_t draw_key(struct loco_sim_actor *a)
{
    const struct loco_kvstore *kv = a->object;
    const uint32_t host = (uint32_t)loco_sim_actor_draw(a, a->mgr->count);

    return kv_work_key_of_lock(a, host, (uint32_t)loco_sim_actor_draw(a, kv->locks_each), 0);
}

/* A time limit for the dying node's operations, above the duration of any. Without it some would
 * wait for ever. */
static const uint64_t MORTAL_NS = 1000000;

/* Few operations may time out, since each of those doubles the work of the checker. */
enum { SHORT_NS = 6000, SHORT_OF = 8 };

static uint64_t draw_timeout(struct loco_sim_actor *a)
{
    if (loco_sim_actor_draw(a, SHORT_OF) == 0)
        return loco_sim_actor_draw(a, SHORT_NS);
    return a->node == mortal(a) ? MORTAL_NS : UINT64_MAX;
}

/* Returns the result, or -EIO if this node has crashed: then the operation stays pending. */
static int do_and_record(struct loco_sim_actor *a, enum loco_kv_kind kind, uint64_t key, uint64_t i,
                         uint64_t timeout_ns)
{
    uint64_t words[KV_WORK_WORDS_MAX];

    kv_work_set_value(a, words, kv_work_fresh_value(a, i));
    int at = kv_work_invoke(a, kind, key, words[0]);
    int rc = kv_work_operate(a, kind, key, words, timeout_ns);
    if (*a->crashed)
        return -EIO;
    kv_work_record(a, at, kind, rc, words);
    return rc;
}

static void do_one(struct loco_sim_actor *a, enum loco_kv_kind kind, uint64_t key, uint64_t i,
                   uint64_t timeout_ns)
{
    int rc = do_and_record(a, kind, key, i, timeout_ns);

    LOCO_SIM_EXPECT(a, kv_work_is_definite(kind, rc) || *a->crashed ||
                           (rc == -ETIMEDOUT && timeout_ns != UINT64_MAX));
}

static void await_loss(struct loco_sim_actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    while (!loco_peer_lost(a->mgr, mortal(a)) && !*a->crashed)
        loco_relax(a->mgr, &wait);
}

static void replicas_act(struct loco_sim_actor *a)
{
    if (kv_work_is_tracker(a, THREADS)) {
        kv_work_track(a);
        return;
    }
    for (uint64_t i = 0; i < OPS && !*a->crashed; i++)
        do_one(a, kv_work_draw_kind(a), draw_key(a), i, draw_timeout(a));
    await_loss(a);
    for (uint64_t i = 0; i < OPS_AFTER && !*a->crashed; i++)
        do_one(a, kv_work_draw_kind(a), draw_key(a), OPS + i, UINT64_MAX);
    --*a->acting;
}

/* Nobody dies. */
static void alive_act(struct loco_sim_actor *a)
{
    if (kv_work_is_tracker(a, THREADS)) {
        kv_work_track(a);
        return;
    }
    for (uint64_t i = 0; i < OPS + OPS_AFTER; i++)
        do_one(a, kv_work_draw_kind(a), draw_key(a), i, UINT64_MAX);
    --*a->acting;
}

/* --- the same, several at a time ---------------------------------------------------------------
 */

static void end_in_window(struct loco_sim_actor *a, struct loco_kv_op *op, int at)
{
    if (*a->crashed)
        return;
    LOCO_SIM_EXPECT(a, kv_work_is_definite(op->kind, op->result));
    kv_work_record(a, at, op->kind, op->result, op->value);
}

static void use_window(struct loco_sim_actor *a, struct loco_kv_window *w, uint64_t from,
                       uint64_t count)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    uint64_t started = 0, over = 0;
    int at[WINDOW];

    while (over < count && !*a->crashed) {
        for (unsigned i = 0; i < WINDOW; i++) {
            struct loco_kv_op *op = loco_kv_window_op(w, i);
            if (op->user && loco_kv_poll(op)) {
                end_in_window(a, op, at[i]);
                op->user = NULL;
                over++;
            }
            if (!op->user && started < count) {
                op->user = a;
                kv_work_start(a, kv_work_draw_kind(a), draw_key(a), op, &at[i], from + started++);
            }
        }
        loco_relax(a->mgr, &wait);
    }
}

static void window_act(struct loco_sim_actor *a)
{
    struct loco_kv_window *w;

    if (kv_work_is_tracker(a, THREADS)) {
        kv_work_track(a);
        return;
    }
    LOCO_SIM_EXPECT(a, loco_kv_window_open(&w, a->object, WINDOW) == 0);
    use_window(a, w, 0, OPS);
    await_loss(a);
    use_window(a, w, OPS, OPS_AFTER);
    if (!*a->crashed)
        loco_kv_window_close(w);
    --*a->acting;
}

/* --- all on one key, which comes and goes ------------------------------------------------------
 */

enum { ONE_OPS = 12, ONE_AFTER = 5 };

static void use_one(struct loco_sim_actor *a, uint64_t i)
{
    static const enum loco_kv_kind kinds[] = {LOCO_KV_READ, LOCO_KV_INSERT, LOCO_KV_DELETE};

    do_one(a, kinds[loco_sim_actor_draw(a, 3)], kv_work_key_of_lock(a, 1, 0, 0), i,
           draw_timeout(a));
}

static void one_act(struct loco_sim_actor *a)
{
    if (kv_work_is_tracker(a, THREADS)) {
        kv_work_track(a);
        return;
    }
    for (uint64_t i = 0; i < ONE_OPS && !*a->crashed; i++)
        use_one(a, i);
    await_loss(a);
    for (uint64_t i = 0; i < ONE_AFTER && !*a->crashed; i++)
        use_one(a, ONE_OPS + i);
    --*a->acting;
}

/* --- two nodes that lose each other ------------------------------------------------------------
 */

/*
 * Nodes 1 and 2 lose each other, and node 0 loses neither. So the two may not go on: their
 * operations return -ECONNRESET, and may have taken effect. Node 0 goes on, but it waits for ever
 * for a lock that one of the two held or asked for.
 */
enum { WHOLE = 0, PARTED_OPS = 12 };

/* The longest that node 0 waits. It is longer than the others', so that their operations end. */
static const uint64_t PARTED_NS = 400000;

/* How many threads have begun. Static, as all nodes of the simulator are in one process. */
static uint32_t parted_begun;

static int parted_open(struct loco_manager *m, void *object)
{
    parted_begun = 0;
    return open_with(m, object, 16, LOCO_KV_AT_INSERTER, 1, 200000);
}

static void part(struct loco_sim_actor *a)
{
    while (parted_begun < a->mgr->count * (THREADS - 1))
        loco_sim_actor_dawdle(a, 100);
    loco_sim_cut(a->mgr->fabric, 1, 2);
}

static bool parted_may_end(const struct loco_sim_actor *a, enum loco_kv_kind kind, int rc)
{
    if (kv_work_is_definite(kind, rc))
        return true;
    return a->node == WHOLE ? kind != LOCO_KV_READ && rc == -ETIMEDOUT : rc == -ECONNRESET;
}

/* Returns false when the thread may not go on. */
static bool parted_do_one(struct loco_sim_actor *a, enum loco_kv_kind kind, uint64_t i)
{
    const uint32_t lock = (uint32_t)loco_sim_actor_draw(a, LOCKS_EACH);
    const uint64_t key = kv_work_key_of_lock(a, WHOLE, lock, 0);
    int rc = do_and_record(a, kind, key, i, a->node == WHOLE ? PARTED_NS : UINT64_MAX);

    LOCO_SIM_EXPECT(a, parted_may_end(a, kind, rc));
    return kv_work_is_definite(kind, rc);
}

/* Node 0 reads on after its first write that had to be given up. */
static void parted_act(struct loco_sim_actor *a)
{
    const uint64_t cut_at = a->index == 1 ? loco_sim_actor_draw(a, PARTED_OPS / 2) : PARTED_OPS;
    bool goes_on = true;

    if (kv_work_is_tracker(a, THREADS)) {
        kv_work_track(a);
        return;
    }
    parted_begun++;
    for (uint64_t i = 0; i < PARTED_OPS && (goes_on || a->node == WHOLE); i++) {
        const enum loco_kv_kind kind = kv_work_draw_kind(a);
        if (i == cut_at)
            part(a);
        if (!parted_do_one(a, goes_on ? kind : LOCO_KV_READ, i))
            goes_on = false;
    }
    --*a->acting;
}

/* --- the workloads -----------------------------------------------------------------------------
 */

static int one_open(struct loco_manager *m, void *object)
{
    return open_with(m, object, 16, LOCO_KV_AT_LOCK, 1, NEVER_NS);
}

static int two_open(struct loco_manager *m, void *object)
{
    return open_with(m, object, 8, LOCO_KV_AT_INSERTER, 2, NEVER_NS);
}

static int wide_open(struct loco_manager *m, void *object)
{
    return open_with(m, object, 80, LOCO_KV_AT_INSERTER, 1,
                     NEVER_NS); /* a record's source is read late */
}

const struct loco_sim_workload kvstore_replicas = {
    .name = "kvstore_replicas",
    .nodes = 3,
    .threads = THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = one_open,
    .close = kv_work_close,
    .act = replicas_act,
    .dies = true,
    .within_ns = 60000,
};

const struct loco_sim_workload kvstore_replicas_alive = {
    .name = "kvstore_replicas_alive",
    .nodes = 3,
    .threads = THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = one_open,
    .close = kv_work_close,
    .act = alive_act,
};

const struct loco_sim_workload kvstore_replicas_two = {
    .name = "kvstore_replicas_two",
    .nodes = 5,
    .threads = THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = two_open,
    .close = kv_work_close,
    .act = replicas_act,
    .dies = true,
    .within_ns = 80000,
};

const struct loco_sim_workload kvstore_replicas_window = {
    .name = "kvstore_replicas_window",
    .nodes = 3,
    .threads = THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = wide_open,
    .close = kv_work_close,
    .act = window_act,
    .dies = true,
    .within_ns = 60000,
};

const struct loco_sim_workload kvstore_replicas_one = {
    .name = "kvstore_replicas_one",
    .nodes = 3,
    .threads = THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = wide_open,
    .close = kv_work_close,
    .act = one_act,
    .dies = true,
    .within_ns = 60000,
};

const struct loco_sim_workload kvstore_replicas_parted = {
    .name = "kvstore_replicas_parted",
    .nodes = 3,
    .threads = THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = parted_open,
    .close = kv_work_close,
    .act = parted_act,
};

/*
 * Workloads of the kvstore: all nodes insert, update, delete and read the same two keys, with few
 * slots, so that reads meet every state of a slot. At each node another thread is the tracker.
 */
#include <errno.h>

#include "channels/kvstore/kvstore_index.h"
#include "channels/kvstore/kvstore_locks.h"
#include "channels/loco/kvstore.h"
#include "tests/sim/workloads.h"

enum { KEYS = 2, OPS = 14, WINDOW = 3, VALUE_WORDS_MAX = 12 };

static int open_with(struct loco_manager *m, struct loco_kvstore *kv,
                     struct loco_kvstore_config config)
{
    return loco_kvstore_init(kv, m, NULL, "kv", &config);
}

static void close_store(void *object)
{
    loco_kvstore_fini(object);
}

static bool is_tracker(const struct loco_sim_actor *a, uint32_t threads)
{
    return a->index % threads == 0;
}

/* How many threads have not ended, without the trackers, which serve the others until then. */
static uint32_t acting(const struct loco_sim_actor *a)
{
    return *a->acting - a->mgr->count;
}

static void track(struct loco_sim_actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    while (acting(a) > 0)
        if (loco_kvstore_serve(a->object) == 0)
            loco_relax(a->mgr, &wait);
}

/* --- a value: all its words the same ------------------------------------------------------- */

static void set_value(const struct loco_sim_actor *a, uint64_t *words, uint64_t value)
{
    const struct loco_kvstore *kv = a->object;

    for (size_t i = 0; i < kv->config.value_size / 8; i++)
        words[i] = value;
}

static uint64_t get_value(struct loco_sim_actor *a, const uint64_t *words)
{
    const struct loco_kvstore *kv = a->object;

    for (size_t i = 1; i < kv->config.value_size / 8; i++)
        LOCO_SIM_EXPECT(a, words[i] == words[0]);
    return words[0];
}

/* --- operations ------------------------------------------------------------------------------ */

static const enum loco_sim_history_code codes[] = {
    [LOCO_KV_READ] = LOCO_SIM_READ,
    [LOCO_KV_INSERT] = LOCO_SIM_INSERT,
    [LOCO_KV_UPDATE] = LOCO_SIM_UPDATE,
    [LOCO_KV_DELETE] = LOCO_SIM_DELETE,
};

static enum loco_kv_kind draw_kind(struct loco_sim_actor *a)
{
    static const enum loco_kv_kind kinds[] = {
        LOCO_KV_READ,   LOCO_KV_READ,   LOCO_KV_READ,   LOCO_KV_INSERT,
        LOCO_KV_INSERT, LOCO_KV_UPDATE, LOCO_KV_UPDATE, LOCO_KV_DELETE,
    };

    return kinds[loco_sim_actor_draw(a, sizeof kinds / sizeof kinds[0])];
}

/* Returns a value that nobody else writes. */
static uint64_t fresh(const struct loco_sim_actor *a, uint64_t i)
{
    return (a->index + 1) * 1000 + i;
}

static void record(struct loco_sim_actor *a, int op, enum loco_kv_kind kind, int rc, uint64_t got)
{
    int refusal = kind == LOCO_KV_INSERT ? -EEXIST : -ENOENT;

    /* An operation that timed out may take effect at some later moment. */
    if (rc == -ETIMEDOUT)
        return;
    LOCO_SIM_EXPECT(a, rc == 0 || rc == refusal || (kind == LOCO_KV_READ && rc == -EAGAIN));
    if (rc != -EAGAIN)
        loco_sim_history_return(a->history, op, rc == 0, rc == 0 && kind == LOCO_KV_READ ? got : 0);
}

static int invoke(struct loco_sim_actor *a, enum loco_kv_kind kind, uint64_t key, uint64_t value)
{
    const bool writes = kind == LOCO_KV_INSERT || kind == LOCO_KV_UPDATE;

    return loco_sim_history_invoke(a->history, a->index, codes[kind], key, writes ? value : 0, 0);
}

static int operate(struct loco_sim_actor *a, enum loco_kv_kind kind, uint64_t key, uint64_t *words,
                   uint64_t timeout_ns)
{
    if (kind == LOCO_KV_INSERT)
        return loco_kvstore_insert_timed(a->object, key, words, timeout_ns);
    if (kind == LOCO_KV_UPDATE)
        return loco_kvstore_update_timed(a->object, key, words, timeout_ns);
    if (kind == LOCO_KV_DELETE)
        return loco_kvstore_delete_timed(a->object, key, timeout_ns);
    return loco_kvstore_read_timed(a->object, key, words, timeout_ns);
}

static void do_one(struct loco_sim_actor *a, uint64_t i, uint64_t timeout_ns)
{
    enum loco_kv_kind kind = draw_kind(a);
    uint64_t key = loco_sim_actor_draw(a, KEYS), words[VALUE_WORDS_MAX], got = 0;

    set_value(a, words, fresh(a, i));
    int op = invoke(a, kind, key, words[0]);
    int rc = operate(a, kind, key, words, timeout_ns);
    LOCO_SIM_EXPECT(a, rc != -ETIMEDOUT || timeout_ns != UINT64_MAX);
    if (kind == LOCO_KV_READ && rc == 0)
        got = get_value(a, words);
    record(a, op, kind, rc, got);
}

enum { SYNC_THREADS = 3 };

static void sync_act(struct loco_sim_actor *a)
{
    if (is_tracker(a, SYNC_THREADS)) {
        track(a);
        return;
    }
    for (uint64_t i = 0; i < OPS; i++)
        do_one(a, i, UINT64_MAX);
    --*a->acting;
}

/* Most operations may time out. The last ones have no time limit; they need what the timed-out ones
 * held. */
enum { SHORT_NS = 6000, SHORTS = 4, LASTS = 2 };

static void timed_act(struct loco_sim_actor *a)
{
    if (is_tracker(a, SYNC_THREADS)) {
        track(a);
        return;
    }
    for (uint64_t i = 0; i < SHORTS; i++)
        do_one(a, i, loco_sim_actor_draw(a, SHORT_NS));
    for (uint64_t i = SHORTS; i < SHORTS + LASTS; i++)
        do_one(a, i, UINT64_MAX);
    --*a->acting;
}

/* --- the same, several at a time -------------------------------------------------------------- */

enum { WINDOW_THREADS = 2 };

static void start(struct loco_sim_actor *a, uint64_t key, struct loco_kv_op *op, int *record_at,
                  uint64_t i)
{
    enum loco_kv_kind kind = draw_kind(a);
    uint64_t words[VALUE_WORDS_MAX];

    set_value(a, words, fresh(a, i));
    *record_at = invoke(a, kind, key, words[0]);
    if (kind == LOCO_KV_INSERT)
        loco_kv_start_insert(op, key, words);
    else if (kind == LOCO_KV_UPDATE)
        loco_kv_start_update(op, key, words);
    else if (kind == LOCO_KV_DELETE)
        loco_kv_start_delete(op, key);
    else
        loco_kv_start_read(op, key);
}

static void use_window(struct loco_sim_actor *a, const uint64_t *keys)
{
    struct loco_kv_window *w;
    int records[WINDOW];
    uint64_t started = 0, over = 0;

    if (is_tracker(a, WINDOW_THREADS)) {
        track(a);
        return;
    }
    LOCO_SIM_EXPECT(a, loco_kv_window_open(&w, a->object, WINDOW) == 0);
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    while (over < 2 * OPS) {
        for (unsigned i = 0; i < WINDOW; i++) {
            struct loco_kv_op *op = loco_kv_window_op(w, i);
            if (op->user && loco_kv_poll(op)) {
                bool got = op->kind == LOCO_KV_READ && op->result == 0;
                record(a, records[i], op->kind, op->result, got ? get_value(a, op->value) : 0);
                op->user = NULL;
                over++;
            }
            if (!op->user && started < 2 * OPS) {
                op->user = a;
                start(a, keys[loco_sim_actor_draw(a, KEYS)], op, &records[i], started++);
            }
        }
        loco_relax(a->mgr, &wait);
    }
    loco_kv_window_close(w);
    --*a->acting;
}

static const uint64_t first_keys[KEYS] = {0, 1};

static void window_act(struct loco_sim_actor *a)
{
    use_window(a, first_keys);
}

/* The first key of this lock from `key` on. */
static uint64_t key_of_lock(const struct loco_sim_actor *a, uint32_t host, uint32_t index,
                            uint64_t key)
{
    struct loco_kv_op op;

    for (;; key++) {
        op.hash = kv_hash(key);
        kv_lock_find(&op, a->object);
        if (op.lock_host == host && op.lock_index == index)
            return key;
    }
}

/* The keys have locks on two nodes, but in a window their waiting operations share a line. */
static void lines_act(struct loco_sim_actor *a)
{
    use_window(a, (const uint64_t[KEYS]){key_of_lock(a, 0, 1, 0), key_of_lock(a, 1, 0, 0)});
}

/* --- one slot, used again and again ----------------------------------------------------------- */

enum { REUSES = 16, READS_MAX = 400 };

/* Node 0 has room for one key at a time, so each key takes the slot of the last key, while all the
 * others read. A read that was stalled after its look-up finds the slot with another key, or with
 * the same key inserted again. */
static void use_again(struct loco_sim_actor *a, const uint64_t *keys)
{
    uint64_t words[VALUE_WORDS_MAX];

    for (uint64_t i = 0; i < REUSES; i++) {
        uint64_t key = keys[loco_sim_actor_draw(a, KEYS)];
        set_value(a, words, fresh(a, i));
        int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_INSERT, key, words[0], 0);
        record(a, op, LOCO_KV_INSERT, loco_kvstore_insert(a->object, key, words), 0);
        op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_DELETE, key, 0, 0);
        record(a, op, LOCO_KV_DELETE, loco_kvstore_delete(a->object, key), 0);
    }
}

static void read_again(struct loco_sim_actor *a, const uint64_t *keys, uint64_t reads,
                       uint32_t readers)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    uint64_t words[VALUE_WORDS_MAX];

    for (uint64_t i = 0; i < reads && acting(a) > readers; i++) {
        uint64_t key = keys[i % KEYS];
        int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_READ, key, 0, 0);
        int rc = loco_kvstore_read(a->object, key, words);
        record(a, op, LOCO_KV_READ, rc, rc == 0 ? get_value(a, words) : 0);
        loco_relax(a->mgr, &wait);
    }
}

static void reuse(struct loco_sim_actor *a, const uint64_t *keys, uint32_t threads)
{
    const uint32_t readers = a->mgr->count * (threads - 1) - 1;

    if (is_tracker(a, threads)) {
        track(a);
        return;
    }
    if (a->index == 1)
        use_again(a, keys);
    else
        read_again(a, keys, READS_MAX / readers, readers);
    --*a->acting;
}

static void reuse_act(struct loco_sim_actor *a)
{
    reuse(a, first_keys, WINDOW_THREADS);
}

/* The slot is at another node than node 0, which writes it. When the other threads of node 0 know
 * of the new key, they may still read the old content of the slot. */
static void reuse_far_act(struct loco_sim_actor *a)
{
    uint64_t first = key_of_lock(a, 1, 0, 0);

    reuse(a, (const uint64_t[KEYS]){first, key_of_lock(a, 1, 0, first + 1)}, SYNC_THREADS);
}

/* --- the last node dies ----------------------------------------------------------------------- */

/*
 * The last node dies during whatever it does. Each node is the host of one key that all use, with
 * its lock. A key of the dead node is absent, or its operations return -ECONNRESET. Other
 * operations may return -EOWNERDEAD, since the dead node may hold the lock. All other results are
 * linearizable. An operation without a definite result may have taken effect.
 *
 * Keys whose locks the dead node never held work as before.
 */
enum { MORTAL_NODES = 3, MORTAL = MORTAL_NODES - 1, MORTAL_OPS = 10, MORTAL_LOCKS = 4 };

/* A time limit above the duration of any operation. Without it, some operations on the dead node
 * would wait for ever. */
static const uint64_t MORTAL_NS = 1000000;

static uint64_t mortal_key(const struct loco_sim_actor *a, uint32_t host)
{
    return key_of_lock(a, host, 0, 0);
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
    const enum loco_kv_kind kind = draw_kind(a);
    const uint32_t host = (uint32_t)loco_sim_actor_draw(a, MORTAL_NODES);
    const int refusal = kind == LOCO_KV_INSERT ? -EEXIST : -ENOENT;
    uint64_t key = mortal_key(a, host), words[VALUE_WORDS_MAX];

    set_value(a, words, fresh(a, i));
    int op = invoke(a, kind, key, words[0]);
    int rc = operate(a, kind, key, words, a->node == MORTAL ? MORTAL_NS : UINT64_MAX);
    if (*a->crashed)
        return; /* it stays pending */
    LOCO_SIM_EXPECT(a, rc == 0 || rc == refusal || mortal_may_fail(a, kind, host, rc));
    if (rc == 0 || rc == refusal)
        loco_sim_history_return(a->history, op, rc == 0,
                                rc == 0 && kind == LOCO_KV_READ ? get_value(a, words) : 0);
}

/* After the death, uses a key of this thread alone. */
static void mortal_use_after(struct loco_sim_actor *a)
{
    const uint32_t survivors = MORTAL_NODES - 1;
    const uint64_t key = key_of_lock(a, (a->node + 1) % survivors, 1 + a->index % SYNC_THREADS, 0);
    uint64_t words[VALUE_WORDS_MAX], value = fresh(a, MORTAL_OPS);
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    while (!loco_peer_lost(a->mgr, MORTAL))
        loco_relax(a->mgr, &wait);
    set_value(a, words, value);
    LOCO_SIM_EXPECT(a, loco_kvstore_insert(a->object, key, words) == 0);
    set_value(a, words, value + 1);
    LOCO_SIM_EXPECT(a, loco_kvstore_update(a->object, key, words) == 0);
    set_value(a, words, 0);
    LOCO_SIM_EXPECT(a, loco_kvstore_read(a->object, key, words) == 0);
    LOCO_SIM_EXPECT(a, get_value(a, words) == value + 1);
    LOCO_SIM_EXPECT(a, loco_kvstore_delete(a->object, key) == 0);
    LOCO_SIM_EXPECT(a, loco_kvstore_read(a->object, key, words) == -ENOENT);
}

static void mortal_track(struct loco_sim_actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    while (acting(a) > 0 && !*a->crashed)
        if (loco_kvstore_serve(a->object) == 0)
            loco_relax(a->mgr, &wait);
}

static void mortal_act(struct loco_sim_actor *a)
{
    if (is_tracker(a, SYNC_THREADS)) {
        mortal_track(a);
        return;
    }
    for (uint64_t i = 0; i < MORTAL_OPS && !*a->crashed; i++)
        mortal_do_one(a, i);
    if (a->node != MORTAL)
        mortal_use_after(a);
    --*a->acting;
}

/* --- the workloads ---------------------------------------------------------------------------- */

static int at_lock_open(struct loco_manager *m, void *object)
{
    return open_with(m, object,
                     (struct loco_kvstore_config){.value_size = 16, .capacity = KEYS, .locks = 1});
}

static int at_inserter_open(struct loco_manager *m, void *object)
{
    return open_with(m, object,
                     (struct loco_kvstore_config){.value_size = 80, /* its source is read late */
                                                  .capacity = KEYS,
                                                  .locks = 2,
                                                  .placement = LOCO_KV_AT_INSERTER});
}

static int window_open(struct loco_manager *m, void *object)
{
    return open_with(m, object,
                     (struct loco_kvstore_config){.value_size = 80, .capacity = KEYS, .locks = 2});
}

static int lines_open(struct loco_manager *m, void *object)
{
    return open_with(m, object,
                     (struct loco_kvstore_config){.value_size = 16, .capacity = KEYS, .locks = 4});
}

static int mortal_open(struct loco_manager *m, void *object)
{
    return open_with(m, object,
                     (struct loco_kvstore_config){.value_size = 16,
                                                  .capacity = 64,
                                                  .locks = MORTAL_NODES * MORTAL_LOCKS,
                                                  .torn_ns = 20000,
                                                  .owner_ns = 200000});
}

static int reuse_far_open(struct loco_manager *m, void *object)
{
    return open_with(m, object,
                     (struct loco_kvstore_config){.value_size = 8, .capacity = 1, .locks = 2});
}

static int reuse_open(struct loco_manager *m, void *object)
{
    return open_with(
        m, object,
        (struct loco_kvstore_config){
            .value_size = 16, .capacity = 1, .locks = 3, .placement = LOCO_KV_AT_INSERTER});
}

const struct loco_sim_workload kvstore_at_lock = {
    .name = "kvstore",
    .nodes = 2,
    .threads = SYNC_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = at_lock_open,
    .close = close_store,
    .act = sync_act,
};

const struct loco_sim_workload kvstore_at_inserter = {
    .name = "kvstore_at_inserter",
    .nodes = 3,
    .threads = SYNC_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = at_inserter_open,
    .close = close_store,
    .act = sync_act,
};

const struct loco_sim_workload kvstore_timed = {
    .name = "kvstore_timed",
    .nodes = 3,
    .threads = SYNC_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = window_open,
    .close = close_store,
    .act = timed_act,
};

const struct loco_sim_workload kvstore_timed_at_inserter = {
    .name = "kvstore_timed_at_inserter",
    .nodes = 2,
    .threads = SYNC_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = at_inserter_open,
    .close = close_store,
    .act = timed_act,
};

const struct loco_sim_workload kvstore_window = {
    .name = "kvstore_window",
    .nodes = 3,
    .threads = WINDOW_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = window_open,
    .close = close_store,
    .act = window_act,
};

const struct loco_sim_workload kvstore_reuse = {
    .name = "kvstore_reuse",
    .nodes = 3,
    .threads = WINDOW_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = reuse_open,
    .close = close_store,
    .act = reuse_act,
};

const struct loco_sim_workload kvstore_lines = {
    .name = "kvstore_lines",
    .nodes = 2,
    .threads = WINDOW_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = lines_open,
    .close = close_store,
    .act = lines_act,
};

const struct loco_sim_workload kvstore_reuse_far = {
    .name = "kvstore_reuse_far",
    .nodes = 2,
    .threads = SYNC_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = reuse_far_open,
    .close = close_store,
    .act = reuse_far_act,
};

const struct loco_sim_workload kvstore_mortal = {
    .name = "kvstore_mortal",
    .nodes = MORTAL_NODES,
    .threads = SYNC_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = mortal_open,
    .close = close_store,
    .act = mortal_act,
    .dies = true,
    .within_ns = 60000,
};

/*
 * Workloads of the kvstore: all nodes insert, update, delete and read the same two keys, with few
 * slots, so that reads meet every state of a slot. At each node another thread is the tracker.
 */
#include <errno.h>

#include "channels/kvstore/kvstore_locks.h"
#include "tests/sim/workload_kvstore.h"

enum { KEYS = 2, OPS = 14, WINDOW = 3 };

int kv_work_open(struct loco_manager *m, struct loco_kvstore *kv, struct loco_kvstore_config config)
{
    return loco_kvstore_init(kv, m, NULL, "kv", &config);
}

void kv_work_close(void *object)
{
    loco_kvstore_fini(object);
}

bool kv_work_is_tracker(const struct loco_sim_actor *a, uint32_t threads)
{
    return a->index % threads == 0;
}

/* How many threads have not ended, without the trackers, which serve the others until then. */
static uint32_t kv_work_acting(const struct loco_sim_actor *a)
{
    return *a->acting - a->mgr->count;
}

void kv_work_track(struct loco_sim_actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    while (kv_work_acting(a) > 0 && !*a->crashed) {
        if (loco_kvstore_serve(a->object) > 0)
            wait.turns = 0; /* others may wait for what it has done */
        else
            loco_relax(a->mgr, &wait);
    }
}

/* --- a value: all its words the same ------------------------------------------------------- */

void kv_work_set_value(const struct loco_sim_actor *a, uint64_t *words, uint64_t value)
{
    const struct loco_kvstore *kv = a->object;

    for (size_t i = 0; i < kv->config.value_size / 8; i++)
        words[i] = value;
}

uint64_t kv_work_get_value(struct loco_sim_actor *a, const uint64_t *words)
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

enum loco_kv_kind kv_work_draw_kind(struct loco_sim_actor *a)
{
    static const enum loco_kv_kind kinds[] = {
        LOCO_KV_READ,   LOCO_KV_READ,   LOCO_KV_READ,   LOCO_KV_INSERT,
        LOCO_KV_INSERT, LOCO_KV_UPDATE, LOCO_KV_UPDATE, LOCO_KV_DELETE,
    };

    return kinds[loco_sim_actor_draw(a, sizeof kinds / sizeof kinds[0])];
}

uint64_t kv_work_fresh_value(const struct loco_sim_actor *a, uint64_t i)
{
    return (a->index + 1) * 1000 + i;
}

bool kv_work_is_definite(enum loco_kv_kind kind, int rc)
{
    return rc == 0 || rc == (kind == LOCO_KV_INSERT ? -EEXIST : -ENOENT);
}

void kv_work_record(struct loco_sim_actor *a, int at, enum loco_kv_kind kind, int rc,
                    const uint64_t *words)
{
    const bool got = kind == LOCO_KV_READ && rc == 0;

    if (kv_work_is_definite(kind, rc))
        loco_sim_history_return(a->history, at, rc == 0, got ? kv_work_get_value(a, words) : 0);
}

/* An operation that timed out may take effect at some later moment. */
static void record(struct loco_sim_actor *a, int at, enum loco_kv_kind kind, int rc,
                   const uint64_t *words)
{
    LOCO_SIM_EXPECT(a, rc == -ETIMEDOUT || kv_work_is_definite(kind, rc) ||
                           (kind == LOCO_KV_READ && rc == -EAGAIN));
    kv_work_record(a, at, kind, rc, words);
}

int kv_work_invoke(struct loco_sim_actor *a, enum loco_kv_kind kind, uint64_t key, uint64_t value)
{
    const bool writes = kind == LOCO_KV_INSERT || kind == LOCO_KV_UPDATE;

    return loco_sim_history_invoke(a->history, a->index, codes[kind], key, writes ? value : 0, 0);
}

void kv_work_start(struct loco_sim_actor *a, struct loco_kv_op *op, int *at, uint64_t keys,
                   uint64_t value)
{
    const enum loco_kv_kind kind = kv_work_draw_kind(a);
    const uint64_t key = loco_sim_actor_draw(a, keys);

    kv_work_set_value(a, op->value, value);
    op->user = at;
    *at = kv_work_invoke(a, kind, key, value);
    if (kind == LOCO_KV_READ)
        loco_kv_start_read(op, key);
    else if (kind == LOCO_KV_INSERT)
        loco_kv_start_insert(op, key, NULL);
    else if (kind == LOCO_KV_UPDATE)
        loco_kv_start_update(op, key, NULL);
    else
        loco_kv_start_delete(op, key);
}

void kv_work_report(struct loco_sim_actor *a, const struct loco_kv_op *op)
{
    const int at = *(const int *)op->user;

    LOCO_SIM_EXPECT(a, op->result == -ETIMEDOUT || kv_work_is_definite(op->kind, op->result));
    kv_work_record(a, at, op->kind, op->result, op->value);
}

int kv_work_operate(struct loco_sim_actor *a, enum loco_kv_kind kind, uint64_t key, uint64_t *words,
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
    enum loco_kv_kind kind = kv_work_draw_kind(a);
    uint64_t key = loco_sim_actor_draw(a, KEYS), words[KV_WORK_WORDS_MAX];

    kv_work_set_value(a, words, kv_work_fresh_value(a, i));
    int op = kv_work_invoke(a, kind, key, words[0]);
    int rc = kv_work_operate(a, kind, key, words, timeout_ns);
    LOCO_SIM_EXPECT(a, rc != -ETIMEDOUT || timeout_ns != UINT64_MAX);
    record(a, op, kind, rc, words);
}

enum { SYNC_THREADS = 3 };

static void sync_act(struct loco_sim_actor *a)
{
    if (kv_work_is_tracker(a, SYNC_THREADS)) {
        kv_work_track(a);
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
    if (kv_work_is_tracker(a, SYNC_THREADS)) {
        kv_work_track(a);
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

/* Starts an operation, with value i of this thread. *at is its place in the history. */
static void window_start(struct loco_sim_actor *a, enum loco_kv_kind kind, uint64_t key,
                         struct loco_kv_op *op, int *at, uint64_t i)
{
    uint64_t words[KV_WORK_WORDS_MAX];

    kv_work_set_value(a, words, kv_work_fresh_value(a, i));
    *at = kv_work_invoke(a, kind, key, words[0]);
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

    if (kv_work_is_tracker(a, WINDOW_THREADS)) {
        kv_work_track(a);
        return;
    }
    LOCO_SIM_EXPECT(a, loco_kv_window_open(&w, a->object, WINDOW) == 0);
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    while (over < 2 * OPS) {
        for (unsigned i = 0; i < WINDOW; i++) {
            struct loco_kv_op *op = loco_kv_window_op(w, i);
            if (op->user && loco_kv_poll(op)) {
                record(a, records[i], op->kind, op->result, op->value);
                op->user = NULL;
                over++;
            }
            if (!op->user && started < 2 * OPS) {
                op->user = a;
                window_start(a, kv_work_draw_kind(a), keys[loco_sim_actor_draw(a, KEYS)], op,
                             &records[i], started++);
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

uint64_t kv_work_key_of_lock(const struct loco_sim_actor *a, uint32_t host, uint32_t index,
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
    use_window(a, (const uint64_t[KEYS]){kv_work_key_of_lock(a, 0, 1, 0),
                                         kv_work_key_of_lock(a, 1, 0, 0)});
}

/* --- one slot, used again and again ----------------------------------------------------------- */

enum { REUSES = 16, READS_MAX = 400 };

/* Node 0 has room for one key at a time, so each key takes the slot of the last key, while all the
 * others read. A read that was stalled after its look-up finds the slot with another key, or with
 * the same key inserted again. */
static void use_again(struct loco_sim_actor *a, const uint64_t *keys)
{
    uint64_t words[KV_WORK_WORDS_MAX];

    for (uint64_t i = 0; i < REUSES; i++) {
        uint64_t key = keys[loco_sim_actor_draw(a, KEYS)];
        kv_work_set_value(a, words, kv_work_fresh_value(a, i));
        int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_INSERT, key, words[0], 0);
        record(a, op, LOCO_KV_INSERT, loco_kvstore_insert(a->object, key, words), words);
        op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_DELETE, key, 0, 0);
        record(a, op, LOCO_KV_DELETE, loco_kvstore_delete(a->object, key), words);
    }
}

static void read_again(struct loco_sim_actor *a, const uint64_t *keys, uint64_t reads,
                       uint32_t readers)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    uint64_t words[KV_WORK_WORDS_MAX];

    for (uint64_t i = 0; i < reads && kv_work_acting(a) > readers; i++) {
        uint64_t key = keys[i % KEYS];
        int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_READ, key, 0, 0);
        int rc = loco_kvstore_read(a->object, key, words);
        record(a, op, LOCO_KV_READ, rc, words);
        loco_relax(a->mgr, &wait);
    }
}

static void reuse(struct loco_sim_actor *a, const uint64_t *keys, uint32_t threads)
{
    const uint32_t readers = a->mgr->count * (threads - 1) - 1;

    if (kv_work_is_tracker(a, threads)) {
        kv_work_track(a);
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
    uint64_t first = kv_work_key_of_lock(a, 1, 0, 0);

    reuse(a, (const uint64_t[KEYS]){first, kv_work_key_of_lock(a, 1, 0, first + 1)}, SYNC_THREADS);
}

/* --- the workloads ---------------------------------------------------------------------------- */

static int at_lock_open(struct loco_manager *m, void *object)
{
    return kv_work_open(
        m, object, (struct loco_kvstore_config){.value_size = 16, .capacity = KEYS, .locks = 1});
}

static int at_inserter_open(struct loco_manager *m, void *object)
{
    return kv_work_open(m, object,
                        (struct loco_kvstore_config){.value_size = 80, /* its source is read late */
                                                     .capacity = KEYS,
                                                     .locks = 2,
                                                     .placement = LOCO_KV_AT_INSERTER});
}

static int window_open(struct loco_manager *m, void *object)
{
    return kv_work_open(
        m, object, (struct loco_kvstore_config){.value_size = 80, .capacity = KEYS, .locks = 2});
}

static int lines_open(struct loco_manager *m, void *object)
{
    return kv_work_open(
        m, object, (struct loco_kvstore_config){.value_size = 16, .capacity = KEYS, .locks = 4});
}

static int reuse_far_open(struct loco_manager *m, void *object)
{
    return kv_work_open(m, object,
                        (struct loco_kvstore_config){.value_size = 8, .capacity = 1, .locks = 2});
}

static int reuse_open(struct loco_manager *m, void *object)
{
    return kv_work_open(
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
    .close = kv_work_close,
    .act = sync_act,
};

const struct loco_sim_workload kvstore_at_inserter = {
    .name = "kvstore_at_inserter",
    .nodes = 3,
    .threads = SYNC_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = at_inserter_open,
    .close = kv_work_close,
    .act = sync_act,
};

const struct loco_sim_workload kvstore_timed = {
    .name = "kvstore_timed",
    .nodes = 3,
    .threads = SYNC_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = window_open,
    .close = kv_work_close,
    .act = timed_act,
};

const struct loco_sim_workload kvstore_timed_at_inserter = {
    .name = "kvstore_timed_at_inserter",
    .nodes = 2,
    .threads = SYNC_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = at_inserter_open,
    .close = kv_work_close,
    .act = timed_act,
};

const struct loco_sim_workload kvstore_window = {
    .name = "kvstore_window",
    .nodes = 3,
    .threads = WINDOW_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = window_open,
    .close = kv_work_close,
    .act = window_act,
};

const struct loco_sim_workload kvstore_reuse = {
    .name = "kvstore_reuse",
    .nodes = 3,
    .threads = WINDOW_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = reuse_open,
    .close = kv_work_close,
    .act = reuse_act,
};

const struct loco_sim_workload kvstore_lines = {
    .name = "kvstore_lines",
    .nodes = 2,
    .threads = WINDOW_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = lines_open,
    .close = kv_work_close,
    .act = lines_act,
};

const struct loco_sim_workload kvstore_reuse_far = {
    .name = "kvstore_reuse_far",
    .nodes = 2,
    .threads = SYNC_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = reuse_far_open,
    .close = kv_work_close,
    .act = reuse_far_act,
};

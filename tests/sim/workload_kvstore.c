/*
 * What is done to the kvstore: everybody inserts, updates, deletes and reads the same two
 * keys, with few slots, so that reads meet every state of one. At each node one more thread
 * is the tracker.
 */
#include <errno.h>

#include "channels/kvstore_index.h"
#include "channels/kvstore_locks.h"
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

static bool is_tracker(const struct actor *a, uint32_t threads)
{
    return a->index % threads == 0;
}

/* How many have not ended, but for the trackers, who go on for them. */
static uint32_t acting(const struct actor *a)
{
    return *a->acting - a->mgr->count;
}

static void track(struct actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    while (acting(a) > 0)
        if (loco_kvstore_serve(a->object) == 0)
            loco_relax(a->mgr, &wait);
}

/* --- a value: all its words the same ------------------------------------------------------- */

static void set_value(const struct actor *a, uint64_t *words, uint64_t value)
{
    const struct loco_kvstore *kv = a->object;

    for (size_t i = 0; i < kv->config.value_size / 8; i++)
        words[i] = value;
}

static uint64_t get_value(struct actor *a, const uint64_t *words)
{
    const struct loco_kvstore *kv = a->object;

    for (size_t i = 1; i < kv->config.value_size / 8; i++)
        EXPECT(a, words[i] == words[0]);
    return words[0];
}

/* --- operations ------------------------------------------------------------------------------ */

static const enum history_code codes[] = {
    [LOCO_KV_READ] = OP_READ,
    [LOCO_KV_INSERT] = OP_INSERT,
    [LOCO_KV_UPDATE] = OP_UPDATE,
    [LOCO_KV_DELETE] = OP_DELETE,
};

static enum loco_kv_kind draw_kind(struct actor *a)
{
    static const enum loco_kv_kind kinds[] = {
        LOCO_KV_READ,   LOCO_KV_READ,   LOCO_KV_READ,   LOCO_KV_INSERT,
        LOCO_KV_INSERT, LOCO_KV_UPDATE, LOCO_KV_UPDATE, LOCO_KV_DELETE,
    };

    return kinds[actor_draw(a, sizeof kinds / sizeof kinds[0])];
}

/* A value that nobody else writes. */
static uint64_t fresh(const struct actor *a, uint64_t i)
{
    return (a->index + 1) * 1000 + i;
}

static void record(struct actor *a, int op, enum loco_kv_kind kind, int rc, uint64_t got)
{
    int refusal = kind == LOCO_KV_INSERT ? -EEXIST : -ENOENT;

    /* One that ran out of time may take effect at some later moment. */
    if (rc == -ETIMEDOUT)
        return;
    EXPECT(a, rc == 0 || rc == refusal || (kind == LOCO_KV_READ && rc == -EAGAIN));
    if (rc != -EAGAIN)
        history_return(a->history, op, rc == 0, rc == 0 && kind == LOCO_KV_READ ? got : 0);
}

static void do_one(struct actor *a, uint64_t i, uint64_t timeout_ns)
{
    enum loco_kv_kind kind = draw_kind(a);
    uint64_t key = actor_draw(a, KEYS), words[VALUE_WORDS_MAX], got = 0;
    bool writes = kind == LOCO_KV_INSERT || kind == LOCO_KV_UPDATE;
    int rc;

    set_value(a, words, fresh(a, i));
    int op = history_invoke(a->history, a->index, codes[kind], key, writes ? words[0] : 0, 0);
    if (kind == LOCO_KV_INSERT)
        rc = loco_kvstore_insert_timed(a->object, key, words, timeout_ns);
    else if (kind == LOCO_KV_UPDATE)
        rc = loco_kvstore_update_timed(a->object, key, words, timeout_ns);
    else if (kind == LOCO_KV_DELETE)
        rc = loco_kvstore_delete_timed(a->object, key, timeout_ns);
    else
        rc = loco_kvstore_read_timed(a->object, key, words, timeout_ns);
    EXPECT(a, rc != -ETIMEDOUT || timeout_ns != UINT64_MAX);
    if (kind == LOCO_KV_READ && rc == 0)
        got = get_value(a, words);
    record(a, op, kind, rc, got);
}

enum { SYNC_THREADS = 3 };

static void sync_act(struct actor *a)
{
    if (is_tracker(a, SYNC_THREADS)) {
        track(a);
        return;
    }
    for (uint64_t i = 0; i < OPS; i++)
        do_one(a, i, UINT64_MAX);
    --*a->acting;
}

/* Most operations end at some time within; the last, which do not, need what these held. */
enum { SHORT_NS = 6000, SHORTS = 4, LASTS = 2 };

static void timed_act(struct actor *a)
{
    if (is_tracker(a, SYNC_THREADS)) {
        track(a);
        return;
    }
    for (uint64_t i = 0; i < SHORTS; i++)
        do_one(a, i, actor_draw(a, SHORT_NS));
    for (uint64_t i = SHORTS; i < SHORTS + LASTS; i++)
        do_one(a, i, UINT64_MAX);
    --*a->acting;
}

/* --- the same, several at a time -------------------------------------------------------------- */

enum { WINDOW_THREADS = 2 };

static void start(struct actor *a, uint64_t key, struct loco_kv_op *op, int *record_at, uint64_t i)
{
    enum loco_kv_kind kind = draw_kind(a);
    uint64_t words[VALUE_WORDS_MAX];
    bool writes = kind == LOCO_KV_INSERT || kind == LOCO_KV_UPDATE;

    set_value(a, words, fresh(a, i));
    *record_at = history_invoke(a->history, a->index, codes[kind], key, writes ? words[0] : 0, 0);
    if (kind == LOCO_KV_INSERT)
        loco_kv_start_insert(op, key, words);
    else if (kind == LOCO_KV_UPDATE)
        loco_kv_start_update(op, key, words);
    else if (kind == LOCO_KV_DELETE)
        loco_kv_start_delete(op, key);
    else
        loco_kv_start_read(op, key);
}

static void use_window(struct actor *a, const uint64_t *keys)
{
    struct loco_kv_window *w;
    int records[WINDOW];
    uint64_t started = 0, over = 0;

    if (is_tracker(a, WINDOW_THREADS)) {
        track(a);
        return;
    }
    EXPECT(a, loco_kv_window_open(&w, a->object, WINDOW) == 0);
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
                start(a, keys[actor_draw(a, KEYS)], op, &records[i], started++);
            }
        }
        loco_relax(a->mgr, &wait);
    }
    loco_kv_window_close(w);
    --*a->acting;
}

static const uint64_t first_keys[KEYS] = {0, 1};

static void window_act(struct actor *a)
{
    use_window(a, first_keys);
}

/* The first key of this lock that is not below `key`. */
static uint64_t key_of_lock(const struct actor *a, uint32_t host, uint32_t index, uint64_t key)
{
    struct loco_kv_op op;

    for (;; key++) {
        op.hash = kv_hash(key);
        kv_lock_find(&op, a->object);
        if (op.lock_host == host && op.lock_index == index)
            return key;
    }
}

/* The keys have locks of two nodes, but in a window the same line for those who wait. */
static void lines_act(struct actor *a)
{
    use_window(a, (const uint64_t[KEYS]){key_of_lock(a, 0, 1, 0), key_of_lock(a, 1, 0, 0)});
}

/* --- one slot, used again and again ----------------------------------------------------------- */

enum { REUSES = 16, READS_MAX = 400 };

/* Node 0 has room for one key at a time, so each key takes the slot of the last, while all the
 * others read: a read that was stalled after its look-up finds the slot with another key. */
static void use_again(struct actor *a, const uint64_t *keys)
{
    uint64_t words[VALUE_WORDS_MAX];

    for (uint64_t i = 0; i < REUSES; i++) {
        uint64_t key = keys[i % KEYS];
        set_value(a, words, fresh(a, i));
        int op = history_invoke(a->history, a->index, OP_INSERT, key, words[0], 0);
        record(a, op, LOCO_KV_INSERT, loco_kvstore_insert(a->object, key, words), 0);
        op = history_invoke(a->history, a->index, OP_DELETE, key, 0, 0);
        record(a, op, LOCO_KV_DELETE, loco_kvstore_delete(a->object, key), 0);
    }
}

static void read_again(struct actor *a, const uint64_t *keys, uint64_t reads, uint32_t readers)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    uint64_t words[VALUE_WORDS_MAX];

    for (uint64_t i = 0; i < reads && acting(a) > readers; i++) {
        uint64_t key = keys[i % KEYS];
        int op = history_invoke(a->history, a->index, OP_READ, key, 0, 0);
        int rc = loco_kvstore_read(a->object, key, words);
        record(a, op, LOCO_KV_READ, rc, rc == 0 ? get_value(a, words) : 0);
        loco_relax(a->mgr, &wait);
    }
}

static void reuse(struct actor *a, const uint64_t *keys, uint32_t threads)
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

static void reuse_act(struct actor *a)
{
    reuse(a, first_keys, WINDOW_THREADS);
}

/* The slot is far from node 0, which writes it: when the other threads of node 0 know of the new
 * key, they may still read what the slot held before. */
static void reuse_far_act(struct actor *a)
{
    uint64_t first = key_of_lock(a, 1, 0, 0);

    reuse(a, (const uint64_t[KEYS]){first, key_of_lock(a, 1, 0, first + 1)}, SYNC_THREADS);
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

const struct workload kvstore_at_lock = {
    .name = "kvstore",
    .nodes = 2,
    .threads = SYNC_THREADS,
    .model = model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = at_lock_open,
    .close = close_store,
    .act = sync_act,
};

const struct workload kvstore_at_inserter = {
    .name = "kvstore_at_inserter",
    .nodes = 3,
    .threads = SYNC_THREADS,
    .model = model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = at_inserter_open,
    .close = close_store,
    .act = sync_act,
};

const struct workload kvstore_timed = {
    .name = "kvstore_timed",
    .nodes = 3,
    .threads = SYNC_THREADS,
    .model = model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = window_open,
    .close = close_store,
    .act = timed_act,
};

const struct workload kvstore_timed_at_inserter = {
    .name = "kvstore_timed_at_inserter",
    .nodes = 2,
    .threads = SYNC_THREADS,
    .model = model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = at_inserter_open,
    .close = close_store,
    .act = timed_act,
};

const struct workload kvstore_window = {
    .name = "kvstore_window",
    .nodes = 3,
    .threads = WINDOW_THREADS,
    .model = model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = window_open,
    .close = close_store,
    .act = window_act,
};

const struct workload kvstore_reuse = {
    .name = "kvstore_reuse",
    .nodes = 3,
    .threads = WINDOW_THREADS,
    .model = model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = reuse_open,
    .close = close_store,
    .act = reuse_act,
};

const struct workload kvstore_lines = {
    .name = "kvstore_lines",
    .nodes = 2,
    .threads = WINDOW_THREADS,
    .model = model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = lines_open,
    .close = close_store,
    .act = lines_act,
};

const struct workload kvstore_reuse_far = {
    .name = "kvstore_reuse_far",
    .nodes = 2,
    .threads = SYNC_THREADS,
    .model = model_map,
    .object_size = sizeof(struct loco_kvstore),
    .open = reuse_far_open,
    .close = close_store,
    .act = reuse_far_act,
};

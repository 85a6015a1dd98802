/*
 * A workload of a full kvstore while one node is late in learning of removals. Slots are reused
 * before that node has applied the end of their last use. It must find room for additions without
 * waiting for removals.
 *
 * Nodes 0 to 2 fill the store. Then node 2 stops serving its trackers. Node 1 inserts a key into
 * its last slot, and deletes all of node 0's keys; node 0 inserts as many new keys in their place.
 * All of these changes are announced but not acknowledged, and the first to arrive from node 1 is
 * the insert. Then node 2 continues.
 */
#include <errno.h>
#include <string.h>

#include "channels/kvstore/kvstore_index.h"
#include "channels/kvstore/kvstore_locks.h"
#include "channels/loco/kvstore.h"
#include "tests/sim/workloads.h"

enum { NODES = 3, THREADS = 2, REUSER = 0, REMOVER = 1, LATE = 2 };

/* Operations that are in flight at the same time have different locks. */
enum { CAPACITY = 260, LOCKS = 1200, IN_FLIGHT = 2 * CAPACITY + 1 };

struct full {
    struct loco_kvstore kv;
    struct loco_barrier barrier;
    bool pauses, ended; /* the tracker's state */
};

static int open_with(struct loco_manager *m, struct full *f, enum loco_kv_placement placement)
{
    const struct loco_kvstore_config config = {
        .value_size = 8, .capacity = CAPACITY, .locks = LOCKS, .placement = placement};
    int rc = loco_kvstore_init(&f->kv, m, NULL, "kv", &config);

    return rc ? rc : loco_barrier_init(&f->barrier, m, NULL, "phases", LOCO_ALL);
}

static int at_lock_open(struct loco_manager *m, void *object)
{
    return open_with(m, object, LOCO_KV_AT_LOCK);
}

static int at_inserter_open(struct loco_manager *m, void *object)
{
    return open_with(m, object, LOCO_KV_AT_INSERTER);
}

static void full_close(void *object)
{
    struct full *f = object;

    loco_kvstore_fini(&f->kv);
    loco_barrier_fini(&f->barrier);
}

/* --- keys ------------------------------------------------------------------------------------- */

/* The keys that are in flight at the same time: node 0's old keys, its new keys, and node 1's key.
 */
static uint64_t flying[IN_FLIGHT];

static const uint64_t *going = flying, *coming = flying + CAPACITY, *last = flying + 2 * CAPACITY;

static void choose_keys(const struct loco_kvstore *kv)
{
    bool taken[NODES][LOCKS / NODES] = {{false}};
    unsigned count = 0;
    struct loco_kv_op op;

    for (uint64_t key = 0; count < IN_FLIGHT; key++) {
        op.hash = kv_hash(key);
        kv_lock_find(&op, kv);
        bool *lock = &taken[op.lock_host][op.lock_index];
        if (!*lock)
            flying[count++] = key;
        *lock = true;
    }
}

static uint64_t filler(uint32_t node, unsigned i)
{
    return node == REUSER ? going[i] : 1000000 * node + i;
}

/* --- many operations at a time ---------------------------------------------------------------- */

enum { POLLS = 8 }; /* polls in one turn */

struct flight {
    struct loco_sim_actor *actor;
    struct loco_kv_window *window;
    unsigned started, next, announced, left;
};

static void flight_open(struct flight *fl, struct loco_sim_actor *a)
{
    struct full *f = a->object;

    *fl = (struct flight){.actor = a};
    LOCO_SIM_EXPECT(a, loco_kv_window_open(&fl->window, &f->kv, CAPACITY + 1) == 0);
}

static void flight_start(struct flight *fl, enum loco_kv_kind kind, const uint64_t *key)
{
    struct loco_kv_op *op = loco_kv_window_op(fl->window, fl->started++);

    op->user = (void *)key;
    op->position = 0;
    fl->left++;
    if (kind == LOCO_KV_INSERT)
        loco_kv_start_insert(op, *key, key);
    else
        loco_kv_start_delete(op, *key);
}

/* Repeats an insert that found no slot, as one is about to become free. */
static void flight_end(struct flight *fl, struct loco_kv_op *op)
{
    const uint64_t *key = op->user;

    if (op->result == -ENOSPC) {
        loco_kv_start_insert(op, *key, key);
        return;
    }
    LOCO_SIM_EXPECT(fl->actor, op->result == 0);
    op->user = NULL;
    fl->left--;
}

static void flight_poll(struct flight *fl)
{
    struct loco_wait wait = loco_wait_for(fl->actor->mgr, 50);

    for (unsigned i = 0; i < POLLS; i++) {
        struct loco_kv_op *op = loco_kv_window_op(fl->window, fl->next);
        if (op->user && loco_kv_poll(op))
            flight_end(fl, op);
        fl->next = fl->next + 1 < fl->started ? fl->next + 1 : 0;
    }
    loco_relax(fl->actor->mgr, &wait);
}

/* Works until everything that was started has been announced to the others. */
static void flight_announce(struct flight *fl)
{
    while (fl->announced < fl->started) {
        flight_poll(fl);
        while (fl->announced < fl->started &&
               loco_kv_window_op(fl->window, fl->announced)->position)
            fl->announced++;
    }
}

static void flight_finish(struct flight *fl)
{
    while (fl->left > 0)
        flight_poll(fl);
    loco_kv_window_close(fl->window);
}

/* --- the parts -------------------------------------------------------------------------------- */

static void meet(struct loco_sim_actor *a)
{
    struct full *f = a->object;

    LOCO_SIM_EXPECT(a, loco_barrier_wait(&f->barrier) == 0);
}

static void fill(struct loco_sim_actor *a)
{
    uint64_t keys[CAPACITY];
    unsigned count = a->node == REMOVER ? CAPACITY - 1 : CAPACITY;
    struct flight fl;

    flight_open(&fl, a);
    for (unsigned i = 0; i < count; i++) {
        keys[i] = filler(a->node, i);
        flight_start(&fl, LOCO_KV_INSERT, &keys[i]);
    }
    flight_finish(&fl);
}

static void change(struct loco_sim_actor *a)
{
    struct flight fl;

    flight_open(&fl, a);
    if (a->node == REMOVER) {
        flight_start(&fl, LOCO_KV_INSERT, last);
        flight_announce(&fl);
    }
    for (unsigned i = 0; i < CAPACITY; i++) {
        if (a->node == REMOVER)
            flight_start(&fl, LOCO_KV_DELETE, &going[i]);
        else
            flight_start(&fl, LOCO_KV_INSERT, &coming[i]);
    }
    flight_announce(&fl);
    meet(a);
    flight_finish(&fl);
}

static void be_late(struct loco_sim_actor *a)
{
    struct full *f = a->object;

    meet(a);
    f->pauses = false;
}

static void check(struct loco_sim_actor *a)
{
    struct full *f = a->object;
    uint64_t value;

    for (unsigned i = 0; i < CAPACITY; i += 20) {
        LOCO_SIM_EXPECT(a, loco_kvstore_read(&f->kv, going[i], &value) == -ENOENT);
        LOCO_SIM_EXPECT(a, loco_kvstore_read(&f->kv, coming[i], &value) == 0 && value == coming[i]);
    }
    LOCO_SIM_EXPECT(a, loco_kvstore_read(&f->kv, *last, &value) == 0 && value == *last);
}

static void track(struct loco_sim_actor *a)
{
    struct full *f = a->object;

    while (!f->ended) {
        struct loco_wait wait = loco_wait_for(a->mgr, 50);
        if (f->pauses || loco_kvstore_serve(&f->kv) == 0)
            loco_relax(a->mgr, &wait);
    }
}

static void full_act(struct loco_sim_actor *a)
{
    struct full *f = a->object;

    choose_keys(&f->kv);
    if (a->index % THREADS != 0) {
        track(a);
        return;
    }
    fill(a);
    meet(a);
    f->pauses = a->node == LATE;
    meet(a);
    if (a->node == LATE)
        be_late(a);
    else
        change(a);
    meet(a);
    check(a);
    f->ended = true;
}

const struct loco_sim_workload kvstore_full = {
    .name = "kvstore_full",
    .nodes = NODES,
    .threads = THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct full),
    .open = at_lock_open,
    .close = full_close,
    .act = full_act,
    .weight = 50,
};

const struct loco_sim_workload kvstore_full_at_inserter = {
    .name = "kvstore_full_at_inserter",
    .nodes = NODES,
    .threads = THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct full),
    .open = at_inserter_open,
    .close = full_close,
    .act = full_act,
    .weight = 50,
};

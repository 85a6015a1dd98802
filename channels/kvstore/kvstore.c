#include "../loco/kvstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../core.h"
#include "../loco/fence.h"
#include "../room.h"
#include "../thread_links.h"
#include "kvstore_left.h"
#include "kvstore_locks.h"
#include "kvstore_slots.h"
#include "kvstore_tracker.h"

/* --- setup -------------------------------------------------------------------------------- */

enum { CALLS = 16, KEYS_A_LOCK = 4, LOCKS_EACH_MIN = 64 };

/* Reads, updates, and inserts with deletes have calls of their own: inserts and deletes wait for
 * every node's tracker, and those that ran out of time keep their calls as long as one stands
 * still. */
enum { SORTS = 3 };

static size_t store_calls(const struct loco_kvstore *s)
{
    return (size_t)SORTS * s->config.calls;
}

static bool store_config_is_sound(const struct loco_kvstore_config *c, uint32_t nodes)
{
    return c->value_size >= LOCO_KV_VALUE_MIN && c->value_size <= LOCO_KV_VALUE_MAX &&
           c->capacity > 0 && c->capacity <= UINT32_MAX - nodes &&
           c->placement <= LOCO_KV_AT_INSERTER && loco_room_is_empty(c->room, sizeof c->room);
}

static void store_config_complete(struct loco_kvstore_config *c, uint32_t nodes)
{
    uint32_t each = c->capacity / KEYS_A_LOCK;

    if (!c->locks)
        c->locks = nodes * (each > LOCKS_EACH_MIN ? each : LOCKS_EACH_MIN);
    if (!c->calls)
        c->calls = CALLS;
    if (!c->torn_ns)
        c->torn_ns = 100000000;
    if (!c->owner_ns)
        c->owner_ns = 2000000000;
}

static int store_make_calls(struct loco_kvstore *s)
{
    s->calls = calloc(store_calls(s), sizeof(struct loco_kv_window *));
    s->calling = calloc(store_calls(s), sizeof *s->calling);
    if (!s->calls || !s->calling)
        return -ENOMEM;
    for (size_t i = 0; i < store_calls(s); i++) {
        int rc = loco_kv_window_open(&s->calls[i], s, 1);
        if (rc)
            return rc;
    }
    return 0;
}

static int store_make_parts(struct loco_kvstore *s)
{
    const struct loco_kvstore_config *c = &s->config;
    struct loco_manager *m = s->channel.mgr;
    int rc = kv_slots_open(&s->slots, &s->channel, c);

    if (!rc)
        rc = kv_index_open(&s->index, m->count, s->slots->hosted, (size_t)KV_IN_FLIGHT * m->count);
    if (!rc)
        rc = loco_atomic_array_init(&s->locks, m, &s->channel, "locks", s->locks_each, LOCO_ALL, 0);
    if (!rc)
        rc = kv_trackers_open(s);
    if (!rc)
        rc = store_make_calls(s);
    return rc;
}

static void store_on_connect(struct loco_channel *c, uint32_t node)
{
    kv_slots_meet(((struct loco_kvstore *)c)->slots, node);
}

static void store_on_lost(struct loco_channel *c, uint32_t node)
{
    struct kv_slots *slots = ((struct loco_kvstore *)c)->slots;

    if (slots) /* the store may be under construction */
        kv_slots_part(slots, node);
}

static const struct loco_channel_ops store_ops = {.on_connect = store_on_connect,
                                                  .on_lost = store_on_lost};

int loco_kvstore_init(struct loco_kvstore *s, struct loco_manager *manager,
                      const struct loco_channel *parent, const char *name,
                      const struct loco_kvstore_config *config)
{
    *s = (struct loco_kvstore){.config = *config};
    if (!store_config_is_sound(config, manager->count))
        return -EINVAL;
    store_config_complete(&s->config, manager->count);
    s->locks_each = (s->config.locks + manager->count - 1) / manager->count;
    int rc = loco_channel_init(&s->channel, manager, parent, name, LOCO_ALL, &store_ops);
    if (rc)
        return rc;
    loco_channel_agree_on(&s->channel, "value_size=%zu\ncapacity=%u\nplacement=%s\nlocks=%u\n",
                          config->value_size, config->capacity,
                          config->placement == LOCO_KV_AT_LOCK ? "at_lock" : "at_inserter",
                          s->config.locks);
    rc = store_make_parts(s);
    if (rc)
        loco_kvstore_fini(s);
    else
        loco_channel_join(&s->channel);
    return rc;
}

void loco_kvstore_fini(struct loco_kvstore *s)
{
    loco_kvstore_fini_timed(s, UINT64_MAX);
}

/* Ends the tracker, and waits until no write of an operation that ran out of time can still be
 * placed. Returns 0 or -ETIMEDOUT. */
static int store_settle(struct loco_kvstore *s, uint64_t timeout_ns)
{
    const struct loco_manager *m = s->channel.mgr;
    const struct loco_wait wait = loco_wait_for(m, timeout_ns);
    int rc = loco_kvstore_stop_timed(s, timeout_ns);

    if (!rc && s->calling && (atomic_load(&s->left) > 0 || atomic_load(&s->windows_left)))
        rc = loco_fence_global_timed(s->channel.mgr, loco_time_left(m, &wait));
    return rc == -ETIMEDOUT ? rc : 0;
}

int loco_kvstore_fini_timed(struct loco_kvstore *s, uint64_t timeout_ns)
{
    if (!s->channel.mgr)
        return 0;
    if (store_settle(s, timeout_ns))
        return -ETIMEDOUT;
    kv_windows_drop(s);
    for (size_t i = 0; s->calls && i < store_calls(s); i++)
        if (s->calls[i])
            kv_window_end(s->calls[i]);
    free(s->calls);
    free(s->calling);
    kv_trackers_close(s);
    if (s->locks.channel.mgr)
        loco_atomic_array_fini(&s->locks);
    loco_channel_fini(&s->channel); /* store_on_lost uses the slots until here */
    kv_slots_close(s->slots);
    kv_index_close(s->index);
    *s = (struct loco_kvstore){0};
    return 0;
}

/* --- one operation at a time ---------------------------------------------------------------- */

/* The state of one of the node's calls. A call that was left is finished by the tracker. Its state
 * is LEFT plus what it waits for: the answer of a node, or a lock. */
enum { CALL_FREE, CALL_TAKEN, CALL_LEFT, CALL_STATES = 4 };

static uint32_t left_for_node(uint32_t node)
{
    return CALL_LEFT + CALL_STATES * 2 * node;
}

static uint32_t left_for_lock(const struct loco_kv_op *op)
{
    const uint32_t lock = op->lock_host * kv_op_store(op)->locks_each + op->lock_index;

    return CALL_LEFT + CALL_STATES * (2 * lock + 1); /* if it wraps, two locks count as one */
}

static uint32_t left_for(const struct loco_kv_op *op)
{
    if (!op->ack.thread || loco_ack_query(&op->ack))
        return left_for_lock(op);
    return left_for_node(64 * op->ack.group + (uint32_t)__builtin_ctzll(op->ack.peers));
}

/* Whether a call would wait for something that a call waits for which was left. It would be left as
 * well, so one node or lock that does not move would use up all calls. */
static bool call_would_follow(const struct loco_kvstore *s, enum loco_kv_kind kind, uint64_t key)
{
    struct loco_kv_op op = {.window = s->calls[0], .hash = kv_hash(key)};
    uint32_t lock = CALL_FREE, lock_host = CALL_FREE, host = CALL_FREE;

    if (kv_op_guess(&op))
        host = left_for_node(op.host);
    if (kind != LOCO_KV_READ) {
        kv_lock_find(&op, s);
        lock = left_for_lock(&op);
        lock_host = left_for_node(op.lock_host);
    }
    for (size_t i = 0; i < store_calls(s); i++) {
        const uint32_t state = atomic_load_explicit(&s->calling[i], memory_order_relaxed);
        if (state % CALL_STATES == CALL_LEFT &&
            (state == lock || state == lock_host || state == host))
            return true;
    }
    return false;
}

static bool call_begin(struct loco_kvstore *s, size_t i)
{
    uint32_t state = CALL_FREE;

    return atomic_load_explicit(&s->calling[i], memory_order_relaxed) == state &&
           atomic_compare_exchange_strong_explicit(&s->calling[i], &state, CALL_TAKEN,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Finds a free call. Returns its number, or -EBUSY. */
static int call_find(struct loco_kvstore *s, enum loco_kv_kind kind, uint64_t key)
{
    static const unsigned sorts[] = {[LOCO_KV_UPDATE] = 1,
                                     [LOCO_KV_COMPARE_SWAP] = 1,
                                     [LOCO_KV_INSERT] = 2,
                                     [LOCO_KV_DELETE] = 2};
    const size_t first = (size_t)sorts[kind] * s->config.calls;

    if (atomic_load_explicit(&s->left, memory_order_relaxed) > 0 && call_would_follow(s, kind, key))
        return -EBUSY;
    for (size_t i = first; i < first + s->config.calls; i++)
        if (call_begin(s, i))
            return (int)i;
    return -EBUSY;
}

/* Waits for a free call. Returns its number, or -ETIMEDOUT. */
static int call_take(struct loco_kvstore *s, enum loco_kv_kind kind, uint64_t key,
                     struct loco_wait *wait)
{
    for (;;) {
        const int taken = call_find(s, kind, key);
        if (taken >= 0)
            return taken;
        if (loco_relax(s->channel.mgr, wait))
            return -ETIMEDOUT;
    }
}

static void call_free(struct loco_kvstore *s, size_t i)
{
    atomic_store_explicit(&s->calling[i], CALL_FREE, memory_order_release);
}

/* Leaves a call that ran out of time to the tracker. */
static void call_leave(struct loco_kvstore *s, size_t i)
{
    struct loco_kv_op *op = loco_kv_window_op(s->calls[i], 0);

    op->left = true;
    loco_place_stores();
    atomic_store_explicit(&s->calling[i], left_for(op), memory_order_release);
    atomic_fetch_add(&s->left, 1);
}

void kv_calls_move_on(struct loco_kvstore *s)
{
    for (size_t i = 0; atomic_load(&s->left) > 0 && i < store_calls(s); i++) {
        const uint32_t state = atomic_load_explicit(&s->calling[i], memory_order_acquire);
        if (state % CALL_STATES != CALL_LEFT || !kv_op_move_on(loco_kv_window_op(s->calls[i], 0)))
            continue;
        atomic_fetch_sub(&s->left, 1);
        call_free(s, i);
    }
}

/* *got is what a compare_swap expects, or where a read's value goes. */
static void call_start(struct loco_kv_op *op, enum loco_kv_kind kind, uint64_t key,
                       const void *value, const void *got)
{
    switch (kind) {
    case LOCO_KV_READ:
        loco_kv_start_read(op, key);
        break;
    case LOCO_KV_INSERT:
        loco_kv_start_insert(op, key, value);
        break;
    case LOCO_KV_UPDATE:
        loco_kv_start_update(op, key, value);
        break;
    case LOCO_KV_DELETE:
        loco_kv_start_delete(op, key);
        break;
    case LOCO_KV_COMPARE_SWAP:
        loco_kv_start_compare_swap(op, key, got, value);
        break;
    }
}

/* Returns until when the caller may sleep. An operation gives up only when it is polled, so its
 * caller must be awake then. */
static uint64_t call_wake_time(const struct loco_kvstore *s, const struct loco_kv_op *op,
                               uint64_t until)
{
    const uint64_t patience = op->kind == LOCO_KV_READ ? s->config.torn_ns : s->config.owner_ns;
    const uint64_t gives_up = op->since + patience + 1;

    if (!op->since || gives_up <= loco_clock(s->channel.mgr))
        return until;
    return gives_up < until ? gives_up : until;
}

/* Polls until the operation is done. While the lock moves, the caller does not sleep, as its turn
 * is near. */
static int call_wait(const struct loco_kvstore *s, struct loco_kv_op *op, struct loco_wait *wait)
{
    for (uint32_t served = op->seen; !loco_kv_poll(op); served = op->seen) {
        struct loco_wait turn = *wait;
        turn.until = call_wake_time(s, op, wait->until);
        if (op->seen != served)
            turn.turns = 0;
        if (loco_relax(s->channel.mgr, &turn) && turn.until == wait->until)
            return -ETIMEDOUT;
        wait->turns = turn.turns;
    }
    return 0;
}

static int call_and_wait(struct loco_kvstore *s, enum loco_kv_kind kind, uint64_t key,
                         const void *value, void *got, uint64_t timeout_ns)
{
    struct loco_wait wait = loco_wait_for(s->channel.mgr, timeout_ns);

    if (!loco_self(s->channel.mgr))
        return -EPERM;
    const int taken = call_take(s, kind, key, &wait);
    if (taken < 0)
        return taken;
    const size_t i = (size_t)taken;
    struct loco_kv_op *op = loco_kv_window_op(s->calls[i], 0);
    call_start(op, kind, key, value, got);
    if (call_wait(s, op, &wait)) {
        call_leave(s, i);
        return -ETIMEDOUT;
    }
    int rc = op->result;
    if (got && rc == (kind == LOCO_KV_READ ? 0 : -ECANCELED))
        memcpy(got, op->value, s->config.value_size);
    call_free(s, i);
    return rc;
}

int loco_kvstore_insert_timed(struct loco_kvstore *s, uint64_t key, const void *value,
                              uint64_t timeout_ns)
{
    return call_and_wait(s, LOCO_KV_INSERT, key, value, NULL, timeout_ns);
}

int loco_kvstore_update_timed(struct loco_kvstore *s, uint64_t key, const void *value,
                              uint64_t timeout_ns)
{
    return call_and_wait(s, LOCO_KV_UPDATE, key, value, NULL, timeout_ns);
}

int loco_kvstore_delete_timed(struct loco_kvstore *s, uint64_t key, uint64_t timeout_ns)
{
    return call_and_wait(s, LOCO_KV_DELETE, key, NULL, NULL, timeout_ns);
}

int loco_kvstore_read_timed(struct loco_kvstore *s, uint64_t key, void *value, uint64_t timeout_ns)
{
    return call_and_wait(s, LOCO_KV_READ, key, NULL, value, timeout_ns);
}

int loco_kvstore_compare_swap_timed(struct loco_kvstore *s, uint64_t key, void *expected,
                                    const void *desired, uint64_t timeout_ns)
{
    return call_and_wait(s, LOCO_KV_COMPARE_SWAP, key, desired, expected, timeout_ns);
}

int loco_kvstore_next_timed(struct loco_kvstore *s, uint64_t *cursor, uint64_t *key, void *value,
                            uint64_t timeout_ns)
{
    const struct loco_wait wait = loco_wait_for(s->channel.mgr, timeout_ns);
    uint64_t at = *cursor, hash;

    while (kv_index_next(s->index, &at, &hash)) {
        *key = kv_key(hash);
        const int rc =
            loco_kvstore_read_timed(s, *key, value, loco_time_left(s->channel.mgr, &wait));
        if (rc == -ETIMEDOUT || rc == -EPERM)
            return rc;
        *cursor = at;
        if (rc != -ENOENT)
            return rc;
    }
    return -ENOENT;
}

int loco_kvstore_insert(struct loco_kvstore *s, uint64_t key, const void *value)
{
    return loco_kvstore_insert_timed(s, key, value, UINT64_MAX);
}

int loco_kvstore_update(struct loco_kvstore *s, uint64_t key, const void *value)
{
    return loco_kvstore_update_timed(s, key, value, UINT64_MAX);
}

int loco_kvstore_delete(struct loco_kvstore *s, uint64_t key)
{
    return loco_kvstore_delete_timed(s, key, UINT64_MAX);
}

int loco_kvstore_read(struct loco_kvstore *s, uint64_t key, void *value)
{
    return loco_kvstore_read_timed(s, key, value, UINT64_MAX);
}

int loco_kvstore_compare_swap(struct loco_kvstore *s, uint64_t key, void *expected,
                              const void *desired)
{
    return loco_kvstore_compare_swap_timed(s, key, expected, desired, UINT64_MAX);
}

int loco_kvstore_next(struct loco_kvstore *s, uint64_t *cursor, uint64_t *key, void *value)
{
    return loco_kvstore_next_timed(s, cursor, key, value, UINT64_MAX);
}

/*
 * An operation of the kvstore is a chain of steps. A step is taken when the network has answered
 * the one before it, so a thread moves many operations on, and waits for none.
 */
#ifndef LOCO_KVSTORE_CHAIN_H
#define LOCO_KVSTORE_CHAIN_H

#include "../core.h"
#include "../loco/kvstore.h"
#include "kvstore_index.h"

/* How many operations are looked up together, so that their cache misses overlap; and how many
 * lines for locks a window has. */
enum { KV_BATCH = 16, KV_LINES = 64 };

struct loco_kv_window {
    struct loco_pollable pollable; /* the first member */
    struct loco_kvstore *store;
    bool coherent;              /* the fabric is LOCO_COHERENT */
    struct loco_thread *thread; /* which opened it */
    bool lent;                  /* another one has moved its operations on */
    struct loco_kv_op *ops;
    unsigned size;
    unsigned next;                      /* the operation that the next poll moves on as well */
    struct loco_kv_op *young[KV_BATCH]; /* started, but not yet looked up */
    unsigned young_count;
    struct loco_kv_op *last[KV_LINES]; /* the last operation in the line for a lock */
    unsigned char *swaps;              /* two values for each operation */
    void *memory;                      /* the operations' words and copies */
    size_t memory_size;
    struct loco_remote where;
    struct loco_kv_window *behind; /* the next that was closed with operations in flight */
};

static inline struct loco_kvstore *kv_op_store(const struct loco_kv_op *op)
{
    return op->window->store;
}

static inline struct loco_manager *kv_op_manager(const struct loco_kv_op *op)
{
    return kv_op_store(op)->channel.mgr;
}

static inline uint64_t kv_op_result_word(const struct loco_kv_op *op)
{
    return __atomic_load_n(op->word, __ATOMIC_ACQUIRE);
}

/* --- the place of its value ------------------------------------------------------------------ */

static inline struct kv_place kv_op_place(const struct loco_kv_op *op)
{
    return (struct kv_place){.host = op->host, .slot = op->slot, .counter = op->counter};
}

/* Returns whether there is a place. */
static inline bool kv_op_set_place(struct loco_kv_op *op, struct kv_place place)
{
    if (place.host == KV_NOWHERE)
        return false;
    op->host = place.host;
    op->slot = place.slot;
    op->counter = place.counter;
    return true;
}

/* The same for a guess, which has no counter. */
static inline bool kv_op_guess(struct loco_kv_op *op)
{
    return kv_op_set_place(op, kv_index_guess(kv_op_store(op)->index, op->hash));
}

static inline bool kv_op_look_up(struct loco_kv_op *op)
{
    return kv_op_set_place(op, kv_index_find(kv_op_store(op)->index, op->hash));
}

/* --- steps ----------------------------------------------------------------------------------- */

/* Returns whether the operation can go on at once. */
typedef bool kv_step(struct loco_kv_op *op, int error);

enum { KV_LATER = false, KV_ON = true };

/* Sets the step that is taken when `ack` is done. */
static inline bool kv_op_then(struct loco_kv_op *op, kv_step *step, struct loco_ack ack)
{
    op->ack = ack;
    op->step = step;
    return KV_ON;
}

/* Sets the step that is taken next. */
static inline bool kv_op_next(struct loco_kv_op *op, kv_step *step)
{
    op->ack.thread = NULL;
    op->ack.error = 0;
    op->step = step;
    return KV_ON;
}

static inline bool kv_op_finish(struct loco_kv_op *op, int result)
{
    op->result = result;
    op->step = NULL;
    return KV_ON;
}

/* Whether the store has lost the node. It may be back, but not in the store. */
bool kv_op_has_lost(const struct loco_kv_op *op, uint32_t node);

/* Takes every step that can be taken now. Returns whether the operation is done. */
static inline bool kv_op_take_steps(struct loco_kv_op *op)
{
    while (op->step) {
        int state = op->ack.thread || op->ack.error ? loco_ack_query(&op->ack) : 1;
        if (state == 0)
            return false;
        if (op->step(op, state < 0 ? state : 0) == KV_LATER)
            return false;
    }
    return true;
}

/* Whether the operation's present wait, which begins with the first call of this, has taken more
 * than `ns`. */
static inline bool kv_op_has_waited(struct loco_kv_op *op, uint64_t ns)
{
    uint64_t now = loco_clock(kv_op_manager(op));

    if (!op->since)
        op->since = now;
    return now - op->since > ns;
}

#endif

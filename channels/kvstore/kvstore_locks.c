#include "kvstore_locks.h"

#include <errno.h>

/* How often a window hands one ticket on. */
enum { HANDOVERS_MAX = 16 };

/* --- lines: the operations of a window that want the same lock ------------------------------- */

static struct loco_kv_op **line_last(const struct loco_kv_op *op)
{
    return &op->window->last[(op->lock_index + op->lock_host) % KV_LINES];
}

/* Returns whether the operation stands behind another one, and so takes no ticket. */
static bool line_join(struct loco_kv_op *op)
{
    struct loco_kv_op **last = line_last(op), *before = *last;

    op->behind = NULL;
    op->handovers = 0;
    if (before && (before->lock_host != op->lock_host || before->lock_index != op->lock_index))
        return false; /* the line is in use for another lock: this operation goes alone */
    *last = op;
    if (before)
        before->behind = op;
    return before;
}

/* Takes the first operation out of its line. Returns the one behind it. */
static struct loco_kv_op *line_leave(struct loco_kv_op *op)
{
    struct loco_kv_op *behind = op->behind;

    if (*line_last(op) == op)
        *line_last(op) = NULL;
    op->behind = NULL;
    return behind;
}

/* --- one lock -------------------------------------------------------------------------------- */

static kv_step lock_judge_turn;

/* Ends the operation, and those in line behind it, with `error`: they cannot have the lock. */
static bool lock_fail(struct loco_kv_op *op, int error)
{
    while (op) {
        struct loco_kv_op *behind = line_leave(op);
        kv_op_finish(op, error);
        op = behind;
    }
    return KV_ON;
}

/* Whether the lock has not moved for owner_ns while a node is lost: the lost node is assumed to
 * hold it. */
static bool lock_is_orphaned(struct loco_kv_op *op, uint32_t serving)
{
    if (op->seen != serving)
        op->since = 0;
    op->seen = serving;
    return loco_channel_check(&kv_op_store(op)->channel) &&
           kv_op_has_waited(op, kv_op_store(op)->config.owner_ns);
}

static bool lock_is_granted(struct loco_kv_op *op)
{
    return op->left ? kv_lock_release(op, -ETIMEDOUT) : kv_held_step(op)(op, 0);
}

static bool lock_wait_turn(struct loco_kv_op *op, uint64_t word)
{
    uint32_t serving = kv_lock_serving(word);

    if (serving == op->ticket)
        return lock_is_granted(op);
    if (lock_is_orphaned(op, serving))
        return lock_fail(op, -EOWNERDEAD);
    kv_op_then(op, lock_judge_turn,
               loco_atomic_post_look(kv_lock_word(op, kv_op_store(op)), op->word));
    return KV_LATER;
}

static bool lock_judge_turn(struct loco_kv_op *op, int error)
{
    return error ? lock_fail(op, error) : lock_wait_turn(op, kv_op_result_word(op));
}

static bool lock_got_ticket(struct loco_kv_op *op, int error)
{
    if (error)
        return lock_fail(op, error);
    uint64_t word = kv_op_result_word(op);
    op->ticket = kv_lock_next(word);
    op->seen = kv_lock_serving(word);
    return lock_wait_turn(op, word);
}

static bool lock_take_ticket(struct loco_kv_op *op)
{
    struct loco_atomic_word lock = kv_lock_word(op, kv_op_store(op));

    return kv_op_then(op, lock_got_ticket,
                      loco_atomic_post_fetch_add(lock, KV_LOCK_TAKE, op->word));
}

static bool line_wait(struct loco_kv_op *op, int error)
{
    (void)op;
    (void)error;
    return KV_LATER;
}

bool kv_lock_acquire(struct loco_kv_op *op)
{
    return line_join(op) ? kv_op_next(op, line_wait) : lock_take_ticket(op);
}

bool kv_lock_hands_over(const struct loco_kv_op *op)
{
    return op->behind && op->handovers < HANDOVERS_MAX;
}

static bool lock_handed(struct loco_kv_op *op, int error)
{
    (void)error;
    return lock_is_granted(op);
}

static bool lock_hand_over(struct loco_kv_op *op, int result)
{
    struct loco_kv_op *next = line_leave(op);

    next->ticket = op->ticket;
    next->handovers = op->handovers + 1;
    kv_op_next(next, lock_handed);
    kv_op_finish(op, result);
    kv_op_take_steps(next);
    return KV_ON;
}

static bool lock_released(struct loco_kv_op *op, int error)
{
    return kv_op_finish(op, op->result ? op->result : error);
}

bool kv_lock_release(struct loco_kv_op *op, int result)
{
    const struct loco_atomic_word lock = kv_lock_word(op, kv_op_store(op));

    if (kv_lock_hands_over(op))
        return lock_hand_over(op, result);
    struct loco_kv_op *next = line_leave(op);
    op->result = result;
    kv_op_then(op, lock_released,
               loco_atomic_post_fetch_add(lock, kv_lock_pass_on(op->ticket), op->word));
    if (next)
        lock_take_ticket(next);
    return KV_ON;
}

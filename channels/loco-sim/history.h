/*
 * A history: the operations that the threads of a test made on an object, their results, and the
 * order in which they began and ended.
 *
 *      i = loco_sim_history_invoke(h, thread, LOCO_SIM_CAS, key, expected, desired);
 *      old = loco_...(...);
 *      loco_sim_history_return(h, i, true, old);
 *
 * The order is one global sequence of events. Each event is the invocation or the return of an
 * operation. Operation a comes before b when a's return precedes b's invocation; otherwise they
 * overlap, and either may take effect first.
 *
 * An operation that never returned is pending: it may take effect at any moment after its
 * invocation, or never. So a test does not return an operation whose thread crashed, or that ended
 * in an error which leaves its effect unknown. The thread may go on.
 *
 * loco_sim_history_init allocates; no later call does. The simulator runs all threads as fibers of
 * one operating system thread and needs no lock. A test with real threads or processes sets `lock`.
 */
#ifndef LOCO_SIM_HISTORY_H
#define LOCO_SIM_HISTORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../loco/fabric/language.h"

LOCO_DECLARATIONS

/* Arguments and results: (a, b) -> value. An operation with "ok" may be refused, as named. */
enum loco_sim_history_code {
    LOCO_SIM_LOAD,      /* () -> value */
    LOCO_SIM_STORE,     /* (value) */
    LOCO_SIM_FETCH_ADD, /* (addend) -> old */
    LOCO_SIM_EXCHANGE,  /* (value) -> old */
    LOCO_SIM_CAS,       /* (expected, desired) -> old; it took place when old == expected. Of a map:
                         * or refused: missing */

    LOCO_SIM_PUSH, /* (value) ok, or refused: full */
    LOCO_SIM_POP,  /* () -> value, or refused: empty */

    LOCO_SIM_ACQUIRE,     /* (owner) */
    LOCO_SIM_TRY_ACQUIRE, /* (owner) ok, or refused: busy */
    LOCO_SIM_RELEASE,     /* (owner) ok, or refused: not the holder */

    LOCO_SIM_INSERT, /* (value) ok, or refused: exists */
    LOCO_SIM_UPDATE, /* (value) ok, or refused: missing */
    LOCO_SIM_DELETE, /* () ok, or refused: missing */
    LOCO_SIM_READ,   /* () -> value, or refused: missing */
};

/* In place of `returned`. Either way the operation may never have taken effect. */
#define LOCO_SIM_PENDING  UINT32_MAX       /* its result is not known */
#define LOCO_SIM_OPTIONAL (UINT32_MAX - 1) /* if it took effect, `value` was its result */

struct loco_sim_history_op {
    uint64_t key; /* the object, or its part, that is independent of all others */
    uint64_t a, b;
    uint64_t value;             /* the result; zero when there is none */
    uint32_t id;                /* its place in the history as recorded; survives shrinking */
    uint32_t thread;            /* which thread invoked it; only printed */
    uint32_t invoked, returned; /* places in event[]; `returned` also as above */
    enum loco_sim_history_code code;
    bool ok; /* false: refused, as the list of codes says */
};

struct loco_sim_history {
    struct loco_sim_history_op *op; /* in the order of invocation */
    uint32_t *event; /* the index of an operation, times two, plus one for a return */
    uint32_t ops, events, ops_max;
    bool overflowed;       /* operations are missing, so no verdict can be given */
    pthread_mutex_t *lock; /* held while recording; NULL: one thread records everything */
};

/* Makes room for ops_max operations. Returns 0, -EINVAL or -ENOMEM. */
int loco_sim_history_init(struct loco_sim_history *history, uint32_t ops_max);
void loco_sim_history_fini(struct loco_sim_history *history);
/* Makes the history empty, for another run. */
void loco_sim_history_clear(struct loco_sim_history *history);

/* Records that an operation begins. Returns its index for loco_sim_history_return; or -ENOSPC, and
 * the history is overflowed. */
int loco_sim_history_invoke(struct loco_sim_history *history, uint32_t thread,
                            enum loco_sim_history_code code, uint64_t key, uint64_t a, uint64_t b);

/* Records that a pending operation ends. A negative index is ignored. */
void loco_sim_history_return(struct loco_sim_history *history, int index, bool ok, uint64_t value);

static inline bool loco_sim_history_pending(const struct loco_sim_history_op *op)
{
    return op->returned == LOCO_SIM_PENDING;
}

/* What loco_sim_history_select does with an operation. */
enum loco_sim_history_choice { LOCO_SIM_DROP, LOCO_SIM_LOOSEN, LOCO_SIM_KEEP };

/*
 * Copies the first `events` events of `in` to `out`, which has room for in->ops operations.
 * An operation is kept, dropped, or loosened, which makes it optional if it has returned.
 * Order is preserved and the events are numbered afresh.
 */
void loco_sim_history_select(struct loco_sim_history *out, const struct loco_sim_history *in,
                             const uint8_t *choice, uint32_t events);

/* Prints one line for each operation: id, thread, [invoked, returned], key, operation and result.
 */
void loco_sim_history_print(FILE *file, const struct loco_sim_history *history);
void loco_sim_history_print_op(FILE *file, const struct loco_sim_history_op *op);

LOCO_DECLARATIONS_END

#endif

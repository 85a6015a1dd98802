/*
 * A history: what the threads of a test asked of an object, what they were told, and in
 * which order the asking and the telling happened.
 *
 *      i = history_invoke(h, thread, OP_CAS, key, expected, desired);
 *      old = loco_...(...);
 *      history_return(h, i, true, old);
 *
 * The order is one global sequence of events, each the invocation or the return of an
 * operation. Operation a comes before b when a's return precedes b's invocation; otherwise
 * they overlap and either may take effect first.
 *
 * An operation that never returned is pending: it may take effect at any moment after its
 * invocation, or never. So an operation whose thread crashed, or that ended in an error
 * which leaves its effect unknown, is simply not returned. Its thread may go on.
 *
 * Memory is taken once, by history_init; nothing allocates afterwards. The simulator runs all
 * threads as fibers of one operating system thread, and needs no lock; where there are real
 * threads or processes the history has one.
 */
#ifndef LOCO_SIM_HISTORY_H
#define LOCO_SIM_HISTORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Arguments and results, as `name(a, b) -> value`; "ok" may be refused as named. */
enum history_code {
    OP_LOAD,      /* () -> value */
    OP_STORE,     /* (value) */
    OP_FETCH_ADD, /* (addend) -> old */
    OP_EXCHANGE,  /* (value) -> old */
    OP_CAS,       /* (expected, desired) -> old; it took place when old == expected */

    OP_PUSH, /* (value) ok, or refused: full */
    OP_POP,  /* () -> value, or refused: empty */

    OP_ACQUIRE,     /* (owner) */
    OP_TRY_ACQUIRE, /* (owner) ok, or refused: busy */
    OP_RELEASE,     /* (owner) ok, or refused: not the holder */

    OP_INSERT, /* (value) ok, or refused: exists */
    OP_UPDATE, /* (value) ok, or refused: missing */
    OP_DELETE, /* () ok, or refused: missing */
    OP_READ,   /* () -> value, or refused: missing */
};

/* In place of the return: the operation may never have taken effect ... */
#define HISTORY_PENDING  UINT32_MAX       /* ... and its result is not known */
#define HISTORY_OPTIONAL (UINT32_MAX - 1) /* ... but if it did, this was its result */

struct history_op {
    uint64_t key; /* the object, or its part, that is independent of all others */
    uint64_t a, b;
    uint64_t value;             /* the result; zero when there is none */
    uint32_t id;                /* its place in the history as recorded; survives shrinking */
    uint32_t thread;            /* who asked: for the reader only */
    uint32_t invoked, returned; /* places in event[]; returned also as above */
    enum history_code code;
    bool ok; /* false: refused, as the code's list above says */
};

struct history {
    struct history_op *op; /* in the order of invocation */
    uint32_t *event;       /* the index of an operation, times two, plus one for a return */
    uint32_t ops, events, ops_max;
    bool overflowed;       /* operations are missing, so no verdict can be given */
    pthread_mutex_t *lock; /* of recording; NULL: one thread does it all */
};

/* Room for ops_max operations. Returns 0, -EINVAL or -ENOMEM. */
int history_init(struct history *history, uint32_t ops_max);
void history_fini(struct history *history);
void history_clear(struct history *history);

/* The operation's index for history_return, or -ENOSPC: the history is then overflowed. */
int history_invoke(struct history *history, uint32_t thread, enum history_code code, uint64_t key,
                   uint64_t a, uint64_t b);

/* Ends a pending operation. A negative index is ignored. */
void history_return(struct history *history, int index, bool ok, uint64_t value);

static inline bool history_pending(const struct history_op *op)
{
    return op->returned == HISTORY_PENDING;
}

/* What history_select does with an operation. */
enum history_choice { HISTORY_DROP, HISTORY_LOOSEN, HISTORY_KEEP };

/*
 * Copies the first `events` events of `in` to `out`, which has room for in->ops operations.
 * An operation is kept, dropped, or loosened, which makes it optional if it has returned.
 * Order is preserved and the events are numbered afresh.
 */
void history_select(struct history *out, const struct history *in, const uint8_t *choice,
                    uint32_t events);

/* One line an operation: id, thread, [invoked, returned], key, operation and result. */
void history_print(FILE *file, const struct history *history);
void history_print_op(FILE *file, const struct history_op *op);

#endif

/*
 * What the library keeps for the calling thread. This is its only hidden state.
 *
 * `table` has the thread's context in each manager of the process. The core fills and reads it. A
 * fabric that runs fibers (sim) gives each fiber a table and swaps the pointer when it switches.
 *
 * `stored` says whether the thread has stored to network memory with this CPU (LOCO_COHERENT) since
 * it last emptied the CPU's store buffer. A later load could overtake such stores. So code that
 * stores to a peer's memory calls loco_stored, and code that promises to come after those stores
 * calls loco_place_stores first.
 */
#ifndef LOCO_CONTEXT_H
#define LOCO_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "language.h"

LOCO_DECLARATIONS

enum { LOCO_MANAGERS_MAX = 16384 };

struct loco_context {
    void **table;   /* by the manager's slot; NULL: nothing attached */
    bool stored;    /* to network memory, since the last loco_place_stores */
    unsigned holds; /* how many loco_hold are not released yet */
};

/* At a fixed distance from the thread's pointer, so that to find it calls no function. */
extern __thread struct loco_context loco_context __attribute__((tls_model("initial-exec")));

/* Returns the calling thread's table, which is made at its first use. NULL: there is no memory. */
void **loco_context_table(void);

static inline void *loco_context_at(unsigned slot)
{
    return loco_context.table ? loco_context.table[slot] : NULL;
}

/* The calling thread has stored to network memory. */
static inline void loco_stored(void)
{
    loco_context.stored = true;
}

/* Places those stores: no later operation of the thread is seen before them. */
static inline void loco_place_stores(void)
{
    if (!loco_context.stored)
        return;
    atomic_thread_fence(memory_order_seq_cst);
    loco_context.stored = false;
}

/*
 * These two go around an atomic operation of this CPU. The thread's earlier stores are placed
 * before it, and no later operation of the thread is seen before it. On x86 the atomic operation
 * does both by itself. On other processors a later load may overtake its store.
 */
static inline void loco_before_atomic(void)
{
#if !defined(__x86_64__)
    loco_place_stores();
#endif
}

static inline void loco_after_atomic(void)
{
#if !defined(__x86_64__)
    atomic_thread_fence(memory_order_seq_cst);
#endif
    loco_context.stored = false;
}

LOCO_DECLARATIONS_END

#endif

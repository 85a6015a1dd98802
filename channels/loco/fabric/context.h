/*
 * What the library keeps for the calling thread: its only hidden state.
 *
 * Its context in each manager of the process. The core fills and reads it; a fabric that runs
 * threads of its own (the sim's fibers) gives each a table and swaps the pointer when it switches.
 *
 * Whether it has stored to network memory itself (LOCO_COHERENT) since it last emptied its CPU's
 * store buffer. A later load could overtake those stores: everything that stores to a peer's memory
 * says so here, and everything that promises to come after them empties the buffer first.
 */
#ifndef LOCO_CONTEXT_H
#define LOCO_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "../language.h"

LOCO_DECLARATIONS

enum { LOCO_MANAGERS_MAX = 16384 };

struct loco_context {
    void **table;   /* by the manager's slot; NULL: nothing attached */
    bool stored;    /* to network memory, since the last loco_place_stores */
    unsigned holds; /* what it posts may wait until it releases as often: loco_hold */
};

extern __thread struct loco_context loco_context;

/* The table of the calling thread, made at its first use. */
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

/* Places those stores: nothing that the thread does later is seen before them. */
static inline void loco_place_stores(void)
{
    if (!loco_context.stored)
        return;
    atomic_thread_fence(memory_order_seq_cst);
    loco_context.stored = false;
}

/*
 * Around an atomic operation by this CPU. The thread's earlier stores are placed before it, and
 * nothing that the thread does later is seen before it. An x86's atomic operation does both itself;
 * elsewhere its store may be overtaken by a later load.
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

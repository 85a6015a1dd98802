/*
 * The calling thread's context in each manager of the process: the library's only hidden
 * state. The core fills and reads it; a fabric that runs threads of its own (the sim's
 * fibers) gives each a table and swaps the pointer when it switches.
 */
#ifndef LOCO_CONTEXT_H
#define LOCO_CONTEXT_H

#include <stddef.h>

enum { LOCO_MANAGERS_MAX = 2048 };

extern _Thread_local void **loco_context; /* by the manager's slot; NULL: nothing attached */

/* The table of the calling thread, made at its first use. */
void **loco_context_table(void);

static inline void *loco_context_at(unsigned slot)
{
    return loco_context ? loco_context[slot] : NULL;
}

#endif

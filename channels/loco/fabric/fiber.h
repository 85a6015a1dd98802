/*
 * Fibers: threads of execution that switch only where the program says so. The sim fabric runs
 * each thread of a simulated node on a fiber of its own; a program may run others, on fabrics of
 * any kind. Fibers that switch to each other belong to one thread.
 */
#ifndef LOCO_FIBER_H
#define LOCO_FIBER_H

#include <stddef.h>

#include "language.h"

LOCO_DECLARATIONS

struct loco_fiber;

/* A fiber that will run entry(arg), which must never return: to end, it switches away for the last
 * time. NULL when there is no memory. */
struct loco_fiber *loco_fiber_new(void (*entry)(void *arg), void *arg, size_t stack_size);

/* A fiber for the calling thread, so that it can be switched back to. */
struct loco_fiber *loco_fiber_current(void);

/* Suspends `from`, which must be running, and continues `to`. */
void loco_fiber_switch(struct loco_fiber *from, struct loco_fiber *to);

void loco_fiber_free(struct loco_fiber *fiber);

LOCO_DECLARATIONS_END

#endif

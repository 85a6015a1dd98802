/*
 * Fibers: threads of execution that switch only where the program says so. The sim fabric runs
 * each thread of a simulated node on a fiber of its own.
 */
#ifndef LOCO_FIBER_H
#define LOCO_FIBER_H

#include <stddef.h>

struct fiber;

/* A fiber that will run entry(arg), which must never return: to end, it switches away for the last
 * time. NULL when there is no memory. */
struct fiber *fiber_new(void (*entry)(void *arg), void *arg, size_t stack_size);

/* A fiber for the calling thread, so that it can be switched back to. */
struct fiber *fiber_current(void);

/* Suspends `from`, which must be running, and continues `to`. */
void fiber_switch(struct fiber *from, struct fiber *to);

void fiber_free(struct fiber *fiber);

#endif

/*
 * Network memory: regions are cut from arenas, arenas are mapped from the fabric.
 *
 * mem_refs are temporary pieces of network memory, the sources and results of operations.
 * They come from a pool of fixed-size blocks that is private to the thread, so that taking
 * one costs a few instructions and never allocates.
 */
#ifndef LOCO_MEMORY_H
#define LOCO_MEMORY_H

#include "language.h"
#include "thread.h"

LOCO_DECLARATIONS

/* Regions of different writers never share a cache line. */
enum { LOCO_CACHE_LINE = 64 };

/* A block of the calling thread's pool, of the manager's block_size; NULL when all are
 * taken, or the thread is not attached. Only the thread that took it may use it and put it back. */
void *loco_mem_ref_take(struct loco_manager *manager);
void loco_mem_ref_put(struct loco_manager *manager, void *block);

LOCO_DECLARATIONS_END

#endif

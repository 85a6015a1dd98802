/*
 * Network memory: regions are cut from arenas, arenas are mapped from the fabric.
 *
 * mem_refs are temporary pieces of network memory, the sources and results of operations.
 * They come from a pool of fixed-size blocks that is private to the thread, so that taking
 * one costs a few instructions and never allocates.
 */
#ifndef LOCO_MEMORY_H
#define LOCO_MEMORY_H

#include "thread.h"

/* Regions of different writers never share a cache line. */
enum { LOCO_CACHE_LINE = 64 };

/* Cuts `size` zeroed bytes, aligned to a cache line. *where says how a peer names them.
 * Returns 0 or -ENOMEM. The manager's lock is held. */
int loco_memory_cut(struct loco_manager *manager, size_t size, void **memory,
                    struct loco_remote *where);

/* Gives a cut back. The manager's lock is held. */
void loco_memory_return(struct loco_manager *manager, void *memory, size_t size,
                        struct loco_remote where);

void loco_memory_free(struct loco_manager *manager);

/* A block of the calling thread's pool, of the manager's block_size; NULL when all are
 * taken. Only the thread that took it may use it and put it back. */
void *loco_mem_ref_take(struct loco_manager *manager);
void loco_mem_ref_put(struct loco_manager *manager, void *block);

int loco_mem_pool_open(struct loco_thread *thread);
void loco_mem_pool_close(struct loco_thread *thread);

#endif

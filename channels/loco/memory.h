/*
 * Network memory. The manager maps arenas from the fabric and cuts regions from them.
 *
 * A mem_ref is a temporary block of network memory, for the source or the result of an operation.
 * Each thread has a private pool of blocks of one size, so taking one costs a few instructions and
 * never allocates.
 */
#ifndef LOCO_MEMORY_H
#define LOCO_MEMORY_H

#include "fabric/language.h"
#include "thread.h"

LOCO_DECLARATIONS

/* Regions of different writers never share a cache line. */
enum { LOCO_CACHE_LINE = 64 };

/* Takes a block of the manager's `block_size` bytes, aligned to a cache line, from the calling
 * thread's pool. Its content is undefined. Returns NULL when all `block_count` blocks are taken or
 * the thread is not attached. Only the thread that took a block may use it and put it back, and
 * only when no operation in flight uses it any more. */
void *loco_mem_ref_take(struct loco_manager *manager);
void loco_mem_ref_put(struct loco_manager *manager, void *block);

LOCO_DECLARATIONS_END

#endif

/*
 * Reads and writes of the slots at any node, on behalf of an operation.
 */
#ifndef LOCO_KVSTORE_MEMORY_H
#define LOCO_KVSTORE_MEMORY_H

#include "../fabric/words.h"
#include "../thread_links.h"
#include "kvstore_chain.h"
#include "kvstore_slots.h"

static inline bool kv_memory_is_here(const struct loco_kv_op *op, uint32_t node)
{
    return node == kv_op_manager(op)->id;
}

static inline unsigned kv_memory_member(const struct loco_kv_op *op, uint32_t node)
{
    return node - (node > kv_op_manager(op)->id); /* all nodes but this one */
}

/* Reads what this CPU can reach, at whichever node it is: so own and remote slots take the same
 * path, without a branch that is mispredicted half of the time. Returns false if the CPU cannot
 * reach it. */
static inline bool kv_memory_read_near(const struct loco_kv_op *op, uint32_t node, size_t offset,
                                       void *to, size_t size)
{
    const unsigned char *near = kv_slots_nearby(kv_op_store(op)->slots, node);

    if (!near)
        return false;
    loco_place_stores(); /* a read comes after the writes before it */
    loco_copy(to, near + offset, size);
    atomic_thread_fence(memory_order_acquire);
    return true;
}

/* Reads, and sets the step that is taken then. */
static inline bool kv_memory_read(struct loco_kv_op *op, uint32_t node, size_t offset, void *to,
                                  size_t size, kv_step *step)
{
    if (kv_memory_read_near(op, node, offset, to, size))
        return kv_op_next(op, step);
    return kv_op_then(op, step,
                      loco_region_read(kv_op_store(op)->slots->region, kv_memory_member(op, node),
                                       offset, to, size));
}

/* Posts a write. Returns 0 or an error of loco_region_write. */
static inline int kv_memory_write(struct loco_kv_op *op, uint32_t node, size_t offset,
                                  const void *from, size_t size)
{
    struct loco_region *region = kv_op_store(op)->slots->region;

    op->wrote = node;
    if (!kv_memory_is_here(op, node))
        return loco_region_write(region, kv_memory_member(op, node), offset, from, size).error;
    atomic_thread_fence(memory_order_release);
    loco_copy((unsigned char *)region->memory + offset, from, size);
    return 0;
}

/* Sets the step that is taken when the operation's writes at `offset` of the node are placed. */
static inline bool kv_memory_then_placed(struct loco_kv_op *op, uint32_t node, size_t offset,
                                         kv_step *step)
{
    return kv_memory_is_here(op, node)
               ? kv_op_next(op, step)
               : kv_memory_read(op, node, offset, op->word, sizeof *op->word, step);
}

#endif

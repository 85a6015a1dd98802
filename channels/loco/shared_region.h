/*
 * shared_region: a piece of network memory of the same size at each participant, which every other
 * participant can read and write by offset. It promises no consistency beyond the memory model's;
 * its users add locks, fences, or rules of use.
 *
 * A participant that restarts is taken back. Its copy is then zero; the others' copies stay.
 */
#ifndef LOCO_SHARED_REGION_H
#define LOCO_SHARED_REGION_H

#include "channel.h"
#include "fabric/language.h"

LOCO_DECLARATIONS

struct loco_shared_region {
    struct loco_channel channel;
    struct loco_region *region;
    uint64_t room[2];
};

/* Constructs and joins. `size` is in bytes and the same at each node; the memory is zero at first.
 * Returns 0 or an error of loco_channel_init. */
int loco_shared_region_init(struct loco_shared_region *shared, struct loco_manager *manager,
                            const struct loco_channel *parent, const char *name,
                            struct loco_members members, size_t size);
void loco_shared_region_fini(struct loco_shared_region *shared);

/* Returns this node's copy. Peers may write it at any time. */
static inline void *loco_shared_region_local(const struct loco_shared_region *shared)
{
    return shared->region->memory;
}

/* As loco_region_write and loco_region_read, but by node id. -EINVAL: the node is not a member. Any
 * attached thread. */
struct loco_ack loco_shared_region_write(struct loco_shared_region *shared, uint32_t node,
                                         size_t offset, const void *from, size_t size);
struct loco_ack loco_shared_region_read(struct loco_shared_region *shared, uint32_t node,
                                        size_t offset, void *to, size_t size);

LOCO_DECLARATIONS_END

#endif

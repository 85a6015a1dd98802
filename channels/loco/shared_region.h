/*
 * shared_region: a symmetric piece of network memory at each participant, which every other
 * can read and write by offset. It promises nothing about consistency: locks, fences or
 * rules of use above it do.
 *
 * A participant that restarts is taken back: its copy is zero then, the others' are as they are.
 */
#ifndef LOCO_SHARED_REGION_H
#define LOCO_SHARED_REGION_H

#include "channel.h"
#include "language.h"

LOCO_DECLARATIONS

struct loco_shared_region {
    struct loco_channel channel;
    struct loco_region *region;
    uint64_t room[2];
};

/* Constructs and joins. Errors as of loco_channel_init. */
int loco_shared_region_init(struct loco_shared_region *shared, struct loco_manager *manager,
                            const struct loco_channel *parent, const char *name,
                            struct loco_members members, size_t size);
void loco_shared_region_fini(struct loco_shared_region *shared);

/* This node's copy; peers may write it at any time. */
static inline void *loco_shared_region_local(const struct loco_shared_region *shared)
{
    return shared->region->memory;
}

/* One-sided, as loco_region_write and _read, but by node id. -EINVAL: not a member. Any
 * attached thread. */
struct loco_ack loco_shared_region_write(struct loco_shared_region *shared, uint32_t node,
                                         size_t offset, const void *from, size_t size);
struct loco_ack loco_shared_region_read(struct loco_shared_region *shared, uint32_t node,
                                        size_t offset, void *to, size_t size);

LOCO_DECLARATIONS_END

#endif

#include "loco/shared_region.h"

#include <errno.h>

static const struct loco_channel_ops region_ops = {.takes_back = true};

int loco_shared_region_init(struct loco_shared_region *s, struct loco_manager *manager,
                            const struct loco_channel *parent, const char *name,
                            struct loco_members members, size_t size)
{
    int rc = loco_channel_init(&s->channel, manager, parent, name, members, &region_ops);

    if (rc)
        return rc;
    rc = loco_channel_region(&s->channel, "memory", size, &s->region);
    if (rc)
        loco_channel_fini(&s->channel);
    else
        loco_channel_join(&s->channel);
    return rc;
}

void loco_shared_region_fini(struct loco_shared_region *s)
{
    loco_channel_fini(&s->channel);
}

struct loco_ack loco_shared_region_write(struct loco_shared_region *s, uint32_t node, size_t offset,
                                         const void *from, size_t size)
{
    int m = loco_channel_member(&s->channel, node);

    if (m < 0)
        return (struct loco_ack){.error = -EINVAL};
    return loco_region_write(s->region, (unsigned)m, offset, from, size);
}

struct loco_ack loco_shared_region_read(struct loco_shared_region *s, uint32_t node, size_t offset,
                                        void *to, size_t size)
{
    int m = loco_channel_member(&s->channel, node);

    if (m < 0)
        return (struct loco_ack){.error = -EINVAL};
    return loco_region_read(s->region, (unsigned)m, offset, to, size);
}

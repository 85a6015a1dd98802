#include "ended.h"

#include <errno.h>

#include "core.h"

int loco_ended(const struct loco_atomic_array *words, size_t index)
{
    const struct loco_channel *c = &words->channel;
    uint64_t *here = (uint64_t *)words->region->memory + index;

    if (__atomic_load_n(here, __ATOMIC_ACQUIRE))
        return -ECONNRESET;
    if (!loco_channel_check(c))
        return 0;
    /* One that cannot be told is lost itself. */
    for (unsigned m = 0; m < c->member_count; m++)
        loco_atomic_write(loco_atomic_at(words, c->members[m].node, index), 1);
    __atomic_store_n(here, 1, __ATOMIC_RELEASE);
    loco_stored();
    return -ECONNRESET;
}

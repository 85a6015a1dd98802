#include "owned_var.h"

#include <errno.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "fabric/words.h"
#include "trace_internal.h"

enum { WORD = sizeof(uint64_t), ON_STACK = 256 };

static bool is_word(size_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Where the checksum stands: after the value, on a word of its own. */
static size_t checksum_at(size_t size)
{
    return (size + WORD - 1) / WORD * WORD;
}

static size_t stored_size(size_t size)
{
    return is_word(size) ? size : checksum_at(size) + WORD;
}

static uint64_t checksum(const void *value, size_t size)
{
    return XXH3_64bits(value, size);
}

static void store(const struct loco_owned_var *v, const void *value)
{
    unsigned char *copy = v->region->memory;

    loco_copy(copy, value, v->size);
    if (is_word(v->size))
        return;
    uint64_t sum = checksum(value, v->size);
    loco_copy(copy + checksum_at(v->size), &sum, sizeof sum);
}

/* Both ends start with a valid zero, so that a load before any push succeeds. */
static void store_zero(const struct loco_owned_var *v)
{
    XXH3_state_t state;
    static const unsigned char zeros[ON_STACK];

    if (is_word(v->size))
        return;
    XXH3_64bits_reset(&state);
    for (size_t left = v->size; left > 0;) {
        size_t part = left < sizeof zeros ? left : sizeof zeros;
        XXH3_64bits_update(&state, zeros, part);
        left -= part;
    }
    uint64_t sum = XXH3_64bits_digest(&state);
    memcpy((unsigned char *)v->region->memory + checksum_at(v->size), &sum, sizeof sum);
}

static bool is_whole(const struct loco_owned_var *v)
{
    const unsigned char *copy = v->region->memory;

    return checksum(copy, v->size) ==
           *(const uint64_t *)(const void *)(copy + checksum_at(v->size));
}

/* What the owner's death left half-written nothing will complete, and a load would try in vain. */
static void on_lost(struct loco_channel *c, uint32_t node)
{
    struct loco_owned_var *v = (struct loco_owned_var *)c;

    if (node != v->owner || is_word(v->size) || is_whole(v))
        return;
    memset(v->region->memory, 0, v->size);
    store_zero(v);
}

static const struct loco_channel_ops ops = {.on_lost = on_lost, .takes_back = true};

int loco_owned_var_init(struct loco_owned_var *v, struct loco_manager *manager,
                        const struct loco_channel *parent, const char *name, uint32_t owner,
                        struct loco_members readers, size_t size)
{
    const struct loco_members owner_only = {.nodes = &owner, .count = 1};
    struct loco_members members = manager->id == owner ? readers : owner_only;

    if (size == 0)
        return -EINVAL;
    v->size = size;
    v->owner = owner;
    int rc = loco_channel_init(&v->channel, manager, parent, name, members, &ops);
    if (rc)
        return rc;
    rc = loco_channel_region(&v->channel, "v", stored_size(size), &v->region);
    if (rc) {
        loco_channel_fini(&v->channel);
        return rc;
    }
    store_zero(v);
    loco_channel_join(&v->channel);
    return 0;
}

void loco_owned_var_fini(struct loco_owned_var *v)
{
    loco_channel_fini(&v->channel);
}

void loco_owned_var_store(struct loco_owned_var *v, const void *value)
{
    store(v, value);
}

struct loco_ack loco_owned_var_push(struct loco_owned_var *v)
{
    const struct loco_channel *c = &v->channel;
    struct loco_ack all = {0};

    for (unsigned m = 0; m < c->member_count; m++) {
        if (!atomic_load_explicit(&c->members[m].incarnation, memory_order_relaxed))
            continue;
        struct loco_ack one =
            loco_region_write(v->region, m, 0, v->region->memory, v->region->size);
        all = loco_ack_union(all, one);
    }
    LOCO_TRACE(push, c->mgr->id, c->name, v->region->size);
    return all;
}

struct loco_ack loco_owned_var_pull(struct loco_owned_var *v)
{
    const struct loco_channel *c = &v->channel;

    LOCO_TRACE(pull, c->mgr->id, c->name, v->region->size);
    return loco_region_read(v->region, 0, 0, v->region->memory, v->region->size);
}

static bool load_checked(const struct loco_owned_var *v, void *value)
{
    const unsigned char *copy = v->region->memory;
    uint64_t sum;

    loco_copy(value, copy, v->size);
    loco_copy(&sum, copy + checksum_at(v->size), sizeof sum);
    return sum == checksum(value, v->size);
}

/* The rest of a half-written value is on its way: mostly it is here at the next look, and where
 * its writer was held up a look every so often is enough. */
enum { LOOKS_AT_ONCE = 16, RETRY_NS = 100 };

static int load_large(const struct loco_owned_var *v, void *value)
{
    const struct loco_manager *m = v->channel.mgr;

    for (int i = 0; i < LOCO_LOAD_TRIES; i++) {
        if (load_checked(v, value))
            return 0;
        if (i < LOOKS_AT_ONCE)
            continue;
        struct loco_wait wait = loco_wait_for(m, RETRY_NS);
        loco_relax(m, &wait);
    }
    return -EAGAIN;
}

int loco_owned_var_load(const struct loco_owned_var *v, void *value)
{
    int rc = 0;

    if (is_word(v->size))
        loco_copy(value, v->region->memory, v->size);
    else
        rc = load_large(v, value);
    /* What the owner placed before this value is read after it. */
    atomic_thread_fence(memory_order_acquire);
    return rc;
}

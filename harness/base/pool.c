#include "pool.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"

enum { POOL_BLOCK_BYTES = 1 << 16 };

struct pool_block {
    struct pool_block *next;
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
};

struct hil_pool {
    struct pool_block *blocks;
};

struct hil_pool *hil_pool_open(void)
{
    return calloc(1, sizeof(struct hil_pool));
}

void hil_pool_close(struct hil_pool *pool)
{
    if (!pool)
        return;
    while (pool->blocks) {
        struct pool_block *next = pool->blocks->next;
        free(pool->blocks);
        pool->blocks = next;
    }
    free(pool);
}

static struct pool_block *pool_block_with(struct hil_pool *pool, size_t bytes)
{
    struct pool_block *block = pool->blocks;

    if (block && block->size - block->used >= bytes)
        return block;
    const size_t size = bytes > POOL_BLOCK_BYTES ? bytes : POOL_BLOCK_BYTES;
    block = calloc(1, sizeof *block + size);
    if (!block)
        return NULL;
    *block = (struct pool_block){.next = pool->blocks, .size = size};
    pool->blocks = block;
    return block;
}

void *hil_pool_get(struct hil_pool *pool, size_t count, size_t size)
{
    const size_t unit = alignof(max_align_t);

    if (size && count > (SIZE_MAX / 2) / size)
        return NULL;
    const size_t bytes = (count * size + unit) / unit * unit; /* at least one unit */
    struct pool_block *block = pool_block_with(pool, bytes);
    if (!block)
        return NULL;
    void *at = block->bytes + block->used;
    block->used += bytes;
    return at;
}

void *hil_pool_more(struct hil_pool *pool, void *at, size_t count, size_t size)
{
    const size_t grown = hil_list_grown(count);
    void *more = grown ? hil_pool_get(pool, grown, size) : at;

    if (grown && more && count)
        memcpy(more, at, count * size);
    return more;
}

char *hil_pool_text(struct hil_pool *pool, const char *text)
{
    const size_t length = strlen(text) + 1;
    char *copy = hil_pool_get(pool, length, 1);

    return copy ? memcpy(copy, text, length) : NULL;
}

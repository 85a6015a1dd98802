#include "loco/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "thread_links.h"

enum { SMALL_ARENA = 1 << 20 };

/* A cut that was returned, and may be cut again. */
struct hole {
    void *memory;
    size_t size;
    struct loco_remote where;
    struct hole *next;
};

struct loco_memory {
    struct loco_arena arena; /* the newest one; the older ones are full */
    size_t used;
    struct hole *holes;
};

static size_t memory_whole_lines(size_t size)
{
    return (size + LOCO_CACHE_LINE - 1) & ~(size_t)(LOCO_CACHE_LINE - 1);
}

/* The bytes that the machine has left, with its free huge pages; SIZE_MAX where it does not say. */
static size_t memory_left(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    size_t kib, available = 0, huge_pages = 0, huge_kib = 0;
    char line[128];

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemAvailable: %zu", &kib) == 1)
            available = kib;
        else if (sscanf(line, "HugePages_Free: %zu", &kib) == 1)
            huge_pages = kib;
        else if (sscanf(line, "Hugepagesize: %zu", &kib) == 1)
            huge_kib = kib;
    }
    if (file)
        fclose(file);
    return available ? (available + huge_pages * huge_kib) * 1024 : SIZE_MAX;
}

/* Every page of an arena is touched. If the machine has no room for it, the kernel would kill some
 * process, so this is checked before. It is not checked for small arenas, of which there may be
 * thousands. */
static int memory_check_room(const struct loco_manager *m, size_t size)
{
    const size_t left = size > SMALL_ARENA ? memory_left() : SIZE_MAX;

    if (size <= left)
        return 0;
    loco_log(m, LOCO_ERROR, "node %u: an arena of %zu MiB, and this machine has %zu MiB left",
             m->id, size >> 20, left >> 20);
    return -ENOMEM;
}

/* Arenas begin at whole pages, and those of many nodes are alike. A node that writes to all of them
 * would write lines at the same place of each page, and a core's first-level cache holds only about
 * eight such lines. So each node begins at another line, if there is room. */
static size_t memory_first_cut(const struct loco_manager *m, size_t room)
{
    const size_t at = m->id % 16 * LOCO_CACHE_LINE;

    return at <= room ? at : 0;
}

static int memory_grow(struct loco_manager *m, size_t needed)
{
    size_t size = needed;

    if (!m->memory)
        m->memory = calloc(1, sizeof *m->memory);
    if (!m->memory)
        return -ENOMEM;

    struct loco_arena arena;
    if (size < m->config.arena_size)
        size = m->config.arena_size;
    int rc = memory_check_room(m, size);
    if (!rc)
        rc = m->fabric->ops->arena_map(m->node, size, &arena);
    if (rc)
        return rc;
    m->memory->arena = arena;
    m->memory->used = memory_first_cut(m, arena.size - needed);
    return 0;
}

/* Only an exact fit is taken, as channels that come and go have the same shapes. */
static bool memory_cut_hole(struct loco_memory *all, size_t size, void **memory,
                            struct loco_remote *where)
{
    for (struct hole **h = &all->holes; *h; h = &(*h)->next) {
        struct hole *found = *h;
        if (found->size != size)
            continue;
        *memory = memset(found->memory, 0, size);
        *where = found->where;
        *h = found->next;
        free(found);
        return true;
    }
    return false;
}

int loco_memory_cut(struct loco_manager *m, size_t size, void **memory, struct loco_remote *where)
{
    if (size > SIZE_MAX / 2) /* rounded up, here or in a fabric, it could become small */
        return -ENOMEM;
    size = memory_whole_lines(size);
    if (m->memory && memory_cut_hole(m->memory, size, memory, where))
        return 0;
    if (!m->memory || m->memory->arena.size - m->memory->used < size) {
        int rc = memory_grow(m, size);
        if (rc)
            return rc;
    }
    struct loco_memory *all = m->memory;
    *memory = all->arena.base + all->used;
    *where = (struct loco_remote){.arena = all->arena.number, .known = 1, .offset = all->used};
    all->used += size;
    return 0;
}

void loco_memory_return(struct loco_manager *m, void *memory, size_t size, struct loco_remote where)
{
    struct hole *hole = malloc(sizeof *hole);

    if (!hole)
        return; /* the cut is only lost until the manager closes */
    *hole = (struct hole){memory, memory_whole_lines(size), where, m->memory->holes};
    m->memory->holes = hole;
}

void loco_memory_free(struct loco_manager *m)
{
    while (m->memory && m->memory->holes) {
        struct hole *hole = m->memory->holes;
        m->memory->holes = hole->next;
        free(hole);
    }
    free(m->memory);
    m->memory = NULL;
}

/* --- mem_refs ----------------------------------------------------------------------- */

/* A block that was put back while an operation may still be using it. */
struct late_block {
    void *block;
    struct loco_ack ack;
};

struct loco_mem_pool {
    void *memory; /* the blocks, and behind them a line for loco_mem_unread */
    size_t size;
    struct loco_remote where;
    struct late_block *late;
    size_t late_count, free_count;
    void *free[]; /* a stack: the block used last is the warmest */
};

int loco_mem_pool_open(struct loco_thread *t)
{
    const struct loco_manager_config *c = &t->mgr->config;
    size_t block = memory_whole_lines(c->block_size);
    struct loco_mem_pool *pool = malloc(sizeof *pool + c->block_count * sizeof(void *));

    if (!pool)
        return -ENOMEM;
    pool->size = block * c->block_count + LOCO_CACHE_LINE;
    pool->late = calloc(c->block_count, sizeof *pool->late);
    int rc =
        pool->late ? loco_memory_cut(t->mgr, pool->size, &pool->memory, &pool->where) : -ENOMEM;
    if (rc) {
        free(pool->late);
        free(pool);
        return rc;
    }
    t->pool = pool;
    return 0;
}

void loco_mem_pool_fill(struct loco_thread *t)
{
    struct loco_mem_pool *pool = t->pool;
    const size_t count = t->mgr->config.block_count;
    const size_t block = memory_whole_lines(t->mgr->config.block_size);

    for (size_t i = 0; i < count; i++)
        pool->free[i] = (unsigned char *)pool->memory + i * block;
    pool->free_count = count;
    pool->late_count = 0; /* the last thread waited for its operations when it detached */
}

void loco_mem_pool_close(struct loco_thread *t)
{
    if (!t->pool)
        return;
    pthread_mutex_lock(&t->mgr->lock);
    loco_memory_return(t->mgr, t->pool->memory, t->pool->size, t->pool->where);
    pthread_mutex_unlock(&t->mgr->lock);
    free(t->pool->late);
    free(t->pool);
    t->pool = NULL;
}

/* Frees the late blocks whose operations are done by now. */
static void mem_pool_take_late(struct loco_mem_pool *pool)
{
    size_t late = 0;

    for (size_t i = 0; i < pool->late_count; i++) {
        if (loco_ack_query(&pool->late[i].ack))
            pool->free[pool->free_count++] = pool->late[i].block;
        else
            pool->late[late++] = pool->late[i];
    }
    pool->late_count = late;
}

void loco_mem_ref_put_after(struct loco_manager *m, void *block, struct loco_ack ack)
{
    struct loco_mem_pool *pool = loco_self(m)->pool;

    pool->late[pool->late_count++] = (struct late_block){block, ack};
}

void *loco_mem_ref_take(struct loco_manager *m)
{
    const struct loco_thread *self = loco_self(m);

    if (!self)
        return NULL;
    struct loco_mem_pool *pool = self->pool;
    if (pool->late_count)
        mem_pool_take_late(pool);
    return pool->free_count ? pool->free[--pool->free_count] : NULL;
}

uint64_t *loco_mem_unread(struct loco_manager *m)
{
    const struct loco_thread *self = loco_self(m);

    return self ? (uint64_t *)(void *)((unsigned char *)self->pool->memory + self->pool->size -
                                       LOCO_CACHE_LINE)
                : NULL;
}

void loco_mem_ref_put(struct loco_manager *m, void *block)
{
    struct loco_mem_pool *pool = loco_self(m)->pool;

    pool->free[pool->free_count++] = block;
}

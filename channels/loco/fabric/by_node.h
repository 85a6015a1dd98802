/*
 * A table by node id. A network may have thousands of nodes, of which one node knows few: so the
 * entries lie in pages of neighbouring ids, and a page is made with the first of its entries.
 *
 * One thread at a time makes entries; any thread may find them meanwhile, and none ever moves.
 */
#ifndef LOCO_BY_NODE_H
#define LOCO_BY_NODE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { LOCO_PAGE_NODES = 64 };

struct loco_by_node {
    uint32_t count; /* of nodes */
    size_t size;    /* of an entry, bytes */
    unsigned char *_Atomic *pages;
};

static inline uint32_t loco_by_node_pages(const struct loco_by_node *t)
{
    return (t->count + LOCO_PAGE_NODES - 1) / LOCO_PAGE_NODES;
}

/* Returns 0 or -ENOMEM. */
static inline int loco_by_node_init(struct loco_by_node *t, uint32_t count, size_t size)
{
    *t = (struct loco_by_node){.count = count, .size = size};
    t->pages = calloc(loco_by_node_pages(t), sizeof *t->pages);
    if (t->pages)
        return 0;
    t->count = 0;
    return -12; /* ENOMEM, without errno.h in a public header */
}

/* Safe on a zeroed one. */
static inline void loco_by_node_free(struct loco_by_node *t)
{
    for (uint32_t i = 0; i < loco_by_node_pages(t); i++)
        free(t->pages[i]);
    free((void *)t->pages);
    *t = (struct loco_by_node){0};
}

/* The node's entry, zero at first; NULL: neither it nor a neighbour was made. */
static inline void *loco_by_node_find(const struct loco_by_node *t, uint32_t node)
{
    unsigned char *page =
        atomic_load_explicit(&t->pages[node / LOCO_PAGE_NODES], memory_order_acquire);

    return page ? page + node % LOCO_PAGE_NODES * t->size : NULL;
}

/* The same, made where it is not there; NULL when there is no memory. */
static inline void *loco_by_node_make(struct loco_by_node *t, uint32_t node)
{
    unsigned char *_Atomic *page = &t->pages[node / LOCO_PAGE_NODES];

    if (!atomic_load_explicit(page, memory_order_relaxed))
        atomic_store_explicit(page, (unsigned char *)calloc(LOCO_PAGE_NODES, t->size),
                              memory_order_release);
    return loco_by_node_find(t, node);
}

/* The first node from `node` on that has an entry; the table's count: none has. */
static inline uint32_t loco_by_node_next(const struct loco_by_node *t, uint32_t node)
{
    while (node < t->count && !loco_by_node_find(t, node))
        node = (node / LOCO_PAGE_NODES + 1) * LOCO_PAGE_NODES;
    return node < t->count ? node : t->count;
}

/* For each node that has an entry. */
#define loco_each_entry(table, node)                                                               \
    for (uint32_t node = loco_by_node_next(table, 0); node < (table)->count;                       \
         node = loco_by_node_next(table, node + 1))

#endif

/*
 * How to make, fill and walk a table by node id (loco/fabric/by_node.h).
 */
#ifndef LOCO_BY_NODE_MAKE_H
#define LOCO_BY_NODE_MAKE_H

#include <errno.h>
#include <stdlib.h>

#include "../loco/fabric/by_node.h"

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
    return -ENOMEM;
}

/* Safe on a zeroed table. */
static inline void loco_by_node_free(struct loco_by_node *t)
{
    for (uint32_t i = 0; i < loco_by_node_pages(t); i++)
        free(t->pages[i]);
    free((void *)t->pages);
    *t = (struct loco_by_node){0};
}

/* The node's entry, as loco_by_node_find finds it. Makes the entry if there is none. Returns NULL
 * when there is no memory. */
static inline void *loco_by_node_make(struct loco_by_node *t, uint32_t node)
{
    unsigned char *_Atomic *page = &t->pages[node / LOCO_PAGE_NODES];

    if (!atomic_load_explicit(page, memory_order_relaxed))
        atomic_store_explicit(page, (unsigned char *)calloc(LOCO_PAGE_NODES, t->size),
                              memory_order_release);
    return loco_by_node_find(t, node);
}

/* The first node from `node` on that has an entry; the table's count if there is none. */
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

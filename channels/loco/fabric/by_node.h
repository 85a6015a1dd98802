/*
 * A table by node id. A network may have thousands of nodes, of which one node knows few: so the
 * entries lie in pages of neighbouring ids, and a page is made with the first of its entries.
 *
 * One thread at a time makes entries; any thread may find them meanwhile, and none ever moves.
 */
#ifndef LOCO_BY_NODE_H
#define LOCO_BY_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "../language.h"

LOCO_DECLARATIONS

enum { LOCO_PAGE_NODES = 64 };

struct loco_by_node {
    uint32_t count; /* of nodes */
    size_t size;    /* of an entry, bytes */
    LOCO_ATOMIC(unsigned char *) * pages;
};

/* The node's entry, zero at first; NULL: neither it nor a neighbour was made. */
static inline void *loco_by_node_find(const struct loco_by_node *t, uint32_t node)
{
    unsigned char *page =
        atomic_load_explicit(&t->pages[node / LOCO_PAGE_NODES], memory_order_acquire);

    return page ? page + node % LOCO_PAGE_NODES * t->size : NULL;
}

LOCO_DECLARATIONS_END

#endif

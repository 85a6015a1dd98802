/*
 * A table by node id. A network may have thousands of nodes, and a node usually deals with few of
 * them. So the entries lie in pages of neighbouring ids, and a page is made when the first of its
 * entries is made.
 *
 * One thread at a time makes entries. Any thread may look for them meanwhile. Entries never move.
 */
#ifndef LOCO_BY_NODE_H
#define LOCO_BY_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "language.h"

LOCO_DECLARATIONS

enum { LOCO_PAGE_NODES = 64 };

struct loco_by_node {
    uint32_t count; /* of nodes */
    size_t size;    /* of an entry, bytes */
    LOCO_ATOMIC(unsigned char *) * pages;
};

/* Returns the node's entry, which is zero at first; NULL: no entry of its page was made. */
static inline void *loco_by_node_find(const struct loco_by_node *t, uint32_t node)
{
    unsigned char *page =
        atomic_load_explicit(&t->pages[node / LOCO_PAGE_NODES], memory_order_acquire);

    return page ? page + node % LOCO_PAGE_NODES * t->size : NULL;
}

LOCO_DECLARATIONS_END

#endif

/*
 * How a shared_queue lays its slots out.
 */
#ifndef LOCO_QUEUE_SHAPE_H
#define LOCO_QUEUE_SHAPE_H

#include "loco/shared_queue.h"

/* The words of a slot before the entry, as they cross the network. */
enum { TURN, SUM, WORD = sizeof(uint64_t) };

/* The bytes of a slot that are used. */
static inline size_t queue_image_size(const struct loco_shared_queue *q)
{
    return q->entry_at * WORD + q->entry_size;
}

#endif

#include "recent.h"

/* Relaxed: readers may read at any time, and one extreme may be newer than the other. */
static double recent_get(const _Atomic double *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

static void recent_set(_Atomic double *to, double value)
{
    atomic_store_explicit(to, value, memory_order_relaxed);
}

/* While the extremes change the block has no number. Thus the extremes of the previous block in
 * this place are not mistaken for those of the new one. */
static void recent_begin(struct hil_block *b, uint64_t number, double value)
{
    atomic_store_explicit(&b->number, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    recent_set(&b->min, value);
    recent_set(&b->max, value);
    atomic_store_explicit(&b->number, number, memory_order_release);
}

void hil_recent_add(struct hil_recent *r, uint64_t t_ns, double reference, double value)
{
    const uint64_t number = 1 + t_ns / HIL_BLOCK_NS;
    struct hil_block *b = &r->blocks[number % HIL_RECENT_BLOCKS];

    recent_set(&r->value, value);
    recent_set(&r->reference, reference);
    if (atomic_load_explicit(&b->number, memory_order_relaxed) != number)
        recent_begin(b, number, value);
    else if (value < recent_get(&b->min))
        recent_set(&b->min, value);
    else if (value > recent_get(&b->max))
        recent_set(&b->max, value);
}

bool hil_recent_read(const struct hil_recent *r, unsigned i, struct hil_extremes *extremes)
{
    const struct hil_block *b = &r->blocks[i];
    const uint64_t number = atomic_load_explicit(&b->number, memory_order_acquire);

    *extremes = (struct hil_extremes){number, recent_get(&b->min), recent_get(&b->max)};
    atomic_thread_fence(memory_order_acquire);
    return number && atomic_load_explicit(&b->number, memory_order_relaxed) == number;
}

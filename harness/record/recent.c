#include "recent.h"

void hil_recent_add(struct hil_recent *r, uint64_t t_ns, double reference, double value)
{
    uint64_t number = 1 + t_ns / HIL_BLOCK_NS;
    struct hil_block *b = &r->blocks[number % HIL_RECENT_BLOCKS];

    atomic_store_explicit(&r->value, value, memory_order_relaxed);
    atomic_store_explicit(&r->reference, reference, memory_order_relaxed);
    if (b->number != number)
        *b = (struct hil_block){number, value, value};
    b->min = value < b->min ? value : b->min;
    b->max = value > b->max ? value : b->max;
}

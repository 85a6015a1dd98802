#include "recent.h"

void hil_recent_add(struct hil_recent *r, uint64_t t_ns, double reference_v, double value_v)
{
    uint64_t number = 1 + t_ns / HIL_BLOCK_NS;
    struct hil_block *b = &r->blocks[number % HIL_RECENT_BLOCKS];

    r->reference_v = reference_v;
    if (b->number != number)
        *b = (struct hil_block){number, value_v, value_v};
    b->min = value_v < b->min ? value_v : b->min;
    b->max = value_v > b->max ? value_v : b->max;
}

#include "worst.h"

#include <string.h>

/* Inserts the miss at its rank, if it is bad enough. */
static void keep(struct hil_worst *worst, const struct hil_miss *miss)
{
    uint32_t place = worst->count;

    while (place > 0 && worst->at[place - 1].over_ns < miss->over_ns)
        place--;
    if (place == HIL_WORST)
        return;
    if (worst->count < HIL_WORST)
        worst->count++;
    memmove(&worst->at[place + 1], &worst->at[place],
            (worst->count - 1 - place) * sizeof worst->at[0]);
    worst->at[place] = *miss;
}

void hil_worst_add(struct hil_worst *worst, const struct hil_miss *miss)
{
    uint64_t missed = worst->current.missed + miss->missed;

    if (miss->over_ns >= worst->current.over_ns)
        worst->current = *miss;
    worst->current.missed = missed;
}

void hil_worst_end(struct hil_worst *worst)
{
    keep(worst, &worst->current);
    worst->current = (struct hil_miss){0};
}

void hil_worst_merge(struct hil_worst *to, const struct hil_worst *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        keep(to, &from->at[i]);
    if (from->current.missed)
        keep(to, &from->current);
}

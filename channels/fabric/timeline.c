#include "timeline.h"

#include <errno.h>
#include <stdlib.h>

static bool timeline_before(const struct timeline_entry *a, const struct timeline_entry *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

uint64_t timeline_place(struct timeline *l, unsigned class)
{
    return (uint64_t) class << 56 | l->arrivals++;
}

static void timeline_sift_up(struct timeline *l, size_t hole, struct timeline_entry entry)
{
    while (hole > 0) {
        size_t parent = (hole - 1) / 4;
        if (!timeline_before(&entry, &l->heap[parent]))
            break;
        l->heap[hole] = l->heap[parent];
        hole = parent;
    }
    l->heap[hole] = entry;
}

static void timeline_sift_down(struct timeline *l, size_t hole, struct timeline_entry entry)
{
    for (;;) {
        size_t child = 4 * hole + 1;
        size_t end = child + 4 < l->count ? child + 4 : l->count;
        if (child >= end)
            break;
        size_t least = child;
        for (child++; child < end; child++)
            if (timeline_before(&l->heap[child], &l->heap[least]))
                least = child;
        if (!timeline_before(&l->heap[least], &entry))
            break;
        l->heap[hole] = l->heap[least];
        hole = least;
    }
    l->heap[hole] = entry;
}

int timeline_put(struct timeline *l, uint64_t time, uint64_t place, void *what)
{
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        struct timeline_entry *heap = realloc(l->heap, room * sizeof *heap);
        if (!heap)
            return -ENOMEM;
        l->heap = heap;
        l->room = room;
    }
    timeline_sift_up(l, l->count++, (struct timeline_entry){time, place, what});
    return 0;
}

int timeline_add(struct timeline *l, uint64_t time, unsigned class, void *what)
{
    return timeline_put(l, time, timeline_place(l, class), what);
}

bool timeline_take(struct timeline *l, struct timeline_entry *first)
{
    if (l->count == 0)
        return false;
    *first = l->heap[0];
    struct timeline_entry last = l->heap[--l->count];
    if (l->count > 0)
        timeline_sift_down(l, 0, last);
    return true;
}

void timeline_exchange(struct timeline *l, uint64_t time, uint64_t place, void *what,
                       struct timeline_entry *first)
{
    struct timeline_entry entry = {time, place, what};

    if (l->count == 0 || timeline_before(&entry, &l->heap[0])) {
        *first = entry;
        return;
    }
    *first = l->heap[0];
    timeline_sift_down(l, 0, entry);
}

void timeline_free(struct timeline *l)
{
    free(l->heap);
    *l = (struct timeline){0};
}

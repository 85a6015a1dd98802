#include "../loco/fabric/timeline.h"

#include <errno.h>
#include <stdlib.h>

static bool timeline_before(const struct loco_timeline_entry *a,
                            const struct loco_timeline_entry *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

uint64_t loco_timeline_place(struct loco_timeline *l, unsigned rank)
{
    return (uint64_t)rank << 56 | l->arrivals++;
}

static void timeline_sift_up(struct loco_timeline *l, size_t hole, struct loco_timeline_entry entry)
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

static void timeline_sift_down(struct loco_timeline *l, size_t hole,
                               struct loco_timeline_entry entry)
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

int loco_timeline_put(struct loco_timeline *l, uint64_t time, uint64_t place, void *what)
{
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        struct loco_timeline_entry *heap = realloc(l->heap, room * sizeof *heap);
        if (!heap)
            return -ENOMEM;
        l->heap = heap;
        l->room = room;
    }
    timeline_sift_up(l, l->count++, (struct loco_timeline_entry){time, place, what});
    return 0;
}

int loco_timeline_add(struct loco_timeline *l, uint64_t time, unsigned rank, void *what)
{
    return loco_timeline_put(l, time, loco_timeline_place(l, rank), what);
}

bool loco_timeline_take(struct loco_timeline *l, struct loco_timeline_entry *first)
{
    if (l->count == 0)
        return false;
    *first = l->heap[0];
    struct loco_timeline_entry last = l->heap[--l->count];
    if (l->count > 0)
        timeline_sift_down(l, 0, last);
    return true;
}

void loco_timeline_exchange(struct loco_timeline *l, uint64_t time, uint64_t place, void *what,
                            struct loco_timeline_entry *first)
{
    struct loco_timeline_entry entry = {time, place, what};

    if (l->count == 0 || timeline_before(&entry, &l->heap[0])) {
        *first = entry;
        return;
    }
    *first = l->heap[0];
    timeline_sift_down(l, 0, entry);
}

void loco_timeline_free(struct loco_timeline *l)
{
    free(l->heap);
    *l = (struct loco_timeline){0};
}

/*
 * The order of simulated events: by time, then by rank, then by arrival. The sim fabric uses it,
 * and a program whose loops run in simulated time may use another for their steps. One thread at a
 * time uses a timeline; all zeros is an empty one.
 */
#ifndef LOCO_TIMELINE_H
#define LOCO_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language.h"

LOCO_DECLARATIONS

struct loco_timeline_entry {
    uint64_t time;
    uint64_t order; /* rank in the high byte, then the order of arrival */
    void *what;
};

/* A heap in which each entry has four children: it is shallow, and the four keys to compare are
 * adjacent. */
struct loco_timeline {
    struct loco_timeline_entry *heap;
    size_t count, room;
    uint64_t arrivals;
};

/* Returns 0 or -ENOMEM. */
int loco_timeline_add(struct loco_timeline *line, uint64_t time, unsigned rank, void *what);

/* Reserves the place that an entry added now would have. The entry itself is put onto the line
 * later, by loco_timeline_put. */
uint64_t loco_timeline_place(struct loco_timeline *line, unsigned rank);
int loco_timeline_put(struct loco_timeline *line, uint64_t time, uint64_t place, void *what);

/* Takes the first entry; false when there is none. */
bool loco_timeline_take(struct loco_timeline *line, struct loco_timeline_entry *first);

/* Does loco_timeline_put, then loco_timeline_take, with one change of the heap. */
void loco_timeline_exchange(struct loco_timeline *line, uint64_t time, uint64_t place, void *what,
                            struct loco_timeline_entry *first);

void loco_timeline_free(struct loco_timeline *line);

LOCO_DECLARATIONS_END

#endif

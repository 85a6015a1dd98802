/*
 * The order of simulated events: by time, then by class, then by arrival.
 */
#ifndef LOCO_TIMELINE_H
#define LOCO_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timeline_entry {
    uint64_t time;
    uint64_t order; /* class in the high byte, then the order of arrival */
    void *what;
};

/* A heap in which each entry has four children: it is shallow, and the four keys to compare are
 * adjacent. */
struct timeline {
    struct timeline_entry *heap;
    size_t count, room;
    uint64_t arrivals;
};

/* Returns 0 or -ENOMEM. */
int timeline_add(struct timeline *line, uint64_t time, unsigned class, void *what);

/* Reserves the place that an entry added now would have. The entry itself is put onto the line
 * later, by timeline_put. */
uint64_t timeline_place(struct timeline *line, unsigned class);
int timeline_put(struct timeline *line, uint64_t time, uint64_t place, void *what);

/* Takes the first entry; false when there is none. */
bool timeline_take(struct timeline *line, struct timeline_entry *first);

/* Does timeline_put, then timeline_take, with one change of the heap. */
void timeline_exchange(struct timeline *line, uint64_t time, uint64_t place, void *what,
                       struct timeline_entry *first);

void timeline_free(struct timeline *line);

#endif

#include "tap.h"

#include <unistd.h>

/* Touches the pages that begin within the row, so that each page of interleaved rings is touched by
 * one node only. */
static void tap_touch(uint64_t *row, size_t width, size_t page)
{
    const size_t into = (uintptr_t)row / sizeof *row % page;

    for (size_t i = into ? page - into : 0; i < width; i += page)
        hil_tap_put(&row[i], row[i]);
}

struct hil_tap_ring *hil_tap_open(const struct hil_taps *taps, void *memory, unsigned node)
{
    struct hil_tap_ring *ring = (struct hil_tap_ring *)((char *)memory + taps->rings) + node;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE) / sizeof(uint64_t);

    if (node >= taps->ring_count || !ring->rows)
        return NULL;
    uint64_t *first = hil_tap_at(ring, 0);
    hil_tap_put(first, *first);
    for (uint64_t i = 0; i < ring->rows; i++)
        tap_touch(hil_tap_at(ring, i), ring->width, page);
    /* The previous writer may have died at any point. */
    ring->row = (atomic_load(&ring->count) & (ring->rows - 1)) * ring->stride;
    return ring;
}

#include "tap.h"

#include <unistd.h>

struct hil_tap_ring *hil_tap_open(const struct hil_taps *taps, void *memory, unsigned node)
{
    struct hil_tap_ring *ring = (struct hil_tap_ring *)((char *)memory + taps->rings) + node;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE) / sizeof(uint64_t);

    if (node >= taps->ring_count || !ring->rows)
        return NULL;
    uint64_t *rows = (uint64_t *)((char *)ring + ring->at);
    const size_t size = (size_t)ring->rows * ring->width;
    for (size_t i = 0; i < size; i += page)
        hil_tap_put(&rows[i], rows[i]);
    hil_tap_put(&rows[size - 1], rows[size - 1]);
    /* Who wrote before may have died anywhere. */
    ring->row = (uint32_t)(atomic_load(&ring->count) & (ring->rows - 1)) * ring->width;
    return ring;
}

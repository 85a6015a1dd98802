/*
 * The recent past of a measure, for programs that watch a run: its newest value, its extremes in
 * each hundredth of a second, and the newest reference. One thread adds; others may read at the
 * same time.
 */
#ifndef HIL_RECENT_H
#define HIL_RECENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { HIL_RECENT_BLOCKS = 128, HIL_BLOCK_NS = 10000000 };

struct hil_block {
    _Atomic uint64_t number; /* counted from the start, beginning with 1; 0: empty, or being
                              * restarted */
    _Atomic double min, max;
};

struct hil_recent {
    _Atomic double value, reference;
    struct hil_block blocks[HIL_RECENT_BLOCKS];
};

void hil_recent_add(struct hil_recent *recent, uint64_t t_ns, double reference, double value);

/* The extremes read from a block. */
struct hil_extremes {
    uint64_t number;
    double min, max;
};

/* Reads block i. Returns false if it is empty, or was restarted meanwhile. */
bool hil_recent_read(const struct hil_recent *recent, unsigned i, struct hil_extremes *extremes);

#endif

/*
 * The rows of one node that are kept for a capture: some words of each, of the newest so many.
 */
#ifndef HIL_LANE_H
#define HIL_LANE_H

#include "capture.h"

/* What stands first in a kept row; then the words of the traces. */
enum { LANE_INDEX, LANE_STEP, LANE_TIME, LANE_WORDS };

struct hil_lane {
    struct hil_rows rows;
    unsigned node;
    uint64_t period_ns;
    uint32_t places[HIL_TAP_VALUES + HIL_TRACES_MAX + 1]; /* in the node's rows */
    unsigned count;                                       /* of them */
    uint64_t *kept;                                       /* row i is at i modulo `capacity` */
    uint64_t capacity, end;                               /* rows taken by now */
    uint64_t seen;  /* rows that were looked at for a trigger */
    bool low, high; /* it was beyond the hysteresis there, and not at the level since */
};

/* Opens the lane of a node. Returns 0 or a negative errno. */
int hil_lane_open(struct hil_lane *lane, const struct hil_attached *run, unsigned node);
void hil_lane_close(struct hil_lane *lane);

/* The column of a word among those that are kept, which it is from now on. */
unsigned hil_lane_column(struct hil_lane *lane, uint32_t place);

/* Makes room for so many rows. */
int hil_lane_reserve(struct hil_lane *lane, uint64_t capacity);

/* Takes what the node wrote, up to the first row behind `until_ns`. */
void hil_lane_take(struct hil_lane *lane, uint64_t until_ns);

static inline const uint64_t *hil_lane_row(const struct hil_lane *lane, uint64_t i)
{
    return lane->kept + i % lane->capacity * lane->count;
}

static inline uint64_t hil_lane_begin(const struct hil_lane *lane)
{
    return lane->end > lane->capacity ? lane->end - lane->capacity : 0;
}

/* When the newest row was; 0: there is none. */
static inline uint64_t hil_lane_newest(const struct hil_lane *lane)
{
    return lane->end ? hil_lane_row(lane, lane->end - 1)[LANE_TIME] : 0;
}

/* The first kept row that is not before `t_ns`. */
uint64_t hil_lane_find(const struct hil_lane *lane, uint64_t t_ns);

/* Whether the rows from `from_ns` up to `to_ns` are there, without a gap. What was before the run
 * is not asked for. */
bool hil_lane_covers(const struct hil_lane *lane, uint64_t from_ns, uint64_t to_ns);

#endif

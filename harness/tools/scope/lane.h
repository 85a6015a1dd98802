/*
 * The newest rows of one node that are kept for a capture, reduced to some words each.
 */
#ifndef HIL_LANE_H
#define HIL_LANE_H

#include "capture.h"

/* The first words of a kept row; the words of the traces follow. */
enum { LANE_INDEX, LANE_STEP, LANE_TIME, LANE_WORDS };

struct hil_lane {
    struct hil_rows rows;
    unsigned node;
    uint64_t period_ns;
    uint32_t places[HIL_TAP_VALUES + HIL_TRACES_MAX + 1]; /* word positions in the node's rows */
    unsigned count;                                       /* number of places */
    uint64_t *kept;                                       /* row i is at index i modulo
                                                           * `capacity` */
    uint64_t capacity, end;                               /* number of rows taken so far */
    uint64_t seen;                                        /* rows already searched for a trigger */
    uint64_t lost;  /* rows that were overwritten before they were taken */
    bool low, high; /* since the level was last reached, the signal was beyond the hysteresis on
                     * that side */
};

/* Opens the lane of a node. Returns 0 or a negative errno. */
int hil_lane_open(struct hil_lane *lane, const struct hil_attached *run, unsigned node);
void hil_lane_close(struct hil_lane *lane);

/* The column of a word among the kept words; adds the word if necessary. */
unsigned hil_lane_column(struct hil_lane *lane, uint32_t place);

/* Makes room for this many rows. */
int hil_lane_reserve(struct hil_lane *lane, uint64_t capacity);

/* Takes the rows that the node wrote, up to the first row after `until_ns`. */
void hil_lane_take(struct hil_lane *lane, uint64_t until_ns);

static inline const uint64_t *hil_lane_row(const struct hil_lane *lane, uint64_t i)
{
    return lane->kept + i % lane->capacity * lane->count;
}

static inline uint64_t hil_lane_begin(const struct hil_lane *lane)
{
    return lane->end > lane->capacity ? lane->end - lane->capacity : 0;
}

/* The time of the newest row; 0: there is none. */
static inline uint64_t hil_lane_newest(const struct hil_lane *lane)
{
    return lane->end ? hil_lane_row(lane, lane->end - 1)[LANE_TIME] : 0;
}

/* The first kept row at or after `t_ns`. */
uint64_t hil_lane_find(const struct hil_lane *lane, uint64_t t_ns);

/* Whether all rows from `from_ns` to `to_ns` are kept, without a gap. Times before the run do not
 * count. */
bool hil_lane_covers(const struct hil_lane *lane, uint64_t from_ns, uint64_t to_ns);

#endif

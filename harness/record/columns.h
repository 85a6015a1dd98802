/*
 * The columns of a node's stream, in order:
 *
 *      time_s                  and in real time: step, plant_time_s
 *      for each measure        its value, and its reference if it has one; a measure of each
 *                              signal has no column, since those signals are recorded
 *      the recorded signals    consecutive signals of one component array and one row of its
 *                              model share a column
 *
 * A column of signals is named after their row of the model's table (current_a). If the stream has
 * this name twice, the components' name is put in front (battery.current_a). The column
 * original_current_a has the values that a signal would have without the faults that act on it.
 *
 * Only this module knows the order: code that fills a row asks it where the measures and the
 * signals begin.
 */
#ifndef HIL_COLUMNS_H
#define HIL_COLUMNS_H

#include "../base/pool.h"
#include "../h5/trace.h"
#include "../scenario/system.h"

struct hil_columns {
    struct hil_column *at; /* what they point at belongs to the pool */
    unsigned count;
};

/* Returns 0 or -ENOMEM. */
int hil_columns_of(struct hil_columns *columns, struct hil_pool *pool,
                   const struct hil_scenario *scenario, unsigned node);

/* Positions in a row of the node. The first number is always the time. */
struct hil_row_places {
    bool clocked;      /* the second and third number are the step, and the time that the plant
                        * reached */
    unsigned measures; /* position of the measures: value and reference of each for which
                        * hil_columns_has() */
    unsigned signals;  /* position of the recorded signals, one number each */
    unsigned width;
};

struct hil_row_places hil_columns_places(const struct hil_scenario *scenario, unsigned node);

/* Whether a measure has a place in the rows of its node. */
static inline bool hil_columns_has(const struct hil_measure *measure)
{
    return measure->is.of == 0;
}

#endif

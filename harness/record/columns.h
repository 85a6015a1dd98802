/*
 * The columns of a node's stream, in their order:
 *
 *      time_s                  and against the clock: step, plant_time_s
 *      of each measure         its value, and its reference where it has one; not of those that are
 *                              made of each signal, which are recorded as such
 *      of the recorded         those in a row that are of one component array and one row of its
 *      signals                 model share a column
 *
 * A column of signals is named by their row of the model's table (current_a); where the stream has
 * that name twice, with the components' name before it (battery.current_a). What a signal that
 * faults act on would be without them is original_current_a.
 *
 * This order is known here alone: who fills a row asks where the measures and the signals begin.
 */
#ifndef HIL_COLUMNS_H
#define HIL_COLUMNS_H

#include "../h5/trace.h"
#include "../scenario/pool.h"
#include "../scenario/system.h"

struct hil_columns {
    struct hil_column *at; /* what they point at is the pool's */
    unsigned count;
};

/* Returns 0 or -ENOMEM. */
int hil_columns_of(struct hil_columns *columns, struct hil_pool *pool,
                   const struct hil_scenario *scenario, unsigned node);

/* Where in a row of the node begins what. The first number is always the time. */
struct hil_row_places {
    bool clocked;      /* the second and third are the step, and the time that the plant reached */
    unsigned measures; /* of each of the node's with hil_columns_has() its value, and reference */
    unsigned signals;  /* a number for each of the node's recorded signals */
    unsigned width;
};

struct hil_row_places hil_columns_places(const struct hil_scenario *scenario, unsigned node);

/* Whether a measure has a place in the rows of its node. */
static inline bool hil_columns_has(const struct hil_measure *measure)
{
    return measure->is.of == 0;
}

#endif

/*
 * The recent history of the first measure, as kept by a watcher. It consists of the extremes that
 * the node keeps for each hundredth of a second, so no excursion is missed if the watcher looks at
 * least once a second.
 */
#ifndef HIL_HISTORY_H
#define HIL_HISTORY_H

#include "../../record/recent.h"
#include "chart.h"

enum { HIL_HISTORY_SLICES = 8192 }; /* 82 s */

struct hil_history {
    struct hil_chart_column
        slices[HIL_HISTORY_SLICES]; /* a ring, indexed by HIL_BLOCK_NS since the start */
    uint64_t end;                   /* number of the newest slice + 1 */
};

/* Copies new slices; `recent` may be written meanwhile. */
void hil_history_take(struct hil_history *history, const struct hil_recent *recent);

/* Makes the newest `count` columns of `per` slices each, ending with the newest. Their borders are
 * fixed in time, so a chart scrolls without flicker. */
void hil_history_columns(const struct hil_history *history, unsigned per,
                         struct hil_chart_column *columns, unsigned count);

/* The distance between the extremes in the newest `count` slices; NAN: there are none. */
double hil_history_span(const struct hil_history *history, unsigned count);

#endif

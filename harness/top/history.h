/*
 * The first measure over the last while, as a watcher keeps it: from the hundredths of a second
 * that its node keeps the extremes of. So no excursion is missed, however seldom the watcher looks,
 * as long as that is once a second.
 */
#ifndef HIL_HISTORY_H
#define HIL_HISTORY_H

#include "../record/recent.h"
#include "chart.h"

enum { HIL_HISTORY_SLICES = 8192 }; /* 82 s */

struct hil_history {
    struct hil_chart_column
        slices[HIL_HISTORY_SLICES]; /* a ring, by HIL_BLOCK_NS since the start */
    uint64_t end;                   /* the newest slice's number, and one */
};

/* Takes what is new; `recent` may be written to meanwhile. */
void hil_history_take(struct hil_history *history, const struct hil_recent *recent);

/* The newest `count` columns of `per` slices each, the newest last. Their borders stay where
 * they are as time goes on, so that a chart scrolls and does not flicker. */
void hil_history_columns(const struct hil_history *history, unsigned per,
                         struct hil_chart_column *columns, unsigned count);

/* The distance of the extremes in the newest `count` slices; NAN: there are none. */
double hil_history_span(const struct hil_history *history, unsigned count);

#endif

/*
 * A histogram in a figure: its bars, or its tail.
 */
#ifndef HIL_BARS_H
#define HIL_BARS_H

#include "../h5/histogram.h"
#include "figure.h"

/* Writes the data file SERIES-I: "from_us to_us count" for each bar that is not empty. On a
 * logarithmic axis all bars have the same width. A time of 0 counts as 1 ns. */
void hil_figure_bars(struct hil_figure *figure, const char *series, unsigned i,
                     const struct hil_histogram *histogram);

/* Writes "us share": the share of all values that are as great or greater. */
void hil_figure_tail(struct hil_figure *figure, const char *series, unsigned i,
                     const struct hil_histogram *histogram);

#endif

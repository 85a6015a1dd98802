/*
 * Draws the figures of an analysis as PNG and SVG in a folder:
 *
 *      trace-time        how late and how long the steps and round trips were over time, with
 * misses trace-histogram   their distribution, with counts on a logarithmic axis trace-tail the
 * share of steps that were later than a time
 */
#ifndef HIL_TRACE_FIGURES_H
#define HIL_TRACE_FIGURES_H

#include "analysis.h"

/* Reports to `messages` which figures it drew. Returns 0 or a negative errno; -ENOPKG without
 * gnuplot. */
int hil_trace_figures(const struct hil_analysis *analysis, const char *dir, FILE *messages);

#endif

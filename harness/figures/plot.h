/*
 * Figures of what was recorded, as PNG and SVG.
 */
#ifndef HIL_PLOT_H
#define HIL_PLOT_H

#include <stdio.h>

#include "../h5/compare_events.h"

/* The part of the time that is drawn, in s since the start: 0 to INFINITY is all of it. */
struct hil_plot_span {
    double from_s, to_s;
};

/*
 * Draws into DIR what belongs there.
 *
 * Of a run (it has trace.h5, and its results in summary.json):
 *      of each measure     all of it and the start-up, beside the reference
 *      of each array       its signals, their mean, and how far each swings
 *      of each node        its other signals, a row for each unit
 *      latency     how late the loops were, how long they took, how old their inputs were
 *      tail        the same as shares: how often it took longer than so long
 * Of a sweep (it has sweep.json, and runs in folders):
 *      figure                   the first measure for each value, in a panel each
 *      figure-startup           the same, zoomed on the start-up
 *      figure-overlay           all in one panel
 *      figure-startup-overlay
 *      round-trip               of the loop against a node's period, where that varies
 *      map-verdict, map-settling, map-overshoot, map-pp
 *                               where two keys vary: a cell for each run
 * A figure whose data was not recorded is left out. Of a part of the time, those figures are
 * drawn that have time as their axis, and only that part of them: no start-up.
 *
 * Says to `messages` what it drew, or in a line why not. Returns 0 or a negative errno:
 * -ENOENT when DIR is neither, -ERANGE when nothing was recorded in this span, -ENOPKG when there
 * is no gnuplot.
 */
int hil_plot(const char *dir, struct hil_plot_span span, FILE *messages);

/* Draws two sweeps over the same values into the first one's folder, as figure-beside: in two
 * columns, with the missed deadlines of the second. Returns as hil_plot does. */
int hil_plot_beside(const char *dir, const char *other, struct hil_plot_span span, FILE *messages);

/* Draws how far the records in two folders are apart, and marks events that differ, into the second
 * one, as compare. Returns as hil_plot does. */
int hil_plot_compare(const char *first_dir, const char *second_dir,
                     const struct hil_trace_reader *first, const struct hil_trace_reader *second,
                     const struct hil_comparison *comparison,
                     const struct hil_event_comparison *events, FILE *messages);

#endif

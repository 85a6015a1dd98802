/*
 * Draws figures of recorded runs as PNG and SVG.
 */
#ifndef HIL_PLOT_H
#define HIL_PLOT_H

#include <stdio.h>

#include "../h5/compare_events.h"

/* The time span to draw, in s since the start. 0 to INFINITY is the whole run. */
struct hil_plot_span {
    double from_s, to_s;
};

/*
 * Draws the figures that belong to DIR into the folder `to`, or into DIR if that is NULL.
 *
 * For a run (which has trace.h5, and its results in summary.json):
 *      one for each measure    the whole run and what is around each event, with the reference
 *      one for each array      its signals, their mean, and how far each swings
 *      one for each node       its other signals, a row for each unit
 *      latency                 how late the loops were, how long they took, the age of their inputs
 *      tail                    the same as shares: how often each time was exceeded
 * For a sweep (which has sweep.json, and runs in folders):
 *      figure                   the first measure for each value, in a panel each
 *      figure-startup           the same, zoomed on the start-up
 *      figure-overlay           all in one panel
 *      figure-startup-overlay
 *      round-trip               the loop's, against a node's period, if that varies
 *      map-verdict, map-settling, map-overshoot, map-rise, map-error, map-pp
 *                               if two keys vary: a cell for each run
 * A figure is left out if its data was not recorded. If the span is only a part of the time, just
 * the figures with a time axis are drawn, cut to the span and without the start-up.
 *
 * Reports on `messages` what it drew, or why it drew nothing. Returns 0 or a negative errno:
 * -ENOENT when DIR is neither a run nor a sweep, -ERANGE when nothing was recorded in the span,
 * -ENOPKG when gnuplot is missing.
 */
int hil_plot(const char *dir, const char *to, struct hil_plot_span span, FILE *messages);

/* Draws two sweeps over the same values in two columns, with the missed deadlines of the second, as
 * figure-beside in `to`, or the first one's folder if that is NULL. Returns as hil_plot does. */
int hil_plot_beside(const char *dir, const char *other, const char *to, struct hil_plot_span span,
                    FILE *messages);

/*
 * Draws signals of one or more runs over each other, in a panel for each unit, as `signals` in
 * `to`, or the first run's folder if that is NULL. `signals` are names as in the scenario, with
 * commas between them: "output_v,cell[*].current_a". Returns as hil_plot does; -EINVAL when no run
 * has a signal, or there are too many.
 */
int hil_plot_signals(const char *const *dirs, unsigned count, const char *signals, const char *to,
                     struct hil_plot_span span, FILE *messages);

/* Draws how far the records in two folders are apart, and marks the events that differ, as
 * `compare` in `to`, or the second folder if that is NULL. Returns as hil_plot does. */
int hil_plot_compare(const char *first_dir, const char *second_dir, const char *to,
                     const struct hil_trace_reader *first, const struct hil_trace_reader *second,
                     const struct hil_comparison *comparison,
                     const struct hil_event_comparison *events, FILE *messages);

#endif

/*
 * Figures of what was recorded, as PNG and SVG.
 */
#ifndef HIL_PLOT_H
#define HIL_PLOT_H

#include <stdio.h>

/*
 * Draws into DIR what belongs there.
 *
 * Of a run (it has trace.h5, and its results in summary.json):
 *      output      the output voltage, all of it and the start-up, beside the reference
 *      voltages    that of each converter
 *      duty        the duty cycle of each converter
 *      latency     how late the loops were, how long they took, how old their inputs were
 * Of a sweep (it has sweep.json, and runs in folders):
 *      figure                   the output voltage for each value, in a panel each
 *      figure-startup           the same, zoomed on the start-up
 *      figure-overlay           all in one panel
 *      figure-startup-overlay
 * A figure whose data was not recorded is left out.
 *
 * Says to `messages` what it drew, or in a line why not. Returns 0 or a negative errno:
 * -ENOENT when DIR is neither, -ENOPKG when there is no gnuplot.
 */
int hil_plot(const char *dir, FILE *messages);

#endif

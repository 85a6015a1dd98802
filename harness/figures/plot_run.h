/*
 * The figures of one run, one file each.
 */
#ifndef HIL_PLOT_RUN_H
#define HIL_PLOT_RUN_H

#include "plot_signals.h"
#include "plot_views.h"

/* Each returns 0, or a negative errno after a message. */

int plot_run_draw_measure(const struct plot_run *run, const struct plot_measure *measure,
                          const char *name, struct hil_plot_span span);

/* The signals of an array, side by side. */
int plot_run_draw_array(const struct plot_run *run, const struct plot_group *group,
                        const char *name, const struct plot_views *views);

/* A node's signals that are not arrays: a panel for each unit. */
int plot_run_draw_node(const struct plot_run *run, const struct plot_groups *groups,
                       const char *node, const char *name, const struct plot_views *views);

/* A histogram of each measured time, drawn by the script. */
int plot_run_draw_histograms(const struct plot_run *run, const char *name, const char *title,
                             const char *script);

#endif

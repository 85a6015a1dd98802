/*
 * The figures of one run, a file each.
 */
#ifndef HIL_PLOT_RUN_H
#define HIL_PLOT_RUN_H

#include "plot_signals.h"
#include "plot_views.h"

/* Each returns 0, or a negative errno after a message. */

int plot_run_draw_measure(const struct plot_run *run, const struct plot_measure *measure,
                          const char *name, struct hil_plot_span span);

/* The signals of an array, one beside the other. */
int plot_run_draw_array(const struct plot_run *run, const struct plot_group *group,
                        const char *name, const struct plot_views *views);

/* The signals of a node that are no arrays: a panel for each unit. */
int plot_run_draw_node(const struct plot_run *run, const struct plot_groups *groups,
                       const char *node, const char *name, const struct plot_views *views);

/* A histogram of each time that was measured, as the script draws it. */
int plot_run_draw_histograms(const struct plot_run *run, const char *name, const char *title,
                             const char *script);

#endif

/*
 * The two views of a figure with a time axis: the whole run, and its beginning.
 */
#ifndef HIL_PLOT_VIEWS_H
#define HIL_PLOT_VIEWS_H

#include "plot_data.h"

enum plot_run_view { PLOT_WHOLE, PLOT_BEGINNING, PLOT_RUN_VIEWS };

/* If only a part of the run is drawn, both views are that part. */
struct plot_views {
    struct plot_window windows[PLOT_RUN_VIEWS];
    struct plot_steady steady; /* the shaded window */
    bool is_part;
};

/* The views that the measure needs; a measure without a name stands for no measure. */
struct plot_views plot_views_of(const struct plot_run *run, const struct plot_measure *measure,
                                struct hil_plot_span span);

/* A curve in both views. */
struct plot_pair {
    struct hil_envelope views[PLOT_RUN_VIEWS];
};

int plot_pair_open(struct plot_pair *pair, const struct plot_views *views); /* 0 or -ENOMEM */
void plot_pair_close(struct plot_pair *pair);
void plot_pair_add(struct plot_pair *pair, double time_s, double value);

/* A plot_each_fn that adds a point, for a column of one number per row. */
void plot_pair_each(void *pair, double time_s, const double *value);

/* Writes the pair to the files SERIES-1 and SERIES-2. */
void plot_pair_draw(struct hil_figure *figure, const char *series, const struct plot_pair *pair,
                    const struct plot_views *views);

/* Sets the y axis of each view to fit these two curves. */
void plot_pair_ranges(struct hil_figure *figure, const struct plot_pair *one,
                      const struct plot_pair *other);

/* Opens a figure with its title and a subtitle that says what ran. Returns 0 or a negative errno.
 */
int plot_views_open(struct hil_figure *figure, const struct plot_run *run, const char *name,
                    const char *title);

/* Sets the time axes, the events, and the window of the steady state. */
void plot_views_set(struct hil_figure *figure, const struct plot_run *run,
                    const struct plot_views *views);

/* Reports that memory ran out. Returns -ENOMEM. */
int plot_no_memory(const struct plot_run *run);

#endif

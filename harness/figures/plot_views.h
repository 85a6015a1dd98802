/*
 * The figures of a run that have time as their axis show it twice: all of it, and its beginning.
 */
#ifndef HIL_PLOT_VIEWS_H
#define HIL_PLOT_VIEWS_H

#include "plot_data.h"

enum plot_run_view { PLOT_WHOLE, PLOT_BEGINNING, PLOT_RUN_VIEWS };

/* Of a part of the run, both are that part. */
struct plot_views {
    struct plot_window windows[PLOT_RUN_VIEWS];
    struct plot_steady steady; /* the window that is shaded */
    bool is_part;
};

/* As the measure needs them; one without a name is of none. */
struct plot_views plot_views_of(const struct plot_run *run, const struct plot_measure *measure,
                                struct hil_plot_span span);

/* A curve in both views. */
struct plot_pair {
    struct hil_envelope views[PLOT_RUN_VIEWS];
};

int plot_pair_open(struct plot_pair *pair, const struct plot_views *views); /* 0 or -ENOMEM */
void plot_pair_close(struct plot_pair *pair);
void plot_pair_add(struct plot_pair *pair, double time_s, double value);

/* The same as a plot_each_fn, for a column of one number a row. */
void plot_pair_each(void *pair, double time_s, const double *value);

/* Writes it to the files SERIES-1 and SERIES-2. */
void plot_pair_draw(struct hil_figure *figure, const char *series, const struct plot_pair *pair,
                    const struct plot_views *views);

/* Sets the axis of each view: as long as these two curves need. */
void plot_pair_ranges(struct hil_figure *figure, const struct plot_pair *one,
                      const struct plot_pair *other);

/* Opens a figure with its title, and what ran under it. Returns 0 or a negative errno. */
int plot_views_open(struct hil_figure *figure, const struct plot_run *run, const char *name,
                    const char *title);

/* Sets the axes of time, the events and the window of the steady state. */
void plot_views_set(struct hil_figure *figure, const struct plot_run *run,
                    const struct plot_views *views);

/* Says that there is no memory: -ENOMEM. */
int plot_no_memory(const struct plot_run *run);

#endif

/*
 * The views of a figure with a time axis: the whole run, and what is around its events.
 */
#ifndef HIL_PLOT_VIEWS_H
#define HIL_PLOT_VIEWS_H

#include "plot_data.h"

/* A figure with two views has one around an event. A figure of a measure has one for each event,
 * but for the last ones if they are many. */
enum plot_run_view { PLOT_WHOLE, PLOT_EVENT, PLOT_TWO_VIEWS, PLOT_RUN_VIEWS = 7 };

/* If only a part of the run is drawn, there are two views, both of that part. */
struct plot_views {
    unsigned count;
    struct plot_window windows[PLOT_RUN_VIEWS];
    struct hil_summary_reader_event events[PLOT_RUN_VIEWS]; /* of each but the first */
    unsigned left_out;                                      /* events without a view */
    struct plot_steady steady;                              /* the shaded window */
    bool is_part;
};

/* The two views that the measure needs; a measure without a name stands for no measure. The second
 * is of the start-up or, if nothing happens in that, of the first event after it. */
struct plot_views plot_views_of(const struct plot_run *run, const struct plot_measure *measure,
                                struct hil_plot_span span);

/* The views of a measure's own figure. */
struct plot_views plot_views_of_events(const struct plot_run *run,
                                       const struct plot_measure *measure,
                                       struct hil_plot_span span);

/* A curve in all views. */
struct plot_pair {
    struct hil_envelope views[PLOT_RUN_VIEWS];
    unsigned count;
};

int plot_pair_open(struct plot_pair *pair, const struct plot_views *views); /* 0 or -ENOMEM */
void plot_pair_close(struct plot_pair *pair);

/* Each value holds until the next, so the curve has steps. */
void plot_pair_hold(struct plot_pair *pair);

void plot_pair_add(struct plot_pair *pair, double time_s, double value);

/* A plot_each_fn that adds a point, for a column of one number per row. */
void plot_pair_each(void *pair, double time_s, const double *value);

/* Writes the pair to the files SERIES-1, SERIES-2 ... */
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

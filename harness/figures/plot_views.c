#include "plot_views.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct plot_views plot_views_of(const struct plot_run *run, const struct plot_measure *measure,
                                struct hil_plot_span span)
{
    const struct plot_window all = plot_window(span.from_s, span.to_s);
    const bool is_part = plot_span_is_part(span, run->duration_s);
    const double startup_s = plot_run_startup(run, measure);

    return (struct plot_views){
        .windows = {all, is_part ? all : plot_window(0, startup_s)},
        .steady = {measure->told.figures.from_s, measure->told.figures.to_s},
        .is_part = is_part,
    };
}

int plot_no_memory(const struct plot_run *run)
{
    fprintf(run->messages, "%s: %s\n", run->dir, strerror(ENOMEM));
    return -ENOMEM;
}

/* --- curves ----------------------------------------------------------------------------------- */

int plot_pair_open(struct plot_pair *pair, const struct plot_views *views)
{
    int rc = 0;

    for (int view = 0; view < PLOT_RUN_VIEWS && !rc; view++)
        rc = hil_envelope_init(&pair->views[view], views->windows[view].from_s,
                               views->windows[view].to_s, HIL_FIGURE_COLUMNS);
    return rc;
}

void plot_pair_close(struct plot_pair *pair)
{
    for (int view = 0; view < PLOT_RUN_VIEWS; view++)
        hil_envelope_fini(&pair->views[view]);
}

void plot_pair_add(struct plot_pair *pair, double time_s, double value)
{
    for (int view = 0; view < PLOT_RUN_VIEWS; view++)
        hil_envelope_add(&pair->views[view], time_s, value);
}

void plot_pair_each(void *pair, double time_s, const double *value)
{
    plot_pair_add(pair, time_s, *value);
}

void plot_pair_draw(struct hil_figure *figure, const char *series, const struct plot_pair *pair,
                    const struct plot_views *views)
{
    for (unsigned view = 0; view < PLOT_RUN_VIEWS; view++)
        plot_curve(figure, series, view + 1, &pair->views[view], &views->windows[view]);
}

void plot_pair_ranges(struct hil_figure *figure, const struct plot_pair *one,
                      const struct plot_pair *other)
{
    for (unsigned view = 0; view < PLOT_RUN_VIEWS; view++) {
        struct plot_range range = {INFINITY, -INFINITY};

        plot_range_include(&range, &one->views[view]);
        plot_range_include(&range, &other->views[view]);
        plot_range_set(figure, view + 1, range);
    }
}

/* --- titles, axes and marks ------------------------------------------------------------------- */

int plot_views_open(struct hil_figure *figure, const struct plot_run *run, const char *name,
                    const char *title)
{
    const char *invalid = hil_summary_reader_invalid(&run->told);
    char subtitle[PLOT_TEXT_BYTES];
    const int rc = hil_figure_open(figure, run->to, name, run->messages);
    if (rc)
        return rc;

    plot_run_describe(run, subtitle);
    hil_figure_text(figure, "title", "%s", title);
    hil_figure_text(figure, "subtitle", "%s%s%.255s", subtitle, invalid[0] ? "; NOT VALID: " : "",
                    invalid);
    return 0;
}

static void set_windows(struct hil_figure *figure, const struct plot_views *views)
{
    const struct plot_window *all = &views->windows[PLOT_WHOLE],
                             *second = &views->windows[PLOT_BEGINNING];

    fprintf(figure->values, "is_part = %d\narray x_from[2] = [%.12g, %.12g]\n", views->is_part,
            all->from_s * all->scale, second->from_s * second->scale);
    fprintf(figure->values, "array x_to[2] = [%.12g, %.12g]\n", all->to_s * all->scale,
            second->to_s * second->scale);
    fprintf(figure->values, "array x_label[2] = ['%s', '%s%s']\n", all->label, second->label,
            views->is_part ? "" : ": start-up");
}

void plot_views_set(struct hil_figure *figure, const struct plot_run *run,
                    const struct plot_views *views)
{
    set_windows(figure, views);
    plot_events_open(figure, PLOT_RUN_VIEWS);
    for (unsigned view = 0; view < PLOT_RUN_VIEWS; view++)
        plot_events_set(figure, view + 1, &run->events, views->steady, views->windows[view].from_s,
                        views->windows[view].to_s, views->windows[view].scale);
    plot_events_set_texts(figure, &run->events, views->windows[PLOT_WHOLE].from_s,
                          views->windows[PLOT_WHOLE].to_s);
}

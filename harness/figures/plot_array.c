/*
 * The figure of an array's signals: their range and mean over the whole run, each signal over the
 * beginning, and how far each still swings at the end.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_run.h"

/* More lines than this would merge into one dark patch; then every second, third ... is drawn. */
enum { LINES_MAX = 64 };

struct lines {
    unsigned count, step;  /* number of signals; one in every `step` is drawn */
    unsigned first, width; /* the signals of the current column */
    bool together;         /* one column has all signals: each row has a mean */
    double last_from_s, last_to_s;
    struct plot_pair mean, band; /* band: the range of all signals */
    struct plot_pair *drawn;
    struct plot_range *last; /* range of each signal in the steady-state window */
};

static void add_of_one(struct lines *lines, unsigned i, double time_s, double value)
{
    plot_pair_add(&lines->band, time_s, value);
    if (i % lines->step == 0)
        plot_pair_add(&lines->drawn[i / lines->step], time_s, value);
    if (time_s < lines->last_from_s || time_s > lines->last_to_s)
        return;
    lines->last[i].low = fmin(lines->last[i].low, value);
    lines->last[i].high = fmax(lines->last[i].high, value);
}

/* If the nodes record their own signals, each has its own times, so there is neither a mean nor a
 * band. */
static void add_row(void *arg, double time_s, const double *values)
{
    struct lines *lines = arg;
    double sum = 0;

    for (unsigned i = 0; i < lines->width; i++) {
        sum += values[i];
        add_of_one(lines, lines->first + i, time_s, values[i]);
    }
    if (lines->together)
        plot_pair_add(&lines->mean, time_s, sum / lines->count);
}

static unsigned line_count(const struct lines *lines)
{
    return (lines->count - 1) / lines->step + 1;
}

/* The beginning of the steady-state window. Without a summary that has one, it is the later
 * half. */
static double last_from(const struct plot_run *run, const struct plot_views *views)
{
    if (views->is_part)
        return views->windows[PLOT_WHOLE].from_s;
    return isfinite(views->steady.from_s) ? views->steady.from_s : run->duration_s / 2;
}

static void hold_lines(struct lines *lines)
{
    plot_pair_hold(&lines->mean);
    for (unsigned i = 0; i < line_count(lines); i++)
        plot_pair_hold(&lines->drawn[i]);
}

static int open_lines(struct lines *lines, const struct plot_run *run,
                      const struct plot_group *group, const struct plot_views *views)
{
    *lines = (struct lines){
        .count = group->count,
        .step = (group->count - 1) / LINES_MAX + 1,
        .together = group->column_count == 1 && !group->own,
        .last_from_s = last_from(run, views),
        .last_to_s = views->windows[PLOT_WHOLE].to_s,
    };
    lines->drawn = calloc(line_count(lines), sizeof *lines->drawn);
    lines->last = malloc(lines->count * sizeof *lines->last);
    if (!lines->drawn || !lines->last)
        return -ENOMEM;

    int rc = plot_pair_open(&lines->mean, views);
    if (!rc)
        rc = plot_pair_open(&lines->band, views);
    for (unsigned i = 0; i < line_count(lines) && !rc; i++)
        rc = plot_pair_open(&lines->drawn[i], views);
    for (unsigned i = 0; i < lines->count; i++)
        lines->last[i] = (struct plot_range){INFINITY, -INFINITY};
    if (hil_column_is_held(group->like))
        hold_lines(lines);
    return rc;
}

static void close_lines(struct lines *lines)
{
    for (unsigned i = 0; lines->drawn && i < line_count(lines); i++)
        plot_pair_close(&lines->drawn[i]);
    plot_pair_close(&lines->mean);
    plot_pair_close(&lines->band);
    free(lines->drawn);
    free(lines->last);
}

/* The axis of the swings spans at least a hundredth of the greatest value: anything smaller is
 * flat. */
static double least_spread(const struct lines *lines)
{
    struct plot_range range = {0, 0};

    plot_range_include(&range, &lines->band.views[PLOT_WHOLE]);
    const double greatest = fmax(-range.low, range.high);
    return greatest > 0 ? 0.01 * greatest : 1;
}

/* Writes how far each signal swings, "number peak-to-peak", and the axis for it. */
static void plot_spread(struct hil_figure *figure, const struct lines *lines)
{
    FILE *data = hil_figure_data(figure, "spread", 1);
    double greatest = 0;

    if (!data)
        return;
    for (unsigned i = 0; i < lines->count; i++) {
        const double spread = fmax(0, lines->last[i].high - lines->last[i].low);

        fprintf(data, "%u %.9g\n", i, spread);
        greatest = fmax(greatest, spread);
    }
    fprintf(figure->values, "spread_to = %.9g\n", fmax(1.08 * greatest, least_spread(lines)));
    hil_figure_data_end(figure, data);
}

static void set_words(struct hil_figure *figure, const struct plot_group *group)
{
    char words[PLOT_TEXT_BYTES], unit[40];

    plot_in_unit(group->like->unit, unit);
    plot_group_words(group, words);
    hil_figure_text(figure, "y_label", "%s%s", words, unit);
    hil_figure_text(figure, "spread_label", "peak to peak%s", unit);
    plot_group_each(group, words);
    hil_figure_text(figure, "each", "%s", words);
}

static int draw_lines(const struct plot_run *run, const struct plot_group *group, const char *name,
                      const struct plot_views *views, const struct lines *lines)
{
    char title[PLOT_TEXT_BYTES];
    struct hil_figure figure;

    plot_group_title(group, title);
    const int rc = plot_views_open(&figure, run, name, title);
    if (rc)
        return rc;

    fprintf(figure.values, "n = %u\nlines = %u\nlast_from = %.12g\nlast_to = %.12g\nown = %d\n",
            lines->count, line_count(lines), lines->last_from_s, lines->last_to_s,
            !lines->together);
    set_words(&figure, group);
    plot_views_set(&figure, run, views);
    plot_band(&figure, "band", 1, &lines->band.views[PLOT_WHOLE], &views->windows[PLOT_WHOLE]);
    plot_pair_draw(&figure, "mean", &lines->mean, views);
    for (unsigned i = 0; i < line_count(lines); i++) {
        const struct hil_envelope *drawn = lines->drawn[i].views;
        if (!lines->together)
            plot_curve(&figure, "whole", i + 1, &drawn[PLOT_WHOLE], &views->windows[PLOT_WHOLE]);
        plot_curve(&figure, "line", i + 1, &drawn[PLOT_EVENT], &views->windows[PLOT_EVENT]);
    }
    plot_spread(&figure, lines);
    plot_pair_ranges(&figure, &lines->band, &lines->mean);
    return hil_figure_draw(&figure, "run-array.gp");
}

static int scan_lines(const struct plot_run *run, const struct plot_group *group,
                      struct lines *lines)
{
    int rc = 0;

    for (unsigned i = 0; i < group->column_count && !rc; i++) {
        const struct plot_column *c = &group->columns[i];
        lines->width = run->streams[c->stream].columns[c->column].width;
        rc = plot_run_scan(run, c->stream, c->column, add_row, lines);
        lines->first += lines->width;
    }
    return rc;
}

int plot_run_draw_array(const struct plot_run *run, const struct plot_group *group,
                        const char *name, const struct plot_views *views)
{
    struct lines lines;
    int rc = open_lines(&lines, run, group, views);

    if (rc)
        rc = plot_no_memory(run);
    if (!rc)
        rc = scan_lines(run, group, &lines);
    if (!rc)
        rc = draw_lines(run, group, name, views, &lines);
    close_lines(&lines);
    return rc;
}

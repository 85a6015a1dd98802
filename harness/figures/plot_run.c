/* The figures of one run. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../foreign.h"
#include "bars.h"
#include "plot_data.h"

/* All of the run, and its beginning. */
enum view { ALL, STARTUP, VIEWS };

/* Of a part of the run, both are that part. */
struct views {
    struct plot_window windows[VIEWS];
    bool is_part;
};

static struct views views_of(const struct plot_run *run, struct hil_plot_span span)
{
    const struct plot_window all = plot_window(span.from_s, span.to_s);
    const bool is_part = plot_span_is_part(span, run->duration_s);

    return (struct views){{all, is_part ? all : plot_window(0, plot_run_startup(run))}, is_part};
}

static int open_views(struct hil_envelope envelopes[VIEWS], const struct views *views)
{
    int rc = 0;

    for (int view = 0; view < VIEWS && !rc; view++)
        rc = hil_envelope_init(&envelopes[view], views->windows[view].from_s,
                               views->windows[view].to_s, HIL_FIGURE_COLUMNS);
    return rc;
}

static void close_views(struct hil_envelope envelopes[VIEWS])
{
    for (int view = 0; view < VIEWS; view++)
        hil_envelope_fini(&envelopes[view]);
}

static void add_to_views(struct hil_envelope envelopes[VIEWS], double time_s, double value)
{
    for (int view = 0; view < VIEWS; view++)
        hil_envelope_add(&envelopes[view], time_s, value);
}

/* A curve of both views, in files SERIES-1 and SERIES-2. */
static void plot_views(struct hil_figure *figure, const char *series,
                       const struct hil_envelope envelopes[VIEWS], const struct views *views)
{
    for (unsigned view = 0; view < VIEWS; view++)
        plot_curve(figure, series, view + 1, &envelopes[view], &views->windows[view]);
}

/* Each view's axis is as long as its own curves need. */
static void plot_view_ranges(struct hil_figure *figure, const struct hil_envelope one[VIEWS],
                             const struct hil_envelope other[VIEWS])
{
    for (unsigned view = 0; view < VIEWS; view++) {
        struct plot_range range = {INFINITY, -INFINITY};

        plot_range_include(&range, &one[view]);
        plot_range_include(&range, &other[view]);
        plot_range_set(figure, view + 1, range);
    }
}

static int open_figure(struct hil_figure *figure, const struct plot_run *run, const char *name,
                       const char *title)
{
    char subtitle[PLOT_TEXT_BYTES];
    const int rc = hil_figure_open(figure, run->dir, name, run->messages);
    if (rc)
        return rc;

    plot_run_describe(run, subtitle);
    hil_figure_text(figure, "title", "%s", title);
    hil_figure_text(figure, "subtitle", "%s%s%s", subtitle, run->invalid[0] ? "; NOT VALID: " : "",
                    run->invalid);
    return 0;
}

static void set_windows(struct hil_figure *figure, const struct views *views)
{
    const struct plot_window *all = &views->windows[ALL], *second = &views->windows[STARTUP];

    fprintf(figure->values, "is_part = %d\narray x_from[2] = [%.12g, %.12g]\n", views->is_part,
            all->from_s * all->scale, second->from_s * second->scale);
    fprintf(figure->values, "array x_to[2] = [%.12g, %.12g]\n", all->to_s * all->scale,
            second->to_s * second->scale);
    fprintf(figure->values, "array x_label[2] = ['%s', '%s%s']\n", all->label, second->label,
            views->is_part ? "" : ": start-up");
}

static int no_memory(const struct plot_run *run)
{
    fprintf(run->messages, "%s: %s\n", run->dir, strerror(ENOMEM));
    return -ENOMEM;
}

static void set_events(struct hil_figure *figure, const struct plot_run *run,
                       const struct views *views)
{
    plot_events_open(figure, VIEWS);
    for (unsigned view = 0; view < VIEWS; view++)
        plot_events_set(figure, view + 1, &run->events, views->windows[view].from_s,
                        views->windows[view].to_s, views->windows[view].scale);
    plot_events_set_texts(figure, &run->events, views->windows[ALL].from_s,
                          views->windows[ALL].to_s);
}

/* --- the output ---------------------------------------------------------------------------- */

static void add_vector(void *envelopes, double time_s, const double *value)
{
    add_to_views(envelopes, time_s, *value);
}

static void add_missed(void *envelopes, double time_s)
{
    add_to_views(envelopes, time_s, 0);
}

/* One mark for each of the picture's columns in which steps were missed. Returns how many those
 * are. */
static unsigned plot_marks(struct hil_figure *figure, unsigned view,
                           const struct hil_envelope *missed, double x_scale)
{
    FILE *data = hil_figure_data(figure, "missed", view + 1);
    const double width = (missed->to - missed->from) / missed->column_count;
    unsigned count = 0;

    if (!data)
        return 0;
    for (unsigned i = 0; i < missed->column_count; i++) {
        if (missed->columns[i].count == 0)
            continue;
        fprintf(data, "%.9g\n", (missed->from + width * (i + 0.5)) * x_scale);
        count++;
    }
    hil_figure_data_end(figure, data);
    return count;
}

static void plot_missed(struct hil_figure *figure, const struct hil_envelope missed[VIEWS],
                        const struct views *views)
{
    unsigned counts[VIEWS];

    for (unsigned view = 0; view < VIEWS; view++)
        counts[view] = plot_marks(figure, view, &missed[view], views->windows[view].scale);
    fprintf(figure->values, "missed = %u\n", counts[ALL]);
}

static int draw_output(const struct plot_run *run, const struct views *views,
                       const struct hil_envelope output[VIEWS],
                       const struct hil_envelope reference[VIEWS],
                       const struct hil_envelope missed[VIEWS])
{
    char note[PLOT_TEXT_BYTES], overshoot[PLOT_TEXT_BYTES], steady[PLOT_TEXT_BYTES];
    struct hil_figure figure;
    const int rc = open_figure(&figure, run, "output", "Output voltage");
    if (rc)
        return rc;

    plot_run_judge(run, note);
    hil_figure_text(&figure, "note", "%s", note);
    plot_run_steady(run, steady);
    overshoot[0] = '\0';
    if (isfinite(run->overshoot_pct))
        snprintf(overshoot, sizeof(overshoot), "overshoot %.3g %%%s", run->overshoot_pct,
                 steady[0] ? "; " : "");
    hil_figure_text(&figure, "overshoot", "%s%s%s", overshoot, steady,
                    steady[0] ? " (shaded)" : "");
    hil_figure_text(&figure, "y_label", "sum of all converters (V)");
    set_windows(&figure, views);
    set_events(&figure, run, views);
    plot_views(&figure, "output", output, views);
    plot_views(&figure, "reference", reference, views);
    plot_missed(&figure, missed, views);
    plot_view_ranges(&figure, output, reference);
    return hil_figure_draw(&figure, "run-output.gp");
}

static int figure_output(const struct plot_run *run, const struct views *views)
{
    struct hil_envelope output[VIEWS] = {0}, reference[VIEWS] = {0}, missed[VIEWS] = {0};
    int rc = open_views(output, views);

    if (!rc)
        rc = open_views(reference, views);
    if (!rc)
        rc = open_views(missed, views);
    if (rc)
        rc = no_memory(run);
    if (!rc)
        rc = plot_run_scan(run, run->stream, run->output, add_vector, output);
    if (!rc)
        rc = plot_run_scan(run, run->stream, run->reference, add_vector, reference);
    if (!rc)
        rc = plot_run_each_missed(run, add_missed, missed);
    if (!rc)
        rc = draw_output(run, views, output, reference, missed);
    close_views(output);
    close_views(reference);
    close_views(missed);
    return rc;
}

/* --- the converters ------------------------------------------------------------------------ */

/* Lines beyond this many are one dark patch; then every second, third ... is drawn. */
enum { LINES_MAX = 64 };

struct converters {
    unsigned count, line_step;
    unsigned at_hand;
    double last_from_s, last_to_s;
    struct hil_envelope mean[VIEWS], band[VIEWS]; /* band: of all converters' values */
    struct hil_envelope (*lines)[VIEWS];
    struct plot_range *last; /* each converter's, in the window */
};

static void add_of_one(struct converters *converters, unsigned i, double time_s, double value)
{
    add_to_views(converters->band, time_s, value);
    if (i % converters->line_step == 0)
        add_to_views(converters->lines[i / converters->line_step], time_s, value);
    if (time_s < converters->last_from_s || time_s > converters->last_to_s)
        return;
    converters->last[i].low = fmin(converters->last[i].low, value);
    converters->last[i].high = fmax(converters->last[i].high, value);
}

/* Of all converters, as the controller records them. */
static void add_matrix(void *arg, double time_s, const double *values)
{
    struct converters *converters = arg;
    double sum = 0;

    for (unsigned i = 0; i < converters->count; i++) {
        sum += values[i];
        add_of_one(converters, i, time_s, values[i]);
    }
    add_to_views(converters->mean, time_s, sum / converters->count);
}

/* Of the converter at hand, as it records itself: each has times of its own, and so there is no
 * mean, nor a band. */
static void add_own(void *arg, double time_s, const double *value)
{
    struct converters *converters = arg;

    add_of_one(converters, converters->at_hand, time_s, *value);
}

static unsigned line_count(const struct converters *converters)
{
    return (converters->count - 1) / converters->line_step + 1;
}

/* Without a summary, which says where the window of the steady state is, the later half. */
static double steady_from(const struct plot_run *run)
{
    return isfinite(run->events.from_s) ? run->events.from_s : run->duration_s / 2;
}

static int open_converters(struct converters *converters, const struct plot_run *run,
                           unsigned count, const struct views *views)
{
    *converters = (struct converters){
        .count = count,
        .line_step = (count - 1) / LINES_MAX + 1,
        .last_from_s = views->is_part ? views->windows[ALL].from_s : steady_from(run),
        .last_to_s = views->windows[ALL].to_s,
    };
    converters->lines = calloc(line_count(converters), sizeof(*converters->lines));
    converters->last = malloc(count * sizeof(*converters->last));
    if (!converters->lines || !converters->last)
        return -ENOMEM;

    int rc = open_views(converters->mean, views);
    if (!rc)
        rc = open_views(converters->band, views);
    for (unsigned i = 0; i < line_count(converters) && !rc; i++)
        rc = open_views(converters->lines[i], views);
    for (unsigned i = 0; i < count; i++)
        converters->last[i] = (struct plot_range){INFINITY, -INFINITY};
    return rc;
}

static void close_converters(struct converters *converters)
{
    for (unsigned i = 0; converters->lines && i < line_count(converters); i++)
        close_views(converters->lines[i]);
    close_views(converters->mean);
    close_views(converters->band);
    free(converters->lines);
    free(converters->last);
}

/* How far each converter swings: "id peak-to-peak"; and the axis for it, which shows so much
 * at least. */
static void plot_spread(struct hil_figure *figure, const struct converters *converters,
                        double least)
{
    FILE *data = hil_figure_data(figure, "spread", 1);
    double greatest = 0;

    if (!data)
        return;
    for (unsigned i = 0; i < converters->count; i++) {
        const double spread = fmax(0, converters->last[i].high - converters->last[i].low);

        fprintf(data, "%u %.9g\n", i, spread);
        greatest = fmax(greatest, spread);
    }
    fprintf(figure->values, "spread_to = %.9g\n", fmax(1.08 * greatest, least));
    hil_figure_data_end(figure, data);
}

struct quantity {
    const char *column, *figure, *title, *label, *spread_label;
    double spread_least; /* the spread's axis shows at least so much */
    bool own;            /* the converters record it, and not the controller */
};

static int draw_converters(const struct plot_run *run, const struct views *views,
                           const struct converters *converters, const struct quantity *quantity)
{
    struct hil_figure figure;
    const int rc = open_figure(&figure, run, quantity->figure, quantity->title);
    if (rc)
        return rc;

    fprintf(figure.values, "n = %u\nlines = %u\nlast_from = %.12g\nlast_to = %.12g\nown = %d\n",
            converters->count, line_count(converters), converters->last_from_s,
            converters->last_to_s, quantity->own);
    hil_figure_text(&figure, "y_label", "%s", quantity->label);
    hil_figure_text(&figure, "spread_label", "%s", quantity->spread_label);
    set_windows(&figure, views);
    set_events(&figure, run, views);
    plot_band(&figure, "band", 1, &converters->band[ALL], &views->windows[ALL]);
    plot_views(&figure, "mean", converters->mean, views);
    for (unsigned i = 0; i < line_count(converters); i++) {
        if (quantity->own)
            plot_curve(&figure, "whole", i + 1, &converters->lines[i][ALL], &views->windows[ALL]);
        plot_curve(&figure, "line", i + 1, &converters->lines[i][STARTUP],
                   &views->windows[STARTUP]);
    }
    plot_spread(&figure, converters, quantity->spread_least);
    plot_view_ranges(&figure, converters->band, converters->mean);
    return hil_figure_draw(&figure, "run-converters.gp");
}

/* What the controller recorded has one column for all converters; else each has a stream. */
static unsigned count_converters(const struct plot_run *run, const struct quantity *quantity)
{
    const int column = hil_trace_column_find(run->config, quantity->column);
    unsigned streams, count = 0;
    const struct hil_stream_config *all = hil_trace_streams(run->trace, &streams);

    if (!quantity->own)
        return column < 0 ? 0 : run->config->columns[column].width;
    for (unsigned i = 0; i < streams; i++)
        count += i != run->stream && hil_trace_column_find(&all[i], quantity->column) >= 0;
    return count;
}

static int scan_own(const struct plot_run *run, const char *column, struct converters *converters)
{
    unsigned streams;
    const struct hil_stream_config *all = hil_trace_streams(run->trace, &streams);
    int rc = 0;

    for (unsigned i = 0; i < streams && !rc; i++) {
        const int at = hil_trace_column_find(&all[i], column);

        if (i == run->stream || at < 0)
            continue;
        rc = plot_run_scan(run, i, (unsigned)at, add_own, converters);
        converters->at_hand++;
    }
    return rc;
}

static int scan_converters(const struct plot_run *run, const struct quantity *quantity,
                           struct converters *converters)
{
    if (quantity->own)
        return scan_own(run, quantity->column, converters);
    const int column = hil_trace_column_find(run->config, quantity->column);
    return plot_run_scan(run, run->stream, (unsigned)column, add_matrix, converters);
}

static int figure_converters(const struct plot_run *run, const struct views *views,
                             const struct quantity *quantity)
{
    const unsigned count = count_converters(run, quantity);
    struct converters converters;

    if (count == 0) /* not recorded */
        return 0;
    int rc = open_converters(&converters, run, count, views);
    if (rc)
        rc = no_memory(run);
    if (!rc)
        rc = scan_converters(run, quantity, &converters);
    if (!rc)
        rc = draw_converters(run, views, &converters, quantity);
    close_converters(&converters);
    return rc;
}

/* --- the histograms ------------------------------------------------------------------------ */

/* Three digits, and never an exponent. */
static void quantile_words(char text[16], const struct hil_histogram *histogram, double quantile)
{
    const double us = (double)hil_histogram_quantile(histogram, quantile) * 1e-3;

    snprintf(text, 16, us < 1000 ? "%.3g" : "%.0f", us);
}

/* gnuplot finds the variable label_3 by its name. Returns how long the text is. */
__attribute__((format(printf, 4, 5))) static int
numbered_text(struct hil_figure *figure, const char *variable, unsigned i, const char *format, ...)
{
    char name[32], text[PLOT_TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    snprintf(name, sizeof(name), "%s_%u", variable, i);
    hil_figure_text(figure, name, "%s", text);
    return length;
}

/* The most letters of the names, and of the words under them. */
struct histogram_room {
    unsigned label, words;
};

static void make_room(unsigned *room, int letters)
{
    *room = (unsigned)letters > *room ? (unsigned)letters : *room;
}

static void plot_histogram(struct hil_figure *figure, unsigned i, const char *name,
                           const struct hil_histogram *histogram, struct histogram_room *room)
{
    static const double quantiles[] = {0.5, 0.99, 0.999, 1};
    char words[PLOT_TEXT_BYTES], us[4][16];

    snprintf(words, sizeof(words), "%s", name);
    for (char *c = words; *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    make_room(&room->label, numbered_text(figure, "label", i, "%s", words));
    for (int k = 0; k < 4; k++)
        quantile_words(us[k], histogram, quantiles[k]);
    make_room(&room->words, numbered_text(figure, "middle", i, "p50 %s, p99 %s", us[0], us[1]));
    make_room(&room->words, numbered_text(figure, "tail", i, "p99.9 %s, max %s", us[2], us[3]));
    hil_figure_bars(figure, "bars", i, histogram);
    hil_figure_tail(figure, "tail", i, histogram);
}

/* Those that counted anything but zeros; the number of them, or a negative errno. */
static int plot_histograms(const struct plot_run *run, struct hil_figure *figure)
{
    struct hil_histogram *histogram = malloc(sizeof(*histogram));
    struct histogram_room room = {0};
    char shown[PLOT_TEXT_BYTES];
    const char *name;
    int rc = histogram ? 0 : no_memory(run);
    int drawn = 0;

    for (unsigned i = 0; !rc && (name = hil_trace_histogram_name(run->trace, i)); i++) {
        rc = hil_trace_read_histogram(run->trace, name, histogram);
        if (rc)
            fprintf(run->messages, "%s/trace.h5: %s: %s\n", run->dir,
                    hil_foreign_text(shown, sizeof(shown), name, strlen(name)), strerror(-rc));
        else if (histogram->max > 0)
            plot_histogram(figure, (unsigned)++drawn, name, histogram, &room);
    }
    free(histogram);
    fprintf(figure->values, "label_letters = %u\nwords_letters = %u\n", room.label, room.words);
    return rc ? rc : drawn;
}

static int figure_histograms(const struct plot_run *run, const char *name, const char *title,
                             const char *script)
{
    struct hil_figure figure;
    const int rc = open_figure(&figure, run, name, title);
    if (rc)
        return rc;

    const int drawn = plot_histograms(run, &figure);
    if (drawn <= 0) {
        hil_figure_drop(&figure);
        return drawn;
    }
    fprintf(figure.values, "n = %d\n", drawn);
    return hil_figure_draw(&figure, script);
}

/* --- all ----------------------------------------------------------------------------------- */

static const struct quantity quantities[] = {
    {"voltage_v", "voltages", "Voltage of each converter", "voltage (V)", "peak to peak (V)", 0.1,
     false},
    {"duty", "duty", "Duty cycle of each converter", "duty cycle", "peak to peak", 0.01, false},
    {"current_a", "current", "Inductor current of each converter", "current (A)",
     "peak to peak (A)", 0.1, true},
};

/* These have no time as their axis: they are of the whole run. */
static int whole_figures(const struct plot_run *run)
{
    const int rc = figure_histograms(run, "latency", "Step latencies (µs)", "run-latency.gp");

    return rc ? rc
              : figure_histograms(run, "tail", "Share of steps that took longer", "run-tail.gp");
}

static int draw_run(const struct plot_run *run, struct hil_plot_span span)
{
    int rc = plot_span_cut(&span, run->duration_s, run->dir, run->messages);
    if (rc)
        return rc;

    const struct views views = views_of(run, span);
    rc = figure_output(run, &views);
    for (size_t i = 0; i < sizeof(quantities) / sizeof(quantities[0]) && !rc; i++)
        rc = figure_converters(run, &views, &quantities[i]);
    return rc || views.is_part ? rc : whole_figures(run);
}

int plot_run_figures(const char *dir, struct hil_plot_span span, FILE *messages)
{
    struct plot_run run;
    int rc = plot_run_open(&run, dir, messages);
    if (rc)
        return rc;

    rc = draw_run(&run, span);
    plot_run_close(&run);
    return rc;
}

#include "plot_data.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../foreign.h"
#include "../record/run_files.h"

/* --- opening ------------------------------------------------------------------------------- */

static double number_in(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static struct plot_missed missed_in(const json_t *summary, const char *who)
{
    const json_t *loops = json_object_get(summary, who);

    return (struct plot_missed){number_in(loops, "missed"),
                                number_in(loops, "steps") + number_in(loops, "left_out")};
}

static void read_round_trip(struct plot_run *run, const json_t *summary)
{
    static const char *const names[] = {"p50", "p99", "p999"};
    const json_t *round_trip = json_object_get(summary, "round_trip_us");

    for (int i = 0; i < 3; i++)
        run->round_trip_us[i] = number_in(round_trip, names[i]);
}

static void read_worst(struct plot_run *run, const json_t *outputs)
{
    const json_t *each = json_object_get(outputs, "each");

    run->worst = hil_foreign_index(number_in(outputs, "worst"), INT_MAX);
    run->worst_pp_v = number_in(json_array_get(each, (size_t)run->worst), "pp_v");
    run->settled = run->sum_settled && !json_is_false(json_object_get(outputs, "settled"));
}

static void read_startup(struct plot_run *run, const json_t *events)
{
    run->startup_ms =
        number_in(json_object_get(json_array_get(events, 0), "output"), "settling_ms");
}

static void read_validity(struct plot_run *run, const json_t *summary)
{
    const json_t *validity = json_object_get(summary, "validity");
    const char *reason = json_string_value(json_array_get(json_object_get(validity, "reasons"), 0));

    if (reason)
        snprintf(run->invalid, sizeof(run->invalid), "%s", reason);
}

/* A run without a summary is drawn all the same: it may have been cut off. */
static void read_summary(struct plot_run *run)
{
    char path[HIL_PATH_BYTES];
    json_error_t error;
    json_t *summary =
        hil_run_path(path, run->dir, "summary.json") ? NULL : hil_foreign_json(path, &error);
    const json_t *output = json_object_get(summary, "output");

    run->settling_ms = number_in(output, "settling_ms");
    run->overshoot_pct = number_in(output, "overshoot_pct");
    run->pp_v = number_in(output, "pp_v");
    run->sum_settled = json_is_true(json_object_get(output, "settled"));
    read_worst(run, json_object_get(summary, "outputs"));
    read_startup(run, json_object_get(summary, "events"));
    plot_events_read(&run->events, summary);
    run->controller_missed = missed_in(summary, "controller");
    run->converters_missed = missed_in(summary, "converters");
    read_round_trip(run, summary);
    read_validity(run, summary);
    json_decref(summary);
}

static int complain(const struct plot_run *run, int rc, const char *what)
{
    fprintf(run->messages, "%s/trace.h5: %s\n", run->dir, what);
    return rc;
}

/* The column of one number a row; -1 where there is none. */
static int find_number(const struct plot_run *run, const char *name)
{
    const int column = hil_trace_column_find(run->config, name);

    return column >= 0 && run->config->columns[column].width == 1 ? column : -1;
}

/* The columns that every run has. */
static int find_columns(struct plot_run *run)
{
    const int stream = hil_trace_stream_find(run->trace, "controller");
    unsigned count;

    if (stream < 0)
        return complain(run, -ENODATA, "nothing of a controller was recorded");
    run->stream = (unsigned)stream;
    run->config = &hil_trace_streams(run->trace, &count)[stream];

    const int time = find_number(run, "time_s");
    const int output = find_number(run, "output_v");
    const int reference = find_number(run, "reference_v");
    if (time < 0 || output < 0 || reference < 0)
        return complain(run, -EBADMSG, "no time_s, output_v and reference_v of the controller");
    run->time = (unsigned)time;
    run->output = (unsigned)output;
    run->reference = (unsigned)reference;
    return 0;
}

/* Until the next row is due. Of a record that does not say when, rows are evenly apart. */
static double last_row_s(const struct plot_run *run, double time_s)
{
    const struct hil_cadence *cadence = &run->config->cadence;

    if (cadence->period_ns == 0)
        return time_s / (double)(run->config->rows - 1);
    return (double)cadence->period_ns * (double)cadence->decimation * 1e-9;
}

/* The last period that was recorded has an end, too; and the reference is that of then. */
static int read_end(struct plot_run *run)
{
    const uint64_t last = run->config->rows - 1;
    double time_s;

    if (run->config->rows < 2)
        return complain(run, -ENODATA, "the controller recorded nothing to draw");
    int rc = hil_trace_read(run->trace, run->stream, run->time, last, 1, &time_s, 1);
    if (!rc)
        rc = hil_trace_read(run->trace, run->stream, run->reference, last, 1, &run->reference_v, 1);
    if (rc)
        return complain(run, rc, strerror(-rc));
    run->duration_s = time_s + last_row_s(run, time_s);
    const bool advances = time_s > 0 && isfinite(run->duration_s);
    return advances ? 0 : complain(run, -EBADMSG, "time does not advance");
}

int plot_run_open(struct plot_run *run, const char *dir, FILE *messages)
{
    *run = (struct plot_run){.dir = dir, .messages = messages};
    int rc = hil_run_open_trace(&run->trace, dir, messages);
    if (rc)
        return rc;

    read_summary(run);
    rc = find_columns(run);
    if (!rc)
        rc = read_end(run);
    if (rc)
        plot_run_close(run);
    return rc;
}

void plot_run_close(struct plot_run *run)
{
    hil_trace_reader_close(run->trace);
}

/* --- reading ------------------------------------------------------------------------------- */

struct scanned {
    unsigned stream, time, column, width;
    struct plot_gaps gaps;
};

static int scan_block(const struct plot_run *run, struct scanned *s, uint64_t first, size_t rows,
                      double *times, double *values, plot_each_fn *each, void *arg)
{
    int rc = hil_trace_read(run->trace, s->stream, s->time, first, rows, times, rows);

    if (!rc)
        rc = hil_trace_read(run->trace, s->stream, s->column, first, rows, values, rows * s->width);
    if (!rc)
        rc = plot_gaps_read(&s->gaps, first, rows);
    for (size_t row = 0; row < rows && !rc; row++) {
        if (plot_gaps_before(&s->gaps, row, times[row]))
            each(arg, times[row], s->gaps.nothing);
        each(arg, times[row], values + row * s->width);
    }
    return rc;
}

int plot_run_scan(const struct plot_run *run, unsigned stream, unsigned column, plot_each_fn *each,
                  void *arg)
{
    unsigned streams;
    const struct hil_stream_config *config = &hil_trace_streams(run->trace, &streams)[stream];
    const int time = hil_trace_column_find(config, "time_s");
    const size_t block = hil_trace_block_rows(run->trace, stream);
    struct scanned s = {.stream = stream,
                        .time = (unsigned)time,
                        .column = column,
                        .width = config->columns[column].width};
    double *times = malloc(block * sizeof(double));
    double *values = malloc(block * s.width * sizeof(double));
    int rc = time < 0 ? -EBADMSG : times && values ? 0 : -ENOMEM;

    if (!rc)
        rc = plot_gaps_open(&s.gaps, run->trace, stream, s.width, block);
    for (uint64_t first = 0; first < config->rows && !rc; first += block)
        rc = scan_block(run, &s, first,
                        config->rows - first < block ? (size_t)(config->rows - first) : block,
                        times, values, each, arg);
    plot_gaps_close(&s.gaps);
    free(times);
    free(values);
    return rc ? complain(run, rc, strerror(-rc)) : 0;
}

int plot_run_each_missed(const struct plot_run *run, plot_missed_fn *each, void *arg)
{
    const int rc = plot_gaps_each_missed(run->trace, run->stream, each, arg);

    return rc ? complain(run, rc, strerror(-rc)) : 0;
}

/* --- words --------------------------------------------------------------------------------- */

static const char *mode_words(const char *mode)
{
    if (strcmp(mode, "virtual") == 0)
        return "virtual time";
    return strcmp(mode, "realtime") == 0 ? "real time" : mode;
}

void plot_run_describe(const struct plot_run *run, char text[PLOT_TEXT_BYTES])
{
    size_t used = (size_t)snprintf(text, PLOT_TEXT_BYTES, "%.100s",
                                   hil_trace_attribute(run->trace, "scenario"));

    used += (size_t)snprintf(text + used, PLOT_TEXT_BYTES - used, ", %.32s",
                             mode_words(hil_trace_attribute(run->trace, "mode")));
    snprintf(text + used, PLOT_TEXT_BYTES - used, " (%.32s fabric)",
             hil_trace_attribute(run->trace, "fabric"));
}

void plot_run_judge(const struct plot_run *run, char text[PLOT_TEXT_BYTES])
{
    const double band = 0.04 * fabs(run->reference_v); /* 2 percent to either side */

    text[0] = '\0';
    if (run->sum_settled && !run->settled && run->worst >= 0)
        snprintf(text, PLOT_TEXT_BYTES, "converter %d: %.3g V p-p", run->worst, run->worst_pp_v);
    else if (run->settled && run->settling_ms <= 0)
        snprintf(text, PLOT_TEXT_BYTES, "stays within 2 %%");
    else if (run->settled && run->settling_ms < 1000)
        snprintf(text, PLOT_TEXT_BYTES, "settles in %.3g ms", run->settling_ms);
    else if (run->settled)
        snprintf(text, PLOT_TEXT_BYTES, "settles in %.3g s", run->settling_ms * 1e-3);
    else if (run->pp_v > band)
        snprintf(text, PLOT_TEXT_BYTES, "oscillates, %.*f V p-p", run->pp_v < 10 ? 1 : 0,
                 run->pp_v);
    else if (isfinite(run->pp_v))
        snprintf(text, PLOT_TEXT_BYTES, "does not settle");
    const size_t used = strlen(text);
    if (run->invalid[0])
        snprintf(text + used, PLOT_TEXT_BYTES - used, "%snot valid", used ? "; " : "");
}

void plot_run_steady(const struct plot_run *run, char text[PLOT_TEXT_BYTES])
{
    text[0] = '\0';
    if (isfinite(run->pp_v) && isfinite(run->events.from_s))
        snprintf(text, PLOT_TEXT_BYTES, "%.*f V p-p, %.4g to %.4g s", run->pp_v < 10 ? 3 : 1,
                 run->pp_v, run->events.from_s, run->events.to_s);
}

/* --- windows of time ----------------------------------------------------------------------- */

static const double startup_least_s = 5e-3, startup_unstable_s = 20e-3, startup_most_s = 50e-3;

/* The next of 1, 2, 5, 10, 20 ... */
static double round_up(double x)
{
    static const double steps[] = {1, 2, 5};
    const double power = pow(10, floor(log10(x)));

    for (int i = 0; i < 3; i++)
        if (x <= steps[i] * power * (1 + 1e-9))
            return steps[i] * power;
    return 10 * power;
}

double plot_run_startup(const struct plot_run *run)
{
    double s = startup_unstable_s;

    if (isfinite(run->startup_ms))
        s = round_up(fmax(startup_least_s, 2e-3 * run->startup_ms));
    return fmin(fmin(s, startup_most_s), run->duration_s);
}

struct plot_window plot_window(double from_s, double to_s)
{
    if (to_s >= 1)
        return (struct plot_window){from_s, to_s, 1, "time (s)"};
    if (to_s >= 1e-3)
        return (struct plot_window){from_s, to_s, 1e3, "time (ms)"};
    return (struct plot_window){from_s, to_s, 1e6, "time (µs)"};
}

bool plot_span_is_part(struct hil_plot_span span, double end_s)
{
    return span.from_s > 0 || span.to_s < end_s;
}

int plot_span_cut(struct hil_plot_span *span, double end_s, const char *dir, FILE *messages)
{
    span->to_s = fmin(span->to_s, end_s);
    if (span->from_s < span->to_s)
        return 0;
    fprintf(messages, "%s: nothing to draw from %g s on: the record ends at %g s\n", dir,
            span->from_s, end_s);
    return -ERANGE;
}

/* --- curves -------------------------------------------------------------------------------- */

void plot_curve(struct hil_figure *figure, const char *series, unsigned i,
                const struct hil_envelope *envelope, const struct plot_window *window)
{
    FILE *data = hil_figure_data(figure, series, i);

    if (!data)
        return;
    hil_envelope_write_curve(envelope, window->scale, data);
    hil_figure_data_end(figure, data);
}

void plot_band(struct hil_figure *figure, const char *series, unsigned i,
               const struct hil_envelope *envelope, const struct plot_window *window)
{
    FILE *data = hil_figure_data(figure, series, i);

    if (!data)
        return;
    hil_envelope_write_band(envelope, window->scale, data);
    hil_figure_data_end(figure, data);
}

void plot_range_include(struct plot_range *range, const struct hil_envelope *envelope)
{
    for (unsigned i = 0; i < envelope->column_count; i++) {
        const struct hil_envelope_column *column = &envelope->columns[i];

        if (column->count == 0)
            continue;
        range->low = fmin(range->low, column->least.y);
        range->high = fmax(range->high, column->greatest.y);
    }
}

void plot_range_set(struct hil_figure *figure, unsigned panel, struct plot_range range)
{
    if (!(range.high >= range.low)) /* nothing was drawn */
        range.low = range.high = 0;

    /* Less than the digits of a tic can tell apart is a flat line. */
    const double size = fmax(fabs(range.low), fabs(range.high));
    const double least = size > 0 ? 2e-5 * size : 1;
    const double room = range.high - range.low > least ? 0.06 * (range.high - range.low) : least;

    fprintf(figure->values, "y_from_%u = %.9g\ny_to_%u = %.9g\n", panel, range.low - room, panel,
            range.high + room);
}

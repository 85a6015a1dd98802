#include "plot_data.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../h5/run_files.h"
#include "key_words.h"

/* --- opening ------------------------------------------------------------------------------- */

static int complain(const struct plot_run *run, int rc, const char *what)
{
    fprintf(run->messages, "%s/trace.h5: %s\n", run->dir, what);
    return rc;
}

static bool is_of_measure(const struct hil_column *column, const char *name, const char *role)
{
    return strcmp(column->of.role, role) == 0 && strcmp(column->of.measure, name) == 0;
}

static int find_reference(const struct hil_stream_config *stream, const char *name)
{
    for (unsigned i = 0; i < stream->column_count; i++)
        if (is_of_measure(&stream->columns[i], name, "reference"))
            return (int)i;
    return -1;
}

static struct plot_measure read_measure(const struct plot_run *run, unsigned stream,
                                        unsigned column)
{
    const struct hil_stream_config *config = &run->streams[stream];
    const char *name = config->columns[column].of.measure;
    struct plot_measure m = {
        .stream = stream,
        .value = column,
        .reference = find_reference(config, name),
        .column = &config->columns[column],
        .name = name,
    };

    hil_summary_reader_measure(&run->told, name, &m.told);
    return m;
}

bool plot_run_measure(const struct plot_run *run, unsigned i, struct plot_measure *measure)
{
    for (unsigned s = 0; s < run->stream_count; s++)
        for (unsigned c = 0; c < run->streams[s].column_count; c++) {
            const struct hil_column *column = &run->streams[s].columns[c];
            if (!is_of_measure(column, column->of.measure, "value") || i-- > 0)
                continue;
            *measure = read_measure(run, s, c);
            return true;
        }
    return false;
}

/* Finds the first measure of the summary, or else of the record. */
static void find_first(struct plot_run *run)
{
    struct hil_summary_reader_measure first;
    struct plot_measure m;
    const bool told = hil_summary_reader_first(&run->told, false, &first);

    run->first = (struct plot_measure){0};
    hil_summary_reader_measure(&run->told, "", &run->first.told); /* a name that finds nothing */
    for (unsigned i = 0; plot_run_measure(run, i, &m); i++)
        if (!run->first.name || (told && strcmp(m.name, first.name) == 0))
            run->first = m;
    run->settled = run->first.name && (run->first.reference < 0 || run->first.told.settled);
    if (hil_summary_reader_first(&run->told, true, &run->worst) && run->worst.judged)
        run->settled &= run->worst.settled;
}

/* The record extends to the end of the last recorded period. If the record has no cadence, rows are
 * assumed to be evenly spaced. */
static double last_row_s(const struct hil_stream_config *stream, double time_s)
{
    const struct hil_cadence *cadence = &stream->cadence;

    if (cadence->period_ns == 0)
        return time_s / (double)(stream->rows - 1);
    return (double)cadence->period_ns * (double)cadence->decimation * 1e-9;
}

/* When the stream's last row ends; 0 if it has too few rows to draw. */
static int read_stream_end(const struct plot_run *run, unsigned stream, double *end_s)
{
    const struct hil_stream_config *config = &run->streams[stream];
    const int time = hil_trace_column_find(config, "time_s");
    double time_s;

    *end_s = 0;
    if (time < 0 || config->columns[time].width != 1)
        return complain(run, -EBADMSG, "a stream without time_s");
    if (config->rows < 2)
        return 0;
    const int rc =
        hil_trace_read(run->trace, stream, (unsigned)time, config->rows - 1, 1, &time_s, 1);
    if (rc)
        return complain(run, rc, strerror(-rc));
    *end_s = time_s + last_row_s(config, time_s);
    const bool advances = time_s > 0 && isfinite(*end_s);
    return advances ? 0 : complain(run, -EBADMSG, "time does not advance");
}

/* A measure must have one number per row. */
static int check_measures(const struct plot_run *run)
{
    for (unsigned s = 0; s < run->stream_count; s++)
        for (unsigned i = 0; i < run->streams[s].column_count; i++) {
            const struct hil_column *column = &run->streams[s].columns[i];
            const bool one =
                strcmp(column->of.role, "value") == 0 || strcmp(column->of.role, "reference") == 0;
            if (one && column->width != 1)
                return complain(run, -EBADMSG, "a measure of several numbers");
        }
    return 0;
}

static int read_end(struct plot_run *run)
{
    double end_s;
    int rc = 0;

    for (unsigned i = 0; i < run->stream_count && !rc; i++) {
        rc = read_stream_end(run, i, &end_s);
        run->duration_s = fmax(run->duration_s, end_s);
    }
    if (rc || run->duration_s > 0)
        return rc;
    return complain(run, -ENODATA, "the run recorded nothing to draw");
}

/* A run without a summary is drawn too: it may have been cut off. */
int plot_run_open(struct plot_run *run, const char *dir, const struct hil_summary_reader *told,
                  FILE *messages)
{
    *run = (struct plot_run){.dir = dir, .to = dir, .messages = messages};
    int rc = hil_run_open_trace(&run->trace, dir, messages);
    if (rc)
        return rc;

    run->streams = hil_trace_streams(run->trace, &run->stream_count);
    run->told = told ? (struct hil_summary_reader){json_incref(told->root)}
                     : hil_summary_reader_read(dir, messages);
    plot_events_read(&run->events, run->told.root);
    plot_events_add_changes(&run->events, run->trace);
    find_first(run);
    rc = check_measures(run);
    if (!rc)
        rc = read_end(run);
    if (rc)
        plot_run_close(run);
    return rc;
}

void plot_run_close(struct plot_run *run)
{
    hil_trace_reader_close(run->trace);
    hil_summary_reader_close(&run->told);
}

/* --- reading ------------------------------------------------------------------------------- */

/* `width` places of the rows, beginning at `place`. */
struct scanned {
    unsigned stream, time, column, place, width;
    struct plot_gaps gaps;
};

static int scan_values(const struct plot_run *run, const struct scanned *s, uint64_t first,
                       size_t rows, double *values)
{
    if (s->width == run->streams[s->stream].columns[s->column].width)
        return hil_trace_read(run->trace, s->stream, s->column, first, rows, values,
                              rows * s->width);
    return hil_trace_read_place(run->trace, s->stream, s->column, s->place, first, rows, values);
}

static int scan_block(const struct plot_run *run, struct scanned *s, uint64_t first, size_t rows,
                      double *times, double *values, plot_each_fn *each, void *arg)
{
    int rc = hil_trace_read(run->trace, s->stream, s->time, first, rows, times, rows);

    if (!rc)
        rc = scan_values(run, s, first, rows, values);
    if (!rc)
        rc = plot_gaps_read(&s->gaps, first, rows);
    for (size_t row = 0; row < rows && !rc; row++) {
        if (plot_gaps_before(&s->gaps, row, times[row]))
            each(arg, times[row], s->gaps.nothing);
        each(arg, times[row], values + row * s->width);
    }
    return rc;
}

static int scan(const struct plot_run *run, struct scanned *s, plot_each_fn *each, void *arg)
{
    const struct hil_stream_config *config = &run->streams[s->stream];
    const int time = hil_trace_column_find(config, "time_s");
    const size_t block = hil_trace_block_rows(run->trace, s->stream);
    double *times = malloc(block * sizeof(double));
    double *values = malloc(block * s->width * sizeof(double));
    int rc = time < 0 ? -EBADMSG : times && values ? 0 : -ENOMEM;

    s->time = (unsigned)time;
    if (!rc)
        rc = plot_gaps_open(&s->gaps, run->trace, s->stream, s->width, block);
    for (uint64_t first = 0; first < config->rows && !rc; first += block)
        rc = scan_block(run, s, first,
                        config->rows - first < block ? (size_t)(config->rows - first) : block,
                        times, values, each, arg);
    plot_gaps_close(&s->gaps);
    free(times);
    free(values);
    return rc ? complain(run, rc, strerror(-rc)) : 0;
}

int plot_run_scan(const struct plot_run *run, unsigned stream, unsigned column, plot_each_fn *each,
                  void *arg)
{
    struct scanned s = {
        .stream = stream, .column = column, .width = run->streams[stream].columns[column].width};

    return scan(run, &s, each, arg);
}

int plot_run_scan_place(const struct plot_run *run, unsigned stream, unsigned column,
                        unsigned place, plot_each_fn *each, void *arg)
{
    struct scanned s = {.stream = stream, .column = column, .place = place, .width = 1};

    return scan(run, &s, each, arg);
}

int plot_run_each_missed(const struct plot_run *run, unsigned stream, plot_missed_fn *each,
                         void *arg)
{
    const int rc = plot_gaps_each_missed(run->trace, stream, each, arg);

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

/* Formats a swing about a mean with three digits: without an exponent if it is large, and as 0 if
 * it is negligible compared to the mean. */
static void swing_words(char text[64], const struct hil_summary_reader_figures *f, const char *unit)
{
    const char *words = hil_unit_words(unit);
    const double pp = f->pp < 1e-6 * fabs(f->mean) ? 0 : f->pp;

    snprintf(text, 64, pp < 1000 ? "%.3g%s%.24s" : "%.0f%s%.24s", pp, words[0] ? " " : "", words);
}

void plot_event_words(const struct plot_run *run, const struct hil_summary_reader_event *event,
                      char text[PLOT_TEXT_BYTES])
{
    text[0] = '\0';
    if (event->number == 0)
        snprintf(text, PLOT_TEXT_BYTES, " (start-up)");
    else if (event->number > 0 && isfinite(event->time_s))
        snprintf(text, PLOT_TEXT_BYTES, " (event at %.6g s)", event->time_s);
    if (hil_summary_reader_event_count(&run->told) < 2)
        text[0] = '\0';
}

/* The figures after the event with the worst response, from which the swing is taken. */
static struct hil_summary_reader_figures worst_figures(const struct plot_run *run,
                                                       const struct hil_summary_reader_measure *m)
{
    struct hil_summary_reader_figures f;
    struct hil_summary_reader_event event;

    return hil_summary_reader_after(&run->told, m->settling_event.number, m->name, &event, &f)
               ? f
               : m->figures;
}

static void judge_settling(const struct plot_run *run, const struct plot_measure *measure,
                           char text[PLOT_TEXT_BYTES])
{
    const struct hil_summary_reader_figures worst = worst_figures(run, &measure->told), *f = &worst;
    char swing[64];

    swing_words(swing, f, measure->column->unit);
    if (f->settled && f->settling_ms <= 0)
        snprintf(text, PLOT_TEXT_BYTES, "stays in its band");
    else if (f->settled && f->settling_ms < 1000)
        snprintf(text, PLOT_TEXT_BYTES, "settles in %.3g ms", f->settling_ms);
    else if (f->settled)
        snprintf(text, PLOT_TEXT_BYTES, "settles in %.3g s", f->settling_ms * 1e-3);
    else if (measure->reference >= 0 && f->pp > 2 * f->band)
        snprintf(text, PLOT_TEXT_BYTES, "oscillates, %s p-p", swing);
    else if (measure->reference >= 0 && isfinite(f->pp))
        snprintf(text, PLOT_TEXT_BYTES, "does not settle");
}

void plot_run_judge(const struct plot_run *run, const struct plot_measure *measure,
                    char text[PLOT_TEXT_BYTES])
{
    const struct hil_summary_reader_measure *worst = &run->worst;
    const bool is_first = run->first.name && strcmp(measure->name, run->first.name) == 0;
    const struct hil_summary_reader_figures of_worst = worst_figures(run, worst);
    const struct hil_summary_reader_event *event = &measure->told.settling_event;
    char swing[64], when[PLOT_TEXT_BYTES];

    text[0] = '\0';
    swing_words(swing, &of_worst, worst->unit);
    if (is_first && measure->told.settled && !run->settled && worst->worst >= 0) {
        snprintf(text, PLOT_TEXT_BYTES, "%.64s[%d]: %s p-p", worst->name, worst->worst, swing);
        event = &worst->settling_event;
    } else {
        judge_settling(run, measure, text);
    }
    plot_event_words(run, event, when);
    if (text[0])
        snprintf(text + strlen(text), PLOT_TEXT_BYTES - strlen(text), "%.40s", when);
    const size_t used = strlen(text);
    if (hil_summary_reader_invalid(&run->told)[0])
        snprintf(text + used, PLOT_TEXT_BYTES - used, "%snot valid", used ? "; " : "");
}

void plot_run_steady(const struct plot_measure *measure, char text[PLOT_TEXT_BYTES])
{
    const struct hil_summary_reader_figures *f = &measure->told.figures;
    char swing[64];

    text[0] = '\0';
    swing_words(swing, f, measure->column->unit);
    if (isfinite(f->pp) && isfinite(f->from_s))
        snprintf(text, PLOT_TEXT_BYTES, "%s p-p, %.4g to %.4g s", swing, f->from_s, f->to_s);
}

void plot_in_unit(const char *unit, char text[40])
{
    const char *words = strncmp(unit, "1/", 2) == 0 ? unit : hil_unit_words(unit);

    snprintf(text, 40, words[0] ? " (%.30s)" : "%.30s", words);
}

void plot_capital(char *text)
{
    text[0] = (char)toupper((unsigned char)text[0]);
}

void plot_measure_words(const struct plot_measure *measure, char text[PLOT_TEXT_BYTES])
{
    hil_key_words(measure->name, measure->column->unit, text);
}

void plot_measure_label(const struct plot_measure *measure, char text[PLOT_TEXT_BYTES])
{
    char words[PLOT_TEXT_BYTES], unit[40];

    plot_measure_words(measure, words);
    plot_in_unit(measure->column->unit, unit);
    snprintf(text, PLOT_TEXT_BYTES, "%.100s%s",
             measure->column->doc[0] ? measure->column->doc : words, unit);
}

/* --- windows of time ----------------------------------------------------------------------- */

static const double startup_least_s = 5e-3, startup_unstable_s = 20e-3;

/* Rounds up to 1, 2, 5, 10, 20 ... */
static double round_up(double x)
{
    static const double steps[] = {1, 2, 5};
    const double power = pow(10, floor(log10(x)));

    for (int i = 0; i < 3; i++)
        if (x <= steps[i] * power * (1 + 1e-9))
            return steps[i] * power;
    return 10 * power;
}

double plot_run_interval(const struct plot_run *run, double settling_ms)
{
    return isfinite(settling_ms) ? round_up(fmax(startup_least_s, 2e-3 * settling_ms))
                                 : fmax(startup_unstable_s, run->duration_s / 250);
}

double plot_run_startup(const struct plot_run *run, const struct plot_measure *measure)
{
    const struct plot_measure *judged = measure->told.judged ? measure : &run->first;
    const double startup_ms = judged->told.startup_ms;
    double s = plot_run_interval(run, startup_ms);

    if (run->events.count)
        s = fmin(s, run->events.at[0].at_s);
    return fmin(s, run->duration_s);
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

    /* A range smaller than the resolution of the tic labels is a flat line. */
    const double size = fmax(fabs(range.low), fabs(range.high));
    const double least = size > 0 ? 2e-5 * size : 1;
    const double room = range.high - range.low > least ? 0.06 * (range.high - range.low) : least;

    fprintf(figure->values, "y_from_%u = %.9g\ny_to_%u = %.9g\n", panel, range.low - room, panel,
            range.high + room);
}

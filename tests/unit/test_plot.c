/* Tests the curves in figures, and that figures are drawn from recorded runs. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "harness/figures/envelope.h"
#include "harness/figures/plot.h"
#include "harness/h5/trace.h"
#include "svg_texts.h"

/* --- envelopes ----------------------------------------------------------------------------- */

static char text[1 << 16];

/* Gets the envelope's output and its number of lines. */
static int written(const struct hil_envelope *envelope,
                   void (*write)(const struct hil_envelope *, double, FILE *))
{
    FILE *file = fmemopen(text, sizeof(text), "w");
    int lines = 0;

    write(envelope, 1, file);
    fclose(file);
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    return lines;
}

Test(envelope, keeps_a_spike_of_one_point)
{
    struct hil_envelope envelope;

    cr_assert_eq(hil_envelope_init(&envelope, 0, 1, 100), 0);
    for (int i = 0; i < 1000000; i++)
        hil_envelope_add(&envelope, i * 1e-6, i == 314159 ? 7.5 : 0);
    cr_expect_leq(written(&envelope, hil_envelope_write_curve), 400);
    cr_expect(strstr(text, "\n0.314159 7.5\n"));
    hil_envelope_fini(&envelope);
}

/* The first, greatest, least and last points, in the order of time, each once. */
Test(envelope, curve_of_one_column)
{
    struct hil_envelope envelope;

    cr_assert_eq(hil_envelope_init(&envelope, 0, 10, 1), 0);
    for (int i = 0; i < 10; i++)
        hil_envelope_add(&envelope, i, (const double[]){1, 2, 9, 3, 4, -5, 3, 2, 1, 0}[i]);
    written(&envelope, hil_envelope_write_curve);
    cr_expect_str_eq(text, "0 1\n2 9\n5 -5\n9 0\n");
    written(&envelope, hil_envelope_write_band);
    cr_expect_str_eq(text, "0 -5 9\n10 -5 9\n");
    hil_envelope_fini(&envelope);
}

Test(envelope, few_points_stay_as_they_are)
{
    struct hil_envelope envelope;

    cr_assert_eq(hil_envelope_init(&envelope, 0, 1, 1000), 0);
    hil_envelope_add(&envelope, 0, 3);
    hil_envelope_add(&envelope, 0.5, 4);
    hil_envelope_add(&envelope, 0.9995, 5);
    written(&envelope, hil_envelope_write_curve);
    cr_expect_str_eq(text, "0 3\n0.5 4\n0.9995 5\n");
    hil_envelope_fini(&envelope);
}

Test(envelope, leaves_out_what_cannot_be_drawn)
{
    struct hil_envelope envelope;

    cr_assert_eq(hil_envelope_init(&envelope, 1, 2, 10), 0);
    hil_envelope_add(&envelope, 0.999, 1);
    hil_envelope_add(&envelope, 2, 1);
    hil_envelope_add(&envelope, NAN, 1);
    hil_envelope_add(&envelope, 1.5, NAN);
    hil_envelope_add(&envelope, 1.5, INFINITY);
    cr_expect_eq(written(&envelope, hil_envelope_write_curve), 0);
    hil_envelope_fini(&envelope);
}

/* "Figures break the line where samples are missing": nothing is drawn between the points on either
 * side. An isolated point is as wide as one of the picture's columns. */
Test(envelope, is_broken_where_a_value_is_missing)
{
    static const double values[] = {1, 2, NAN, 3, NAN, 4, 5};
    struct hil_envelope envelope;

    cr_assert_eq(hil_envelope_init(&envelope, 0, 10, 20), 0);
    for (int i = 0; i < 7; i++)
        hil_envelope_add(&envelope, i, values[i]);
    written(&envelope, hil_envelope_write_curve);
    cr_expect_str_eq(text, "0 1\n1 2\n\n3 3\n3.5 3\n\n5 4\n6 5\n");
    written(&envelope, hil_envelope_write_band);
    cr_expect_str_eq(text, "0.25 1 1\n1.25 2 2\n\n3 3 3\n3.5 3 3\n\n5.25 4 4\n6.25 5 5\n");
    hil_envelope_fini(&envelope);
}

/* A gap narrower than a column is not visible, and does not interrupt the curve. */
Test(envelope, is_whole_where_a_column_has_points_on_both_sides)
{
    struct hil_envelope envelope;

    cr_assert_eq(hil_envelope_init(&envelope, 0, 4, 4), 0);
    hil_envelope_add(&envelope, 0.1, 1);
    hil_envelope_add(&envelope, 0.2, NAN);
    hil_envelope_add(&envelope, 0.3, 2);
    hil_envelope_add(&envelope, 1.1, 3);
    written(&envelope, hil_envelope_write_curve);
    cr_expect_str_eq(text, "0.1 1\n0.3 2\n1.1 3\n");
    hil_envelope_fini(&envelope);
}

/* --- figures ------------------------------------------------------------------------------- */

static char said[2048];

TestSuite(plot, .init = folder_open, .fini = folder_close);

static int plot_span(double from_s, double to_s)
{
    FILE *messages = fmemopen(said, sizeof(said), "w");
    const int rc = hil_plot(folder, NULL, (struct hil_plot_span){from_s, to_s}, messages);

    fclose(messages);
    return rc;
}

static int plot(void)
{
    return plot_span(0, INFINITY);
}

/* The signals of a sum's columns. */
#define OUTPUT                                                                                     \
    {                                                                                              \
        .measure = "output_v", .role = "value"                                                     \
    }
#define REFERENCE                                                                                  \
    {                                                                                              \
        .measure = "output_v", .role = "reference"                                                 \
    }

enum { CONVERTERS = 3, NUMBERS = 3 + 2 * CONVERTERS };

/* One second of an oscillation about 36 V that grows or decays. */
static void write_rows(struct hil_trace *trace, double growth, int rows, double scale)
{
    for (int k = 0; k < rows; k++) {
        const double t = k * 1e-4;
        double row[NUMBERS] = {t, 0, 36 * scale};

        for (int i = 0; i < CONVERTERS; i++) {
            row[3 + i] = scale * (12 + exp(growth * t) * sin(5000 * t + i));
            row[3 + CONVERTERS + i] = 0.25;
            row[1] += row[3 + i];
        }
        cr_assert_eq(hil_trace_append(trace, 0, row, 1), 0);
    }
}

/* The content of traces from here on. */
static const struct hil_named_histogram *histograms;
static unsigned histogram_count;

static void write_trace_of(const char *path, double growth, int rows, double scale)
{
    static const struct hil_column columns[] = {
        {"time_s", "s", "", 1, {0}},
        {"output_v", "V", "sum of converter[*].voltage_v", 1, OUTPUT},
        {"reference_v", "V", "", 1, REFERENCE},
        {"voltage_v",
         "V",
         "",
         CONVERTERS,
         {.signals = "converter[*].voltage_v", .measure = "voltage_v", .role = "each"}},
        {"duty", "", "", CONVERTERS, {.signals = "control[*].duty"}},
    };
    const struct hil_stream_config stream = {"controller", columns, 5, 10000, 0, {0}};
    const struct hil_attribute attributes[] = {
        {"scenario", "it's {my}_own"}, {"mode", "virtual"}, {"fabric", "sim"}};
    struct hil_trace *trace;

    cr_assert_eq(
        hil_trace_create(&trace, path, &(struct hil_trace_config){&stream, 1, attributes, 3, true}),
        0);
    write_rows(trace, growth, rows, scale);
    if (histogram_count)
        cr_assert_eq(hil_trace_add_histograms(trace, histograms, histogram_count), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
}

static void write_trace(const char *path, double growth, int rows)
{
    write_trace_of(path, growth, rows, 1);
}

static void write_with_histograms(const char *path, double growth, int rows)
{
    static struct hil_histogram late, none;
    static const struct hil_named_histogram both[] = {{"controller_late", &late}, {"none", &none}};

    for (uint64_t i = 0; i < 1000; i++)
        hil_histogram_add(&late, 100 + i);
    hil_histogram_add(&late, 5000000);
    histograms = both;
    histogram_count = 2;
    write_trace(path, growth, rows);
}

static const char settled[] =
    "{\"measures\": {\"output_v\": {\"settled\": true, \"settling_ms\": 2.164,"
    " \"overshoot_pct\": 8.4, \"pp\": 0}}}";
static const char unsettled[] =
    "{\"measures\": {\"output_v\": {\"settled\": false, \"settling_ms\": null, \"pp\": 408.3,"
    " \"band\": 4.8}}}";

/* Both files exist, have the format of their names, and show more than an empty frame. */
static char *expect_figure(const char *name)
{
    static const char png[] = "\x89PNG";
    char file_name[64], start[4];
    struct stat status;

    snprintf(file_name, sizeof(file_name), "%s.png", name);
    FILE *file = fopen(in_folder("%s", file_name), "rb");
    cr_assert(file && fread(start, 1, 4, file) == 4, "%s", file_name);
    fclose(file);
    cr_expect_eq(memcmp(start, png, 4), 0);
    cr_assert_eq(stat(in_folder("%s", file_name), &status), 0);
    cr_expect_gt(status.st_size, 10000, "%s", file_name);

    snprintf(file_name, sizeof(file_name), "%s.svg", name);
    file = fopen(in_folder("%s", file_name), "r");
    cr_assert(file, "%s", file_name);
    cr_assert_eq(fstat(fileno(file), &status), 0);
    char *svg = calloc(1, (size_t)status.st_size + 1);
    cr_assert_gt(fread(svg, 1, (size_t)status.st_size, file), 2000);
    fclose(file);
    return svg;
}

static void expect_texts(const char *figure, const char *const *texts)
{
    char *svg = expect_figure(figure);

    cr_expect(strstr(svg, "<svg"));
    expect_texts_inside(svg, figure);
    for (; *texts; texts++)
        cr_expect(strstr(svg, *texts), "%s: %s", figure, *texts);
    free(svg);
}

/* An area through which the grid is seen. */
#define SHADED(colour, percent) "fill = 'rgb(" colour ")' fill-opacity = '0." percent

Test(plot, figures_of_a_run)
{
    write_with_histograms(in_folder("trace.h5"), -20, 10000);
    put("summary.json", settled);

    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("output",
                 (const char *const[]){"Output", "my}_own", "virtual time", "sim fabric",
                                       "settles in 2.16 ms", "overshoot 8.4 %", "reference",
                                       "sum of converter[*].voltage_v (V)", NULL});
    expect_texts("voltages", (const char *const[]){"Voltage of each converter", "their mean",
                                                   "peak to peak", NULL});
    expect_texts("duty", (const char *const[]){"Duty of each control", NULL});
    expect_texts("latency", (const char *const[]){"controller late", "max 5000", "count", NULL});
    expect_texts("tail", (const char *const[]){"controller late", "10⁻³", "100 µs", NULL});
    cr_expect(strstr(said, "latency.png"), "%s", said);
}

static const char with_events[] =
    "{\"measures\": {\"output_v\": {\"settled\": true, \"settling_ms\": 4, \"overshoot_pct\": 8.4,"
    " \"pp\": 0.25, \"window\": {\"from_s\": 0.75, \"to_s\": 0.9999}},"
    " \"voltage_v\": {\"unit\": \"V\", \"settled\": false, \"worst\": 1,"
    " \"each\": [{\"pp\": 0}, {\"pp\": 1.5}]}},"
    " \"events\": [{\"time_s\": 0, \"changes\": {},"
    " \"measures\": {\"output_v\": {\"settling_ms\": 2.1}}},"
    " {\"time_s\": 0.5, \"changes\": {\"load\": {\"from\": 10, \"to\": 8, \"unit\": \"Ohm\"}}}]}";

/* The picture shows the window of the steady state, the events, and the runs that do not settle. */
Test(plot, the_window_and_the_events_are_marked)
{
    write_trace(in_folder("trace.h5"), -20, 10000);
    put("summary.json", with_events);

    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("output",
                 (const char *const[]){"0.25 V p-p, 0.75 to 0.9999 s (shaded)", "load 10 to 8 Ω",
                                       "voltage_v[1]: 1.5 V p-p", SHADED(" 30, 125,  70", "10"),
                                       "rgb( 79,  98, 214)", NULL});
    expect_texts("voltages", (const char *const[]){"swing from 0.75 to 1 s",
                                                   SHADED(" 30, 125,  70", "10"), NULL});
}

/* The start-up ends earlier, so nothing is marked there. */
Test(plot, what_is_not_seen_is_not_marked)
{
    static char script[8192];

    write_trace(in_folder("trace.h5"), -20, 10000);
    put("summary.json", with_events);
    cr_assert_eq(plot(), 0, "%s", said);
    FILE *file = fopen(in_folder("plot/output.gp"), "r");
    cr_assert(file);
    cr_expect_gt(fread(script, 1, sizeof(script) - 1, file), 100);
    fclose(file);
    cr_expect(strstr(script, "events[1] = '0.5 '"), "%s", script);
    cr_expect(strstr(script, "window_from[1] = 0.75\n"), "%s", script);
    cr_expect(strstr(script, "events[2] = ''"), "%s", script);
    cr_expect(strstr(script, "window_from[2] = 0\nwindow_to[2] = 0\n"), "%s", script);
}

/* Each event has a panel around it, with its number; what is more is said. */
Test(plot, each_event_has_a_panel)
{
    char events[2000] = "{\"events\": [{\"time_s\": 0}", script[20000] = "";

    write_trace(in_folder("trace.h5"), -20, 10000);
    for (unsigned i = 1; i < 9; i++)
        snprintf(events + strlen(events), sizeof events - strlen(events),
                 ", {\"time_s\": %g, \"changes\": {\"load\": {\"from\": 9, \"to\": %u, "
                 "\"unit\": \"Ohm\"}}}",
                 0.1 * i, i);
    strcat(events, "]}");
    put("summary.json", events);
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("output", (const char *const[]){"1: start-up", "2: load 9 to 1 Ω",
                                                 "6: load 9 to 5 Ω", "and 3 more events", NULL});
    FILE *file = fopen(in_folder("plot/output.gp"), "r");
    cr_assert(file);
    cr_expect_gt(fread(script, 1, sizeof script - 1, file), 100);
    fclose(file);
    cr_expect(strstr(script, "views = 7\nleft_out = 3\n"), "%s", script);
    cr_expect(strstr(script, "event_at[3] = 0.1\n"), "%s", script); /* of 1 s */
    cr_expect(strstr(script, "x_from[3] = 97.5\nx_to[3] = 125\n"), "%s", script);
}

/* Faults: one that began and ended, one that lasted to the end, one that never began, and invalid
 * data. */
Test(plot, faults_are_marked_where_they_act)
{
    static char script[8192];

    write_trace(in_folder("trace.h5"), -20, 10000);
    put("summary.json", "{\"faults\": [{\"name\": \"cut\", \"began_s\": 0.25, \"ended_s\": 0.5},"
                        " {\"name\": \"aged\", \"began_s\": 0.75, \"ended_s\": null},"
                        " {\"name\": \"never\", \"began_s\": null, \"ended_s\": null},"
                        " {\"name\": \"b'; !date\", \"began_s\": 0.3, \"ended_s\": 0.4}, 7]}");
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("output",
                 (const char *const[]){"cut", "aged", SHADED("198,  47,  47", "15"), NULL});
    FILE *file = fopen(in_folder("plot/output.gp"), "r");
    cr_assert(file);
    cr_expect_gt(fread(script, 1, sizeof(script) - 1, file), 100);
    fclose(file);
    cr_expect(strstr(script, "faults[1] = '0.25 0.5 0.75 1 '"), "%s", script);
    cr_expect(strstr(script, "fault_names[1] = 'cut aged '"), "%s", script);
    cr_expect_null(strstr(script, "date"));
}

/* Failed limits are marked in the figure that shows the measure, if they have a time. Also invalid
 * data. */
Test(plot, limits_that_failed_are_marked_in_their_figure)
{
    static char script[8192];

    write_trace(in_folder("trace.h5"), -20, 10000);
    put("summary.json",
        "{\"limits\": [{\"name\": \"o.max\", \"figure\": \"output.svg\", \"time_s\": 0.25},"
        " {\"name\": \"d.max\", \"figure\": \"duty.svg\", \"time_s\": 0.25},"
        " {\"name\": \"o.settling_ms\", \"figure\": \"output.svg\", \"time_s\": null},"
        " {\"name\": \"o.min\", \"time_s\": 0.5},"
        " {\"name\": \"b'; !date\", \"figure\": \"output.svg\", \"time_s\": 0.3}, 7]}");
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("output", (const char *const[]){"o.max failed", "rgb(198,  47,  47)", NULL});
    FILE *file = fopen(in_folder("plot/output.gp"), "r");
    cr_assert(file);
    cr_expect_gt(fread(script, 1, sizeof(script) - 1, file), 100);
    fclose(file);
    cr_expect(strstr(script, "failures[1] = '0.25 o.max '"), "%s", script);
    cr_expect_null(strstr(script, "date"));
}

/* Ten thousand points become a thousand columns, and the peak is among them. */
Test(plot, data_keeps_the_peak)
{
    char line[128];
    double peak = 0;
    int lines = 0;

    write_trace(in_folder("trace.h5"), 3, 10000);
    cr_assert_eq(plot(), 0, "%s", said);

    FILE *file = fopen(in_folder("plot/voltages-band-1.dat"), "r");
    cr_assert(file);
    for (; fgets(line, sizeof(line), file); lines++) {
        double t, low, high;
        cr_assert_eq(sscanf(line, "%lf %lf %lf", &t, &low, &high), 3);
        peak = fmax(peak, high);
    }
    fclose(file);
    cr_expect_leq(lines, 1000);
    cr_expect_float_eq(peak, 12 + exp(3), 0.5);
}

/* One second of steps 1 ms apart. Steps 300 to 399 were not run. Step 700 was 20 ms late, and so
 * were those after it. */
static void write_run_with_gaps(void)
{
    static const struct hil_column columns[] = {
        {"time_s", "s", "", 1, {0}},
        {"step", "", "", 1, {0}},
        {"output_v", "V", "sum of converter[*].voltage_v", 1, OUTPUT},
        {"reference_v", "V", "", 1, REFERENCE}};
    const struct hil_stream_config stream = {
        "controller", columns, 4, 1000, 0, {.period_ns = 1000000, .decimation = 1}};
    struct hil_trace *trace;

    cr_assert_eq(
        hil_trace_create(&trace, in_folder("trace.h5"),
                         &(struct hil_trace_config){.streams = &stream, .stream_count = 1}),
        0);
    for (int n = 0; n < 1000; n++) {
        const double due = n * 1e-3, late = n >= 700 && n < 720 ? 0.720 + (n - 700) * 1e-5 : due;
        const double row[] = {late, n, n < 350 ? 0 : 240, 240};
        if (n < 300 || n >= 400)
            cr_assert_eq(hil_trace_append(trace, 0, row, 1), 0);
    }
    cr_assert_eq(hil_trace_close(trace), 0);
}

static char *contents(const char *name)
{
    static char bytes[1 << 17];
    FILE *file = fopen(in_folder("%s", name), "r");

    cr_assert(file, "%s", name);
    bytes[fread(bytes, 1, sizeof(bytes) - 1, file)] = '\0';
    fclose(file);
    return bytes;
}

/* The number of the file's lines that begin with a time within these limits, in s. */
static int lines_within(const char *name, double from, double to)
{
    int lines = 0;

    for (char *line = strtok(contents(name), "\n"); line; line = strtok(NULL, "\n"))
        lines += atof(line) > from && atof(line) < to;
    return lines;
}

/* The picture has a column for each step. */
Test(plot, gaps_are_not_drawn_over_and_misses_are_marked)
{
    static const char missed[] = "plot/output-missed-1.dat";

    write_run_with_gaps();
    cr_assert_eq(plot(), 0, "%s", said);
    const char *curve = contents("plot/output-value-1.dat");
    cr_expect_not_null(strstr(curve, "\n0.299 0\n\n0.4 240\n"));
    cr_expect_not_null(strstr(curve, "\n0.699 240\n\n0.72 240\n"));
    cr_expect_eq(lines_within(missed, 0, 0.3), 0);
    cr_expect_eq(lines_within(missed, 0.3, 0.4), 100);
    cr_expect_eq(lines_within(missed, 0.4, 0.7), 0);
    cr_expect_eq(lines_within(missed, 0.7, 0.72), 20);
    cr_expect_eq(lines_within(missed, 0.72, 1), 0);
    expect_texts("output", (const char *const[]){"missed steps", NULL});
}

/* A record in virtual time has no step data and no gaps. */
Test(plot, a_whole_record_is_one_line)
{
    write_trace(in_folder("trace.h5"), -20, 10000);
    cr_assert_eq(plot(), 0, "%s", said);
    cr_expect_null(strstr(contents("plot/output-value-1.dat"), "\n\n"));
    cr_expect_str_empty(contents("plot/output-missed-1.dat"));
}

Test(plot, run_without_summary_and_histograms)
{
    write_trace(in_folder("trace.h5"), -20, 100);
    cr_assert_eq(plot(), 0, "%s", said);
    free(expect_figure("output"));
    cr_expect_neq(access(in_folder("latency.png"), F_OK), 0);
}

static void put_in(const char *point, const char *name, const char *content)
{
    char path[80];

    snprintf(path, sizeof path, "%s/%s", point, name);
    put(path, content);
}

static void write_short_point(const char *name, double growth, const char *summary, int rows)
{
    cr_assert_eq(mkdir(in_folder("%s", name), 0777), 0);
    write_trace(in_folder("%s/trace.h5", name), growth, rows);
    put_in(name, "summary.json", summary);
}

static void write_point(const char *name, double growth, const char *summary)
{
    write_short_point(name, growth, summary, 10000);
}

Test(plot, figures_of_a_sweep)
{
    write_point("nodes.controller.period_us=40", -20, settled);
    write_point("nodes.controller.period_us=80", 3, unsettled);
    put("sweep.json",
        "{\"keys\": [\"nodes.controller.period_us\"], \"units\": [\"us\"], \"points\": ["
        "{\"dir\": \"nodes.controller.period_us=40\", \"values\": [\"40\"]},"
        "{\"dir\": \"nodes.controller.period_us=80\", \"values\": [\"80\"]}]}");

    static const char *const texts[] = {"Output for each controller period",
                                        "T = 40 µs",
                                        "settles in 2.16 ms",
                                        "T = 80 µs",
                                        "oscillates, 408 V p-p",
                                        "(V)",
                                        NULL};
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("figure", texts);
    expect_texts("figure-startup", texts);
    expect_texts("figure-overlay", texts);
    expect_texts("figure-startup-overlay", texts);
    cr_expect_neq(access(in_folder("round-trip.png"), F_OK), 0); /* no round trip was measured */
}

/* The share that took at least so long: all for the least time, and only the greatest at the end.
 */
Test(plot, the_tail_goes_from_all_to_one)
{
    double first[2] = {0}, last[2] = {0}, line[2];

    write_with_histograms(in_folder("trace.h5"), -20, 100);
    cr_assert_eq(plot(), 0, "%s", said);
    FILE *file = fopen(in_folder("plot/tail-tail-1.dat"), "r");
    cr_assert(file);
    while (fscanf(file, "%lf %lf", &line[0], &line[1]) == 2) {
        cr_expect(!first[1] || (line[0] > last[0] && line[1] < last[1]));
        if (!first[1])
            memcpy(first, line, sizeof(first));
        memcpy(last, line, sizeof(last));
    }
    fclose(file);
    cr_expect_float_eq(first[0], 0.1, 0.001); /* from 100 ns on */
    cr_expect_eq(first[1], 1);
    cr_expect_float_eq(last[0], 5000, 50); /* to one of 5 ms */
    cr_expect_lt(last[1], 0.5);
}

/* --- real time beside virtual time --------------------------------------------------------- */

static const char in_real_time[] =
    "{\"measures\": {\"output_v\": {\"settled\": true, \"settling_ms\": 3.3, \"pp\": 1}},"
    " \"elapsed_s\": 0.1, \"nodes\": {\"controller\": {\"period_us\": 40, \"steps\": 2400,"
    " \"missed\": 125, \"left_out\": 100},"
    " \"converter\": {\"count\": 20, \"period_us\": 10, \"steps\": 200000,"
    " \"missed\": 500, \"left_out\": 0}},"
    " \"links\": [{\"from\": \"controller\", \"to\": \"converter[*]\"}, {\"round_trip_us\":"
    " {\"p50\": 40.1, \"p99\": 80.2, \"p999\": 4000}}]}";

static void write_sweep(const char *name, const char *first, const char *second)
{
    char index[400];

    snprintf(index, sizeof(index),
             "{\"keys\": [\"nodes.controller.period_us\"], \"units\": [\"us\"], \"points\": ["
             "{\"dir\": \"%s\", \"values\": [\"40\"]},"
             "{\"dir\": \"%s\", \"values\": [\"80\"]}]}",
             first, second);
    put_in(name, "sweep.json", index);
}

static int plot_beside(const char *dir)
{
    static char other[256];
    FILE *messages = fmemopen(said, sizeof(said), "w");

    snprintf(other, sizeof(other), "%s", dir); /* which may be in_folder()'s buffer */
    const int rc =
        hil_plot_beside(folder, other, NULL, (struct hil_plot_span){0, INFINITY}, messages);
    fclose(messages);
    return rc;
}

/* "The headline figure in real time beside the one in virtual time, for every period, with the
 * measured missed deadlines in the caption." */
Test(plot, two_sweeps_side_by_side)
{
    write_point("virtual-40", -20, settled);
    write_point("virtual-80", 3, unsettled);
    write_sweep(".", "virtual-40", "virtual-80");
    cr_assert_eq(mkdir(in_folder("other"), 0777), 0);
    write_point("other/a", -20, in_real_time);
    write_sweep("other", "a", "not-run");
    cr_assert_eq(plot_beside(in_folder("other")), 0, "%s", said);
    expect_texts("figure-beside",
                 (const char *const[]){"T = 40 µs", "left: settles in 2.16 ms",
                                       "right: settles in 3.3 ms", "missed 5 % | 0.25 %",
                                       "of controller | converter:", "right: no record",
                                       "Missed deadlines", NULL});
}

/* The curve of a run that missed too many steps is grey: the machine does not hold its periods. */
Test(plot, a_period_that_the_machine_does_not_hold)
{
    static const char missed[] =
        "{\"measures\": {\"output_v\": {\"settled\": true, \"settling_ms\": 3.3, \"pp\": 1}},"
        " \"nodes\": {\"controller\": {\"period_us\": 50, \"steps\": 2400, \"missed\": 125,"
        " \"left_out\": 100}}, \"validity\": {\"valid\": false, \"reasons\": [\"\"],"
        " \"checks\": {\"missed_percent\": {\"value\": 5, \"bound\": 1, \"passed\": false}}}}";

    static const char faster[] = "{\"nodes\": {\"controller\": {\"period_us\": 40}}}";

    write_short_point("a", -20, faster, 200);
    write_sweep(".", "a", "a");
    cr_assert_eq(mkdir(in_folder("other"), 0777), 0);
    write_short_point("other/a", 3, missed, 200);
    write_sweep("other", "a", "a");
    cr_assert_eq(plot_beside(in_folder("other")), 0, "%s", said);
    expect_texts("figure-beside",
                 (const char *const[]){"missed 5 %: not held", "; controller at 50 µs", NULL});
}

/* The results of the runs on the right may need more words than those on the left. */
Test(plot, longer_words_on_the_right)
{
    static const char longest[] =
        "{\"measures\": {\"output_v\": {\"settled\": false, \"pp\": 123456,"
        " \"band\": 1}},"
        " \"validity\": {\"valid\": false, \"reasons\": [\"controller stood still\"]}}";

    write_short_point("a", -20, settled, 200);
    write_sweep(".", "a", "a");
    cr_assert_eq(mkdir(in_folder("other"), 0777), 0);
    write_short_point("other/a", 3, longest, 200);
    write_sweep("other", "a", "a");
    cr_assert_eq(plot_beside(in_folder("other")), 0, "%s", said);
    expect_texts("figure-beside",
                 (const char *const[]){"right: oscillates, 123456 V p-p; not valid", NULL});
}

/* The axis's label is higher than the minimum height of a row of panels. */
Test(plot, one_run_beside_another)
{
    write_short_point("a", -20, settled, 200);
    put("sweep.json",
        "{\"keys\": [\"nodes.controller.period_us\"], \"units\": [\"us\"], \"points\": ["
        "{\"dir\": \"a\", \"values\": [\"40\"]}]}");
    cr_assert_eq(plot_beside(folder), 0, "%s", said);
    expect_texts("figure-beside", (const char *const[]){"T = 40 µs", NULL});
}

Test(plot, beside_what_is_no_sweep)
{
    write_point("a", -20, settled);
    write_sweep(".", "a", "b");
    cr_expect_eq(plot_beside("/nowhere"), -ENOENT);
    cr_expect(strstr(said, "/nowhere is not the folder of a sweep"), "%s", said);
}

/* "Round trip against T." */
Test(plot, the_round_trip_against_the_period)
{
    write_point("a", -20, in_real_time);
    write_sweep(".", "a", "b");
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("round-trip", (const char *const[]){"Round trip", "median", "one period", NULL});
}

/* "Sweeps and figures carry it": the run's verdict on its own validity. */
Test(plot, a_run_that_is_not_valid_says_so)
{
    static const char invalid[] =
        "{\"measures\": {\"output_v\": {\"settled\": true, \"settling_ms\": 3.3}},"
        " \"validity\": {\"valid\": false, \"reasons\": [\"controller stood still for 2 s\"]}}";

    write_point("a", -20, invalid);
    write_point("b", -20, settled);
    write_sweep(".", "a", "b");
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("figure", (const char *const[]){"settles in 3.3 ms; not valid", NULL});
    FILE *messages = fmemopen(said, sizeof(said), "w");
    cr_assert_eq(hil_plot(in_folder("a"), NULL, (struct hil_plot_span){0, INFINITY}, messages), 0);
    fclose(messages);
    expect_texts("a/output",
                 (const char *const[]){"NOT VALID: controller stood still for 2 s", NULL});
}

/* The reason has the length that a run may give it (harness/summary/validity.c), and is read to its
 * end. */
Test(plot, why_a_run_is_not_valid_is_not_cut)
{
    static const char reason[] =
        "an input was stale 12345 times; allowed: at most 1000; the first was controller to "
        "converter 9999 at 1234.500000 s; the oldest was 2.34 ms old";
    static const char *const figures[] = {"output", "voltages", "duty", "latency", "tail"};
    char summary[400];

    write_with_histograms(in_folder("trace.h5"), -20, 200);
    snprintf(summary, sizeof(summary), "{\"validity\": {\"valid\": false, \"reasons\": [\"%s\"]}}",
             reason);
    put("summary.json", summary);
    cr_assert_eq(plot(), 0, "%s", said);
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        expect_texts(figures[i], (const char *const[]){reason, NULL});
}

/* The changes of one event are above its panel, as far as there is room. */
Test(plot, an_event_of_three_changes)
{
    write_trace(in_folder("trace.h5"), -20, 200);
    put("summary.json", "{\"events\": [{}, {\"time_s\": 0.01, \"changes\": {"
                        "\"reference\": {\"from\": 200.1, \"to\": 300.1, \"unit\": \"V\"},"
                        "\"load\": {\"from\": 10.25, \"to\": 5.125, \"unit\": \"Ohm\"},"
                        "\"input_voltage\": {\"from\": 24.25, \"to\": 20.25, \"unit\": \"V\"}}}]}");
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("output", (const char *const[]){
                               "1: start-up",
                               "2: reference 200.1 to 300.1 V, load 10.25 to 5.125 Ω...", NULL});
}

/* Two keys vary and one does not, and one run failed. The others are drawn. */
Test(plot, sweep_with_a_hole)
{
    write_point("a", -20, settled);
    put("sweep.json", "{\"keys\": [\"network.latency_us\", \"duration_s\", "
                      "\"components.control.parameters.ki_per_v_s\"],"
                      " \"units\": [\"us\", \"s\", \"1/(V s)\"], \"points\": ["
                      "{\"dir\": \"missing\", \"values\": [\"1\", \"9\", \"2\"]},"
                      "{\"dir\": \"a\", \"values\": [\"5\", \"9\", \"0.03\"]}]}");

    cr_assert_eq(plot(), 0, "%s", said);
    cr_expect(strstr(said, "missing"), "%s", said);
    expect_texts("figure",
                 (const char *const[]){"for each network latency and control ki",
                                       "latency 5 µs, ki 0.03 /(V s)", "no record of 1 run", NULL});
}

/* --- many runs ----------------------------------------------------------------------------- */

static const char long_key[] = "components.converter.parameters.inductor_resistance_ohm";

/* Makes a sweep of `first` x `second` runs, all of which are the one in the folder "a". */
static void write_table(unsigned first, unsigned second)
{
    static char index[1 << 16];
    FILE *file = fmemopen(index, sizeof(index), "w");

    fprintf(file,
            "{\"keys\": [\"%s\", \"components.control.parameters.ki_per_v_s\"],"
            " \"units\": [\"Ohm\", \"1/(V s)\"], \"points\": [",
            long_key);
    for (unsigned i = 0; i < first * second; i++)
        fprintf(file, "%s{\"dir\": \"a\", \"values\": [\"%ue-9\", \"%u00000\"]}", i ? "," : "",
                i / second + 1, i % second + 1);
    fputs("]}", file);
    fclose(file);
    put("sweep.json", index);
}

/* "Show all where they fit": each of 40 runs has its panel and its name inside the picture. */
Test(plot, two_keys_and_forty_runs)
{
    write_short_point("a", 3, unsettled, 200);
    write_table(5, 8);
    cr_assert_eq(plot(), 0, "%s", said);
    char *svg = expect_figure("figure");

    expect_texts_inside(svg, "figure");
    for (unsigned i = 0; i < 40; i++) {
        char name[80];

        snprintf(name, sizeof(name), "inductor resistance %ue-9 Ω,", i / 8 + 1);
        cr_expect(strstr(svg, name), "%s", name);
        cr_expect_eq(access(in_folder("plot/figure-series-%u.dat", i + 1), F_OK), 0, "run %u", i);
    }
    cr_expect(strstr(svg, "ki 800000 /(V s)"));
    cr_expect_not(strstr(svg, "left out"));
    free(svg);
    expect_texts("figure-overlay", (const char *const[]){"ki 800000 /(V s)", NULL});
}

/* "Else choose by a stated rule and say in the caption which are left out." */
Test(plot, more_runs_than_fit)
{
    write_short_point("a", -20, settled, 200);
    write_table(10, 13);
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("figure",
                 (const char *const[]){"one run of every 3, from the first on: 86 left out",
                                       "inductor resistance 1e-9 Ω,",
                                       "inductor resistance 10e-9 Ω,", NULL});
    cr_expect_eq(access(in_folder("plot/figure-series-44.dat"), F_OK), 0);
    cr_expect_neq(access(in_folder("plot/figure-series-45.dat"), F_OK), 0);
}

/* If every second run were shown, one of two values would never appear. */
Test(plot, no_value_of_a_key_is_left_out)
{
    write_short_point("a", -20, settled, 200);
    write_table(50, 2);
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("figure",
                 (const char *const[]){"one run of every 3, from the first on: 66 left out",
                                       "ki 100000 /(V s)", "ki 200000 /(V s)", NULL});
}

/* --- maps ---------------------------------------------------------------------------------- */

#define SETTLES(ms)                                                                                \
    "{\"measures\": {\"output_v\": {\"unit\": \"V\", \"settled\": true, \"settling_ms\": " #ms     \
    ", \"overshoot_pct\": 5, \"rise_time_ms\": 0.25, \"steady_error\": -0.02, \"pp\": 0.5}}, "     \
    "\"limits\": [{}], \"verdict\": \"passed\"}"
#define DOES_NOT                                                                                   \
    "{\"measures\": {\"output_v\": {\"unit\": \"V\", \"settled\": false, \"settling_ms\": null, "  \
    "\"overshoot_pct\": 50, \"pp\": 9}}, \"limits\": [{}], \"verdict\": \"failed\"}"

/* Each point is the run in the folder "a", with a summary of its own. */
static void write_map(const char *const (*points)[3], unsigned count)
{
    static char index[1 << 16];
    FILE *file = fmemopen(index, sizeof(index), "w");

    fputs("{\"keys\": [\"nodes.controller.period_us\", \"duration_s\", "
          "\"components.control.parameters.ki_per_v_s\"],"
          " \"units\": [\"us\", \"s\", \"1/(V s)\"], \"points\": [",
          file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "%s{\"dir\": \"a\", \"values\": [\"%s\", \"1\", \"%s\"], \"summary\": %s}",
                i ? "," : "", points[i][0], points[i][1], points[i][2]);
    fputs("]}", file);
    fclose(file);
    put("sweep.json", index);
}

static void expect_data(const char *name, const char *expected)
{
    char content[4000] = "";
    FILE *file = fopen(in_folder("plot/%s", name), "r");

    cr_assert_not_null(file, "%s", name);
    content[fread(content, 1, sizeof(content) - 1, file)] = '\0';
    fclose(file);
    cr_expect_str_eq(content, expected, "%s", name);
}

/* A row for each value of the first key, a column for each of the second. */
Test(plot, two_keys_are_a_map)
{
    static const char *const points[][3] = {
        {"40", "100", SETTLES(0.75)}, {"40", "200", SETTLES(1.5)}, {"40", "300", SETTLES(1e-12)},
        {"50", "100", SETTLES(12.5)}, {"50", "200", DOES_NOT},     {"50", "300", "null"},
    };

    write_short_point("a", -20, settled, 200);
    write_map(points, 6);
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("map-settling",
                 (const char *const[]){"Longest settling time of all events: output (ms)",
                                       "controller period (µs)", "control ki (1/(V s))", "0.75",
                                       "12.5", "50", "300", "does not settle", "not known", NULL});
    expect_data("map-settling-cells-1.dat", "1 1 0 0.75 0.75\n2 1 0 1.5 1.5\n3 1 0 1e-12 0\n"
                                            "1 2 0 12.5 12.5\n2 2 4 0 0\n3 2 5 0 0\n");
    expect_texts("map-verdict", (const char *const[]){"Which runs keep their limits", "passed",
                                                      "failed", "not known", NULL});
    expect_data("map-verdict-cells-1.dat", "1 1 1 0 0\n2 1 1 0 0\n3 1 1 0 0\n"
                                           "1 2 1 0 0\n2 2 2 0 0\n3 2 5 0 0\n");
    expect_texts("map-overshoot",
                 (const char *const[]){"Greatest overshoot of all events: output (%)", NULL});
    expect_texts("map-pp",
                 (const char *const[]){"Peak to peak after the last event: output (V)", NULL});
    expect_texts("map-rise",
                 (const char *const[]){"Longest rise time of all events: output (ms)", NULL});
    expect_data("map-rise-cells-1.dat", "1 1 0 0.25 0.25\n2 1 0 0.25 0.25\n3 1 0 0.25 0.25\n"
                                        "1 2 0 0.25 0.25\n2 2 4 0 0\n3 2 5 0 0\n");
    expect_texts("map-error", (const char *const[]){
                                  "Steady-state error after the last event: output (V)", NULL});
    expect_data("map-error-cells-1.dat", "1 1 0 0.02 0.02\n2 1 0 0.02 0.02\n3 1 0 0.02 0.02\n"
                                         "1 2 0 0.02 0.02\n2 2 4 0 0\n3 2 5 0 0\n");
}

static void expect_no_map(void)
{
    cr_expect_neq(access(in_folder("map-settling.png"), F_OK), 0);
    cr_expect_neq(access(in_folder("map-verdict.png"), F_OK), 0);
}

/* Randomly drawn values do not form a grid, and one key does not make a map. */
Test(plot, what_is_no_grid_is_no_map)
{
    static const char *const drawn[][3] = {{"40", "100", SETTLES(1)},
                                           {"41", "200", SETTLES(1)},
                                           {"42", "300", SETTLES(1)},
                                           {"43", "400", SETTLES(1)}};
    static const char *const uneven[][3] = {{"40", "100", SETTLES(1)},
                                            {"40", "200", SETTLES(1)},
                                            {"50", "100", SETTLES(1)},
                                            {"60", "200", SETTLES(1)}};
    static const char *const one[][3] = {{"40", "100", SETTLES(1)}, {"50", "100", SETTLES(1)}};

    write_short_point("a", -20, settled, 200);
    write_map(drawn, 4);
    cr_assert_eq(plot(), 0, "%s", said);
    expect_no_map();
    write_map(uneven, 4);
    cr_assert_eq(plot(), 0, "%s", said);
    expect_no_map();
    write_map(one, 2);
    cr_assert_eq(plot(), 0, "%s", said);
    expect_no_map();
}

/* Long names, and more values than there is room for text: all text is inside the picture. */
Test(plot, a_map_of_many_runs)
{
    enum { FIRST = 60, SECOND = 40 };
    FILE *file = fopen(in_folder("sweep.json"), "w");

    write_short_point("a", -20, settled, 200);
    fprintf(file,
            "{\"keys\": [\"%s\", \"components.control.parameters.ki_per_v_s\"],"
            " \"units\": [\"Ohm\", \"1/(V s)\"], \"points\": [",
            long_key);
    for (unsigned i = 0; i < FIRST * SECOND; i++)
        fprintf(file,
                "%s{\"dir\": \"a\", \"values\": [\"0.%05u\", \"%u000000.125\"], \"summary\": %s}",
                i ? "," : "", i / SECOND + 1, i % SECOND + 1, i % 7 ? SETTLES(0.123) : DOES_NOT);
    fputs("]}", file);
    fclose(file);
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("map-settling", (const char *const[]){"0.00001", "1000000.125", NULL});
    expect_texts("map-verdict", (const char *const[]){"passed", "failed", NULL});
}

/* Names of the greatest length, side by side. */
Test(plot, few_runs_with_long_names)
{
    write_short_point("a", -20, settled, 200);
    write_table(2, 1);
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("figure", (const char *const[]){"inductor resistance 2e-9 Ω", NULL});
    cr_expect_neq(access(in_folder("round-trip.png"), F_OK), 0);

    cr_assert_eq(plot_beside(folder), 0, "%s", said);
    expect_texts("figure-beside", (const char *const[]){"inductor resistance 2e-9 Ω", NULL});
}

/* Many runs with many keys: the text above the columns is equally long. */
Test(plot, long_titles_beside_one_another)
{
    static char index[1 << 16];
    FILE *file = fmemopen(index, sizeof(index), "w");

    write_short_point("a", -20, settled, 200);
    fputs("{\"keys\": [", file);
    for (int key = 0; key < 4; key++)
        fprintf(file, "%s\"%s_%d\"", key ? ", " : "",
                "components.converter.parameters.of_a_long_name", key);
    fputs("], \"units\": [\"\", \"\", \"\", \"\"], \"points\": [", file);
    for (int i = 0; i < 65; i++)
        fprintf(file, "%s{\"dir\": \"%s\", \"values\": [\"%d\", \"%d\", \"%d\", \"%d\"]}",
                i ? "," : "", i ? "a" : "none", i, i, i, i);
    fputs("]}", file);
    fclose(file);
    put("sweep.json", index);
    cr_assert_eq(plot_beside(folder), 0, "%s", said);
    expect_texts("figure-beside", (const char *const[]){"of a long name 0 and",
                                                        "left out; no record of 1 run", NULL});
}

/* Two keys with the same last words are distinguished by all their words. */
Test(plot, names_that_end_alike)
{
    write_short_point("a", -20, settled, 200);
    put("sweep.json",
        "{\"keys\": [\"nodes.controller.phase_us\", \"nodes.converter.phase_us\"], \"units\": "
        "[\"us\", \"us\"],"
        " \"points\": [{\"dir\": \"a\", \"values\": [\"1\", \"5\"]},"
        " {\"dir\": \"a\", \"values\": [\"2\", \"6\"]}]}");
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("figure",
                 (const char *const[]){"controller phase 2 µs,", "converter phase 6 µs", NULL});
}

/* --- numbers of any size ------------------------------------------------------------------- */

/* Each run is shown with its own reference at its place. */
Test(plot, each_run_has_its_own_reference)
{
    double time, value;

    write_point("a", -20, settled);
    cr_assert_eq(mkdir(in_folder("b"), 0777), 0);
    write_trace_of(in_folder("b/trace.h5"), -20, 100, 1e6);
    write_sweep(".", "a", "b");
    cr_assert_eq(plot(), 0, "%s", said);
    for (unsigned i = 1; i <= 2; i++) {
        FILE *file = fopen(in_folder("plot/figure-reference-%u.dat", i), "r");

        cr_assert(file && fscanf(file, "%lf %lf", &time, &value) == 2);
        cr_expect_float_eq(value, i == 1 ? 36 : 36e6, 1e-3);
        fclose(file);
    }
}

Test(plot, the_greatest_numbers_and_the_least)
{
    static const double scales[] = {1e-9, 1e-4, 1e5, 1e9};

    for (int i = 0; i < 4; i++) {
        write_trace_of(in_folder("trace.h5"), -20, 3000, scales[i]);
        cr_assert_eq(plot(), 0, "%s", said);
        expect_texts("output", (const char *const[]){"Output", NULL});
        expect_texts("voltages", (const char *const[]){"Voltage of each converter", NULL});
    }
}

/* An hour in the tail makes a number of ten digits. */
Test(plot, the_longest_latencies)
{
    static struct hil_histogram late;
    static const struct hil_named_histogram histogram = {"converter_to_controller_age", &late};

    for (uint64_t i = 0; i < 10; i++)
        hil_histogram_add(&late, 3600000000000);
    histograms = &histogram;
    histogram_count = 1;
    write_trace(in_folder("trace.h5"), -20, 100);
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("latency", (const char *const[]){"converter to controller age", "max 36", NULL});
    expect_texts("tail", (const char *const[]){"converter to controller age", NULL});
}

/* A node's name may be long, and is in the names of its measured times. */
Test(plot, histograms_of_long_names)
{
    static struct hil_histogram late;
    static const char name[] = "the_controller_of_the_second_stage_of_the_converter_input_age";
    static const struct hil_named_histogram histogram = {name, &late};

    hil_histogram_add(&late, 1000);
    histograms = &histogram;
    histogram_count = 1;
    write_trace(in_folder("trace.h5"), -20, 100);
    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("latency", (const char *const[]){"converter input age", NULL});
    expect_texts("tail", (const char *const[]){"converter input age", NULL});
}

/* --- what the converters recorded ---------------------------------------------------------- */

/* Each converter is drawn at its own times. The second converter's current is the greater one. */
Test(plot, inductor_current_where_it_was_recorded)
{
    static const struct hil_column of_controller[] = {
        {"time_s", "s", "", 1, {0}},
        {"output_v", "V", "sum of converter[*].voltage_v", 1, OUTPUT},
        {"reference_v", "V", "", 1, REFERENCE}};
    static const struct hil_column of_converter[] = {
        {"time_s", "s", "", 1, {0}},
        {"current_a", "A", "", 1, {.signals = "converter[0].current_a"}}};
    static const struct hil_stream_config streams[] = {
        {.name = "controller", .columns = of_controller, .column_count = 3, .rows = 1000},
        {.name = "converter/000", .columns = of_converter, .column_count = 2, .rows = 100},
        {.name = "converter/001", .columns = of_converter, .column_count = 2, .rows = 100}};
    const struct hil_trace_config config = {.streams = streams, .stream_count = 3};
    struct hil_trace *trace;
    double time, current;

    cr_assert_eq(hil_trace_create(&trace, in_folder("trace.h5"), &config), 0);
    for (int k = 0; k < 1000; k++)
        cr_assert_eq(hil_trace_append(trace, 0, (double[]){k * 1e-4, 24, 24}, 1), 0);
    for (int k = 0; k < 100; k++)
        for (unsigned i = 0; i < 2; i++)
            cr_assert_eq(hil_trace_append(trace, 1 + i, (double[]){k * 1e-3 + i * 5e-4, 5 + i}, 1),
                         0);
    cr_assert_eq(hil_trace_close(trace), 0);

    cr_assert_eq(plot(), 0, "%s", said);
    expect_texts("current", (const char *const[]){"Current of each converter", "current (A)",
                                                  "each converter", NULL});
    FILE *file = fopen(in_folder("plot/current-whole-2.dat"), "r");
    cr_assert(file && fscanf(file, "%lf %lf", &time, &current) == 2);
    cr_expect_float_eq(time, 0.5, 1e-9); /* ms */
    cr_expect_eq(current, 6);
    fclose(file);
    cr_expect_neq(access(in_folder("voltages.png"), F_OK), 0); /* not recorded */
}

/* --- a part of the time -------------------------------------------------------------------- */

static void expect_times(const char *data, double from, double to)
{
    FILE *file = fopen(in_folder("plot/%s", data), "r");
    double time, value, first = NAN, last = NAN;

    cr_assert(file, "%s", data);
    while (fscanf(file, "%lf %lf", &time, &value) == 2) {
        first = isnan(first) ? time : first;
        last = time;
    }
    fclose(file);
    cr_expect_float_eq(first, from, 1e-3 * to, "%s begins at %g", data, first);
    cr_expect_float_eq(last, to, 1e-3 * to, "%s ends at %g", data, last);
}

Test(plot, a_part_of_a_run)
{
    write_with_histograms(in_folder("trace.h5"), -20, 10000);
    cr_assert_eq(plot_span(0.25, 0.5), 0, "%s", said);
    expect_texts("output", (const char *const[]){"time (ms)", NULL});
    expect_texts("voltages", (const char *const[]){"swing from 0.25 to 0.5 s", NULL});
    expect_times("output-value-1.dat", 250, 500);
    expect_times("voltages-mean-1.dat", 250, 500);
    expect_times("voltages-line-1.dat", 250, 500);
    cr_expect_neq(access(in_folder("latency.png"), F_OK), 0); /* it has no time */
}

/* Without the next event in the window, the ramp and the settling would be shown as 0.5 s. */
Test(plot, the_start_up_ends_where_the_next_event_begins)
{
    write_trace(in_folder("trace.h5"), -20, 10000);
    put("summary.json",
        "{\"measures\": {\"output_v\": {\"settled\": true}}, \"events\": [{\"over_s\": 0.1,"
        " \"measures\": {\"output_v\": {\"settling_ms\": 50}}}, {\"time_s\": 0.2, \"changes\": "
        "{}}]}");
    cr_assert_eq(plot(), 0, "%s", said);
    expect_times("output-value-2.dat", 0, 200); /* ms */
}

Test(plot, a_part_of_a_sweep)
{
    write_point("a", -20, settled);
    write_sweep(".", "a", "a");
    cr_assert_eq(plot_span(0.9, 7), 0, "%s", said);
    expect_texts("figure", (const char *const[]){"T = 40 µs", NULL});
    expect_times("figure-series-1.dat", 0.9, 1); /* s */
    expect_times("figure-overlay-series-2.dat", 0.9, 1);
    cr_expect_neq(access(in_folder("figure-startup.png"), F_OK), 0);
}

/* The whole time is not a part: then the start-up and the latencies are drawn. */
Test(plot, as_much_as_there_is)
{
    write_with_histograms(in_folder("trace.h5"), -20, 10000);
    cr_assert_eq(plot_span(0, 1), 0, "%s", said);
    expect_texts("output", (const char *const[]){"start-up", NULL});
    free(expect_figure("latency"));
}

Test(plot, nothing_was_recorded_then)
{
    write_trace(in_folder("trace.h5"), -20, 10000);
    cr_expect_eq(plot_span(1, INFINITY), -ERANGE);
    cr_expect(strstr(said, "nothing to draw from 1 s on: the record ends at 1 s"), "%s", said);
    cr_expect_neq(access(in_folder("output.png"), F_OK), 0);
}

/* --- errors -------------------------------------------------------------------------------- */

Test(plot, no_gnuplot)
{
    write_trace(in_folder("trace.h5"), -20, 100);
    setenv("PATH", "/nowhere", 1);
    cr_expect_eq(plot(), -ENOPKG);
    cr_expect_str_eq(said, "gnuplot is not installed: sudo apt install gnuplot-nox\n");
}

Test(plot, gnuplot_fails)
{
    write_trace(in_folder("trace.h5"), -20, 100);
    put("gnuplot", "#!/bin/sh\necho no such terminal >&2\nexit 1\n");
    chmod(in_folder("gnuplot"), 0755);
    setenv("PATH", folder, 1);
    cr_expect_eq(plot(), -EPROTO);
    cr_expect(strstr(said, "output.gp:\nno such terminal"), "%s", said);
}

Test(plot, not_a_run)
{
    cr_expect_eq(plot(), -ENOENT);
    cr_expect(strstr(said, "is not the folder of a run"), "%s", said);
}

Test(plot, nothing_recorded)
{
    write_trace(in_folder("trace.h5"), 0, 0);
    cr_expect_eq(plot(), -ENODATA);
    cr_expect(strstr(said, "recorded nothing"), "%s", said);
}

Test(plot, damaged_sweep)
{
    put("sweep.json", "{\"keys\": [");
    cr_expect_eq(plot(), -EBADMSG);
    cr_expect(strstr(said, "sweep.json:2:"), "%s", said);
}

Test(plot, sweep_without_runs)
{
    put("sweep.json", "{\"keys\": [], \"points\": []}");
    cr_expect_eq(plot(), -ENODATA);
    cr_expect(strstr(said, "no run to draw"), "%s", said);
}

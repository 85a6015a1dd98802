/*
 * Tests the figures of general scenarios: of measures, of arrays, and of each node's signals by
 * unit. The record has the scenario's streams, with rows written here.
 */
#include "test_scenario.h"

#include <math.h>
#include <sys/stat.h>

#include "folder.h"
#include "harness/figures/plot.h"
#include "harness/record/streams.h"
#include "svg_texts.h"

TestSuite(plot_general, .init = folder_open, .fini = folder_close);

/* A servo: nodes of their own control current and speed, and four cells feed it. */
static const char servo[] =
    "name: servo\nduration_s: 0.2\nmode: virtual\n"
    "nodes:\n"
    "  drive: {period_us: 100}\n"
    "  control: {period_us: 1000}\n"
    "  cell: {period_us: 1000, count: 4}\n"
    "components:\n"
    "  motor: {model: dc_motor, node: drive}\n"
    "  law: {model: generic_pi, node: control}\n"
    "  mixer: {model: sum, node: control, width: 3}\n"
    "  pack: {model: battery, node: \"cell[*]\", count: 4}\n"
    "connections:\n"
    "  - {from: motor.speed_rad_per_s, to: law.measurement}\n"
    "  - {from: law.output, to: motor.voltage_v}\n"
    "sources:\n"
    "  wanted: {to: law.reference, constant: 100}\n"
    "  one: {to: [\"pack[*].current_a\", \"mixer.input[*]\"], constant: 1}\n"
    "record:\n"
    "  - signals: [motor.speed_rad_per_s, motor.current_a, motor.angle_rad, motor.voltage_v]\n"
    "    decimation: 1\n"
    "  - {signals: [law.output, \"mixer.input[*]\"], decimation: 1}\n"
    "  - {signals: [\"pack[*].voltage_v\", \"pack[*].charge\"], decimation: 2}\n"
    "measures:\n"
    "  speed_rad_per_s: {sum: motor.speed_rad_per_s, reference: law.reference, node: control}\n"
    "  current_a: {sum: motor.current_a, node: drive}\n";

static const char summary[] =
    "{\"measures\": {\"speed_rad_per_s\": {\"unit\": \"rad/s\", \"settled\": true,"
    " \"settling_ms\": 12, \"overshoot_pct\": 3.5, \"mean\": 100, \"pp\": 0.25,"
    " \"window\": {\"from_s\": 0.1, \"to_s\": 0.2}}}, \"events\": [{\"over_s\": 0.02,"
    " \"measures\": {\"speed_rad_per_s\": {\"settling_ms\": 30}}}, {\"time_s\": 0.12,"
    " \"changes\": {\"wanted\": {\"from\": 90, \"to\": 100, \"unit\": \"rad/s\"}}}]}";

/* Every number of a row oscillates about a value of its own. */
static double level = 10, swing = 1;

static void write_stream(struct hil_stream *stream, const struct hil_scenario *scenario,
                         unsigned node)
{
    const struct hil_node_config *config = &scenario->system->nodes[node];
    const uint64_t period_ns = config->timing.period_ns * config->decimation;

    for (uint64_t t = 0; t < scenario->duration_ns; t += period_ns) {
        double *row = hil_stream_row(stream);
        const double s = (double)t * 1e-9;

        cr_assert_not_null(row);
        row[0] = s;
        for (unsigned i = 1; i < hil_columns_places(scenario, node).width; i++)
            row[i] = (level + i) * (1 + swing * exp(-20 * s) * sin(200 * s + i));
        hil_stream_commit(stream);
    }
}

static void write_record(const char *text, const char *const *sets)
{
    struct hil_scenario *scenario = load(text, sets);
    struct hil_recorder *recorder;

    cr_assert_eq(hil_streams_open(&recorder, in_folder("trace.h5"), scenario), 0);
    cr_assert_eq(hil_recorder_start(recorder), 0);
    for (unsigned i = 0; i < scenario->system->node_count; i++) {
        const int number = hil_streams_number(scenario->system, i);
        if (number >= 0)
            write_stream(hil_recorder_stream(recorder, (unsigned)number), scenario, i);
    }
    cr_assert_eq(hil_recorder_finish(recorder), 0);
    hil_recorder_close(recorder);
    hil_scenario_free(scenario);
}

static char said[4096];

static int plot(double from_s, double to_s)
{
    FILE *messages = fmemopen(said, sizeof said, "w");
    const int rc = hil_plot(folder, NULL, (struct hil_plot_span){from_s, to_s}, messages);

    fclose(messages);
    return rc;
}

static bool is_drawn(const char *figure)
{
    return access(in_folder("%s.png", figure), F_OK) == 0;
}

/* Checks that the figure exists, has room for its text, and contains these words. */
static void expect_words(const char *figure, const char *const *words)
{
    FILE *file = fopen(in_folder("%s.svg", figure), "r");
    struct stat status;

    cr_assert(file, "%s was not drawn:\n%s", figure, said);
    cr_assert_eq(fstat(fileno(file), &status), 0);
    char *svg = calloc(1, (size_t)status.st_size + 1);
    cr_assert_gt(fread(svg, 1, (size_t)status.st_size, file), 2000);
    fclose(file);
    expect_texts_inside(svg, figure);
    for (; *words; words++)
        cr_expect(strstr(svg, *words), "%s has no '%s'", figure, *words);
    free(svg);
}

static double last_time(const char *data)
{
    FILE *file = fopen(in_folder("plot/%s", data), "r");
    double time, value, last = NAN;

    cr_assert(file, "%s", data);
    while (fscanf(file, "%lf %lf", &time, &value) == 2)
        last = time;
    fclose(file);
    return last;
}

#define EXPECT(figure, ...) expect_words(figure, (const char *const[]){__VA_ARGS__, NULL})

Test(plot_general, each_measure_has_a_figure)
{
    write_record(servo, NULL);
    put("summary.json", summary);
    cr_assert_eq(plot(0, INFINITY), 0, "%s", said);
    EXPECT("speed", "Speed", "motor.speed_rad_per_s (rad/s)", "settles in 12 ms", "reference",
           "0.25 rad/s p-p, 0.1 to 0.2 s (shaded)", "wanted 90 to 100 rad/s");
    EXPECT("current", "Current", "motor.current_a (A)");
}

/* A measure that is not judged has no settling to show. */
Test(plot_general, a_measure_without_a_reference_has_the_first_ones_start_up)
{
    write_record(servo, NULL);
    put("summary.json", summary);
    cr_assert_eq(plot(0, INFINITY), 0, "%s", said);
    cr_expect_float_eq(last_time("speed-value-2.dat"), 100, 1); /* ms */
    cr_expect_float_eq(last_time("current-value-2.dat"), 100, 1);
}

/* "One figure for each node's recorded signals (grouped by unit)." */
Test(plot_general, each_node_has_a_figure_of_its_signals)
{
    write_record(servo, NULL);
    cr_assert_eq(plot(0, INFINITY), 0, "%s", said);
    EXPECT("drive", "Signals of drive", "motor.speed_rad_per_s", "motor.current_a",
           "motor.angle_rad", "motor.voltage_v", ">rad/s<", ">A<", ">rad<", ">V<");
    EXPECT("control", "Signals of control", "law.output");
    cr_expect_not(is_drawn("cell"), "its signals are arrays");
}

/* The tics of a value that hardly changes have many digits. */
Test(plot_general, tics_of_many_digits)
{
    char svg[200000];

    level = -2.6;
    swing = 2e-6;
    write_record(servo, NULL);
    cr_assert_eq(plot(0, INFINITY), 0, "%s", said);
    FILE *file = fopen(in_folder("drive.svg"), "r");
    cr_assert_not_null(file);
    svg[fread(svg, 1, sizeof svg - 1, file)] = '\0';
    fclose(file);
    expect_texts_inside(svg, "drive");
    expect_plots_apart(svg, "drive");
}

/* A panel has room for the names of all its signals, and a node's figure for so many panels. */
Test(plot_general, a_node_with_many_signals)
{
    static char text[6000];
    int used = snprintf(text, sizeof text,
                        "name: many\nduration_s: 0.02\nmode: virtual\n"
                        "nodes:\n  hub: {period_us: 100}\ncomponents:\n");

    for (int i = 0; i < 20; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  gain_%d: {model: gain, node: hub}\n", i);
    used +=
        snprintf(text + used, sizeof text - (size_t)used, "sources:\n  one: {constant: 1, to: [");
    for (int i = 0; i < 20; i++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%sgain_%d.input", i ? ", " : "", i);
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "]}\nrecord:\n  - {decimation: 1, signals: [");
    for (int i = 0; i < 40; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%sgain_%d.%s", i ? ", " : "",
                         i / 2, i % 2 ? "input" : "output");
    snprintf(text + used, sizeof text - (size_t)used, "]}\n");

    write_record(text, NULL);
    cr_assert_eq(plot(0, INFINITY), 0, "%s", said);
    EXPECT("hub", "Signals of hub; 8 more are left out", "gain_0.output", "gain_15.input");
}

Test(plot_general, arrays_of_nodes_and_wide_rows)
{
    write_record(servo, NULL);
    cr_assert_eq(plot(0, INFINITY), 0, "%s", said);
    EXPECT("voltage", "Voltage of each pack", "voltage (V)", "each pack", "pack (swing from");
    EXPECT("charge", "Charge of each pack", "peak to peak");
    EXPECT("input", "Each input of mixer", "their mean", "input (swing from");
}

Test(plot_general, a_part_of_the_time)
{
    write_record(servo, NULL);
    cr_assert_eq(plot(0.05, 0.1), 0, "%s", said);
    EXPECT("drive", "motor.current_a", "time (ms)");
    cr_expect(is_drawn("speed") && is_drawn("charge"));
}

/* Two signals of the same kind on one node, and a measure with the same name as them. */
Test(plot_general, figures_have_names_of_their_own)
{
    write_record(servo,
                 SETS("measures.voltage_v={sum: motor.voltage_v}",
                      "measures.drive={sum: motor.angle_rad}", "measures.tail={sum: law.output}"));
    cr_assert_eq(plot(0, INFINITY), 0, "%s", said);
    EXPECT("voltage", "motor.voltage_v (V)");
    EXPECT("cell-voltage", "Voltage of each pack");
    EXPECT("drive", "motor.angle_rad (rad)");
    EXPECT("node-drive", "Signals of drive");
    EXPECT("control-tail", "law.output");
}

/* Two components of one array, each on a node of its own, are distinct. */
Test(plot_general, parts_of_an_array_on_several_nodes)
{
    write_record("name: two\nduration_s: 0.02\nmode: virtual\n"
                 "nodes:\n  left: {period_us: 100}\n  right: {period_us: 100}\n"
                 "  cell: {period_us: 100, count: 2}\n"
                 "components:\n"
                 "  pack: {model: battery, node: \"cell[*]\", count: 2}\n"
                 "  one: {model: gain, node: left}\n  other: {model: gain, node: right}\n"
                 "connections:\n"
                 "  - {from: \"pack[0].voltage_v\", to: one.input}\n"
                 "  - {from: \"pack[1].voltage_v\", to: other.input}\n"
                 "sources:\n  load: {to: \"pack[*].current_a\", constant: 1}\n"
                 "record:\n"
                 "  - {node: left, signals: \"pack[0].voltage_v\", decimation: 1}\n"
                 "  - {node: right, signals: \"pack[1].voltage_v\", decimation: 1}\n",
                 NULL);
    cr_assert_eq(plot(0, INFINITY), 0, "%s", said);
    EXPECT("left", "pack[0].voltage_v");
    EXPECT("right", "pack[1].voltage_v");
}

/* A signal that two nodes recorded is drawn once, from the node with the complete record. */
Test(plot_general, nothing_is_drawn_twice)
{
    write_record(servo, SETS("record=[{signals: motor.speed_rad_per_s, decimation: 1}, {node: "
                             "control, signals: motor.speed_rad_per_s, decimation: 1}]"));
    cr_assert_eq(plot(0, INFINITY), 0, "%s", said);
    cr_expect(is_drawn("drive"));
    cr_expect_not(is_drawn("control"));
}

/* A record without measures gives figures of its signals. A sweep of such records gives none. */
Test(plot_general, no_measure)
{
    write_record(servo, SETS("measures={}"));
    cr_assert_eq(plot(0, INFINITY), 0, "%s", said);
    cr_expect(is_drawn("drive") && !is_drawn("speed"));
    put("sweep.json", "{\"keys\": [], \"points\": [{\"dir\": \"run\", \"values\": []}]}");
    cr_assert_eq(mkdir(in_folder("run"), 0777), 0);
    cr_assert_eq(rename(in_folder("trace.h5"), in_folder("run/trace.h5")), 0);
    cr_expect_eq(plot(0, INFINITY), -ENODATA);
    cr_expect(strstr(said, "run/trace.h5: no measure was recorded"), "%s", said);
}

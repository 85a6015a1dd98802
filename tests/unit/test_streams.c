/* Tests which values of a scenario are recorded. */
#include "test_scenario.h"

#include "../sets.h"
#include "folder.h"
#include "harness/h5/trace_reader.h"
#include "harness/record/streams.h"
#include "harness/scenario/load/load.h"

TestSuite(streams, .init = folder_open, .fini = folder_close);

static struct hil_scenario *load_file(const char *path, bool virtual_time)
{
    const char *const sets[] = {RECORD_CONVERTERS("5")};
    const struct hil_scenario_options options = {
        .sets = sets, .set_count = 1, .realtime = !virtual_time, .virtual_time = virtual_time};
    struct hil_scenario *scenario;
    char message[1000];

    cr_assert_eq(hil_scenario_load(&scenario, path, &options, message, sizeof message), 0, "%s",
                 message);
    return scenario;
}

/* The record of a run of this scenario, before the run begins. */
static struct hil_trace_reader *empty_record(const struct hil_scenario *scenario)
{
    struct hil_recorder *recorder;
    struct hil_trace_reader *reader;

    cr_assert_eq(hil_streams_open(&recorder, in_folder("trace.h5"), scenario), 0);
    hil_recorder_close(recorder);
    cr_assert_eq(hil_trace_reader_open(&reader, in_folder("trace.h5")), 0);
    return reader;
}

static void expect_fabric(const char *path, bool virtual_time, const char *fabric)
{
    struct hil_scenario *scenario = load_file(path, virtual_time);
    struct hil_trace_reader *reader = empty_record(scenario);

    cr_expect_str_eq(hil_trace_attribute(reader, "fabric"), fabric, "%s", path);
    hil_trace_reader_close(reader);
    hil_scenario_free(scenario);
}

Test(streams, the_record_names_the_fabric_of_the_run)
{
    expect_fabric("configs/dcdc20.yaml", false, "shm");
    expect_fabric("configs/dcdc20-verbs.yaml", false, "verbs");
    expect_fabric("configs/dcdc20-verbs.yaml", true, "sim");
}

/* One of every so many steps has a row. */
Test(streams, the_record_says_when_its_rows_are_due)
{
    struct hil_scenario *scenario = load_file("configs/dcdc20.yaml", true);
    struct hil_trace_reader *reader = empty_record(scenario);
    unsigned count;
    const struct hil_stream_config *streams = hil_trace_streams(reader, &count);

    cr_expect_eq(streams[0].cadence.period_ns, 40000);
    cr_expect_eq(streams[0].cadence.decimation, 1);
    cr_expect_eq(streams[20].cadence.period_ns, 10000);
    cr_expect_eq(streams[20].cadence.decimation, 5);
    hil_trace_reader_close(reader);
    hil_scenario_free(scenario);
}

/* Two single nodes and an array of nodes; the first and the last node record. */
static const char general[] =
    "name: general\nduration_s: 0.1\nmode: virtual\n"
    "nodes:\n"
    "  hub: {period_us: 100}\n"
    "  spare: {period_us: 20, phase_us: 3}\n"
    "  cell: {period_us: 10, count: 2, phase_us: [0, 5]}\n"
    "components:\n"
    "  pack: {model: battery, node: \"cell[*]\", count: 2}\n"
    "  lag: {model: gain, node: hub}\n"
    "  other: {model: gain, node: spare}\n"
    "connections:\n"
    "  - {from: \"pack[1].voltage_v\", to: lag.input}\n"
    "  - {from: \"pack[1].voltage_v\", to: other.input}\n"
    "sources:\n"
    "  one: {to: \"pack[*].current_a\", constant: 1}\n"
    "record:\n"
    "  - {node: hub, signals: lag.output, decimation: 2}\n"
    "  - {node: \"cell[*]\", signals: \"pack[*].charge\", decimation: 10}\n";

static void expect_cadence(const struct hil_stream_config *stream, const char *name,
                           uint64_t phase_ns, uint64_t period_ns, uint64_t decimation)
{
    cr_expect_str_eq(stream->name, name);
    cr_expect_eq(stream->cadence.phase_ns, phase_ns, "%s", name);
    cr_expect_eq(stream->cadence.period_ns, period_ns, "%s", name);
    cr_expect_eq(stream->cadence.decimation, decimation, "%s", name);
}

Test(streams, of_a_general_scenario)
{
    struct hil_scenario *scenario = load(general, NULL);
    struct hil_trace_reader *reader = empty_record(scenario);
    unsigned count;
    const struct hil_stream_config *streams = hil_trace_streams(reader, &count);

    cr_assert_eq(count, 3);
    expect_cadence(&streams[0], "hub", 0, 100000, 2);
    expect_cadence(&streams[1], "cell/000", 0, 10000, 10);
    expect_cadence(&streams[2], "cell/001", 5000, 10000, 10);
    cr_expect_str_eq(streams[2].columns[1].of.signals, "pack[1].charge");
    cr_expect_str_eq(streams[2].columns[1].doc, "share of its capacity that is in it");
    hil_trace_reader_close(reader);
    cr_expect_eq(hil_streams_number(scenario->system, 0), 0);
    cr_expect_eq(hil_streams_number(scenario->system, 1), -1);
    cr_expect_eq(hil_streams_number(scenario->system, 3), 2);
    hil_scenario_free(scenario);
}

/* A run that records nothing has an empty record. */
Test(streams, nothing_is_recorded)
{
    struct hil_scenario *scenario =
        load(SMALL, SETS("record.0.decimation=0", RECORD_CONVERTERS("0")));
    struct hil_trace_reader *reader = empty_record(scenario);
    unsigned count;

    hil_trace_streams(reader, &count);
    cr_expect_eq(count, 0);
    cr_expect_str_eq(hil_trace_attribute(reader, "scenario"), "small");
    hil_trace_reader_close(reader);
    hil_scenario_free(scenario);
}

/* A node without instructions on recording has its measures in its record; for a measure of each
 * signal, it has the signals. */
Test(streams, a_measure_has_a_record)
{
    struct hil_scenario *scenario = load(
        general, SETS("measures={level: {sum: other.output}, charge: {each: \"pack[*].voltage_v\", "
                      "node: hub}}",
                      "connections.2={from: \"pack[0].voltage_v\", to: third.input}",
                      "components.third={model: gain, node: hub}", "record=[]"));
    struct hil_trace_reader *reader = empty_record(scenario);
    unsigned count;
    const struct hil_stream_config *streams = hil_trace_streams(reader, &count);

    cr_assert_eq(count, 2);
    expect_cadence(&streams[0], "hub", 0, 100000, 1);
    cr_expect_str_eq(streams[0].columns[1].of.role, "each");
    cr_expect_str_eq(streams[0].columns[1].of.signals, "pack[*].voltage_v");
    expect_cadence(&streams[1], "spare", 3000, 20000, 1);
    cr_expect_str_eq(streams[1].columns[1].of.measure, "level");
    hil_trace_reader_close(reader);
    hil_scenario_free(scenario);
}

/* This does not hold if the scenario says what the node records. */
Test(streams, a_measure_of_a_node_that_is_not_to_record)
{
    struct hil_scenario *scenario =
        load(general, SETS("measures={level: {sum: other.output}}",
                           "record=[{node: spare, signals: other.output, decimation: 0}]"));

    cr_expect_eq(hil_streams_number(scenario->system, 1), -1);
    hil_scenario_free(scenario);
}

/* What of a scenario is recorded. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "folder.h"
#include "harness/record/streams.h"
#include "harness/record/trace_reader.h"

TestSuite(streams, .init = folder_open, .fini = folder_close);

static struct hil_scenario *load(const char *path, bool virtual_time)
{
    const char *const sets[] = {"recording.converter_decimation=5"};
    const struct hil_scenario_options options = {
        .sets = sets, .set_count = 1, .realtime = !virtual_time, .virtual_time = virtual_time};
    struct hil_scenario *scenario;
    char message[1000];

    cr_assert_eq(hil_scenario_load(&scenario, path, &options, message, sizeof message), 0, "%s",
                 message);
    return scenario;
}

/* The record of a run of this scenario that has not begun. */
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
    struct hil_scenario *scenario = load(path, virtual_time);
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

/* Each column's place is where the columns before it end. */
static void expect_places(const struct hil_scenario *scenario,
                          const struct hil_stream_config *stream, unsigned node)
{
    unsigned place = 0;

    for (unsigned i = 0; i < stream->column_count; i++) {
        const struct hil_column *column = &stream->columns[i];
        cr_expect_eq(hil_streams_place(scenario, node, column->name), (int)place, "%s of node %u",
                     column->name, node);
        place += column->width;
    }
    cr_expect_eq(hil_streams_place(scenario, node, "voltage"), -1);
}

static void expect_all_places(bool virtual_time)
{
    struct hil_scenario *scenario = load("configs/dcdc20.yaml", virtual_time);
    struct hil_trace_reader *reader = empty_record(scenario);
    unsigned count;
    const struct hil_stream_config *streams = hil_trace_streams(reader, &count);

    cr_assert_eq(count, 21);
    for (unsigned node = 0; node < count; node++)
        expect_places(scenario, &streams[node], node);
    hil_trace_reader_close(reader);
    hil_scenario_free(scenario);
}

Test(streams, a_rows_places_are_those_of_its_columns)
{
    expect_all_places(true);
    expect_all_places(false);
}

/* In virtual time both follow from the number of the row. */
Test(streams, steps_and_plants_are_recorded_against_the_clock)
{
    struct hil_scenario *scenario = load("configs/dcdc20.yaml", false);

    for (unsigned node = 0; node < 2; node++) {
        cr_expect_eq(hil_streams_place(scenario, node, "step"), 1);
        cr_expect_eq(hil_streams_place(scenario, node, "plant_time_s"), 2);
    }
    hil_scenario_free(scenario);
    scenario = load("configs/dcdc20.yaml", true);
    for (unsigned node = 0; node < 2; node++) {
        cr_expect_eq(hil_streams_place(scenario, node, "step"), -1);
        cr_expect_eq(hil_streams_place(scenario, node, "plant_time_s"), -1);
    }
    hil_scenario_free(scenario);
}

/* One of every so many steps of the loop has a row. */
Test(streams, the_record_says_when_its_rows_are_due)
{
    struct hil_scenario *scenario = load("configs/dcdc20.yaml", true);
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

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "harness/h5/trace.h"
#include "harness/record/export.h"

static char said[512];

TestSuite(export, .init = folder_open, .fini = folder_close);

static int export(void)
{
    FILE *messages = fmemopen(said, sizeof(said), "w");
    const int rc = hil_export_csv(folder, NULL, messages);

    fclose(messages);
    return rc;
}

static void expect_file(const char *name, const char *expected)
{
    char text[1024] = "";
    FILE *file = fopen(in_folder("%s", name), "r");

    cr_assert(file, "%s", name);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    cr_expect_str_eq(text, expected);
}

Test(export, tables_of_all_streams)
{
    static const struct hil_column controller[] = {
        {"time_s", "s", "", 1, {0}}, {"output_v", "V", "", 1, {0}}, {"duty", "", "", 2, {0}}};
    static const struct hil_column converter[] = {{"time_s", "s", "", 1, {0}},
                                                  {"voltage_v", "V", "", 1, {0}}};
    const struct hil_stream_config streams[] = {{"controller", controller, 3, 2, 0, {0}},
                                                {"converter/007", converter, 2, 0, 0, {0}}};
    const double rows[] = {0, 240, 0.1, 1.0 / 3, 4e-05, -1e300, 0.30000000000000004, 5};
    struct hil_trace *trace;

    cr_assert_eq(
        hil_trace_create(&trace, in_folder("trace.h5"),
                         &(struct hil_trace_config){.streams = streams, .stream_count = 2}),
        0);
    cr_assert_eq(hil_trace_append(trace, 0, rows, 2), 0);
    cr_assert_eq(hil_trace_close(trace), 0);

    cr_assert_eq(export(), 0, "%s", said);
    expect_file("controller.csv", "time_s,output_v,duty_0,duty_1\n"
                                  "0,240,0.1,0.33333333333333331\n"
                                  "4e-05,-1e+300,0.30000000000000004,5\n");
    expect_file("converter-007.csv", "time_s,voltage_v\n");
    cr_expect(strstr(said, "controller.csv: 2 rows"));
}

/* Every second step has a row. "Export shows step numbers and gaps": steps 2 and 10 were not run,
 * and the rows of step 4 were dropped. */
Test(export, steps_and_what_is_missing)
{
    static const struct hil_column columns[] = {
        {"time_s", "s", "", 1, {0}}, {"step", "", "", 1, {0}}, {"output_v", "V", "", 1, {0}}};
    const struct hil_stream_config stream = {
        "controller", columns, 3, 4, 0, {.period_ns = 1000, .decimation = 2}};
    const double rows[] = {0, 0, 11, 6e-6, 6, 12, 8e-6, 8, 13, 12.5e-6, 12, 14};
    struct hil_trace *trace;

    cr_assert_eq(
        hil_trace_create(&trace, in_folder("trace.h5"),
                         &(struct hil_trace_config){.streams = &stream, .stream_count = 1}),
        0);
    cr_assert_eq(hil_trace_append(trace, 0, rows, 4), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
    cr_assert_eq(export(), 0, "%s", said);
    expect_file("controller.csv", "time_s,step,missing_rows,output_v\n"
                                  "0,0,0,11\n"
                                  "6e-06,6,2,12\n"
                                  "8e-06,8,0,13\n"
                                  "1.25e-05,12,1,14\n");
}

/* In virtual time the steps are not recorded, as they are known. */
Test(export, steps_of_a_whole_record)
{
    static const struct hil_column columns[] = {{"time_s", "s", "", 1, {0}},
                                                {"output_v", "V", "", 1, {0}}};
    const struct hil_stream_config stream = {
        "controller", columns, 2, 2, 0, {.period_ns = 1000, .decimation = 5}};
    const double rows[] = {0, 11, 5e-6, 12};
    struct hil_trace *trace;

    cr_assert_eq(hil_trace_create(&trace, in_folder("trace.h5"),
                                  &(struct hil_trace_config){
                                      .streams = &stream, .stream_count = 1, .whole = true}),
                 0);
    cr_assert_eq(hil_trace_append(trace, 0, rows, 2), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
    cr_assert_eq(export(), 0, "%s", said);
    expect_file("controller.csv", "time_s,step,missing_rows,output_v\n"
                                  "0,0,0,11\n"
                                  "5e-06,5,0,12\n");
}

/* More rows than the reader reads at once. */
Test(export, all_rows_in_order)
{
    static const struct hil_column columns[] = {{"n", "", "", 1, {0}}};
    const struct hil_stream_config stream = {"controller", columns, 1, 1, 0, {0}};
    struct hil_trace *trace;
    char line[64];

    cr_assert_eq(
        hil_trace_create(&trace, in_folder("trace.h5"),
                         &(struct hil_trace_config){.streams = &stream, .stream_count = 1}),
        0);
    for (double n = 0; n < 20000; n++)
        cr_assert_eq(hil_trace_append(trace, 0, &n, 1), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
    cr_assert_eq(export(), 0, "%s", said);

    FILE *file = fopen(in_folder("controller.csv"), "r");
    cr_assert(fgets(line, sizeof(line), file));
    for (int n = 0; n < 20000; n++) {
        cr_assert(fgets(line, sizeof(line), file));
        cr_assert_eq(atoi(line), n);
    }
    cr_expect_null(fgets(line, sizeof(line), file));
    fclose(file);
}

Test(export, says_what_a_folder_lacks)
{
    cr_expect_eq(export(), -ENOENT);
    cr_expect(strstr(said, "is not the folder of a run: it has no trace.h5"), "%s", said);

    fclose(fopen(in_folder("sweep.json"), "w"));
    cr_expect_eq(export(), -ENOENT);
    cr_expect(strstr(said, "holds a sweep, not a run"), "%s", said);

    FILE *file = fopen(in_folder("trace.h5"), "w");
    fputs("no trace", file);
    fclose(file);
    cr_expect_eq(export(), -EBADMSG);
    cr_expect(strstr(said, "trace.h5 is damaged, or no trace"), "%s", said);
}

Test(export, no_folder)
{
    FILE *messages = fmemopen(said, sizeof(said), "w");

    cr_expect_eq(hil_export_csv("/nowhere/at/all", NULL, messages), -ENOENT);
    fclose(messages);
    cr_expect_str_eq(said, "/nowhere/at/all: No such file or directory\n");
}

/* Tables are recognised by their first line: a table of the user's own is not removed with the
 * run's. */
Test(export, knows_its_own_tables)
{
    put("hub.csv", "time_s,step,missing_rows,speed_rad_per_s\n0,0,0,1");
    put("events.csv", "time_s,step,node,kind,of,value\n0,0,hub,stale,cell,0.1");
    put("mine.csv", "time_s,value\n0,1");
    put("hub.txt", "time_s,step,missing_rows,speed_rad_per_s");
    cr_expect(hil_export_made(folder, "hub.csv"));
    cr_expect(hil_export_made(folder, "events.csv"));
    cr_expect_not(hil_export_made(folder, "mine.csv"));
    cr_expect_not(hil_export_made(folder, "hub.txt"));
    cr_expect_not(hil_export_made(folder, "none.csv"));
}

/* Names that equal the names of a matrix's columns, or of the table's own columns. */
Test(export, no_two_columns_have_one_name)
{
    static const struct hil_column columns[] = {{"time_s", "s", "", 1, {0}},
                                                {"speed", "", "", 2, {0}},
                                                {"speed_1", "", "", 1, {0}},
                                                {"missing_rows", "", "", 1, {0}}};
    const struct hil_stream_config stream = {"hub", columns, 4,
                                             1,     0,       {.period_ns = 1000, .decimation = 1}};
    const double row[] = {0, 1, 2, 3, 4};
    struct hil_trace *trace;

    cr_assert_eq(hil_trace_create(&trace, in_folder("trace.h5"),
                                  &(struct hil_trace_config){
                                      .streams = &stream, .stream_count = 1, .whole = true}),
                 0);
    cr_assert_eq(hil_trace_append(trace, 0, row, 1), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
    cr_assert_eq(export(), 0, "%s", said);
    expect_file("hub.csv", "time_s,step,missing_rows,speed_0,speed[1],speed_1,missing_rows (2)\n"
                           "0,0,0,1,2,3,4\n");
}

/* Names in a record may be anyone's, and a spreadsheet computes what looks like a formula. */
Test(export, no_name_is_a_formula)
{
    const struct hil_column columns[] = {{"time_s", "s", "", 1, {0}},
                                         {"=1+1;\033[31m\"<b>", "", "", 1, {0}},
                                         {"-2", "", "", 1, {0}},
                                         {"@SUM(A1,A2)", "", "", 2, {0}}};
    const struct hil_stream_config stream = {"hub", columns, 4, 1, 0, {0}};
    const double row[] = {0, 1, 2, 3, 4};
    struct hil_trace *trace;

    cr_assert_eq(
        hil_trace_create(&trace, in_folder("trace.h5"),
                         &(struct hil_trace_config){.streams = &stream, .stream_count = 1}),
        0);
    cr_assert_eq(hil_trace_append(trace, 0, row, 1), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
    cr_assert_eq(export(), 0, "%s", said);
    expect_file("hub.csv", "time_s,\"'=1+1;?[31m\"\"<b>\",-2,\"'@SUM(A1,A2)_0\","
                           "\"'@SUM(A1,A2)_1\"\n0,1,2,3,4\n");
}

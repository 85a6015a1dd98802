/*
 * "Every size that comes from a file is checked before use": tests traces that no run has written.
 * None may make a reader write out of bounds (make sanitize detects that), take memory without
 * limit, or loop for ever. Each is refused, or drawn as far as possible.
 */
#include <criterion/criterion.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "harness/figures/plot.h"
#include "harness/figures/plot_data.h"
#include "harness/h5/trace_reader.h"
#include "harness/record/export.h"

TestSuite(trace_hostile, .init = folder_open, .fini = folder_close);

/* --- files of one's own making ---------------- */

static hid_t file, controller;

static void begin(void)
{
    file = H5Fcreate(in_folder("trace.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    controller = H5Gcreate2(file, "controller", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    cr_assert(file >= 0 && controller >= 0);
}

static void end(void)
{
    H5Gclose(controller);
    H5Fclose(file);
}

/* Like the writer's dataset, except for its shape. A width of 0 makes a vector. */
static hid_t make(const char *name, hsize_t rows, hsize_t width, hsize_t chunk_rows,
                  hsize_t chunk_width)
{
    const hsize_t size[] = {rows, width}, chunk[] = {chunk_rows, chunk_width};
    const hsize_t limit[] = {H5S_UNLIMITED, width};
    const int dimensions = width ? 2 : 1;
    const hid_t space = H5Screate_simple(dimensions, size, limit);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);

    H5Pset_chunk(create, dimensions, chunk);
    const hid_t made =
        H5Dcreate2(controller, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
    cr_assert_geq(made, 0);
    H5Pclose(create);
    H5Sclose(space);
    return made;
}

/* Each place has its index as its value, from `first` on in steps of `step`. */
static void fill(hid_t dataset, hsize_t count, double first, double step)
{
    double *values = malloc(count * sizeof *values);

    for (hsize_t i = 0; i < count; i++)
        values[i] = first + (double)i * step;
    cr_assert_geq(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Dclose(dataset);
    free(values);
}

static void text(hid_t object, const char *name, const char *value)
{
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);

    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    cr_assert_geq(H5Awrite(attribute, type, &value), 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
}

/* The attributes that the writer gives these. */
static void describe(hid_t dataset, const char *name)
{
    static const struct {
        const char *name, *signals, *role;
    } known[] = {{"output_v", NULL, "value"},
                 {"reference_v", NULL, "reference"},
                 {"voltage_v", "converter[*].voltage_v", "each"},
                 {"duty", "control[*].duty", NULL}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, name) != 0)
            continue;
        if (known[i].role)
            text(dataset, "role", known[i].role);
        if (known[i].role)
            text(dataset, "measure", known[i].signals ? "voltage_v" : "output_v");
        if (known[i].signals)
            text(dataset, "signals", known[i].signals);
    }
}

static void column(const char *name, hsize_t rows, hsize_t width)
{
    const hsize_t wide = width ? width : 1;
    const hid_t dataset = make(name, rows, width, rows, wide);

    describe(dataset, name);
    fill(dataset, rows * wide, 0.25, 0.25);
}

/* The parts that each record of a controller has. */
static void columns(hsize_t rows)
{
    column("time_s", rows, 0);
    column("output_v", rows, 0);
    column("reference_v", rows, 0);
}

static void counts(hid_t object, const char *name, hsize_t count, uint64_t value)
{
    uint64_t *values = malloc(count * sizeof *values);
    const hid_t space = H5Screate_simple(1, &count, NULL);
    const hid_t attribute =
        H5Acreate2(object, name, H5T_NATIVE_UINT64, space, H5P_DEFAULT, H5P_DEFAULT);

    for (hsize_t i = 0; i < count; i++)
        values[i] = value;
    cr_assert_geq(H5Awrite(attribute, H5T_NATIVE_UINT64, values), 0);
    H5Aclose(attribute);
    H5Sclose(space);
    free(values);
}

static void cadence(uint64_t phase, uint64_t period, uint64_t decimation)
{
    counts(controller, "phase_ns", 1, phase);
    counts(controller, "period_ns", 1, period);
    counts(controller, "decimation", 1, decimation);
}

/* --- what becomes of them ---------------- */

static char said[4096];

/* Plots and exports the trace. Returns the worse exit status of the two, with their output. */
static int read_all(void)
{
    const struct hil_plot_span all = {0, INFINITY};
    FILE *messages = fmemopen(said, sizeof said, "w");
    const int plotted = hil_plot(folder, NULL, all, messages);
    const int exported = hil_export_csv(folder, NULL, messages);

    fclose(messages);
    return plotted ? plotted : exported;
}

static void expect_refused(const char *what)
{
    end();
    cr_expect_lt(read_all(), 0, "%s is not refused", what);
    cr_expect(strstr(said, "trace.h5"), "%s: the message names no file: %s", what, said);
}

static void expect_read(const char *what)
{
    end();
    cr_expect_eq(read_all(), 0, "%s: %s", what, said);
}

/* --- shapes ---------------- */

Test(trace_hostile, what_is_sound_is_read)
{
    begin();
    columns(16);
    column("voltage_v", 16, 3);
    cadence(0, 250000000, 1);
    expect_read("a sound trace");
}

/* A node's name is used in a figure: in the file's name and in a variable of gnuplot's script. */
Test(trace_hostile, a_name_that_is_a_command)
{
    static const char name[] = "'.system('touch pwned').'";
    char pwned[100];

    begin();
    columns(16);
    cadence(0, 250000000, 1);
    H5Gclose(controller);
    controller = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    column("time_s", 16, 0);
    const hid_t dataset = make("angle_rad", 16, 0, 16, 1);
    text(dataset, "signals", "motor.angle_rad");
    fill(dataset, 16, 0, 1);
    cadence(0, 250000000, 1);
    end();
    read_all();
    cr_expect(strstr(said, "system--touch-pwned"), "%s", said);
    snprintf(pwned, sizeof pwned, "%s", in_folder("plot/pwned"));
    cr_expect_neq(access(pwned, F_OK), 0);
}

/* Room for a single double was used for as many as the file said. */
Test(trace_hostile, a_number_that_is_many)
{
    static const char *const names[] = {"time_s", "output_v", "reference_v", "step"};

    for (int bad = 0; bad < 4; bad++) {
        begin();
        for (int i = 0; i < 4; i++)
            column(names[i], 16, i == bad ? 2048 : 0);
        cadence(0, 1000, 1);
        expect_refused(names[bad]);
    }
}

/* 2^31 rows of 2^30 numbers: the number of bytes overflows to 0. */
Test(trace_hostile, a_block_whose_bytes_wrap)
{
    begin();
    columns(16);
    H5Dclose(make("duty", (hsize_t)1 << 31, (hsize_t)1 << 30, (hsize_t)1 << 20, 1));
    expect_refused("a matrix of 2^61 numbers");

    begin();
    columns(16);
    H5Dclose(make("duty", 16, (hsize_t)1 << 31, 16, 1));
    expect_refused("2^31 converters");
}

/* Rows without bytes in the file: a gigabyte of them, and more than the file has. */
Test(trace_hostile, rows_that_are_not_there)
{
    static const hsize_t rows[] = {(hsize_t)1 << 30, (hsize_t)1 << 60};

    for (int i = 0; i < 2; i++) {
        begin();
        H5Dclose(make("time_s", rows[i], 0, 4096, 1));
        H5Dclose(make("output_v", rows[i], 0, 4096, 1));
        H5Dclose(make("reference_v", rows[i], 0, 4096, 1));
        expect_refused("rows without an end");
    }
}

/* HDF5 would allocate a whole chunk to read one row of it. */
Test(trace_hostile, a_chunk_of_gigabytes)
{
    begin();
    columns(16);
    H5Dclose(make("duty", 16, 0, (hsize_t)1 << 28, 1));
    expect_refused("a chunk of 2 GiB");
}

Test(trace_hostile, what_is_no_number)
{
    const hsize_t rows = 16;
    const hid_t space = H5Screate_simple(1, &rows, NULL), text = H5Tcopy(H5T_C_S1);

    H5Tset_size(text, H5T_VARIABLE);
    begin();
    columns(16);
    H5Dclose(H5Dcreate2(controller, "duty", text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    expect_refused("a column of texts");
    H5Sclose(space);
    H5Tclose(text);
}

/* --- attributes ---------------- */

Test(trace_hostile, an_attribute_that_is_many)
{
    static const char *const names[] = {"phase_ns", "period_ns", "decimation"};

    for (int bad = 0; bad < 3; bad++) {
        begin();
        columns(16);
        for (int i = 0; i < 3; i++)
            counts(controller, names[i], i == bad ? 4096 : 1, 1000);
        expect_read("a cadence that is many is none");
    }
}

static void texts(const char *name, hsize_t count)
{
    const char *values[512];
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &count, NULL);

    for (int i = 0; i < 512; i++)
        values[i] = "dcdc20";
    H5Tset_size(type, H5T_VARIABLE);
    const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    cr_assert_geq(H5Awrite(attribute, type, values), 0);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
}

Test(trace_hostile, a_text_that_is_many_or_a_number)
{
    begin();
    columns(16);
    texts("scenario", 512);
    counts(file, "mode", 64, 0x4141414141414141);
    expect_read("a scenario of many names is none");
}

Test(trace_hostile, a_histogram_that_is_many)
{
    static uint64_t buckets[HIL_HISTOGRAM_BUCKETS + 1];
    const hsize_t count = HIL_HISTOGRAM_BUCKETS + 1, one = 1;

    for (int bad = 0; bad < 2; bad++) {
        begin();
        columns(16);
        const hid_t all = H5Gcreate2(file, "histograms", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t group = H5Gcreate2(all, "late", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t space = H5Screate_simple(1, bad ? &one : &count, NULL);
        for (int i = 0; i < 2; i++) {
            const hid_t dataset = H5Dcreate2(group, i ? "count" : "lower_ns", H5T_NATIVE_UINT64,
                                             space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, buckets);
            H5Dclose(dataset);
        }
        counts(group, "max_ns", bad ? 4096 : 1, UINT64_MAX);
        counts(group, "sum_ns", 1, UINT64_MAX);
        H5Sclose(space);
        H5Gclose(group);
        H5Gclose(all);
        expect_refused("a histogram of too much");
    }
}

/* --- numbers ---------------- */

/* One mark for each missed step: they were counted down from 1e300. */
Test(trace_hostile, steps_that_are_far_apart)
{
    begin();
    columns(16);
    fill(make("step", 16, 0, 16, 1), 16, 1e300, 1e299);
    cadence(0, 1000, 1);
    expect_read("steps without an end");
}

Test(trace_hostile, times_without_an_end)
{
    begin();
    fill(make("time_s", 16, 0, 16, 1), 16, INFINITY, 1);
    column("output_v", 16, 0);
    column("reference_v", 16, 0);
    expect_refused("a run that ends never");

    begin();
    columns(16);
    cadence(UINT64_MAX, UINT64_MAX, UINT64_MAX);
    end();
    read_all();
}

/* --- references to other files -------- */

static void put_secret(void)
{
    const hid_t other = H5Fcreate(in_folder("secret.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t keep = controller;

    controller = other;
    column("secret", 16, 0);
    controller = keep;
    H5Fclose(other);
}

/* A record from somebody else must not make the plotting user's files be read. */
Test(trace_hostile, columns_of_other_files)
{
    const hsize_t rows = 16;
    const hid_t space = H5Screate_simple(1, &rows, NULL);

    begin();
    put_secret();
    columns(16);
    H5Lcreate_external(in_folder("secret.h5"), "/secret", controller, "duty", H5P_DEFAULT,
                       H5P_DEFAULT);
    end();
    read_all();
    const char *table = in_folder("controller.csv");
    FILE *csv = fopen(table, "r");
    if (csv) {
        cr_expect_not(fgets(said, sizeof said, csv) && strstr(said, "duty"),
                      "an external link was followed: %s", said);
        fclose(csv);
    }

    const hid_t external = H5Pcreate(H5P_DATASET_CREATE);
    begin();
    columns(16);
    H5Pset_external(external, "/etc/passwd", 0, 16 * sizeof(double));
    H5Dclose(
        H5Dcreate2(controller, "duty", H5T_IEEE_F64LE, space, H5P_DEFAULT, external, H5P_DEFAULT));
    H5Pclose(external);
    expect_refused("a column in another file");

    const hid_t virtual = H5Pcreate(H5P_DATASET_CREATE);
    begin();
    columns(16);
    H5Pset_virtual(virtual, space, in_folder("secret.h5"), "/secret", space);
    H5Dclose(
        H5Dcreate2(controller, "duty", H5T_IEEE_F64LE, space, H5P_DEFAULT, virtual, H5P_DEFAULT));
    H5Pclose(virtual);
    expect_refused("a column made of another file's");
    H5Sclose(space);
}

/* --- summary.json and sweep.json ---------------- */

/* 1e308 V has more digits than a line has room for, and "not valid" came after them. */
Test(trace_hostile, a_summary_of_great_numbers)
{
    static const char *const summaries[] = {
        "{\"output\": {\"pp_v\": 1e308}, \"validity\": {\"reasons\": [\"late\"]}}",
        "{\"output\": {\"settled\": true}, \"outputs\": {\"worst\": 1e300, \"settled\": false}}",
        "{\"output\": {\"settled\": true}, \"outputs\": {\"worst\": -7, \"settled\": false}}",
        "{\"output\": {\"settled\": 1, \"window\": {\"from_s\": -1e308, \"to_s\": 1e308}},"
        " \"events\": [{\"output\": {\"settling_ms\": 1e308}}, {\"time_s\": 1e308,"
        " \"changes\": {\"reference_v\": {\"from\": 1e308, \"to\": -1e308}}}]}",
        "[[[[1]]]]"};

    for (size_t i = 0; i < sizeof summaries / sizeof summaries[0]; i++) {
        begin();
        columns(16);
        put("summary.json", summaries[i]);
        expect_read(summaries[i]);
    }
}

/* The points of a sweep must be folders within the sweep's own. */
Test(trace_hostile, a_sweep_of_other_folders)
{
    begin();
    columns(16);
    end();
    mkdir(in_folder("sweep"), 0700);
    put("sweep/sweep.json", "{\"keys\": [\"a\"], \"points\": [{\"dir\": \"..\", \"values\": "
                            "[\"1\"]}, {\"dir\": \"../\", \"values\": [\"2\"]}]}");
    FILE *messages = fmemopen(said, sizeof said, "w");
    cr_expect_lt(hil_plot(in_folder("sweep"), NULL, (struct hil_plot_span){0, INFINITY}, messages),
                 0);
    fclose(messages);
    cr_expect(strstr(said, "no run to draw"), "%s", said);
}

/* Tests that a trace is read as it was written, by hiloco and by any other reader of HDF5. */
#include <criterion/criterion.h>
#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "harness/h5/trace.h"
#include "harness/h5/trace_reader.h"

/* The columns are not in alphabetical order. */
static const struct hil_column controller[] = {
    {"time_s", "s", "since the start", 1, {0}},
    {"output_v", "V", "sum of all", 1, {.measure = "output_v", .role = "value"}},
    {"duty", "", "of each converter", 2, {.signals = "control[*].duty"}},
};
static const struct hil_column converter[] = {{"voltage_v", "V", "at the load", 1, {0}}};

static const struct hil_stream_config streams[] = {
    {"controller", controller, 3, 20000, 0, {0}},
    {"converter/007", converter, 1, 10, 0, {0}},
    {"converter/003", converter, 1, 10, 0, {0}},
};
static const struct hil_attribute attributes[] = {{"scenario", "dcdc20"}, {"mode", "virtual"}};
static const struct hil_trace_config config = {streams, 3, attributes, 2, true};

static char path[64];

static void make_path(void)
{
    folder_open();
    snprintf(path, sizeof path, "%s", in_folder("trace.h5"));
}

TestSuite(trace, .init = make_path, .fini = folder_close);

static double value(uint64_t row, unsigned i)
{
    return sin((double)row * 1e-3) + i;
}

/* The attributes of the trace. */
static const struct hil_named_histogram *histograms;
static unsigned histogram_count;

/* Writes rows of the controller, and three of converter 7, in pieces of `piece`. */
static void write_trace(size_t rows, size_t piece)
{
    const double voltages[] = {1, -2, INFINITY};
    struct hil_trace *trace;
    double *numbers = malloc(rows * 4 * sizeof(double));

    for (size_t k = 0; k < rows * 4; k++)
        numbers[k] = value(k / 4, k % 4);
    cr_assert_eq(hil_trace_create(&trace, path, &config), 0);
    for (size_t first = 0; first < rows; first += piece)
        cr_assert_eq(hil_trace_append(trace, 0, numbers + 4 * first,
                                      rows - first < piece ? rows - first : piece),
                     0);
    cr_assert_eq(hil_trace_append(trace, 1, voltages, 3), 0);
    if (histogram_count)
        cr_assert_eq(hil_trace_add_histograms(trace, histograms, histogram_count), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
    free(numbers);
}

static struct hil_trace_reader *open_trace(void)
{
    struct hil_trace_reader *reader;

    cr_assert_eq(hil_trace_reader_open(&reader, path), 0);
    return reader;
}

/* If a column lacks an attribute, that is read as "". */
static void expect_text(const char *read, const char *written)
{
    cr_expect_str_eq(read, written ? written : "");
}

static void expect_column(const struct hil_column *read, const struct hil_column *written)
{
    expect_text(read->name, written->name);
    expect_text(read->unit, written->unit);
    expect_text(read->doc, written->doc);
    cr_expect_eq(read->width, written->width);
    expect_text(read->of.signals, written->of.signals);
    expect_text(read->of.measure, written->of.measure);
    expect_text(read->of.role, written->of.role);
}

Test(trace, describes_itself)
{
    struct hil_trace_reader *reader;
    unsigned count;

    write_trace(5, 5);
    reader = open_trace();
    const struct hil_stream_config *read = hil_trace_streams(reader, &count);
    cr_assert_eq(count, 3);
    for (unsigned i = 0; i < count; i++) {
        cr_expect_str_eq(read[i].name, streams[i].name);
        cr_assert_eq(read[i].column_count, streams[i].column_count);
        for (unsigned k = 0; k < read[i].column_count; k++)
            expect_column(&read[i].columns[k], &streams[i].columns[k]);
    }
    cr_expect_eq(read[0].rows, 5);
    cr_expect_eq(read[1].rows, 3);
    cr_expect_eq(read[2].rows, 0);
    cr_expect_str_eq(hil_trace_attribute(reader, "scenario"), "dcdc20");
    cr_expect_str_eq(hil_trace_attribute(reader, "mode"), "virtual");
    cr_expect_str_eq(hil_trace_attribute(reader, "fabric"), "");
    cr_expect_eq(hil_trace_stream_find(reader, "converter/003"), 2);
    cr_expect_eq(hil_trace_stream_find(reader, "converter"), -1);
    cr_expect_eq(hil_trace_column_find(&read[0], "duty"), 2);
    cr_expect_eq(hil_trace_column_find(&read[0], "dut"), -1);
    hil_trace_reader_close(reader);
}

/* Several chunks, with a piece size that does not divide them, and a remainder. */
Test(trace, gives_back_every_bit)
{
    const size_t rows = 50001;
    double *read = malloc(2 * rows * sizeof(double)), voltages[3];
    struct hil_trace_reader *reader;

    write_trace(rows, 777);
    reader = open_trace();
    cr_assert_eq(hil_trace_read(reader, 0, 1, 0, rows, read, 2 * rows), 0);
    for (size_t k = 0; k < rows; k++)
        cr_assert_eq(read[k], value(k, 1), "row %zu", k);
    cr_assert_eq(hil_trace_read(reader, 0, 2, 0, rows, read, 2 * rows), 0);
    for (size_t k = 0; k < 2 * rows; k++)
        cr_assert_eq(read[k], value(k / 2, 2 + k % 2), "row %zu", k / 2);
    cr_assert_eq(hil_trace_read(reader, 0, 2, 40000, 2, read, 4), 0);
    cr_expect_eq(read[3], value(40001, 3));
    cr_assert_eq(hil_trace_read(reader, 1, 0, 0, 3, voltages, 3), 0);
    cr_expect(voltages[0] == 1 && voltages[1] == -2 && isinf(voltages[2]));
    hil_trace_reader_close(reader);
    free(read);
}

Test(trace, refuses_rows_that_are_not_there)
{
    double read[10];
    struct hil_trace_reader *reader;

    write_trace(5, 5);
    reader = open_trace();
    cr_expect_lt(hil_trace_read(reader, 0, 0, 3, 3, read, 10), 0);
    cr_expect_eq(hil_trace_read(reader, 0, 0, 3, 2, read, 10), 0);
    cr_expect_eq(hil_trace_read(reader, 0, 2, 0, 5, read, 9), -EBADMSG,
                 "more than there is room for");
    hil_trace_reader_close(reader);
}

/* Checked without hiloco's reader: chunked, compressed, extensible. */
Test(trace, is_chunked_and_compressed)
{
    write_trace(20000, 20000);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/controller/duty", H5P_DEFAULT);
    const hid_t create = H5Dget_create_plist(dataset);
    const hid_t space = H5Dget_space(dataset);
    hsize_t size[2], limit[2];

    cr_assert_gt(dataset, 0);
    cr_expect_eq(H5Pget_layout(create), H5D_CHUNKED);
    cr_expect_eq(H5Pget_nfilters(create), 2);
    cr_assert_eq(H5Sget_simple_extent_dims(space, size, limit), 2);
    cr_expect_eq(size[0], 20000);
    cr_expect_eq(size[1], 2);
    cr_expect_eq(limit[0], H5S_UNLIMITED);
    cr_expect_lt(H5Dget_storage_size(dataset), 2 * 20000 * sizeof(double));
    H5Sclose(space);
    H5Pclose(create);
    H5Dclose(dataset);
    H5Fclose(file);
}

static char *contents(size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 20);

    cr_assert(file && bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

Test(trace, same_rows_give_the_same_file)
{
    size_t first_size, second_size;

    write_trace(10000, 777);
    char *first = contents(&first_size);
    sleep(1); /* the time of writing must not matter */
    write_trace(10000, 1000);
    char *second = contents(&second_size);

    cr_assert_eq(first_size, second_size);
    cr_expect_eq(memcmp(first, second, first_size), 0);
    free(first);
    free(second);
}

Test(trace, a_stream_says_what_loop_it_is_of)
{
    struct hil_trace_reader *reader;
    unsigned count;

    static const struct hil_stream_config loop = {
        "slow", converter, 1, 40000, 0, {.phase_ns = 500, .period_ns = 5000, .decimation = 2}};
    const struct hil_trace_config one = {.streams = &loop, .stream_count = 1};
    struct hil_trace *trace;

    cr_assert_eq(hil_trace_create(&trace, path, &one), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
    reader = open_trace();
    const struct hil_cadence *slow = &hil_trace_streams(reader, &count)[0].cadence;
    cr_expect(slow->phase_ns == 500 && slow->period_ns == 5000 && slow->decimation == 2);
    hil_trace_reader_close(reader);
}

Test(trace, histograms)
{
    static struct hil_histogram late, empty, read;
    static const struct hil_named_histogram both[] = {{"controller_late", &late}, {"none", &empty}};
    struct hil_trace_reader *reader;
    unsigned count;

    for (uint64_t i = 0; i < 2000; i++)
        hil_histogram_add(&late, i * i * 1000);
    histograms = both;
    histogram_count = 2;
    write_trace(5, 5);

    reader = open_trace();
    cr_expect_str_eq(hil_trace_histogram_name(reader, 0), "controller_late");
    cr_expect_str_eq(hil_trace_histogram_name(reader, 1), "none");
    cr_expect_null(hil_trace_histogram_name(reader, 2));
    cr_assert_eq(hil_trace_read_histogram(reader, "controller_late", &read), 0);
    cr_expect_eq(memcmp(&read, &late, sizeof(late)), 0);
    cr_assert_eq(hil_trace_read_histogram(reader, "none", &read), 0);
    cr_expect_eq(memcmp(&read, &empty, sizeof(empty)), 0);
    cr_expect_eq(hil_trace_read_histogram(reader, "no", &read), -ENOENT);

    hil_trace_streams(reader, &count);
    cr_expect_eq(count, 3, "they are no streams");
    hil_trace_reader_close(reader);
}

Test(trace, says_what_is_wrong_with_a_file)
{
    struct hil_trace_reader *reader;

    cr_expect_eq(hil_trace_reader_open(&reader, "/nowhere/trace.h5"), -ENOENT);
    FILE *file = fopen(path, "w");
    fputs("time_s,output_v\n0,1\n", file);
    fclose(file);
    cr_expect_eq(hil_trace_reader_open(&reader, path), -EBADMSG);
}

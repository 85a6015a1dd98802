/* Tests that a trace whose writer died is completed from its journal, up to the last row in it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "harness/h5/trace.h"
#include "harness/h5/trace_reader.h"

static const struct hil_column columns[] = {
    {"time_s", "s", "since the start", 1, {0}},
    {"voltage_v",
     "V",
     "of each converter",
     3,
     {.signals = "converter[*].voltage_v", .measure = "voltage_v", .role = "each"}},
};
static const struct hil_stream_config streams[] = {
    {"controller", columns, 2, 1000, {0}},
    {"converter/000", columns, 1, 1000, {.period_ns = 1000, .decimation = 2}},
};
static const struct hil_attribute attributes[] = {{"scenario", "dcdc20"}, {"mode", "realtime"}};
static const struct hil_trace_config config = {streams, 2, attributes, 2, false};

TestSuite(journal, .init = folder_open, .fini = folder_close);

static const char *trace_path(void)
{
    static char path[sizeof folder + sizeof "/trace.h5"];

    snprintf(path, sizeof path, "%s/trace.h5", folder);
    return path;
}

static double value(uint64_t row, unsigned i)
{
    return sin((double)row * 1e-3) + i;
}

static int append(struct hil_trace *trace, unsigned stream, uint64_t from, uint64_t to)
{
    int rc = 0;

    for (uint64_t n = from; n < to && !rc; n++) {
        const double row[] = {value(n, 0), value(n, 1), value(n, 2), value(n, 3)};
        rc = hil_trace_append(trace, stream, row, 1);
    }
    return rc;
}

/* A child process that appends so many rows, and dies. */
static void write_and_die(const char *path, uint64_t first, uint64_t second)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        struct hil_trace *trace;
        if (hil_trace_create(&trace, path, &config) || append(trace, 0, 0, first) ||
            append(trace, 1, 0, second))
            _exit(1);
        raise(SIGKILL);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status));
}

static void expect_rows(const char *path, unsigned stream, uint64_t count)
{
    struct hil_trace_reader *reader;
    unsigned stream_count;

    cr_assert_eq(hil_trace_reader_open(&reader, path), 0);
    const struct hil_stream_config *s = &hil_trace_streams(reader, &stream_count)[stream];
    cr_assert_eq(stream_count, 2);
    cr_assert_eq(s->rows, count, "%llu rows in place of %llu", (unsigned long long)s->rows,
                 (unsigned long long)count);
    for (unsigned column = 0, place = 0; column < s->column_count; column++) {
        const unsigned width = s->columns[column].width;
        cr_assert_str_eq(s->columns[column].of.signals, column ? "converter[*].voltage_v" : "");
        cr_assert_str_eq(s->columns[column].of.role, column ? "each" : "");
        double *at = malloc((count * width + 1) * sizeof(double));
        cr_assert_eq(hil_trace_read(reader, stream, column, 0, count, at, count * width), 0);
        for (uint64_t n = 0; n < count; n++)
            for (unsigned i = 0; i < width; i++)
                cr_assert_eq(at[n * width + i], value(n, place + i), "row %d", (int)n);
        place += width;
        free(at);
    }
    hil_trace_reader_close(reader);
}

static bool is_there(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

static void recover(const char *path)
{
    struct hil_trace *trace;

    cr_assert_eq(hil_trace_resume(&trace, path), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
    cr_expect_not(is_there("trace.h5.journal"));
    cr_expect_not(is_there("trace.h5.part"));
}

static void expect_survival(uint64_t first, uint64_t second)
{
    const char *path = trace_path();
    struct hil_trace_reader *reader;

    write_and_die(path, first, second);
    cr_assert(is_there("trace.h5.journal"));
    cr_expect_neq(hil_trace_reader_open(&reader, path), 0, "it is whole as it is");
    recover(path);
    expect_rows(path, 0, first);
    expect_rows(path, 1, second);
}

Test(journal, rows_of_no_chunk)
{
    expect_survival(0, 0);
    expect_survival(1, 0);
    expect_survival(100, 3);
}

/* The buffers for a thousand rows are a chunk of 1024. */
Test(journal, chunks_and_the_rows_behind_them)
{
    expect_survival(1023, 0);
    expect_survival(1024, 1);
    expect_survival(1025, 1024);
    expect_survival(10000, 5000);
}

Test(journal, has_all_that_the_trace_says_of_itself)
{
    const char *path = trace_path();
    struct hil_trace_reader *reader;
    unsigned count;

    write_and_die(path, 2000, 10);
    recover(path);
    cr_assert_eq(hil_trace_reader_open(&reader, path), 0);
    cr_expect_str_eq(hil_trace_attribute(reader, "scenario"), "dcdc20");
    cr_expect_str_eq(hil_trace_attribute(reader, "mode"), "realtime");
    const struct hil_stream_config *s = hil_trace_streams(reader, &count);
    cr_expect_str_eq(s[1].name, "converter/000");
    cr_expect_eq(s[1].cadence.decimation, 2);
    cr_expect_str_eq(s[0].columns[1].name, "voltage_v");
    cr_expect_str_eq(s[0].columns[1].unit, "V");
    cr_expect_str_eq(s[0].columns[1].doc, "of each converter");
    cr_expect_eq(s[0].columns[1].width, 3);
    hil_trace_reader_close(reader);
}

Test(journal, is_gone_when_the_trace_is_whole)
{
    struct hil_trace *trace;

    cr_assert_eq(hil_trace_create(&trace, trace_path(), &config), 0);
    cr_expect(is_there("trace.h5.journal"));
    cr_assert_eq(append(trace, 0, 0, 3000), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
    cr_expect_not(is_there("trace.h5.journal"));
    cr_expect_eq(hil_trace_resume(&trace, trace_path()), -ENOENT);
    expect_rows(trace_path(), 0, 3000);
}

/* If the completion is killed, the trace stays as it was. */
Test(journal, can_be_used_again)
{
    const char *path = trace_path();
    struct hil_trace *trace;

    write_and_die(path, 5000, 100);
    cr_assert_eq(hil_trace_resume(&trace, path), 0);
    cr_expect(is_there("trace.h5.journal"));
    cr_assert_eq(append(trace, 0, 5000, 9000), 0);
    cr_expect_eq(hil_trace_rows(trace, 0), 9000);
    const pid_t child = fork();
    if (child == 0)
        _exit(0); /* in the middle, without closing anything */
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_assert_eq(hil_trace_close(trace), 0);
    expect_rows(path, 0, 9000);
    expect_rows(path, 1, 100);
}

/* --- damaged ------------------------------------------------------------------------------- */

static char *read_journal(size_t *size)
{
    const int file = open(in_folder("trace.h5.journal"), O_RDONLY);
    struct stat status;

    fstat(file, &status);
    *size = (size_t)status.st_size;
    char *bytes = malloc(*size);
    cr_assert_eq(read(file, bytes, *size), (ssize_t)*size);
    close(file);
    return bytes;
}

static void write_journal(const char *bytes, size_t size)
{
    const int file = open(in_folder("trace.h5.journal"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    cr_assert_eq(write(file, bytes, size), (ssize_t)size);
    close(file);
}

/* A journal that is cut anywhere gives a part of the rows, or is reported as not a journal. */
Test(journal, cut_anywhere)
{
    const char *path = trace_path();
    struct hil_trace *trace;
    size_t size;

    write_and_die(path, 3000, 10);
    char *bytes = read_journal(&size);
    for (size_t cut = 0; cut < size; cut += cut < 2000 ? 13 : 997) {
        write_journal(bytes, cut);
        const int rc = hil_trace_resume(&trace, path);
        cr_assert(rc == -EBADMSG || rc == 0, "%d at %zu", rc, cut);
        if (!rc)
            hil_trace_close(trace);
        cr_assert_not(is_there("trace.h5.part"));
    }
    free(bytes);
}

Test(journal, of_wrong_numbers)
{
    const char *path = trace_path();
    struct hil_trace *trace;
    size_t size;

    write_and_die(path, 3000, 10);
    char *bytes = read_journal(&size);
    for (size_t at = 0; at + 8 < size; at += at < 2000 ? 7 : 499) {
        char before[8];
        memcpy(before, bytes + at, 8);
        memset(bytes + at, 0xff, 8);
        write_journal(bytes, size);
        memcpy(bytes + at, before, 8);
        if (hil_trace_resume(&trace, path) == 0)
            hil_trace_close(trace);
    }
    free(bytes);
}

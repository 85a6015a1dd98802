/* Tests that a trace is made from its journal, up to the last row in it, whoever dies meanwhile. */
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
#include "harness/h5/journal.h"
#include "harness/h5/trace_maker.h"
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
    {"controller", columns, 2, 1000, 0, {0}},
    {"converter/000", columns, 1, 1000, 0, {.period_ns = 1000, .decimation = 2}},
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

static int append(struct hil_journal *journal, unsigned stream, uint64_t from, uint64_t to)
{
    int rc = 0;

    for (uint64_t n = from; n < to && !rc; n++) {
        const double row[] = {value(n, 0), value(n, 1), value(n, 2), value(n, 3)};
        rc = hil_journal_append(journal, stream, row, 1);
    }
    return rc;
}

/* A child process that appends so many rows, and dies. */
static void write_and_die(const char *path, uint64_t first, uint64_t second)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        struct hil_journal *journal;
        if (hil_journal_create(&journal, path, &config) || append(journal, 0, 0, first) ||
            append(journal, 1, 0, second))
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

static const struct hil_trace_watch nobody = {.threads = 2};

static void recover(const char *path)
{
    cr_assert_eq(hil_trace_make(path, &nobody, NULL), 0);
    cr_expect_not(is_there("trace.h5.journal"));
    cr_expect_not(is_there("trace.h5.part"));
}

static void expect_survival(uint64_t first, uint64_t second)
{
    const char *path = trace_path();

    write_and_die(path, first, second);
    cr_assert(is_there("trace.h5.journal"));
    recover(path);
    expect_rows(path, 0, first);
    expect_rows(path, 1, second);
}

Test(journal, few_rows)
{
    expect_survival(0, 0);
    expect_survival(1, 0);
    expect_survival(100, 3);
}

/* A thousand rows are a chunk of 1024. */
Test(journal, chunks_and_the_rows_behind_them)
{
    expect_survival(1023, 0);
    expect_survival(1024, 1);
    expect_survival(1025, 1024);
    expect_survival(10000, 5000);
}

/* Rows that come many at a time are divided among blocks and chunks. */
Test(journal, rows_in_pieces_of_any_size)
{
    static double rows[5000][4];
    const char *path = trace_path();
    struct hil_journal *journal;

    for (uint64_t n = 0; n < 5000; n++)
        for (unsigned i = 0; i < 4; i++)
            rows[n][i] = value(n, i);
    for (uint64_t piece = 1; piece < 5000; piece = 3 * piece + 1) {
        cr_assert_eq(hil_journal_create(&journal, path, &config), 0);
        for (uint64_t n = 0; n < 5000; n += piece)
            cr_assert_eq(
                hil_journal_append(journal, 0, rows[n], n + piece < 5000 ? piece : 5000 - n), 0);
        hil_journal_close(journal);
        recover(path);
        expect_rows(path, 0, 5000);
    }
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

/* The newest are those that count. */
Test(journal, histograms)
{
    static struct hil_histogram early, late, read;
    const char *path = trace_path();
    struct hil_journal *journal;
    struct hil_trace_reader *reader;

    hil_histogram_add_many(&early, 100, 5);
    hil_histogram_add_many(&late, 100, 5);
    hil_histogram_add_many(&late, 123456789, 3);
    cr_assert_eq(hil_journal_create(&journal, path, &config), 0);
    cr_assert_eq(
        hil_journal_add_histograms(journal, &(struct hil_named_histogram){"hub_late", &early}, 1),
        0);
    cr_assert_eq(append(journal, 0, 0, 10), 0);
    cr_assert_eq(
        hil_journal_add_histograms(journal, &(struct hil_named_histogram){"hub_late", &late}, 1),
        0);
    hil_journal_close(journal);
    recover(path);
    expect_rows(path, 0, 10);
    cr_assert_eq(hil_trace_reader_open(&reader, path), 0);
    cr_assert_eq(hil_trace_read_histogram(reader, "hub_late", &read), 0);
    cr_expect_eq(memcmp(&read, &late, sizeof read), 0);
    hil_trace_reader_close(reader);
}

Test(journal, is_gone_when_the_trace_is_made)
{
    write_and_die(trace_path(), 3000, 0);
    recover(trace_path());
    cr_expect_eq(hil_trace_make(trace_path(), &nobody, NULL), -ENOENT);
    expect_rows(trace_path(), 0, 3000);
}

/* The next writer goes on where the killed one was, in the middle of a chunk. */
Test(journal, is_continued)
{
    const char *path = trace_path();
    struct hil_journal *journal;

    write_and_die(path, 5000, 100);
    cr_assert_eq(hil_journal_continue(&journal, path), 0);
    cr_expect_eq(hil_journal_rows(journal, 0), 5000);
    cr_assert_eq(append(journal, 0, 5000, 9000), 0);
    cr_assert_eq(append(journal, 1, 100, 2000), 0);
    cr_expect_eq(hil_journal_rows(journal, 0), 9000);
    hil_journal_close(journal);
    recover(path);
    expect_rows(path, 0, 9000);
    expect_rows(path, 1, 2000);
}

/* What a writer was killed in the middle of is cut off before the next one appends. */
Test(journal, is_continued_behind_a_torn_block)
{
    const char *path = trace_path();
    struct hil_journal *journal;
    struct stat status;

    write_and_die(path, 5000, 0);
    cr_assert_eq(stat(in_folder("trace.h5.journal"), &status), 0);
    cr_assert_eq(truncate(in_folder("trace.h5.journal"), status.st_size - 5), 0);
    cr_assert_eq(hil_journal_continue(&journal, path), 0);
    const uint64_t rows = hil_journal_rows(journal, 0);
    cr_expect_eq(rows, 4999);
    cr_expect_not(hil_journal_is_damaged(journal));
    cr_assert_eq(append(journal, 0, rows, 7000), 0);
    hil_journal_close(journal);
    recover(path);
    expect_rows(path, 0, 7000);
}

/* --- while it is made ---------------------------------------------------------------------- */

static bool is_left(void *limit, double share)
{
    cr_expect(share > 0 && share <= 1);
    return share < *(double *)limit;
}

/* The maker can be stopped. What was made is gone, and the journal is as it was. */
Test(journal, can_be_made_again)
{
    double limit = 0.5;
    const char *path = trace_path();

    write_and_die(path, 9000, 100);
    const struct hil_trace_watch watch = {is_left, &limit, 1};
    cr_expect_eq(hil_trace_make(path, &watch, NULL), -ECANCELED);
    cr_expect(is_there("trace.h5.journal"));
    cr_expect_not(is_there("trace.h5.part"));
    cr_expect_not(is_there("trace.h5"));
    recover(path);
    expect_rows(path, 0, 9000);
    expect_rows(path, 1, 100);
}

static bool die_at(void *limit, double share)
{
    if (share >= *(double *)limit)
        raise(SIGKILL);
    return true;
}

Test(journal, outlives_its_maker)
{
    const char *path = trace_path();
    int status;

    write_and_die(path, 9000, 100);
    for (double limit = 0; limit <= 1; limit += 0.1) {
        const pid_t child = fork();
        if (child == 0) {
            const struct hil_trace_watch watch = {die_at, &limit, 1};
            hil_trace_make(path, &watch, NULL);
            _exit(0);
        }
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_assert(WIFSIGNALED(status));
        cr_expect_not(is_there("trace.h5"));
    }
    recover(path);
    expect_rows(path, 0, 9000);
    expect_rows(path, 1, 100);
}

/* A disk that is too full for the trace. */
Test(journal, stays_if_the_trace_has_no_room)
{
    const char *path = trace_path();
    struct rlimit before;

    write_and_die(path, 9000, 9000);
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {20000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    cr_expect_eq(hil_trace_make(path, &nobody, NULL), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_expect_not(is_there("trace.h5.part"));
    recover(path);
    expect_rows(path, 0, 9000);
    expect_rows(path, 1, 9000);
}

/* --- the order of chunks ------------------------------------------------------------------- */

enum { FAST, SLOW, NEVER, LOOPS, LOOP_ROWS = 40000 };

/* SLOW has one row for 2.5 rows of FAST, and a loop that is not recorded has none. */
static const struct hil_stream_config loops[LOOPS] = {
    {"fast", columns, 1, LOOP_ROWS, 0, {.period_ns = 4000, .decimation = 1}},
    {"slow", columns, 1, LOOP_ROWS, 0, {.phase_ns = 500, .period_ns = 5000, .decimation = 2}},
    {"never", columns, 1, 0, 0, {.period_ns = 1, .decimation = 0}},
};
static const struct hil_trace_config whole = {
    .streams = loops, .stream_count = LOOPS, .whole = true};

static char *contents(const char *path, size_t *size)
{
    const int file = open(path, O_RDONLY);
    struct stat status;

    cr_assert_eq(fstat(file, &status), 0);
    *size = (size_t)status.st_size;
    char *bytes = malloc(*size);
    cr_assert_eq(read(file, bytes, *size), (ssize_t)*size);
    close(file);
    return bytes;
}

/* Appends as a writer that looks each time after so many rows of FAST, and begins with this stream.
 * The maker follows after each look, or does all at the end. Returns the file. */
static char *write_loops(uint64_t at_a_time, unsigned begins_with, bool follows, size_t *size)
{
    struct hil_trace_maker *maker;
    struct hil_journal *journal;
    uint64_t next[2] = {0};

    cr_assert_eq(hil_journal_create(&journal, trace_path(), &whole), 0);
    cr_assert_eq(hil_trace_maker_open(&maker, trace_path(), &nobody), 0);
    for (uint64_t there = 0; next[FAST] < LOOP_ROWS || next[SLOW] < 2 * LOOP_ROWS / 5;
         there += at_a_time) {
        const uint64_t fast = there < LOOP_ROWS ? there : LOOP_ROWS;
        const uint64_t ends[2] = {fast, 2 * fast / 5};

        for (unsigned i = 0; i < 2; i++) {
            const unsigned stream = i ? !begins_with : begins_with;
            cr_assert_eq(append(journal, stream, next[stream], ends[stream]), 0);
            next[stream] = ends[stream];
        }
        if (follows)
            cr_assert_eq(hil_trace_maker_follow(maker), 0);
    }
    hil_journal_close(journal);
    cr_assert_eq(hil_trace_maker_finish(maker), 0);
    hil_trace_maker_close(maker);
    return contents(trace_path(), size);
}

Test(journal, the_trace_does_not_say_which_rows_came_first)
{
    static const struct {
        uint64_t at_a_time;
        unsigned begins_with;
        bool follows;
    } writers[] = {{1000, SLOW, true},      {30000, FAST, true}, {30000, SLOW, false},
                   {LOOP_ROWS, FAST, true}, {7, SLOW, false},    {333, FAST, true}};
    size_t size, other_size;
    char *file = write_loops(1, FAST, false, &size);

    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++) {
        char *other = write_loops(writers[i].at_a_time, writers[i].begins_with, writers[i].follows,
                                  &other_size);
        cr_assert_eq(other_size, size, "writer %zu", i);
        cr_expect_eq(memcmp(file, other, size), 0, "writer %zu", i);
        free(other);
    }
    free(file);
}

/* A full chunk waits for earlier ones. If these never come, everything is made nevertheless. */
Test(journal, a_chunk_waits_for_its_turn_until_the_end)
{
    struct hil_journal *journal;
    struct hil_trace_reader *reader;
    unsigned count;

    cr_assert_eq(hil_journal_create(&journal, trace_path(), &whole), 0);
    cr_assert_eq(append(journal, SLOW, 0, 20001), 0);
    hil_journal_close(journal);
    recover(trace_path());
    cr_assert_eq(hil_trace_reader_open(&reader, trace_path()), 0);
    cr_expect_eq(hil_trace_streams(reader, &count)[SLOW].rows, 20001);
    hil_trace_reader_close(reader);
}

/* --- damaged ------------------------------------------------------------------------------- */

static void write_journal(const char *bytes, size_t size)
{
    const int file = open(in_folder("trace.h5.journal"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    cr_assert_eq(write(file, bytes, size), (ssize_t)size);
    close(file);
}

/* The rows that the journal gives: each as it was written, however many there are. */
static uint64_t rows_made(const char *path, bool *lacks)
{
    struct hil_trace_reader *reader;
    unsigned count;
    const int rc = hil_trace_make(path, &nobody, lacks);

    cr_assert(rc == -EBADMSG || rc == 0, "%d", rc);
    cr_assert_not(is_there("trace.h5.part"));
    if (rc)
        return 0;
    cr_assert_eq(hil_trace_reader_open(&reader, path), 0);
    const uint64_t rows = hil_trace_streams(reader, &count)[0].rows;
    hil_trace_reader_close(reader);
    expect_rows(path, 0, rows);
    return rows;
}

/* A journal that is cut anywhere gives a part of the rows, or is reported as not a journal. */
Test(journal, cut_anywhere)
{
    const char *path = trace_path();
    uint64_t most = 0;
    bool lacks = false;
    size_t size;

    write_and_die(path, 3000, 10);
    char *bytes = contents(in_folder("trace.h5.journal"), &size);
    for (size_t cut = 0; cut < size; cut += cut < 2000 ? 13 : 9973) {
        write_journal(bytes, cut);
        const uint64_t rows = rows_made(path, &lacks);
        cr_assert_geq(rows, most, "%zu bytes", cut);
        cr_expect_not(lacks, "%zu bytes", cut);
        most = rows;
    }
    cr_expect_gt(most, 2500);
    free(bytes);
}

/* One that was changed anywhere gives the rows before that place, and says so; never another
 * row. */
Test(journal, changed_anywhere)
{
    const char *path = trace_path();
    unsigned told = 0, tries = 0;
    size_t size;

    write_and_die(path, 3000, 10);
    char *bytes = contents(in_folder("trace.h5.journal"), &size);
    for (size_t at = 1500; at < size; at += 9973, tries++) {
        bool lacks = false;
        bytes[at] ^= 4;
        write_journal(bytes, size);
        bytes[at] ^= 4;
        cr_expect_lt(rows_made(path, &lacks), 3000);
        told += lacks;
    }
    cr_expect_eq(told, tries);
    free(bytes);
}

Test(journal, of_wrong_numbers)
{
    const char *path = trace_path();
    size_t size;

    write_and_die(path, 3000, 10);
    char *bytes = contents(in_folder("trace.h5.journal"), &size);
    for (size_t at = 0; at + 8 < size; at += at < 2000 ? 7 : 9967) {
        char before[8];
        memcpy(before, bytes + at, 8);
        memset(bytes + at, 0xff, 8);
        write_journal(bytes, size);
        memcpy(bytes + at, before, 8);
        hil_trace_make(path, &nobody, NULL);
    }
    free(bytes);
}

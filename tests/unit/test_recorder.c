/* Tests the recorder, from the loop's side through the rings into the file. */
#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "harness/h5/trace_maker.h"
#include "harness/h5/trace_reader.h"
#include "harness/record/recorder.h"

static const struct hil_column columns[] = {
    {"time_s", "s", "since the start", 1, {0}},
    {"voltage_v", "V", "of each converter", 3, {0}},
};

/* The smallest possible ring, so that it fills soon. */
static const struct hil_stream_config streams[] = {
    {"controller", columns, 2, 1, 0, {0}},
    {"converter/000", columns, 2, 1, 0, {0}},
};

static char path[64];
static struct hil_recorder *recorder;

static void make_path(void)
{
    folder_open();
    snprintf(path, sizeof path, "%s", in_folder("trace.h5"));
}

static void remove_trace(void)
{
    hil_recorder_close(recorder);
    folder_close();
}

static void open_recorder(bool lossless)
{
    const struct hil_trace_config config = {
        .streams = streams, .stream_count = 2, .whole = lossless};

    make_path();
    cr_assert_eq(hil_recorder_open(&recorder, path, &config, 0), 0);
}

/* Row n has the values n, 2n, 3n, 4n. */
static bool record(struct hil_stream *stream, uint64_t n)
{
    double *row = hil_stream_row(stream);

    if (!row)
        return false;
    for (int i = 0; i < 4; i++)
        row[i] = (double)(n * (unsigned)(i + 1));
    hil_stream_commit(stream);
    return true;
}

static uint64_t record_many(struct hil_stream *stream, uint64_t count)
{
    uint64_t taken = 0;

    for (uint64_t n = 0; n < count; n++)
        taken += record(stream, n);
    return taken;
}

/* Checks that the stream holds rows 0 .. count - 1 and nothing else. */
static void expect_rows(unsigned stream, uint64_t count)
{
    struct hil_trace_reader *reader;
    unsigned stream_count;

    cr_assert_eq(hil_trace_reader_open(&reader, path), 0);
    cr_assert_eq(hil_trace_streams(reader, &stream_count)[stream].rows, count);

    double *time = malloc((count + 1) * sizeof(double));
    double *voltage = malloc((count + 1) * 3 * sizeof(double));
    cr_assert_eq(hil_trace_read(reader, stream, 0, 0, count, time, count), 0);
    cr_assert_eq(hil_trace_read(reader, stream, 1, 0, count, voltage, 3 * count), 0);
    for (uint64_t n = 0; n < count; n++) {
        cr_assert_eq(time[n], (double)n);
        for (unsigned i = 0; i < 3; i++)
            cr_assert_eq(voltage[3 * n + i], (double)(n * (i + 2)), "row %d, number %u", (int)n, i);
    }
    free(time);
    free(voltage);
    hil_trace_reader_close(reader);
}

Test(recorder, no_rows_leave_empty_datasets, .fini = remove_trace)
{
    open_recorder(false);
    cr_assert_eq(hil_recorder_start(recorder), 0);
    cr_assert_eq(hil_recorder_finish(recorder), 0);
    expect_rows(0, 0);
    expect_rows(1, 0);
}

Test(recorder, streams_do_not_mix, .fini = remove_trace)
{
    open_recorder(false);
    cr_assert_eq(hil_recorder_start(recorder), 0);
    for (uint64_t n = 0; n < 1000; n++) {
        cr_assert(record(hil_recorder_stream(recorder, 0), n));
        if (n < 500)
            cr_assert(record(hil_recorder_stream(recorder, 1), n));
    }
    cr_assert_eq(hil_recorder_finish(recorder), 0);
    cr_expect_eq(hil_recorder_dropped(recorder), 0);
    expect_rows(0, 1000);
    expect_rows(1, 500);
}

/* Many times the size of the ring, with many wraps. */
Test(recorder, lossless_loses_nothing, .fini = remove_trace)
{
    open_recorder(true);
    cr_assert_eq(hil_recorder_start(recorder), 0);
    cr_expect_eq(record_many(hil_recorder_stream(recorder, 1), 300001), 300001);
    cr_assert_eq(hil_recorder_finish(recorder), 0);
    cr_expect_eq(hil_recorder_dropped(recorder), 0);
    expect_rows(1, 300001);
}

/* The writer, the only child. */
static pid_t writer_of(void)
{
    char file[60];
    int pid;

    snprintf(file, sizeof file, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(file, "r");
    cr_assert(f && fscanf(f, "%d", &pid) == 1);
    fclose(f);
    return pid;
}

/* Looks as the launcher does, while a child records. */
static void watch_child(uint64_t count)
{
    const pid_t child = fork();

    if (child == 0)
        _exit(record_many(hil_recorder_stream(recorder, 0), count) == count ? 0 : 1);
    int status, looks = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        cr_assert_eq(hil_recorder_check(recorder), 0);
        cr_assert_lt(++looks, 3000, "the child waits for ever");
        usleep(20000);
    }
    cr_expect_eq(status, 0);
}

Test(recorder, a_stopped_writer_is_replaced_and_nothing_is_lost, .fini = remove_trace)
{
    open_recorder(true);
    hil_recorder_limit(recorder, 200000000);
    cr_assert_eq(hil_recorder_start(recorder), 0);
    kill(writer_of(), SIGSTOP);
    watch_child(100000);
    cr_expect_eq(hil_recorder_hung(recorder), 1);
    cr_expect_eq(hil_recorder_restarts(recorder), 1);
    cr_expect_gt(hil_recorder_waits(recorder), 0);
    cr_assert_eq(hil_recorder_finish(recorder), 0);
    expect_rows(0, 100000);
}

/* Beside loops that leave it no time, the writer waits; from half a ring on it has a share. */
Test(recorder, a_writer_that_falls_behind_gets_a_share_of_the_cores, .fini = remove_trace)
{
    if (geteuid() != 0)
        cr_skip_test("only the superuser may raise a priority");
    open_recorder(false);
    cr_assert_eq(hil_recorder_start(recorder), 0);
    const pid_t writer = writer_of();
    kill(writer, SIGSTOP);
    cr_expect_eq(record_many(hil_recorder_stream(recorder, 0), 1000), 1000);
    cr_assert_eq(hil_recorder_check(recorder), 0);
    cr_expect_eq(getpriority(PRIO_PROCESS, (id_t)writer), getpriority(PRIO_PROCESS, 0));
    cr_expect_eq(sched_getscheduler(writer), SCHED_IDLE);
    cr_expect_eq(record_many(hil_recorder_stream(recorder, 0), 2000), 2000);
    cr_assert_eq(hil_recorder_check(recorder), 0);
    cr_expect_eq(getpriority(PRIO_PROCESS, (id_t)writer), -10);
    cr_expect_eq(sched_getscheduler(writer), SCHED_OTHER);
    kill(writer, SIGCONT);
    cr_assert_eq(hil_recorder_finish(recorder), 0);
}

Test(recorder, a_writer_that_stands_still_at_the_end_loses_nothing, .fini = remove_trace)
{
    open_recorder(false);
    hil_recorder_limit(recorder, 200000000);
    cr_assert_eq(hil_recorder_start(recorder), 0);
    kill(writer_of(), SIGSTOP);
    cr_assert_eq(record_many(hil_recorder_stream(recorder, 0), 3000), 3000);
    cr_assert_eq(hil_recorder_finish(recorder), 0);
    cr_expect_eq(hil_recorder_hung(recorder), 1);
    expect_rows(0, 3000);
}

/* Of two loops one ends early, as in an interrupted run. Nothing must wait for rows that never
 * come. */
Test(recorder, a_loop_that_ends_early_holds_nothing_back, .fini = remove_trace)
{
    static const struct hil_cadence cadence = {.period_ns = 1000, .decimation = 1};
    const struct hil_stream_config loops[] = {{"a", columns, 2, 50000, 0, cadence},
                                              {"b", columns, 2, 50000, 0, cadence}};
    const struct hil_trace_config config = {.streams = loops, .stream_count = 2, .whole = true};

    make_path();
    cr_assert_eq(hil_recorder_open(&recorder, path, &config, 0), 0);
    for (uint64_t n = 0; n < 30000; n++)
        cr_assert(record(hil_recorder_stream(recorder, 1), n));
    cr_assert(record(hil_recorder_stream(recorder, 0), 0));
    cr_assert_eq(hil_recorder_finish(recorder), 0);
    expect_rows(0, 1);
    expect_rows(1, 30000);
}

/* The writer takes nothing: the ring fills, and the other rows are counted. Nothing hangs. */
static void full_ring_drops(bool lossless)
{
    open_recorder(lossless);
    const uint64_t taken = record_many(hil_recorder_stream(recorder, 0), 100000);

    cr_expect_geq(taken, 4096);
    cr_expect_lt(taken, 100000);
    cr_expect_eq(hil_recorder_dropped(recorder), 100000 - taken);
    cr_assert_eq(hil_recorder_finish(recorder), 0);
    expect_rows(0, taken);
}

Test(recorder, full_ring_drops_and_counts, .fini = remove_trace)
{
    full_ring_drops(false);
}

Test(recorder, lossless_does_not_wait_for_no_writer, .fini = remove_trace)
{
    full_ring_drops(true);
}

Test(recorder, prepared_ring_is_empty, .fini = remove_trace)
{
    open_recorder(false);
    hil_stream_prepare(hil_recorder_stream(recorder, 0));
    cr_assert_eq(hil_recorder_finish(recorder), 0);
    expect_rows(0, 0);
}

Test(recorder, no_stream_records_nothing)
{
    cr_expect_null(hil_stream_row(NULL));
    hil_stream_prepare(NULL);
}

/* Rows that a child recorded before it was killed are in the file. */
Test(recorder, rows_of_a_killed_child, .fini = remove_trace)
{
    open_recorder(false);
    const pid_t child = fork();
    if (child == 0) {
        record_many(hil_recorder_stream(recorder, 0), 1000);
        raise(SIGKILL);
    }
    cr_assert_eq(hil_recorder_start(recorder), 0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_assert_eq(hil_recorder_finish(recorder), 0);
    expect_rows(0, 1000);
}

/* A child that exits normally must not finish its parent's file in the state of the fork. */
Test(recorder, child_exits_last, .fini = remove_trace)
{
    int hold[2];

    open_recorder(false);
    cr_assert_eq(pipe(hold), 0);
    const pid_t child = fork();
    if (child == 0) {
        char end;
        close(hold[1]);
        exit(read(hold[0], &end, 1) == 0 ? 0 : 1);
    }
    cr_assert_eq(hil_recorder_start(recorder), 0);
    record_many(hil_recorder_stream(recorder, 0), 3000);
    cr_assert_eq(hil_recorder_finish(recorder), 0);
    close(hold[1]);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    expect_rows(0, 3000);
}

static bool give_up_at(void *share, double made)
{
    return made < *(double *)share;
}

/* The owner may end the making of the trace, at a signal. Then it is made later. */
Test(recorder, a_trace_that_was_given_up_is_made_later, .fini = remove_trace)
{
    double share = 0.5;
    const struct hil_recorder_owner owner = {.making = give_up_at, .arg = &share};

    open_recorder(false);
    hil_recorder_own(recorder, &owner);
    const uint64_t taken = record_many(hil_recorder_stream(recorder, 0), 3000);
    cr_expect_eq(hil_recorder_finish(recorder), -ECANCELED);
    cr_expect_neq(access(path, F_OK), 0);
    hil_recorder_close(recorder);
    recorder = NULL;
    cr_assert_eq(hil_trace_make(path, &(struct hil_trace_watch){.threads = 1}, NULL), 0);
    expect_rows(0, taken);
}

Test(recorder, says_why_it_cannot_open)
{
    const struct hil_trace_config config = {.streams = streams, .stream_count = 2};

    cr_expect_eq(hil_recorder_open(&recorder, "/nowhere/at/all.h5", &config, 0), -ENOENT);
    cr_expect_null(recorder);
}

/* Like a full disk: the file may not grow beyond 64 KiB. HDF5 asks for the local time when a write
 * fails. Where the time zone is not to be found, that changes errno. */
Test(recorder, writer_fails, .fini = remove_trace)
{
    const struct rlimit limit = {65536, 65536};

    setenv("TZ", "/nowhere/at/all", 1);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    open_recorder(true);
    cr_assert_eq(hil_recorder_start(recorder), 0);
    record_many(hil_recorder_stream(recorder, 0), 500000); /* must return nevertheless */
    cr_expect_eq(hil_recorder_finish(recorder), -EFBIG);
    cr_expect_gt(hil_recorder_dropped(recorder), 0);
}

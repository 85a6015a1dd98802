/* The writer of a recorder. */
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "../h5/journal.h"
#include "making.h"
#include "recorder_parts.h"

enum {
    WRITER_PERIOD_NS = 5000000, /* interval of its looks */
    WRITER_PERIOD_REAL_TIME_NS = 50000000,
    WRITER_ROWS = 1024, /* rows written before their room is released */
};

static bool has_events(const struct hil_recorder *recorder, unsigned ring)
{
    return recorder->event_rings && ring + 1 >= recorder->stream_count;
}

static void write_rows(struct hil_recorder *recorder, unsigned ring, const double *rows,
                       size_t count)
{
    const unsigned index = stream_of(recorder, ring);

    atomic_store_explicit(&recorder->shared->drained, ring, memory_order_relaxed);
    add_one(&recorder->shared->beats, memory_order_relaxed);
    if (!error_of(recorder))
        remember(recorder, hil_journal_append(recorder->journal, index, rows, count));
    if (error_of(recorder))
        atomic_fetch_add_explicit(&recorder->shared->discarded, count, memory_order_relaxed);
}

static size_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The rows that can be taken from the ring in one contiguous piece. */
static size_t next_piece(const struct hil_recorder *recorder, unsigned ring, uint64_t tail,
                         uint64_t head)
{
    const struct hil_stream *stream = &recorder->shared->streams[ring];
    const uint64_t to_end = stream->mask + 1 - (tail & stream->mask);

    return least(least(head - tail, to_end), WRITER_ROWS);
}

/* Empties a ring. Returns the number of rows taken. */
static uint64_t drain_to(struct hil_recorder *recorder, unsigned index, uint64_t head)
{
    struct hil_stream *stream = &recorder->shared->streams[index];
    const uint64_t first = atomic_load_explicit(&stream->tail, memory_order_relaxed);
    uint64_t tail = first;
    size_t count;

    while ((count = next_piece(recorder, index, tail, head)) > 0) {
        write_rows(recorder, index, stream->rows + (tail & stream->mask) * stream->width, count);
        tail += count;
        atomic_store_explicit(&stream->tail, tail, memory_order_release);
    }
    return tail - first;
}

static uint64_t head_of(const struct hil_recorder *recorder, unsigned ring)
{
    return atomic_load_explicit(&recorder->shared->streams[ring].head, memory_order_acquire);
}

static uint64_t drain_events(struct hil_recorder *recorder)
{
    uint64_t count = 0;

    for (unsigned i = recorder->stream_count - 1; i < ring_count(recorder); i++)
        count += drain_to(recorder, i, head_of(recorder, i));
    return count;
}

/* If the order of chunks matters, events before these rows must be written first. The number of
 * rows is read before the events, so all those events are there. */
static uint64_t drain(struct hil_recorder *recorder, unsigned ring)
{
    const uint64_t head = head_of(recorder, ring);
    const bool after = recorder->lossless && recorder->event_rings && !has_events(recorder, ring);
    const uint64_t events = after ? drain_events(recorder) : 0;

    return events + drain_to(recorder, ring, head);
}

static uint64_t drain_all(struct hil_recorder *recorder)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < ring_count(recorder); i++)
        count += drain(recorder, i);
    return count;
}

/* Writes the rest, and makes the trace. */
static void end_journal(struct hil_recorder *recorder)
{
    while (drain_all(recorder) > 0)
        ;
    if (recorder->owner.add && !error_of(recorder))
        remember(recorder, recorder->owner.add(recorder->owner.arg, recorder->journal));
    hil_journal_close(recorder->journal);
    recorder->journal = NULL;
    remember(recorder, recorder_make(recorder));
}

/* Beside real-time loops, the writer only gets time that nobody else in their session wants
 * (base/autogroup.h). It allocates and frees the same buffers for every chunk, which should not go
 * back to the kernel each time. */
static void settle_writer(const struct hil_recorder *recorder)
{
    const struct sched_param none = {0};

    prctl(PR_SET_NAME, "hl-record");
    sched_setscheduler(0, recorder->lossless ? SCHED_OTHER : SCHED_IDLE, &none);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
}

/* When the loops have ended, the trace may be made on all cores. */
static void settle_maker(const cpu_set_t *cores)
{
    const struct sched_param none = {0};

    sched_setaffinity(0, sizeof *cores, cores);
    sched_setscheduler(0, SCHED_OTHER, &none);
}

static uint64_t tail_of(const struct hil_recorder *recorder, unsigned ring)
{
    return atomic_load_explicit(&recorder->shared->streams[ring].tail, memory_order_relaxed);
}

/* How many rows the stream's rings have handed over. In real time this may be less than the journal
 * has, if the writer was killed in between. */
static uint64_t taken_for(const struct hil_recorder *recorder, unsigned stream)
{
    uint64_t taken = 0;

    for (unsigned i = stream; i < ring_count(recorder) && stream_of(recorder, i) == stream; i++)
        taken += tail_of(recorder, i);
    return taken;
}

/* Positions the rings after the rows in the journal; skips everything if the writer discarded rows
 * after an error. Rows that are in the journal but not released are from the ring that the writer
 * emptied last. */
static void go_on_behind(struct hil_recorder *recorder, unsigned stream)
{
    const uint64_t rows = hil_journal_rows(recorder->journal, stream);
    const uint64_t taken = taken_for(recorder, stream);
    const unsigned last = atomic_load_explicit(&recorder->shared->drained, memory_order_relaxed);

    for (unsigned i = stream; i < ring_count(recorder) && stream_of(recorder, i) == stream; i++) {
        uint64_t tail = tail_of(recorder, i);
        if (rows < taken)
            tail = head_of(recorder, i);
        else if (i == last)
            tail += rows - taken;
        atomic_store_explicit(&recorder->shared->streams[i].tail, tail, memory_order_relaxed);
    }
}

/* Continues after a killed writer. */
static int go_on(struct hil_recorder *recorder)
{
    const int rc = hil_journal_continue(&recorder->journal, recorder->path);

    for (unsigned i = 0; !rc && i < recorder->stream_count; i++)
        go_on_behind(recorder, i);
    return rc;
}

int recorder_finish_here(struct hil_recorder *recorder)
{
    const int before = error_of(recorder);
    const int rc = recorder->journal ? 0 : go_on(recorder);

    if (rc == -ENOENT && access(recorder->path, F_OK) == 0)
        return before; /* the writer was killed when it had done everything */
    if (rc)
        remember(recorder, rc);
    if (rc)
        return error_of(recorder);
    atomic_store_explicit(&recorder->shared->error, 0, memory_order_relaxed);
    end_journal(recorder);
    if (before)
        atomic_store_explicit(&recorder->shared->error, before, memory_order_relaxed);
    return error_of(recorder);
}

/* The status of a process may be taken (base/reap.h), so it leaves word of its orderly end. */
static _Noreturn void leave_writing(struct shared *shared, int status)
{
    atomic_store_explicit(&shared->left, true, memory_order_release);
    _exit(status);
}

_Noreturn void recorder_write(struct hil_recorder *recorder, pid_t owner)
{
    const long period_ns = recorder->lossless ? WRITER_PERIOD_NS : WRITER_PERIOD_REAL_TIME_NS;
    const struct timespec period = {.tv_nsec = period_ns};
    struct shared *shared = recorder->shared;
    cpu_set_t cores;
    const bool moved = sched_getaffinity(0, sizeof cores, &cores) == 0;

    if (recorder->owner.part)
        recorder->owner.part(recorder->owner.arg);
    settle_writer(recorder);
    if (!recorder->journal) {
        remember(recorder, go_on(recorder));
        if (!recorder->journal)
            leave_writing(shared, 1);
    }
    if (recorder->lossless)
        recorder_follow(recorder);
    atomic_store_explicit(&shared->writing, true, memory_order_release);
    while (!atomic_load_explicit(&shared->stop, memory_order_acquire) && getppid() == owner) {
        drain_all(recorder);
        add_one(&shared->beats, memory_order_relaxed);
        nanosleep(&period, NULL);
    }
    if (moved)
        settle_maker(&cores);
    end_journal(recorder);
    if (getppid() != owner && recorder->owner.inherit)
        recorder->owner.inherit(recorder->owner.arg, error_of(recorder));
    fflush(NULL);
    leave_writing(shared, 0);
}

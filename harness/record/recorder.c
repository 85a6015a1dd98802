/*
 * A ring is a power of two of rows; head and tail count all rows ever committed and written, so
 * their difference is what the ring holds:
 *
 *      tail                          head
 *       | written next ...            | filled next ...
 *
 * The loop stores head, the writer stores tail, each with release order after the rows concerned.
 * The loop keeps the last tail that it saw, and reads it again only when the ring seems full. An
 * ordinary row thus touches a single cache line besides its own.
 */
#include "recorder.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/deaf.h"
#include "../base/pulse.h"
#include "../base/reap.h"
#include "../h5/journal.h"
#include "continuation.h"

enum {
    CACHE_LINE = 64,
    WRITER_PERIOD_NS = 5000000, /* interval of its looks */
    WRITER_PERIOD_REAL_TIME_NS = 50000000,
    LOOK_MS = HIL_LOOK_NS / 1000000,
    WAIT_NS = 50000,    /* interval at which a lossless loop checks for room */
    WRITER_ROWS = 1024, /* rows written before their room is released */
    RING_ROWS_MIN = 4096,
    RING_EVENTS = 2048, /* less than a chunk of events: trace.c */
    WRITERS_MAX = 10,   /* how many writers may be started, one after the other */
};

/* The most memory for rings that could lose rows: for one, and for all of them. */
static const size_t ring_bytes = (size_t)64 << 20, rings_bytes = (size_t)512 << 20;

/* If the loop may wait, a ring only has to bridge the writer's sleep, and should fit in the
 * cache. */
static const size_t ring_bytes_lossless = (size_t)4 << 20;

struct hil_stream {
    alignas(CACHE_LINE) _Atomic uint64_t head; /* this cache line belongs to the loop */
    uint64_t tail_seen;
    _Atomic uint64_t dropped;
    uint64_t mask; /* number of rows in the ring - 1 */
    double *rows;
    struct shared *shared;
    unsigned width;

    alignas(CACHE_LINE) _Atomic uint64_t tail; /* this cache line belongs to the writer */
};

_Static_assert(sizeof(struct hil_stream) == 2 * CACHE_LINE, "one line for either side");

/* The memory shared with child processes; the rings follow it. */
struct shared {
    _Atomic bool must_wait;     /* loops wait for room, while a lossless writer runs */
    _Atomic uint64_t discarded; /* rows that the writer discarded after its error */
    _Atomic bool writing;       /* set by the writer: the trace exists */
    _Atomic bool left;          /* set by the writer: its end is orderly */
    _Atomic uint64_t beats;     /* of the writer, each time that it makes progress */
    _Atomic uint64_t waits;     /* of loops for room, as the writer is behind */
    _Atomic bool stop;          /* tells the writer to end */
    _Atomic int error;          /* the first error */
    _Atomic unsigned drained;   /* the ring that the writer is emptying, or emptied last */
    struct hil_stream streams[];
};

struct hil_recorder {
    struct shared *shared;
    size_t shared_bytes;
    unsigned stream_count; /* number of the trace's streams; each has the ring of its number */
    unsigned event_rings;  /* number of rings of the last stream, beginning with its own */
    bool lossless;

    char *path;
    struct hil_journal *journal;           /* until the writer takes it */
    struct hil_trace *trace;               /* only in the process that writes it */
    struct hil_continuation *continuation; /* replaces the trace if the previous writer was
                                            * killed */
    struct hil_recorder_owner owner;
    pid_t writer;     /* 0: none */
    unsigned writers; /* number of writers that were started */
    uint64_t looks;   /* how many looks a writer may make no progress; 0: any number */
    struct hil_pulse pulse;
    unsigned hung; /* number of writers that were killed because they made none */
    bool finished;
};

/* --- the loop's side ----------------------------------------------------------------------- */

static bool has_room(struct hil_stream *stream, uint64_t head)
{
    if (head - stream->tail_seen <= stream->mask)
        return true;
    stream->tail_seen = atomic_load_explicit(&stream->tail, memory_order_acquire);
    return head - stream->tail_seen <= stream->mask;
}

static bool wait_for_room(struct hil_stream *stream, uint64_t head)
{
    const struct timespec pause = {.tv_nsec = WAIT_NS};

    while (atomic_load_explicit(&stream->shared->must_wait, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&stream->shared->waits, 1, memory_order_relaxed);
        nanosleep(&pause, NULL);
        if (has_room(stream, head))
            return true;
    }
    return false;
}

/* A counter with one writer needs no locked instruction. */
static void add_one(_Atomic uint64_t *counter, memory_order order)
{
    const uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);

    atomic_store_explicit(counter, value + 1, order);
}

double *hil_stream_row(struct hil_stream *stream)
{
    if (!stream)
        return NULL;

    const uint64_t head = atomic_load_explicit(&stream->head, memory_order_relaxed);
    if (!has_room(stream, head) && !wait_for_room(stream, head)) {
        add_one(&stream->dropped, memory_order_relaxed);
        return NULL;
    }
    return stream->rows + (head & stream->mask) * stream->width;
}

void hil_stream_commit(struct hil_stream *stream)
{
    add_one(&stream->head, memory_order_release);
}

void hil_stream_prepare(struct hil_stream *stream)
{
    if (!stream)
        return;

    const size_t page = (size_t)sysconf(_SC_PAGESIZE) / sizeof(double);
    const size_t size = (stream->mask + 1) * stream->width;
    const size_t into = (uintptr_t)stream->rows / sizeof(double) % page;
    volatile double *rows = stream->rows;

    /* Maps all pages in one call. Linux before 5.14 cannot, and maps them as they are touched. */
    madvise(stream->rows - into, (into + size) * sizeof(double), MADV_POPULATE_WRITE);
    for (size_t i = 0; i < size; i += page)
        rows[i] = rows[i];
    if (size > 0)
        rows[size - 1] = rows[size - 1];
}

/* --- the writer ---------------------------------------------------------------------------- */

static unsigned ring_count(const struct hil_recorder *recorder)
{
    return recorder->stream_count + (recorder->event_rings ? recorder->event_rings - 1 : 0);
}

/* The trace's stream for the ring's rows. */
static unsigned stream_of(const struct hil_recorder *recorder, unsigned ring)
{
    return ring < recorder->stream_count ? ring : recorder->stream_count - 1;
}

static bool has_events(const struct hil_recorder *recorder, unsigned ring)
{
    return recorder->event_rings && ring + 1 >= recorder->stream_count;
}

static int error_of(const struct hil_recorder *recorder)
{
    return atomic_load_explicit(&recorder->shared->error, memory_order_acquire);
}

static void remember(struct hil_recorder *recorder, int rc)
{
    if (!error_of(recorder))
        atomic_store_explicit(&recorder->shared->error, rc, memory_order_release);
}

static void write_rows(struct hil_recorder *recorder, unsigned ring, const double *rows,
                       size_t count)
{
    const unsigned index = stream_of(recorder, ring);

    atomic_store_explicit(&recorder->shared->drained, ring, memory_order_relaxed);
    add_one(&recorder->shared->beats, memory_order_relaxed);
    if (!error_of(recorder))
        remember(recorder, recorder->trace ? hil_trace_append(recorder->trace, index, rows, count)
                                           : hil_continuation_append(recorder->continuation, index,
                                                                     rows, count));
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
    const size_t count = least(least(head - tail, to_end), WRITER_ROWS);

    if (error_of(recorder) || !recorder->trace)
        return count;
    return least(count, hil_trace_room(recorder->trace, stream_of(recorder, ring)));
}

/* Empties a ring, as far as the trace has room. Returns the number of rows taken. */
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

/* Writes the rest of all rings; chunks no longer wait for each other. */
static void write_rest(struct hil_recorder *recorder)
{
    while (drain_all(recorder) > 0) /* a stream may have waited for one after it */
        ;
    hil_trace_end_order(recorder->trace); /* an interrupted run may lack rows */
    drain_all(recorder);
}

static void end_trace(struct hil_recorder *recorder)
{
    write_rest(recorder);
    if (recorder->owner.add)
        remember(recorder, recorder->owner.add(recorder->owner.arg, recorder->trace));
    remember(recorder, hil_trace_close(recorder->trace));
    recorder->trace = NULL;
}

/* Beside real-time loops, the writer only gets time that nobody else wants. It allocates and frees
 * the same buffers for every chunk, which should not go back to the kernel each time. */
static void settle_writer(const struct hil_recorder *recorder)
{
    const struct sched_param none = {0};

    prctl(PR_SET_NAME, "hl-record");
    sched_setscheduler(0, recorder->lossless ? SCHED_OTHER : SCHED_IDLE, &none);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
}

static uint64_t tail_of(const struct hil_recorder *recorder, unsigned ring)
{
    return atomic_load_explicit(&recorder->shared->streams[ring].tail, memory_order_relaxed);
}

/* How many rows the stream's rings have handed over. In real time this may be less than the trace
 * has, if the writer was killed in between. */
static uint64_t taken_for(const struct hil_recorder *recorder, unsigned stream)
{
    uint64_t taken = 0;

    for (unsigned i = stream; i < ring_count(recorder) && stream_of(recorder, i) == stream; i++)
        taken += tail_of(recorder, i);
    return taken;
}

/* Positions the rings after the rows in the trace; skips everything if the writer discarded rows
 * after an error. Rows that are in the trace but not released are from the ring that the writer
 * emptied last. */
static void go_on_behind(struct hil_recorder *recorder, unsigned stream)
{
    const uint64_t rows = recorder->trace ? hil_trace_rows(recorder->trace, stream)
                                          : hil_continuation_rows(recorder->continuation, stream);
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

/* Does what the first writer would have done if it had survived, or had been started. */
static int finish_here(struct hil_recorder *recorder)
{
    const int before = error_of(recorder);
    const int rc = hil_trace_resume(&recorder->trace, recorder->path);

    if (rc)
        remember(recorder, rc);
    if (rc)
        return error_of(recorder);
    for (unsigned i = 0; i < recorder->stream_count; i++)
        go_on_behind(recorder, i);
    atomic_store_explicit(&recorder->shared->error, 0, memory_order_relaxed);
    end_trace(recorder);
    if (before)
        atomic_store_explicit(&recorder->shared->error, before, memory_order_relaxed);
    return error_of(recorder);
}

static int begin_trace(struct hil_recorder *recorder)
{
    const int rc = hil_trace_begin(&recorder->trace, recorder->path, recorder->journal);

    recorder->journal = NULL;
    remember(recorder, rc);
    return rc;
}

/* Continues after a killed writer. */
static int go_on(struct hil_recorder *recorder)
{
    const int rc = hil_continuation_open(&recorder->continuation, recorder->path);

    for (unsigned i = 0; !rc && i < recorder->stream_count; i++)
        go_on_behind(recorder, i);
    remember(recorder, rc);
    return rc;
}

static void end_continuation(struct hil_recorder *recorder)
{
    drain_all(recorder);
    hil_continuation_close(recorder->continuation);
    finish_here(recorder);
}

/* The status of a process may be taken (base/reap.h), so it leaves word of its orderly end. */
static _Noreturn void leave_writing(struct shared *shared, int status)
{
    atomic_store_explicit(&shared->left, true, memory_order_release);
    _exit(status);
}

static _Noreturn void become_writer(struct hil_recorder *recorder, pid_t owner)
{
    const long period_ns = recorder->lossless ? WRITER_PERIOD_NS : WRITER_PERIOD_REAL_TIME_NS;
    const struct timespec period = {.tv_nsec = period_ns};
    struct shared *shared = recorder->shared;

    if (recorder->owner.part)
        recorder->owner.part(recorder->owner.arg);
    settle_writer(recorder);
    if (recorder->writers == 1 ? begin_trace(recorder) : go_on(recorder))
        leave_writing(shared, 1);
    atomic_store_explicit(&shared->writing, true, memory_order_release);
    while (!atomic_load_explicit(&shared->stop, memory_order_acquire) && getppid() == owner) {
        drain_all(recorder);
        add_one(&shared->beats, memory_order_relaxed);
        nanosleep(&period, NULL);
    }
    if (recorder->continuation)
        end_continuation(recorder);
    else
        end_trace(recorder);
    if (getppid() != owner && recorder->owner.inherit)
        recorder->owner.inherit(recorder->owner.arg, error_of(recorder));
    fflush(NULL);
    leave_writing(shared, 0);
}

/* --- the process that opened it ------------------------------------------------------------ */

static int start_writer(struct hil_recorder *recorder)
{
    const pid_t self = getpid();

    fflush(NULL);
    recorder->writers++;
    recorder->pulse = (struct hil_pulse){0};
    recorder->writer = hil_fork_deaf();
    if (recorder->writer == 0)
        become_writer(recorder, self);
    if (recorder->writer > 0)
        return 0;
    recorder->writer = 0;
    return -errno;
}

static bool is_writing(const struct hil_recorder *recorder)
{
    return atomic_load_explicit(&recorder->shared->writing, memory_order_acquire);
}

/* Another writer may continue the trace unless the end has come. */
static bool may_go_on(const struct hil_recorder *recorder)
{
    return is_writing(recorder) && !recorder->finished && !error_of(recorder) &&
           recorder->writers < WRITERS_MAX;
}

static bool has_left(const struct hil_recorder *recorder)
{
    return atomic_load_explicit(&recorder->shared->left, memory_order_acquire);
}

/* Whether it only waits for a core: beside loops that spin on all cores it may do so for long. */
static bool is_runnable(pid_t process)
{
    char path[40], state = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%*d %*s %c", &state) != 1)
        state = 0;
    if (f)
        fclose(f);
    return state == 'R';
}

/* Kills a writer that makes no progress. One that cannot be killed, because the disk does not
 * answer, is given up. Returns whether it is. */
static bool give_up(struct hil_recorder *recorder)
{
    const uint64_t beats = atomic_load_explicit(&recorder->shared->beats, memory_order_relaxed);

    if (recorder->looks && hil_pulse_stops(&recorder->pulse, beats, recorder->looks)) {
        if (is_runnable(recorder->writer)) {
            recorder->pulse = (struct hil_pulse){0};
            return false;
        }
        recorder->hung++;
        kill(recorder->writer, SIGKILL);
    }
    if (!recorder->pulse.stopped || recorder->pulse.looks <= 2 * recorder->looks)
        return false;
    recorder->writer = 0;
    atomic_store_explicit(&recorder->shared->must_wait, false, memory_order_relaxed);
    remember(recorder, -ETIMEDOUT);
    return true;
}

/* Whether the writer has ended. One look, as of a pulse. */
static bool writer_ended(struct hil_recorder *recorder)
{
    int status;

    if (!hil_reap(recorder->writer, WNOHANG, &status))
        return give_up(recorder);
    const bool left = has_left(recorder);
    recorder->writer = 0;
    if (!left && may_go_on(recorder) && start_writer(recorder) == 0)
        return false;
    atomic_store_explicit(&recorder->shared->must_wait, false, memory_order_relaxed);
    if (!left && !recorder->finished)
        remember(recorder, -EOWNERDEAD);
    return true;
}

void hil_recorder_limit(struct hil_recorder *recorder, uint64_t hang_limit_ns)
{
    recorder->looks = hang_limit_ns / HIL_LOOK_NS;
}

void hil_recorder_own(struct hil_recorder *recorder, const struct hil_recorder_owner *owner)
{
    recorder->owner = *owner;
}

int hil_recorder_start(struct hil_recorder *recorder)
{
    const int rc = start_writer(recorder);

    if (rc)
        return rc;
    hil_journal_close(recorder->journal);
    recorder->journal = NULL;
    while (!is_writing(recorder) && !writer_ended(recorder))
        hil_await_end(recorder->writer, LOOK_MS);
    atomic_store_explicit(&recorder->shared->must_wait, recorder->lossless && recorder->writer,
                          memory_order_relaxed);
    return error_of(recorder);
}

int hil_recorder_check(struct hil_recorder *recorder)
{
    if (recorder->writer)
        writer_ended(recorder);
    return error_of(recorder);
}

uint64_t hil_recorder_waits(const struct hil_recorder *recorder)
{
    return atomic_load_explicit(&recorder->shared->waits, memory_order_relaxed);
}

int hil_recorder_finish(struct hil_recorder *recorder)
{
    if (recorder->finished)
        return error_of(recorder);
    recorder->finished = true;
    atomic_store_explicit(&recorder->shared->stop, true, memory_order_release);
    while (recorder->writer && !writer_ended(recorder))
        hil_await_end(recorder->writer, LOOK_MS);
    const int rc = error_of(recorder);
    if (rc == -ETIMEDOUT || (is_writing(recorder) && has_left(recorder)))
        return rc;
    return finish_here(recorder);
}

unsigned hil_recorder_restarts(const struct hil_recorder *recorder)
{
    return recorder->writers ? recorder->writers - 1 : 0;
}

unsigned hil_recorder_hung(const struct hil_recorder *recorder)
{
    return recorder->hung;
}

uint64_t hil_recorder_dropped(const struct hil_recorder *recorder)
{
    uint64_t sum = atomic_load_explicit(&recorder->shared->discarded, memory_order_relaxed);

    for (unsigned i = 0; i < ring_count(recorder); i++)
        sum += atomic_load_explicit(&recorder->shared->streams[i].dropped, memory_order_relaxed);
    return sum;
}

/* --- opening and closing ------------------------------------------------------------------- */

static size_t aligned(size_t size)
{
    return (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* How many rows a ring of the stream holds, a power of two: ideally all expected rows. */
static uint64_t ring_rows(const struct hil_stream_config *config, size_t bytes_max)
{
    const size_t row_bytes = hil_stream_width(config) * sizeof(double);
    uint64_t rows = RING_ROWS_MIN;

    if (strcmp(config->name, HIL_EVENTS) == 0)
        return RING_EVENTS;
    while (rows < config->rows && 2 * rows * row_bytes <= bytes_max)
        rows *= 2;
    return rows;
}

static size_t ring_bytes_of(const struct hil_stream_config *config, size_t bytes_max)
{
    return aligned(ring_rows(config, bytes_max) * hil_stream_width(config) * sizeof(double));
}

static void init_streams(struct hil_recorder *recorder, const struct hil_trace_config *config,
                         size_t bytes_max)
{
    struct shared *shared = recorder->shared;
    char *ring = (char *)shared +
                 aligned(sizeof(*shared) + ring_count(recorder) * sizeof(struct hil_stream));

    for (unsigned i = 0; i < ring_count(recorder); i++) {
        const struct hil_stream_config *of = &config->streams[stream_of(recorder, i)];
        struct hil_stream *stream = &shared->streams[i];

        stream->width = hil_stream_width(of);
        stream->mask = ring_rows(of, bytes_max) - 1;
        stream->shared = shared;
        stream->rows = (double *)(void *)ring;
        ring += ring_bytes_of(of, bytes_max);
    }
}

static int map_streams(struct hil_recorder *recorder, const struct hil_trace_config *config)
{
    const unsigned count = config->stream_count;
    const size_t share = count > 0 ? rings_bytes / count : rings_bytes;
    const size_t most = recorder->lossless ? ring_bytes_lossless : ring_bytes;
    const size_t bytes_max = most < share ? most : share;
    size_t bytes =
        aligned(sizeof(struct shared) + ring_count(recorder) * sizeof(struct hil_stream));

    for (unsigned i = 0; i < ring_count(recorder); i++)
        bytes += ring_bytes_of(&config->streams[stream_of(recorder, i)], bytes_max);

    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    recorder->shared = memory;
    recorder->shared_bytes = bytes;
    init_streams(recorder, config, bytes_max);
    return 0;
}

int hil_recorder_open(struct hil_recorder **recorder, const char *path,
                      const struct hil_trace_config *config, unsigned event_rings)
{
    struct hil_recorder *made = calloc(1, sizeof(*made));
    if (!made)
        return -ENOMEM;

    made->lossless = config->whole;
    made->stream_count = config->stream_count;
    made->event_rings = event_rings;
    int rc = map_streams(made, config);
    if (rc)
        goto free_recorder;
    made->path = strdup(path);
    rc = made->path ? hil_trace_create_journal(&made->journal, path, config) : -ENOMEM;
    if (rc)
        goto unmap_streams;
    *recorder = made;
    return 0;

unmap_streams:
    munmap(made->shared, made->shared_bytes);
free_recorder:
    free(made->path);
    free(made);
    return rc;
}

struct hil_stream *hil_recorder_stream(struct hil_recorder *recorder, unsigned index)
{
    return &recorder->shared->streams[index];
}

struct hil_stream *hil_recorder_events(struct hil_recorder *recorder, unsigned ring)
{
    return ring < recorder->event_rings
               ? &recorder->shared->streams[recorder->stream_count - 1 + ring]
               : NULL;
}

void hil_recorder_close(struct hil_recorder *recorder)
{
    if (!recorder)
        return;
    hil_recorder_finish(recorder);
    hil_journal_close(recorder->journal);
    munmap(recorder->shared, recorder->shared_bytes);
    free(recorder->path);
    free(recorder);
}

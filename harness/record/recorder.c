/*
 * A ring is a power of two of rows; head and tail count all rows ever committed and
 * written, so their difference is what the ring holds:
 *
 *      tail                          head
 *       | written next ...            | filled next ...
 *
 * The loop stores head, the writer stores tail, each with release order behind the rows
 * they speak of. The loop keeps the tail that it saw last and looks again only when the
 * ring seems full: an ordinary row touches one cache line beside itself.
 */
#include "recorder.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    CACHE_LINE = 64,
    WRITER_PERIOD_NS = 5000000, /* how often it looks */
    WRITER_PERIOD_REAL_TIME_NS = 50000000,
    WAIT_NS = 50000,    /* how often a lossless loop looks for room */
    WRITER_ROWS = 1024, /* written before their room is given back */
    RING_ROWS_MIN = 4096,
};

/* The most that rings take where rows would be lost otherwise: one, and all of them. */
static const size_t ring_bytes = (size_t)64 << 20, rings_bytes = (size_t)512 << 20;

/* Where the loop may wait a ring need only bridge the writer's sleep, and stay in cache. */
static const size_t ring_bytes_lossless = (size_t)4 << 20;

struct hil_stream {
    alignas(CACHE_LINE) _Atomic uint64_t head; /* this line is the loop's */
    uint64_t tail_seen;
    _Atomic uint64_t dropped;
    uint64_t mask; /* rows in the ring, less one */
    double *rows;
    const _Atomic bool *must_wait; /* for room; while the writer runs and is lossless */
    unsigned width;

    alignas(CACHE_LINE) _Atomic uint64_t tail; /* this one the writer's */
};

_Static_assert(sizeof(struct hil_stream) == 2 * CACHE_LINE, "one line for either side");

/* All that child processes reach; the rings lie behind it. */
struct shared {
    _Atomic bool must_wait;
    _Atomic uint64_t discarded; /* rows that the writer took after its error */
    struct hil_stream streams[];
};

struct hil_recorder {
    struct shared *shared;
    size_t shared_bytes;
    unsigned stream_count;
    bool lossless;

    struct hil_trace *trace; /* NULL: closed */
    pthread_t writer;
    bool writing;
    _Atomic bool stop;
    int error; /* the writer's first */
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

    while (atomic_load_explicit(stream->must_wait, memory_order_relaxed)) {
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
    volatile double *rows = stream->rows;

    for (size_t i = 0; i < size; i += page)
        rows[i] = rows[i];
    if (size > 0)
        rows[size - 1] = rows[size - 1];
}

/* --- the writer ---------------------------------------------------------------------------- */

static void write_rows(struct hil_recorder *recorder, unsigned index, const double *rows,
                       size_t count)
{
    if (!recorder->error)
        recorder->error = hil_trace_append(recorder->trace, index, rows, count);
    if (recorder->error)
        atomic_fetch_add_explicit(&recorder->shared->discarded, count, memory_order_relaxed);
}

static size_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The rows that can be taken from the ring in one piece. */
static size_t next_piece(const struct hil_recorder *recorder, unsigned index, uint64_t tail,
                         uint64_t head)
{
    const struct hil_stream *stream = &recorder->shared->streams[index];
    const uint64_t to_end = stream->mask + 1 - (tail & stream->mask);
    const size_t count = least(least(head - tail, to_end), WRITER_ROWS);

    return recorder->error ? count : least(count, hil_trace_room(recorder->trace, index));
}

/* Empties a ring, as far as the trace has room. Returns the number of rows that it took. */
static uint64_t drain(struct hil_recorder *recorder, unsigned index)
{
    struct hil_stream *stream = &recorder->shared->streams[index];
    const uint64_t head = atomic_load_explicit(&stream->head, memory_order_acquire);
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

static uint64_t drain_all(struct hil_recorder *recorder)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < recorder->stream_count; i++)
        count += drain(recorder, i);
    return count;
}

static void *writer_main(void *argument)
{
    struct hil_recorder *recorder = argument;
    const long period_ns = recorder->lossless ? WRITER_PERIOD_NS : WRITER_PERIOD_REAL_TIME_NS;
    const struct timespec period = {.tv_nsec = period_ns};
    const struct sched_param none = {0};

    /* Beside loops in real time it takes what nobody else wants. */
    if (!recorder->lossless)
        pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
    while (!atomic_load_explicit(&recorder->stop, memory_order_acquire)) {
        drain_all(recorder);
        nanosleep(&period, NULL);
    }
    return NULL;
}

/* The caller may run at a real-time priority, or have its signals handled by itself. */
static int start_writer(struct hil_recorder *recorder)
{
    pthread_attr_t attributes;
    sigset_t all, before;

    pthread_attr_init(&attributes); /* asks for the ordinary scheduler */
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&recorder->writer, &attributes, writer_main, recorder);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -rc;
}

int hil_recorder_start(struct hil_recorder *recorder)
{
    const int rc = start_writer(recorder);

    if (rc)
        return rc;
    recorder->writing = true;
    atomic_store_explicit(&recorder->shared->must_wait, recorder->lossless, memory_order_relaxed);
    return 0;
}

static void stop_writer(struct hil_recorder *recorder)
{
    atomic_store_explicit(&recorder->stop, true, memory_order_release);
    pthread_join(recorder->writer, NULL);
    recorder->writing = false;
    atomic_store_explicit(&recorder->shared->must_wait, false, memory_order_relaxed);
}

int hil_recorder_finish(struct hil_recorder *recorder)
{
    if (recorder->writing)
        stop_writer(recorder);
    if (!recorder->trace)
        return recorder->error;

    while (drain_all(recorder) > 0) /* a stream may have waited for one behind it */
        ;
    hil_trace_end_order(recorder->trace); /* an interrupted run's need not all be there */
    drain_all(recorder);
    const int rc = hil_trace_close(recorder->trace);
    if (!recorder->error)
        recorder->error = rc;
    recorder->trace = NULL;
    return recorder->error;
}

uint64_t hil_recorder_dropped(const struct hil_recorder *recorder)
{
    uint64_t sum = atomic_load_explicit(&recorder->shared->discarded, memory_order_relaxed);

    for (unsigned i = 0; i < recorder->stream_count; i++)
        sum += atomic_load_explicit(&recorder->shared->streams[i].dropped, memory_order_relaxed);
    return sum;
}

/* --- opening and closing ------------------------------------------------------------------- */

static size_t aligned(size_t size)
{
    return (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* How many rows the stream's ring holds, a power of two: all that are expected, at best. */
static uint64_t ring_rows(const struct hil_stream_config *config, size_t bytes_max)
{
    const size_t row_bytes = hil_stream_width(config) * sizeof(double);
    uint64_t rows = RING_ROWS_MIN;

    while (rows < config->rows && 2 * rows * row_bytes <= bytes_max)
        rows *= 2;
    return rows;
}

static void init_streams(struct hil_recorder *recorder, const struct hil_trace_config *config,
                         size_t bytes_max)
{
    struct shared *shared = recorder->shared;
    char *ring = (char *)shared +
                 aligned(sizeof(*shared) + recorder->stream_count * sizeof(struct hil_stream));

    for (unsigned i = 0; i < recorder->stream_count; i++) {
        struct hil_stream *stream = &shared->streams[i];

        stream->width = hil_stream_width(&config->streams[i]);
        stream->mask = ring_rows(&config->streams[i], bytes_max) - 1;
        stream->must_wait = &shared->must_wait;
        stream->rows = (double *)(void *)ring;
        ring += aligned((stream->mask + 1) * stream->width * sizeof(double));
    }
}

static int map_streams(struct hil_recorder *recorder, const struct hil_trace_config *config)
{
    const unsigned count = config->stream_count;
    const size_t share = count > 0 ? rings_bytes / count : rings_bytes;
    const size_t most = recorder->lossless ? ring_bytes_lossless : ring_bytes;
    const size_t bytes_max = most < share ? most : share;
    size_t bytes = aligned(sizeof(struct shared) + count * sizeof(struct hil_stream));

    for (unsigned i = 0; i < count; i++)
        bytes += aligned(ring_rows(&config->streams[i], bytes_max) *
                         hil_stream_width(&config->streams[i]) * sizeof(double));

    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    recorder->shared = memory;
    recorder->shared_bytes = bytes;
    recorder->stream_count = count;
    init_streams(recorder, config, bytes_max);
    return 0;
}

int hil_recorder_open(struct hil_recorder **recorder, const char *path,
                      const struct hil_trace_config *config)
{
    struct hil_recorder *made = calloc(1, sizeof(*made));
    if (!made)
        return -ENOMEM;

    made->lossless = config->whole;
    int rc = map_streams(made, config);
    if (rc)
        goto free_recorder;
    rc = hil_trace_create(&made->trace, path, config);
    if (rc)
        goto unmap_streams;
    *recorder = made;
    return 0;

unmap_streams:
    munmap(made->shared, made->shared_bytes);
free_recorder:
    free(made);
    return rc;
}

struct hil_stream *hil_recorder_stream(struct hil_recorder *recorder, unsigned index)
{
    return &recorder->shared->streams[index];
}

void hil_recorder_close(struct hil_recorder *recorder)
{
    if (!recorder)
        return;
    hil_recorder_finish(recorder);
    munmap(recorder->shared, recorder->shared_bytes);
    free(recorder);
}

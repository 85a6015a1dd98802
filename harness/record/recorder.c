/* The process that opened the recorder: it starts the writer, and watches it. */
#include "recorder.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/detached.h"
#include "../base/reap.h"
#include "../h5/journal.h"
#include "recorder_parts.h"

enum {
    LOOK_MS = HIL_LOOK_NS / 1000000,
    START_NS = 50000, /* interval of the looks for a writer that starts */
    RING_ROWS_MIN = 4096,
    RING_EVENTS = 16384,
    RING_EVENTS_LOSSLESS = 2048, /* less than a chunk of events: trace.c */
    HURRIED_NICE = -10,
    WRITERS_MAX = 10, /* how many writers may be started, one after the other */
};

/* The most memory for rings that could lose rows: for one, and for all of them. */
static const size_t ring_bytes = (size_t)64 << 20, rings_bytes = (size_t)512 << 20;

/* If the loop may wait, a ring only has to bridge the writer's sleep, and should fit in the
 * cache. */
static const size_t ring_bytes_lossless = (size_t)4 << 20;

/* --- the writer ---------------------------------------------------------------------------- */

static bool is_writing(const struct hil_recorder *recorder)
{
    return atomic_load_explicit(&recorder->shared->writing, memory_order_acquire);
}

static int start_writer(struct hil_recorder *recorder)
{
    const pid_t self = getpid();

    fflush(NULL);
    recorder->writers++;
    recorder->pulse = (struct hil_pulse){0};
    recorder->writer = hil_fork_detached();
    if (recorder->writer == 0)
        recorder_write(recorder, self);
    if (recorder->writer > 0)
        return 0;
    recorder->writer = 0;
    return -errno;
}

/* Another writer may continue the journal unless the end has come. */
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

/* Waits until the writer writes, but not longer than until the next look. */
static void await_writing(const struct hil_recorder *recorder)
{
    const struct timespec pause = {.tv_nsec = START_NS};

    for (int i = 0; i < HIL_LOOK_NS / START_NS && !is_writing(recorder); i++)
        nanosleep(&pause, NULL);
}

int hil_recorder_start(struct hil_recorder *recorder)
{
    const int rc = start_writer(recorder);

    if (rc)
        return rc;
    hil_journal_close(recorder->journal);
    recorder->journal = NULL;
    while (!is_writing(recorder) && !writer_ended(recorder))
        await_writing(recorder);
    atomic_store_explicit(&recorder->shared->must_wait, recorder->lossless && recorder->writer,
                          memory_order_relaxed);
    return error_of(recorder);
}

/* Beside loops that spin on all cores at nice -20, a writer at the lowest priority gets no time,
 * and one at nice 0 a hundredth of a core. At -10 it gets a tenth; the record of the reference
 * scenario needs 6 %. */
static void hurry_writer(const struct hil_recorder *recorder)
{
    const struct sched_param none = {0};

    for (unsigned i = 0; i < ring_count(recorder); i++) {
        struct hil_stream *s = &recorder->shared->streams[i];
        const uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);
        const uint64_t head = atomic_load_explicit(&s->head, memory_order_relaxed);
        if (head - tail > s->mask / 2) {
            sched_setscheduler(recorder->writer, SCHED_OTHER, &none); /* if permitted */
            setpriority(PRIO_PROCESS, (id_t)recorder->writer, HURRIED_NICE);
            return;
        }
    }
}

int hil_recorder_check(struct hil_recorder *recorder)
{
    if (recorder->writer && !writer_ended(recorder) && !recorder->lossless)
        hurry_writer(recorder);
    return error_of(recorder);
}

uint64_t hil_recorder_waits(const struct hil_recorder *recorder)
{
    return atomic_load_explicit(&recorder->shared->waits, memory_order_relaxed);
}

/* Tells the owner how far the trace is, which may give it up. */
static void look_at_making(struct hil_recorder *recorder)
{
    struct shared *shared = recorder->shared;

    if (!recorder->owner.making || !atomic_load_explicit(&shared->making, memory_order_acquire))
        return;
    const unsigned made = atomic_load_explicit(&shared->made, memory_order_relaxed);
    if (!recorder->owner.making(recorder->owner.arg, made * 1e-3))
        atomic_store_explicit(&shared->give_up, true, memory_order_relaxed);
}

int hil_recorder_finish(struct hil_recorder *recorder)
{
    if (recorder->finished)
        return error_of(recorder);
    recorder->finished = true;
    atomic_store_explicit(&recorder->shared->stop, true, memory_order_release);
    while (recorder->writer && !writer_ended(recorder)) {
        look_at_making(recorder);
        hil_await_end(recorder->writer, LOOK_MS);
    }
    const int rc = error_of(recorder);
    if (rc == -ETIMEDOUT || (is_writing(recorder) && has_left(recorder)))
        return rc;
    return recorder_finish_here(recorder);
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
        return bytes_max <= ring_bytes_lossless ? RING_EVENTS_LOSSLESS : RING_EVENTS;
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
    rc = made->path ? hil_journal_create(&made->journal, path, config) : -ENOMEM;
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

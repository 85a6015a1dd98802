/* The loop's side of the recorder. */
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "recorder_parts.h"

enum { WAIT_NS = 50000 }; /* interval at which a lossless loop checks for room */

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

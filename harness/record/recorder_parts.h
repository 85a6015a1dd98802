/*
 * The recorder's memory: the rings of the loops (rings.c), the writer, a process (writer.c), and
 * the process that opened the recorder (recorder.c).
 *
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
#ifndef HIL_RECORDER_PARTS_H
#define HIL_RECORDER_PARTS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "../base/pulse.h"
#include "recorder.h"

enum { CACHE_LINE = 64 };

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
    _Atomic bool writing;       /* set by the writer: it takes rows */
    _Atomic bool making;        /* the journal is complete, and the trace is made from it */
    _Atomic unsigned made;      /* then: thousandths of it */
    _Atomic bool give_up;       /* tells the process that makes it to leave it */
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
    struct hil_journal *journal; /* open in the process that appends to it */
    struct making *following;    /* makes the trace as the rows come; NULL: nobody does */
    struct hil_recorder_owner owner;
    pid_t writer;     /* 0: none */
    unsigned writers; /* number of writers that were started */
    uint64_t looks;   /* how many looks a writer may make no progress; 0: any number */
    struct hil_pulse pulse;
    unsigned hung; /* number of writers that were killed because they made none */
    bool finished;
};

/* A counter with one writer needs no locked instruction. */
static inline void add_one(_Atomic uint64_t *counter, memory_order order)
{
    const uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);

    atomic_store_explicit(counter, value + 1, order);
}

static inline unsigned ring_count(const struct hil_recorder *recorder)
{
    return recorder->stream_count + (recorder->event_rings ? recorder->event_rings - 1 : 0);
}

/* The trace's stream for the ring's rows. */
static inline unsigned stream_of(const struct hil_recorder *recorder, unsigned ring)
{
    return ring < recorder->stream_count ? ring : recorder->stream_count - 1;
}

static inline int error_of(const struct hil_recorder *recorder)
{
    return atomic_load_explicit(&recorder->shared->error, memory_order_acquire);
}

static inline void remember(struct hil_recorder *recorder, int rc)
{
    if (!error_of(recorder))
        atomic_store_explicit(&recorder->shared->error, rc, memory_order_release);
}

/* The writer's process: takes the rows of all rings until the recorder stops it, or `owner`, the
 * process that opened the recorder, has died. Does not return. */
_Noreturn void recorder_write(struct hil_recorder *recorder, pid_t owner);

/* Does what the writer would have done if it had survived, or had been started. Returns 0 or the
 * recorder's error. */
int recorder_finish_here(struct hil_recorder *recorder);

#endif

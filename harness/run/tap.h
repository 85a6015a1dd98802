/*
 * Taps: the values of every step of every node, for programs that watch. Each node that runs here
 * has a ring of rows in the memory of the run's state, and is its only writer. It writes one row in
 * each step, at the moment when the record's row is written (in every step, even if the record is
 * decimated), and the same words whether somebody watches or not. The writer never waits for a
 * reader. A reader finds out from the ring's count whether a row was overwritten while it was read
 * (scope/rows.h).
 *
 * A row consists of 8-byte words: those of enum hil_tap_word, then doubles. hil_tap_column
 * describes each of them: the measures made at the node with their references, the inputs and
 * outputs of its components, and its sources.
 */
#ifndef HIL_TAP_H
#define HIL_TAP_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "../../channels/loco/fabric/atomic_copy.h"
#include "../record/event_kinds.h"
#include "../scenario/scenario.h"
#include "../scenario/system.h"

enum hil_tap_word {
    HIL_TAP_STEP,   /* number of the step, from 0 */
    HIL_TAP_TIME,   /* when the step began: ns after the start */
    HIL_TAP_MISSED, /* steps missed so far */
    HIL_TAP_EVENTS, /* one bit for each kind of event since the previous row (hil_tap_note) */
    HIL_TAP_VALUES, /* the first double */
};

/* The bits of HIL_TAP_EVENTS: one for each kind of event, and one for missed steps. An event that
 * happens after its step's row was written goes into the next row, shifted by HIL_TAP_BEFORE: it
 * belongs to the previous row. */
enum { HIL_TAP_MISS = 31, HIL_TAP_BEFORE = 32 };

_Static_assert((int)HIL_EVENT_KIND_COUNT <= (int)HIL_TAP_MISS, "a bit for each");

/* A node's ring in the shared memory: one cache line. Row i is at i modulo `rows`. Between two rows
 * of a ring lie the rows of nodes that are stepped together with this one. */
struct hil_tap_ring {
    alignas(64) _Atomic uint64_t count; /* rows written so far */
    /* 1 + the newest row that has events or missed steps; 0: none has. */
    _Atomic uint64_t marked;
    uint64_t at;     /* where its rows begin: bytes from this struct */
    uint32_t rows;   /* a power of two; 0: the node does not run here */
    uint32_t width;  /* words in a row */
    uint32_t stride; /* words from the start of one row to the start of the next */
    uint32_t values; /* values copied from the node's step: an even number */

    /* Used by the writer only. */
    uint64_t events; /* since the newest row */
    uint64_t missed;
    uint64_t row; /* words from the first row to the next one to write */
};

_Static_assert(sizeof(struct hil_tap_ring) == 64, "a line");

/* Describes one word of a row. */
struct hil_tap_column {
    char name[HIL_SIGNAL_NAME_BYTES]; /* "cell[3].current_a", "output", "output.reference" */
    char unit[16];
    uint32_t node, place; /* index of the word in the node's rows */
};

/* Where the rings and columns are in the memory: bytes from its beginning. */
struct hil_taps {
    uint64_t rings, columns;
    uint32_t ring_count, column_count; /* one ring for each node; 0: no taps */
};

/* --- laying out ------------------------------------------------------------------------------ */

/* Bytes that the taps of a scenario need. */
size_t hil_taps_size(const struct hil_scenario *scenario);

/* Lays the taps out in `memory`, which is zeroed, from `at` on, a multiple of 64. */
void hil_taps_init(struct hil_taps *taps, void *memory, uint64_t at,
                   const struct hil_scenario *scenario);

/* How the words of a node's row are divided: how many come before and after the values of inputs
 * and outputs. */
struct hil_tap_places {
    uint32_t values, sources, shadows, measures, width;
    uint32_t columns; /* number of words that have a column */
};

struct hil_tap_places hil_tap_places(const struct hil_scenario *scenario, unsigned node);

/* --- the node's side: one thread ------------------------------------------------------------- */

/* The node's ring in this process. Touches its memory, so that no row costs a page fault later.
 * NULL: the node has no ring. */
struct hil_tap_ring *hil_tap_open(const struct hil_taps *taps, void *memory, unsigned node);

static inline void hil_tap_put(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline uint64_t *hil_tap_at(struct hil_tap_ring *ring, uint64_t row)
{
    return (uint64_t *)((char *)ring + ring->at) + (row & (ring->rows - 1)) * ring->stride;
}

/* Notes that something happened at step n. */
static inline void hil_tap_note(struct hil_tap_ring *ring, uint64_t n, enum hil_event_kind kind)
{
    const uint64_t count = atomic_load_explicit(&ring->count, memory_order_relaxed);
    const bool written = count && n <= hil_tap_at(ring, count - 1)[HIL_TAP_STEP];

    ring->events |= 1ull << (written ? kind + HIL_TAP_BEFORE : kind);
}

/* Notes that the step of the newest row ran late, or that steps after it were left out. */
static inline void hil_tap_miss(struct hil_tap_ring *ring, uint64_t count)
{
    ring->missed += count;
    ring->events |= 1ull << (HIL_TAP_MISS + HIL_TAP_BEFORE);
}

/* Copies consecutive values. The count is even, because they are copied in pairs where the machine
 * can. */
static inline void hil_tap_values(uint64_t *to, const double *from, unsigned count)
{
    for (const double *end = from + count; from < end; from += 2, to += 2) {
#ifdef LOCO_PAIRS
        loco_copy_pair(to, (const uint64_t *)from);
#else
        loco_copy(to, from, 2 * sizeof *to);
#endif
    }
}

/* The next row. The caller fills it from HIL_TAP_VALUES on. */
static inline uint64_t *hil_tap_row(struct hil_tap_ring *ring)
{
    /* A reader sees the previous row's count before any word of this row. */
    atomic_thread_fence(memory_order_release);
    return (uint64_t *)((char *)ring + ring->at) + ring->row;
}

/* Prefetches the next row. It was last written so long ago that it is in no cache. */
static inline void hil_tap_fetch(struct hil_tap_ring *ring)
{
    const uint64_t *row = hil_tap_row(ring);

    __builtin_prefetch(row, 1);
    __builtin_prefetch(row + 8, 1);
}

static inline void hil_tap_commit(struct hil_tap_ring *ring, uint64_t *row, uint64_t n,
                                  uint64_t now_ns)
{
    const uint64_t count = atomic_load_explicit(&ring->count, memory_order_relaxed) + 1;

    hil_tap_put(&row[HIL_TAP_STEP], n);
    hil_tap_put(&row[HIL_TAP_TIME], now_ns);
    hil_tap_put(&row[HIL_TAP_MISSED], ring->missed);
    hil_tap_put(&row[HIL_TAP_EVENTS], ring->events);
    if (__builtin_expect(ring->events != 0, 0)) {
        ring->events = 0;
        atomic_store_explicit(&ring->marked, count, memory_order_relaxed);
    }
    ring->row = count & (ring->rows - 1) ? ring->row + ring->stride : 0;
    atomic_store_explicit(&ring->count, count, memory_order_release);
    hil_tap_fetch(ring); /* arrives while other nodes are stepped */
}

#endif

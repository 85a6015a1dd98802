/*
 * Taps: what every step of every node had, for whoever watches. Each node that runs here has a ring
 * of rows in the memory of the run's state, of which it is the only writer. It writes one row in
 * each step, when the record's row is written (of each step, though the record may be decimated),
 * the same words whether somebody watches or not. Nobody is waited for: who reads finds out by the
 * ring's count whether a row was written over meanwhile (scope/rows.h).
 *
 * A row is words of 8 bytes: those of enum hil_tap_word, then doubles. hil_tap_column says which is
 * what: the measures made at the node with their references, the inputs and outputs of its
 * components, its sources.
 */
#ifndef HIL_TAP_H
#define HIL_TAP_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "../../channels/fabric/words.h"
#include "../record/event_kinds.h"
#include "../scenario/scenario.h"
#include "../scenario/system.h"

enum hil_tap_word {
    HIL_TAP_STEP,   /* its number, from 0 */
    HIL_TAP_TIME,   /* when it began: ns after the start */
    HIL_TAP_MISSED, /* steps missed until then */
    HIL_TAP_EVENTS, /* a bit for each kind of event since the row before (hil_tap_note) */
    HIL_TAP_VALUES, /* the first double */
};

/* The bits of HIL_TAP_EVENTS: one for each kind, and one for missed steps. What happened after the
 * row of its own step was written is in the next row, so much higher: it is of the row before. */
enum { HIL_TAP_MISS = 31, HIL_TAP_BEFORE = 32 };

_Static_assert((int)HIL_EVENT_KIND_COUNT <= (int)HIL_TAP_MISS, "a bit for each");

/* A node's ring, in the memory: a line. Row i is at i modulo `rows`. Between two rows of a ring are
 * those of nodes that are stepped together with this one. */
struct hil_tap_ring {
    alignas(64) _Atomic uint64_t count; /* rows that were written */
    /* 1 + the newest row in which something happened: events, or missed steps. 0: none. */
    _Atomic uint64_t marked;
    uint64_t at;     /* its rows: bytes from here */
    uint32_t rows;   /* a power of two; 0: the node does not run here */
    uint32_t width;  /* words in a row */
    uint32_t stride; /* words from the beginning of a row to that of the next */
    uint32_t values; /* how many are copied from the node's step: an even number */

    /* The writer's own. */
    uint64_t events; /* since the newest row */
    uint64_t missed;
    uint64_t row; /* words from the first row to the one that comes */
};

_Static_assert(sizeof(struct hil_tap_ring) == 64, "a line");

/* What a word of a row is. */
struct hil_tap_column {
    char name[HIL_SIGNAL_NAME_BYTES]; /* "cell[3].current_a", "output", "output.reference" */
    char unit[16];
    uint32_t node, place; /* the word in the node's rows */
};

/* Where in the memory all that is: bytes from its beginning. */
struct hil_taps {
    uint64_t rings, columns;
    uint32_t ring_count, column_count; /* a ring for each node; 0: there are none */
};

/* --- laying out ------------------------------------------------------------------------------ */

/* What the taps of a scenario need. */
size_t hil_taps_size(const struct hil_scenario *scenario);

/* Lays them out in `memory`, which is zero, from `at` on: a multiple of 64. */
void hil_taps_init(struct hil_taps *taps, void *memory, uint64_t at,
                   const struct hil_scenario *scenario);

/* Which words of a row of the node are what: how many are before and behind the values of inputs
 * and outputs. */
struct hil_tap_places {
    uint32_t values, sources, shadows, measures, width;
    uint32_t columns; /* how many of the words are something */
};

struct hil_tap_places hil_tap_places(const struct hil_scenario *scenario, unsigned node);

/* --- the node's side: one thread ------------------------------------------------------------- */

/* The node's ring, in this process; its memory is touched, so that no row costs a page fault. NULL:
 * there is none. */
struct hil_tap_ring *hil_tap_open(const struct hil_taps *taps, void *memory, unsigned node);

static inline void hil_tap_put(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline uint64_t *hil_tap_at(struct hil_tap_ring *ring, uint64_t row)
{
    return (uint64_t *)((char *)ring + ring->at) + (row & (ring->rows - 1)) * ring->stride;
}

/* Something happened at step n. */
static inline void hil_tap_note(struct hil_tap_ring *ring, uint64_t n, enum hil_event_kind kind)
{
    const uint64_t count = atomic_load_explicit(&ring->count, memory_order_relaxed);
    const bool written = count && n <= hil_tap_at(ring, count - 1)[HIL_TAP_STEP];

    ring->events |= 1ull << (written ? kind + HIL_TAP_BEFORE : kind);
}

/* The step of the newest row ran late, or steps after it are left out. */
static inline void hil_tap_miss(struct hil_tap_ring *ring, uint64_t count)
{
    ring->missed += count;
    ring->events |= 1ull << (HIL_TAP_MISS + HIL_TAP_BEFORE);
}

/* Values that stand together; an even number, for they are copied in pairs where that can be. */
static inline void hil_tap_values(uint64_t *to, const double *from, unsigned count)
{
    for (unsigned i = 0; i < count; i += 2) {
#ifdef LOCO_PAIRS
        loco_copy_pair(to + i, (const uint64_t *)from + i);
#else
        loco_copy(to + i, from + i, 2 * sizeof *to);
#endif
    }
}

/* The next row, which is to be filled from HIL_TAP_VALUES on. */
static inline uint64_t *hil_tap_row(struct hil_tap_ring *ring)
{
    /* The count of the row before is seen before any word of this one. */
    atomic_thread_fence(memory_order_release);
    return (uint64_t *)((char *)ring + ring->at) + ring->row;
}

/* Where the next row goes was written so long ago that it is in no cache. */
static inline void hil_tap_fetch(struct hil_tap_ring *ring)
{
    __builtin_prefetch(hil_tap_row(ring), 1);
    __builtin_prefetch(hil_tap_row(ring) + 8, 1);
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
    hil_tap_fetch(ring); /* it comes while other nodes make their steps */
}

#endif

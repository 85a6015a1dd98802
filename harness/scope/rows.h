/*
 * What a run's nodes wrote into their rings (run/tap.h), read by another process: which signals
 * there are, and rows of them. The memory may be of anybody's making, and changes while it is read.
 */
#ifndef HIL_ROWS_H
#define HIL_ROWS_H

#include <string.h>

#include "../run/state.h"

/* --- which signals there are -------------------------------------------------------------------
 */

struct hil_shown {
    char name[HIL_SIGNAL_NAME_BYTES];
    char unit[16];
    unsigned node, place; /* the word in the node's rows */
};

struct hil_shown_list {
    struct hil_shown *at;
    unsigned count;
};

/* Returns 0; -EPROTO when it is not as a run lays it out; or -ENOMEM. */
int hil_shown_open(struct hil_shown_list *list, const struct hil_attached *run);
void hil_shown_close(struct hil_shown_list *list);

/* NULL: there is none by this name. */
const struct hil_shown *hil_shown_find(const struct hil_shown_list *list, const char *name);

/* --- rows ---------------------------------------------------------------------------------------
 */

struct hil_rows {
    const struct hil_tap_ring *ring;
    const uint64_t *words;
    uint32_t rows, width, stride; /* as the ring has them */
    uint64_t next;                /* the first row that was not taken yet */
};

/* The ring of a node, from its oldest row on. Returns 0; -ENOENT: the node does not run here; or
 * -EPROTO. */
int hil_rows_open(struct hil_rows *rows, const struct hil_attached *run, unsigned node);

/* How many rows were written by now. */
static inline uint64_t hil_rows_count(const struct hil_rows *rows)
{
    return atomic_load_explicit(&rows->ring->count, memory_order_acquire);
}

/* 1 + the newest row in which something happened; 0: nothing yet. */
static inline uint64_t hil_rows_marked(const struct hil_rows *rows)
{
    return atomic_load_explicit(&rows->ring->marked, memory_order_acquire);
}

/*
 * Copies the words at `places` of the rows that come next, `most` at most, row behind row. Returns
 * how many; the last of them is row next - 1. Those that were written over before they could be
 * copied are passed over: they come before the first that is given, and *lost counts them as well.
 */
unsigned hil_rows_take(struct hil_rows *rows, const uint32_t *places, unsigned count, uint64_t *to,
                       unsigned most, uint64_t *lost);

/* A word as the number that it is. */
static inline double hil_rows_number(uint64_t word)
{
    double number;

    memcpy(&number, &word, sizeof number);
    return number;
}

#endif

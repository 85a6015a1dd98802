/*
 * Reads the rings that a run's nodes write (run/tap.h) from another process: the available signals,
 * and their rows. The memory is not trusted, and changes while it is read.
 */
#ifndef HIL_ROWS_H
#define HIL_ROWS_H

#include <string.h>

#include "../../run/state.h"

/* --- available signals ------------------------------------------------------------------------ */

struct hil_shown {
    char name[HIL_SIGNAL_NAME_BYTES];
    char unit[16];
    unsigned node, place; /* index of its word in the node's rows */
};

struct hil_shown_list {
    struct hil_shown *at;
    unsigned count;
};

/* Returns 0; -EPROTO when the layout is not that of a run; or -ENOMEM. */
int hil_shown_open(struct hil_shown_list *list, const struct hil_attached *run);
void hil_shown_close(struct hil_shown_list *list);

/* NULL: there is none with this name. */
const struct hil_shown *hil_shown_find(const struct hil_shown_list *list, const char *name);

/* --- rows ------------------------------------------------------------------------------------- */

struct hil_rows {
    const struct hil_tap_ring *ring;
    const uint64_t *words;
    uint32_t rows, width, stride; /* as in the ring */
    uint64_t next;                /* the first row that was not taken yet */
};

/* The ring of a node, beginning with its oldest row. Returns 0; -ENOENT: the node does not run
 * here; or -EPROTO. */
int hil_rows_open(struct hil_rows *rows, const struct hil_attached *run, unsigned node);

/* Number of rows written so far. */
static inline uint64_t hil_rows_count(const struct hil_rows *rows)
{
    return atomic_load_explicit(&rows->ring->count, memory_order_acquire);
}

/* 1 + the newest row in which something happened; 0: none yet. */
static inline uint64_t hil_rows_marked(const struct hil_rows *rows)
{
    return atomic_load_explicit(&rows->ring->marked, memory_order_acquire);
}

/*
 * Copies the words at `places` from the next rows, at most `most` of them, row after row. Returns
 * their number; the last of them is row next - 1. Rows that were overwritten before they could be
 * copied are skipped; they come before the first copied row, and *lost counts them.
 */
unsigned hil_rows_take(struct hil_rows *rows, const uint32_t *places, unsigned count, uint64_t *to,
                       unsigned most, uint64_t *lost);

/* Interprets a word as a number. */
static inline double hil_rows_number(uint64_t word)
{
    double number;

    memcpy(&number, &word, sizeof number);
    return number;
}

#endif

/*
 * A signal of any length made small enough for a page, without losing what the eye could find: rows
 * that lie together are put in blocks, each with its least and greatest value. So a spike of one
 * row is in its block, however long that is.
 *
 * Blocks are of different lengths. A block is halved as long as the band that it would draw covers
 * more than a certain area, of time by value: a flat hour is one block, an edge is left row by row.
 * The area is as small as a number of blocks allows. (A gap in the record makes the block around it
 * count as high as the whole signal, so that gaps are found.)
 */
#ifndef HIL_BLOCKS_H
#define HIL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hil_block {
    double time_s; /* of its first row */
    float least, greatest;
    bool apart; /* not joined to the block before it: rows are missing between them */
    bool gap;   /* rows are missing inside it */
};

struct hil_blocks {
    struct hil_block *level[33]; /* the shortest; then of each level half as many, twice as long */
    size_t count[33];
    unsigned levels;
    size_t room;
    uint64_t rows;
    unsigned shortest; /* rows of a block of level 0, but for the last */
    bool broken;       /* the next row is not joined to the last */
};

void hil_blocks_init(struct hil_blocks *blocks);
void hil_blocks_fini(struct hil_blocks *blocks);

/* Adds a row. A value that is no finite number breaks the curve, and is no row. Returns 0 or
 * -ENOMEM. */
int hil_blocks_add(struct hil_blocks *blocks, double time_s, double value);

/* After the last row. Returns 0 or -ENOMEM. */
int hil_blocks_end(struct hil_blocks *blocks);

/* Calls `each` with the blocks in the order of time, until it returns false: as few as there must
 * be that none covers more than `area`. One is of 2^level times `shortest` rows, or ends with the
 * last row. */
typedef bool hil_block_fn(void *arg, const struct hil_block *block, unsigned level);
void hil_blocks_each(const struct hil_blocks *blocks, double area, hil_block_fn *each, void *arg);

/* The least area that leaves at most so many blocks. */
double hil_blocks_area(const struct hil_blocks *blocks, size_t most);

#endif

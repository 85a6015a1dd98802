/*
 * Reduces a signal of any length to a size for a page, without losing anything visible. Adjacent
 * rows are combined to blocks, each with its least and greatest value, so that a spike of one row
 * still shows in its block.
 *
 * Blocks have different lengths. A block is halved as long as the band that it would draw covers
 * more than a certain area of time by value. A flat hour is one block; an edge is kept row by row.
 * The area is chosen as the smallest that keeps within a number of blocks. (A gap in the record
 * makes the block around it count as high as the whole signal, so that gaps remain visible.)
 */
#ifndef HIL_BLOCKS_H
#define HIL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hil_block {
    double time_s; /* time of its first row */
    float least, greatest;
    bool apart; /* not joined to the block before, because rows are missing between them */
    bool gap;   /* rows are missing inside it */
};

struct hil_blocks {
    struct hil_block *level[33]; /* level 0 has the shortest blocks; each further level has half as
                                  * many, twice as long */
    size_t count[33];
    unsigned levels;
    size_t room;
    uint64_t rows;
    unsigned shortest; /* rows in a block of level 0, except the last */
    bool broken;       /* the next row is not joined to the last */
};

void hil_blocks_init(struct hil_blocks *blocks);
void hil_blocks_fini(struct hil_blocks *blocks);

/* Adds a row. A value that is not finite breaks the curve instead. Returns 0 or -ENOMEM. */
int hil_blocks_add(struct hil_blocks *blocks, double time_s, double value);

/* Call it after the last row. Returns 0 or -ENOMEM. */
int hil_blocks_end(struct hil_blocks *blocks);

/* Calls `each` with the blocks in order of time, until it returns false. The blocks are as few as
 * possible such that none covers more than `area`. A block has 2^level times `shortest` rows, or
 * ends with the last row. */
typedef bool hil_block_fn(void *arg, const struct hil_block *block, unsigned level);
void hil_blocks_each(const struct hil_blocks *blocks, double area, hil_block_fn *each, void *arg);

/* The smallest area that gives at most `most` blocks. */
double hil_blocks_area(const struct hil_blocks *blocks, size_t most);

#endif

#include "blocks.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The most blocks of level 0; in a longer signal each block has more rows. 48 MiB. */
enum { BLOCKS_MOST = 1 << 21, BLOCKS_FIRST_ROOM = 1 << 12 };

void hil_blocks_init(struct hil_blocks *b)
{
    *b = (struct hil_blocks){.shortest = 1};
}

void hil_blocks_fini(struct hil_blocks *b)
{
    for (unsigned i = 0; i <= b->levels && i < 33; i++)
        free(b->level[i]);
    *b = (struct hil_blocks){0};
}

/* --- collecting ------------------------------------------------------------------------------- */

static struct hil_block blocks_joined(const struct hil_block *first, const struct hil_block *second)
{
    return (struct hil_block){
        .time_s = first->time_s,
        .least = fminf(first->least, second->least),
        .greatest = fmaxf(first->greatest, second->greatest),
        .apart = first->apart,
        .gap = first->gap || second->gap || second->apart,
    };
}

/* Joins pairs of blocks from `from` to `to`, which may be the same. Returns the number of
 * results. */
static size_t blocks_pair(const struct hil_block *from, size_t count, struct hil_block *to)
{
    for (size_t i = 0; i < count / 2; i++)
        to[i] = blocks_joined(&from[2 * i], &from[2 * i + 1]);
    if (count % 2)
        to[count / 2] = from[count - 1];
    return (count + 1) / 2;
}

static int blocks_make_room(struct hil_blocks *b)
{
    if (b->count[0] == BLOCKS_MOST) {
        b->count[0] = blocks_pair(b->level[0], b->count[0], b->level[0]);
        b->shortest *= 2;
    }
    if (b->count[0] < b->room)
        return 0;
    const size_t room = b->room ? 2 * b->room : BLOCKS_FIRST_ROOM;
    struct hil_block *more = realloc(b->level[0], room * sizeof *more);
    if (!more)
        return -ENOMEM;
    b->level[0] = more;
    b->room = room;
    return 0;
}

int hil_blocks_add(struct hil_blocks *b, double time_s, double value)
{
    if (!isfinite(value) || !isfinite(time_s)) {
        b->broken = b->rows > 0;
        return 0;
    }
    const float rounded = (float)fmax(-FLT_MAX, fmin(FLT_MAX, value));
    const struct hil_block row = {time_s, rounded, rounded, b->broken, false};
    const bool begins = b->rows % b->shortest == 0;
    const int rc = begins ? blocks_make_room(b) : 0;

    if (rc)
        return rc;
    if (b->rows % b->shortest == 0)
        b->level[0][b->count[0]++] = row;
    else
        b->level[0][b->count[0] - 1] = blocks_joined(&b->level[0][b->count[0] - 1], &row);
    b->rows++;
    b->broken = false;
    return 0;
}

int hil_blocks_end(struct hil_blocks *b)
{
    while (b->count[b->levels] > 1) {
        const size_t below = b->count[b->levels];
        struct hil_block *level = malloc((below + 1) / 2 * sizeof *level);
        if (!level)
            return -ENOMEM;
        b->level[b->levels + 1] = level;
        b->count[b->levels + 1] = blocks_pair(b->level[b->levels], below, level);
        b->levels++;
    }
    return 0;
}

/* --- choosing --------------------------------------------------------------------------------- */

struct choice {
    const struct hil_blocks *blocks;
    double area, height; /* height assumed for a block with a gap: that of the whole signal */
    hil_block_fn *each;
    void *arg;
};

/* A block lasts until the next one begins. */
static double choice_duration(const struct hil_blocks *b, unsigned level, size_t i)
{
    const struct hil_block *last = &b->level[0][b->count[0] - 1];
    const struct hil_block *next = i + 1 < b->count[level] ? &b->level[level][i + 1] : last;

    return next->time_s - b->level[level][i].time_s;
}

static double choice_area(const struct choice *c, unsigned level, size_t i)
{
    const struct hil_block *block = &c->blocks->level[level][i];
    const double height = (double)block->greatest - (double)block->least;

    return (height + (block->gap ? c->height : 0)) * choice_duration(c->blocks, level, i);
}

static bool choose(const struct choice *c, unsigned level, size_t i)
{
    if (level == 0 || choice_area(c, level, i) <= c->area)
        return c->each(c->arg, &c->blocks->level[level][i], level);
    if (!choose(c, level - 1, 2 * i))
        return false;
    return 2 * i + 1 == c->blocks->count[level - 1] || choose(c, level - 1, 2 * i + 1);
}

static double blocks_height(const struct hil_blocks *b)
{
    const struct hil_block *all = b->level[b->levels];

    return (double)all->greatest - (double)all->least;
}

void hil_blocks_each(const struct hil_blocks *b, double area, hil_block_fn *each, void *arg)
{
    if (b->rows == 0)
        return;
    /* gaps of a flat signal count, too */
    const double height = blocks_height(b);
    const struct choice c = {b, area, height > 0 ? height : 1, each, arg};
    choose(&c, b->levels, 0);
}

static bool blocks_take(void *left, const struct hil_block *block, unsigned level)
{
    (void)block, (void)level;
    return (*(size_t *)left)-- > 0;
}

/* Whether this area gives at most `most` blocks. */
static bool blocks_fit(const struct hil_blocks *b, double area, size_t most)
{
    size_t left = most;

    hil_blocks_each(b, area, blocks_take, &left);
    return left <= most; /* it falls below 0 otherwise */
}

/* Areas differ by orders of magnitude, so the logarithm is bisected, until the area is known to a
 * thousandth. */
enum { BLOCKS_TRIES = 16 };

double hil_blocks_area(const struct hil_blocks *b, size_t most)
{
    if (blocks_fit(b, 0, most))
        return 0;
    const double duration = choice_duration(b, b->levels, 0), height = blocks_height(b);
    double high = 2 * (height > 0 ? height : 1) * duration, low = high * 1e-18;

    for (int i = 0; i < BLOCKS_TRIES; i++) {
        const double area = sqrt(low * high);
        if (blocks_fit(b, area, most))
            high = area;
        else
            low = area;
    }
    return high;
}

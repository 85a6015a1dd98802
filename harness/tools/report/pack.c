#include "pack.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* --- numbers ---------------------------------------------------------------------------------- */

/* Maps a float to a number with the same order. */
static uint32_t pack_ordered(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/* Maps small signed numbers to small unsigned ones. */
static uint64_t pack_zigzag(int64_t number)
{
    return ((uint64_t)number << 1) ^ (uint64_t)(number >> 63);
}

static uint32_t pack_difference(uint32_t from, uint32_t to)
{
    return (uint32_t)pack_zigzag((int32_t)(to - from));
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* 10 bytes hold the longest varint. */
enum { PACK_BLOCK_BYTES = 1 + 10 + 4 + 4 };

struct bytes {
    uint8_t *levels, *times, *values; /* values: 8 planes of `count` bytes */
    size_t count, done, times_size;
    const struct hil_blocks *blocks;
    uint64_t period_ns, expected_ns;
    uint32_t least;
};

static void bytes_add_time(struct bytes *b, double time_s)
{
    const uint64_t time_ns = (uint64_t)llround(time_s * 1e9);
    uint64_t rest = pack_zigzag((int64_t)(time_ns - b->expected_ns));

    for (; rest > 127; rest >>= 7)
        b->times[b->times_size++] = (uint8_t)(rest | 128);
    b->times[b->times_size++] = (uint8_t)rest;
    b->expected_ns = time_ns;
}

static void bytes_add_planes(struct bytes *b, unsigned first, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        b->values[(first + i) * b->count + b->done] = (uint8_t)(number >> (8 * i));
}

static bool bytes_add(void *arg, const struct hil_block *block, unsigned level)
{
    struct bytes *b = arg;
    const uint32_t least = pack_ordered(block->least);

    b->levels[b->done] = (uint8_t)(level | (block->apart ? 128 : 0));
    bytes_add_time(b, block->time_s);
    bytes_add_planes(b, 0, pack_difference(b->least, least));
    bytes_add_planes(b, 4, pack_ordered(block->greatest) - least);
    b->least = least;
    b->expected_ns += ((uint64_t)b->blocks->shortest << level) * b->period_ns;
    b->done++;
    return true;
}

static bool bytes_count(void *count, const struct hil_block *block, unsigned level)
{
    (void)block, (void)level;
    ++*(size_t *)count;
    return true;
}

/* The bytes of all blocks, which the caller frees; NULL: memory ran out. */
static uint8_t *bytes_make(const struct hil_blocks *blocks, uint64_t period_ns, double area,
                           size_t *count, size_t *size)
{
    struct bytes b = {.blocks = blocks, .period_ns = period_ns, .least = pack_ordered(0)};

    hil_blocks_each(blocks, area, bytes_count, &b.count);
    uint8_t *all = malloc(b.count * PACK_BLOCK_BYTES + 1);
    if (!all)
        return NULL;
    uint8_t *values = malloc(b.count * 8 + 1);
    if (!values) {
        free(all);
        return NULL;
    }
    b.levels = all;
    b.times = all + b.count;
    b.values = values;
    hil_blocks_each(blocks, area, bytes_add, &b);
    memcpy(b.times + b.times_size, values, b.count * 8);
    free(values);
    *count = b.count;
    *size = b.count + b.times_size + b.count * 8;
    return all;
}

/* --- text ------------------------------------------------------------------------------------- */

static char *text_of(const uint8_t *bytes, size_t size)
{
    uLongf small = compressBound(size);
    uint8_t *deflated = malloc(small);
    char *text = NULL;

    if (deflated && compress2(deflated, &small, bytes, size, 6) == Z_OK) {
        const size_t room = sodium_base64_ENCODED_LEN(small, sodium_base64_VARIANT_ORIGINAL);
        text = malloc(room);
        if (text)
            sodium_bin2base64(text, room, deflated, small, sodium_base64_VARIANT_ORIGINAL);
    }
    free(deflated);
    return text;
}

static int pack_at(struct hil_packed *packed, const struct hil_blocks *blocks, uint64_t period_ns,
                   double area)
{
    size_t size = 0;
    uint8_t *bytes = bytes_make(blocks, period_ns, area, &packed->blocks, &size);

    packed->text = bytes ? text_of(bytes, size) : NULL;
    free(bytes);
    return packed->text ? 0 : -ENOMEM;
}

/* How well blocks compress is only known afterwards: the size per block in one try determines the
 * number of blocks in the next. A block counts as at least PACK_LEAST_BYTES, because it costs a
 * browser memory and time. */
enum { PACK_TRIES = 4, PACK_FIRST_BYTES = 4, PACK_LEAST_BYTES = 2 };

static size_t pack_size(const struct hil_packed *packed)
{
    const size_t length = strlen(packed->text), least = packed->blocks * PACK_LEAST_BYTES;

    return length > least ? length : least;
}

int hil_pack(struct hil_packed *packed, const struct hil_blocks *blocks, uint64_t period_ns,
             size_t most)
{
    size_t count = most / PACK_FIRST_BYTES + 1;

    for (int i = 1;; i++) {
        const double area = hil_blocks_area(blocks, count);
        const int rc = pack_at(packed, blocks, period_ns, area);
        if (rc)
            return rc;
        packed->size = pack_size(packed);
        const bool fits = packed->size <= most;
        const bool is_full = area == 0 || packed->size > most - most / 8;
        if ((fits && is_full) || i == PACK_TRIES)
            return 0;
        const double bytes = (double)packed->size / (double)packed->blocks;
        count = (size_t)(0.95 * (double)most / bytes) + 1;
        free(packed->text);
    }
}

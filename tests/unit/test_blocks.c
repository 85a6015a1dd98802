/* Tests the blocks of a signal, and how they are packed: nothing that is visible may be lost. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../harness/report/pack.h"

TestSuite(blocks, .timeout = 120);

/* Makes a signal of so many rows, 1 ms apart. */
struct signal {
    size_t rows;
    double *values;
};

/* Random numbers that are the same on each run. */
static double noise(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / (double)(1ull << 53);
}

/* A flat part, an edge and noise, with spikes of one row. */
static struct signal make_signal(size_t rows)
{
    struct signal s = {rows, malloc(rows * sizeof(double))};
    uint64_t seed = 1;

    cr_assert_not_null(s.values);
    for (size_t i = 0; i < rows; i++)
        s.values[i] = i < rows / 3 ? 1 : i < rows / 2 ? 5 : 5 + noise(&seed);
    for (size_t i = 777; i < rows; i += rows / 7 + 1)
        s.values[i] = 100 + (double)i;
    return s;
}

static void collect(struct hil_blocks *b, const struct signal *s)
{
    hil_blocks_init(b);
    for (size_t i = 0; i < s->rows; i++)
        cr_assert_eq(hil_blocks_add(b, (double)i * 1e-3, s->values[i]), 0);
    cr_assert_eq(hil_blocks_end(b), 0);
    cr_assert_eq(b->rows, s->rows);
}

/* --- the content of blocks -------------------------------------------------------------------- */

struct check {
    const struct hil_blocks *blocks;
    const struct signal *signal;
    size_t row, count;
};

static bool check_block(void *arg, const struct hil_block *block, unsigned level)
{
    struct check *c = arg;
    const size_t all = (size_t)c->blocks->shortest << level;
    const size_t end = c->row + all < c->signal->rows ? c->row + all : c->signal->rows;
    float least = INFINITY, greatest = -INFINITY;

    cr_expect_float_eq(block->time_s, (double)c->row * 1e-3, 1e-12);
    for (; c->row < end; c->row++) {
        least = fminf(least, (float)c->signal->values[c->row]);
        greatest = fmaxf(greatest, (float)c->signal->values[c->row]);
    }
    cr_expect_eq(block->least, least);
    cr_expect_eq(block->greatest, greatest);
    c->count++;
    return true;
}

static size_t expect_all_in_blocks(const struct hil_blocks *b, const struct signal *s, double area)
{
    struct check c = {b, s, 0, 0};

    hil_blocks_each(b, area, check_block, &c);
    cr_expect_eq(c.row, s->rows, "rows are in no block");
    return c.count;
}

Test(blocks, each_has_the_least_and_the_greatest_of_its_rows)
{
    static const size_t rows[] = {1, 2, 3, 1000, 12345, 65536};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct signal s = make_signal(rows[i]);
        struct hil_blocks b;
        collect(&b, &s);
        expect_all_in_blocks(&b, &s, 0);
        for (size_t most = 1; most < 5000; most *= 4) {
            const size_t count = expect_all_in_blocks(&b, &s, hil_blocks_area(&b, most));
            cr_expect_leq(count, most, "%zu blocks of %zu rows", count, rows[i]);
        }
        hil_blocks_fini(&b);
        free(s.values);
    }
}

/* With 4 million rows each block has at least two. */
Test(blocks, of_a_long_signal_are_no_more)
{
    const struct signal s = make_signal(4000001);
    struct hil_blocks b;

    collect(&b, &s);
    cr_expect_eq(b.shortest, 2);
    expect_all_in_blocks(&b, &s, 0);
    hil_blocks_fini(&b);
    free(s.values);
}

/* An hour that is flat except for one row: the part that is not flat is kept row by row. */
Test(blocks, what_is_flat_is_few_and_what_is_not_is_row_by_row)
{
    struct signal s = {100000, calloc(100000, sizeof(double))};
    struct hil_blocks b;

    s.values[54321] = 3;
    collect(&b, &s);
    const double area = hil_blocks_area(&b, 100);
    cr_expect_eq(area, 0, "nothing is lost");
    cr_expect_lt(expect_all_in_blocks(&b, &s, area), 40);
    hil_blocks_fini(&b);
    free(s.values);
}

/* --- gaps ------------------------------------------------------------------------------------- */

struct gaps {
    size_t apart;
    double apart_s;
};

static bool count_apart(void *arg, const struct hil_block *block, unsigned level)
{
    struct gaps *g = arg;

    (void)level;
    g->apart += block->apart;
    g->apart_s = block->apart ? block->time_s : g->apart_s;
    return true;
}

Test(blocks, a_gap_is_between_two_blocks)
{
    struct hil_blocks b;
    struct gaps g = {0};

    hil_blocks_init(&b);
    cr_assert_eq(hil_blocks_add(&b, 0, NAN), 0); /* there is no gap before the first row */
    for (int i = 0; i < 1000; i++) {
        if (i == 500)
            cr_assert_eq(hil_blocks_add(&b, i * 1e-3, NAN), 0);
        cr_assert_eq(hil_blocks_add(&b, i * 1e-3 + (i < 500 ? 0 : 2), 1), 0);
    }
    cr_assert_eq(hil_blocks_end(&b), 0);
    hil_blocks_each(&b, hil_blocks_area(&b, 30), count_apart, &g);
    cr_expect_eq(g.apart, 1);
    cr_expect_float_eq(g.apart_s, 2.5, 1e-12);
    hil_blocks_fini(&b);
}

/* --- packed ----------------------------------------------------------------------------------- */

Test(blocks, packed_are_no_more_than_there_is_room_for)
{
    const struct signal s = make_signal(200000);
    struct hil_blocks b;

    collect(&b, &s);
    for (size_t most = 2000; most < 200000; most *= 3) {
        struct hil_packed packed;
        cr_assert_eq(hil_pack(&packed, &b, 1000000, most), 0);
        cr_expect_leq(strlen(packed.text), most + most / 10);
        cr_expect_geq(strlen(packed.text), most / 2, "room is left: %zu of %zu",
                      strlen(packed.text), most);
        free(packed.text);
    }
    hil_blocks_fini(&b);
    free(s.values);
}

/* A repeating wave compresses to almost no bytes, but a browser still has to unpack it. */
Test(blocks, packed_are_no_more_than_a_browser_takes_however_well_they_compress)
{
    struct hil_packed packed;
    struct hil_blocks b;

    hil_blocks_init(&b);
    for (unsigned i = 0; i < 400000; i++)
        cr_assert_eq(hil_blocks_add(&b, i * 1e-5, i % 4), 0);
    cr_assert_eq(hil_blocks_end(&b), 0);
    cr_assert_eq(hil_pack(&packed, &b, 10000, 50000), 0);
    cr_expect_leq(packed.blocks, 25000, "%zu blocks", packed.blocks);
    cr_expect_gt(packed.blocks, 10000);
    cr_expect_geq(packed.size, 2 * packed.blocks);
    free(packed.text);
    hil_blocks_fini(&b);
}

Test(blocks, of_nothing_there_are_none)
{
    struct hil_packed packed;
    struct hil_blocks b;

    hil_blocks_init(&b);
    cr_assert_eq(hil_blocks_end(&b), 0);
    cr_assert_eq(hil_pack(&packed, &b, 0, 1000), 0);
    cr_expect_eq(packed.blocks, 0);
    free(packed.text);
    hil_blocks_fini(&b);
}

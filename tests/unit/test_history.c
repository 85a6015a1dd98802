/* Tests the history that `hiloco top` keeps of a measure, taken while another thread adds to it. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "harness/tools/top/history.h"

static struct hil_recent recent;
static struct hil_history history;

/* One value, a running number, in each hundredth of a second. */
static void run_from_to(unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        hil_recent_add(&recent, i * (uint64_t)HIL_BLOCK_NS + 5, 100, i);
}

static void start(void)
{
    recent = (struct hil_recent){0};
    history = (struct hil_history){0};
}

Test(history, a_history_holds_every_slice)
{
    struct hil_chart_column columns[4];

    start();
    run_from_to(0, 100);
    hil_history_take(&history, &recent);
    run_from_to(100, 200);
    hil_history_take(&history, &recent);
    cr_expect_eq(history.end, 200);
    for (unsigned i = 0; i < 200; i++)
        cr_expect(history.slices[i].there && history.slices[i].max == i, "slice %u", i);
    hil_history_columns(&history, 50, columns, 4);
    for (unsigned i = 0; i < 4; i++)
        cr_expect(columns[i].min == 50 * i && columns[i].max == 50 * i + 49, "column %u: %g to %g",
                  i, columns[i].min, columns[i].max);
    cr_expect_eq(hil_history_span(&history, 100), 99);
}

/* The newest slice was incomplete when it was taken. */
Test(history, a_slice_is_completed)
{
    start();
    run_from_to(0, 10);
    hil_history_take(&history, &recent);
    hil_recent_add(&recent, 9 * (uint64_t)HIL_BLOCK_NS + 7, 100, 555);
    hil_history_take(&history, &recent);
    cr_expect_eq(history.slices[9].max, 555);
}

/* Each block has one value, its number. They come so fast that blocks are overwritten while they
 * are read. */
static void *run_blocks(void *done)
{
    for (uint64_t i = 0; !atomic_load_explicit((atomic_bool *)done, memory_order_relaxed); i++)
        hil_recent_add(&recent, i * HIL_BLOCK_NS, 100, (double)i);
    return NULL;
}

Test(history, no_slice_has_extremes_of_another)
{
    atomic_bool done = false;
    pthread_t writer;
    unsigned wrong = 0;

    start();
    cr_assert_eq(pthread_create(&writer, NULL, run_blocks, &done), 0);
    for (unsigned looks = 0; looks < 200000; looks++) {
        hil_history_take(&history, &recent);
        for (uint64_t back = 1; back <= HIL_RECENT_BLOCKS && back <= history.end; back++) {
            const struct hil_chart_column *c =
                &history.slices[(history.end - back) % HIL_HISTORY_SLICES];
            const double is = (double)(history.end - back);
            wrong += c->there && (c->min != is || c->max != is);
        }
    }
    atomic_store(&done, true);
    pthread_join(writer, NULL);
    cr_expect_eq(wrong, 0, "%u slices", wrong);
}

/* A viewer that does not look for longer than the kept time gets a gap, not old values. */
Test(history, a_history_has_gaps_where_nobody_looked)
{
    start();
    run_from_to(0, 10);
    hil_history_take(&history, &recent);
    run_from_to(10, 400);
    hil_history_take(&history, &recent);
    cr_expect(history.slices[9].there);
    cr_expect(!history.slices[10].there);
    cr_expect(history.slices[399].there && history.slices[399].max == 399);
}

Test(history, columns_before_the_beginning_are_empty)
{
    struct hil_chart_column columns[5];

    start();
    run_from_to(0, 7);
    hil_history_take(&history, &recent);
    hil_history_columns(&history, 5, columns, 5);
    cr_expect(columns[4].there && columns[4].min == 5);
    cr_expect(columns[3].there && columns[3].min == 0);
    cr_expect(!(columns[2].there || columns[1].there || columns[0].there));
    cr_expect(isnan(hil_history_span(&(struct hil_history){0}, 100)));
}

Test(history, a_long_history_forgets_its_beginning)
{
    start();
    for (unsigned i = 0; i < HIL_HISTORY_SLICES + 100; i += 50) {
        run_from_to(i, i + 50);
        hil_history_take(&history, &recent);
    }
    cr_expect_eq(hil_history_span(&history, HIL_HISTORY_SLICES + 100), HIL_HISTORY_SLICES - 1);
}

/* A memory file that others can write to may contain anything. Nothing is drawn outside the
 * picture. */
Test(history, what_is_no_number_is_not_drawn)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, 1.7e308, -1.7e308};
    struct hil_chart_column columns[4];
    struct hil_cell cells[4];

    for (unsigned i = 0; i < 125; i++) {
        for (unsigned x = 0; x < 4; x++)
            columns[x] = (struct hil_chart_column){values[i % 5], values[i / 5 % 5],
                                                   values[(i / 25 + x) % 5], true};
        hil_chart_draw(columns, 2, 2, hil_chart_scale(columns, 4), cells);
    }
    start();
    recent.blocks[3] = (struct hil_block){5, NAN, 2};
    hil_history_take(&history, &recent);
    hil_history_columns(&history, 5, columns, 1);
    cr_expect(!columns[0].there);
    recent.reference = INFINITY;
    recent.blocks[4] = (struct hil_block){6, 1, 2};
    hil_history_take(&history, &recent);
    hil_history_columns(&history, 1, columns, 1);
    cr_expect(columns[0].there);
    cr_expect(isnan(columns[0].reference));
}

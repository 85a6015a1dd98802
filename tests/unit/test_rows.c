/*
 * Tests rings of rows: a reader gets whole rows in order, however fast the writer is, and missed
 * rows are counted. Memory with a layout that is not a run's is refused.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "harness/tools/scope/rows.h"
#include "made_run.h"

static const uint32_t ALL[MADE_WIDTH] = {HIL_TAP_STEP,   HIL_TAP_TIME,   HIL_TAP_MISSED,
                                         HIL_TAP_EVENTS, HIL_TAP_VALUES, HIL_TAP_VALUES + 1};

/* --- in turn ---------------- */

Test(rows, are_taken_in_order_and_once)
{
    struct made_run m = make_run(2, 8, 1000);
    struct hil_rows rows;
    uint64_t to[8][MADE_WIDTH], lost = 0;

    cr_assert_eq(hil_rows_open(&rows, &m.run, 1), 0);
    cr_expect_eq(hil_rows_take(&rows, ALL, MADE_WIDTH, to[0], 8, &lost), 0);
    for (unsigned n = 0; n < 3; n++)
        make_step(&m, 1, n, n + 0.5, -1.0 * n);
    cr_expect_eq(hil_rows_take(&rows, ALL, MADE_WIDTH, to[0], 2, &lost), 2);
    cr_expect_eq(hil_rows_take(&rows, ALL, MADE_WIDTH, to[2], 8, &lost), 1);
    cr_expect_eq(hil_rows_take(&rows, ALL, MADE_WIDTH, to[3], 8, &lost), 0);
    for (unsigned n = 0; n < 3; n++) {
        cr_expect_eq(to[n][0], n);
        cr_expect_eq(to[n][1], n * 1000);
        cr_expect_eq(hil_rows_number(to[n][4]), n + 0.5);
        cr_expect_eq(hil_rows_number(to[n][5]), -1.0 * n);
    }
    cr_expect_eq(rows.next, 3);
    cr_expect_eq(lost, 0);
    free_run(&m);
}

/* Of eight rows the oldest may be just being overwritten. */
Test(rows, that_were_written_over_are_lost)
{
    struct made_run m = make_run(1, 8, 1000);
    struct hil_rows rows;
    uint64_t to[20][1], lost = 0;

    cr_assert_eq(hil_rows_open(&rows, &m.run, 0), 0);
    for (unsigned n = 0; n < 20; n++)
        make_step(&m, 0, n, 0, 0);
    cr_expect_eq(hil_rows_take(&rows, ALL, 1, to[0], 20, &lost), 7);
    cr_expect_eq(lost, 13);
    cr_expect_eq(to[0][0], 13);
    cr_expect_eq(to[6][0], 19);
    free_run(&m);
}

/* An event is at its own step, or at the previous row's step if that row was already written. */
Test(rows, say_what_happened_and_at_which_step)
{
    struct made_run m = make_run(1, 8, 1000);
    const uint64_t before = 1ull << HIL_TAP_BEFORE;
    struct hil_rows rows;
    uint64_t to[8][MADE_WIDTH], lost = 0;

    cr_assert_eq(hil_rows_open(&rows, &m.run, 0), 0);
    make_step(&m, 0, 0, 0, 0);
    cr_expect_eq(hil_rows_marked(&rows), 0);
    hil_tap_note(&m.rings[0], 1, HIL_EVENT_OLD);
    make_step(&m, 0, 1, 0, 0);
    hil_tap_note(&m.rings[0], 1, HIL_EVENT_FAILED);
    hil_tap_miss(&m.rings[0], 3);
    cr_expect_eq(hil_rows_marked(&rows), 2);
    make_step(&m, 0, 5, 0, 0);
    make_step(&m, 0, 6, 0, 0);
    cr_expect_eq(hil_rows_marked(&rows), 3);
    cr_assert_eq(hil_rows_take(&rows, ALL, MADE_WIDTH, to[0], 8, &lost), 4);
    cr_expect_eq(to[0][HIL_TAP_EVENTS], 0);
    cr_expect_eq(to[1][HIL_TAP_EVENTS], 1ull << HIL_EVENT_OLD);
    cr_expect_eq(to[2][HIL_TAP_EVENTS], before << HIL_EVENT_FAILED | before << HIL_TAP_MISS);
    cr_expect_eq(to[1][HIL_TAP_MISSED], 0);
    cr_expect_eq(to[2][HIL_TAP_MISSED], 3);
    cr_expect_eq(to[3][HIL_TAP_EVENTS], 0);
    free_run(&m);
}

/* A process that replaces one that died at any point. */
Test(rows, go_on_where_another_process_left)
{
    struct made_run m = make_run(1, 8, 1000);
    struct hil_rows rows;
    uint64_t to[8][MADE_WIDTH], lost = 0;

    cr_assert_eq(hil_rows_open(&rows, &m.run, 0), 0);
    for (unsigned n = 0; n < 10; n++)
        make_step(&m, 0, n, 0, 0);
    m.rings[0].row = 0; /* not as the dead process left it */
    cr_expect_eq(hil_tap_open(&m.state->taps, m.state, 0), &m.rings[0]);
    make_step(&m, 0, 30, 1, 2);
    cr_assert_eq(hil_rows_take(&rows, ALL, MADE_WIDTH, to[0], 8, &lost), 7);
    cr_expect_eq(to[5][0], 9);
    cr_expect_eq(to[6][0], 30);
    free_run(&m);
}

/* --- at once ---------------- */

enum { ROWS_TAKEN = 200000 };

static struct made_run of_threads;
static atomic_bool enough;

static void *write_rows(void *unused)
{
    for (uint64_t n = 0; !atomic_load(&enough); n++)
        make_step(&of_threads, 0, n, (double)n, 2.0 * (double)n);
    return unused;
}

/* Every word belongs to the row of its number. Missing rows between two rows are those counted as
 * lost. */
static void expect_row(const uint64_t *row, uint64_t number)
{
    cr_assert_eq(row[HIL_TAP_STEP], number);
    cr_assert_eq(row[HIL_TAP_TIME], number * 1000);
    cr_assert_eq(hil_rows_number(row[4]), (double)number);
    cr_assert_eq(hil_rows_number(row[5]), 2.0 * (double)number);
}

Test(rows, are_whole_though_the_writer_overtakes)
{
    static uint64_t to[64][MADE_WIDTH];
    struct hil_rows rows;
    pthread_t writer;
    uint64_t taken = 0, lost = 0, expected = 0;

    of_threads = make_run(1, 64, 1000);
    cr_assert_eq(hil_rows_open(&rows, &of_threads.run, 0), 0);
    cr_assert_eq(pthread_create(&writer, NULL, write_rows, NULL), 0);
    while (taken < ROWS_TAKEN || lost == 0) {
        const unsigned n = hil_rows_take(&rows, ALL, MADE_WIDTH, to[0], 64, &lost);
        for (unsigned i = 0; i < n; i++)
            expect_row(to[i], rows.next - n + i);
        taken += n;
        expected = rows.next;
        cr_assert_eq(taken + lost, expected);
    }
    atomic_store(&enough, true);
    pthread_join(writer, NULL);
    free_run(&of_threads);
}

/* --- memory of another's making ---------------- */

static void expect_rows(struct made_run *m, int rc, const char *what)
{
    struct hil_rows rows;
    struct hil_shown_list list;

    cr_expect_eq(hil_rows_open(&rows, &m->run, 1), rc, "%s", what);
    cr_expect_eq(hil_shown_open(&list, &m->run), rc ? -EPROTO : 0, "%s", what);
    hil_shown_close(&list);
}

#define expect_refused(member, value)                                                              \
    do {                                                                                           \
        struct made_run m = make_run(2, 8, 1000);                                                  \
        m.member = (value);                                                                        \
        expect_rows(&m, -EPROTO, #member " = " #value);                                            \
        free_run(&m);                                                                              \
    } while (0)

Test(rows, beyond_the_memory_are_refused)
{
    struct made_run fit = make_run(2, 8, 1000);

    expect_rows(&fit, 0, "as it is");
    free_run(&fit);
    expect_refused(state->taps.rings, UINT64_MAX - 63);
    expect_refused(state->taps.rings, 1);
    expect_refused(state->taps.rings, m.run.size - 64);
    expect_refused(state->taps.ring_count, 3);
    expect_refused(state->taps.ring_count, UINT32_MAX);
    expect_refused(state->taps.columns, UINT64_MAX);
    expect_refused(state->taps.column_count, UINT32_MAX);
    expect_refused(rings[1].rows, 7);
    expect_refused(rings[1].rows, 1u << 31);
    expect_refused(rings[1].width, 3);
    expect_refused(rings[1].width, UINT32_MAX);
    expect_refused(rings[1].stride, MADE_WIDTH - 1);
    expect_refused(rings[1].stride, UINT32_MAX);
    expect_refused(rings[1].at, m.run.size - 64);
    expect_refused(rings[1].at, UINT64_MAX - 63);
    expect_refused(rings[1].at, 4);
}

static void expect_columns_refused(struct made_run *m, const char *what)
{
    struct hil_shown_list list;

    cr_expect_eq(hil_shown_open(&list, &m->run), -EPROTO, "%s", what);
    hil_shown_close(&list);
    free_run(m);
}

Test(rows, have_the_words_that_signals_are_said_to_be)
{
    struct made_run m = make_run(2, 8, 1000);

    m.columns[3].place = MADE_WIDTH;
    expect_columns_refused(&m, "behind the row");
    m = make_run(2, 8, 1000);
    m.columns[3].place = HIL_TAP_EVENTS;
    expect_columns_refused(&m, "no number");
    m = make_run(2, 8, 1000);
    m.columns[3].node = 2;
    expect_columns_refused(&m, "of no node");
    m = make_run(2, 8, 1000);
    m.rings[1].rows = 0;
    expect_columns_refused(&m, "of a node that is not here");
}

Test(rows, are_of_signals_that_are_found_by_name)
{
    struct made_run m = make_run(2, 8, 1000);
    struct hil_shown_list list;

    memset(m.columns[2].name, 'x', sizeof m.columns[2].name);
    strcpy(m.columns[1].name, "\033[2J");
    cr_assert_eq(hil_shown_open(&list, &m.run), 0);
    cr_assert_eq(list.count, 4);
    const struct hil_shown *found = hil_shown_find(&list, "node[1].b");
    cr_assert(found != NULL);
    cr_expect_eq(found->node, 1);
    cr_expect_eq(found->place, HIL_TAP_VALUES + 1);
    cr_expect_eq(strcmp(found->unit, "V"), 0);
    cr_expect(hil_shown_find(&list, "node[2].a") == NULL);
    cr_expect_eq(strlen(list.at[2].name), sizeof list.at[2].name - 1);
    cr_expect_eq(strcmp(list.at[1].name, "?[2J"), 0);
    hil_shown_close(&list);
    free_run(&m);
}

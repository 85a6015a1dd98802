/* Tests that the data for a page does not grow with the displayed time, and is complete. */
#include <jansson.h>
#include <malloc.h>

#include "harness/tools/scope/view.h"
#include "made_run.h"

enum { ROWS = 1024, A_TURN = 100, TURNS = 36000 };

static struct hil_run_entry found = {.process = -1};
static uint64_t sent_bytes, most_bytes;

static int count(void *arg, bool binary, const void *bytes, size_t size)
{
    (void)arg, (void)binary, (void)bytes;
    sent_bytes += size;
    most_bytes = size > most_bytes ? size : most_bytes;
    return 0;
}

static void say(struct hil_view *v, const char *text)
{
    cr_assert_eq(hil_view_take(v, text, strlen(text)), 0);
}

static size_t used_after(struct made_run *m, struct hil_view *v, unsigned turns, uint64_t *step)
{
    for (unsigned t = 0; t < turns; t++) {
        for (unsigned i = 0; i < A_TURN; i++, ++*step)
            for (unsigned node = 0; node < 2; node++)
                make_step(m, node, *step, (double)(*step % 500), 1);
        cr_assert_eq(hil_view_turn(v, count, NULL), 0);
    }
    return mallinfo2().uordblks;
}

static void expect_bounded(const char *watch)
{
    struct made_run m = make_run(2, ROWS, 1000000);
    struct hil_view *v;
    uint64_t step = 0;

    found.attached = m.run;
    cr_assert_eq(hil_view_open(&v, &found, false), 0);
    say(v, watch);
    const size_t first = used_after(&m, v, TURNS / 100, &step);
    const uint64_t bytes = most_bytes;
    const size_t last = used_after(&m, v, TURNS, &step);
    cr_expect_leq(last, first + 4096, "%zu bytes, and %zu after an hour", first, last);
    cr_expect_leq(most_bytes, 2 * bytes + 4096);
    cr_expect_gt(sent_bytes, 0);
    hil_view_close(v);
    free_run(&m);
}

/* An hour of steps of two nodes, each a millisecond. */
Test(view, rolls_for_an_hour_without_growing)
{
    expect_bounded("{\"watch\": {\"signals\": [\"node[0].a\", \"node[1].b\"], \"mode\": \"roll\", "
                   "\"window_s\": 10, \"columns\": 1000}}");
}

Test(view, captures_for_an_hour_without_growing)
{
    expect_bounded("{\"watch\": {\"signals\": [\"node[0].a\", \"node[1].b\"], \"mode\": "
                   "\"trigger\", \"before_s\": 0.1, \"after_s\": 0.1, \"trigger\": {\"on\": "
                   "\"level\", \"signal\": \"node[0].a\", \"level\": 250, \"hysteresis\": 1, "
                   "\"edge\": \"rising\", \"mode\": \"normal\"}}}");
}

/* --- whole columns ---------------------------------------------------------------------------- */

static json_int_t first_column, lost;

static int take_first(void *arg, bool binary, const void *bytes, size_t size)
{
    uint32_t length;

    (void)arg;
    cr_assert_geq(size, sizeof length);
    memcpy(&length, bytes, sizeof length);
    if (binary) {
        json_t *head = json_loadb((const char *)bytes + sizeof length, length, 0, NULL);
        json_t *trace = json_array_get(json_object_get(head, "traces"), 0);
        first_column = json_integer_value(json_object_get(trace, "first"));
        lost = json_integer_value(json_object_get(head, "lost"));
        json_decref(head);
    }
    return 0;
}

/* The first column of a page that is opened after so many steps of 1 ms. The ring has the last 15
 * steps and is being written. A column is 4 ms. */
static json_int_t first_after(unsigned steps)
{
    struct made_run m = make_run(1, 16, 1000000);
    struct hil_view *v;

    found.attached = m.run;
    first_column = -1;
    for (unsigned step = 0; step < steps; step++)
        make_step(&m, 0, step, step, 1);
    cr_assert_eq(hil_view_open(&v, &found, false), 0);
    say(v, "{\"watch\": {\"signals\": [\"node[0].a\"], \"mode\": \"roll\", \"window_s\": 0.4, "
           "\"columns\": 100}}");
    cr_assert_eq(hil_view_turn(v, take_first, NULL), 0);
    hil_view_close(v);
    free_run(&m);
    return first_column;
}

Test(view, a_roll_begins_with_the_run_or_with_a_whole_column)
{
    cr_expect_eq(first_after(10), 0);
    cr_expect_eq(first_after(25), 3);
    cr_expect_eq(lost, 0, "steps from before the page was opened do not count");
}

/* What a page sees does not grow with the time that it looks. */
#include <malloc.h>

#include "harness/scope/view.h"
#include "made_run.h"

enum { ROWS = 1024, A_TURN = 100, TURNS = 36000 };

static struct hil_found found = {.process = -1};
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

/* An hour of two nodes' steps of a millisecond. */
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

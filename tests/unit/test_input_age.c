/* Tests the age of inputs: when an input is stale, and how that is recorded. */
#include <string.h>

#include "../sets.h"
#include "harness/run/input_age.h"
#include "test_scenario.h"

static struct hil_stale_log stale_log;

static struct hil_input limited(uint64_t limit_ns)
{
    memset(&stale_log, 0, sizeof stale_log);
    return (struct hil_input){.limit_ns = limit_ns, .from = 3};
}

Test(input_age, at_the_limit_is_not_stale)
{
    struct hil_input in = limited(100);

    cr_expect_not(hil_input_is_stale(&in, &stale_log, 0, 0));
    cr_expect_not(hil_input_is_stale(&in, &stale_log, 100, 1000));
    cr_expect_eq(stale_log.count, 0);
    cr_expect(hil_input_is_stale(&in, &stale_log, 101, 1001));
    cr_expect_eq(stale_log.count, 1);
}

/* A peer that stands still makes one entry, from when that was noticed to when it was over. */
Test(input_age, a_time_is_one_entry)
{
    struct hil_input in = limited(100);

    for (uint64_t now = 1000; now < 2000; now += 100)
        hil_input_is_stale(&in, &stale_log, now - 900, now);
    cr_expect_not(hil_input_is_stale(&in, &stale_log, 10, 2000));
    cr_expect_not(hil_input_is_stale(&in, &stale_log, 10, 2100));
    cr_expect_eq(stale_log.count, 1);
    const struct hil_stale first = stale_log.at[0];
    cr_expect_eq(first.from, 3);
    cr_expect_eq(first.to, 0);
    cr_expect_eq(first.found_ns, 1100); /* at 1000 it was 100 old */
    cr_expect_eq(first.fresh_ns, 2000);
    cr_expect_eq(first.oldest_ns, 1000);

    cr_expect(hil_input_is_stale(&in, &stale_log, 200, 3000));
    cr_expect_eq(stale_log.count, 2);
    cr_expect_eq(stale_log.at[1].fresh_ns, 0);
    cr_expect_eq(stale_log.oldest_ns, 1000);
    cr_expect_eq(memcmp(&stale_log.at[0], &first, sizeof first), 0);
}

Test(input_age, more_than_are_listed_are_counted)
{
    struct hil_input in = limited(100);

    for (unsigned i = 0; i < HIL_STALE_LISTED + 10; i++) {
        hil_input_is_stale(&in, &stale_log, 101 + i, 1000);
        hil_input_is_stale(&in, &stale_log, 0, 1000);
    }
    cr_expect_eq(stale_log.count, HIL_STALE_LISTED + 10);
    cr_expect_eq(stale_log.oldest_ns, 101 + HIL_STALE_LISTED + 9);
    cr_expect_eq(stale_log.at[HIL_STALE_LISTED - 1].oldest_ns, 100 + HIL_STALE_LISTED);
}

/* --- limits ---------------- */

static uint64_t limit(const char *const *sets, unsigned from, unsigned to)
{
    struct hil_scenario *s = load(SMALL, sets); /* 20 us and 10 us */
    struct hil_input in;

    hil_input_init(&in, s, &s->system->links[hil_link_find(s->system, from, to)]);
    hil_scenario_free(s);
    cr_expect_eq(in.from, from);
    cr_expect_eq(in.to, to);
    return in.limit_ns;
}

Test(input_age, the_limit_is_what_the_scenario_says)
{
    const char *const *sets =
        SETS("nodes.controller.input_age_limit_us=70", "nodes.converter.input_age_limit_us=90");

    cr_expect_eq(limit(sets, 2, 0), 70000);
    cr_expect_eq(limit(sets, 0, 2), 90000);
}

Test(input_age, by_default_it_is_ten_periods_of_both)
{
    const char *const *slow =
        SETS("nodes.controller.period_us=2000", "nodes.converter.period_us=[10, 500, 10]");
    const char *const *far = SETS("mode=virtual", "nodes.controller.period_us=200",
                                  UP_AND_DOWN_US("30", "50"), "network.jitter_us=4");

    cr_expect_eq(limit(NULL, 1, 0), 1000000); /* but at least 1 ms */
    cr_expect_eq(limit(slow, 1, 0), 20100000);
    cr_expect_eq(limit(slow, 2, 0), 25000000);
    cr_expect_eq(limit(slow, 0, 2), 25000000);
    cr_expect_eq(limit(far, 1, 0), 2134000);
    cr_expect_eq(limit(far, 0, 1), 2154000);
}

/* Tests real time without a network: the clock, the waits, the accounting, and the requests to the
 * kernel. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "channels/loco/fabric/language.h"
#include "harness/run/executor.h"
#include "harness/run/privileges.h"

/* --- the clock ---------------- */

Test(clock, is_refused_for_a_reason)
{
    const struct hil_clock_evidence good = {true, true, 0.4, 0.4 * (1 + 1e-6)};
    struct hil_clock_evidence e = good;

    cr_expect_null(hil_clock_refuse(&e));
    e.invariant = false;
    cr_expect_not_null(hil_clock_refuse(&e));
    e = good;
    e.trusted = false;
    cr_expect_not_null(hil_clock_refuse(&e));
    e = good;
    e.second = 0.4 * (1 + 1e-4);
    cr_expect_not_null(hil_clock_refuse(&e));
    e.second = 0.4 * (1 - 1e-4);
    cr_expect_not_null(hil_clock_refuse(&e));
}

static struct hil_clock counting_clock(void)
{
    struct hil_clock c;

    hil_clock_calibrate(&c);
    if (c.refused)
        cr_skip_test("no time-stamp counter: %s", c.refused);
    return c;
}

/* Clocks that were calibrated separately agree, as programs that were started separately need. */
Test(clock, two_calibrations_agree)
{
    struct hil_clock a = counting_clock(), b = counting_clock();
    const double apart = (double)a.ns_per_tick / (double)b.ns_per_tick - 1;

    cr_expect_lt(fabs(apart), 2e-6, "%g", apart); /* also on a shared host */
}

/* "Calibration against CLOCK_MONOTONIC_RAW": and set to CLOCK_MONOTONIC. If the thread loses its
 * core between the two reads, the second read is later, never earlier. */
Test(clock, is_monotonic_and_keeps_to_the_kernel)
{
    struct hil_clock c = counting_clock();
    uint64_t last = 0;

    hil_clock_set(&c);
    for (int i = 0; i < 100000; i++) {
        uint64_t now = hil_clock_now(&c);
        cr_assert_geq(now, last);
        last = now;
    }
    uint64_t before = hil_clock_monotonic(), now = hil_clock_now(&c), after = hil_clock_monotonic();
    cr_expect_geq(now + 100000, before);
    cr_expect_leq(now, after + 100000);
}

/* A deadline converted to a counter value is not before the deadline, and less than 3 ns after it.
 */
Test(clock, converts_both_ways)
{
    struct hil_clock c = counting_clock();

    for (uint64_t ahead = 0; ahead < 1000000000000000; ahead = 3 * ahead + 1) {
        uint64_t ns = c.origin_ns + ahead, there = hil_clock_ns(&c, hil_clock_ticks_at(&c, ns));
        cr_expect_geq(there + 1, ns);
        cr_expect_lt(there, ns + 3);
    }
}

/* --- loops ---------------- */

static struct hil_node_state node;
static struct hil_worst worst;
static _Atomic uint64_t stop;

struct seen {
    uint64_t steps, early, start_ns, last;
    uint64_t ramp_ns;
    int result;
    uint64_t stop_at, stopped_before_ns; /* it is told to stop at that step, so much too late */
    uint64_t ramp_ends_ns;
    uint64_t end_ns, spend_ns; /* end of the run; time spent in each step */
    struct hil_loop *loop;
    const struct hil_clock *clock;
};

static int look(void *arg, uint64_t n, uint64_t now)
{
    struct seen *s = arg;
    uint64_t due = hil_loop_due(s->loop, n);

    s->last = n;
    s->early += now < due || hil_clock_now(s->clock) + 1 < s->start_ns + due;
    if (++s->steps == s->stop_at)
        atomic_store(&stop, hil_clock_now(s->clock) - s->stopped_before_ns);
    for (uint64_t begin = hil_clock_now(s->clock); hil_clock_now(s->clock) < begin + s->spend_ns;)
        hil_clock_pause();
    return s->result;
}

static _Atomic uint64_t heartbeat;

static int run_loop(struct seen *seen, struct hil_timing timing, enum hil_wait wait,
                    struct hil_clock clock)
{
    struct hil_loop loop = {.timing = timing,
                            .step = look,
                            .arg = seen,
                            .state = &node,
                            .worst = &worst,
                            .node = 3,
                            .end_ns = seen->end_ns ? seen->end_ns : 20000000,
                            .ramp_ns = seen->ramp_ns};
    struct hil_pending pending = hil_pending_first(&loop);
    struct hil_executor e = {.clock = clock,
                             .stop = &stop,
                             .heartbeat = &heartbeat,
                             .start_ns = hil_clock_now(&clock) + 1000000,
                             .wait = wait,
                             .count = 1,
                             .batches = &pending};

    seen->loop = &loop;
    seen->clock = &e.clock;
    seen->start_ns = e.start_ns;
    memset(&node, 0, sizeof node);
    memset(&worst, 0, sizeof worst);
    atomic_store(&stop, 0);
    const int rc = hil_executor_run(&e);
    seen->ramp_ends_ns = loop.end_ns;
    return rc;
}

static const struct hil_timing catching_up = {.period_ns = 1000000, .overrun = HIL_CATCH_UP};

static void expect_run(enum hil_wait wait, struct hil_clock clock)
{
    struct seen seen = {0};

    cr_expect_eq(run_loop(&seen, catching_up, wait, clock), 0);
    cr_expect_eq(seen.steps + node.left_out, 20); /* some left out on a busy machine */
    cr_expect_eq(seen.early, 0);
    cr_expect_eq(node.steps, seen.steps);
    cr_expect_eq(node.late.count, 20);
    cr_expect_eq(node.busy.count, seen.steps);
    cr_expect_eq(node.period.count, seen.steps - 1);
}

Test(executor, spins)
{
    expect_run(HIL_SPIN, counting_clock());
}

Test(executor, sleeps_and_spins)
{
    expect_run(HIL_HYBRID, counting_clock());
}

/* "Refusal of an unstable TSC with a fall-back." */
Test(executor, falls_back_on_the_kernel_clock)
{
    const struct hil_clock none = {.refused = "this is a test"};

    expect_run(HIL_SPIN, none);
    expect_run(HIL_HYBRID, none);
}

/* The end of a run that ends earlier: no machine delays a thread for so long. */
static const uint64_t MUCH_LATER = 30000000000;

/* --- several loops ------------ */

enum { LOOPS = 4, STEPS = 127 };

/* The steps of several loops, in the order in which they ran. */
static struct ran {
    unsigned loop;
    uint64_t due, begin;
} ran[STEPS];
static unsigned ran_count;
static struct hil_loop loops[LOOPS];
static struct hil_node_state states[LOOPS];

static int note_step(void *arg, uint64_t n, uint64_t now)
{
    const struct hil_loop *loop = arg;

    ran[ran_count++] = (struct ran){(unsigned)(loop - loops), hil_loop_due(loop, n), now};
    atomic_store(&stop, ran_count == STEPS ? hil_clock_monotonic() : 0);
    return 0;
}

/* Runs four loops for so many steps. The first two and the last have one period, and another is
 * between them. */
static void run_loops(void)
{
    static const struct hil_timing timings[LOOPS] = {
        {.period_ns = 1000000, .overrun = HIL_CATCH_UP},
        {.period_ns = 1000000, .overrun = HIL_CATCH_UP},
        {.period_ns = 300000, .overrun = HIL_CATCH_UP},
        {.period_ns = 1000000, .overrun = HIL_CATCH_UP}};
    struct hil_clock clock = counting_clock();
    struct hil_pending pending[LOOPS];

    hil_clock_set(&clock);
    for (unsigned i = 0; i < LOOPS; i++) {
        states[i] = (struct hil_node_state){0};
        loops[i] = (struct hil_loop){.step = note_step,
                                     .arg = &loops[i],
                                     .timing = timings[i],
                                     .state = &states[i],
                                     .worst = &worst,
                                     .end_ns = MUCH_LATER};
        pending[i] = hil_pending_first(&loops[i]);
    }
    struct hil_executor e = {.clock = clock,
                             .stop = &stop,
                             .heartbeat = &heartbeat,
                             .start_ns = hil_clock_now(&clock) + 1000000,
                             .count = LOOPS,
                             .batches = pending};
    ran_count = 0;
    atomic_store(&stop, 0);
    cr_assert_eq(hil_executor_run(&e), -EINTR);
    cr_assert_eq(ran_count, STEPS);
}

Test(executor, runs_the_loops_in_the_order_of_their_times)
{
    run_loops();
    for (unsigned i = 1; i < ran_count; i++) {
        const struct ran *a = &ran[i - 1], *b = &ran[i];
        cr_expect(a->due < b->due || (a->due == b->due && a->loop < b->loop),
                  "step %u: loop %u due %ju ran after loop %u due %ju", i, b->loop,
                  (uintmax_t)b->due, a->loop, (uintmax_t)a->due);
    }
}

/* What keeps the thread from its first step is a stall like those between steps. */
Test(executor, a_thread_that_is_late_stood_still)
{
    struct seen seen = {0};
    struct hil_loop loop = {.timing = catching_up,
                            .step = look,
                            .arg = &seen,
                            .state = &node,
                            .worst = &worst,
                            .end_ns = 8000000};
    struct hil_pending pending = hil_pending_first(&loop);
    struct hil_executor e = {.clock = counting_clock(),
                             .stop = &stop,
                             .heartbeat = &heartbeat,
                             .count = 1,
                             .batches = &pending};

    seen.loop = &loop;
    seen.clock = &e.clock;
    seen.start_ns = e.start_ns = hil_clock_now(&e.clock) - 5000000;
    cr_expect_eq(hil_executor_run(&e), 0);
    cr_expect_geq(e.stalls.count, 1);
    cr_expect_geq(e.stalls.longest_ns, 5000000);
    cr_expect_geq(e.stalls.total_ns, e.stalls.longest_ns);
}

/* A step of a slow loop that is late by less than a period loses no time of the loop. */
Test(executor, a_slow_loop_that_is_a_little_late_did_not_stand_still)
{
    struct seen seen = {0};
    struct hil_loop loop = {.timing = {.period_ns = 10000000000, .overrun = HIL_CATCH_UP},
                            .step = look,
                            .arg = &seen,
                            .state = &node,
                            .worst = &worst,
                            .end_ns = 8000000};
    struct hil_pending pending = hil_pending_first(&loop);
    struct hil_executor e = {.clock = counting_clock(),
                             .stop = &stop,
                             .heartbeat = &heartbeat,
                             .count = 1,
                             .batches = &pending};

    seen.loop = &loop;
    seen.clock = &e.clock;
    seen.start_ns = e.start_ns = hil_clock_now(&e.clock) - 5000000;
    cr_expect_eq(hil_executor_run(&e), 0);
    cr_expect_eq(e.stalls.count, 0);
}

Test(executor, ends_when_told_also_if_it_is_behind)
{
    struct seen seen = {.stop_at = 3, .end_ns = MUCH_LATER, .spend_ns = 2 * catching_up.period_ns};

    cr_expect_eq(run_loop(&seen, catching_up, HIL_SPIN, counting_clock()), -EINTR);
    cr_expect_eq(seen.steps, 3);
}

/* So no time is lost between them, and each one's duration is what it takes from the core. */
Test(executor, a_late_step_begins_when_the_one_before_it_ends)
{
    run_loops();
    for (unsigned i = 0; i < ran_count; i++)
        cr_expect_geq(ran[i].begin, ran[i].due);
    cr_expect_eq(ran[1].due, 0);
    cr_expect_eq(ran[1].begin, ran[0].begin + states[0].first_ns);
    cr_expect_eq(ran[2].begin, ran[1].begin + states[1].first_ns);
}

/* The stop is also checked at each turn of the wait for a step, however it waits. */
static void expect_beats(enum hil_wait wait, struct hil_clock clock)
{
    const struct hil_timing far = {.period_ns = 10000000, .phase_ns = 5000000};
    struct seen seen = {.end_ns = 6000000};
    uint64_t before = atomic_load(&heartbeat);

    cr_expect_eq(run_loop(&seen, far, wait, clock), 0);
    cr_expect_gt(atomic_load(&heartbeat), before + 1, "one step, and the wait for it");
}

Test(executor, has_a_heartbeat)
{
    const struct hil_clock none = {.refused = "this is a test"};

    expect_beats(HIL_SPIN, counting_clock());
    expect_beats(HIL_HYBRID, counting_clock());
    expect_beats(HIL_SPIN, none);
}

Test(executor, ends_by_a_step_or_when_told)
{
    struct hil_clock clock = counting_clock();
    struct seen fails = {.result = -EDOM, .end_ns = MUCH_LATER};
    struct seen stops = {.stop_at = 3, .end_ns = MUCH_LATER};

    cr_expect_eq(run_loop(&fails, catching_up, HIL_SPIN, clock), -EDOM);
    cr_expect_eq(fails.steps, 1);
    cr_expect_eq(run_loop(&stops, catching_up, HIL_HYBRID, clock), -EINTR);
    cr_expect_eq(stops.steps, 3);
}

/* A loop that is behind when the run's time is over stops, as the others have ended. Steps that
 * take two periods are behind after the first one, on any machine. */
static void expect_over(enum hil_overrun overrun)
{
    const struct hil_timing timing = {.period_ns = 1000000, .overrun = overrun};
    struct seen slow = {.spend_ns = 2000000, .end_ns = 20500000};

    cr_expect_eq(run_loop(&slow, timing, HIL_SPIN, counting_clock()), 0);
    cr_expect_leq(slow.steps, 11);
    cr_expect_eq(node.steps, slow.steps);
    cr_expect_eq(node.steps + node.left_out, 21, "%llu run, %llu left out",
                 (unsigned long long)node.steps, (unsigned long long)node.left_out);
    cr_expect_leq(node.run_late, node.steps);
    cr_expect_eq(node.late.count, 21);
    cr_expect_geq(node.late.max, overrun == HIL_CATCH_UP ? 10000000 : 1000000);
}

Test(executor, a_loop_that_is_behind_ends_with_the_run)
{
    expect_over(HIL_CATCH_UP);
    expect_over(HIL_SKIP);
}

/* Steps that take two periods may miss the last one of a clean stop; it is run in any case. */
Test(executor, a_ramp_ends_with_its_last_step)
{
    for (unsigned overrun = HIL_CATCH_UP; overrun <= HIL_SKIP; overrun++) {
        const struct hil_timing timing = {.period_ns = 1000000, .overrun = overrun};
        struct seen slow = {.spend_ns = 2500000, .end_ns = 20500000, .ramp_ns = 5000000};
        cr_expect_eq(run_loop(&slow, timing, HIL_SPIN, counting_clock()), 0);
        cr_expect_eq(slow.last, 20);
        cr_expect_eq(node.steps, slow.steps, "also one that was made up for");
        cr_expect_eq(node.steps + node.left_out, 21);
        cr_expect_eq(node.late.count, 21);
    }
}

/* So it reaches its safe values, even if none is due over the ramp's time. */
Test(executor, a_ramp_has_a_step_however_short_it_is)
{
    struct seen seen = {.stop_at = 3, .end_ns = MUCH_LATER, .ramp_ns = 1000};

    cr_expect_eq(run_loop(&seen, catching_up, HIL_SPIN, counting_clock()), -EINTR);
    cr_expect_geq(seen.steps, 4);
}

/* It is told of a stop that was 50 ms ago, of which it has seen nothing. */
Test(executor, a_ramp_is_whole_however_late_it_begins)
{
    struct seen seen = {
        .stop_at = 3, .end_ns = MUCH_LATER, .ramp_ns = 20000000, .stopped_before_ns = 50000000};

    cr_expect_eq(run_loop(&seen, catching_up, HIL_SPIN, counting_clock()), -EINTR);
    cr_expect_geq(node.steps + node.left_out, 3 + 20);
}

/* Two of them, of which one sees it a little later than the other, end at one time. */
Test(executor, ramps_begin_when_the_run_was_stopped)
{
    struct seen seen = {
        .stop_at = 3, .end_ns = MUCH_LATER, .ramp_ns = 20000000, .spend_ns = 300000};

    cr_expect_eq(run_loop(&seen, catching_up, HIL_SPIN, counting_clock()), -EINTR);
    cr_expect(seen.ramp_ends_ns == atomic_load(&stop) - seen.start_ns + seen.ramp_ns ||
              node.late.max > catching_up.period_ns);
}

/* The signal came first. */
Test(executor, a_run_that_stops_is_not_halted)
{
    const struct hil_timing halting = {.period_ns = 1000000, .overrun = HIL_HALT};
    struct seen seen = {
        .stop_at = 1, .end_ns = MUCH_LATER, .ramp_ns = 5000000, .spend_ns = 2500000};

    cr_expect_eq(run_loop(&seen, halting, HIL_SPIN, counting_clock()), -EINTR);
    cr_expect_gt(node.run_late, 0);
}

/* --- catching up ---------------- */

/* A loop with the period 100. Its step 2 began at 470 and ended at this time. */
static uint64_t third_begins(uint64_t catch_up_ns, uint64_t end_ns)
{
    const struct hil_loop loop = {.timing = {.period_ns = 100, .catch_up_ns = catch_up_ns}};

    return hil_loop_begin_at(&loop, 3, 470, end_ns);
}

Test(catch_up, has_a_limit)
{
    cr_expect_eq(third_begins(80, 480), 550);
    cr_expect_eq(third_begins(0, 480), 300);  /* as soon as possible */
    cr_expect_eq(third_begins(80, 600), 550); /* which is possible at 600 */
}

/* A loop that is a little late is not behind: it begins its next step in time. */
Test(catch_up, who_owes_no_step_is_not_held_back)
{
    const struct hil_loop loop = {.timing = {.period_ns = 100, .catch_up_ns = 90}};

    cr_expect_eq(hil_loop_begin_at(&loop, 3, 270, 280), 300);
    cr_expect_eq(hil_loop_begin_at(&loop, 3, 205, 301), 300); /* it began in time and took long */
}

struct paced {
    struct hil_loop *loop;
    const struct hil_clock *clock;
    uint64_t steps, last_ns, least_ns;
};

/* After the first step it owes five. The test checks the distance at which the others begin. */
static int pace(void *arg, uint64_t n, uint64_t now)
{
    struct paced *p = arg;

    if (n > 1 && now > hil_loop_due(p->loop, n) + p->loop->timing.period_ns &&
        now - p->last_ns < p->least_ns)
        p->least_ns = now - p->last_ns;
    p->last_ns = now;
    p->steps++;
    for (uint64_t begin = hil_clock_now(p->clock);
         n == 0 && hil_clock_now(p->clock) < begin + 50000000;)
        hil_clock_pause();
    return 0;
}

Test(catch_up, is_not_faster_in_a_run)
{
    struct paced paced = {.least_ns = UINT64_MAX};
    struct hil_loop loop = {.timing = {.period_ns = 10000000, .catch_up_ns = 6000000},
                            .step = pace,
                            .arg = &paced,
                            .state = &node,
                            .worst = &worst,
                            .end_ns = 300000000};
    struct hil_pending pending = hil_pending_first(&loop);
    struct hil_executor e = {.clock = counting_clock(),
                             .stop = &stop,
                             .heartbeat = &heartbeat,
                             .count = 1,
                             .batches = &pending};

    paced.loop = &loop;
    paced.clock = &e.clock;
    e.start_ns = hil_clock_now(&e.clock);
    cr_expect_eq(hil_executor_run(&e), 0);
    cr_expect_eq(paced.steps + node.left_out, 30);
    cr_expect_geq(paced.least_ns, 6000000);
    cr_expect_lt(paced.least_ns, UINT64_MAX, "it was never behind");
}

/* --- misses ---------------- */

static uint64_t resync_ns;

static uint64_t account(enum hil_overrun overrun, uint64_t n, uint64_t begin, uint64_t end)
{
    struct hil_loop loop = {
        .timing = {.period_ns = 100, .overrun = overrun, .resync_ns = resync_ns},
        .state = &node,
        .worst = &worst,
        .node = 3,
        .end_ns = 2000};
    uint64_t next = 0;

    hil_loop_account(&loop, n, begin, end, &next);
    return next;
}

static void forget(void)
{
    memset(&node, 0, sizeof node);
    memset(&worst, 0, sizeof worst);
}

/* Its next step was due before the stop, and none is due over the time of a short ramp. */
Test(executor, a_loop_that_is_behind_has_a_step_on_its_ramp)
{
    struct hil_loop loop = {.timing.period_ns = 100, .ramp_ns = 10, .end_ns = 100000};

    hil_loop_stop(&loop, 345, 3);
    const uint64_t last = hil_loop_first_from(&loop, loop.end_ns) - 1;
    cr_expect_eq(last, 4);
    cr_expect_geq(hil_loop_due(&loop, last), hil_loop_stops_at(&loop));
}

/* Each node has its own list: all of the executor's worst misses may belong to other nodes. */
Test(misses, each_node_knows_when_its_own_worst_was)
{
    const struct hil_loop loop = {.timing.period_ns = 100, .state = &node, .end_ns = 2000};

    forget();
    account(HIL_CATCH_UP, 0, 1, 50);
    account(HIL_CATCH_UP, 1, 104, 350);
    account(HIL_CATCH_UP, 2, 350, 360);
    cr_expect(node.busy_at_ns == 104 && node.late_at_ns == 350);
    cr_expect(node.over_max_ns == 150 && node.over_at_ns == 104);
    forget();
    hil_loop_give_up(&loop, 15, 1990);
    cr_expect(hil_missed(&node) == 5 && node.late_at_ns == 1990 && node.over_at_ns == 1990);
}

Test(misses, a_miss_keeps_what_happened)
{
    forget();
    cr_expect_eq(account(HIL_SKIP, 0, 1, 50), 1);
    cr_expect_eq(account(HIL_SKIP, 1, 104, 350), 4); /* steps 2 and 3 are left out */
    cr_expect_eq(account(HIL_SKIP, 4, 400, 410), 5);
    cr_expect_eq(node.run_late, 1);
    cr_expect_eq(node.left_out, 2);
    cr_expect_eq(hil_missed(&node), 3);
    cr_assert_eq(worst.count, 1);
    const struct hil_miss *m = &worst.at[0];
    cr_expect_eq(m->begin_ns, 104);
    cr_expect_eq(m->step, 1);
    cr_expect_eq(m->late_ns, 4);
    cr_expect_eq(m->busy_ns, 246);
    cr_expect_eq(m->over_ns, 150);
    cr_expect_eq(m->missed, 3);
    cr_expect_eq(m->node, 3);
}

/* Accounts for a batch of three loops, step 0. It was due at 0. */
static void account_batch(struct hil_loop batch[3], enum hil_overrun overrun, uint64_t begin,
                          uint64_t end)
{
    uint64_t next = 0;

    for (unsigned i = 0; i < 3; i++)
        batch[i] = (struct hil_loop){.timing = {.period_ns = 10000, .overrun = overrun},
                                     .state = &node,
                                     .worst = &worst,
                                     .beside = i < 2 ? &batch[i + 1] : NULL,
                                     .end_ns = 200000};
    forget();
    hil_loop_account(&batch[0], 0, begin, end, &next);
}

Test(misses, a_row_misses_for_each_of_its_loops)
{
    struct hil_loop batch[3];

    account_batch(batch, HIL_SKIP, 100, 50000);
    cr_expect_eq(hil_missed(&node), 5);
    cr_expect_eq(worst.current.missed, 15);
}

/* It is not known when the later steps of a batch begin, but they begin before it ends. */
Test(misses, a_row_that_took_long_was_late_until_its_end)
{
    struct hil_loop batch[3];

    account_batch(batch, HIL_CATCH_UP, 100, 100 + HIL_BATCH_LONG_NS);
    cr_expect(node.late.count == 1 && node.late.max == 100);
    cr_expect(node.late_at_ns == 100);
    for (unsigned i = 0; i < 3; i++)
        cr_expect_eq(batch[i].late_ns, 0, "its node knows when it began");
    account_batch(batch, HIL_CATCH_UP, 100, 101 + HIL_BATCH_LONG_NS);
    cr_expect(node.late.count == 1 && node.late.max == 101 + HIL_BATCH_LONG_NS);
    cr_expect(node.late_at_ns == 100);
    for (unsigned i = 0; i < 3; i++)
        cr_expect_eq(batch[i].late_ns, 101 + HIL_BATCH_LONG_NS);
}

/* A step that is alone begins when it says, however long it takes. */
Test(misses, a_long_step_was_not_late)
{
    forget();
    account(HIL_CATCH_UP, 0, 3, 4 + HIL_BATCH_LONG_NS);
    cr_expect_eq(node.late.max, 3);
}

/* A left-out step was late by as long as it was waited for: here 6 of 10 steps, by 50 to 550. */
Test(misses, what_is_left_out_was_late)
{
    forget();
    for (uint64_t n = 0; n < 3; n++)
        account(HIL_SKIP, n, 100 * n, 100 * n + 1);
    cr_expect_eq(account(HIL_SKIP, 3, 300, 950), 10);
    cr_expect_eq(node.left_out, 6);
    cr_expect_eq(node.late.count, 10);
    cr_expect_eq(node.late.max, 550);
    cr_expect_eq(node.late.sum, 50 + 150 + 250 + 350 + 450 + 550);
    cr_expect_gt(hil_histogram_quantile(&node.late, 0.5), 49);
}

/* Steps that are due after the end of the run do not count. */
Test(misses, nothing_counts_after_the_end)
{
    forget();
    cr_expect_eq(account(HIL_SKIP, 15, 1500, 5050), 51);
    cr_expect_eq(node.run_late, 1);
    cr_expect_eq(node.left_out, 4); /* 16 to 19: the run ends at 2000 */
    cr_expect_eq(node.late.max, 5050 - 1600);
    forget();
    account(HIL_SKIP, 19, 1900, 5050);
    cr_expect_eq(node.left_out, 0);
}

/* The steps that a converter owes after a stop are late as well, but are not separate misses. */
Test(misses, one_cause_is_one_miss)
{
    forget();
    account(HIL_CATCH_UP, 0, 0, 1000);
    for (uint64_t n = 1; n < 10; n++)
        account(HIL_CATCH_UP, n, 1000 + n, 1001 + n);
    cr_expect_eq(worst.count, 0); /* the run continues */
    account(HIL_CATCH_UP, 10, 1010, 1050);
    cr_expect_eq(node.run_late, 10);
    cr_expect_eq(node.left_out, 0);
    cr_assert_eq(worst.count, 1);
    cr_expect_eq(worst.at[0].step, 0);
    cr_expect_eq(worst.at[0].over_ns, 900);
    cr_expect_eq(worst.at[0].missed, 10);
}

/* Up to its limit a loop owes missed steps. If it is further behind, it continues with the clock.
 */
Test(misses, who_is_too_far_behind_resynchronises)
{
    forget();
    resync_ns = 300;
    cr_expect_eq(account(HIL_CATCH_UP, 0, 0, 400), 1); /* 300 behind with step 1 */
    cr_expect_eq(node.resyncs, 0);
    cr_expect_eq(account(HIL_CATCH_UP, 1, 400, 501), 6); /* 301 behind with step 2 */
    cr_expect_eq(node.resyncs, 1);
    cr_expect_eq(node.left_out, 4); /* 2 to 5 */
    cr_expect_eq(node.run_late, 2);
    cr_expect_eq(account(HIL_SKIP, 6, 600, 1001), 11); /* skipping always does that */
    cr_expect_eq(node.resyncs, 1);
}

/* "The ten worst misses": the ten worst of all, in any order of arrival, also after merging. */
Test(misses, the_ten_worst_are_kept)
{
    struct hil_worst both = {0};

    forget();
    for (uint64_t i = 0; i < 50; i++) {
        const struct hil_miss miss = {.step = i, .over_ns = 1 + i * 37 % 50, .missed = 1};
        hil_worst_add(&worst, &miss);
        if (i % 2)
            hil_worst_in_time(&worst); /* so the worse one of each pair remains */
    }
    cr_assert_eq(worst.count, HIL_WORST);
    hil_worst_add(&worst, &(struct hil_miss){.over_ns = 1000, .missed = 1});
    hil_worst_merge(&both, &worst);
    hil_worst_merge(&both, &worst);
    cr_assert_eq(both.count, HIL_WORST);
    cr_expect_eq(both.at[0].over_ns, 1000);
    cr_expect_eq(both.at[1].over_ns, 1000);
    cr_expect_eq(both.at[2].over_ns, 50);
    for (unsigned i = 1; i < HIL_WORST; i++)
        cr_expect_geq(both.at[i - 1].over_ns, both.at[i].over_ns);
}

/* --- requests to the kernel ------------------ */

static struct hil_executor_state asked;

/* "Timer slack." */
/* After that the thread computes as before. */
Test(privileges, denormals_are_zero)
{
    volatile double tiny = 1e-310;
    struct hil_thread_settings before;

    hil_thread_settings_take(&before);
    hil_flush_denormals();
    cr_expect(tiny * 1.0 == 0);
    hil_thread_settings_give_back(&before);
    cr_expect(tiny * 1.0 != 0);
}

Test(privileges, sleeps_end_in_time)
{
    const struct hil_executor_config config = {.cpu = -1};

    hil_settle(&config, &asked);
    cr_expect_eq(prctl(PR_GET_TIMERSLACK), 1);
}

/* "Heap pre-faulted": and freed memory stays with the process. */
Test(privileges, memory_stays)
{
#if defined(LOCO_ASAN)
    cr_skip_test("AddressSanitizer has a heap of its own");
#else
    const struct hil_executor_config config = {.cpu = -1};

    hil_settle(&config, &asked);
    void *large = malloc(3 << 20), *end = sbrk(0);
    cr_assert_not_null(large);
    cr_expect(large < end, "it is not of the heap");
    free(large);
    cr_expect_eq(sbrk(0), end, "the heap shrank");
#endif
}

/* "/dev/cpu_dma_latency held": or it is reported that it is not. */
Test(privileges, the_cores_stay_awake_or_it_is_said)
{
    int fd = hil_keep_awake(&asked);
    char link[40], path[40] = "";

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (fd < 0)
        cr_expect(strstr(asked.degraded, "/dev/cpu_dma_latency"), "%s", asked.degraded);
    else
        cr_expect(readlink(link, path, sizeof path - 1) > 0 &&
                  strcmp(path, "/dev/cpu_dma_latency") == 0);
}

/* The thread has what the executor reports, and if that is less than requested there is a reason.
 */
static void expect_scheduler(enum hil_scheduler wanted)
{
    const struct hil_executor_config config = {
        .cpu = sched_getcpu(), .priority = 5, .scheduler = wanted};
    static const int policies[] = {SCHED_OTHER, SCHED_FIFO, SCHED_DEADLINE};

    memset(&asked, 0, sizeof asked);
    hil_schedule_ordinary(); /* the tests may run as SCHED_IDLE */
    hil_settle(&config, &asked);
    hil_schedule_real_time(&config, 10000, &asked);
    cr_expect_eq(sched_getscheduler(0), policies[asked.scheduler]);
    cr_expect(asked.scheduler == wanted || strstr(asked.degraded, "not SCHED_"), "%s",
              asked.degraded);
    hil_schedule_ordinary();
    cr_expect_eq(sched_getscheduler(0), SCHED_OTHER);
}

Test(privileges, fifo)
{
    expect_scheduler(HIL_FIFO);
}

Test(privileges, deadline)
{
    expect_scheduler(HIL_DEADLINE);
}

Test(privileges, ordinary)
{
    expect_scheduler(HIL_OTHER);
    cr_expect_null(strstr(asked.degraded, "SCHED_"));
}

/* A loop that sleeps most of the time is not throttled. */
Test(privileges, fifo_for_who_sleeps)
{
    const struct hil_executor_config config = {
        .cpu = -1, .priority = 5, .scheduler = HIL_FIFO, .wait = HIL_HYBRID};

    memset(&asked, 0, sizeof asked);
    hil_schedule_real_time(&config, 5000000, &asked);
    cr_expect_null(strstr(asked.degraded, "spinning"), "%s", asked.degraded);
    hil_schedule_ordinary();
}

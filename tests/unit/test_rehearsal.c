/*
 * Tests the rehearsal before time 0: it must not affect the steps after it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "../sets.h"
#include "harness/run/rehearsal.h"
#include "harness/scenario/system.h"
#include "test_scenario.h"
#include "tests/temporary.h"

enum { STEPS = 200 };

/* A controller at 20 us and three converters at 10 us, in one thread, in lockstep. */
struct played {
    double output_v[STEPS];
    struct hil_histogram input_age, round_trip, duty_age;
    unsigned rehearsed; /* rehearsed steps of all nodes */
};

static struct hil_scenario *scenario;

/* Passes a step on, and counts the rehearsed ones. */
static unsigned rehearsed;
static int (*real_step)(void *arg, uint64_t n, uint64_t now_ns);

static int counted_step(void *arg, uint64_t n, uint64_t now_ns)
{
    rehearsed += n == UINT64_MAX;
    return real_step(arg, n, now_ns);
}

static void rehearse(const struct hil_run *run, const struct hil_group *g)
{
    struct hil_rehearsal rehearsal;
    struct hil_clock clock;

    rehearsed = 0;
    real_step = g->nodes[0]->loop.step;
    g->nodes[0]->loop.step = counted_step;
    hil_clock_calibrate(&clock);
    cr_assert_eq(hil_rehearsal_open(&rehearsal, run), 0);
    cr_assert_eq(hil_rehearse(&rehearsal, g, &clock, hil_clock_now(&clock) + 20000000), 0);
    hil_rehearsal_close(&rehearsal);
    g->nodes[0]->loop.step = real_step;
}

static void step(const struct hil_node *r, uint64_t n)
{
    cr_assert_eq(r->loop.step(r->loop.arg, n, hil_loop_due(&r->loop, n)), 0);
}

/* The converters make two steps for each of the controller's. */
/* The counts of the link between two nodes. */
static const struct hil_link_figures *figures(const struct hil_run *run, unsigned from, unsigned to)
{
    const struct hil_system *s = run->scenario->system;

    return hil_state_figures(run->state, 0, s->links[hil_link_find(s, from, to)].array);
}

static void play(const struct hil_run *run, const struct hil_group *g, struct played *p)
{
    for (uint64_t n = 0; n < STEPS; n++) {
        for (unsigned i = 1; i < g->count; i++)
            step(g->nodes[i], 2 * n);
        step(g->nodes[0], n);
        for (unsigned i = 1; i < g->count; i++)
            step(g->nodes[i], 2 * n + 1);
        p->output_v[n] = atomic_load(&run->state->recent.value);
    }
    p->input_age = figures(run, 1, 0)->input_age;
    p->round_trip = figures(run, 1, 0)->round_trip;
    p->duty_age = figures(run, 0, 1)->input_age;
    p->rehearsed = rehearsed;
}

static void run_once(bool with_rehearsal, struct played *p)
{
    char directory[TEMPORARY_SIZE];
    struct hil_run run = {.scenario = scenario};
    struct loco_fabric *fabric;
    struct hil_group group;

    cr_assert_not_null(temporary_folder(directory));
    cr_assert_eq(hil_state_open(&run.state, scenario), 0);
    cr_assert_eq(loco_shm_open(&fabric, directory), 0);
    cr_assert_eq(hil_group_start(&group, &run, fabric, &scenario->executors[0], 20000000000), 0);
    if (with_rehearsal)
        rehearse(&run, &group);
    play(&run, &group, p);
    hil_group_end(&group, HIL_DONE);
    hil_group_close(&group);
    loco_shm_close(fabric);
    hil_state_close(run.state);
    rmdir(directory);
}

static void expect_no_trace(const char *const *sets)
{
    static struct played plain, after;

    scenario = load(SMALL TOGETHER, sets);
    run_once(false, &plain);
    run_once(true, &after);
    cr_expect_gt(after.rehearsed, 10);
    cr_expect_eq(memcmp(plain.output_v, after.output_v, sizeof plain.output_v), 0);
    cr_expect_eq(memcmp(&plain.input_age, &after.input_age, sizeof plain.input_age), 0);
    cr_expect_eq(memcmp(&plain.round_trip, &after.round_trip, sizeof plain.round_trip), 0);
    cr_expect_eq(memcmp(&plain.duty_age, &after.duty_age, sizeof plain.duty_age), 0);
    cr_expect_gt(plain.output_v[STEPS - 1], 1);
    hil_scenario_free(scenario);
}

Test(rehearsal, leaves_no_trace, .timeout = 60)
{
    expect_no_trace(NULL);
}

/* For steps to which the input before the first value matters: none of it may come from the
 * rehearsal. */
Test(rehearsal, is_nothing_to_a_peer, .timeout = 60)
{
    expect_no_trace(SETS("components.control.computation_delay=false", "connections.1.initial=0.3",
                         "components.converter.initial={voltage_v: 3, current_a: 1}",
                         LOAD_STEPS("[{'time_s':0,'value':3,'ramp_s':0.01}]")));
}

/* A controller whose first voltages are late sees none, rather than those of the rehearsal. */
Test(rehearsal, its_voltages_are_none, .timeout = 60)
{
    char directory[TEMPORARY_SIZE];
    struct loco_fabric *fabric;
    struct hil_group group;

    scenario =
        load(SMALL TOGETHER, SETS("components.converter.initial={voltage_v: 3, current_a: 1}"));
    struct hil_run run = {.scenario = scenario};
    cr_assert_not_null(temporary_folder(directory));
    cr_assert_eq(hil_state_open(&run.state, scenario), 0);
    cr_assert_eq(loco_shm_open(&fabric, directory), 0);
    cr_assert_eq(hil_group_start(&group, &run, fabric, &scenario->executors[0], 20000000000), 0);
    rehearse(&run, &group);
    step(group.nodes[0], 0);
    cr_expect_eq(atomic_load(&run.state->recent.value), 0);
    for (unsigned i = 1; i < group.count; i++)
        step(group.nodes[i], 0);
    step(group.nodes[0], 1);
    cr_expect_gt(atomic_load(&run.state->recent.value), 8);
    hil_group_end(&group, HIL_DONE);
    hil_group_close(&group);
    loco_shm_close(fabric);
    hil_state_close(run.state);
    hil_scenario_free(scenario);
    rmdir(directory);
}

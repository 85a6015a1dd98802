/* Tests the verdict of a run on itself: each bound, values beyond it, and the messages for that. */
#include <string.h>

#include "harness/summary/validity.h"
#include "test_scenario.h"

/* A run of SMALL's controller (20 us) and three converters (10 us), for 0.1 s. */
static struct hil_scenario *scenario;
static struct hil_state *state;
static struct hil_verdict verdict;

/* A perfect run: every step was in time, and all loops reached their end. No nodes are in a row. */
static void open_run(const char *const *sets)
{
    scenario = load(SMALL, sets);
    cr_assert_eq(hil_state_open(&state, scenario), 0);
    atomic_store(&state->elapsed_ns, 99980000);
    for (unsigned i = 0; i < state->node_count; i++) {
        struct hil_node_state *n = &state->nodes[i];
        n->here = true;
        n->place = 0;
        n->steps = 100000000 / n->period_ns;
        n->begin_ns = 100000000 - n->period_ns;
        hil_histogram_add_many(&n->period, n->period_ns, n->steps - 1);
        hil_histogram_add_many(&n->late, 100, n->steps);
    }
    for (unsigned i = 0; i < state->executor_count; i++)
        atomic_store(&state->executors[i].stage, HIL_DONE);
}

static void close_run(void)
{
    hil_state_close(state);
    hil_scenario_free(scenario);
}

/* Checks that this is the only reason; NULL: the run is valid. */
static const char *reason(uint64_t dropped)
{
    const char *found = NULL;

    hil_validity_judge(&verdict, scenario, state, dropped);
    for (unsigned i = 0; i < verdict.count; i++) {
        const struct hil_check *c = &verdict.checks[i];
        if (c->passed)
            continue;
        cr_expect_null(found, "besides: %s", c->reason);
        found = c->reason;
    }
    cr_expect_eq(verdict.valid, found == NULL);
    return found;
}

#define EXPECT_REASON(dropped, text)                                                               \
    do {                                                                                           \
        const char *said = reason(dropped);                                                        \
        cr_assert_not_null(said, "it is valid");                                                   \
        cr_expect_str_eq(said, text);                                                              \
    } while (0)

Test(validity, a_run_as_it_should_be_is_valid)
{
    open_run(NULL);
    cr_expect_null(reason(0));
    close_run();
}

/* The bound applies to each loop: 1 % of a converter's 10000 steps are 100. */
Test(validity, steps_missed)
{
    open_run(NULL);
    state->nodes[2].run_late = 60;
    state->nodes[2].left_out = 40;
    state->nodes[2].steps -= 40;
    cr_expect_null(reason(0));
    state->nodes[2].run_late++;
    EXPECT_REASON(0, "converter[1] missed 1.01 % of its steps; allowed: at most 1 %");
    scenario->validity.missed_percent = 2;
    cr_expect_null(reason(0));
    close_run();
}

/* Nodes in a row are counted at its first one. */
Test(validity, steps_missed_by_a_row)
{
    open_run(NULL);
    for (unsigned i = 1; i <= 3; i++)
        state->nodes[i].place = i - 1;
    state->nodes[2].run_late = state->nodes[3].run_late = 5000;
    cr_expect_null(reason(0));
    state->nodes[1].run_late = 101;
    hil_validity_judge(&verdict, scenario, state, 0);
    cr_expect_not(verdict.valid);
    close_run();
}

Test(validity, a_loop_that_stood_still)
{
    open_run(NULL);
    hil_histogram_add(&state->nodes[0].period, 1000000);
    cr_expect_null(reason(0));
    hil_histogram_add(&state->nodes[0].period, 2500000);
    EXPECT_REASON(0, "controller stood still for 2.5 ms; allowed: at most 1 ms");
    scenario->validity.gap_ns = 2500000;
    cr_expect_null(reason(0));
    close_run();
}

/* Also for a loop that made no more steps before the end. */
Test(validity, a_loop_that_stood_still_at_the_end)
{
    open_run(NULL);
    state->nodes[3].begin_ns = 97000000;
    EXPECT_REASON(0, "converter[2] stood still for 3 ms; allowed: at most 1 ms");
    close_run();
}

/* Here ten periods of the controller are longer than 1 ms. */
Test(validity, the_bound_of_a_slow_loop_is_ten_periods)
{
    open_run(SETS("nodes.controller.period_us=5000"));
    hil_histogram_add(&state->nodes[0].period, 50000000);
    cr_expect_null(reason(0));
    hil_histogram_add(&state->nodes[0].period, 50000001);
    EXPECT_REASON(0, "controller stood still for 50 ms; allowed: at most 50 ms");
    close_run();
}

/* A loop that skips is on time again at once. A loop that catches up is behind until it has. */
Test(validity, a_plant_behind_the_clock)
{
    open_run(NULL);
    hil_histogram_add(&state->nodes[0].late, 5000000);
    cr_expect_null(reason(0));
    hil_histogram_add(&state->nodes[1].late, 5000000);
    EXPECT_REASON(0, "converter[0] was behind the clock by 5 ms; allowed: at most 1 ms");
    scenario->validity.behind_ns = 5000000;
    cr_expect_null(reason(0));
    close_run();
}

Test(validity, stale_inputs)
{
    open_run(NULL);
    state->executors[1].stale.at[0] = (struct hil_stale){.to = 2, .found_ns = 5000000};
    state->executors[1].stale.count = 2;
    state->executors[1].stale.oldest_ns = 7000000;
    state->executors[0].stale.at[0] = (struct hil_stale){.from = 3, .found_ns = 4000000};
    state->executors[0].stale.count = 1;
    state->executors[0].stale.oldest_ns = 2000000;
    EXPECT_REASON(
        0,
        "an input was stale 3 times; allowed: at most 0; the first was converter[2] -> controller "
        "at 0.004000 s; the oldest was 7 ms old");
    scenario->validity.stale_inputs = 3;
    cr_expect_null(reason(0));
    close_run();
}

Test(validity, lost_records)
{
    open_run(NULL);
    EXPECT_REASON(1, "the recorder lost 1 rows; allowed: at most 0");
    scenario->validity.lost_records = 1;
    cr_expect_null(reason(1));
    close_run();
}

/* A component says so itself. No bound allows it. */
Test(validity, unresolved_steps)
{
    open_run(NULL);
    state->costs[0].counts.unresolved = 2;
    EXPECT_REASON(0,
                  "2 steps could not be resolved, the first of them of control[0]; allowed: none");
    close_run();
}

/* A machine that grants less may still do well enough, so the scenario must ask for this check. */
Test(validity, degraded_scheduling)
{
    open_run(NULL);
    hil_state_degrade(&state->executors[1], "memory not locked\nand more\n");
    cr_expect_null(reason(0));
    scenario->validity.allow_degraded = false;
    EXPECT_REASON(0, "degraded: memory not locked");
    close_run();
}

Test(validity, a_run_that_did_not_end)
{
    open_run(NULL);
    atomic_store(&state->executors[1].stage, HIL_RUNNING);
    EXPECT_REASON(0, "it did not finish: 0.09998 of 0.1 s");
    close_run();
}

/* For a node on another machine there are the figures that it reported. */
Test(validity, nodes_elsewhere)
{
    open_run(NULL);
    memset(&state->nodes[2], 0, sizeof state->nodes[2]);
    state->nodes[2].period_ns = 10000;
    state->nodes[2].progress.missed = 90;
    state->nodes[2].progress.late_max_ns = 900000;
    cr_expect_null(reason(0));
    state->nodes[2].progress.missed = 1000;
    EXPECT_REASON(0, "converter[1] missed 10 % of its steps; allowed: at most 1 %");
    state->nodes[2].progress.missed = 0;
    state->nodes[2].progress.late_max_ns = 8000000;
    EXPECT_REASON(0, "converter[1] was behind the clock by 8 ms; allowed: at most 1 ms");
    close_run();
}

/* Stalls of less than gap_us, which add up. */
Test(validity, time_lost)
{
    open_run(NULL);
    atomic_store(&state->elapsed_ns, 1000000000);
    state->executors[1].stalls =
        (struct hil_stalls){.count = 20, .total_ns = 10000000, .longest_ns = 500000};
    cr_expect_null(reason(0));
    state->executors[1].stalls.total_ns = 12000000;
    EXPECT_REASON(0, "converter[0-2] stood still for 1.2 % of the run; allowed: at most 1 %");
    scenario->validity.lost_percent = 1.5;
    cr_expect_null(reason(0));
    close_run();
}

/* The words for the worst executor: its nodes, its size, and the reason if there is one. */
Test(validity, what_stood_still_comes_first)
{
    open_run(SETS("validity.lost_percent=2"));
    cr_expect_null(reason(0));
    cr_expect_str_empty(verdict.stalls);
    atomic_store(&state->elapsed_ns, 1000000000);
    state->executors[0].stalls = (struct hil_stalls){.count = 4,
                                                     .total_ns = 11000000,
                                                     .longest_ns = 5000000,
                                                     .waited_ns = 1000000,
                                                     .stolen_ns = 2000000};
    cr_expect_null(reason(0));
    cr_expect_str_eq(verdict.stalls, "controller stood still 4 times, 5 ms at most, 11 ms in all, "
                                     "1.1 % of the run");
    state->executors[0].stalls.waited_ns = 10000000;
    cr_expect_null(reason(0));
    cr_expect(strstr(verdict.stalls, " of the run; other threads had its core for 10 ms"), "%s",
              verdict.stalls);
    strcpy(state->executors[0].stalls.other, "cc1");
    cr_expect_null(reason(0));
    cr_expect(strstr(verdict.stalls, " of the run; cc1 and other threads had its core for 10 ms"),
              "%s", verdict.stalls);
    state->executors[0].stalls.stolen_ns = 20000000;
    cr_expect_null(reason(0));
    cr_expect(strstr(verdict.stalls, " of the run; the host took its core away for 20 ms"), "%s",
              verdict.stalls);
    state->executors[1].stalls = (struct hil_stalls){
        .count = 1, .total_ns = 12000000, .longest_ns = 12000000, .waited_ns = 0, .stolen_ns = 0};
    cr_expect_null(reason(0));
    cr_expect(strstr(verdict.stalls, " stood still 1 time, 12 ms at most"), "%s", verdict.stalls);
    close_run();
}

Test(validity, as_json)
{
    open_run(NULL);
    hil_histogram_add(&state->nodes[1].late, 5000000);
    reason(0);
    json_t *v = hil_validity_json(&verdict);
    json_t *behind = json_object_get(json_object_get(v, "checks"), "behind_us");
    cr_expect(json_is_false(json_object_get(v, "valid")));
    cr_expect_eq(json_array_size(json_object_get(v, "reasons")), 1);
    cr_expect_eq(json_object_size(json_object_get(v, "checks")), 11);
    cr_expect_eq(json_number_value(json_object_get(behind, "value")), 5000);
    cr_expect_eq(json_number_value(json_object_get(behind, "bound")), 1000);
    cr_expect(json_is_false(json_object_get(behind, "passed")));
    json_decref(v);
    close_run();
}

/* In real time, all steps may be missed for which a fault is responsible. Loops that did not run
 * here are not judged. */
Test(validity, faults_that_never_began)
{
    open_run((const char *const[]){
        "faults={f: {nodes: controller, kind: stall, at_s: 0.01, duration_s: 0.001}}", NULL});
    EXPECT_REASON(0, "the fault f never began: controller missed all its steps from 0.01 s on, for "
                     "which it was due");
    state->executors[0].losses.count = 1;
    state->executors[0].losses.at[0] =
        (struct hil_loss){.from = 0, .to = 1, .lost_ns = 10500000, .back_ns = 20000000};
    EXPECT_REASON(0, "the fault f never began: controller was away when it was due, at 0.01 s");
    state->executors[0].losses.at[0].lost_ns = 11000000;
    EXPECT_REASON(0, "the fault f never began: controller missed all its steps from 0.01 s on, for "
                     "which it was due");
    scenario->validity.absent_faults = 1;
    cr_expect_null(reason(0));
    scenario->validity.absent_faults = 0;
    state->nodes[0].here = false;
    cr_expect_null(reason(0));
    state->nodes[0].here = true;
    atomic_store(&state->faults[0].begun, 1);
    cr_expect_null(reason(0));
    close_run();
}

/*
 * Tests batches of nodes: which nodes are in a batch, and how an executor steps a batch and counts
 * its steps.
 */
#include "harness/run/batches.h"
#include "harness/scenario/system.h"
#include "step_rig.h"

/* --- which nodes are in a batch ---------------- */

/* The places of the nodes in their batches, as a text with a digit for each node. */
static const char *places(const char *text, const char *const *sets)
{
    static char digits[64];
    struct hil_scenario *scenario = load(text, sets);
    struct hil_state *state;
    unsigned i;

    cr_assert_eq(hil_state_open(&state, scenario), 0);
    for (i = 0; i < state->node_count && i < sizeof digits - 1; i++)
        digits[i] = (char)('0' + state->nodes[i].place);
    digits[i] = '\0';
    hil_state_close(state);
    hil_scenario_free(scenario);
    return digits;
}

/* The controller is node 0. */
Test(node_batches, have_up_to_eight_converters)
{
    cr_expect_str_eq(places(SMALL, NULL), "0012");
    cr_expect_str_eq(places(SMALL, SETS("nodes.converter.count=19")), "00123456701234567012");
}

Test(node_batches, are_of_one_executor)
{
    cr_expect_str_eq(places(SMALL "placement: [{nodes: controller}, {nodes: 'converter[0-1]'}, "
                                  "{nodes: 'converter[2-5]'}]\n",
                            SETS("nodes.converter.count=6")),
                     "0010123");
    cr_expect_str_eq(places(SMALL TOGETHER, NULL), "0012", "the controller computes for longer");
}

Test(node_batches, do_not_have_nodes_with_faults)
{
    cr_expect_str_eq(places(SMALL "faults: {a: {nodes: 'converter[2]', kind: stall, at_s: 0.01, "
                                  "duration_s: 0.01}}\n",
                            SETS("nodes.converter.count=6")),
                     "0010012");
}

Test(node_batches, are_made_only_in_real_time_and_also_with_a_trace)
{
    cr_expect_str_eq(places(SMALL, SETS("mode=virtual")), "0000");
    cr_expect_str_eq(places(SMALL, SETS("trace.enable=true")), "0012");
}

/* Arrays of nodes: cell has two periods. The nodes of mixed have two components, and motor's
 * compute for longer. */
#define ARRAYS(placement)                                                                          \
    "name: arrays\n"                                                                               \
    "duration_s: 0.1\n"                                                                            \
    "nodes: {cell: {count: 4, period_us: [10, 10, 20, 20]}, other: {count: 2, period_us: 20}, "    \
    "mixed: {count: 2, period_us: 20}, motor: {count: 2, period_us: 20}}\n"                        \
    "components:\n"                                                                                \
    "  cell: {model: integrator, count: 4, node: 'cell[*]'}\n"                                     \
    "  other: {model: integrator, count: 2, node: 'other[*]'}\n"                                   \
    "  mixed: {model: integrator, count: 2, node: 'mixed[*]'}\n"                                   \
    "  more: {model: integrator, count: 2, node: 'mixed[*]'}\n"                                    \
    "  motor: {model: dc_motor, count: 2, node: 'motor[*]', parameters: {resistance_ohm: 2}}\n"    \
    "sources: {s: {to: ['cell[*].input', 'other[*].input', 'mixed[*].input', 'more[*].input', "    \
    "'motor[*].voltage_v'], steps: {initial: 1}}}\n"                                               \
    "placement: [" placement "]\n"

Test(node_batches, have_neighbours_with_one_short_plant_and_one_timing)
{
    static const char together[] =
        ARRAYS("{nodes: ['cell[*]', 'other[*]', 'mixed[*]', 'motor[*]']}");
    static const char apart[] =
        ARRAYS("{nodes: ['cell[0]', 'cell[2-3]', 'other[*]', 'mixed[*]', 'motor[*]']}, "
               "{nodes: ['cell[1]']}");
    static const char gap[] = ARRAYS("{nodes: ['cell[0-2]', 'other[1]', 'mixed[*]', 'motor[*]']}, "
                                     "{nodes: ['cell[3]', 'other[0]']}");

    cr_expect_str_eq(places(together, NULL), "0101010000");
    cr_expect_str_eq(places(apart, NULL), "0001010000");
    cr_expect_str_eq(places(gap, NULL), "0100000000");
    cr_expect_str_eq(places(gap, SETS("nodes.cell.period_us=10")), "0120000000");
}

/* Three nodes of an array send to so many others, each of which takes a link. */
#define SENDER(number) "  - {from: 'cell[" number "].output', to: 'to[*].input[" number "]'}\n"
#define SENDERS(receivers, more)                                                                   \
    "name: senders\n"                                                                              \
    "duration_s: 0.1\n"                                                                            \
    "nodes: {cell: {count: 3, period_us: 20}, to: {count: " receivers ", period_us: 20}}\n"        \
    "components:\n"                                                                                \
    "  cell: {model: integrator, count: 3, node: 'cell[*]', inputs: {input: 1}}\n"                 \
    "  to: {model: sum, width: 3, count: " receivers ", node: 'to[*]'}\n"                          \
    "connections:\n" SENDER("0") SENDER("1")                                                       \
        SENDER("2") "placement: [{nodes: ['cell[*]']}, {nodes: ['to[*]']}]\n" more

/* Both make a step long. */
Test(node_batches, do_not_have_nodes_with_measures_or_many_links)
{
    cr_expect_str_eq(places(SENDERS("4", ""), NULL), "0120000");
    cr_expect_str_eq(places(SENDERS("5", ""), NULL), "00000000");
    cr_expect_str_eq(places(SENDERS("4", "measures: {m: {sum: 'cell[0].output'}}\n"), NULL),
                     "0010000", "the first node makes the measure");
}

/* The state may be that of another process, or of a file that somebody made. */
Test(node_batches, have_figures_that_lie_in_the_state)
{
    static union {
        struct hil_state state;
        char room[sizeof(struct hil_state) + 3 * sizeof(struct hil_node_state)];
    } made;
    struct hil_state *s = &made.state;

    s->nodes[2].place = 1;
    cr_expect_eq(hil_node_figures(s, 2), &s->nodes[1]);
    cr_expect_eq(hil_node_figures(s, 1), &s->nodes[1]);
    s->nodes[2].place = 3;
    cr_expect_eq(hil_node_figures(s, 2), &s->nodes[2]);
}

/* --- how they are stepped ---------------- */

/* A run that is stopped while it is behind makes more than its twenty steps. */
enum { NODES = 5, FIRST_ROW = 3, STEPS = 20, ROOM = 2000 };

static struct hil_node_state states[NODES];
static struct hil_loop loops[NODES];
static struct hil_tap_ring taps[NODES];
static struct hil_worst worst;
static struct hil_clock clock_of_all;
static _Atomic uint64_t stop;
static _Atomic uint64_t heartbeat;

static struct {
    uint64_t count[NODES], begin[NODES][ROOM];
    bool slow;  /* step slow_at of node 1, or the next one that it makes, takes five periods */
    bool fails; /* step fail_at of fail_node is an error */
    uint64_t slow_at, fail_at, stop_at;
    unsigned fail_node;
} ran;

static const uint64_t PERIOD_NS = 1000000;

static int note_step(void *arg, uint64_t n, uint64_t now)
{
    const struct hil_loop *loop = arg;
    const unsigned node = loop->node;

    if (ran.fails && node == ran.fail_node && n == ran.fail_at)
        return -EDOM;
    cr_assert_lt(ran.count[node], ROOM);
    ran.begin[node][ran.count[node]++] = now;
    if (ran.slow && node == 1 && n >= ran.slow_at) {
        ran.slow = false;
        for (uint64_t begin = hil_clock_now(&clock_of_all);
             hil_clock_now(&clock_of_all) < begin + 5 * PERIOD_NS;)
            hil_clock_pause();
    }
    if (ran.stop_at && n == ran.stop_at)
        atomic_store(&stop, hil_clock_now(&clock_of_all));
    return 0;
}

/* The end of a run that ends earlier: no machine delays a thread for so long. */
static const uint64_t MUCH_LATER = 30000000000;

/* Runs five nodes of one executor, the first three and the last two as batches. */
static int run_batches(enum hil_overrun overrun, uint64_t end_ns, uint64_t ramp_ns)
{
    static struct hil_node nodes[NODES];
    struct hil_node *list[NODES];
    struct hil_group group = {.nodes = list, .count = NODES};

    hil_clock_calibrate(&clock_of_all);
    if (clock_of_all.refused)
        cr_skip_test("no time-stamp counter: %s", clock_of_all.refused);
    hil_clock_set(&clock_of_all);
    atomic_store(&stop, 0);
    for (unsigned i = 0; i < NODES; i++) {
        states[i] = (struct hil_node_state){.place = i < FIRST_ROW ? i : i - FIRST_ROW};
        nodes[i] = (struct hil_node){
            .state = &states[i],
            .loop = {.timing = {.period_ns = PERIOD_NS, .overrun = overrun},
                     .step = note_step,
                     .arg = &nodes[i].loop,
                     .state = &states[i] - states[i].place,
                     .worst = &worst,
                     .node = i,
                     .tap = &taps[i],
                     .ramp_ns = ramp_ns,
                     .end_ns = end_ns},
        };
        list[i] = &nodes[i];
    }
    struct hil_executor e = {.clock = clock_of_all,
                             .stop = &stop,
                             .heartbeat = &heartbeat,
                             .start_ns = hil_clock_now(&clock_of_all) + PERIOD_NS};
    cr_assert_eq(hil_batches_gather(&e, &group), 0);
    cr_assert_eq(e.count, 2);
    const int rc = hil_executor_run(&e);
    free(e.batches);
    for (unsigned i = 0; i < NODES; i++)
        loops[i] = nodes[i].loop;
    return rc;
}

Test(node_batches, begin_at_one_time_and_are_counted_once)
{
    cr_expect_eq(run_batches(HIL_CATCH_UP, STEPS * PERIOD_NS, 0), 0);
    for (unsigned i = 0; i < NODES; i++) {
        const unsigned first = i - states[i].place;
        cr_expect_eq(ran.count[i], ran.count[first]);
        for (unsigned k = 0; k < ran.count[i]; k++)
            cr_expect_eq(ran.begin[i][k], ran.begin[first][k], "node %u, step %u", i, k);
        cr_expect_eq(states[i].steps, i == first ? ran.count[i] : 0);
        cr_expect_eq(states[i].busy.count, i == first ? ran.count[i] : 0);
    }
    cr_expect_eq(states[0].steps + states[0].left_out, STEPS);
}

/* A step of one node delays those of its batch, so all of them have missed it. */
Test(node_batches, miss_steps_together)
{
    ran.slow = true;
    ran.slow_at = 4;
    cr_expect_eq(run_batches(HIL_SKIP, STEPS * PERIOD_NS, 0), 0);
    cr_expect_geq(hil_missed(&states[0]), 5);
    cr_expect_eq(hil_missed(&states[1]), 0, "these are counted at the batch's first node");
    for (unsigned i = 0; i < FIRST_ROW; i++)
        cr_expect_eq(taps[i].missed, hil_missed(&states[0]), "node %u", i);
}

/* Nodes after the slow one begin when it has ended. */
Test(node_batches, are_as_late_as_the_last_of_them)
{
    ran.slow = true;
    ran.stop_at = 4;
    cr_expect_eq(run_batches(HIL_CATCH_UP, MUCH_LATER, 0), -EINTR);
    cr_expect_geq(states[0].late.max, 5 * PERIOD_NS);
    for (unsigned i = 0; i < FIRST_ROW; i++)
        cr_expect_geq(loops[i].late_ns, 5 * PERIOD_NS, "node %u tells so", i);
}

/* When told to stop, each node makes the steps of its ramp, and the last one of them in any case.
 */
Test(node_batches, stop_together)
{
    ran.stop_at = 5;
    cr_expect_eq(run_batches(HIL_CATCH_UP, MUCH_LATER, 3 * PERIOD_NS), -EINTR);
    for (unsigned i = 0; i < NODES; i++) {
        cr_expect_lt(loops[i].end_ns, MUCH_LATER, "node %u was told", i);
        cr_expect_eq(loops[i].end_ns, loops[0].end_ns);
        cr_expect_geq(ran.begin[i][ran.count[i] - 1] + PERIOD_NS, loops[i].end_ns, "node %u", i);
    }
}

/* The nodes before it have made their steps, and have sent what they computed. */
Test(node_batches, count_a_step_that_fails_at_a_later_node)
{
    ran.fails = true;
    ran.fail_at = 4;
    ran.fail_node = 2;
    cr_expect_eq(run_batches(HIL_CATCH_UP, MUCH_LATER, 0), -EDOM);
    cr_expect_eq(ran.count[0], 5);
    cr_expect_eq(states[0].steps, 5);
    cr_expect_eq(states[0].busy.count, 5);
    cr_expect_eq(ran.count[2], 4);
}

Test(node_batches, do_not_count_a_step_that_fails_at_the_first_node)
{
    ran.fails = true;
    ran.fail_at = 4;
    cr_expect_eq(run_batches(HIL_CATCH_UP, MUCH_LATER, 0), -EDOM);
    cr_expect_eq(ran.count[0], 4);
    cr_expect_eq(ran.count[1], 4, "the others do not make it");
    cr_expect_eq(states[0].steps, 4);
}

/* The miss of a failed step's batch would end the run, too. */
Test(node_batches, end_with_the_first_error)
{
    ran.slow = ran.fails = true;
    ran.fail_node = 2;
    cr_expect_eq(run_batches(HIL_HALT, MUCH_LATER, 0), -EDOM);
    cr_expect_eq(states[0].run_late, 1);
}

/* The nodes of one executor may find a run under way at slightly different times. */
Test(node_batches, begin_with_a_step_that_is_the_first_of_none_or_later)
{
    struct hil_node_state of[2] = {{.place = 0}, {.place = 1}};
    struct hil_node nodes[2] = {
        {.state = &of[0], .loop = {.timing = {.period_ns = 10, .phase_ns = 3}, .first = 7}},
        {.state = &of[1], .loop = {.timing = {.period_ns = 10, .phase_ns = 3}, .first = 9}}};
    struct hil_node *list[] = {&nodes[0], &nodes[1]};
    struct hil_group group = {.nodes = list, .count = 2};
    struct hil_executor e = {0};

    cr_assert_eq(hil_batches_gather(&e, &group), 0);
    cr_expect(e.count == 1 && e.batches[0].n == 9 && e.batches[0].at == 93);
    cr_expect(e.batches[0].loop == &nodes[0].loop && nodes[0].loop.beside == &nodes[1].loop);
    free(e.batches);
}

/* --- what they compute ---------------- */

/* Four converters that differ in all that moves them, and do not settle in the run. */
#define FOUR                                                                                       \
    "name: four\n"                                                                                 \
    "duration_s: 0.2\n"                                                                            \
    "nodes: {cell: {count: 4, period_us: 100, overrun: catch_up, catch_up_limit: 0}}\n"            \
    "components: {cell: {model: buck, count: 4, node: 'cell[*]', parameters: {inductance_h: 0.1, " \
    "capacitance_f: 0.1}, "                                                                        \
    "inputs: {duty: [0.2, 0.4, 0.6, 0.8], load_ohm: [1, 2, 3, 4]}, initial: {voltage_v: [4, 3, "   \
    "2, 1]}}}\n"                                                                                   \
    "placement: [{nodes: ['cell[*]']}]\n"

/* Runs the rig's nodes against the clock. */
static void run_by_the_clock(struct rig *rig)
{
    struct hil_executor e = {.stop = &stop, .heartbeat = &heartbeat};

    hil_clock_calibrate(&e.clock);
    if (!e.clock.refused)
        hil_clock_set(&e.clock);
    cr_assert_eq(hil_batches_gather(&e, &rig->group), 0);
    cr_assert_eq(e.count, 1, "all are in one batch");
    e.start_ns = hil_clock_now(&e.clock) + PERIOD_NS;
    cr_expect_eq(hil_executor_run(&e), 0);
    free(e.batches);
}

/* Programs that watch see it, too. */
Test(node_batches, tell_how_late_they_were)
{
    struct rig rig;

    open_rig_of(&rig, load(FOUR, NULL));
    struct hil_node *node = rig.group.nodes[2];
    node->loop.late_ns = 123456789;
    hil_node_report(node, HIL_RUNNING);
    cr_expect_eq(node->state->progress.late_recent_ns, 123456789);
    cr_expect_eq(node->state->progress.late_max_ns, 123456789);
    cr_expect_eq(node->loop.late_ns, 0, "it is told once");
    close_rig(&rig);
}

/* In virtual time each node makes its steps by itself. */
Test(node_batches, compute_what_each_node_computes_by_itself)
{
    struct rig batch, alone;

    open_rig_of(&batch, load(FOUR, NULL));
    open_rig_of(&alone, load(FOUR, SETS("mode=virtual")));
    run_by_the_clock(&batch);
    const uint64_t steps = batch.run.state->nodes[0].steps;
    cr_assert_gt(steps, 1);
    play(&alone, 100 * (steps - 1));
    for (unsigned i = 0; i < 4; i++) {
        const struct step_part *a = part_of(&batch, "cell", i), *b = part_of(&alone, "cell", i);
        for (unsigned k = 0; k < a->config->out_count; k++)
            cr_expect_eq(a->out[k], b->out[k], "cell[%u], output %u: %g, but %g alone", i, k,
                         a->out[k], b->out[k]);
        cr_expect_neq(a->out[0], part_of(&batch, "cell", (i + 1) % 4)->out[0]);
    }
    close_rig(&alone);
    close_rig(&batch);
}

/*
 * A node whose links are split among shards is one node: in virtual time its run is the same to the
 * last bit, whatever happens in it; by the clock it starts, records, counts and ends as one.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(shards, .init = workspace_open, .fini = workspace_close, .timeout = 300);
TestSuite(shards_by_the_clock, ALONE, .init = workspace_open_alone, .fini = workspace_close,
          .timeout = 120);

/* --- in virtual time ---------------- */

static const char *run_split(const char *node, unsigned shards, const char *run)
{
    const char *out = in_workspace("%u", shards);
    struct ended e = run_command("hiloco run %s --mode virtual --quiet --set %s.shards=%u --out %s",
                                 run, node, shards, out);

    cr_assert_leq(e.status, 4, "%s: %s", run, e.err);
    return out;
}

static void expect_same_file(const char *a, const char *b, const char *file)
{
    struct ended e = run_command("cmp %s/%s %s/%s", a, file, b, file);

    cr_expect_eq(e.status, 0, "%s%s", e.out, e.err);
}

/* As it is with one shard. */
static void expect_one(const char *node, const unsigned *shards, unsigned count, const char *run)
{
    char whole[120];

    snprintf(whole, sizeof whole, "%s", run_split(node, 1, run));
    for (unsigned i = 0; i < count; i++) {
        const char *split = run_split(node, shards[i], run);
        expect_same_file(whole, split, "trace.h5");
        expect_same_file(whole, split, "summary.json");
    }
}

#define EXPECT_ONE(node, run, ...)                                                                 \
    expect_one(node, (const unsigned[]){__VA_ARGS__},                                              \
               sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned), run)

/* Messages that were sent in another order would have another jitter. */
#define JITTER "--set network.jitter_us=3 "
#define TWENTY "configs/dcdc20.yaml --set duration_s=0.02 --set " RECORD_CONVERTERS("1") " " JITTER

Test(shards, two_thousand_converters_are_controlled_as_by_one)
{
    EXPECT_ONE(
        "nodes.controller",
        "configs/dcdc20-nominal.yaml --set duration_s=0.001 --set nodes.converter.count=2000 "
        "--set " RECORD_CONVERTERS("20") " " JITTER,
        2);
    cr_expect_eq(column_of(in_workspace("2"), "controller/voltage_v").width, 2000);
}

Test(shards, any_number_of_them_does_the_same)
{
    EXPECT_ONE("nodes.controller", TWENTY, 2, 3, 7, 20);
}

Test(shards, without_a_computation_delay)
{
    EXPECT_ONE("nodes.controller", TWENTY "--set components.control.computation_delay=false ", 3);
}

/* Links that lose and delay messages; converters that die, stand still and fail; inputs that are
 * lost, stale, too old and no numbers. Each is an event, and the record has them in order. */
#define FAULTS                                                                                     \
    "on_lost: restart\n"                                                                           \
    "faults:\n"                                                                                    \
    "  lossy:\n"                                                                                   \
    "    {from: 'converter[*]', to: controller, kind: loss, probability: 0.2, seed: 3,\n"          \
    "     at_s: 0.002}\n"                                                                          \
    "  late:\n"                                                                                    \
    "    {from: controller, to: 'converter[3-17]', kind: delay, delay_us: 80, at_s: 0.004,\n"      \
    "     duration_s: 0.004}\n"                                                                    \
    "  dead: {nodes: 'converter[5-8]', kind: restart, at_s: 0.008, duration_s: 0.003}\n"           \
    "  still: {nodes: 'converter[11]', kind: stall, at_s: 0.012, duration_s: 0.003}\n"             \
    "  broken:\n"                                                                                  \
    "    {signal: 'converter[13].voltage_v', kind: gain, factor: 1e308, at_s: 0.015,\n"            \
    "     duration_s: 0.002}\n"

static const char *scenario_with(const char *file, const char *more)
{
    static char path[200];
    char *text = read_text(file), *all;

    cr_assert_geq(asprintf(&all, "%s%s", text, more), 0);
    snprintf(path, sizeof path, "%s", in_workspace("faulted.yaml"));
    write_text(path, all);
    free(all);
    free(text);
    return path;
}

Test(shards, with_faults_on_both_sides)
{
    static const char *const events[] = {"safe", "stale", "lost", "back", "old", "new", "failed"};
    char run[1000], event[80];

    snprintf(
        run, sizeof run,
        "%s --set duration_s=0.02 --set validity.required=false " JITTER
        "--set connections.0.age_limit_us=60 --set connections.0.on_old=safe "
        "--set nodes.controller.input_age_limit_us=500 --set nodes.controller.on_stale_input=safe "
        "--set " SAFE_CONTROL("0.07") " --set " SAFE_CONVERTER(
            "0.07") " --set components.converter.on_error=safe",
        scenario_with("configs/dcdc20.yaml", FAULTS));
    EXPECT_ONE("nodes.controller", run, 2, 3, 20);
    json_t *summary = summary_of(in_workspace("3"));
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        snprintf(event, sizeof event, "recorder.events.%s", events[i]);
        cr_expect_gt(number_at(summary, event), 0, "%s", event);
    }
    cr_expect_gt(number_at(summary, "bad_inputs.count"), 0);
}

/* It is opened anew, with its shards. */
Test(shards, of_a_node_that_dies_and_comes_back)
{
    static const char dies[] = "on_lost: restart\n"
                               "faults:\n"
                               "  dead: {nodes: speed, kind: restart, at_s: 0.02, duration_s: "
                               "0.01}\n";
    char run[400];

    snprintf(run, sizeof run, "%s --set duration_s=0.05 --set validity.required=false " JITTER,
             scenario_with("configs/servo.yaml", dies));
    EXPECT_ONE("nodes.speed", run, 2);
    json_t *summary = summary_of(in_workspace("2"));
    cr_expect_gt(number_at(summary, "recorder.events.lost"), 0);
    cr_expect_gt(number_at(summary, "recorder.events.back"), 0);
}

Test(shards, with_a_ramp_at_the_end)
{
    EXPECT_ONE("nodes.controller",
               TWENTY "--set " SAFE_CONTROL("0.02") " --set " SAFE_CONVERTER(
                   "0.02") " --set stop_ramp_s=0.004 --set tuning=true ",
               3);
}

/* The first two peers of the drive are in different arrays of nodes. */
Test(shards, of_a_node_that_simulates)
{
    EXPECT_ONE("nodes.drive", "configs/servo.yaml --set duration_s=0.05 " JITTER, 2);
}

/* --- by the clock ---------------- */

/* Programs started by hand do not ask for more cores than each of them needs. */
#define BY_HAND                                                                                    \
    "configs/dcdc20-nominal.yaml --set name=%s --set nodes.controller.cpu=-1 "                     \
    "--set nodes.converter.cpu=-1 --set nodes.controller.priority=0 --set "                        \
    "nodes.converter.priority=0 "                                                                  \
    "--set nodes.controller.shards=2 --set nodes.controller.wait=hybrid --set "                    \
    "nodes.converter.wait=hybrid "                                                                 \
    "--set nodes.controller.period_us=10000 --set nodes.converter.period_us=5000 "                 \
    "--set validity.required=false --set tcp.port=%u %s"

static void need_two_cores(void)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        cr_skip_test("two threads that wait for each other need two cores");
}

struct pair {
    struct process controller, converters;
};

static struct process start_converters(unsigned port, const char *options)
{
    struct arguments a = command("converter " BY_HAND " --id 0-19", own_name(), port, options);

    return start(&a);
}

static struct pair start_pair(unsigned port, const char *options)
{
    struct arguments controller =
        command("controller " BY_HAND " --out %s", own_name(), port, options, in_workspace("out"));

    return (struct pair){.converters = start_converters(port, options),
                         .controller = start(&controller)};
}

static void expect_ran_as_one(unsigned port, const char *options)
{
    struct pair p = start_pair(port, options);
    struct ended controller = finish(&p.controller), converters = finish(&p.converters);

    expect_ran(&controller);
    expect_ran(&converters);
    json_t *summary = summary_of(in_workspace("out"));
    const double steps = number_at(summary, "nodes.controller.steps");
    cr_expect_gt(steps, 0);
    const struct column voltages = column_of(in_workspace("out"), "controller/voltage_v");
    cr_assert_eq(voltages.width, 20);
    cr_expect_leq((double)voltages.rows, steps);
    for (unsigned i = 0; i < 20; i++) /* half of them came to the second thread */
        cr_expect_gt(voltages.at[(voltages.rows - 1) * 20 + i], 0, "converter %u", i);
}

Test(shards_by_the_clock, run_as_one_node_on_shm)
{
    need_two_cores();
    expect_ran_as_one(18700, "--set duration_s=0.5");
}

Test(shards_by_the_clock, run_as_one_node_on_tcp)
{
    need_two_cores();
    expect_ran_as_one(23450, "--set duration_s=0.5 --set fabric=tcp");
}

/* Kills one of the pair; the other ends, and says whom it has lost. */
static void expect_other_ends(struct pair *p, struct process *killed, struct process *other,
                              const char *lost)
{
    cr_assert(wait_until(is_running, &p->controller, 60));
    kill(killed->pid, SIGKILL);
    struct ended ends = finish(other), dead = finish(killed);

    expect_status(&ends, 1);
    expect_said(&ends, lost);
    expect_status(&dead, 128 + SIGKILL);
}

Test(shards_by_the_clock, end_as_one_when_their_peers_die)
{
    need_two_cores();
    struct pair p = start_pair(18700, "--set duration_s=100");

    expect_other_ends(&p, &p.converters, &p.controller, "lost converter[");
}

Test(shards_by_the_clock, die_as_one)
{
    need_two_cores();
    struct pair p = start_pair(18700, "--set duration_s=100");

    expect_other_ends(&p, &p.controller, &p.converters, "lost controller");
}

/* While it waits asleep, too: hybrid. */
Test(shards_by_the_clock, end_in_order_when_told)
{
    need_two_cores();
    struct pair p = start_pair(18700, "--set duration_s=100");

    cr_assert(wait_until(is_running, &p.controller, 60));
    kill(p.controller.pid, SIGTERM);
    struct ended controller = finish(&p.controller);
    expect_status(&controller, 130);
    json_t *summary = summary_of(in_workspace("out"));
    cr_expect_gt(number_at(summary, "nodes.controller.steps"), 0);
    cr_expect_lt(number_at(summary, "elapsed_s"), 100);
    kill(p.converters.pid, SIGTERM);
    finish(&p.converters);
}

/* So long that both shards have heard of all of them. */
static bool made_steps(void *converters)
{
    return last_steps_of(converters) > 100;
}

/* Each shard does so with its own. */
Test(shards_by_the_clock, take_peers_back_that_died)
{
    static const char options[] = "--set duration_s=100 --set on_lost=restart";

    need_two_cores();
    struct pair p = start_pair(18700, options);
    cr_assert(wait_until(is_running, &p.controller, 60));
    kill(p.converters.pid, SIGKILL);
    finish(&p.converters);
    p.converters = start_converters(18700, options);
    cr_assert(wait_until(made_steps, &p.converters, 60));
    kill(p.controller.pid, SIGTERM);
    struct ended controller = finish(&p.controller);
    expect_status(&controller, 130);
    json_t *losses = json_at(summary_of(in_workspace("out")), "losses");
    cr_expect_eq(number_at(losses, "lost"), 20);
    cr_expect_eq(number_at(losses, "back"), 20);
    kill(p.converters.pid, SIGTERM);
    finish(&p.converters);
}

/* --- what is refused ---------------- */

Test(shards, more_threads_than_cores_are_refused)
{
    struct ended e =
        run_command("hiloco run configs/dcdc20-nominal.yaml --mode realtime --set "
                    "nodes.converter.count=64 --set nodes.controller.shards=%ld --out %s",
                    sysconf(_SC_NPROCESSORS_ONLN), in_workspace("out"));

    if (sysconf(_SC_NPROCESSORS_ONLN) == 1)
        cr_skip_test("one shard is none");
    expect_status(&e, 2);
    expect_said(&e, "a core for each executor and each further shard: 2 executors");
    cr_expect_not(exists(in_workspace("out")));
}

Test(shards, two_on_one_core_are_refused)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) < 3)
        cr_skip_test("a controller of two threads and its converters need three cores");
    struct ended e =
        run_command("hiloco run configs/dcdc20-nominal.yaml --mode realtime "
                    "--set nodes.controller.shards=2 --set nodes.controller.shard_cpus=[1] "
                    "--set nodes.controller.cpu=0 --set nodes.converter.cpu=1 --out %s",
                    in_workspace("out"));

    expect_status(&e, 2);
    expect_said(&e, "two executors or shards are placed on cpu 1");
}

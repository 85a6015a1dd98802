/*
 * A traced run in real time: what LTTng leaves of it, and what `hiloco trace` makes of that. Here
 * too nothing depends on how fast anything was.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "channels/trace_internal.h"
#include "harness/base/tool.h"
#include "harness/tracing/provider.h"
#include "harness/tracing/session.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

/* Whoever traces something else on this machine has a session daemon that is not ours. */
static bool daemon_runs(void)
{
    char said[4096];

    return hil_tool_run(NULL, (char *[]){"lttng", "--no-sessiond", "list", NULL}, 10, said,
                        sizeof said) == 0;
}

static bool daemon_before;

static void open_tracing(void)
{
    workspace_open_for_real_time();
    if (access("/usr/bin/lttng", X_OK) || access("/usr/bin/babeltrace2", X_OK))
        cr_skip_test("lttng-tools or babeltrace2 is not installed");
    daemon_before = daemon_runs();
}

static void expect_no_daemon_left(void)
{
    cr_expect_eq(daemon_runs(), daemon_before, "a session daemon was left");
}

TestSuite(tracing, ALONE, .init = open_tracing, .fini = workspace_close);

/* Slow loops, that a busy machine can keep. */
#define SLOW                                                                                       \
    "hiloco run configs/dcdc20-nominal.yaml --mode realtime --set duration_s=0.2 "                 \
    "--set nodes.converter.count=2 --set nodes.controller.period_us=400 --set "                    \
    "nodes.converter.period_us=200 "

/* Loops that leave the cores to others, such as LTTng's daemon. */
#define SHARED                                                                                     \
    "--set nodes.controller.wait=hybrid --set nodes.converter.wait=hybrid --set "                  \
    "nodes.controller.priority=0 "                                                                 \
    "--set nodes.converter.priority=0 "

/* --- what babeltrace2 reads ------------------------------------------------------------------- */

static char *trace_text(const char *out)
{
    struct ended e = run_command("babeltrace2 %s/ctf", out);

    expect_status(&e, 0);
    return e.out;
}

static double count_of(const char *text, const char *what)
{
    double count = 0;

    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        count++;
    return count;
}

/* The pushes of a link's channel: the trace says which that is. */
static double pushes_by(const char *text, unsigned link)
{
    char of[80], push[200];

    snprintf(of, sizeof of, "hiloco:link: { cpu_id = 0 }, { link = %u,", link);
    const char *said = strstr(text, of);
    of[strlen("hiloco:link: { cpu_id = ")] = '1';
    said = said ? said : strstr(text, of);
    cr_assert(said, "nobody says what link %u is", link);
    const char *channel = strstr(said, "channel = ");
    snprintf(push, sizeof push, "%.*s, size =", (int)strcspn(channel, "}") - 1, channel);
    return count_of(text, push);
}

static double lost_of(json_t *summary)
{
    return number_at(summary, "trace.lost");
}

Test(tracing, a_run_leaves_its_events)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(SLOW "--trace --set trace.events.push=true --out %s", out);
    json_t *summary = summary_of(out);
    double steps = number_at(summary, "nodes.controller.steps");
    double converter_steps = number_at(summary, "nodes.converter.steps");
    char *text = trace_text(out);

    expect_ran(&e);
    expect_no_daemon_left();
    cr_assert_eq(lost_of(summary), 0);
    cr_expect_eq(converter_steps + number_at(summary, "nodes.converter.left_out"), 2 * 1000);
    /* Both converters are a row. */
    cr_expect_eq(count_of(text, "hiloco:loop_step"), steps + converter_steps / 2);
    cr_expect_eq(pushes_by(text, 3),
                 number_at(json_array_get(json_at(summary, "nodes.converter.each"), 1), "steps"));
    cr_expect_eq(pushes_by(text, 0), steps - 1); /* one step late */
    for (unsigned node = 0; node < 3; node++) {
        char of[80];
        snprintf(of, sizeof of, "hiloco:peer_join: { cpu_id = 0 }, { node = %u", node);
        double joins = count_of(text, of);
        of[strlen("hiloco:peer_join: { cpu_id = ")] = '1';
        cr_expect_gt(joins + count_of(text, of), 0, "node %u met nobody", node);
    }
    cr_expect_eq(count_of(text, "stage = ( \"run\""), 3);
    cr_expect_eq(count_of(text, "stage = ( \"stopped\""), 3);
    cr_expect_geq(count_of(text, "hiloco:barrier_leave"), 6);
    cr_expect_eq(count_of(text, "hiloco:barrier_enter"), count_of(text, "hiloco:barrier_leave"));
    cr_expect_gt(count_of(text, "hiloco:fence"), 0);
    cr_expect_gt(count_of(text, "newer = [ [0] = 2, [1] = "), 0);
    cr_expect_gt(count_of(text, "newer = [ [0] = 0, [1] = "), 0);
}

/* What the numbers in a trace mean is in it. */
Test(tracing, a_trace_says_what_its_numbers_mean)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(SLOW "--trace --out %s", out);
    char *text = trace_text(out);

    expect_ran(&e);
    cr_expect_eq(count_of(text, "{ node = 0, name = \"controller\", array = \"controller\", "
                                "period_ns = 400000 }"),
                 1);
    cr_expect_eq(count_of(text, "{ node = 2, name = \"converter[1]\", array = \"converter\", "
                                "period_ns = 200000 }"),
                 1);
    cr_expect_eq(count_of(text, "{ link = 1, from = 0, to = 2, back = 3, late = 0, channel = "), 1);
    cr_expect_eq(count_of(text, "{ link = 3, from = 2, to = 0, back = 1, late = 0, channel = "), 1);
    cr_expect_eq(count_of(text, "hiloco:link:"), 4);
}

Test(tracing, only_the_chosen_events)
{
    const char *out = in_workspace("out");
    struct ended e =
        run_command(SLOW "--set trace.enable=true --set trace.events.round_trip=false "
                         "--set trace.events.state=false --set trace.kernel=false --out %s",
                    out);
    json_t *summary = summary_of(out);
    char *text = trace_text(out);

    expect_ran(&e);
    cr_expect_eq(count_of(text, "hiloco:state"), 0);
    cr_expect_eq(count_of(text, "hiloco:push"), 0);
    cr_expect_gt(count_of(text, "hiloco:loop_step"), 0);
    cr_expect_eq(count_of(text, "newer = [ ]"), count_of(text, "hiloco:loop_step"));
    cr_expect_str_eq(json_string_value(json_at(summary, "trace.kernel")), "not asked for");
    cr_expect_not(exists(in_workspace("out/kernel.txt")));
}

/* "Results are replaced as a whole": the trace, and all that is made of it, belongs to them. */
Test(tracing, another_run_replaces_a_traced_one)
{
    const char *out = in_workspace("out");
    struct ended first = run_command(SLOW "--trace --out %s", out);
    struct ended analysis = run_command("hiloco trace %s", out);

    expect_ran(&first);
    expect_status(&analysis, 0);
    cr_assert(exists(in_workspace("out/ctf")) && exists(in_workspace("out/trace.json")));
    struct ended second = run_command(SLOW "--out %s", out);
    expect_ran(&second);
    cr_expect_not(exists(in_workspace("out/ctf")) || exists(in_workspace("out/trace.json")) ||
                  exists(in_workspace("out/kernel.txt")) || exists(in_workspace("out/plot")));
}

static json_t *analysis_of(const char *out)
{
    struct ended e = run_command("hiloco trace %s", out);
    char path[400];
    json_error_t error;

    expect_status(&e, 0);
    cr_expect(strstr(e.out, "round trip"), "%s", e.out);
    snprintf(path, sizeof path, "%s/trace.json", out);
    json_t *root = json_load_file(path, 0, &error);
    cr_assert_not_null(root, "%s: %s", path, error.text);
    return root;
}

/* --- the flight recorder ---------------------------------------------------------------------- */

/* How many folders of the trace have this beginning. */
static double saved_for(const char *out, const char *why)
{
    struct ended e = run_command("find %s/ctf -maxdepth 1 -name %s-*", out, why);

    expect_status(&e, 0);
    return count_of(e.out, "/ctf/");
}

/* Events are saved at the fault and at the end, but each is read once. */
Test(tracing, the_newest_events_are_saved_at_a_fault)
{
    const char *out = in_workspace("out");
    char *base = read_text("configs/dcdc20-nominal.yaml"), text[8000];

    snprintf(text, sizeof text,
             "%s\nfaults: {sensor: {signal: \"control[0].voltage_v\", kind: bias, value: 0.1, "
             "at_s: 0.05, duration_s: 0.01}}\n",
             base);
    write_text(in_workspace("faulty.yaml"), text);
    struct ended e =
        run_command("hiloco run %s --mode realtime --set duration_s=0.5 "
                    "--set nodes.converter.count=2 --set nodes.controller.period_us=400 "
                    "--set nodes.converter.period_us=200 --trace --out %s",
                    in_workspace("faulty.yaml"), out);
    json_t *summary = summary_of(out);

    expect_ran(&e);
    cr_expect_eq(saved_for(out, "fault"), 1);
    cr_expect_eq(saved_for(out, "end"), 1);
    cr_expect_str_eq(json_string_value(json_at(summary, "trace.keep")), "recent");
    cr_expect_geq(number_at(summary, "trace.saved"), 2);
    cr_expect(strstr(e.out, "the newest events, saved "), "%s", e.out);
    json_t *analysis = analysis_of(out);
    cr_expect_eq(number_at(analysis, "nodes.controller.steps"),
                 number_at(summary, "nodes.controller.steps"));
    free(base);
}

/* Old events give way, but what the numbers mean stays known. */
Test(tracing, only_the_newest_events_are_kept)
{
    const char *out = in_workspace("out");
    struct ended e =
        run_command("hiloco run configs/dcdc20-nominal.yaml --mode realtime --set duration_s=0.3 "
                    "--trace --set trace.buffer_kib=64 --out %s",
                    out);
    json_t *summary = summary_of(out), *analysis = analysis_of(out);
    const char *const steps = "nodes.converter.steps";

    expect_ran(&e);
    cr_expect_lt(number_at(analysis, steps), number_at(summary, steps));
    cr_expect_gt(number_at(analysis, steps), 0);
}

Test(tracing, the_newest_events_are_saved_when_somebody_asks)
{
    const char *out = in_workspace("out");
    struct arguments a = command(SLOW SHARED "--set duration_s=60 --trace --out %s", out);
    struct process p = start(&a);

    cr_expect(wait_until(is_running, &p, 30));
    struct ended asked = run_command("hiloco trace %s --snapshot", out);
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&asked, 0);
    cr_expect(strstr(asked.out, "saved in "), "%s", asked.out);
    expect_status(&e, 130);
    cr_expect_eq(saved_for(out, "asked"), 1);
    asked = run_command("hiloco trace %s --snapshot", out);
    expect_status(&asked, 1);
    expect_said(&asked, "has ended");
}

Test(tracing, a_run_that_keeps_no_newest_events_says_so)
{
    struct arguments a = command(SLOW "--set duration_s=60 --out %s", in_workspace("out"));
    struct process p = start(&a);

    cr_expect(wait_until(is_running, &p, 30));
    struct ended asked = run_command("hiloco trace %s --snapshot", in_workspace("out"));
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&asked, 1);
    expect_said(&asked, "start it with hiloco run --trace");
    expect_status(&e, 130);
}

/* Of ten spans of 10 ms the first is traced, and the other ten after it are not. */
Test(tracing, steps_are_sampled)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(SLOW "--trace --trace-every 10 --set validity.required=false "
                                      "--set trace.events.miss=false --out %s",
                                 out);
    json_t *summary = summary_of(out), *analysis = analysis_of(out);
    const double missed = number_at(summary, "nodes.controller.missed");

    expect_ran(&e);
    cr_expect_geq(number_at(analysis, "nodes.controller.steps"), 50 - missed);
    cr_expect_leq(number_at(analysis, "nodes.controller.steps"), 50 + missed);
}

Test(tracing, of_a_trace_all_may_be_kept_and_nothing_else)
{
    struct ended e = run_command(SLOW "--trace=some --out %s", in_workspace("out"));

    expect_status(&e, 2);
    expect_said(&e, "--trace=some: --trace or --trace=all is allowed");
}

/* --- what hiloco trace makes of it ------------------------------------------------------------ */

/* The same values went into the same kind of histogram. */
static void expect_same(json_t *summary, const char *there, json_t *analysis, const char *here)
{
    static const char *const percentiles[] = {"p50", "p99", "p999", "max"};

    for (int i = 0; i < 4; i++) {
        char a[80], b[80];
        snprintf(a, sizeof a, "%s.%s", there, percentiles[i]);
        snprintf(b, sizeof b, "%s.%s", here, percentiles[i]);
        double x = number_at(summary, a), y = number_at(analysis, b);
        cr_expect(fabs(x - y) <= 0.01 * x + 1e-6, "%s %g, %s %g", a, x, b, y);
    }
}

static double greatest_of(const json_t *points)
{
    double greatest = 0;
    size_t i;
    json_t *point;

    json_array_foreach(points, i, point)
    {
        const double value = json_number_value(json_array_get(point, 1));
        greatest = value > greatest ? value : greatest;
    }
    return greatest;
}

/* The greatest time in any moment is the greatest of all. */
static void expect_course(json_t *analysis, unsigned array, const char *nodes, const char *time)
{
    json_t *over = json_array_get(json_at(analysis, "over_time"), array);
    char path[80];

    cr_assert_str_eq(json_string_value(json_at(over, "nodes")), nodes);
    snprintf(path, sizeof path, "nodes.%.*s.%s.max", (int)strcspn(nodes, "["), nodes, time);
    cr_expect_float_eq(greatest_of(json_at(over, time)), number_at(analysis, path), 0.001, "%s",
                       path);
}

Test(tracing, the_analysis_agrees_with_the_summary)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(SLOW "--trace --out %s", out);
    json_t *summary = summary_of(out), *analysis = analysis_of(out);

    expect_ran(&e);
    cr_assert_eq(lost_of(summary), 0);
    cr_expect_eq(number_at(analysis, "lost"), 0);
    expect_same(summary, "nodes.controller.late_us", analysis, "nodes.controller.late_us");
    expect_same(summary, "nodes.controller.step_us", analysis, "nodes.controller.step_us");
    expect_same(summary, "nodes.converter.late_us", analysis, "nodes.converter.late_us");
    expect_same(summary, "nodes.converter.step_us", analysis, "nodes.converter.step_us");
    expect_same(summary, "links.0.age_us", analysis, "nodes.converter.input_age_us");
    expect_same(summary, "links.1.age_us", analysis, "nodes.controller.input_age_us");
    expect_course(analysis, 0, "controller", "late_us");
    expect_course(analysis, 0, "controller", "step_us");
    expect_course(analysis, 1, "converter[*]", "late_us");
    json_t *round = json_array_get(json_at(analysis, "round_trips"), 0);
    expect_same(summary, "links.1.round_trip_us", round, "round_trip_us");
    cr_expect_str_eq(json_string_value(json_at(round, "asker")), "controller");
    cr_expect_str_eq(json_string_value(json_at(round, "answerer")), "converter[*]");
    cr_expect_eq(number_at(analysis, "nodes.controller.run_late") +
                     number_at(analysis, "nodes.controller.left_out"),
                 number_at(summary, "nodes.controller.missed"));
    cr_expect_gt(number_at(round, "rounds"), 0);
    json_t *second = json_array_get(json_at(analysis, "nodes.converter.each"), 1);
    cr_expect_str_eq(json_string_value(json_at(second, "node")), "converter[1]");
    cr_expect_gt(number_at(second, "steps"), 0);
    e = run_command("hiloco plot %s --to %s", out, in_workspace("plotted"));
    expect_status(&e, 0);
    cr_expect(exists(in_workspace("plotted/trace-time.png")), "%s", e.err);
    cr_expect(exists(in_workspace("plotted/output.png")), "%s", e.err);
    for (int i = 0; i < 3; i++) {
        static const char *const figures[] = {"trace-time", "trace-histogram", "trace-tail"};
        cr_expect(exists(in_workspace("out/%s.png", figures[i])));
        cr_expect(exists(in_workspace("out/%s.svg", figures[i])));
    }
}

/* A process that joins by hiloco_node.h tells its steps as the launcher's do. */
Test(tracing, a_process_that_joins_is_traced)
{
    char *example = read_text("docs/examples/node/bench.yaml"), text[4000];
    const char *out = in_workspace("out");

    snprintf(text, sizeof text, "name: %s\nduration_s: 1\ntrace: {enable: true}\n%s", own_name(),
             strstr(example, "nodes:"));
    write_text(in_workspace("bench.yaml"), text);
    struct arguments a = command("hiloco run %s --out %s", in_workspace("bench.yaml"), out);
    struct process launcher = start(&a);
    struct ended bench =
        run_command("%s %s", program_path("node-bench"), in_workspace("bench.yaml"));
    struct ended e = finish(&launcher);

    expect_ran(&e);
    expect_status(&bench, 0);
    cr_expect_null(strstr(bench.err, "not traced"), "%s", bench.err);
    json_t *analysis = analysis_of(out);
    cr_expect_gt(number_at(analysis, "nodes.control.steps"), 0);
    cr_expect_gt(number_at(analysis, "nodes.bench.steps"), 0);
    free(example);
}

/* A run beside it, whose nodes have the same numbers. */
Test(tracing, a_process_that_joins_is_traced_without_other_runs)
{
    char *example = read_text("docs/examples/node/bench.yaml"), text[4000];
    const char *out = in_workspace("out");
    struct arguments other =
        command("hiloco run configs/quickstart.yaml --mode realtime --set duration_s=600 --trace "
                "--set nodes.controller.period_us=1000 --set nodes.converter.period_us=1000 " SHARED
                "--out %s",
                in_workspace("other"));
    struct process beside = start(&other);

    cr_assert(wait_until(is_running, &beside, 60), "it does not begin");
    snprintf(text, sizeof text, "name: %s\nduration_s: 1\ntrace: {enable: true}\n%s", own_name(),
             strstr(example, "nodes:"));
    write_text(in_workspace("bench.yaml"), text);
    struct arguments a = command("hiloco run %s --out %s", in_workspace("bench.yaml"), out);
    struct process launcher = start(&a);
    struct ended bench =
        run_command("%s %s", program_path("node-bench"), in_workspace("bench.yaml"));
    struct ended e = finish(&launcher);

    kill(beside.pid, SIGINT);
    finish(&beside);
    expect_ran(&e);
    expect_status(&bench, 0);
    json_t *summary = summary_of(out), *analysis = analysis_of(out);
    cr_expect_gt(number_at(analysis, "nodes.control.steps"), 0);
    cr_expect_gt(number_at(analysis, "nodes.bench.steps"), 0);
    cr_expect_leq(number_at(analysis, "nodes.control.steps"),
                  number_at(summary, "nodes.control.steps"));
    free(example);
}

/* LTTng makes a buffer for each core of the machine. */
Test(tracing, the_default_buffers_have_a_bound_in_all)
{
    cr_expect_eq(hil_session_buffer_kib(0, 65536, 262144, 2), 65536u);
    cr_expect_eq(hil_session_buffer_kib(0, 65536, 262144, 4), 65536u);
    cr_expect_eq(hil_session_buffer_kib(0, 65536, 262144, 5), 32768u);
    cr_expect_eq(hil_session_buffer_kib(0, 65536, 262144, 128), 2048u);
    cr_expect_eq(hil_session_buffer_kib(0, 65536, 262144, 1000000), 32u);
    cr_expect_eq(hil_session_buffer_kib(65536, 65536, 262144, 128), 65536u);
}

/* However the folder where they meet is written. */
Test(tracing, a_run_is_known_by_the_folder_where_its_nodes_meet)
{
    char whole[PATH_MAX], here[PATH_MAX + 8];

    cr_assert(realpath(".", whole));
    snprintf(here, sizeof here, "%s/place", whole);
    cr_expect_eq(hil_session_run("place"), hil_session_run(here));
    cr_expect_eq(hil_session_run("./place"), hil_session_run(here));
    cr_expect_neq(hil_session_run("tests/place"), hil_session_run(here));
    cr_expect_neq(hil_session_run("place2"), hil_session_run(here));
    cr_expect_eq(hil_session_run("/tmp"), hil_session_run("//tmp"));
}

Test(tracing, lost_events_are_counted)
{
    const char *out = in_workspace("out");
    struct ended e =
        run_command("hiloco run configs/dcdc20-nominal.yaml --mode realtime --set duration_s=0.1 "
                    "--trace=all --set trace.buffer_kib=32 --out %s",
                    out);
    json_t *summary = summary_of(out), *analysis = analysis_of(out);
    double steps = number_at(summary, "nodes.converter.steps");

    expect_ran(&e);
    cr_expect_gt(lost_of(summary), 0);
    cr_expect_eq(number_at(analysis, "lost"), lost_of(summary));
    cr_expect_lt(number_at(analysis, "nodes.converter.steps"), steps);
    cr_expect_geq(number_at(analysis, "events") + lost_of(summary), steps * 3 / 20); /* 3 rows */
    cr_expect(strstr(e.out, "events lost"), "%s", e.out);
}

/* --- who it was ------------------------------------------------------------------------------- */

Test(tracing, a_miss_names_its_intruder)
{
    const char *out = in_workspace("out"), *who;
    pid_t hog = start_hog(0);
    struct ended e = run_command(SLOW "--set nodes.controller.cpu=0 --set nodes.converter.cpu=1 "
                                      "--trace --out %s",
                                 out);
    json_t *summary = summary_of(out), *count;
    bool named = false;

    kill(hog, SIGKILL);
    waitpid(hog, NULL, 0);
    expect_ran(&e);
    if (strcmp(json_string_value(json_at(summary, "trace.kernel")), "tracefs") != 0 || geteuid())
        cr_skip_test("no kernel events here");
    json_t *intruders = json_at(analysis_of(out), "intruders");
    json_object_foreach(intruders, who, count)
    {
        named |= strstr(who, "the [hog] =1") != NULL;
    }
    cr_expect(named, "the hog is not among the intruders");
}

/* --- events of a process of the test's own ---------------------------------------------------- */

/* Has `body` done in another process, once the session has begun: it has that one's events alone,
 * whatever else runs on this machine. */
static pid_t start_traced(struct hil_session *session, void (*body)(void))
{
    char why[256], word = '!';
    int begun[2];

    cr_assert_eq(pipe(begun), 0);
    pid_t loops = fork();
    if (loops == 0) {
        if (hil_provider_load(0, why, sizeof why) || read(begun[0], &word, 1) != 1)
            _exit(2);
        body();
        _exit(0);
    }
    cr_assert_eq(hil_session_start(session, &loops, 1), 0);
    cr_assert_eq(write(begun[1], &word, 1), 1);
    close(begun[0]);
    close(begun[1]);
    return loops;
}

/* --- nodes of any name ------------------------------------------------------------------------ */

static void say_link(uint32_t link, uint32_t from, uint32_t to, int32_t back, const char *channel)
{
    HIL_TRACE(link, &(struct hil_traced_link){link, from, to, back, false, channel});
}

/* A step of `nodes` nodes in a row, each of which finds a newer message: of `link` and those after
 * it. */
static void say_step(uint32_t node, unsigned nodes, uint32_t link, uint64_t step, uint64_t acted_on)
{
    struct hil_traced_step said = {.node = node, .step = step, .duration_ns = 10, .nodes = nodes};

    for (unsigned i = 0; i < nodes; i++)
        said.ages_ns[i] = HIL_NO_AGE;
    for (unsigned i = 0; i < 2 && (i < nodes || node == 0); i++)
        hil_trace_newer(&said, link + i, step, acted_on);
    HIL_TRACE(step, &said);
}

/* A cascade: the outer loop asks two drives, the drives answer, and one of them tells a brake,
 * which answers nobody. */
static void trace_a_cascade(void)
{
    HIL_TRACE(node, &(struct hil_traced_node){0, "outer", "outer", 100000});
    HIL_TRACE(node, &(struct hil_traced_node){1, "drive[0]", "drive", 10000});
    HIL_TRACE(node, &(struct hil_traced_node){2, "drive[1]", "drive", 10000});
    HIL_TRACE(node, &(struct hil_traced_node){3, "brake", "brake", 10000});
    say_link(0, 0, 1, 2, "links/0-1");
    say_link(1, 0, 2, 3, "links/0-2");
    say_link(2, 1, 0, 0, "links/1-0");
    say_link(3, 2, 0, 1, "links/2-0");
    say_link(4, 1, 3, -1, "links/1-3");
    for (uint64_t step = 1; step <= 101; step++) {
        say_step(0, 1, 2, step, step - 1);
        say_step(1, 2, 0, step, 0);
        say_step(3, 1, 4, step, 0);
    }
}

Test(tracing, the_analysis_goes_by_the_names_that_it_is_told)
{
    const struct hil_scenario scenario = {
        .trace = {.keep = HIL_KEEP_ALL, .buffer_kib = 4096, .events = {.step = true}}};
    struct hil_session *session;
    struct hil_traced traced;
    int status;

    cr_assert_eq(hil_session_open(&session, &scenario, workspace, NULL), 0);
    waitpid(start_traced(session, trace_a_cascade), &status, 0);
    cr_expect_eq(hil_session_stop(session, &traced), 0);
    hil_session_close(session);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);

    json_t *analysis = analysis_of(workspace), *trips = json_at(analysis, "round_trips");
    cr_assert_eq(json_array_size(trips), 1);
    json_t *trip = json_array_get(trips, 0);
    cr_expect_str_eq(json_string_value(json_at(trip, "asker")), "outer");
    cr_expect_str_eq(json_string_value(json_at(trip, "answerer")), "drive[*]");
    cr_expect_eq(number_at(trip, "rounds"), 2 * 99); /* the last answer has no message after it */
    cr_expect_eq(number_at(trip, "incomplete"), 0);
    cr_expect_eq(number_at(analysis, "nodes.drive.count"), 2);
    cr_expect_eq(number_at(analysis, "nodes.drive.steps"), 202);
    cr_expect_eq(number_at(analysis, "nodes.brake.steps"), 101);
    cr_expect_eq(number_at(analysis, "nodes.outer.steps"), 101);
    struct ended e = run_command("hiloco trace %s", workspace);
    cr_expect(strstr(e.out, "round trip outer -> drive[*] -> outer: 198 rounds"), "%s", e.out);
    cr_expect(strstr(e.out, "\n  drive wait "), "%s", e.out);
    cr_expect(strstr(e.out, "\n  outer step "), "%s", e.out);
    cr_expect(strstr(e.out, "\ndrive[1]: 101 steps"), "%s", e.out);
}

/* --- what a loop must not do ------------------------------------------------------------------ */

static void allow_nothing(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(3);
}

/* The first event is already under the filter, and the buffers fill many times over. */
static void trace_without_system_calls(void)
{
    allow_nothing();
    for (uint64_t i = 0; i < 100000; i++) {
        HIL_TRACE(step, &(struct hil_traced_step){.node = 1, .step = i, .nodes = 1});
        HIL_TRACE(miss, &(struct hil_traced_miss){.node = 1, .step = i});
        LOCO_TRACE(push, 1, "a channel", 40);
    }
}

Test(tracing, an_event_makes_no_system_call)
{
    const struct hil_scenario scenario = {
        .trace = {.keep = HIL_KEEP_ALL,
                  .buffer_kib = 256,
                  .events = {.step = true, .miss = true, .push = true}}};
    struct hil_session *session;
    struct hil_traced traced;
    int status;

    cr_assert_eq(hil_session_open(&session, &scenario, workspace, NULL), 0);
    waitpid(start_traced(session, trace_without_system_calls), &status, 0);
    cr_expect_eq(hil_session_stop(session, &traced), 0);
    hil_session_close(session);
    expect_no_daemon_left();
    cr_expect(WIFEXITED(status), "killed: %s", strsignal(WTERMSIG(status)));
    cr_expect_eq(WEXITSTATUS(status), 0);

    char *text = trace_text(workspace);
    double events = count_of(text, "hiloco:");
    cr_expect_gt(events, 5000, "%g events, so no part of the buffer was full", events);
    cr_expect_eq(events + (double)traced.lost, 300000);
}

static void trace_without_end(void)
{
    for (uint64_t i = 0;; i++)
        HIL_TRACE(step, &(struct hil_traced_step){.node = 1, .step = i});
}

/* Mostly that is in the middle of an event. Nobody waits for its end forever. */
Test(tracing, a_loop_that_is_killed)
{
    const struct hil_scenario scenario = {
        .trace = {.keep = HIL_KEEP_ALL, .buffer_kib = 256, .events = {.step = true}}};
    struct hil_session *session;
    struct hil_traced traced;

    cr_assert_eq(hil_session_open(&session, &scenario, workspace, NULL), 0);
    pid_t loop = start_traced(session, trace_without_end);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    kill(loop, SIGKILL);
    waitpid(loop, NULL, 0);
    hil_session_stop(session, &traced);
    hil_session_close(session);
    expect_no_daemon_left();
}

/* --- sessions --------------------------------------------------------------------------------- */

static void lttng(const char *line)
{
    struct ended e = run_command("lttng --no-sessiond %s", line);

    expect_status(&e, 0);
}

static bool runs(void *arg)
{
    (void)arg;
    return daemon_runs();
}

static bool runs_not(void *arg)
{
    return !runs(arg);
}

static double steps_of(const char *out)
{
    json_t *summary = summary_of(out);

    return number_at(summary, "nodes.controller.steps") +
           number_at(summary, "nodes.converter.steps") / 2; /* two in a row */
}

/* Who makes a session by hand sees the events of any run, also of one that does not ask for it;
 * and a run that asks leaves the daemon alone that it has found. */
Test(tracing, a_session_made_by_hand)
{
    if (daemon_before)
        cr_skip_test("a session daemon runs already");
    struct arguments a = command("lttng-sessiond");
    struct process daemon = start(&a);
    cr_assert(wait_until(runs, NULL, 20));
    struct ended made =
        run_command("lttng --no-sessiond create by-hand --output=%s", in_workspace("by-hand"));
    expect_status(&made, 0);
    lttng("enable-event --userspace --session=by-hand hiloco:loop_step");
    lttng("start by-hand");
    struct ended e = run_command(SLOW "--out %s", in_workspace("out"));
    struct ended traced = run_command(SLOW "--trace --quiet --out %s", in_workspace("traced"));
    cr_expect(daemon_runs());
    lttng("stop by-hand");
    lttng("destroy by-hand");
    kill(daemon.pid, SIGTERM);
    finish(&daemon);
    cr_expect(wait_until(runs_not, NULL, 20));

    expect_ran(&e);
    expect_ran(&traced);
    cr_expect_eq(json_typeof(json_at(summary_of(in_workspace("out")), "trace")), JSON_NULL);
    struct ended seen = run_command("babeltrace2 %s", in_workspace("by-hand"));
    cr_expect_geq(count_of(seen.out, "hiloco:loop_step"),
                  steps_of(in_workspace("out")) + steps_of(in_workspace("traced")));
}

Test(tracing, an_interrupted_run_keeps_its_trace)
{
    const char *out = in_workspace("out");
    struct arguments a = command(SLOW "--set duration_s=60 --trace --out %s", out);
    struct process p = start(&a);

    cr_expect(wait_until(is_running, &p, 30));
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    expect_no_daemon_left();
    cr_expect_gt(number_at(analysis_of(out), "events"), 0);
}

/* --- a trace that is damaged ------------------------------------------------------------------ */

/* Changes some bytes of each file of the trace. */
static void damage(const char *ctf, unsigned seed)
{
    struct ended files = run_command("find %s -type f -size +0", ctf);
    char *rest = files.out, *path;

    srand(seed);
    while ((path = strsep(&rest, "\n")) && *path) {
        FILE *file = fopen(path, "r+");
        cr_assert_not_null(file, "%s", path);
        fseek(file, 0, SEEK_END);
        const long size = ftell(file);
        for (unsigned i = 0; i < 1 + seed % 8; i++) {
            fseek(file, rand() % (size < 4096 ? size : 4096), SEEK_SET);
            putc(rand() % 256, file);
        }
        fclose(file);
    }
}

/* babeltrace2 aborts on some, and never comes to an end of others. */
Test(tracing, a_damaged_trace_ends_nothing_else)
{
    const char *out = in_workspace("out"), *copy = in_workspace("copy");
    struct ended e = run_command(SLOW "--trace --out %s", out);

    expect_ran(&e);
    for (unsigned seed = 0; seed < 24; seed++) {
        e = run_command("cp -r %s %s", out, copy);
        expect_status(&e, 0);
        damage(copy, seed);
        e = run_command("hiloco trace %s", copy);
        cr_expect(e.status == 0 || e.status == 1, "seed %u: status %d\n%s", seed, e.status, e.err);
        e = run_command("rm -r %s", copy);
    }
}

/* --- where it cannot be ----------------------------------------------------------------------- */

Test(tracing, without_lttng_it_says_so)
{
    char path[400];

    snprintf(path, sizeof path, "%s/bin", workspace);
    struct ended made = run_command("mkdir %s", path);
    expect_status(&made, 0);
    setenv("PATH", path, 1);
    struct ended e = run_command(SLOW "--trace --out %s", in_workspace("none"));
    expect_status(&e, 1);
    expect_said(&e, "lttng is not installed: sudo apt install lttng-tools");
    expect_nothing_left();

    if (daemon_before)
        return;
    strcat(path, "/lttng");
    cr_assert_eq(symlink("/usr/bin/lttng", path), 0);
    e = run_command(SLOW "--trace --out %s", in_workspace("half"));
    expect_status(&e, 1);
    expect_said(&e, "lttng-sessiond is not installed: sudo apt install lttng-tools");
    setenv("PATH", "/usr/bin:/bin", 1);
}

Test(tracing, virtual_time_is_not_traced)
{
    const char *out = in_workspace("out");
    struct ended e = run_command("hiloco run configs/quickstart.yaml --mode virtual --trace --out "
                                 "%s",
                                 out);

    expect_status(&e, 0);
    expect_said(&e, "virtual time is not traced");
    cr_expect_not(exists(in_workspace("out/ctf")));
}

Test(tracing, no_trace_is_a_mistake)
{
    struct ended e = run_command("hiloco trace %s", workspace);

    expect_status(&e, 2);
    expect_said(&e, "there is no trace");
}

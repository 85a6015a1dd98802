/*
 * A program that is not hiloco's is a node of a run: docs/examples/node/bench.c, beside `hiloco
 * run`.
 *
 * In real time, on machines that may be busy: nothing here depends on how fast anything was.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/tracing/others.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(join, ALONE, .init = workspace_open_for_real_time, .fini = workspace_close,
          .timeout = 180);

/* That of the example, with keys of the run in place of its own name and duration. */
static void scenario(const char *keys)
{
    char *example = read_text("docs/examples/node/bench.yaml"), text[4000];
    const char *nodes = strstr(example, "nodes:");

    cr_assert_not_null(nodes);
    snprintf(text, sizeof text, "name: %s\n%s\n%s", own_name(), keys, nodes);
    write_text(in_workspace("bench.yaml"), text);
    free(example);
}

/* Both read the same file, so what is changed is changed there. */
static void change(const char *from, const char *to)
{
    char *before = read_text(in_workspace("bench.yaml")), text[4000];
    const char *at = strstr(before, from);

    cr_assert_not_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - before), before, to, at + strlen(from));
    write_text(in_workspace("bench.yaml"), text);
    free(before);
}

static struct process start_run(void)
{
    struct arguments a =
        command("hiloco run %s --out %s", in_workspace("bench.yaml"), in_workspace("out"));

    return start(&a);
}

static struct process start_bench(void)
{
    struct arguments a = command("%s %s", program_path("node-bench"), in_workspace("bench.yaml"));

    return start(&a);
}

static double last_of(struct column c)
{
    cr_assert_gt(c.rows, 0u);
    return c.at[c.rows - 1];
}

/* --- a run ----------------------------------------------------------------------------------- */

/* The program is started by `env` with some options. */
static void expect_joined(const char *env, const char *keys)
{
    scenario(keys);
    struct process run = start_run();
    struct ended bench = run_command("env %s %s %s %s", env, program_path("node-bench"),
                                     in_workspace("bench.yaml"), in_workspace("own"));
    struct ended e = finish(&run);

    expect_ran(&e);
    expect_status(&bench, 0);
    cr_expect(strstr(bench.out, "the run has ended at "), "%s", bench.out);
    /* What it gave came, and what it was given is there in its own record. */
    cr_expect_gt(last_of(column_of(in_workspace("out"), "control/measurement")), 1);
    cr_expect_gt(last_of(column_of(in_workspace("own"), "bench/speed_rad_per_s")), 1);
    cr_expect(json_is_null(json_at(summary_of(in_workspace("out")), "nodes.bench")));
    cr_expect_gt(number_at(summary_of(in_workspace("own")), "nodes.bench.steps"), 0);
    expect_nothing_left();
}

Test(join, a_program_is_a_node)
{
    expect_joined("", "duration_s: 0.5");
}

Test(join, a_program_may_ignore_the_signal_of_children)
{
    expect_joined("--ignore-signal=CHLD", "duration_s: 0.5");
}

/* At an address that no other test has. */
static const char *over_tcp(const char *keys)
{
    static char text[300];
    const int test = getpid();
    char address[32];

    snprintf(address, sizeof address, "127.%d.%d.%d", 1 + test / 62500 % 250, 1 + test / 250 % 250,
             1 + test % 250);
    snprintf(text, sizeof text,
             "%s\nfabric: tcp\ntcp: {timeout_ms: 1000, nodes: [{nodes: control, address: %s}, "
             "{nodes: bench, address: %s}]}",
             keys, address, address);
    setenv("HILOCO_SECRET", "0123456789abcdef0123456789abcdef", 1);
    return text;
}

Test(join, a_program_is_a_node_over_tcp)
{
    expect_joined("", over_tcp("duration_s: 0.5"));
}

/* Its own verdict names who had its core. */
Test(join, a_program_knows_its_intruder)
{
    struct hil_tracefs fs;

    if (!hil_others_begin(&fs, NULL, 0))
        cr_skip_test("no kernel events here");
    hil_tracefs_close(&fs);
    pid_t hog = start_hog(1);
    scenario("duration_s: 1\nvalidity: {required: false}");
    change("bench: {period_us: 1000, wait: hybrid}", "bench: {period_us: 100, cpu: 1}");
    change("control: {period_us: 1000,", "control: {period_us: 1000, cpu: 0,");
    struct process run = start_run();
    struct ended bench = run_command("%s %s %s", program_path("node-bench"),
                                     in_workspace("bench.yaml"), in_workspace("own"));
    struct ended e = finish(&run);

    kill(hog, SIGKILL);
    waitpid(hog, NULL, 0);
    expect_ran(&e);
    expect_status(&bench, 0);
    const char *stalls =
        json_string_value(json_at(summary_of(in_workspace("own")), "validity.stalls"));
    cr_expect(stalls && strstr(stalls, "the [hog] =1 and other threads had cpu 1 for "), "%s",
              stalls ? stalls : "none");
}

/* --- one that is lost ------------------------------------------------------------------------ */

static void expect_killed_is_lost(const char *keys)
{
    scenario(keys);
    struct process run = start_run(), bench = start_bench();

    cr_assert(wait_until(is_running, &run, 60));
    kill(bench.pid, SIGKILL);
    finish(&bench);
    struct ended e = finish(&run);
    expect_status(&e, 1);
    expect_said(&e, "lost bench");
    expect_said(&e, "which left or died before the end");
}

Test(join, one_that_is_killed_is_lost)
{
    expect_killed_is_lost("duration_s: 100");
}

Test(join, one_that_is_killed_is_lost_over_tcp)
{
    expect_killed_is_lost(over_tcp("duration_s: 100"));
}

Test(join, one_that_stands_still_is_lost_over_tcp)
{
    scenario(over_tcp("duration_s: 100"));
    struct process run = start_run(), bench = start_bench();

    cr_assert(wait_until(is_running, &run, 60));
    kill(bench.pid, SIGSTOP);
    struct ended e = finish(&run);
    expect_status(&e, 1);
    expect_said(&e, "nothing was heard of node 1 for 1000 ms");
    kill(bench.pid, SIGCONT);
    struct ended b = finish(&bench);
    expect_status(&b, 1);
}

Test(join, one_that_outlives_the_run_says_so)
{
    scenario("duration_s: 100");
    struct process run = start_run(), bench = start_bench();

    cr_assert(wait_until(is_running, &run, 60));
    kill(run.pid, SIGKILL);
    finish(&run);
    struct ended e = finish(&bench);
    expect_status(&e, 1);
    expect_said(&e, "bench: error: lost control, which left or died before the end");
}

/* One that is told to stop ends the run for all of them. */
Test(join, a_run_that_is_stopped_has_ended)
{
    scenario("duration_s: 100");
    struct process run = start_run(), bench = start_bench();

    cr_assert(wait_until(is_running, &run, 60));
    kill(run.pid, SIGINT);
    struct ended e = finish(&run);
    expect_status(&e, 130);
    struct ended b = finish(&bench);
    expect_status(&b, 0);
    cr_expect(strstr(b.out, "the run has ended at "), "%s", b.out);
}

static bool bench_made_steps(void *run)
{
    return last_steps_of(run) > 500;
}

/* It counts its steps anew. */
static bool bench_is_back(void *run)
{
    return last_steps_of(run) < 500;
}

static void expect_comes_back(const char *keys)
{
    scenario(keys);
    struct process run = start_run(), bench = start_bench();

    cr_assert(wait_until(bench_made_steps, &run, 60));
    kill(bench.pid, SIGKILL);
    finish(&bench);
    bench = start_bench();
    cr_assert(wait_until(bench_is_back, &run, 60));
    kill(run.pid, SIGINT);
    struct ended again = finish(&bench), e = finish(&run);
    expect_status(&e, 130);
    expect_status(&again, 0);
    cr_expect_gt(number_at(summary_of(in_workspace("out")), "losses.lost"), 0);
    cr_expect_gt(number_at(summary_of(in_workspace("out")), "losses.back"), 0);
}

Test(join, one_that_is_killed_may_come_back)
{
    expect_comes_back("duration_s: 100\non_lost: restart");
}

Test(join, one_that_is_killed_may_come_back_over_tcp)
{
    expect_comes_back(over_tcp("duration_s: 100\non_lost: restart"));
}

Test(join, one_that_stands_still_is_stale)
{
    scenario("duration_s: 100");
    change("control: {", "control: {input_age_limit_us: 2000000, on_stale_input: end, ");
    struct process run = start_run(), bench = start_bench();

    cr_assert(wait_until(is_running, &run, 60));
    kill(bench.pid, SIGSTOP);
    struct ended e = finish(&run);
    kill(bench.pid, SIGKILL);
    finish(&bench);
    expect_status(&e, 1);
    expect_said(&e, "bench -> control");
}

/* --- what is refused -------------------------------------------------------------------------- */

Test(join, commands_that_cannot_have_it_say_so)
{
    struct ended e;

    scenario("duration_s: 1");
    e = run_command("hiloco node bench %s", in_workspace("bench.yaml"));
    expect_status(&e, 2);
    expect_said(&e, "hiloco does not run the node bench");
    e = run_command("hiloco sweep %s --set duration_s=1,2 --out %s", in_workspace("bench.yaml"),
                    in_workspace("out"));
    expect_status(&e, 2);
    expect_said(&e, "a component is outside, and a sweep has no program of yours");
    e = run_command("hiloco run %s --mode virtual --out %s", in_workspace("bench.yaml"),
                    in_workspace("out"));
    expect_status(&e, 2);
    expect_said(&e, "components.motor.model is outside, which another process computes");
    e = run_command("hiloco run configs/quickstart.yaml --run-dir %s --out %s", workspace,
                    in_workspace("out"));
    expect_status(&e, 2);
    expect_said(&e, "--run-dir: allowed only if a component is outside");
    cr_expect_not(exists(in_workspace("out")));
}

/*
 * What a program inherits from the process that starts it: ignored and blocked signals, and a
 * umask. None of them keeps a run from its end.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(inherited, .init = workspace_open, .fini = workspace_close);

static void expect_done(const char *env, const char *line)
{
    const struct ended e = run_command("env %s %s %s", env, program_path("hiloco"), line);

    cr_expect_eq(e.status, 0, "%s: %s: %d: %s", env, line, e.status, e.err);
}

static void expect_commands_end(const char *env)
{
    char run[200], line[300];
    const char *out = in_workspace("%s", env);

    snprintf(run, sizeof run, "run configs/quickstart.yaml --mode virtual --set duration_s=0.01");
    snprintf(line, sizeof line, "%s --out %s", run, out);
    expect_done(env, line);
    static const char *const readers[] = {"plot", "report", "recover"};
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        snprintf(line, sizeof line, "%s %s", readers[i], out);
        expect_done(env, line);
    }
    snprintf(line, sizeof line, "compare %s %s", out, out);
    expect_done(env, line);
    snprintf(line, sizeof line,
             "sweep configs/quickstart.yaml --mode virtual --set duration_s=0.01 --set "
             "controller.period_us=20,40 --out %s-sweep",
             out);
    expect_done(env, line);
    snprintf(line, sizeof line,
             "test configs/quickstart.yaml --mode virtual --set duration_s=0.01 --out %s-test",
             out);
    expect_done(env, line);
}

Test(inherited, commands_end_though_the_signal_of_children_is_ignored)
{
    expect_commands_end("--ignore-signal=CHLD");
}

Test(inherited, commands_end_though_signals_are_blocked)
{
    expect_commands_end("--block-signal=CHLD,ALRM,INT,TERM");
}

static struct process start_real_time(const char *env)
{
    const struct arguments a =
        command("env %s %s run configs/quickstart.yaml --mode realtime --set duration_s=300 "
                "--set validity.required=false --out %s",
                env, program_path("hiloco"), in_workspace("out"));

    return start(&a);
}

static void expect_stoppable(const char *env, int signal, int status)
{
    struct process p = start_real_time(env);

    cr_assert(wait_until(is_running, &p, 60));
    kill(p.pid, signal);
    const struct ended e = finish(&p);
    expect_status(&e, status);
}

Test(inherited, a_run_can_be_stopped_though_signals_are_blocked)
{
    expect_stoppable("--block-signal=INT", SIGINT, 130);
    expect_stoppable("--block-signal=TERM", SIGTERM, 130);
    expect_stoppable("--block-signal=HUP", SIGHUP, 129);
    expect_stoppable("--ignore-signal=INT,TERM,CHLD", SIGTERM, 130);
}

/* As nohup wants it. */
Test(inherited, the_end_of_a_terminal_may_be_ignored)
{
    struct process p = start_real_time("--ignore-signal=HUP");

    cr_assert(wait_until(is_running, &p, 60));
    kill(p.pid, SIGHUP);
    kill(p.pid, SIGTERM);
    const struct ended e = finish(&p);
    expect_status(&e, 130);
}

static mode_t mode_of(const char *path)
{
    struct stat s;

    cr_assert_eq(stat(path, &s), 0, "%s", path);
    return s.st_mode & 0777;
}

static void expect_modes(const char *umask, mode_t folder, mode_t file)
{
    const char *out = in_workspace("umask-%s", umask);
    struct arguments a = command("sh -c");

    add(&a,
        "umask %s; exec %s run configs/quickstart.yaml --mode virtual --set duration_s=0.01 "
        "--out %s",
        umask, program_path("hiloco"), out);
    const struct ended e = run(&a);
    expect_status(&e, 0);
    cr_expect_eq(mode_of(out), folder, "umask %s: %o", umask, mode_of(out));
    const char *summary = in_workspace("umask-%s/summary.json", umask);
    cr_expect_eq(mode_of(summary), file, "umask %s: %o", umask, mode_of(summary));
}

Test(inherited, the_umask_takes_nothing_from_the_owner)
{
    expect_modes("022", 0755, 0644);
    expect_modes("777", 0700, 0600);
}

Test(inherited, nobody_else_may_write_the_results)
{
    expect_modes("000", 0775, 0664);
}

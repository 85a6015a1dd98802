/*
 * What a program inherits from the process that starts it: ignored and blocked signals, and a
 * umask. None of them keeps a run from its end.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
             "nodes.controller.period_us=20,40 --out %s-sweep",
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

/* --- the secret of a network ---------------- */

/* A component that is a program shows its environment, and ends. */
static void expect_secret_kept(const char *variable, const char *value, const char *line)
{
    write_text(in_workspace("plant.sh"), "#!/bin/sh\nenv >\"$(dirname \"$0\")/shown\"\n");
    cr_assert_eq(chmod(in_workspace("plant.sh"), 0700), 0);
    write_text(in_workspace("s.yaml"), "duration_s: 0.01\nmode: realtime\nfabric: tcp\n"
                                       "nodes: {stage: {period_us: 100}}\n"
                                       "components: {plant: {model: \"program:./plant.sh\", "
                                       "node: stage}}\n");
    run_command("env %s=%s %s %s %s", variable, value, program_path("hiloco"), line,
                in_workspace("s.yaml"));
    char *shown = read_text(in_workspace("shown"));
    cr_expect(strstr(shown, "PATH="), "%s", shown);
    cr_expect_null(strstr(shown, variable), "%s", line);
    free(shown);
    unlink(in_workspace("shown"));
}

Test(inherited, no_program_inherits_the_secret)
{
    static const char *const lines[] = {"check", "run", "node stage"};

    write_text(in_workspace("secret"), "0123456789abcdef0123456789abcdef\n");
    cr_assert_eq(chmod(in_workspace("secret"), 0600), 0);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        expect_secret_kept("HILOCO_SECRET", "0123456789abcdef0123456789abcdef", lines[i]);
        expect_secret_kept("HILOCO_SECRET_FILE", in_workspace("secret"), lines[i]);
    }
}

/* --- the umask ---------------- */

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

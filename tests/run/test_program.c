/*
 * Models that are programs, in whole runs: those of docs/examples/program, and scripts that do what
 * they should not.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

/* Gives what it takes. The first %s is at its beginning, the second in each step. */
static const char same[] =
    "#!/bin/sh\n"
    "echo $$ >>\"${0%%/*}/pids\"\n"
    "%s\n"
    "printf 'hiloco 1\\nname same\\ndoc Gives what it takes %%s\\nkind continuous\\n' \"$1\" >&3\n"
    "printf 'parameter p V 1 0 2 p\\ninput x - 1 -9 9 x\\noutput y - y\\nready\\n' >&3\n"
    "while read -r word a b <&3; do\n"
    "  case $word in\n"
    "    create) echo ok ;;\n"
    "    output) echo \"$a\" ;;\n"
    "    step) %s\n echo \"$b\" ;;\n"
    "  esac >&3\n"
    "done\n";

static const char scenario[] = "name: %s\nduration_s: 0.02\nmode: virtual\nhang_limit_s: 5\n"
                               "nodes:\n  control: {period_us: 1000, cpu: -1, priority: 0}\n"
                               "  plant: {period_us: 1000, cpu: -1, priority: 0}\n"
                               "components:\n"
                               "  law: {model: gain, node: control, inputs: {input: 1}}\n"
                               "  stage: {model: program:./same.sh, node: plant, settings: {%s}}\n"
                               "connections:\n  - {from: law.output, to: stage.x}\n";

static void write_script(const char *first, const char *in_step)
{
    char text[2000];

    snprintf(text, sizeof text, same, first, in_step);
    write_text(in_workspace("same.sh"), text);
    cr_assert_eq(chmod(in_workspace("same.sh"), 0700), 0);
}

static void write_scenario(const char *settings)
{
    char text[2000];

    snprintf(text, sizeof text, scenario, own_name(), settings);
    write_text(in_workspace("s.yaml"), text);
}

static void open_with_scenario(void)
{
    workspace_open();
    write_scenario("");
    write_script("", "");
}

/* Each that was started has ended. */
static bool are_gone(void *unused)
{
    char *pids = exists(in_workspace("pids")) ? read_text(in_workspace("pids")) : strdup("");
    bool gone = true;

    (void)unused;
    for (char *at = pids, *end; *at; at = end + 1) {
        const long pid = strtol(at, &end, 10);
        gone &= kill((pid_t)pid, 0) != 0;
        if (!*end)
            break;
    }
    free(pids);
    return gone;
}

static void close_and_look(void)
{
    cr_expect(wait_until(are_gone, NULL, 20), "a program goes on: %s",
              exists(in_workspace("pids")) ? read_text(in_workspace("pids")) : "");
    workspace_close();
}

TestSuite(program, .init = open_with_scenario, .fini = close_and_look, .timeout = 120);

static struct ended run_it(const char *options)
{
    return run_command("hiloco run %s --out %s %s", in_workspace("s.yaml"), in_workspace("out"),
                       options);
}

#define REAL_TIME "--mode realtime --set validity.required=false --set duration_s=20 "

/* --- the examples ----------------------------------------------------------------------------- */

static void copy_example(const char *from, const char *name)
{
    struct ended e = run_command("cp %s %s", from, in_workspace("%s", name));
    expect_status(&e, 0);
}

static struct column run_closed_loop(const char *law, const char *plant, const char *out)
{
    struct ended e =
        run_command("hiloco run %s --set duration_s=0.02 --set components.control.model=%s "
                    "--set components.converter.model=%s --set " LIMITS_ONLY " --out %s",
                    in_workspace("rc.yaml"), law, plant, in_workspace("%s", out));
    expect_status(&e, 0);
    return column_of(in_workspace("%s", out), "controller/output_v");
}

static void expect_equal(struct column a, struct column b)
{
    cr_assert(a.rows == b.rows && a.rows > 100);
    cr_expect_arr_eq(a.at, b.at, a.rows * a.width * sizeof *a.at);
    cr_expect_neq(a.at[0], a.at[a.rows - 1]);
}

/* The same plant as a shared library and as a program gives the same numbers, to the last bit. */
Test(program, the_example_in_python_is_exact)
{
    copy_example("docs/examples/model/rc.yaml", "rc.yaml");
    copy_example("docs/examples/model/rc.c", "rc.c");
    copy_example("docs/examples/program/rc.py", "rc.py");
    cr_assert_eq(mkdir(in_workspace("include"), 0700), 0);
    struct ended e = run_command("cp -r plants %s", in_workspace("include/hiloco"));
    expect_status(&e, 0);
    e = run_command("cc -shared -fPIC -I%s -O2 -o %s %s -lm", in_workspace("include"),
                    in_workspace("rc.so"), in_workspace("rc.c"));
    expect_status(&e, 0);
    expect_equal(run_closed_loop("pi", "./rc.so", "native"),
                 run_closed_loop("pi", "python:rc.py:RC", "python"));
}

Test(program, the_example_in_c_closes_the_loop)
{
    copy_example("docs/examples/model/rc.yaml", "rc.yaml");
    copy_example("docs/examples/program/rc.py", "rc.py");
    struct ended e = run_command(
        "cc -Wall -Wextra -Werror -O2 -o %s docs/examples/program/pi.c -lm", in_workspace("pi"));
    expect_status(&e, 0);
    struct column output_v = run_closed_loop("program:./pi", "python:rc.py:RC", "both");
    cr_expect_gt(output_v.at[output_v.rows - 1], 1);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void expect_refused(const char *why)
{
    struct ended e = run_command("hiloco check %s", in_workspace("s.yaml"));

    expect_status(&e, 2);
    expect_said(&e, "s.yaml:10:");
    expect_said(&e, "components.stage.model is 'program:./same.sh', but ");
    expect_said(&e, why);
}

Test(program, that_is_not_there)
{
    cr_assert_eq(unlink(in_workspace("same.sh")), 0);
    expect_refused("there is no such file");
}

Test(program, that_is_not_executable)
{
    cr_assert_eq(chmod(in_workspace("same.sh"), 0600), 0);
    expect_refused(
        "it cannot be started (Permission denied); allowed: a program, such as a script");
}

Test(program, that_ends_early)
{
    write_script("exit 3", "");
    expect_refused("it did not send its tables: it ended with status 3");
}

Test(program, that_crashes_early)
{
    write_script("kill -SEGV $$", "");
    expect_refused("it did not send its tables: it was ended by SIGSEGV");
}

Test(program, that_says_something_else)
{
    write_script("echo Hello >&3", "");
    expect_refused("its first word is 'Hello'; allowed: hiloco 1");
}

Test(program, that_says_nothing)
{
    write_script("sleep 100", "");
    write_scenario("start_s: 0.2");
    expect_refused("it did not send its tables within 0.2 s");
}

Test(program, with_a_wrong_row)
{
    write_script("printf 'hiloco 1\\ninput x\\n' >&3", "");
    expect_refused("it has a line with a mistake: input NAME UNIT DEFAULT LEAST MOST");
}

Test(program, without_a_name)
{
    write_script("printf 'hiloco 1\\nready\\n' >&3; exit", "");
    expect_refused("it is ready, but has no name");
}

Test(program, with_a_row_that_no_model_may_have)
{
    write_script("printf 'hiloco 1\\nname x\\ndoc x\\nkind sampled\\ninput X - 0 0 1 x\\nready\\n' "
                 ">&3; exit",
                 "");
    expect_refused("its input X has a name with other than lower-case letters");
}

Test(program, with_an_unknown_setting)
{
    write_scenario("speed: 3");
    expect_refused("speed is no setting of it; allowed: args, start_s, answer_s");
}

Test(program, that_refuses_its_parameters_says_why)
{
    write_script(
        "echo() { case $1 in ok) printf 'error p is odd\\n' ;; *) printf '%s\\n' \"$*\" ;; esac; }",
        "");
    struct ended e = run_command("hiloco check %s", in_workspace("s.yaml"));

    expect_status(&e, 2);
    expect_said(&e, "refuses the parameters, initial states and period of stage (p is odd)");
}

Test(program, its_names_are_checked)
{
    struct ended e = run_command("hiloco check %s --set components.stage.parameters.q=1",
                                 in_workspace("s.yaml"));

    expect_status(&e, 2);
    expect_said(&e, "unknown key 'q' in components.stage.parameters of a same");
    e = run_command("hiloco check %s --set components.stage.parameters.p=3",
                    in_workspace("s.yaml"));
    expect_status(&e, 2);
    expect_said(&e, "components.stage.parameters.p is '3'; allowed: a number, 0 to 2 V");
}

/* --- what it says ----------------------------------------------------------------------------- */

Test(program, models_shows_its_tables)
{
    char name[200];

    snprintf(name, sizeof name, "program:%s", in_workspace("same.sh"));
    struct ended e = run_command("hiloco models %s", name);
    expect_status(&e, 0);
    cr_expect_eq(strncmp(e.out, "same (continuous): Gives what it takes\n", 38), 0, "%s", e.out);
}

Test(program, is_given_its_arguments)
{
    write_scenario("args: [twice]");
    write_script("test \"$1\" = twice || exit 9", "");
    struct ended e = run_it("");
    expect_status(&e, 0);
}

/* A run may be started in any folder. */
Test(program, finds_its_files_and_the_scenarios)
{
    write_text(in_workspace("beside.txt"), "beside");
    cr_assert_eq(mkdir(in_workspace("sub"), 0700), 0);
    write_scenario("args: [./beside.txt]");
    write_script("test \"$(cat beside.txt)\" = beside && test \"$(cat \"$1\")\" = beside || exit 9",
                 "");
    struct ended e = run_it("");
    expect_status(&e, 0);
    write_script("cd sub && test \"$(cat \"$1\")\" = beside || exit 9", "");
    e = run_it("");
    expect_status(&e, 0);
}

/* Its standard output is not ours. */
Test(program, what_it_prints_does_not_spoil_ours)
{
    write_script("echo printed-by-it", "");
    struct ended e = run_command("hiloco check %s", in_workspace("s.yaml"));

    expect_status(&e, 0);
    expect_said(&e, "printed-by-it");
    cr_expect_null(strstr(e.out, "printed-by-it"));
}

/* Once, where it is checked and where it ran. */
Test(program, is_said_not_to_be_for_hard_real_time)
{
    static const char said[] = "stage (same) is not for hard real time: it is a process of its own";
    struct ended e = run_command("hiloco check %s", in_workspace("s.yaml"));
    expect_status(&e, 0);
    const char *once = strstr(e.err, said);
    cr_assert_not_null(once, "%s", e.err);
    cr_expect_null(strstr(once + 1, said));
    e = run_it("");
    expect_status(&e, 0);
    cr_expect_not_null(strstr(e.out, said), "%s", e.out);
    cr_expect_not_null(
        json_string_value(json_at(summary_of(in_workspace("out")), "components.0.not_real_time")));
}

/* --- while it runs ---------------------------------------------------------------------------- */

static void expect_run_fails(const char *options, const char *why)
{
    struct ended e = run_it(options);

    expect_status(&e, 1);
    expect_said(&e, why);
}

Test(program, that_answers_nonsense_is_named)
{
    write_script("", "test $a -lt 5000000 || { echo 1 2; continue; }");
    expect_run_fails("", "stage: it answers '1 2'; allowed: 1 number");
}

Test(program, that_says_what_is_wrong_is_quoted)
{
    write_script("", "test $a -lt 5000000 || { echo error too hot; continue; }");
    expect_run_fails("", "stage: too hot");
}

Test(program, that_ends_is_named)
{
    write_script("", "test $a -lt 5000000 || exit 7");
    expect_run_fails("", "stage: it ended with status 7");
}

/* In virtual time it is waited for, and the launcher does not hang with it. */
Test(program, that_hangs_is_named_in_virtual_time)
{
    write_script("", "test $a -lt 5000000 || sleep 100");
    expect_run_fails("", "error: stage (same): it did not return for 5 s, at 0.005000 s (step 5)");
}

/* In real time it is not waited for. */
Test(program, that_hangs_is_named_in_real_time)
{
    write_scenario("answer_s: 0.2");
    write_script("", "test $a -lt 5000000 || sleep 100");
    expect_run_fails(REAL_TIME, "stage: it has not answered for 0.2 s");
}

Test(program, runs_in_real_time)
{
    struct ended e = run_it(REAL_TIME "--set duration_s=1");

    expect_ran(&e);
    json_t *c = json_at(summary_of(in_workspace("out")), "components.0");
    cr_expect_gt(number_at(c, "steps"), 10);
}

/* Once each to be asked for its tables, to be tried, and to run. */
static bool is_in_use(void *unused)
{
    char *pids = exists(in_workspace("pids")) ? read_text(in_workspace("pids")) : strdup("");
    unsigned count = 0;

    for (const char *at = pids; *at; at++)
        count += *at == '\n';
    free(pids);
    return count == 3 && !are_gone(unused);
}

/* Its executor has no time to end it. */
Test(program, ends_when_everything_else_is_killed)
{
    write_script("trap 'sleep 100' EXIT", ""); /* the end of its socket does not end it */
    struct arguments a =
        command("hiloco run %s --out %s " REAL_TIME, in_workspace("s.yaml"), in_workspace("out"));
    struct process launcher = start(&a);

    cr_assert(wait_until(is_in_use, NULL, 60));
    kill(launcher.pid, SIGKILL);
    finish(&launcher);
    cr_expect(wait_until(are_gone, NULL, 20));
}

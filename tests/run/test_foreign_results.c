/*
 * Folders of results that somebody else made: in place of a file there is a link or a pipe; below
 * plot/ and ctf/ there are files of the user.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "python.h"
#include "results.h"
#include "workspace.h"

TestSuite(foreign_results, .init = workspace_open, .fini = workspace_close);

#define RUN "hiloco run configs/quickstart.yaml --mode virtual --set duration_s=0.01 --quiet --out "

static const char *victim(void)
{
    return in_workspace("victim");
}

/* Results that are whole; `name` in them is a link to the victim. */
static void make_linked(const char *name)
{
    const char *out = in_workspace("out");

    run_command("rm -rf %s", out);
    const struct ended made = run_command(RUN "%s", out);
    expect_status(&made, 0);
    write_text(victim(), "precious");
    unlink(in_workspace("out/%s", name));
    cr_assert_eq(symlink(victim(), in_workspace("out/%s", name)), 0);
}

static void expect_victim_kept(const char *name, const char *line)
{
    make_linked(name);
    const struct ended e = run_command("%s %s", line, in_workspace("out"));
    char *text = read_text(victim());

    cr_expect_neq(e.status, 128 + 11, "%s", e.err);
    cr_expect_str_eq(text, "precious", "%s wrote through %s", line, name);
    free(text);
}

Test(foreign_results, nothing_is_written_through_a_link)
{
    static const char *const cases[][2] = {
        {"output.png.part", "hiloco plot"},     {"output.svg.part", "hiloco plot"},
        {"output.png", "hiloco plot"},          {"report.html.part", "hiloco report"},
        {"report.html", "hiloco report"},       {"controller.csv", "hiloco export --csv"},
        {"events.csv", "hiloco export --csv"},  {"trace.mcap.part", "hiloco export --mcap"},
        {"trace.mcap", "hiloco export --mcap"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_victim_kept(cases[i][0], cases[i][1]);
}

static void expect_ends(const char *command)
{
    const struct ended e =
        run_command("timeout 60 %s %s %s", program_path("hiloco"), command, in_workspace("out"));

    cr_expect(e.status == 0 || e.status == 1, "%s: %d: %s", command, e.status, e.err);
}

Test(foreign_results, no_figure_is_drawn_in_a_linked_folder)
{
    cr_assert_eq(mkdir(in_workspace("folder"), 0777), 0);
    make_linked("plot");
    unlink(in_workspace("out/plot"));
    cr_assert_eq(symlink(in_workspace("folder"), in_workspace("out/plot")), 0);
    const struct ended e = run_command("hiloco plot %s", in_workspace("out"));
    expect_status(&e, 1);
    expect_said(&e, "it is a link");
    cr_expect(is_empty(in_workspace("folder")));
}

/* Figures get numbers where names are equal, however long they are. */
Test(foreign_results, names_that_are_equal_in_all_that_is_shown_end)
{
    const char *python = python_with("h5py");

    if (!python)
        cr_skip_test("it needs python3-h5py");
    const struct ended made = run_command(RUN "%s", in_workspace("out"));
    expect_status(&made, 0);
    write_text(in_workspace("lengthen.py"),
               "import h5py, sys\n"
               "with h5py.File(sys.argv[1], 'a', track_order=True) as h:\n"
               "    for k in range(3):\n"
               "        h.copy('controller', 'n' * 300 + str(k))\n");
    const struct ended copied =
        run_command("%s %s %s", python, in_workspace("lengthen.py"), in_workspace("out/trace.h5"));
    expect_status(&copied, 0);
    expect_ends("plot");
    expect_ends("report");
    expect_ends("export --csv");
}

/* The report is given to others. */
Test(foreign_results, a_report_has_no_file_that_is_linked)
{
    make_linked("scenario.yaml");
    const struct ended e = run_command("hiloco report %s", in_workspace("out"));
    expect_status(&e, 0);
    char *page = read_text(in_workspace("out/report.html"));
    cr_expect_null(strstr(page, "precious"));
    free(page);
}

static void expect_end_with_pipe(const char *name, const char *line)
{
    make_linked(name);
    unlink(in_workspace("out/%s", name));
    cr_assert_eq(mkfifo(in_workspace("out/%s", name), 0666), 0);
    const struct ended e = run_command("timeout 60 %s %s", line, in_workspace("out"));
    cr_expect(e.status >= 0 && e.status <= 2, "%s with the pipe %s: %d: %s", line, name, e.status,
              e.err);
}

Test(foreign_results, no_command_waits_for_a_pipe)
{
    static const char *const names[] = {"trace.h5",  "trace.h5.journal", "summary.json",
                                        "notes.csv", "scenario.yaml",    "trace.json"};
    static const char *const commands[] = {"plot", "report", "recover", "export --csv"};
    char line[300];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
            snprintf(line, sizeof line, "%s %s", program_path("hiloco"), commands[k]);
            expect_end_with_pipe(names[i], line);
        }
}

Test(foreign_results, a_new_run_waits_for_no_pipe)
{
    char line[300];

    snprintf(line, sizeof line,
             "%s run configs/quickstart.yaml --mode virtual --set duration_s=0.01 --out",
             program_path("hiloco"));
    expect_end_with_pipe("notes.csv", line);
}

static void expect_file_kept(const char *name)
{
    const char *file = in_workspace("out/%s", name);
    char folders[300];

    snprintf(folders, sizeof folders, "%s", file);
    for (char *slash = folders; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(folders, 0777);
        *slash = '/';
    }
    write_text(file, "the user's");
    const struct ended e = run_command(RUN "%s", in_workspace("out"));
    expect_status(&e, 2);
    expect_said(&e, "which is no result of a run");
    cr_expect(exists(file), "%s", name);
    unlink(file);
}

/* "hiloco refuses a folder if it holds anything else." */
Test(foreign_results, a_new_run_removes_no_file_of_the_user)
{
    const struct ended made = run_command(RUN "%s", in_workspace("out"));
    const struct ended drawn = run_command("hiloco plot %s", in_workspace("out"));

    expect_status(&made, 0);
    expect_status(&drawn, 0);
    expect_file_kept("notes.txt");
    expect_file_kept("parts");
    expect_file_kept("plot/notes.txt");
    expect_file_kept("plot/measured.dat");
    expect_file_kept("ctf/thesis.tex");
    expect_file_kept("ctf/ust/thesis.tex");
    rmdir(in_workspace("out/ctf/ust"));
    const struct ended again = run_command(RUN "%s", in_workspace("out"));
    expect_status(&again, 0);
}

/* --- another user ---------------- */

static bool has_locked(void *process)
{
    const struct process *p = process;

    return has_ended(p) || (exists(p->out_path) && strstr(read_text(p->out_path), "held"));
}

/* Locks the folder, which it may read. Its command line is meant for a terminal. */
static struct process start_stranger(void)
{
    struct arguments a =
        command("setpriv --reuid 65534 --clear-groups --pdeathsig KILL /usr/bin/python3 -c");

    add(&a,
        "import fcntl, os, time\n"
        "f = os.open('%s', os.O_RDONLY); fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "print('held', flush=True); time.sleep(100)\n",
        in_workspace("out"));
    add(&a, "\033]0;title\a");
    struct process p = start(&a);
    cr_assert(wait_until(has_locked, &p, 60) && !has_ended(&p));
    return p;
}

Test(foreign_results, another_user_cannot_lock_them)
{
    if (geteuid() != 0 || access("/usr/bin/python3", X_OK))
        cr_skip_test("only the superuser can be another user");
    const struct ended made = run_command(RUN "%s", in_workspace("out"));
    expect_status(&made, 0);
    chmod(workspace_shared, 0755);
    chmod(workspace, 0755);
    struct process stranger = start_stranger();
    const struct ended again = run_command(RUN "%s", in_workspace("out"));
    expect_status(&again, 0);
    kill(stranger.pid, SIGKILL);
    finish(&stranger);
}

Test(foreign_results, who_holds_them_is_named_without_control_characters)
{
    const struct ended made = run_command(RUN "%s", in_workspace("out"));
    expect_status(&made, 0);
    struct arguments a = command("flock -o %s sh -c", in_workspace("out"));
    add(&a, "echo held; sleep 100");
    add(&a, "\033]0;title\a\302\233");
    struct process p = start(&a);
    cr_assert(wait_until(has_locked, &p, 60));
    const struct ended e = run_command(RUN "%s", in_workspace("out"));
    expect_status(&e, 2);
    expect_said(&e, "is writing its results there now");
    cr_expect_null(strchr(e.err, '\033'), "%s", e.err);
    cr_expect_null(strstr(e.err, "\302\233"), "%s", e.err);
    kill(p.pid, SIGKILL);
    finish(&p);
}

/* A link in place of a folder is removed, and what it leads to stays. */
Test(foreign_results, a_new_run_follows_no_link)
{
    make_linked("plot");
    const struct ended e = run_command(RUN "%s", in_workspace("out"));
    expect_status(&e, 0);
    cr_expect(exists(victim()));
    cr_expect_not(exists(in_workspace("out/plot")));
}

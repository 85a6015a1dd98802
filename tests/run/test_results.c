/*
 * The folder of results: an earlier run's are replaced as a whole, or the folder is refused.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(results, .init = workspace_open, .fini = workspace_close);

#define RUN   "hiloco run configs/quickstart.yaml --quiet --set duration_s=0.002 "
#define SWEEP "hiloco sweep configs/quickstart.yaml --set duration_s=0.002 "

static struct ended expect_run(const char *line, const char *out, int status)
{
    struct ended e = run_command("%s --out %s", line, out);

    expect_status(&e, status);
    return e;
}

/* Everything that can be made of a run. */
static void make_all(const char *out)
{
    struct ended e;

    expect_run(RUN "--set " RECORD_CONVERTERS("1"), out, 0);
    e = run_command("hiloco plot %s", out);
    expect_status(&e, 0);
    e = run_command("hiloco export %s --csv", out);
    expect_status(&e, 0);
    cr_assert(exists(in_workspace("out/converter-000.csv")));
}

/* The folder holds these, by their number, and nothing else. */
static void expect_only(const char *folder, const char *const *names)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;

    cr_assert_not_null(entries);
    while ((entry = readdir(entries))) {
        bool expected = entry->d_name[0] == '.';
        for (const char *const *name = names; *name; name++)
            expected |= strcmp(*name, entry->d_name) == 0;
        cr_expect(expected, "%s is left", entry->d_name);
    }
    closedir(entries);
    for (; *names; names++) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, *names);
        cr_expect(exists(path), "%s is not there", path);
    }
}

static const char *const of_a_run[] = {"scenario.yaml", "summary.json", "trace.h5", NULL};

/* "--out onto a folder with another run's results leaves that run's figures and CSV beside the new
 * record": not any more. */
Test(results, a_run_replaces_all_that_was_made_of_another)
{
    const char *out = in_workspace("out");

    make_all(out);
    expect_run(RUN "--set sources.reference.steps.initial=10", out, 0);
    expect_only(out, of_a_run);
    cr_expect_eq(number_at(summary_of(out), "measures.output_v.reference"), 10);
    cr_expect_not(has_column(out, "converter/000/time_s"));
}

Test(results, the_scenario_that_a_run_left_runs_again_in_its_place)
{
    const char *out = in_workspace("out");
    char line[300];

    expect_run(RUN, out, 0);
    char *before = read_text(in_workspace("out/scenario.yaml"));
    snprintf(line, sizeof line, "hiloco run %s/scenario.yaml --quiet", out);
    expect_run(line, out, 0);
    cr_expect_str_eq(read_text(in_workspace("out/scenario.yaml")), before);
}

Test(results, a_sweep_replaces_all_that_was_made_of_another)
{
    const char *out = in_workspace("out");

    expect_run(SWEEP "--set nodes.controller.period_us=20~1 --runs 2", out, 0);
    cr_expect(exists(in_workspace("out/distribution.csv")));
    expect_run(SWEEP "--set nodes.controller.period_us=20,30", out, 0);
    struct ended e = run_command("hiloco plot %s", out);
    expect_status(&e, 0);
    expect_run(SWEEP "--set nodes.controller.period_us=30,40", out, 0);
    expect_only(out,
                (const char *const[]){"sweep.json", "sweep.csv", "nodes.controller.period_us=30",
                                      "nodes.controller.period_us=40", NULL});
}

/* --- what is refused ---------------- */

static void expect_refused(const char *line, const char *out, const char *said)
{
    struct ended e = expect_run(line, out, 2);

    expect_said(&e, said);
    cr_expect_str_empty(e.out);
}

/* Nobody's files are removed, and no stale ones stay: their owner decides. */
Test(results, a_folder_with_other_files_is_refused_and_stays_as_it_is)
{
    const char *out = in_workspace("out");

    make_all(out);
    write_text(in_workspace("out/notes.txt"), "mine");
    expect_refused(RUN, out, "out holds notes.txt, which is no result of a run");
    cr_expect(exists(in_workspace("out/output.png")) && exists(in_workspace("out/trace.h5")));
    cr_expect_str_eq(read_text(in_workspace("out/notes.txt")), "mine");
}

Test(results, a_folder_that_never_held_results_is_refused)
{
    const char *out = in_workspace("out");

    mkdir(out, 0777);
    mkdir(in_workspace("out/plot"), 0777);
    expect_refused(RUN, out, "out holds plot, which is no result of a run");
    expect_refused(SWEEP "--set nodes.controller.period_us=20,30", out,
                   "out holds plot, which is no result of a sweep");
    cr_expect(exists(in_workspace("out/plot")));
}

static void expect_made(const char *command, const char *made)
{
    struct ended e = run_command("hiloco %s --to %s", command, in_workspace("made/here"));

    expect_status(&e, 0);
    cr_expect(exists(made), "%s", made);
}

/* The results stay as they are, so that they may be read-only. */
Test(results, what_is_made_of_them_can_be_elsewhere)
{
    char out[200], sweep[200], line[600];

    snprintf(out, sizeof out, "%s", in_workspace("out"));
    snprintf(sweep, sizeof sweep, "%s", in_workspace("sweep"));

    expect_run(RUN "--set " RECORD_CONVERTERS("1"), out, 0);
    expect_run(SWEEP "--set nodes.controller.period_us=20,30", sweep, 0);
    snprintf(line, sizeof line, "plot %s", out);
    expect_made(line, in_workspace("made/here/output.png"));
    cr_expect(exists(in_workspace("made/here/plot/output.gp")));
    snprintf(line, sizeof line, "export %s --csv --mcap", out);
    expect_made(line, in_workspace("made/here/controller.csv"));
    cr_expect(exists(in_workspace("made/here/events.csv")));
    cr_expect(exists(in_workspace("made/here/trace.mcap")));
    snprintf(line, sizeof line, "report %s %s", out, sweep);
    expect_made(line, in_workspace("made/here/report.html"));
    snprintf(line, sizeof line, "compare %s %s", out, out);
    expect_made(line, in_workspace("made/here/compare.png"));
    snprintf(line, sizeof line, "plot %s", sweep);
    expect_made(line, in_workspace("made/here/figure.png"));
    snprintf(line, sizeof line, "plot %s --beside %s", sweep, sweep);
    expect_made(line, in_workspace("made/here/figure-beside.png"));
    expect_only(out, of_a_run);
    struct ended e = run_command("ls %s", sweep);
    cr_expect_null(strstr(e.out, "plot"), "%s", e.out);
}

Test(results, what_is_made_of_them_is_not_mixed_with_others)
{
    const char *out = in_workspace("out"), *other = in_workspace("other");
    struct ended e;

    expect_run(RUN, out, 0);
    expect_run(RUN, other, 0);
    e = run_command("hiloco plot %s --to %s", out, other);
    expect_status(&e, 2);
    expect_said(&e, "other: it holds other results: name another folder");
    expect_only(other, of_a_run);
    e = run_command("hiloco export %s --csv --to %s/.", out, out);
    expect_status(&e, 0);
    e = run_command("hiloco plot %s --to %s", in_workspace("nothing"), in_workspace("new"));
    expect_status(&e, 2);
    cr_expect_not(exists(in_workspace("new")));
    e = run_command("hiloco report %s --to %s --out x.html", out, in_workspace("new"));
    expect_status(&e, 2);
    expect_said(&e, "give one of them");
}

/* A picture is a figure where plot/ has its script. */
Test(results, a_picture_of_the_users_own_is_not_removed)
{
    make_all(in_workspace("out"));
    write_text(in_workspace("out/scope.png"), "mine");
    expect_refused(RUN, in_workspace("out"), "out holds scope.png");
}

/* A table is one of the run's where its first line is as export writes it. */
Test(results, a_table_of_the_users_own_is_not_removed)
{
    make_all(in_workspace("out"));
    write_text(in_workspace("out/scope.csv"), "time_s,value\n");
    expect_refused(RUN, in_workspace("out"), "out holds scope.csv");
}

Test(results, a_run_does_not_replace_a_sweep_nor_a_sweep_a_run)
{
    static const char sweep[] = SWEEP "--set nodes.controller.period_us=20,30";

    expect_run(sweep, in_workspace("sweep"), 0);
    expect_run(RUN, in_workspace("run"), 0);
    expect_refused(RUN, in_workspace("sweep"), "sweep holds a sweep, which a run does not replace");
    expect_refused(sweep, in_workspace("run"), "run holds a run, which a sweep does not replace");
    cr_expect(exists(in_workspace("sweep/nodes.controller.period_us=20/trace.h5")));
    expect_only(in_workspace("run"), of_a_run);
}

/* Points too hold what their owner put there. */
Test(results, a_sweep_with_other_files_in_a_point_is_refused)
{
    static const char sweep[] = SWEEP "--set nodes.controller.period_us=20,30";

    expect_run(sweep, in_workspace("out"), 0);
    write_text(in_workspace("out/nodes.controller.period_us=30/notes.txt"), "mine");
    expect_refused(sweep, in_workspace("out"), "period_us=30 holds notes.txt");
    cr_expect(exists(in_workspace("out/nodes.controller.period_us=20/trace.h5")));
}

/* --- in use ---------------- */

/* Whether somebody holds the folder's lock. To take it, only to see that, could come before the run
 * whose folder it is. */
static bool is_taken(const char *out)
{
    FILE *locks = fopen("/proc/locks", "r");
    char line[200];
    struct stat folder;
    bool taken = false;
    unsigned long inode;

    cr_assert_not_null(locks);
    while (stat(out, &folder) == 0 && fgets(line, sizeof line, locks))
        taken |= sscanf(line, "%*d: FLOCK ADVISORY WRITE %*d %*x:%*x:%lu", &inode) == 1 &&
                 inode == folder.st_ino;
    fclose(locks);
    return taken;
}

/* A run has a journal while it records. */
static bool has_begun(void *out)
{
    char path[300];

    snprintf(path, sizeof path, "%s/trace.h5.journal", (const char *)out);
    return is_taken(out) && exists(path);
}

/* A run in virtual time that takes long, and has begun. */
static struct process start_long(const char *out)
{
    struct arguments a = command("hiloco run configs/quickstart.yaml --quiet --set "
                                 "duration_s=100000 --set nodes.converter.count=100 --set "
                                 "record.0.decimation=1000 --out %s",
                                 out);
    struct process p = start(&a);

    cr_assert(wait_until(has_begun, (void *)out, 30), "it does not begin");
    return p;
}

/* "Two runs into one folder say so plainly": who has it, and the first goes on. */
Test(results, a_folder_in_use_is_refused_by_the_name_of_who_uses_it)
{
    const char *out = in_workspace("out");
    struct process p = start_long(out);
    char said[400];

    snprintf(said, sizeof said, "out: process %d is writing its results there now (", (int)p.pid);
    expect_refused(RUN, out, said);
    cr_expect_not(has_ended(&p));
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    expect_only(out, of_a_run);
    expect_run(RUN, out, 0);
}

/* Its nodes may still be meeting then, and one of them stop before the others. */
Test(results, a_run_that_is_interrupted_as_it_begins_leaves_its_results)
{
    for (int i = 0; i < 10; i++) {
        const char *out = in_workspace("%d", i);
        struct process p = start_long(out);
        usleep(2000u * (unsigned)i);
        kill(p.pid, SIGINT);
        struct ended e = finish(&p);
        expect_status(&e, 130);
    }
}

Test(results, a_point_in_use_keeps_its_sweep)
{
    static const char sweep[] = SWEEP "--set nodes.controller.period_us=20,30";
    const char *out = in_workspace("out"),
               *point = in_workspace("out/nodes.controller.period_us=20");

    expect_run(sweep, out, 0);
    struct process p = start_long(point);
    expect_refused(sweep, out, "period_us=20: a run is writing its results there now");
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    expect_run(sweep, out, 0);
}

static bool can_run_again(void *out)
{
    struct ended e = run_command(RUN "--out %s", (const char *)out);

    return e.status == 0;
}

/* Its processes hold the folder until they have ended too. */
Test(results, what_a_killed_run_left_is_replaced)
{
    const char *out = in_workspace("out");

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct process p = start_long(out);
    kill(p.pid, SIGKILL);
    finish(&p);
    cr_expect(wait_until(can_run_again, (void *)out, 30));
    expect_only(out, of_a_run);
}

static bool is_listed(void *out)
{
    char path[300];

    snprintf(path, sizeof path, "%s/nodes.controller.period_us=20/trace.h5.journal",
             (const char *)out);
    return exists(path);
}

static bool can_sweep_again(void *out)
{
    struct ended e =
        run_command(SWEEP "--set nodes.controller.period_us=30,40 --out %s", (const char *)out);

    return e.status == 0;
}

/* Its points may go on for a little; then they are known as its own. */
Test(results, what_a_killed_sweep_left_is_replaced)
{
    const char *out = in_workspace("out");
    struct arguments a = command("hiloco sweep configs/quickstart.yaml --set duration_s=20 --set "
                                 "nodes.controller.period_us=20,50 --jobs 1 --out %s",
                                 out);

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct process p = start(&a);
    cr_assert(wait_until(is_listed, (void *)out, 30));
    kill(p.pid, SIGKILL);
    finish(&p);
    cr_expect(wait_until(can_sweep_again, (void *)out, 60));
    cr_expect_not(exists(in_workspace("out/nodes.controller.period_us=20")));
}

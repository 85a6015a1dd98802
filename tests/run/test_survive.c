/*
 * Records that survive: whoever is killed, and however full the disk, what was recorded is there.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sets.h"
#include "harness/base/autogroup.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(survive, .init = workspace_open, .fini = workspace_close);

#define ENDLESS "hiloco run configs/dcdc20.yaml --mode virtual --set duration_s=100000 --quiet "

/* --- the processes of a run ---------------- */

/* In virtual time there is one that runs the loops, and behind it the one that writes. */
enum { LOOPS, WRITER };

static struct family family;

static struct process start_run(const char *out)
{
    struct arguments a = command(ENDLESS "--out %s", out);
    struct process p = start(&a);

    family = (struct family){.parent = p.pid};
    cr_assert(wait_until(find_children, &family, 60), "its processes do not come");
    return p;
}

static bool is_gone(void *process)
{
    char path[64], state[8] = "";
    const pid_t pid = *(pid_t *)process;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file) {
        int found = fscanf(file, "%*d (%*[^)]) %7s", state);
        cr_assert(found == 1 || found == EOF);
        fclose(file);
    }
    return !file || state[0] == 'Z'; /* nobody waits for an orphan */
}

static void expect_all_gone(void)
{
    for (int i = 0; i < 2; i++)
        cr_expect(wait_until(is_gone, &family.children[i], 60), "process %d is left",
                  (int)family.children[i]);
}

/* --- the record ---------------- */

static double last_row_s(const char *out)
{
    struct column time = column_of(out, "controller/time_s");

    return time.rows ? time.at[time.rows - 1] : 0;
}

/* The journal has rows. */
static bool has_recorded(void *out)
{
    char path[300];
    struct stat status;

    snprintf(path, sizeof path, "%s/trace.h5.journal", (const char *)out);
    return stat(path, &status) == 0 && status.st_size > 200000;
}

static struct process start_recorded(const char *out)
{
    struct process p = start_run(out);

    cr_assert(wait_until(has_recorded, (void *)out, 60), "it records nothing");
    return p;
}

static const char *cut_off(const char *out)
{
    return json_string_value(json_at(summary_of(out), "recorder.cut_off"));
}

static void expect_whole(const char *out)
{
    char path[300];

    snprintf(path, sizeof path, "%s/trace.h5.journal", out);
    cr_expect_not(exists(path));
    cr_expect_gt(last_row_s(out), 0);
}

/* As far as the record goes, it is that of a run that nothing happened to, to the bit. */
static void expect_same_record(const char *out, const char *whole)
{
    static const char *const datasets[] = {"controller/time_s", "controller/output_v",
                                           "controller/voltage_v", "controller/duty"};
    struct ended e = run_command("hiloco run configs/dcdc20.yaml --mode virtual --set "
                                 "duration_s=%.6f --quiet --out %s",
                                 last_row_s(out) + 40e-6, whole);

    expect_status(&e, 0);
    for (size_t i = 0; i < sizeof datasets / sizeof datasets[0]; i++) {
        struct column a = column_of(out, datasets[i]), b = column_of(whole, datasets[i]);
        cr_assert_eq(a.rows, b.rows);
        cr_expect_eq(memcmp(a.at, b.at, a.rows * a.width * sizeof *a.at), 0, "%s", datasets[i]);
    }
}

/* --- signals ---------------- */

static void expect_end_in_order(int signal, int status)
{
    const char *out = in_workspace("out");
    struct process p = start_recorded(out);

    kill(p.pid, signal);
    struct ended e = finish(&p);
    expect_status(&e, status);
    expect_all_gone();
    expect_whole(out);
    cr_expect(json_is_null(json_at(summary_of(out), "recorder.cut_off")));
    cr_expect_float_eq(last_row_s(out), number_at(summary_of(out), "elapsed_s"), 1e-9);
}

Test(survive, a_hang_up_ends_a_run_in_order)
{
    expect_end_in_order(SIGHUP, 129);
}

Test(survive, a_quit_ends_a_run_in_order)
{
    expect_end_in_order(SIGQUIT, 131);
}

/* As nohup has it. */
Test(survive, a_hang_up_that_is_ignored_does_nothing)
{
    struct ended e = run_command("nohup %s run configs/quickstart.yaml --quiet --set "
                                 "duration_s=0.002 --out %s",
                                 program_path("hiloco"), in_workspace("out"));
    expect_status(&e, 0);

    struct arguments a = command("nohup %s run configs/dcdc20.yaml --mode virtual --quiet --set "
                                 "duration_s=100000 --out %s",
                                 program_path("hiloco"), in_workspace("long"));
    struct process p = start(&a);
    cr_assert(wait_until(has_recorded, (void *)in_workspace("long"), 60));
    kill(p.pid, SIGHUP);
    usleep(100000);
    cr_expect_not(has_ended(&p));
    kill(p.pid, SIGINT);
    e = finish(&p);
    expect_status(&e, 130);
}

/* While a thousand nodes find each other nobody hears of it. */
Test(survive, an_interrupt_while_nodes_meet_ends_a_run_in_order)
{
    struct arguments a = command("hiloco run configs/dcdc20-nominal.yaml --mode virtual --set "
                                 "nodes.converter.count=2000 --quiet --out %s",
                                 in_workspace("out"));
    struct process p = start(&a);

    family = (struct family){.parent = p.pid};
    cr_assert(wait_until(find_children, &family, 60));
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    cr_expect_str_empty(e.err);
    expect_all_gone();
}

static bool is_empty_but(const char *folder, const char *name)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    bool so = true;

    while ((entry = readdir(entries)))
        so &= entry->d_name[0] == '.' || strcmp(entry->d_name, name) == 0;
    closedir(entries);
    return so;
}

/* A condition: the program is about to be executed, or is. */
static bool has_output(void *process)
{
    return exists(((struct process *)process)->out_path);
}

/* "A signal before handlers are in place leaves no folder behind." */
Test(survive, a_signal_at_any_moment_leaves_nothing_behind)
{
    for (unsigned i = 0; i < 20; i++) {
        const char *out = in_workspace("out-%u", i);
        struct arguments a = command(ENDLESS "--out %s", out);
        struct process p = start(&a);
        cr_assert(wait_until(has_output, &p, 60));
        usleep(1000 * i * i / 4);
        kill(p.pid, i % 2 ? SIGTERM : SIGHUP);
        struct ended e = finish(&p);
        cr_expect(e.status == (i % 2 ? 130 : 129) || e.status == 128 + (i % 2 ? SIGTERM : SIGHUP),
                  "exit status %d", e.status);
        if (exists(out))
            expect_status(&e, i % 2 ? 130 : 129);
        if (exists(out))
            cr_expect(exists(in_workspace("out-%u/summary.json", i)), "a folder without results");
        cr_expect(is_empty_but(workspace_meeting, "-"), "the nodes' place is left");
    }
}

/* --- who is killed ---------------- */

Test(survive, a_killed_launcher_leaves_its_record_whole)
{
    const char *out = in_workspace("out");
    struct process p = start_recorded(out);

    kill(p.pid, SIGKILL);
    struct ended e = finish(&p);
    expect_status(&e, 128 + SIGKILL);
    expect_all_gone(); /* the last of them writes the rest first */
    expect_whole(out);
    cr_expect_str_eq(cut_off(out), "the launcher was killed");
    cr_expect_float_eq(last_row_s(out), number_at(summary_of(out), "elapsed_s"), 0.1);
}

/* The newest of the run's processes: the one that writes. */
static bool has_new_writer(void *writer)
{
    char path[64];
    int children[2], count = 0;

    snprintf(path, sizeof path, "/proc/%1$d/task/%1$d/children", (int)family.parent);
    FILE *file = fopen(path, "r");
    while (file && count < 2 && fscanf(file, "%d", &children[count]) == 1)
        count++;
    if (file)
        fclose(file);
    if (count < 2 || children[1] == *(pid_t *)writer)
        return false;
    *(pid_t *)writer = children[1];
    return true;
}

static off_t journal_bytes(const char *out)
{
    char path[300];
    struct stat status = {0};

    snprintf(path, sizeof path, "%s/trace.h5.journal", out);
    stat(path, &status);
    return status.st_size;
}

struct growth {
    const char *out;
    off_t from;
};

static bool has_grown(void *growth)
{
    const struct growth *g = growth;

    return journal_bytes(g->out) > g->from + 200000;
}

/* Whoever writes may be killed in the middle of anything: the next one goes on, and no row is
 * missing, in virtual time, where loops wait for it. */
Test(survive, a_killed_writer_is_replaced_and_nothing_is_lost)
{
    const char *out = in_workspace("out"), *whole = in_workspace("whole");
    struct process p = start_recorded(out);
    pid_t writer = family.children[WRITER];

    for (int i = 0; i < 3; i++) {
        struct growth growth = {out, journal_bytes(out)};
        kill(writer, SIGKILL);
        cr_assert(wait_until(has_new_writer, &writer, 60), "no other writer comes");
        cr_assert(wait_until(has_grown, &growth, 60), "it writes nothing");
    }
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    expect_whole(out);
    cr_expect(json_is_null(json_at(summary_of(out), "recorder.cut_off")));
    cr_expect_eq(number_at(summary_of(out), "recorder.dropped"), 0);
    cr_expect_float_eq(last_row_s(out), number_at(summary_of(out), "elapsed_s"), 1e-9);
    expect_same_record(out, whole);
}

/* One that is killed whenever it begins is not started for ever. */
static struct ended kill_each_writer(const char *out, const char *on_error)
{
    struct arguments a = command(ENDLESS "--set on_record_error=%s --out %s", on_error, out);
    struct process p = start(&a);

    family = (struct family){.parent = p.pid};
    cr_assert(wait_until(find_children, &family, 60));
    cr_assert(wait_until(has_recorded, (void *)out, 60));
    for (pid_t writer = family.children[WRITER]; kill(writer, SIGKILL) == 0;)
        if (!wait_until(has_new_writer, &writer, 2))
            break;
    if (strcmp(on_error, "end") != 0)
        kill(p.pid, SIGINT);
    return finish(&p);
}

Test(survive, a_run_goes_on_unrecorded_where_no_writer_lives)
{
    const char *out = in_workspace("out");
    struct ended e = kill_each_writer(out, "go_on");

    expect_status(&e, 1);
    expect_said(
        &e, "trace.h5: the process that writes it was killed; the run continues without a record");
    expect_whole(out);
    cr_expect_str_eq(cut_off(out), "the process that writes it was killed");
}

Test(survive, a_run_ends_without_its_record_where_it_is_to)
{
    struct ended e = kill_each_writer(in_workspace("out"), "end");

    expect_status(&e, 1);
    expect_said(&e, "the run ends");
}

/* All at once, as when a container runs out of memory. */
static void kill_all(const char *out)
{
    struct process p = start_recorded(out);

    kill(p.pid, SIGSTOP); /* so that nobody mends anything meanwhile */
    kill(family.children[WRITER], SIGKILL);
    kill(family.children[LOOPS], SIGKILL);
    kill(p.pid, SIGKILL);
    finish(&p);
    expect_all_gone();
}

Test(survive, what_all_left_who_were_killed_is_recovered)
{
    const char *out = in_workspace("out");
    struct ended e;

    kill_all(out);
    e = run_command("hiloco export %s --csv", out);
    expect_status(&e, 1);
    expect_said(&e, "the run was cut off; hiloco recover ");
    e = run_command("hiloco plot %s", out);
    expect_said(&e, "the run was cut off; hiloco recover ");

    e = run_command("hiloco recover %s", out);
    expect_status(&e, 0);
    expect_said(&e, "trace.h5: controller has ");
    expect_whole(out);
    cr_expect_float_eq(column_of(out, "controller/time_s").at[100], 100 * 40e-6, 1e-12);

    e = run_command("hiloco recover %s", out);
    expect_status(&e, 0);
    e = run_command("hiloco export %s --csv", out);
    expect_status(&e, 0);
}

/* Runs a command of hiloco while the folder is read-only, for the superuser, too. */
static struct ended read_only(const char *folder, const char *command)
{
    char script[700];

    snprintf(script, sizeof script,
             "mount --bind %1$s %1$s && mount -o remount,ro,bind %1$s && exec %2$s %3$s %1$s\n",
             folder, program_path("hiloco"), command);
    write_text(in_workspace("read_only"), script);
    return run_command("unshare -rm sh %s", in_workspace("read_only"));
}

Test(survive, what_is_read_only_is_recovered_in_a_copy)
{
    const char *out = in_workspace("out");
    struct ended e;

    kill_all(out);
    e = run_command("unshare -rm true");
    if (e.status)
        cr_skip("this machine allows no namespace: %s", e.err);
    e = read_only(out, "plot");
    expect_status(&e, 1);
    expect_said(&e, "out cannot be written into: copy it (cp -r), and hiloco recover");
    e = read_only(out, "recover");
    expect_status(&e, 1);
    expect_said(&e, "its folder cannot be written into; copy it (cp -r) and recover the copy");
    e = run_command("cp -r %s %s", out, in_workspace("copy"));
    expect_status(&e, 0);
    e = run_command("hiloco recover %s", in_workspace("copy"));
    expect_status(&e, 0);
    expect_whole(in_workspace("copy"));
}

/* It says what the record tells, and that nobody knows the rest. */
Test(survive, a_recovered_run_has_a_summary_that_says_so)
{
    const char *out = in_workspace("out");

    kill_all(out);
    struct ended e = run_command("hiloco recover %s", out);
    expect_status(&e, 0);
    json_t *summary = summary_of(out);
    cr_expect(json_is_true(json_at(summary, "recovered")));
    cr_expect_str_eq(json_string_value(json_at(summary, "scenario")), "dcdc20");
    cr_expect_str_eq(json_string_value(json_at(summary, "mode")), "virtual");
    cr_expect_eq(number_at(summary, "duration_s"), 100000);
    cr_expect_float_eq(number_at(summary, "elapsed_s"), last_row_s(out), 1e-9);
    cr_expect_str_eq(cut_off(out), "all of the run's processes were killed");
    cr_expect(json_is_false(json_at(summary, "validity.valid")));

    e = run_command("hiloco plot %s", out);
    expect_status(&e, 0);
    cr_expect(strstr(read_text(in_workspace("out/output.svg")), "NOT VALID: it was recovered"));
}

/* A launcher that lives to sum its run up knows more. */
Test(survive, a_summary_that_is_there_stays)
{
    const char *out = in_workspace("out");
    struct process p = start_recorded(out);

    kill(p.pid, SIGKILL);
    finish(&p);
    expect_all_gone();
    char *before = read_text(in_workspace("out/summary.json"));
    struct ended e = run_command("hiloco recover %s", out);
    expect_status(&e, 0);
    cr_expect_str_eq(read_text(in_workspace("out/summary.json")), before);
}

static pid_t child_of(const struct process *p)
{
    char path[64];
    int child = 0;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)p->pid, (int)p->pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &child) != 1)
        child = 0;
    if (file)
        fclose(file);
    return child;
}

static bool find_child(void *process)
{
    return child_of(process) > 0;
}

/* What is recovered is what a run that was not killed has, to the bit. */
Test(survive, what_is_recovered_is_what_was_recorded)
{
    const char *out = in_workspace("out");

    kill_all(out);
    struct ended e = run_command("hiloco recover %s", out);
    expect_status(&e, 0);
    expect_same_record(out, in_workspace("whole"));
}

Test(survive, a_run_is_not_recovered_while_it_runs)
{
    const char *out = in_workspace("out");
    struct process p = start_recorded(out);
    struct ended e = run_command("hiloco recover %s", out);

    expect_status(&e, 2);
    expect_said(&e, "a run is writing its record there now");
    e = run_command("hiloco export %s --csv", out);
    expect_said(&e, "a run is writing it now");
    kill(p.pid, SIGINT);
    e = finish(&p);
    expect_status(&e, 130);
    expect_whole(out);
}

Test(survive, what_is_no_run_is_not_recovered)
{
    struct ended e = run_command("hiloco recover %s", in_workspace("nowhere"));

    expect_status(&e, 2);
    mkdir(in_workspace("empty"), 0700);
    e = run_command("hiloco recover %s", in_workspace("empty"));
    expect_status(&e, 2);
    expect_said(&e, "is not the folder of a run");
}

Test(survive, a_killed_run_is_replaced)
{
    const char *out = in_workspace("out");

    kill_all(out);
    struct ended e = run_command("hiloco run configs/quickstart.yaml --quiet --set "
                                 "duration_s=0.002 --out %s",
                                 out);
    expect_status(&e, 0);
    expect_whole(out);
}

/* --- a sweep ---------------- */

static bool points_run(void *points)
{
    struct family *at = points;

    for (int i = 0; i < 2; i++) {
        at[1 + i].parent = at[0].children[i];
        if (!find_children(&at[1 + i]))
            return false;
    }
    return true;
}

/* Three of four kinds of signals left them spinning. */
static void expect_sweep_to_end(int signal, int status)
{
    struct arguments a =
        command("hiloco sweep configs/dcdc20.yaml --mode virtual --jobs 2 --set "
                "duration_s=100000 --set nodes.controller.period_us=20,40,60 --out %s",
                in_workspace("sweep"));
    struct process p = start(&a);
    struct family all[3] = {{.parent = p.pid}};

    cr_assert(wait_until(find_children, &all[0], 60));
    cr_assert(wait_until(points_run, all, 60));
    kill(p.pid, signal);
    struct ended e = finish(&p);
    expect_status(&e, status);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            cr_expect(wait_until(is_gone, &all[i].children[k], 60), "process %d is left",
                      (int)all[i].children[k]);
    cr_expect(exists(in_workspace("sweep/nodes.controller.period_us=20/summary.json")));
    cr_expect(exists(in_workspace("sweep/nodes.controller.period_us=40/summary.json")));
    cr_expect_not(exists(in_workspace("sweep/nodes.controller.period_us=60")));
}

Test(survive, a_hang_up_takes_the_runs_of_a_sweep)
{
    expect_sweep_to_end(SIGHUP, 129);
}

Test(survive, a_request_to_end_takes_the_runs_of_a_sweep)
{
    expect_sweep_to_end(SIGTERM, 130);
}

Test(survive, a_quit_takes_the_runs_of_a_sweep)
{
    expect_sweep_to_end(SIGQUIT, 131);
}

Test(survive, a_killed_sweep_takes_its_runs)
{
    expect_sweep_to_end(SIGKILL, 128 + SIGKILL);
}

/* --- a full disk ---------------- */

/* A file system of its own, of few bytes; false where this user may not. */
static bool mount_small(const char *at)
{
    mkdir(at, 0700);
    return mount("tmpfs", at, "tmpfs", 0, "size=6m") == 0;
}

/* The journal has what was recorded. There is no room to make the record of it, so it is made on
 * another disk. */
static void run_on_full_disk(const char *on_error, double until_s)
{
    const char *disk = in_workspace("disk"), *out = in_workspace("disk/out");
    const char *copy = in_workspace("copy");

    if (!mount_small(disk))
        cr_skip("mounting a small file system takes root");
    struct ended e =
        run_command("hiloco run configs/dcdc20.yaml --mode virtual --set " RECORD_CONVERTERS(
                        "1") " --set duration_s=3 --quiet "
                             "--set on_record_error=%s --out %s",
                    on_error, out);
    struct ended export = run_command("hiloco export %s --csv", out);
    struct ended recover = run_command("hiloco recover %s", out);
    struct ended copied = run_command("cp -r %s %s", out, copy);
    umount(disk);

    expect_status(&e, 1);
    expect_said(&e, "trace.h5: No space left on device; the run ");
    expect_said(&e, "hiloco recover makes the record from its journal");
    expect_said(&export, "the run was cut off; hiloco recover ");
    expect_status(&recover, 1);
    expect_said(&recover, "trace.h5 cannot be made: No space left on device");
    expect_status(&copied, 0);
    e = run_command("hiloco recover %s", copy);
    expect_status(&e, 0);
    expect_whole(copy);
    json_t *summary = summary_of(copy);
    const double elapsed_s = number_at(summary, "elapsed_s"), recorded_s = last_row_s(copy);
    cr_expect_str_eq(json_string_value(json_at(summary, "recorder.cut_off")),
                     "No space left on device");
    cr_expect_gt(recorded_s, 0.1);
    cr_expect_lt(recorded_s, 2.9);
    cr_expect(until_s > 0 ? elapsed_s > until_s : elapsed_s < 3, "%g s", elapsed_s);
}

Test(survive, a_full_disk_ends_the_record_and_not_the_run)
{
    run_on_full_disk("go_on", 2.9);
}

Test(survive, a_full_disk_ends_the_run_where_it_is_to)
{
    run_on_full_disk("end", 0);
}

/* As good as a full disk, without being root. */
Test(survive, a_file_that_may_not_grow_ends_the_record)
{
    const char *out = in_workspace("out");
    struct rlimit before, limit;

    getrlimit(RLIMIT_FSIZE, &before);
    limit = (struct rlimit){12000000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    struct ended e = run_command(
        ENDLESS "--set on_record_error=end --set " RECORD_CONVERTERS("1") " --out %s", out);
    setrlimit(RLIMIT_FSIZE, &before);
    expect_status(&e, 1);
    expect_said(&e, "trace.h5: File too large; the run ends");
    cr_expect_str_eq(cut_off(out), "File too large");
    e = run_command("hiloco recover %s", out);
    expect_status(&e, 0);
    expect_whole(out);
}

static struct ended run_limited(rlim_t bytes, const char *line, const char *folder)
{
    struct rlimit before, limit;

    getrlimit(RLIMIT_FSIZE, &before);
    limit = (struct rlimit){bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    struct ended e = run_command("%s %s", line, folder);
    setrlimit(RLIMIT_FSIZE, &before);
    return e;
}

/* A process that writes more is killed, unless it has said that it will look itself. */
Test(survive, a_limit_on_files_is_told_by_every_command)
{
    static const struct {
        const char *line, *says;
        rlim_t bytes;
    } cases[] = {
        {"hiloco export --csv", "controller.csv: File too large", 10000},
        {"hiloco plot", "plot data: File too large", 1000},
        {"hiloco plot", "File size limit exceeded", 100000}, /* which kills gnuplot */
        {"hiloco report", "report.html: File too large", 10000},
        {"hiloco run configs/quickstart.yaml --out", "which ulimit -f limits", 10000},
    };
    const char *out = in_workspace("out");
    struct ended e = run_command(
        "hiloco run configs/quickstart.yaml --quiet --set duration_s=0.5 --out %s", out);

    expect_status(&e, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        e = run_limited(cases[i].bytes, cases[i].line, out);
        expect_status(&e, 1);
        expect_said(&e, cases[i].says);
    }
}

/* --- in real time ---------------- */

TestSuite(survive_in_real_time, ALONE, .init = workspace_open_alone, .fini = workspace_close);

static struct process start_in_real_time(const char *out)
{
    struct arguments a = command("hiloco run configs/dcdc20.yaml --mode realtime --set "
                                 "duration_s=120 --out %s",
                                 out);
    struct process p = start(&a);

    family = (struct family){.parent = p.pid};
    cr_assert(wait_until(find_children, &family, 60), "its processes do not come");
    return p;
}

static bool has_summary(void *out)
{
    char path[300];

    snprintf(path, sizeof path, "%s/summary.json", (const char *)out);
    return exists(path);
}

static bool nothing_is_left(void *unused)
{
    (void)unused;
    return is_empty(workspace_meeting);
}

/* Every step that was run has a row, or was counted as dropped, however few were run in time. The
 * controller may have been killed between a step's row and its count. */
static void expect_row_of_each_step(const char *out)
{
    json_t *summary = summary_of(out);
    const double rows = (double)column_of(out, "controller/time_s").rows;
    const double recorded = rows + number_at(summary, "recorder.dropped");
    const double steps = number_at(summary, "nodes.controller.steps");

    cr_expect_gt(rows, 0);
    cr_expect_float_eq(recorded, steps, 1, "%g rows of %g steps", recorded, steps);
}

/* The rings outlive the launcher, and so does the process that empties them: where loops leave it
 * no core, all rows may still be in the rings. */
Test(survive_in_real_time, a_killed_launcher_leaves_its_record_whole)
{
    const char *out = in_workspace("out");
    struct process p = start_in_real_time(out);

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    cr_assert(wait_until(is_running, &p, 60), "it does not begin");
    usleep(500000);
    kill(p.pid, SIGKILL);
    finish(&p);
    expect_all_gone();
    cr_assert(wait_until(has_summary, (void *)out, 60));
    expect_whole(out);
    cr_expect_str_eq(cut_off(out), "the launcher was killed");
    expect_row_of_each_step(out);
    cr_expect(wait_until(nothing_is_left, NULL, 60), "the nodes' place is left");
}

static int session_nice(void)
{
    char *text = read_text("/proc/self/autogroup");
    const int nice = hil_autogroup_parse(text);

    free(text);
    return nice;
}

/* A condition. */
static bool session_is(void *nice)
{
    return session_nice() == *(int *)nice;
}

/* The loops' session has precedence over others while they run, and not after that, however they
 * end. */
static void expect_session_back(bool killed)
{
    const char *out = in_workspace("out");
    int usual = session_nice(), raised = usual == HIL_AUTOGROUP_KEPT || geteuid() ? usual : -20;
    struct process p = start_in_real_time(out);

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    cr_assert(wait_until(is_running, &p, 60), "it does not begin");
    cr_expect(wait_until(session_is, &raised, 10), "nice %d", session_nice());
    kill(p.pid, killed ? SIGKILL : SIGINT);
    finish(&p);
    expect_all_gone();
    cr_expect(wait_until(session_is, &usual, 60), "nice %d", session_nice());
}

Test(survive_in_real_time, the_session_has_precedence_while_the_loops_run)
{
    expect_session_back(false);
}

Test(survive_in_real_time, a_killed_run_leaves_its_session_no_precedence)
{
    expect_session_back(true);
}

/* A condition: whatever the launcher left is this process's child by now, and has ended. */
static bool has_no_child(void *unused)
{
    pid_t ended;

    (void)unused;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return ended < 0;
}

/* Kills the launcher at moments from its first instructions to after its end, and waits until
 * nobody runs any more. */
static void kill_at_each_phase(const char *line)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (unsigned ms = 0; ms < 500; ms += ms < 60 ? 6 : 40) {
        struct arguments a = command("%s --out %s", line, in_workspace("out-%u", ms));
        struct process p = start(&a);
        cr_assert(wait_until(has_output, &p, 60));
        usleep(1000 * ms);
        kill(p.pid, SIGKILL);
        cr_assert(wait_until(has_no_child, NULL, 60), "%u ms: somebody runs still", ms);
    }
}

Test(survive_in_real_time, a_killed_launcher_leaves_nobody_running)
{
    kill_at_each_phase("hiloco run configs/dcdc20.yaml --mode realtime --quiet --set "
                       "duration_s=0.1 --set hang_limit_s=0");
}

Test(survive_in_real_time, a_killed_part_leaves_nobody_running)
{
    char line[300];

    snprintf(line, sizeof line,
             "hiloco node converter[0-19] configs/dcdc20.yaml --set name=%s --set "
             "duration_s=100 --set hang_limit_s=0 --quiet",
             own_name());
    kill_at_each_phase(line);
}

/* A launcher that was killed before its nodes had met left the folder for good. */
Test(survive_in_real_time, a_run_removes_the_folder_of_one_that_was_killed)
{
    char left[120];

    snprintf(left, sizeof left, "%s/hiloco.abcdef", workspace_meeting);
    cr_assert_eq(mkdir(left, 0700), 0);
    snprintf(left, sizeof left, "%s/hiloco.abcdef/node3", workspace_meeting);
    write_text(left, "");
    struct ended e = run_command("hiloco run configs/quickstart.yaml --mode realtime --quiet --set "
                                 "duration_s=0.01 --out %s",
                                 in_workspace("out"));
    expect_ran(&e);
    expect_nothing_left();
}

/* It took 5 s until the others were killed as well, and that was told for the reason. */
Test(survive_in_real_time, a_death_before_the_loops_run_is_told_at_once)
{
    struct arguments a = command("converter configs/dcdc20.yaml --id 0-9 --set name=%s --set "
                                 "duration_s=1 --quiet",
                                 own_name());
    struct process p = start(&a);
    char said[80];

    cr_assert(wait_until(find_child, &p, 60)); /* it waits for the others, who never come */
    const pid_t child = child_of(&p);
    kill(child, SIGKILL);
    struct ended e = finish(&p);
    expect_status(&e, 1);
    snprintf(said, sizeof said, "(process %d) was killed by SIGKILL before its loops ran",
             (int)child);
    expect_said(&e, said);
    cr_expect_null(strstr(strstr(e.err, "was killed") + 1, "was killed"), "told twice:\n%s", e.err);
}

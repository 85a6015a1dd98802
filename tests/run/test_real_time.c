/*
 * Real time over shared memory, in separate processes. This machine may be shared and noisy:
 * nothing here depends on how fast anything was, only on what is accounted for and left.
 * Each test has the cores for itself; see ALONE in workspace.h.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(real_time, ALONE, .init = workspace_open_for_real_time, .fini = workspace_close);

/* --- a run as it should be ---------------- */

/* How late its steps were, how long, and how far apart. */
static void expect_times(json_t *loop)
{
    static const char *const times[] = {"late_us", "step_us", "measured_period_us"};
    static const char *const quantiles[] = {"p50", "p99", "p999", "max"};

    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 4; k++)
            cr_expect_geq(number_at(json_at(loop, times[i]), quantiles[k]), 0, "%s", times[i]);
    cr_expect_gt(number_at(loop, "first_step_us"), 0);
}

/* Each step that was due in the run was run, in time or late, or left out. */
static void expect_all_steps(json_t *summary, const char *loops, double due)
{
    json_t *l = json_at(summary, loops);
    double steps = number_at(l, "steps"), left_out = number_at(l, "left_out");
    double late = number_at(l, "run_late");

    cr_expect_eq(steps + left_out, due, "%s: %g steps and %g left out", loops, steps, left_out);
    cr_expect_leq(late, steps);
    cr_expect_eq(number_at(l, "missed"), late + left_out);
}

/* 0.5 s of 10 us and 40 us. */
static void expect_accounted(json_t *summary)
{
    expect_all_steps(summary, "nodes.converter", 20 * 50000);
    expect_all_steps(summary, "nodes.controller", 12500);
    cr_expect_gt(number_at(summary, "links.1.round_trip_us.p50"), 0);
    expect_times(json_at(summary, "nodes.controller"));
    expect_times(json_at(summary, "nodes.converter"));
}

/* A loop that spins gives its core to nobody of its own will, and finds its memory there. */
static void expect_undisturbed(json_t *summary)
{
    cr_expect_eq(number_at(summary, "realtime.context_switches_voluntary"), 0);
    if (json_is_true(json_at(summary, "realtime.locked")))
        cr_expect_eq(number_at(summary, "realtime.page_faults_in_loop"), 0);
    else
        cr_log_info("page faults are not looked at: the memory is not locked\n");
}

/* The worst first, and no more than ten; of the loops that there are. */
static void expect_worst_misses(json_t *summary)
{
    const json_t *list = json_at(summary, "worst_misses");
    double last = INFINITY;

    cr_assert(json_is_array(list));
    cr_expect_leq(json_array_size(list), 10);
    cr_expect_eq(json_array_size(list) > 0, number_at(summary, "nodes.controller.missed") > 0 ||
                                                number_at(summary, "nodes.converter.missed") > 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *miss = json_array_get(list, i);
        const char *node = json_string_value(json_at(miss, "node"));
        cr_expect(strcmp(node, "controller") == 0 || strncmp(node, "converter[", 10) == 0);
        cr_expect_leq(number_at(miss, "over_us"), last);
        cr_expect_geq(number_at(miss, "time_s"), 0);
        last = number_at(miss, "over_us");
    }
}

static struct column column_in(const char *out, const char *stream, const char *name)
{
    char dataset[60];

    snprintf(dataset, sizeof dataset, "%s/%s", stream, name);
    return column_of(out, dataset);
}

/* "A row carries its step number and the time that the plant has reached": each step once, none
 * before it was due, and no plant goes back. */
static void expect_steps(const char *out, const char *stream)
{
    struct column step = column_in(out, stream, "step"), time = column_in(out, stream, "time_s");
    struct column plant = column_in(out, stream, "plant_time_s");
    const double period_s = strcmp(stream, "controller") == 0 ? 40e-6 : 10e-6;

    cr_assert_gt(step.rows, 0);
    for (size_t i = 0; i < step.rows; i++) {
        cr_assert_eq(step.at[i], round(step.at[i]));
        cr_assert_geq(time.at[i], step.at[i] * period_s - 1e-9, "row %zu", i);
        cr_assert(i == 0 || step.at[i] > step.at[i - 1], "row %zu: step %g", i, step.at[i]);
        cr_assert(i == 0 || plant.at[i] >= plant.at[i - 1], "row %zu: %g s", i, plant.at[i]);
    }
}

static void expect_recorded(const char *out, json_t *summary)
{
    double rows = (double)column_of(out, "controller/output_v").rows;
    double dropped = number_at(summary, "recorder.dropped");

    cr_expect_gt(rows, 0);
    cr_expect_eq(rows + dropped, number_at(summary, "nodes.controller.steps"));
    cr_expect_eq(column_of(out, "controller/voltage_v").width, 20);
    cr_expect(has_column(out, "histograms/converter_to_controller_round_trip/count"));
    expect_steps(out, "controller");
}

/* "In real time over shm, separate processes, it settles at the reference" where the machine
 * lets it; the loop being closed at all shows in the voltage having been near. */
Test(real_time, a_run_is_complete_and_accounted_for)
{
    const char *out = in_workspace("out");
    struct ended e = run_command("hiloco run configs/dcdc20.yaml --mode realtime --set "
                                 "duration_s=0.5 --set " RECORD_CONVERTERS("1") " --out %s",
                                 out);
    json_t *summary = summary_of(out);

    expect_ran(&e);
    cr_expect_str_eq(json_string_value(json_at(summary, "mode")), "realtime");
    cr_expect_str_eq(json_string_value(json_at(summary, "fabric")), "shm");
    expect_accounted(summary);
    expect_undisturbed(summary);
    expect_worst_misses(summary);
    expect_recorded(out, summary);
    expect_steps(out, "converter/007");
    cr_expect(has_column(out, "histograms/controller_period/count"));
    cr_expect_gt(number_at(summary, "measures.output_v.peak"), 120);
    cr_expect(strstr(e.out, "missed"), "%s", e.out);
    expect_nothing_left();
    cr_log_info("real time: %.2f V at the end, %g of 12500 steps missed\n",
                number_at(summary, "measures.output_v.final"),
                number_at(summary, "nodes.controller.missed"));
}

/* "Without the privilege for SCHED_FIFO it still runs, says what is degraded, and records it in
 * the summary": so does one that asks for the ordinary scheduler. */
Test(real_time, the_scheduler_is_in_the_summary)
{
    const char *out = in_workspace("out");
    struct ended e = run_command("hiloco run configs/dcdc20.yaml --mode realtime --set "
                                 "duration_s=0.1 --set nodes.controller.priority=0 --set "
                                 "nodes.converter.priority=0 --out %s",
                                 out);
    json_t *summary = summary_of(out);

    expect_ran(&e);
    cr_expect_str_eq(json_string_value(json_at(summary, "realtime.scheduler")), "SCHED_OTHER");
}

/* "Hybrid sleep-then-spin for long periods": it sleeps, and is accounted for all the same. */
Test(real_time, a_hybrid_wait_sleeps)
{
    const char *out = in_workspace("out");
    struct ended e =
        run_command("hiloco run configs/dcdc20.yaml --mode realtime --set "
                    "duration_s=0.2 --set nodes.controller.wait=hybrid --set "
                    "nodes.converter.wait=hybrid --set nodes.controller.period_us=5000 --set "
                    "nodes.converter.period_us=5000 --out %s",
                    out);
    json_t *summary = summary_of(out);

    expect_ran(&e);
    expect_all_steps(summary, "nodes.converter", 20 * 40);
    cr_expect_gt(number_at(summary, "realtime.context_switches_voluntary"), 10);
}

/* --- several at a time ---------------- */

/* On the ordinary scheduler and any core, so that more processes than cores get on. */
#define OF_ANY_CPU                                                                                 \
    "--set nodes.controller.priority=0 --set nodes.converter.priority=0 --set "                    \
    "nodes.controller.cpu=-1 "                                                                     \
    "--set nodes.converter.cpu=-1 "
#define SHARED OF_ANY_CPU "--set duration_s=0.2 "

/* "A second run of the same scenario at the same time does not collide." */
Test(real_time, two_runs_at_the_same_time)
{
    const char *outs[] = {in_workspace("one"), in_workspace("two")};
    struct process runs[2];

    for (int i = 0; i < 2; i++) {
        struct arguments a =
            command("hiloco run configs/dcdc20.yaml --mode realtime " SHARED "--out %s", outs[i]);
        runs[i] = start(&a);
    }
    for (int i = 0; i < 2; i++) {
        struct ended e = finish(&runs[i]);
        json_t *summary = summary_of(outs[i]);
        expect_ran(&e);
        expect_all_steps(summary, "nodes.converter", 20 * 20000);
        expect_recorded(outs[i], summary);
    }
    expect_nothing_left();
}

static const char *meeting_place(void)
{
    static char path[160];

    snprintf(path, sizeof path, "%s/hiloco-%s", workspace_meeting, own_name());
    return path;
}

static struct process start_part(const char *program)
{
    struct arguments a = command("%s --set name=%s " SHARED, program, own_name());

    return start(&a);
}

/* Starts the programs in this order, and expects all of them to get to the end. */
static void expect_meeting(const char *const *programs)
{
    struct process parts[4];
    unsigned count = 0;

    for (; programs[count]; count++)
        parts[count] = start_part(programs[count]);
    for (unsigned i = 0; i < count; i++) {
        struct ended e = finish(&parts[i]);
        expect_ran(&e);
    }
    cr_expect_not(exists(meeting_place()), "%s is left", meeting_place());
}

/* The controller's record shows that each of the converters was there. */
static void expect_voltages(const char *out, size_t count)
{
    struct column c = column_of(out, "controller/voltage_v");

    cr_assert_eq(c.width, count);
    cr_assert_gt(c.rows, 0);
    for (size_t i = 0; i < count; i++)
        cr_expect_neq(c.at[(c.rows - 1) * count + i], 0, "converter %zu was never heard", i);
}

/* "controller SCENARIO and converter SCENARIO --id 3 / --id 0-19: the same roles as separate
 * programs, started by hand in separate shells": in any order. */
static void expect_parts(const char *first, const char *second, const char *third)
{
    expect_meeting((const char *const[]){first, second, third, NULL});
    expect_voltages(in_workspace("out"), 20);
}

#define LOWER "converter configs/dcdc20.yaml --id 0-9"
#define UPPER "converter configs/dcdc20.yaml --id 10-19"

static const char *controller(void)
{
    static char line[200];

    snprintf(line, sizeof line, "controller configs/dcdc20.yaml --out %s", in_workspace("out"));
    return line;
}

Test(real_time, parts_meet_when_the_controller_is_first)
{
    expect_parts(controller(), LOWER, UPPER);
}

Test(real_time, parts_meet_when_the_controller_is_last)
{
    expect_parts(UPPER, LOWER, controller());
}

Test(real_time, parts_meet_when_the_controller_is_between)
{
    expect_parts(LOWER, controller(), UPPER);
}

/* "hiloco node" names any of the nodes; the one with the first keeps the results. */
Test(real_time, nodes_started_by_name_meet)
{
    char first[400];

    snprintf(first, sizeof first,
             "hiloco node controller,converter[0-9] configs/dcdc20.yaml "
             "--out %s",
             in_workspace("out"));
    expect_meeting(
        (const char *const[]){"hiloco node converter[10-19] configs/dcdc20.yaml", first, NULL});
}

/* Only the controller keeps results, unless asked. */
Test(real_time, a_converter_keeps_results_when_asked)
{
    char line[400];

    snprintf(line, sizeof line, "converter configs/dcdc20.yaml --id 0-19 --out %s",
             in_workspace("conv"));
    expect_meeting((const char *const[]){controller(), line, NULL});
    cr_expect(json_is_null(json_at(summary_of(in_workspace("conv")), "nodes.controller")));
    expect_all_steps(summary_of(in_workspace("conv")), "nodes.converter", 20 * 20000);
    cr_expect(json_is_null(json_at(summary_of(in_workspace("out")), "nodes.converter")));
}

/* --- who may take part ---------------------------------------------------------------------- */

Test(real_time, parts_of_one_secret_meet)
{
    setenv("HILOCO_SECRET", "0123456789abcdef", 1);
    expect_parts(LOWER, controller(), UPPER);
}

Test(real_time, a_part_with_another_secret_is_refused)
{
    setenv("HILOCO_SECRET", "0123456789abcdef", 1);
    struct process parts[2];
    char line[400];

    parts[0] = start_part("converter configs/dcdc20.yaml --id 0-19 --wait 100");
    setenv("HILOCO_SECRET", "0123456789abcdeg", 1);
    snprintf(line, sizeof line, "%s --wait 100", controller());
    parts[1] = start_part(line);
    /* The converters call, and the controller asks them for the proof. */
    cr_expect(wait_until_said(&parts[0], "it has another secret", 60));
    cr_expect(wait_until_said(&parts[1], "it does not know this network's secret", 60));
    for (unsigned i = 0; i < 2; i++) {
        kill(parts[i].pid, SIGINT);
        struct ended e = finish(&parts[i]);
        expect_status(&e, 130);
    }
}

static void write_secret_file(const char *text, mode_t mode)
{
    FILE *f = fopen(in_workspace("secret"), "w");

    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
    cr_assert_eq(chmod(in_workspace("secret"), mode), 0);
    setenv("HILOCO_SECRET_FILE", in_workspace("secret"), 1);
}

Test(real_time, a_part_may_have_the_secret_from_a_file)
{
    setenv("HILOCO_SECRET", "0123456789abcdef", 1);
    struct process parts[] = {start_part(LOWER), start_part(UPPER), {0}};
    unsetenv("HILOCO_SECRET");
    write_secret_file("0123456789abcdef\n", 0600);
    parts[2] = start_part(controller());
    for (int i = 0; i < 3; i++) {
        struct ended e = finish(&parts[i]);
        expect_ran(&e);
    }
    expect_voltages(in_workspace("out"), 20);
}

Test(real_time, a_secret_that_others_may_read_is_refused)
{
    write_secret_file("0123456789abcdef\n", 0640);
    struct ended e = run_command("controller configs/quickstart.yaml");

    expect_status(&e, 2);
    expect_said(&e, "others may read or write it");
}

Test(real_time, a_short_secret_is_refused)
{
    setenv("HILOCO_SECRET", "0123456789abcde", 1);
    struct ended e = run_command("controller configs/quickstart.yaml");

    expect_status(&e, 2);
    expect_said(&e, "HILOCO_SECRET: 16 to 255 random characters are allowed");
}

/* Somebody has made the folder before: others may enter it, or it is no folder. */
static void expect_squatted(void (*squat)(const char *path))
{
    squat(meeting_place());
    struct ended e =
        run_command("controller configs/quickstart.yaml --wait 1 --set name=%s --out %s",
                    own_name(), in_workspace("out"));

    expect_status(&e, 1);
    expect_said(&e, meeting_place());
    expect_said(&e, "others may use the folder");
    expect_said(&e, "HILOCO_SECRET");
    cr_expect_eq(remove(meeting_place()), 0);
}

static void squat_by_folder(const char *path)
{
    cr_assert_eq(mkdir(path, 0755), 0);
}

static void squat_by_file(const char *path)
{
    write_text(path, "");
}

Test(real_time, a_squatted_folder_is_named)
{
    expect_squatted(squat_by_folder);
    expect_squatted(squat_by_file);
}

/* "Node id from the launcher's rank variables when --id is not given." */
static void expect_ranks(const char *rank, const char *size, int first)
{
    struct process parts[3];
    char line[400];

    snprintf(line, sizeof line,
             "%s --set nodes.converter.count=2 --set components.converter.tolerance={}",
             controller());
    parts[2] = start_part(line);
    setenv(size, first ? "3" : "2", 1);
    for (int i = 0; i < 2; i++) {
        setenv(rank, (const char *[]){"0", "1", "2"}[first + i], 1);
        parts[i] = start_part("converter configs/dcdc20.yaml --set nodes.converter.count=2 --set "
                              "components.converter.tolerance={}");
    }
    for (int i = 0; i < 3; i++) {
        struct ended e = finish(&parts[i]);
        expect_ran(&e);
    }
    expect_voltages(in_workspace("out"), 2);
}

Test(real_time, ranks_of_mpirun_are_converters)
{
    expect_ranks("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 0);
}

Test(real_time, ranks_of_srun_count_the_controller_where_there_is_one_more)
{
    expect_ranks("SLURM_PROCID", "SLURM_NTASKS", 1);
}

/* One command for all: by rank, as many as there are executors, and as there are nodes. */
static void expect_node_ranks(unsigned ranks)
{
    struct process parts[3];
    char line[400], rank[16], size[16];

    snprintf(size, sizeof size, "%u", ranks);
    setenv("PMI_SIZE", size, 1);
    for (unsigned i = 0; i < ranks; i++) {
        snprintf(rank, sizeof rank, "%u", i);
        setenv("PMI_RANK", rank, 1);
        snprintf(line, sizeof line,
                 "hiloco node configs/dcdc20.yaml --set nodes.converter.count=2 --set "
                 "components.converter.tolerance={} %s%s",
                 i ? "" : "--out ", i ? "" : in_workspace("out"));
        parts[i] = start_part(line);
    }
    for (unsigned i = 0; i < ranks; i++) {
        struct ended e = finish(&parts[i]);
        expect_ran(&e);
    }
    expect_voltages(in_workspace("out"), 2);
}

Test(real_time, ranks_are_executors_or_nodes)
{
    expect_node_ranks(2);
    expect_node_ranks(3);
}

/* "Wait-for-ready with timeout": and whom it misses. Node 1 is converter[0]. */
Test(real_time, a_controller_alone_says_whom_it_misses)
{
    struct ended e =
        run_command("controller configs/quickstart.yaml --wait 1 --set name=%s --out %s",
                    own_name(), in_workspace("out"));

    expect_status(&e, 1);
    expect_said(&e, "the other nodes did not come: converter[0] in /");
    cr_expect_not(exists(meeting_place()));
}

static bool a_node_has_its_place(void *unused)
{
    glob_t nodes;
    const bool found = glob(in_workspace("m/*/node*"), 0, NULL, &nodes) == 0;

    (void)unused;
    globfree(&nodes);
    return found;
}

Test(real_time, a_controller_says_which_part_is_missing)
{
    struct process lower = start_part(LOWER " --wait 100");

    cr_assert(wait_until(a_node_has_its_place, NULL, 60));
    struct ended e = run_command("%s --wait 1 --set name=%s " SHARED, controller(), own_name());
    expect_status(&e, 1);
    expect_said(&e, "the other nodes did not come: converter[10-19] in /");
    kill(lower.pid, SIGINT); /* it may have ended with the controller */
    finish(&lower);
}

/* Long before it gives up it says for whom it waits, where, and since when; and an interrupt ends
 * that at once. */
Test(real_time, who_waits_says_for_whom_and_where)
{
    struct process lower = start_part(LOWER " --wait 100");

    cr_assert(wait_until_said(&lower, "for controller in /", 60));
    kill(lower.pid, SIGINT);
    struct ended e = finish(&lower);
    expect_status(&e, 130);
    expect_said(&e, "waiting since ");
    expect_said(&e, " for controller in /");
    cr_expect_not(strstr(e.err, "was killed"), "%s", e.err);
    cr_expect_not(exists(meeting_place()));
}

/* Whether one of the process's children is called so. */
static bool has_child(const struct process *p, const char *name)
{
    char path[80], *children, *rest, *child;
    bool found = false;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)p->pid, (int)p->pid);
    children = rest = read_text(path);
    while (!found && (child = strsep(&rest, " ")) && *child) {
        snprintf(path, sizeof path, "/proc/%s/comm", child);
        char *comm = read_text(path);
        comm[strcspn(comm, "\n")] = '\0';
        found = strcmp(comm, name) == 0;
        free(comm);
    }
    free(children);
    return found;
}

/* In ps and top each says what it runs. */
Test(real_time, each_process_has_its_own_name)
{
    struct arguments a =
        command("hiloco run configs/dcdc20.yaml --set duration_s=60 --out %s " OF_ANY_CPU,
                in_workspace("out"));
    struct process p = start(&a);

    cr_assert(wait_until(is_running, &p, 60));
    cr_expect(has_child(&p, "hl-controller"));
    cr_expect(has_child(&p, "hl-convert-0-19"));
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
}

/* Two that want the same place: the second is refused, and the run goes on. */
Test(real_time, the_same_converters_twice_are_refused)
{
    struct process lower = start_part(LOWER " --wait 100");

    cr_assert(wait_until(a_node_has_its_place, NULL, 60));
    struct process twice = start_part(LOWER " --wait 100");
    struct ended e = finish(&twice);
    expect_status(&e, 1);
    expect_said(&e, "another run holds this node's place");
    kill(lower.pid, SIGINT);
    e = finish(&lower);
    expect_status(&e, 130);
}

/* --- sudden ends ---------------- */

static struct process start_long(struct family *f, const char *out)
{
    struct arguments a = command("hiloco run configs/dcdc20.yaml --mode realtime --set "
                                 "duration_s=120 --out %s",
                                 out);
    struct process p = start(&a);

    *f = (struct family){.parent = p.pid};
    cr_assert(wait_until(find_children, f, 30), "the launcher has no children");
    cr_assert(wait_until(is_running, &p, 60));
    cr_assert_not(has_ended(&p));
    return p;
}

static bool is_gone(void *pid)
{
    while (waitpid(-1, NULL, WNOHANG) > 0) /* orphans come to this process */
        ;
    return kill(*(pid_t *)pid, 0) != 0;
}

static void expect_gone(struct family *f)
{
    for (int i = 0; i < 2; i++)
        cr_expect(wait_until(is_gone, &f->children[i], 30), "process %d goes on",
                  (int)f->children[i]);
}

/* "If one dies the others end cleanly and the exit status says so": and what was recorded up to
 * then is kept. */
static void expect_end_after_death(int victim, const char *name)
{
    const char *out = in_workspace("out");
    struct family f;
    struct process p = start_long(&f, out);
    char message[80];

    snprintf(message, sizeof message, "%s (process %d) was killed", name, (int)f.children[victim]);
    kill(f.children[victim], SIGKILL);
    struct ended e = finish(&p);
    expect_status(&e, 1);
    expect_said(&e, message);
    expect_gone(&f);
    expect_nothing_left();

    json_t *summary = summary_of(out);
    cr_expect_gt(number_at(summary, "elapsed_s"), 0);
    cr_expect_lt(number_at(summary, "elapsed_s"), 120);
    double rows = (double)column_of(out, "controller/output_v").rows;
    double lost = number_at(summary, "nodes.controller.steps") -
                  number_at(summary, "recorder.dropped") - rows;
    cr_expect_gt(rows, 100);
    cr_expect(fabs(lost) <= 1, "%g of %g rows are lost", lost, rows); /* one was being written */
}

Test(real_time, a_killed_converter_process_ends_the_run)
{
    expect_end_after_death(CONVERTERS, "converter[0-19]");
}

Test(real_time, a_killed_controller_process_ends_the_run)
{
    expect_end_after_death(CONTROLLER, "controller");
}

/* A plant that stands still, and is late from then on, is in the record as that. */
Test(real_time, a_plant_that_stands_still_is_in_the_record)
{
    const char *out = in_workspace("out");
    struct family f;
    struct process p = start_long(&f, out);
    double latest = 0;

    kill(f.children[CONVERTERS], SIGSTOP);
    usleep(400000);
    kill(f.children[CONVERTERS], SIGCONT);
    usleep(200000);
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    expect_steps(out, "controller");
    struct column time = column_of(out, "controller/time_s");
    struct column plant = column_of(out, "controller/plant_time_s");
    for (size_t i = 0; i < time.rows; i++)
        latest = fmax(latest, time.at[i] - plant.at[i]);
    cr_expect_gt(latest, 0.2, "no more than %g s late", latest);
}

/* --- converters that come back ---------------- */

/* A loop that settles however late its steps are: some of them a hundred times their period. */
#define PATIENT                                                                                    \
    "--set on_lost=restart --set components.control.parameters.kp_per_v=0 --set "                  \
    "components.control.parameters.ki_per_v_s=1 "                                                  \
    "--set components.control.parameters.kd_s_per_v=0 --set nodes.controller.period_us=2000 "      \
    "--set nodes.converter.period_us=500 --set nodes.converter.overrun=skip "                      \
    "--set nodes.controller.priority=0 --set nodes.converter.priority=0 --set "                    \
    "nodes.controller.cpu=-1 "                                                                     \
    "--set nodes.converter.cpu=-1 --set duration_s=120 "

/* A run whose voltage is to be right after this many steps of the last node of a program. */
struct settling {
    const struct process *run, *program;
    uint64_t steps;
};

static bool is_settled(void *arg)
{
    const struct settling *s = arg;
    struct hil_attached run;

    if (last_steps_of(s->program) < s->steps || !attach_run(s->run, &run))
        return has_ended(s->run);
    const double volts = atomic_load(&run.state->recent.value);
    hil_state_detach(&run);
    return fabs(volts - 240) < 5;
}

/* However slow this machine is: some steps after now. */
static void expect_to_settle(const struct process *run, const struct process *program)
{
    struct settling s = {run, program, last_steps_of(program) + 200};

    cr_expect(wait_until(is_settled, &s, 60), "it does not settle");
    cr_expect_not(has_ended(run));
}

/* All of them came back, and after that the voltage was where it should be. */
static void expect_return(const char *out, unsigned count)
{
    json_t *summary = summary_of(out);
    json_t *each = json_at(summary, "losses.each"), *one;
    size_t i;

    cr_expect_eq(number_at(summary, "losses.lost"), count, "%g are lost",
                 number_at(summary, "losses.lost"));
    cr_expect_eq(number_at(summary, "losses.back"), count, "%g are back",
                 number_at(summary, "losses.back"));
    cr_assert_eq(json_array_size(each), count);
    json_array_foreach(each, i, one)
    {
        cr_expect_gt(number_at(one, "lost_s"), 0);
        cr_expect_gt(number_at(one, "back_s"), number_at(one, "lost_s"));
    }
    cr_expect_float_eq(number_at(summary, "measures.output_v.final"), 240, 5);
}

/* With on_lost: restart a run goes on without converters whose process was killed, and has them
 * back: "reconnecting a restarted peer is used by the harness". */
Test(real_time, a_killed_converter_process_is_started_again)
{
    const char *out = in_workspace("out");
    struct family f;
    struct arguments a =
        command("hiloco run configs/dcdc20.yaml --mode realtime " PATIENT "--out %s", out);
    struct process p = start(&a);

    f = (struct family){.parent = p.pid};
    cr_assert(wait_until(find_children, &f, 30), "the launcher has no children");
    expect_to_settle(&p, &p);
    kill(f.children[CONVERTERS], SIGKILL);
    cr_assert(wait_until_said(&p, "started again", 60));
    expect_to_settle(&p, &p);
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    expect_said(&e, "was killed by SIGKILL; started again");
    cr_expect(strstr(e.out, "losses      20, the first at"), "%s", e.out);
    expect_return(out, 20);
    expect_nothing_left();
}

/* The controller is what holds a run together. */
Test(real_time, a_killed_controller_process_ends_a_run_that_restarts_converters)
{
    struct family f;
    struct arguments a = command(
        "hiloco run configs/dcdc20.yaml --mode realtime " PATIENT "--out %s", in_workspace("out"));
    struct process p = start(&a);

    f = (struct family){.parent = p.pid};
    cr_assert(wait_until(find_children, &f, 30), "the launcher has no children");
    cr_assert(wait_until(is_running, &p, 60));
    kill(f.children[CONTROLLER], SIGKILL);
    struct ended e = finish(&p);
    expect_status(&e, 1);
    expect_said(&e, "was killed");
    expect_gone(&f);
    expect_nothing_left();
}

static struct process start_patient(const char *program)
{
    struct arguments a = command("%s --set name=%s " PATIENT, program, own_name());

    return start(&a);
}

/* Kills one of two `converter` programs, or ends it in order, and starts it again by hand. */
static void expect_return_by_hand(int signal, int status)
{
    struct process all = start_patient(controller()), lower = start_patient(LOWER);
    struct process upper = start_patient(UPPER);

    expect_to_settle(&all, &upper);
    kill(upper.pid, signal);
    struct ended e = finish(&upper);
    expect_status(&e, status);
    upper = start_patient(UPPER);
    expect_to_settle(&all, &upper);
    kill(all.pid, SIGINT); /* a converter that left before it would be lost */
    e = finish(&upper);
    expect_status(&e, 130);
    e = finish(&lower);
    expect_status(&e, 130);
    e = finish(&all);
    expect_status(&e, 130);
    expect_return(in_workspace("out"), 10);
    cr_expect_not(exists(meeting_place()), "%s is left", meeting_place());
}

Test(real_time, a_killed_converter_program_is_started_again_by_hand)
{
    expect_return_by_hand(SIGKILL, 128 + SIGKILL);
}

Test(real_time, an_interrupted_converter_program_is_started_again_by_hand)
{
    expect_return_by_hand(SIGINT, 130);
}

/* "No shared-memory file outlives the run, also after SIGKILL." */
Test(real_time, a_killed_launcher_takes_all_with_it)
{
    struct family f;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct process p = start_long(&f, in_workspace("out"));
    kill(p.pid, SIGKILL);
    struct ended e = finish(&p);
    expect_status(&e, 128 + SIGKILL);
    expect_gone(&f);
    struct ended named = run_command("find /dev/shm -maxdepth 1 -name *loco*");
    cr_expect_str_empty(named.out);
    struct ended files = run_command("find %s -type f", workspace_meeting);
    cr_expect_str_empty(files.out); /* nobody is left to remove the folder and its sockets */
}

/* "Ctrl-C ends cleanly and still writes what was recorded." */
static void expect_clean_end(int signal)
{
    const char *out = in_workspace("out");
    struct family f;
    struct process p = start_long(&f, out);

    kill(p.pid, signal);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    expect_gone(&f);
    expect_nothing_left();
    json_t *summary = summary_of(out);
    cr_expect_lt(number_at(summary, "elapsed_s"), 120);
    expect_recorded(out, summary);
    cr_expect(strstr(e.out, "results"), "no closing words:\n%s", e.out);
}

Test(real_time, an_interrupt_ends_it_in_order)
{
    expect_clean_end(SIGINT);
}

Test(real_time, a_request_to_end_ends_it_in_order)
{
    expect_clean_end(SIGTERM);
}

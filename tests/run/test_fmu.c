/*
 * FMUs in whole runs: in place of what is built in, in virtual time and in real time, and those
 * that fail. They are those of tests/fmu.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../bank_text.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

/* FMUs lie in the workspace, and are unpacked in its folder unpacked/. */
static void open_fmus(void)
{
    static const char *const names[] = {"buck2",       "buck3",  "controller2",
                                        "controller3", "probe2", "probe3"};
    const char *build = getenv("HILOCO_BUILD");

    workspace_open();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ended e =
            run_command("cp %s/fmu/%s.fmu %s", build ? build : "build", names[i], workspace);
        expect_status(&e, 0);
    }
    cr_assert_eq(mkdir(in_workspace("unpacked"), 0700), 0);
    setenv("TMPDIR", in_workspace("unpacked"), 1);
}

TestSuite(fmu_runs, .init = open_fmus, .fini = workspace_close, .timeout = 240);

static const char bucks[] = "name: %s\n"
                            "duration_s: 0.02\n"
                            "mode: virtual\n" BANK_WITH_SOURCES("2", BANK_LOAD("0.01", "1.2"));

static void write_bucks(void)
{
    char text[2000];

    snprintf(text, sizeof text, bucks, own_name());
    write_text(in_workspace("s.yaml"), text);
}

static struct ended run_scenario(const char *folder, const char *options)
{
    return run_command("hiloco run %s --out %s %s", in_workspace("s.yaml"),
                       in_workspace("%s", folder), options);
}

static void expect_run(const char *folder, const char *options)
{
    struct ended e = run_scenario(folder, options);

    expect_status(&e, 0);
    cr_expect(is_empty(in_workspace("unpacked")), "%s leaves a folder", folder);
}

/* --- in place of what is built in ------------------------------------------------------------- */

/* Bit for bit. */
static void expect_same(const char *dataset)
{
    const struct column built_in = column_of(in_workspace("built-in"), dataset);
    const struct column fmu = column_of(in_workspace("fmu"), dataset);

    cr_assert_gt(built_in.rows, 0u, "%s", dataset);
    cr_assert_eq(built_in.rows, fmu.rows);
    cr_assert_eq(built_in.width, fmu.width);
    cr_expect_eq(memcmp(built_in.at, fmu.at, built_in.rows * built_in.width * sizeof *fmu.at), 0,
                 "%s differs", dataset);
}

static void expect_same_buck(const char *plant)
{
    char options[200];

    write_bucks();
    snprintf(options, sizeof options, "--set components.converter.model=./%s", plant);
    expect_run("built-in", "");
    expect_run("fmu", options);
    expect_same("controller/output_v");
    expect_same("controller/voltage_v");
    expect_same("controller/duty");
}

Test(fmu_runs, the_buck_of_fmi_2_is_the_built_in_one)
{
    expect_same_buck("buck2.fmu");
}

Test(fmu_runs, the_buck_of_fmi_3_is_the_built_in_one)
{
    expect_same_buck("buck3.fmu");
}

/* Plant and controller are FMUs, on a node each. */
static const char loop[] =
    "name: %s\nduration_s: 0.05\nmode: virtual\nhang_limit_s: 20\n"
    "nodes:\n  control: {period_us: 100, cpu: -1, priority: 0}\n"
    "  stage: {period_us: 50, cpu: -1, priority: 0, overrun: catch_up}\n"
    "components:\n"
    "  law: {model: ./controller%d.fmu, node: control, settings: {kind: sampled},\n"
    "        inputs: {setpoint: 12}, parameters: {%s}}\n"
    "  plant: {model: ./buck%d.fmu, node: stage}\n"
    "connections:\n"
    "  - {from: law.output, to: plant.duty}\n"
    "  - {from: plant.voltage_v, to: law.measurement}\n"
    "record:\n  - {signals: [plant.voltage_v, law.output], node: control}\n"
    "measures:\n  voltage_v: {sum: plant.voltage_v}\n";

static void write_loop(int version)
{
    char text[2000];

    snprintf(text, sizeof text, loop, own_name(), version,
             version == 2 ? "gain_integral: 20" : "gains_1: 0.001, gains_2: 20", version);
    write_text(in_workspace("s.yaml"), text);
}

static void expect_regulates(int version)
{
    write_loop(version);
    expect_run("out", "");
    const struct column v = column_of(in_workspace("out"), "control/voltage_v");
    cr_expect_float_eq(v.at[v.rows * v.width - 1], 12, 0.01);
}

Test(fmu_runs, a_controller_of_fmi_2_regulates)
{
    expect_regulates(2);
}

Test(fmu_runs, a_controller_of_fmi_3_regulates)
{
    expect_regulates(3);
}

/* Time of the FMU is a step's number times the period: it does not depend on what ran before. */
Test(fmu_runs, a_copy_of_the_scenario_gives_the_same_record)
{
    write_loop(3);
    expect_run("out", "");
    struct ended e = run_command("hiloco run %s --out %s", in_workspace("out/scenario.yaml"),
                                 in_workspace("again"));
    expect_status(&e, 0);
    e = run_command("cmp %s %s", in_workspace("out/trace.h5"), in_workspace("again/trace.h5"));
    expect_status(&e, 0);
}

/* --- in real time ----------------------------------------------------------------------------- */

Test(fmu_runs, in_real_time)
{
    write_loop(2);
    struct ended e =
        run_scenario("out", "--mode realtime --set duration_s=0.2 --set validity.required=false");

    expect_ran(&e);
    cr_expect_gt(number_at(summary_of(in_workspace("out")), "nodes.stage.steps"), 0);
    cr_expect(is_empty(in_workspace("unpacked")));
}

/* --- what goes wrong -------------------------------------------------------------------------- */

static const char probe[] = "name: %s\nduration_s: 0.02\nmode: virtual\nhang_limit_s: 2\n"
                            "nodes:\n  one: {period_us: 1000, cpu: -1, priority: 0}\n"
                            "components:\n"
                            "  tried:\n    model: ./probe%d.fmu\n    node: one\n"
                            "    parameters: {behaviour: %d, at: 5}\n"
                            "    settings: {message: from within}\n%s";

static void write_probe(int version, int behaviour, const char *more)
{
    char text[2000];

    snprintf(text, sizeof text, probe, own_name(), version, behaviour, more);
    write_text(in_workspace("s.yaml"), text);
}

enum {
    WARNS = 1,
    DISCARDS,
    FAILS,
    DIES,
    HANGS,
    CRASHES,
    PRINTS,
    EXITS,
    REFUSES,
    ENDS,
    LIES = 12,
    CHATS
};

static struct ended run_probe(int version, int behaviour, int status)
{
    write_probe(version, behaviour, "");
    struct ended e = run_scenario("out", "");

    expect_status(&e, status);
    cr_expect(is_empty(in_workspace("unpacked")), "it leaves a folder");
    return e;
}

Test(fmu_runs, what_it_says_is_in_the_log)
{
    struct ended e = run_probe(2, WARNS, 0);
    expect_said(&e, "tried: it says (warning): from within");
    e = run_probe(3, WARNS, 0);
    expect_said(&e, "tried: it says (warning): from within");
}

Test(fmu_runs, a_step_that_is_discarded_or_fails_ends_the_run)
{
    struct ended e = run_probe(2, DISCARDS, 1);
    expect_said(&e, "tried: it says (discard): from within");
    expect_said(&e, "tried: fmi2DoStep returned discard for the step from 0.005 s to 0.006 s");
    e = run_probe(3, FAILS, 1);
    expect_said(&e, "tried: fmi3DoStep returned error for the step from 0.005 s to 0.006 s");
    e = run_probe(3, DIES, 1);
    expect_said(&e, "tried: fmi3DoStep returned fatal for the step from 0.005 s to 0.006 s");
}

Test(fmu_runs, what_it_says_is_called_what_it_is)
{
    for (int version = 2; version <= 3; version++) {
        struct ended e = run_probe(version, CHATS, 0);
        expect_said(&e, "note: tried: it says: from within");
        cr_expect_null(strstr(e.err, "error: "), "%s", e.err);
        e = run_probe(version, WARNS, 0);
        expect_said(&e, "warning: tried: it says (warning): from within");
        e = run_probe(version, LIES, 0);
        expect_said(&e, "warning: tried: it says (warning): from within");
    }
}

Test(fmu_runs, one_that_ends_the_simulation_ends_the_run_in_order)
{
    for (int version = 2; version <= 3; version++) {
        write_probe(version, ENDS, "record:\n  - {signals: [tried.steps], node: one}\n");
        struct ended e = run_scenario("out", "");
        expect_status(&e, 0);
        cr_expect(strstr(e.out, "ended       by tried (probe), at 0.006000 s"), "%s", e.out);
        cr_expect_eq(number_at(summary_of(in_workspace("out")), "ended_by.time_s"), 0.006);
        const struct column steps = column_of(in_workspace("out"), "one/steps");
        cr_expect_eq(steps.rows, 7u, "the last step is recorded");
    }
}

/* It ends long before the scenario does. */
Test(fmu_runs, one_that_ends_the_simulation_in_real_time)
{
    write_probe(2, ENDS, "");
    struct ended e =
        run_scenario("out", "--mode realtime --set validity.required=false --set duration_s=100");

    expect_status(&e, 0);
    cr_expect_lt(number_at(summary_of(in_workspace("out")), "ended_by.time_s"), 99);
    cr_expect(strstr(e.out, "ended       by tried (probe), at "), "%s", e.out);
}

/* Without a start value only the FMU knows the value, so zero is set as any other. */
Test(fmu_runs, a_parameter_is_set_to_zero)
{
    const char *build = getenv("HILOCO_BUILD");
    char text[1000];

    struct ended e = run_command("%s/fmu/make_bad no-start %s %s", build ? build : "build",
                                 in_workspace("probe2.fmu"), in_workspace("own.fmu"));
    expect_status(&e, 0);
    static const char *const given[] = {"", "gain: 0", "gain: 3"};
    static const double factor[] = {1, 0, 3};
    for (unsigned i = 0; i < 3; i++) {
        snprintf(text, sizeof text,
                 "name: %s\nduration_s: 0.01\nmode: virtual\nnodes: {n: {period_us: 1000}}\n"
                 "components: {p: {model: ./own.fmu, node: n, parameters: {%s}}}\n"
                 "record: [{signals: [p.y_1, p.offset], node: n}]\n",
                 own_name(), given[i]);
        write_text(in_workspace("s.yaml"), text);
        expect_run("out", "");
        const struct column y = column_of(in_workspace("out"), "n/y_1");
        const struct column offset = column_of(in_workspace("out"), "n/offset");
        cr_expect_eq(y.at[5], factor[i] + offset.at[5], "%s", given[i]);
    }
}

/* A local variable is recorded, measured and connected from. */
Test(fmu_runs, local_variables_are_signals)
{
    char text[1000];

    for (int version = 2; version <= 3; version++) {
        snprintf(text, sizeof text,
                 "name: %s\nduration_s: 0.01\nmode: virtual\nnodes: {n: {period_us: 1000}}\n"
                 "components:\n  p: {model: ./probe%d.fmu, node: n}\n"
                 "  g: {model: gain, node: n, parameters: {gain: 2}}\n"
                 "connections: [{from: p.inner_count, to: g.input}]\n"
                 "measures: {c: {sum: p.inner_count}}\n"
                 "record: [{signals: [p.inner_count, p.steps, g.output], node: n}]\n",
                 own_name(), version);
        write_text(in_workspace("s.yaml"), text);
        expect_run("out", "");
        const struct column count = column_of(in_workspace("out"), "n/inner_count");
        const struct column twice = column_of(in_workspace("out"), "n/output");
        cr_expect_eq(count.at[7], 7);
        cr_expect(twice.at[7] == 12 || twice.at[7] == 14, "%g", twice.at[7]);
        struct ended e = run_command("hiloco run %s --out %s", in_workspace("out/scenario.yaml"),
                                     in_workspace("again"));
        expect_status(&e, 0);
        e = run_command("cmp %s %s", in_workspace("out/trace.h5"), in_workspace("again/trace.h5"));
        expect_status(&e, 0);
        e = run_command("hiloco models %s", in_workspace("probe%d.fmu", version));
        cr_expect(strstr(e.out, "inner_count"), "%s", e.out);
        run_command("rm -r %s", in_workspace("again"));
    }
}

/* An FMU that other tools take is taken, and the warning is printed once. */
Test(fmu_runs, a_warning_is_printed_once)
{
    const char *build = getenv("HILOCO_BUILD");
    char text[1000];

    struct ended e = run_command("%s/fmu/make_bad twice %s %s", build ? build : "build",
                                 in_workspace("probe2.fmu"), in_workspace("twice.fmu"));
    expect_status(&e, 0);
    snprintf(text, sizeof text,
             "name: %s\nduration_s: 0.01\nmode: virtual\nnodes: {n: {period_us: 1000}}\n"
             "components: {p: {model: ./twice.fmu, node: n}}\n",
             own_name());
    write_text(in_workspace("s.yaml"), text);
    e = run_scenario("out", "");
    expect_status(&e, 0);
    const char *first = strstr(e.err, "twice.fmu: 1 of its files is there twice");
    cr_assert(first, "%s", e.err);
    cr_expect_null(strstr(first + 1, "twice.fmu: 1 of"), "%s", e.err);
}

Test(fmu_runs, a_run_may_go_on_without_it)
{
    write_probe(2, FAILS, "    on_error: safe\n    safe: {u_1: 0}\n");
    struct ended e = run_scenario("out", "--set validity.required=false");

    expect_status(&e, 0);
    expect_said(&e, "tried: fmi2DoStep returned error");
    cr_expect_eq(number_at(summary_of(in_workspace("out")), "failures.count"), 1);
}

Test(fmu_runs, what_it_prints_is_not_in_our_output)
{
    struct ended e = run_probe(2, PRINTS, 0);

    cr_expect_null(strstr(e.out, "from within"), "%s", e.out);
    cr_expect(strstr(e.out, "results"), "ours is there: %s", e.out);
    expect_said(&e, "from within");
}

Test(fmu_runs, parameters_that_it_refuses_are_a_mistake)
{
    write_probe(2, REFUSES, "");
    struct ended e = run_command("hiloco check %s", in_workspace("s.yaml"));

    expect_status(&e, 2);
    expect_said(&e,
                "s.yaml:11:17: the model probe refuses the parameters, initial states and period "
                "of tried (fmi2ExitInitializationMode returned error: from within)");
}

/* Two components of one that a process can have once; in virtual time, and on one node. */
Test(fmu_runs, one_that_a_process_can_have_once_is_there_once)
{
    const char *build = getenv("HILOCO_BUILD");
    char text[1000];

    struct ended e = run_command("%s/fmu/make_bad once %s %s", build ? build : "build",
                                 in_workspace("probe3.fmu"), in_workspace("once.fmu"));
    expect_status(&e, 0);
    snprintf(text, sizeof text,
             "name: %s\nduration_s: 0.02\nmode: virtual\n"
             "nodes:\n  one: {period_us: 1000}\n  two: {period_us: 1000}\n"
             "components:\n  a: {model: ./once.fmu, node: one}\n"
             "  b: {model: ./once.fmu, node: two, settings: {message: other}}\n"
             "  c: {model: gain, node: two, inputs: {input: 1}}\n",
             own_name());
    write_text(in_workspace("s.yaml"), text);
    e = run_command("hiloco check %s", in_workspace("s.yaml"));
    expect_status(&e, 2);
    expect_said(&e, "s.yaml:9:14: a and b have the model probe, of which there may be only one in "
                    "a process; allowed: one component of it, for in virtual time a run is one "
                    "process");
    e = run_command("hiloco check %s --mode realtime", in_workspace("s.yaml"));
    expect_status(&e, 0);
    e = run_command("hiloco check %s --mode realtime --set components.b.node=one",
                    in_workspace("s.yaml"));
    expect_status(&e, 2);
    expect_said(&e, "allowed: each on a node, and in a process, of its own");
}

Test(fmu_runs, one_that_does_not_return_is_named)
{
    struct ended e = run_probe(3, HANGS, 1);

    expect_said(&e, "error: tried (probe): it did not return for 2 s");
}

Test(fmu_runs, one_that_crashes_or_leaves_is_named)
{
    struct ended e = run_probe(2, CRASHES, 1);
    expect_said(&e, "error: tried (probe): it ");
    e = run_probe(2, EXITS, 1);
    expect_said(&e, "error: tried (probe): it ");
}

static bool is_tidy(void *arg)
{
    (void)arg;
    return is_empty(in_workspace("unpacked"));
}

static bool is_unpacked(void *arg)
{
    return !is_tidy(arg);
}

Test(fmu_runs, a_run_that_is_killed_leaves_no_folder)
{
    write_probe(2, HANGS, "");
    struct arguments a = command("hiloco run %s --out %s --set hang_limit_s=0",
                                 in_workspace("s.yaml"), in_workspace("out"));
    struct process p = start(&a);

    cr_assert(wait_until(is_unpacked, NULL, 60));
    kill(p.pid, SIGKILL);
    finish(&p);
    cr_expect(wait_until(is_tidy, NULL, 60));
}

Test(fmu_runs, models_shows_both_names)
{
    struct ended e = run_command("hiloco models %s", in_workspace("controller2.fmu"));

    expect_status(&e, 0);
    cr_expect(strstr(e.out, "gain_proportional "), "%s", e.out);
    cr_expect(strstr(e.out, " gain.proportional (tunable)\n"), "%s", e.out);
    cr_expect(is_empty(in_workspace("unpacked")));
}

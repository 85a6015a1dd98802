/*
 * "The same bits on a second run" in virtual time, and what a run records.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(repeat, .init = workspace_open, .fini = workspace_close);
TestSuite(recording, .init = workspace_open, .fini = workspace_close);

/* Runs the reference scenario for a moment, with some more options. */
static const char *record(const char *name, const char *options)
{
    const char *out = in_workspace("%s", name);
    struct ended e = run_command("hiloco run configs/dcdc20.yaml --mode virtual --quiet --set "
                                 "duration_s=0.05 %s --out %s",
                                 options, out);

    cr_assert_eq(e.status, 0, "%s: %s", options, e.err);
    return out;
}

static bool same(const char *a, const char *b, const char *file)
{
    struct ended e = run_command("cmp -s %s/%s %s/%s", a, file, b, file);

    cr_assert_leq(e.status, 1);
    return e.status == 0;
}

static void expect_repeats(const char *options)
{
    const char *one = record("one", options), *two = record("two", options);

    cr_expect(same(one, two, "trace.h5"), "%s: the traces differ", options);
    cr_expect(same(one, two, "summary.json"), "%s: the summaries differ", options);
    cr_expect(same(one, two, "scenario.yaml"), "%s: the scenarios differ", options);
}

/* --- the same bits ---------------- */

Test(repeat, the_same_bits)
{
    expect_repeats("--set " RECORD_CONVERTERS("7"));
}

Test(repeat, the_same_bits_where_it_is_unstable)
{
    expect_repeats("--set nodes.controller.period_us=80");
}

/* --- the same bits, whenever the writer gets a core ---------------- */

enum { SPINNERS = 3, RUNS = 5 };

/* Other work on the machine's cores: it ends with the test, whatever becomes of that. */
static void start_spinners(pid_t *spinners)
{
    for (int i = 0; i < SPINNERS; i++) {
        spinners[i] = fork();
        cr_assert_geq(spinners[i], 0);
        if (spinners[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (volatile unsigned n = 0;; n++)
                ;
        }
    }
}

static void end_spinners(const pid_t *spinners)
{
    for (int i = 0; i < SPINNERS; i++) {
        kill(spinners[i], SIGKILL);
        waitpid(spinners[i], NULL, 0);
    }
}

/* The writer thread takes the rows of many streams as they come, several hundred thousand of
 * them; where they lie in the file must not depend on when it looked. */
static void expect_repeats_under_load(const char *scenario)
{
    pid_t spinners[SPINNERS];

    start_spinners(spinners);
    for (int i = 0; i < RUNS; i++) {
        struct ended e = run_command("hiloco run configs/%s --mode virtual --quiet --out %s",
                                     scenario, in_workspace("%d", i));
        cr_assert_eq(e.status, 0, "%s: %s", scenario, e.err);
    }
    end_spinners(spinners);
    for (int i = 1; i < RUNS; i++)
        cr_expect(same(in_workspace("0"), in_workspace("%d", i), "trace.h5"),
                  "%s: run %d left another file", scenario, i);
}

Test(repeat, the_same_bits_of_converters_that_switch)
{
    expect_repeats_under_load("switched.yaml --set duration_s=0.1");
}

Test(repeat, the_same_bits_of_twenty_recorded_converters)
{
    expect_repeats_under_load("dcdc20.yaml --set " RECORD_CONVERTERS("1") " "
                                                                          "--set duration_s=0.2");
}

/* Streams whose rows are not in a simple proportion, and one with hardly any. */
Test(repeat, the_same_bits_of_streams_out_of_step)
{
    expect_repeats_under_load("dcdc20.yaml --set " RECORD_CONVERTERS(
        "1") " "
             "--set nodes.controller.period_us=7.3 --set record.0.decimation=5003 "
             "--set nodes.converter.stagger_us=0.4 --set duration_s=0.2 "
             "--set "
             "nodes.converter.period_us=[10,10,10,3.1,10,10,10,10,10,10,10,10,10,10,10,10,10,10,10,"
             "10]");
}

#define JITTER "--set " UP_US("2") " --set network.jitter_us=9 "

Test(repeat, the_same_bits_with_jitter)
{
    expect_repeats(JITTER "--set network.seed=5");
}

static bool same_output(const char *a, const char *b)
{
    struct column x = column_of(a, "controller/output_v"), y = column_of(b, "controller/output_v");

    cr_assert_eq(x.rows, y.rows);
    cr_assert_gt(x.rows, 1000);
    return memcmp(x.at, y.at, x.rows * sizeof(double)) == 0;
}

Test(repeat, another_seed_is_another_run)
{
    cr_expect_not(same_output(record("one", JITTER "--set network.seed=5"),
                              record("two", JITTER "--set network.seed=6")));
}

/* The seed is that of the jitter: without any it does nothing. */
Test(repeat, the_seed_does_nothing_without_jitter)
{
    cr_expect(
        same_output(record("one", "--set network.seed=5"), record("two", "--set network.seed=6")));
}

/* "Each run leaves the scenario as it ran. That file runs again, the same." */
Test(repeat, the_scenario_it_leaves_runs_the_same)
{
    const char *one =
        record("one", "--set components.converter.tolerance.seed=3 --set " UP_US("1.5"));
    struct ended e =
        run_command("hiloco run %s/scenario.yaml --quiet --out %s", one, in_workspace("two"));

    expect_status(&e, 0);
    cr_expect(same(one, in_workspace("two"), "trace.h5"), "the traces differ");
    cr_expect(same(one, in_workspace("two"), "scenario.yaml"), "the scenarios differ");
}

/* --- changes act at steps -------------------- */

/* A load and a reference that change at these times. */
#define CHANGES(load_s, reference_s)                                                               \
    "--set " NO_LOAD                                                                               \
    " --set " LOAD_STEPS("[{'time_s':" load_s ",'value':2}]") " --set " REFERENCE_STEPS(           \
        "[{'time_s':" reference_s ",'value':11}]")

/* "A change between two steps acts at each converter's next step", and one of the reference at the
 * controller's: 3.7 us off the grid is the next point of it. */
Test(repeat, a_change_between_two_steps_acts_at_the_next)
{
    const char *between = record("one", CHANGES("0.0200037", "0.0300037"));
    const char *next = record("two", CHANGES("0.02001", "0.03004"));
    const char *before = record("three", CHANGES("0.02", "0.03004"));

    cr_expect(same_output(between, next));
    cr_expect_not(same_output(between, before));
}

/* --- what is recorded ---------------- */

static void expect_rows(const char *out, const char *dataset, size_t rows, size_t width)
{
    struct column c = column_of(out, dataset);

    cr_expect_eq(c.rows, rows, "%s: %zu rows in place of %zu", dataset, c.rows, rows);
    cr_expect_eq(c.width, width, "%s: width %zu in place of %zu", dataset, c.width, width);
    free(c.at);
}

static void expect_times(const char *out, const char *dataset, double apart_s)
{
    struct column c = column_of(out, dataset);

    for (size_t i = 0; i < c.rows; i++)
        cr_assert(fabs(c.at[i] - (double)i * apart_s) < 1e-12, "row %zu of %s at %.12g s", i,
                  dataset, c.at[i]);
    free(c.at);
}

/* "recorder.dropped": virtual time waits for the writer, and 1250 steps make 1250 rows. */
Test(recording, nothing_is_dropped_in_virtual_time)
{
    const char *out = record("out", "--set " RECORD_CONVERTERS("1"));

    cr_expect_eq(number_at(summary_of(out), "recorder.dropped"), 0);
    expect_rows(out, "controller/time_s", 1250, 1);
    expect_rows(out, "controller/output_v", 1250, 1);
    expect_rows(out, "controller/reference_v", 1250, 1);
    expect_rows(out, "controller/voltage_v", 1250, 20);
    expect_rows(out, "controller/duty", 1250, 20);
    expect_rows(out, "converter/019/voltage_v", 5000, 1);
    expect_times(out, "controller/time_s", 40e-6);
}

Test(recording, the_output_is_the_sum_of_the_voltages)
{
    const char *out = record("out", "");
    struct column sum = column_of(out, "controller/output_v");
    struct column each = column_of(out, "controller/voltage_v");

    for (size_t i = 0; i < sum.rows; i++) {
        double total = 0;
        for (size_t k = 0; k < each.width; k++)
            total += each.at[i * each.width + k];
        cr_assert(fabs(sum.at[i] - total) < 1e-9, "row %zu: %.12g and %.12g", i, sum.at[i], total);
    }
    cr_expect(fabs(sum.at[sum.rows - 1] - 240) < 1);
}

/* "One record of every so many controller steps." */
Test(recording, decimation)
{
    const char *out = record("out", "--set record.0.decimation=7");

    expect_rows(out, "controller/voltage_v", (1250 + 6) / 7, 20);
    expect_times(out, "controller/time_s", 7 * 40e-6);
    cr_expect_eq(number_at(summary_of(out), "nodes.controller.steps"), 1250);
}

Test(recording, decimation_to_nothing)
{
    const char *out = record("out", "--set record.0.decimation=0");

    cr_expect_not(has_column(out, "controller/time_s"));
    cr_expect_eq(number_at(summary_of(out), "nodes.controller.steps"), 1250);
}

/* "One record by each converter itself of every so many of its steps; 0: none." */
Test(recording, each_converters_own)
{
    const char *out = record("out", "--set " RECORD_CONVERTERS("10"));

    for (int i = 0; i < 20; i++) {
        char dataset[40];
        snprintf(dataset, sizeof dataset, "converter/%03d/current_a", i);
        expect_rows(out, dataset, 500, 1);
    }
    expect_times(out, "converter/007/time_s", 100e-6);
    cr_expect_not(has_column(record("none", ""), "converter/000/time_s"));
}

Test(recording, only_what_is_asked_for)
{
    const char *out = record("out", "--set record.0.signals=[]");

    expect_rows(out, "controller/output_v", 1250, 1);
    cr_expect_not(has_column(out, "controller/voltage_v"));
    cr_expect_not(has_column(out, "controller/duty"));
}

/* "Datasets with units as attributes." */
Test(recording, every_dataset_has_its_unit)
{
    static const char *const units[][2] = {
        {"controller/time_s", "s"},
        {"controller/output_v", "V"},
        {"controller/voltage_v", "V"},
        {"converter/000/current_a", "A"},
        {"histograms/converter_to_controller_round_trip/lower_ns", "ns"},
    };
    const char *out = record("out", "--set " RECORD_CONVERTERS("100"));

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        cr_expect_str_eq(column_text(out, units[i][0], "unit"), units[i][1], "%s", units[i][0]);
}

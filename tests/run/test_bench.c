/*
 * What the programs of tests/bench do with their rows: which they choose, how often they run them,
 * what they print and save, and when. build/bench-sample has rows of which the numbers are known.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(bench, .init = workspace_open, .fini = workspace_close);

static struct arguments sample(const char *options)
{
    return command("%s --out %s %s", program_path("bench-sample"), in_workspace("bench.json"),
                   options);
}

static struct ended bench(const char *options)
{
    struct arguments a = sample(options);

    return run(&a);
}

static json_t *saved(void)
{
    json_error_t error;
    json_t *all = json_load_file(in_workspace("bench.json"), 0, &error);

    cr_assert(all, "%s", error.text);
    return all;
}

/* The result of a benchmark. */
static json_t *row_of(json_t *all, const char *name)
{
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(all, "results"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0)
            return row;
    }
    cr_assert(false, "there is no %s", name);
    return NULL;
}

/* Where the line of a benchmark's result begins. */
static const char *line_of(const struct ended *e, const char *name)
{
    char begin[64];

    snprintf(begin, sizeof begin, "\n%s ", name);
    const char *line = strstr(e->out, begin);
    cr_assert(line, "no line of %s in:\n%s", name, e->out);
    return line + 1;
}

static void expect_in_line(const struct ended *e, const char *name, const char *text)
{
    const char *line = line_of(e, name), *found = strstr(line, text);

    cr_expect(found && found < strchr(line, '\n'), "not said of %s: %s\nbut:\n%s", name, text,
              e->out);
}

/* --- which benchmarks ------------------------------------------------------------------------- */

Test(bench, patterns_choose_and_no_pattern_chooses_all)
{
    cr_expect_str_eq(bench("--list").out,
                     "count\nlong\nfilling\nleft_out\nfailing\nmany_cores\nendless\n");
    cr_expect_str_eq(bench("--list --only l*").out, "long\nleft_out\n");
    cr_expect_str_eq(bench("--list --only many* --only count").out, "count\nmany_cores\n");
    cr_expect_str_eq(bench("--list --quick").out, "count\nleft_out\n");
    cr_expect_str_eq(bench("--list --quick --only l*").out, "left_out\n");
}

static const struct mistake {
    const char *options, *said;
} mistakes[] = {
    {"--quik", "'--quik'"},
    {"--only nothing*", "--only nothing*: no benchmark is named so"},
    {"--only count --only nothing*", "--only nothing*: no benchmark is named so"},
    {"--quick --only long", "--only long: no benchmark of --quick is named so"},
    {"--runs 0", "--runs 0: expected a whole number from 1 to 1000"},
    {"--runs 3x", "--runs 3x: expected"},
    {"--runs 1001", "--runs 1001: expected"},
    {"--seconds nan", "--seconds nan: expected a number above 0"},
    {"--accounts 10", "--accounts 10: expected"},
    {"--keys 1e9", "--keys 1e9: expected"},
    {"--out /dev/null", "--out /dev/null: expected the name of a file"},
    {"count", "count: expected an option"},
};

Test(bench, a_mistake_is_one_line_and_2)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct ended e = bench(mistakes[i].options);
        expect_status(&e, 2);
        expect_said(&e, mistakes[i].said);
        cr_expect_eq(strchr(e.err, '\n'), e.err + strlen(e.err) - 1, "%s", e.err);
        cr_expect_str_empty(e.out);
    }
}

Test(bench, a_file_that_cannot_be_written_is_told_before_anything_is_measured)
{
    struct ended e = bench("--out /nowhere/bench.json");

    expect_status(&e, 2);
    expect_said(&e, "/nowhere/bench.json cannot be written");
    cr_expect(!strstr(e.out, "count"), "%s", e.out);
}

/* --- how often, and what becomes of it -------------------------------------------------------- */

Test(bench, a_row_that_lasts_over_a_second_runs_once_and_the_others_five_times)
{
    struct ended e = bench("--only count --only long --only filling");
    json_t *all = saved();

    expect_status(&e, 0);
    cr_expect_eq(number_at(row_of(all, "count"), "runs"), 5);
    cr_expect_eq(number_at(row_of(all, "count"), "value"), 3);
    cr_expect_eq(number_at(row_of(all, "long"), "runs"), 1);
    cr_expect_eq(number_at(row_of(all, "filling"), "runs"), 5);
    cr_expect_lt(line_of(&e, "long"), line_of(&e, "count"), "%s", e.out);
    expect_in_line(&e, "count", "0.50  <= 0.60 met");
    expect_in_line(&e, "long", "3.00  <= 2.00 MISSED");
}

Test(bench, runs_that_are_asked_for_are_made_however_long_they_last)
{
    bench("--only count --only long --runs 2");
    cr_expect_eq(number_at(row_of(saved(), "count"), "runs"), 2);
    cr_expect_eq(number_at(row_of(saved(), "long"), "runs"), 2);
}

Test(bench, a_row_whose_loops_left_out_steps_says_so_and_is_not_met)
{
    struct ended e = bench("--only left_out");
    json_t *row = row_of(saved(), "left_out");

    expect_status(&e, 0);
    cr_expect_lt(number_at(row, "ratio"), number_at(row, "target_ratio"));
    cr_expect(json_is_false(json_at(row, "met")));
    cr_expect_eq(number_at(row, "left_out"), 0.25);
    expect_in_line(&e, "left_out", "not met  its loops left out 25 % of their steps");
}

Test(bench, a_row_that_fails_or_lacks_cores_says_why)
{
    struct ended lacking = bench("--only many_cores"), failing = bench("--only failing");

    expect_status(&lacking, 0);
    expect_in_line(&lacking, "many_cores", "skipped: needs 1000 cores");
    expect_status(&failing, 1);
    expect_in_line(&failing, "failing", "skipped: failed: Input/output error");
    cr_expect_str_eq(json_string_value(json_at(row_of(saved(), "failing"), "skipped")),
                     "failed: Input/output error");
}

Test(bench, the_file_has_the_machine_and_its_steal_time)
{
    bench("--only count");
    json_t *all = saved();

    cr_expect_gt(strlen(json_string_value(json_at(all, "machine.cpu"))), 0);
    cr_expect_gt(strlen(json_string_value(json_at(all, "machine.kernel"))), 0);
    cr_expect_geq(number_at(all, "machine.cores"), 1);
    cr_expect_geq(number_at(all, "machine.steal_s"), 0);
    cr_expect_leq(number_at(all, "machine.steal_percent"), 100);
}

/* --- a signal --------------------------------------------------------------------------------- */

/* A condition: the endless row has begun its second run. */
static bool is_endless(void *unused)
{
    (void)unused;
    struct stat at;

    return stat(in_workspace("lock"), &at) == 0 && at.st_size > 0;
}

/* What the row has left behind: a file, and a process that holds a lock. */
static void expect_nothing_is_left(void)
{
    char *file = read_text(in_workspace("lock"));
    const int lock = open(in_workspace("lock"), O_RDWR | O_CLOEXEC);

    cr_expect_eq(flock(lock, LOCK_EX | LOCK_NB), 0, "a process is left");
    cr_expect(!exists(file), "%s is left", file);
    cr_expect(!exists(in_workspace("bench.json.part")));
    close(lock);
}

/* The file has the first pass while the second is measured, and everything at the signal. */
static void end_by(int number)
{
    setenv("SAMPLE_LOCK", in_workspace("lock"), 1);
    struct arguments a = sample("--only count --only endless");
    struct process p = start(&a);

    cr_assert(wait_until(is_endless, NULL, 60));
    cr_expect_eq(number_at(row_of(saved(), "count"), "runs"), 1);
    kill(p.pid, number);
    struct ended e = finish(&p);
    expect_status(&e, 128 + number);
    expect_said(&e, "what was measured until then is in ");
    cr_expect_eq(number_at(row_of(saved(), "count"), "runs"), 2);
    cr_expect_eq(number_at(row_of(saved(), "endless"), "value"), 7);
    cr_expect_str_eq(json_string_value(json_at(saved(), "ended_by")),
                     number == SIGINT ? "SIGINT" : "SIGTERM");
    expect_nothing_is_left();
}

Test(bench, sigterm_saves_what_was_measured_and_leaves_nothing)
{
    end_by(SIGTERM);
}

Test(bench, sigint_does_too)
{
    end_by(SIGINT);
}

/* --- two builds ------------------------------------------------------------------------------- */

/* Another build: its row counts otherwise. */
static void write_other(const char *values)
{
    char text[4200];

    snprintf(text, sizeof text, "#!/bin/sh\nSAMPLE_VALUES='%s' exec '%s' \"$@\"\n", values,
             program_path("bench-sample"));
    write_text(in_workspace("other"), text);
    cr_assert_eq(chmod(in_workspace("other"), 0700), 0);
}

/* The pairs are 1/1, 2/4, 3/6, 4/2 and 5/10; the ratio of the medians is 3/4. */
Test(bench, beside_another_build_is_the_median_of_the_pairs_ratios)
{
    char options[200];

    write_other("1 4 6 2 10");
    snprintf(options, sizeof options, "--only count --beside %s", in_workspace("other"));
    struct ended e = bench(options);
    json_t *row = row_of(saved(), "count");

    expect_status(&e, 0);
    cr_expect_eq(number_at(row, "runs"), 5);
    cr_expect_eq(number_at(row, "value"), 3);
    cr_expect_eq(number_at(row, "against_value"), 4);
    cr_expect_eq(number_at(row, "ratio"), 0.5);
    cr_expect(json_is_null(json_at(row, "met")));
    cr_expect_str_eq(json_string_value(json_at(row, "against")), in_workspace("other"));
}

Test(bench, beside_says_which_build_has_no_result)
{
    char options[200];

    write_other("");
    snprintf(options, sizeof options, "--only failing --beside %s", in_workspace("other"));
    struct ended e = bench(options);
    expect_status(&e, 1);
    expect_said(&e, "failing of this build: failed: Input/output error");
    e = bench("--only count --beside /bin/true");
    expect_status(&e, 2);
    expect_said(&e, "/bin/true does not answer");
}

/* --- two files -------------------------------------------------------------------------------- */

#define RESULTS(rows) "{\"machine\": {\"cpu\": \"X\", \"cores\": 2}, \"results\": [" rows "]}"

#define RESULT(name, value, low, high, more, more_keys)                                            \
    "{\"name\": \"" name "\", \"unit\": \"ns\", \"value\": " value ", \"spread\": [" low ", " high \
    "], \"more_is_better\": " more ", \"runs\": 5, \"ratio\": 0.5" more_keys "}"

#define SKIPPED "{\"name\": \"skipped\", \"unit\": \"ns\", \"skipped\": \"failed\"}"

static const char before[] = RESULTS(RESULT("time", "100", "90", "110", "false", "") "," RESULT(
    "rate", "100", "90", "110", "true", "") "," RESULT("same", "100", "90", "110", "false",
                                                       "") "," SKIPPED "," RESULT("gone", "1", "1",
                                                                                  "1", "true", ""));

static const char after[] =
    RESULTS(RESULT("time", "150", "140", "160", "false", ", \"left_out\": 0.1") "," RESULT(
        "rate", "150", "140", "160", "true", "") "," RESULT("same", "115", "105", "120", "false",
                                                            "") "," SKIPPED);

/* Both are goals of the same name as files: make must not build them. */
static struct ended compare(const char *a, const char *b)
{
    return run_command("env -u MAKEFLAGS -u MAKELEVEL make -s BUILD=%s bench-compare %s %s",
                       in_workspace("build"), a, b);
}

Test(bench, compare_tells_what_became_better_and_worse)
{
    char a[200], b[200];

    snprintf(a, sizeof a, "%s", in_workspace("A.json"));
    snprintf(b, sizeof b, "%s", in_workspace("B.json"));
    write_text(a, before);
    write_text(b, after);
    struct ended e = compare(a, b);
    expect_status(&e, 0);
    expect_in_line(&e, "time", "1.50  worse");
    expect_in_line(&e, "time", "B left out 10 % of its steps");
    expect_in_line(&e, "rate", "1.50  better");
    expect_in_line(&e, "same", "1.15  alike");
    expect_in_line(&e, "skipped", "A skipped: failed");
    cr_expect(strstr(e.out, "\n1 better, 1 worse, 1 alike, 0 unsure, 1 skipped\n"), "%s", e.out);
    cr_expect(strstr(e.out, "\nonly in A: gone\n"), "%s", e.out);
}

Test(bench, compare_refuses_what_is_not_results)
{
    write_text(in_workspace("A.json"), before);
    write_text(in_workspace("B.json"), "{\"results\": [{\"name\": \"time\"}]}");
    struct ended e = compare(in_workspace("A.json"), in_workspace("B.json"));
    expect_status(&e, 2);
    expect_said(&e, "B.json: these are no results of build/bench --out");
    e = compare(in_workspace("A.json"), "/nowhere.json");
    expect_status(&e, 2);
    expect_said(&e, "/nowhere.json: No such file or directory");
    e = compare(in_workspace("A.json"), "");
    expect_status(&e, 2);
    expect_said(&e, "expected two files of results");
}

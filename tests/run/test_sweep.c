/*
 * The critical period as `hiloco sweep` finds it, and the sweep itself.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(sweep, .init = workspace_open, .fini = workspace_close);

/* One converter, as all are alike; long enough to tell growth from decay. */
#define SHORT_SWEEP                                                                                \
    "hiloco sweep configs/dcdc20-nominal.yaml --mode virtual --set nodes.converter.count=1 "       \
    "--set duration_s=1 --set record.0.signals=converter.voltage_v "

static json_t *index_of(const char *out)
{
    char path[400];
    json_error_t error;

    snprintf(path, sizeof path, "%s/sweep.json", out);
    json_t *root = json_load_file(path, 0, &error);
    cr_assert_not_null(root, "%s: %s", path, error.text);
    return root;
}

static json_t *point_at(json_t *index, size_t i)
{
    json_t *point = json_array_get(json_at(index, "points"), i);

    cr_assert_not_null(point, "there is no point %zu", i);
    return point;
}

static const char *folder_of(const char *out, json_t *point)
{
    static char path[800];

    snprintf(path, sizeof path, "%s/%s", out, json_string_value(json_at(point, "dir")));
    return path;
}

static bool settles(const char *out, size_t i)
{
    json_t *summary = summary_of(folder_of(out, point_at(index_of(out), i)));

    return json_is_true(json_at(summary, "measures.output_v.settled"));
}

/* --- the critical period ---------------- */

struct critical {
    double latency_us, period_us;
};

/* "One-way latency moves the critical period: 0, 2, 5, 10, 20 us give 45.5, 44.1, 40.4, 36.1,
 * 26.1 us with aligned phases." A plant step holds its duty for 10 us, so the delay moves in
 * steps of that where the periods are in a simple proportion; at half a microsecond to either
 * side all five are clear of it. */
static const struct critical critical[] = {{0, 45.5}, {2, 44.1}, {5, 40.4}, {10, 36.1}, {20, 26.1}};

ParameterizedTestParameters(sweep, the_critical_period_moves_with_latency)
{
    static size_t at[] = {0, 1, 2, 3, 4};

    return cr_make_param_array(size_t, at, sizeof at / sizeof at[0]);
}

ParameterizedTest(size_t *i, sweep, the_critical_period_moves_with_latency)
{
    const struct critical *c = &critical[*i];
    struct ended e = run_command(
        SHORT_SWEEP
        "--set " UP_AND_DOWN_US("%g", "%g") " --set "
                                            "nodes.controller.period_us=%.1f,%.1f --out %s",
        c->latency_us, c->latency_us, c->period_us - 0.5, c->period_us + 0.5, in_workspace("out"));

    expect_status(&e, 0);
    cr_expect(settles(in_workspace("out"), 0), "%g us: %.1f us does not settle", c->latency_us,
              c->period_us - 0.5);
    cr_expect_not(settles(in_workspace("out"), 1), "%g us: %.1f us settles", c->latency_us,
                  c->period_us + 0.5);
}

/* "The critical period found by `hiloco sweep` between 45 and 46 us": in the table that a
 * person reads, with all 20 converters. */
Test(sweep, finds_the_critical_period)
{
    struct ended e =
        run_command("hiloco sweep configs/dcdc20-nominal.yaml --mode virtual --set "
                    "duration_s=1 --set nodes.controller.period_us=44,45,46,47 --out %s",
                    in_workspace("out"));

    expect_status(&e, 0);
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(settles(in_workspace("out"), i), i < 2, "point %zu", i);
    for (int period = 44; period <= 47; period++) {
        char name[40];
        snprintf(name, sizeof name, "nodes.controller.period_us=%d ", period);
        char *line = strstr(e.out, name);
        cr_assert_not_null(line, "the table has no %s:\n%s", name, e.out);
        *strchr(line, '\n') = '\0';
        cr_expect_eq(strstr(line, "does not settle") == NULL, period < 46, "%s", line);
        *strchr(line, '\0') = '\n';
    }
}

/* --- the sweep itself ---------------- */

#define QUICK_SWEEP "hiloco sweep configs/quickstart.yaml --set duration_s=0.002 "

static void expect_values(json_t *point, const char *first, const char *second)
{
    json_t *values = json_at(point, "values");

    cr_expect_str_eq(json_string_value(json_array_get(values, 1)), first);
    cr_expect_str_eq(json_string_value(json_array_get(values, 2)), second);
    cr_expect_eq(json_integer_value(json_at(point, "status")), 0);
}

/* "The cartesian product": each combination is run with its own values. */
Test(sweep, runs_the_cartesian_product)
{
    static const char *const periods[] = {"20", "40", "50"}, *const counts[] = {"1", "2"};
    const char *out = in_workspace("out");
    struct ended e = run_command(QUICK_SWEEP "--set nodes.controller.period_us=20,40,50 --set "
                                             "nodes.converter.count=1,2 --out %s",
                                 out);
    json_t *index = index_of(out);

    expect_status(&e, 0);
    cr_expect_eq(json_array_size(json_at(index, "points")), 6);
    cr_expect_eq(json_array_size(json_at(index, "keys")), 3);
    for (size_t i = 0; i < 6; i++) {
        json_t *point = point_at(index, i), *summary = summary_of(folder_of(out, point));
        expect_values(point, periods[i / 2], counts[i % 2]);
        cr_expect_eq(number_at(summary, "nodes.controller.period_us"), atof(periods[i / 2]));
        cr_expect_eq(number_at(summary, "nodes.converter.count"), atof(counts[i % 2]));
        cr_expect(strstr(e.out, json_string_value(json_at(point, "dir"))), "not in the table");
    }
}

/* What a run did comes two spaces after the last column, which ends where its head ends. */
Test(sweep, the_columns_are_below_their_heads)
{
    struct ended e =
        run_command("hiloco sweep configs/quickstart.yaml --set duration_s=0.05 --set "
                    "components.converter.parameters.inductor_resistance_ohm=0.025,0.03 "
                    "--set nodes.controller.period_us=10,20 --out %s",
                    in_workspace("out"));

    expect_status(&e, 0);
    const size_t head = strcspn(e.out, "\n");
    const char *line = e.out;
    for (unsigned i = 0; i < 4; i++) {
        line += strcspn(line, "\n") + 1;
        cr_assert_gt(strcspn(line, "\n"), head, "%s", e.out);
        cr_expect_eq(strncmp(line + head, "  settles", 9), 0, "%s", e.out);
    }
}

/* sweep.json has the figures of every run, and the units of what varies. */
Test(sweep, has_the_figures_of_every_run)
{
    const char *out = in_workspace("out");
    struct ended e =
        run_command(QUICK_SWEEP "--set nodes.controller.period_us=20,40 --set "
                                "components.control.parameters.ki_per_v_s=100 --out %s",
                    out);
    json_t *index = index_of(out), *units = json_at(index, "units");
    static const char *const expected[] = {"s", "us", "1/(V s)"};

    expect_status(&e, 0);
    for (size_t i = 0; i < 3; i++)
        cr_expect_str_eq(json_string_value(json_array_get(units, i)), expected[i]);
    for (size_t i = 0; i < 2; i++) {
        json_t *point = point_at(index, i);
        cr_expect(json_equal(json_at(point, "summary"), summary_of(folder_of(out, point))),
                  "point %zu", i);
    }
}

/* A comma inside of brackets belongs to the value. */
Test(sweep, a_list_is_one_value)
{
    const char *out = in_workspace("out");
    struct arguments a = command(QUICK_SWEEP "--out %s", out);

    add_set(&a, "components.control.parameters={kp_per_v: 0.02, ki_per_v_s: 100},{kp_per_v: 0.03}");
    struct ended e = run(&a);
    expect_status(&e, 0);
    cr_expect_eq(json_array_size(json_at(index_of(out), "points")), 2);
}

/* A folder's name has neither blanks nor slashes; each point has a folder of its own all the same.
 */
/* Values with units are numbers of the key's unit, also the ends of a range, and a draw. */
Test(sweep, values_have_units)
{
    struct ended e =
        run_command("hiloco sweep configs/quickstart.yaml --set duration_s=1ms --set "
                    "nodes.controller.period_us=20us,0.04ms --set "
                    "components.converter.parameters.inductance_h=47uH:0.057mH:10uH --out %s",
                    in_workspace("out"));
    const char *const expected[][2] = {
        {"20", "4.7e-5"}, {"20", "5.7e-5"}, {"40", "4.7e-5"}, {"40", "5.7e-5"}};
    json_t *index = index_of(in_workspace("out"));

    expect_status(&e, 0);
    cr_assert_eq(json_array_size(json_at(index, "points")), 4);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 2; k++)
            cr_expect_str_eq(
                json_string_value(json_array_get(json_at(point_at(index, i), "values"), k + 1)),
                expected[i][k]);
    e = run_command("hiloco sweep configs/quickstart.yaml --set duration_s=1ms --runs 2 --set "
                    "components.converter.parameters.load_ohm=2400mOhm~5%% --out %s",
                    in_workspace("drawn"));
    expect_status(&e, 0);
    cr_expect_float_eq(json_number_value(json_at(
                           json_object_get(json_at(index_of(in_workspace("drawn")), "drawn.keys"),
                                           "components.converter.parameters.load_ohm"),
                           "spread")),
                       0.12, 1e-12);
}

Test(sweep, points_whose_values_look_alike_have_folders_of_their_own)
{
    const char *out = in_workspace("out");
    struct arguments a = command(QUICK_SWEEP "--out %s", out);

    add_set(
        &a,
        "components.control.parameters={'kp_per_v': 0.02},{\"kp_per_v\": 0.02},{'kp_per_v':/0.02},"
        "{kp_per_v: 0.02},{kp_per_v: 0.03}");
    struct ended e = run(&a);
    expect_status(&e, 2); /* a slash does not belong there */
    a = command(QUICK_SWEEP "--out %s", out);
    add_set(
        &a,
        "components.control.parameters={'kp_per_v': 0.02},{\"kp_per_v\": 0.02},{kp_per_v: 0.02},"
        "{kp_per_v:  0.02 },{kp_per_v:\t 0.02 }");
    e = run(&a);
    expect_status(&e, 0);
    json_t *points = json_at(index_of(out), "points");
    cr_expect_eq(json_array_size(points), 5);
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < i; k++)
            cr_expect_neq(strcmp(json_string_value(json_at(json_array_get(points, i), "dir")),
                                 json_string_value(json_at(json_array_get(points, k), "dir"))),
                          0, "%zu and %zu share a folder", i, k);
}

/* "Virtual-time points run in parallel": and come out the same. */
Test(sweep, jobs_do_not_change_the_results)
{
    static const char points[] = QUICK_SWEEP "--set nodes.controller.period_us=20,30,40";
    struct ended one = run_command("%s --jobs 1 --out %s", points, in_workspace("one"));
    struct ended three = run_command("%s --jobs 3 --out %s", points, in_workspace("three"));

    expect_status(&one, 0);
    expect_status(&three, 0);
    for (size_t i = 0; i < 3; i++) {
        json_t *point = point_at(index_of(in_workspace("one")), i);
        const char *dir = json_string_value(json_at(point, "dir"));
        struct ended e = run_command("cmp %s/trace.h5 %s/trace.h5", in_workspace("one/%s", dir),
                                     in_workspace("three/%s", dir));
        expect_status(&e, 0);
    }
}

/* "A progress": each point as it ends. */
Test(sweep, says_how_far_it_is)
{
    struct ended e = run_command(QUICK_SWEEP "--set nodes.controller.period_us=20,30 --out %s",
                                 in_workspace("out"));

    expect_said(&e, "1 of 2");
    expect_said(&e, "2 of 2");
}

/* --- Monte Carlo --- */

#define DRAWN_SWEEP                                                                                \
    "hiloco sweep configs/quickstart.yaml --set duration_s=0.005 --set "                           \
    "limits.o.measure=output_v --set limits.o.settling_ms=0.91 --set "                             \
    "components.converter.parameters.inductance_h=47e-6~20%% --set "                               \
    "components.converter.parameters.capacitance_f=470e-6~20e-6:normal "

static double value_of(json_t *point, size_t key)
{
    return atof(json_string_value(json_array_get(json_at(point, "values"), key)));
}

static void expect_same_file(const char *a, const char *b)
{
    struct ended e = run_command("cmp %s %s", in_workspace("%s", a), in_workspace("%s", b));

    expect_status(&e, 0);
}

/* The same seed gives the same runs, bit for bit; and more of them begin with the same. */
Test(sweep, a_seed_draws_the_same_runs)
{
    struct ended e = run_command(DRAWN_SWEEP "--runs 6 --seed 7 --out %s", in_workspace("a"));
    expect_status(&e, 4);
    e = run_command(DRAWN_SWEEP "--runs 6 --seed 7 --jobs 1 --out %s", in_workspace("b"));
    expect_status(&e, 4);
    expect_same_file("a/sweep.csv", "b/sweep.csv");
    expect_same_file("a/distribution.csv", "b/distribution.csv");
    expect_same_file("a/run-0005/trace.h5", "b/run-0005/trace.h5");

    e = run_command(DRAWN_SWEEP "--runs 9 --seed 7 --out %s", in_workspace("more"));
    expect_status(&e, 4);
    expect_same_file("a/run-0005/trace.h5", "more/run-0005/trace.h5");
    e = run_command(DRAWN_SWEEP "--runs 6 --seed 8 --out %s", in_workspace("other"));
    cr_expect_neq(value_of(point_at(index_of(in_workspace("a")), 0), 3),
                  value_of(point_at(index_of(in_workspace("other")), 0), 3));
}

/* What is drawn is what ran, is in its spread, and stands in sweep.json with what drew it. */
Test(sweep, what_is_drawn_is_told)
{
    struct ended e = run_command(DRAWN_SWEEP "--runs 8 --seed 7 --out %s", in_workspace("out"));
    json_t *index = index_of(in_workspace("out"));

    expect_status(&e, 4);
    cr_expect_eq(number_at(index, "drawn.runs"), 8);
    cr_expect_eq(number_at(index, "drawn.seed"), 7);
    json_t *keys = json_at(index, "drawn.keys");
    json_t *drawn = json_object_get(keys, "components.converter.parameters.inductance_h");
    cr_expect_float_eq(number_at(drawn, "nominal"), 47e-6, 1e-18);
    cr_expect_float_eq(number_at(drawn, "spread"), 9.4e-6, 1e-18);
    for (size_t i = 0; i < 8; i++) {
        json_t *point = point_at(index, i);
        const double inductance_h = value_of(point, 3);
        char line[80];
        cr_expect(inductance_h >= 37.6e-6 && inductance_h <= 56.4e-6, "%g", inductance_h);
        snprintf(line, sizeof line, "inductance_h: %s",
                 json_string_value(json_array_get(json_at(point, "values"), 3)));
        char *scenario = read_text(in_workspace("out/run-%04zu/scenario.yaml", i));
        cr_expect_not_null(strstr(scenario, line), "%s", line);
        free(scenario);
    }
}

/* The figures of all runs together are those of each: least, greatest, mean, and which was worst.
 */
Test(sweep, the_distribution_is_that_of_the_runs)
{
    struct ended e = run_command(DRAWN_SWEEP "--runs 20 --seed 7 --out %s", in_workspace("out"));
    json_t *index = index_of(in_workspace("out"));
    double least = INFINITY, greatest = 0, sum = 0;
    size_t worst = 0;
    int passed = 0;

    expect_status(&e, 4);
    for (size_t i = 0; i < 20; i++) {
        json_t *point = point_at(index, i);
        const double ms = number_at(point, "summary.measures.output_v.settling_ms");
        worst = ms > greatest ? i : worst;
        greatest = fmax(greatest, ms);
        least = fmin(least, ms);
        sum += ms;
        passed += json_integer_value(json_at(point, "status")) == 0;
    }
    json_t *of = json_at(index, "distributions.0"), *settling = json_at(of, "figures.1");
    cr_expect_str_eq(json_string_value(json_at(settling, "figure")), "settling_ms");
    cr_expect_eq(number_at(settling, "runs"), 20);
    cr_expect_eq(number_at(settling, "min"), least);
    cr_expect_eq(number_at(settling, "max"), greatest);
    cr_expect_eq(number_at(settling, "p99"), greatest);
    cr_expect_float_eq(number_at(settling, "mean"), sum / 20, 1e-12);
    cr_expect(passed > 0 && passed < 20, "%d", passed);
    cr_expect_eq(number_at(of, "passed"), passed);
    char name[40];
    snprintf(name, sizeof name, "run-%04zu", worst);
    cr_expect_str_eq(json_string_value(json_at(of, "worst.dir")), name);
    cr_expect_not_null(strstr(e.out, "20 runs of seed 7, "), "%s", e.out);
}

/* A run that does not settle is the worst, and takes longer than any other. */
Test(sweep, a_run_that_does_not_settle_is_the_worst)
{
    struct ended e = run_command("hiloco sweep configs/quickstart.yaml --set duration_s=0.05 --set "
                                 "nodes.controller.period_us=42~20%% --runs 8 --out %s",
                                 in_workspace("out"));
    json_t *index = index_of(in_workspace("out"));
    json_t *of = json_at(index, "distributions.0"), *settling = json_at(of, "figures.1");
    unsigned settled = 0;

    expect_status(&e, 0);
    for (size_t i = 0; i < 8; i++) {
        json_t *point = point_at(index, i);
        const bool settles = json_is_true(json_at(point, "summary.measures.output_v.settled"));
        settled += settles;
        if (strcmp(json_string_value(json_at(point, "dir")),
                   json_string_value(json_at(of, "worst.dir"))) == 0)
            cr_expect_not(settles);
        cr_expect_float_eq(fmod(value_of(point, 1) * 1e3, 1), 0, 1e-9, "no whole ns");
    }
    cr_expect(settled > 0 && settled < 8, "%u", settled);
    cr_expect_eq(number_at(settling, "runs"), settled);
    cr_expect(json_is_null(json_at(settling, "max")));
}

/* Each value of another key has the same runs. */
Test(sweep, each_combination_has_its_distribution)
{
    struct ended e =
        run_command("hiloco sweep configs/quickstart.yaml --set duration_s=0.002 --set "
                    "components.converter.parameters.load_ohm=2.4~0.5 --set "
                    "nodes.controller.period_us=20,40 --runs 3 --out %s",
                    in_workspace("out"));
    json_t *index = index_of(in_workspace("out"));

    expect_status(&e, 0);
    cr_expect_eq(json_array_size(json_at(index, "points")), 6);
    for (size_t i = 0; i < 3; i++)
        cr_expect_eq(value_of(point_at(index, i), 1), value_of(point_at(index, i + 3), 1));
    cr_expect(exists(in_workspace("out/nodes.controller.period_us=40,run-0002/summary.json")));
    cr_expect_eq(json_array_size(json_at(index, "distributions")), 2);
    cr_expect_str_eq(json_string_value(json_at(index, "distributions.1.of")),
                     "nodes.controller.period_us=40");
}

/* --- bisection --- */

/* "The largest period that passes: for dcdc20-nominal 45.5 us": it lies at 45.46. */
Test(sweep, bisection_is_in_its_files_in_the_order_of_the_range)
{
    struct ended e = run_command(SHORT_SWEEP "--set duration_s=3 --set limits.o.measure=output_v "
                                             "--set limits.o.settling_ms=3000 --bisect "
                                             "nodes.controller.period_us=40:50:0.01 --out %s",
                                 in_workspace("out"));
    json_t *index = index_of(in_workspace("out")), *found = json_at(index, "bisection");
    double before = 0;
    size_t i;
    json_t *point;

    expect_status(&e, 0);
    cr_expect(json_is_true(json_at(found, "found")));
    cr_expect_str_eq(json_string_value(json_at(found, "which")), "largest");
    const double passes = atof(json_string_value(json_at(found, "passes")));
    const double fails = atof(json_string_value(json_at(found, "fails")));
    cr_expect_float_eq(passes, 45.5, 0.05, "%g", passes);
    cr_expect_float_eq(fails, passes + 0.01, 1e-9);
    json_array_foreach(json_at(index, "points"), i, point)
    {
        const double period_us = value_of(point, 6);
        const char *verdict = json_string_value(json_at(point, "summary.verdict"));
        cr_expect_gt(period_us, before);
        cr_expect_str_eq(verdict, period_us <= passes ? "passed" : "failed");
        before = period_us;
    }
    const json_t *path = json_at(found, "path");
    static const char *const tried[] = {"nodes.controller.period_us=40",
                                        "nodes.controller.period_us=50",
                                        "nodes.controller.period_us=45"};
    cr_expect_eq(json_array_size(path), json_array_size(json_at(index, "points")));
    for (i = 0; i < sizeof tried / sizeof tried[0]; i++)
        cr_expect_str_eq(json_string_value(json_array_get(path, i)), tried[i]);
    char *csv = read_text(in_workspace("out/sweep.csv"));
    const char *first = strstr(csv, ",40,0,passed,"), *last = strstr(csv, ",50,4,failed,");
    cr_expect(first && last && first < last, "%s", csv);
    free(csv);
}

/* The largest is the largest from whichever end it is looked for. */
Test(sweep, bisection_may_go_down)
{
    struct ended e = run_command("hiloco sweep configs/quickstart.yaml --set duration_s=0.01 --set "
                                 "limits.o.measure=output_v --set limits.o.settling_ms=1 --bisect "
                                 "nodes.controller.period_us=40:20:-5 --out %s",
                                 in_workspace("out"));

    expect_status(&e, 0);
    cr_expect_not_null(strstr(e.out, "the largest value that passes is 30 us; 35 us fails"), "%s",
                       e.out);
}

/* --- for a CI --- */

Test(sweep, has_a_suite_for_each_point)
{
    struct ended e = run_command("hiloco sweep configs/quickstart.yaml --set duration_s=0.01 --set "
                                 "limits.o.measure=output_v --set limits.o.settling_ms=1 --set "
                                 "nodes.controller.period_us=20,40 --tap - --junit %s --out %s",
                                 in_workspace("verdicts.xml"), in_workspace("out"));

    expect_status(&e, 4);
    cr_expect_eq(strncmp(e.out,
                         "TAP version 14\n# hiloco\n1..4\n"
                         "ok 1 - nodes.controller.period_us=20: run\n"
                         "ok 2 - nodes.controller.period_us=20: o.settling_ms\n"
                         "ok 3 - nodes.controller.period_us=40: run\n"
                         "not ok 4 - nodes.controller.period_us=40: o.settling_ms\n",
                         179),
                 0, "%s", e.out);
    char *xml = read_text(in_workspace("verdicts.xml"));
    cr_expect_not_null(strstr(xml, "tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"0\""), "%s",
                       xml);
    free(xml);
}

/* --- exit statuses --- */

static void expect_refused(const char *sets, const char *said)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(QUICK_SWEEP "%s --out %s", sets, out);

    expect_status(&e, 2);
    expect_said(&e, said);
    cr_expect_not(exists(out), "%s left results", sets);
}

Test(sweep, starts_nothing_when_one_value_is_wrong)
{
    expect_refused("--set nodes.controller.period_us=20,-3", "--set nodes.controller.period_us=-3");
    expect_refused("--set components.control.model=pid,pif", "pif");
    expect_refused("--set nodes.controller.period_us", "KEY=VALUE");
    expect_refused("--set nodes.controller.period_us=20,", "nodes.controller.period_us");
    expect_refused("--set nodes.controller.period_us=20~5%", "--runs is missing");
    expect_refused("--runs 3", "no value is drawn");
    expect_refused("--seed 3", "no value is drawn");
    expect_refused("--set nodes.controller.period_us=20~0 --runs 2", "NOMINAL~SPREAD");
    expect_refused("--set nodes.controller.period_us=20~5%:gauss --runs 2", "NOMINAL~SPREAD");
    expect_refused("--set nodes.controller.period_us=20~5,30~5 --runs 2", "NOMINAL~SPREAD");
    expect_refused("--set nodes.controller.period_us=20~5 --runs 2 --seed -1", "--seed -1");
    expect_refused("--set nodes.controller.period_us=20~5 --runs 0", "--runs 0");
    expect_refused("--junit /nowhere/verdicts.xml", "/nowhere/verdicts.xml: cannot be written");
    expect_refused("--set limits.o.measure=output_v --set limits.o.settling_ms=1 --bisect "
                   "nodes.controller.period_us=20:40:1 --tap -",
                   "not with --bisect");
    expect_refused("--set nodes.controller.period_us=20,40,20", "several of its values are 20");
    expect_refused("--set nodes.controller.period_us=20:20.001:log5",
                   "several of its values are 20");
    expect_refused(
        "--set nodes.controller.period_us=20:21:0.3333333",
        "nodes.controller.period_us: the range has the value 20.3333333 us; required: whole ns");
    expect_refused("--set nodes.controller.period_us=20 --set nodes.controller.period_us=30,40",
                   "nodes.controller.period_us is given twice");
    expect_refused("--set limits.o.measure=output_v --set limits.o.settling_ms=1 --bisect "
                   "nodes.controller.period_us=20:21:0.0001",
                   "required: whole ns");
    expect_refused("--jobs 0", "--jobs 0");
    expect_refused("--jobs many", "--jobs many");
}

/* Side by side they would take each other's cores. */
Test(sweep, runs_one_point_at_a_time_in_real_time)
{
    expect_refused("--mode realtime --jobs 2", "--jobs 2");
}

static bool first_point_runs(void *unused)
{
    (void)unused;
    return exists(in_workspace("out/nodes.controller.period_us=20"));
}

/* Nothing is said of a point that was not run. */
Test(sweep, an_interrupt_leaves_points_that_were_not_run)
{
    const char *out = in_workspace("out");
    struct arguments a = command("hiloco sweep configs/dcdc20.yaml --mode virtual --jobs 1 --set "
                                 "duration_s=2 --set nodes.controller.period_us=20,40,60 --out %s",
                                 out);
    struct process p = start(&a);

    cr_assert(wait_until(first_point_runs, NULL, 60));
    kill(p.pid, SIGINT); /* the point at hand goes on: the terminal would have told it */
    struct ended e = finish(&p);
    expect_status(&e, 130);
    json_t *last = point_at(index_of(in_workspace("out")), 2);
    cr_expect(json_is_null(json_at(last, "status")) && json_is_null(json_at(last, "summary")));
}

/* It is whole at any time: where the new one cannot be written, the one of the beginning stays. */
Test(sweep, writes_its_index_whole_or_not_at_all)
{
    const char *out = in_workspace("out");
    struct arguments a = command("hiloco sweep configs/dcdc20.yaml --mode virtual --jobs 1 --set "
                                 "duration_s=2 --set nodes.controller.period_us=20,40 --out %s",
                                 out);
    struct process p = start(&a);

    cr_assert(wait_until(first_point_runs, NULL, 60));
    cr_assert_eq(mkdir(in_workspace("out/sweep.json.part"), 0700), 0);
    struct ended e = finish(&p);
    expect_status(&e, 1);
    expect_said(&e, "sweep.json: cannot be written");
    json_t *index = index_of(in_workspace("out"));
    cr_expect_eq(json_array_size(json_at(index, "points")), 2);
    cr_expect(json_is_null(json_at(point_at(index, 0), "status")));
}

/* A point that cannot run: in real time two executors need a core each. */
Test(sweep, says_when_a_point_failed)
{
    const char *out = in_workspace("out");
    struct ended e =
        run_command(QUICK_SWEEP "--set nodes.controller.cpu=0 --set nodes.converter.cpu=0 "
                                "--set mode=virtual,realtime --out %s",
                    out);

    expect_status(&e, 1);
    json_t *index = index_of(out);
    for (size_t i = 0; i < 2; i++)
        cr_expect_eq(json_integer_value(json_at(point_at(index, i), "status")), i == 1 ? 2 : 0);
    cr_expect(json_is_null(json_at(point_at(index, 1), "summary")));
    cr_expect(strstr(e.out, "no results"), "%s", e.out);
    cr_expect(exists(in_workspace("out/mode=virtual/summary.json")));
}

/*
 * Runs that judge: the limits of a scenario, the verdict, the exit status, and what a machine reads
 * of them.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../bank_text.h"
#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(verdict, .init = workspace_open, .fini = workspace_close);

/* Three converters whose load doubles at 0.03 s, which makes a dip of 5.9 %. */
static const char scenario[] =
    "name: judged\n"
    "duration_s: 0.05\n"
    "mode: virtual\n" BANK_WITH_SOURCES("3", BANK_LOAD("0.03", "1.2")) "limits:\n";

/* Runs the scenario with these limits, each a line, into results/NAME. */
static struct ended run_limits(const char *limits, const char *out, const char *more)
{
    char text[4000];

    snprintf(text, sizeof text, "%s%s", scenario, limits);
    write_text(in_workspace("judged.yaml"), text);
    return run_command("hiloco run %s --out %s %s", in_workspace("judged.yaml"), in_workspace(out),
                       more);
}

/* What came of the bound with this name. */
static json_t *finding(const char *out, const char *name)
{
    json_t *limits = json_at(summary_of(in_workspace(out)), "limits"), *limit;
    size_t i;

    json_array_foreach(limits, i, limit)
    {
        if (strcmp(json_string_value(json_at(limit, "name")), name) == 0)
            return limit;
    }
    cr_assert_fail("there is no %s", name);
    return NULL;
}

static void expect_verdict(const char *out, const char *verdict)
{
    cr_expect_str_eq(json_string_value(json_at(summary_of(in_workspace(out)), "verdict")), verdict);
}

static void expect_finding(const char *out, const char *name, const char *verdict)
{
    const char *found = json_string_value(json_at(finding(out, name), "verdict"));

    cr_expect_str_eq(found, verdict, "%s %s: %s", name, found,
                     json_string_value(json_at(finding(out, name), "words")));
}

/* --- verdicts -------------------------------------------------------------------------------- */

Test(verdict, limits_that_are_kept_pass)
{
    struct ended e = run_limits("  o: {measure: output_v, overshoot_pct: 1, settling_ms: 2, "
                                "recovery_ms: 2, dip_pct: 7, rise_pct: 5, ripple: 0.1, "
                                "rms_error: 0.1, steady_error: 0.01, rise_time_ms: 2, max: 38}\n"
                                "  e: {measure: 'voltage_v[*]', events: later, min: 11}\n",
                                "out", "");

    expect_status(&e, 0);
    expect_verdict("out", "passed");
    cr_expect_not_null(strstr(e.out, "verdict     passed: 11 of 11 limits kept\n"), "%s", e.out);
}

Test(verdict, one_that_is_not_kept_fails_and_says_what_when_and_where_it_is_seen)
{
    struct ended e = run_limits("  o: {measure: output_v, dip_pct: 5, rise_pct: 5, "
                                "steady_error: 0, rise_time_ms: 1e-3}\n",
                                "out", "");

    expect_status(&e, 4);
    expect_verdict("out", "failed");
    expect_finding("out", "o.rise_pct", "passed");
    expect_finding("out", "o.steady_error", "failed");
    expect_finding("out", "o.rise_time_ms", "failed");
    json_t *dip = finding("out", "o.dip_pct");
    cr_expect_str_eq(json_string_value(json_at(dip, "verdict")), "failed");
    cr_expect_str_eq(json_string_value(json_at(dip, "signal")), "output_v");
    cr_expect_str_eq(json_string_value(json_at(dip, "figure")), "output.svg");
    cr_expect_float_eq(number_at(dip, "at_most"), 5, 0);

    /* What it says is what the summary has of the event. */
    json_t *summary = summary_of(in_workspace("out"));
    cr_expect_float_eq(number_at(dip, "value"),
                       -number_at(summary, "events.1.measures.output_v.deviation_pct"), 1e-12);
    cr_expect_float_eq(number_at(dip, "time_s"),
                       number_at(summary, "events.1.measures.output_v.extreme_s"), 1e-12);
    cr_expect_not_null(strstr(e.out, "failed      o.dip_pct: output_v: 5.9"), "%s", e.out);
}

Test(verdict, a_run_that_is_not_valid_is_inconclusive_whatever_its_limits_say)
{
    const char *far = "--set " UP_US("300") " --set nodes.controller.input_age_limit_us=200";
    struct ended e = run_limits("  o: {measure: output_v, max: 1}\n", "out", far);

    expect_status(&e, 3);
    expect_verdict("out", "inconclusive");
    e = run_limits("  o: {measure: output_v, max: 1}\n", "any",
                   "--set " UP_US("300") " --set nodes.controller.input_age_limit_us=200 "
                                         "--set validity.required=false");
    expect_status(&e, 4);
    expect_verdict("any", "failed");
}

Test(verdict, a_limit_without_anything_to_judge_is_inconclusive)
{
    struct ended e =
        run_limits("  o: {measure: output_v, events: start_up, recovery_ms: 1}\n", "out", "");

    expect_status(&e, 3);
    expect_finding("out", "o.recovery_ms", "inconclusive");
    expect_verdict("out", "inconclusive");
}

Test(verdict, a_run_that_fails_is_an_error)
{
    struct ended e =
        run_limits("  o: {measure: output_v, max: 100}\n", "out",
                   "--set " UP_US("300") " --set "
                                         "nodes.controller.input_age_limit_us=200 --set "
                                         "nodes.controller.on_stale_input=end --tap -");
    const json_t *summary = summary_of(in_workspace("out"));
    const json_t *reasons = json_object_get(json_object_get(summary, "validity"), "reasons");

    expect_status(&e, 1);
    expect_verdict("out", "error");
    cr_expect(strstr(e.out, "message: 'it ended with status 1: "), "%s", e.out);
    cr_expect(strstr(e.out, json_string_value(json_array_get(reasons, 0))), "%s", e.out);
}

Test(verdict, quiet_runs_say_why_they_fail)
{
    struct ended e = run_limits("  o: {measure: output_v, dip_pct: 5}\n", "out", "--quiet");

    expect_status(&e, 4);
    cr_expect_str_empty(e.out);
    expect_said(&e, "o.dip_pct: output_v");
}

Test(verdict, what_never_comes_is_said_so)
{
    struct ended e =
        run_limits("  o: {measure: output_v, settling_ms: 5}\n"
                   "  s: {signal: output_v, from_s: 0.01, step: {at_s: 0.02, "
                   "within_ms: 1, from: {min: -1e9, max: 1e9}, to: {min: 1000, max: 1e9}}}\n",
                   "out", "--set nodes.controller.period_us=60");

    expect_status(&e, 4);
    cr_expect_not_null(strstr(e.out, "o.settling_ms: output_v: has not settled at 0.02"), "%s",
                       e.out);
    cr_expect_not_null(strstr(e.out, "s.step: output_v: is not in the second band at 0.0"), "%s",
                       e.out);
}

/* --- signals --------------------------------------------------------------------------------- */

Test(verdict, the_worst_of_several_signals_is_named)
{
    struct ended e = run_limits(
        "  band: {signal: 'converter[*].voltage_v', from_s: 0.01, to_s: 0.03, min: 11.9, max: "
        "12.1}\n"
        "  dip: {signal: 'converter[*].voltage_v', from_s: 0.01, min: 11.9}\n"
        "  sum: {signal: output_v, max: 36.5, slope_max: 1e9}\n",
        "out",
        "--set components.converter.overrides.0.id=1 "
        "--set components.converter.overrides.0.parameters.capacitance_f=400e-6");

    expect_status(&e, 4);
    expect_finding("out", "band.min", "passed");
    expect_finding("out", "band.max", "passed");
    expect_finding("out", "sum.slope_max", "passed");
    json_t *dip = finding("out", "dip.min");
    cr_expect_str_eq(json_string_value(json_at(dip, "verdict")), "failed");
    cr_expect_str_eq(json_string_value(json_at(dip, "signal")), "converter[1].voltage_v");
    cr_expect_str_eq(json_string_value(json_at(dip, "figure")), "voltages.svg");
    cr_expect_eq(number_at(dip, "failures"), 3);

    /* The record says the same. */
    struct column voltage = column_of(in_workspace("out"), "controller/voltage_v");
    struct column time = column_of(in_workspace("out"), "controller/time_s");
    double least = INFINITY, at = 0;
    for (size_t row = 0; row < voltage.rows; row++)
        if (time.at[row] >= 0.01 && voltage.at[row * voltage.width + 1] < least) {
            least = voltage.at[row * voltage.width + 1];
            at = time.at[row];
        }
    cr_expect_float_eq(number_at(dip, "value"), least, 1e-12);
    cr_expect_float_eq(number_at(dip, "time_s"), at, 1e-12);
}

/* And it has a mark where the limit failed, which is called after it. */
Test(verdict, the_figure_that_is_named_is_one_that_plot_draws)
{
    char mark[80];
    struct ended e = run_limits("  v: {signal: 'converter[*].voltage_v', max: 1}\n"
                                "  d: {signal: 'control[*].duty', max: 0.1}\n"
                                "  o: {measure: output_v, max: 1}\n"
                                "  e: {measure: 'voltage_v[*]', max: 1}\n",
                                "out", "");

    expect_status(&e, 4);
    e = run_command("hiloco plot %s", in_workspace("out"));
    expect_status(&e, 0);
    for (size_t i = 0; i < 4; i++) {
        json_t *limit = json_array_get(json_at(summary_of(in_workspace("out")), "limits"), i);
        const char *figure = json_string_value(json_at(limit, "figure"));
        cr_assert(exists(in_workspace("out/%s", figure)), "%s", figure);
        char *svg = read_text(in_workspace("out/%s", figure));
        snprintf(mark, sizeof mark, ">%s failed<", json_string_value(json_at(limit, "name")));
        cr_expect(strstr(svg, mark), "%s has no %s", figure, mark);
        free(svg);
    }
}

Test(verdict, a_run_is_like_its_own_record_and_unlike_another)
{
    struct ended e = run_limits("  o: {measure: output_v, max: 100}\n", "golden", "");

    expect_status(&e, 0);
    e = run_command("hiloco export %s --csv", in_workspace("golden"));
    expect_status(&e, 0);
    const char *like = "  g: {signal: 'converter[*].voltage_v', like: {csv: {file: "
                       "golden/controller.csv, column: 'voltage_v_*'}, relative_pct: 0.01}}\n";
    e = run_limits(like, "same", "");
    expect_status(&e, 0);
    e = run_limits(like, "other", "--set components.control.parameters.ki_per_v_s=160");
    expect_status(&e, 4);
    e = run_limits(
        "  g: {signal: [output_v, 'converter[*].voltage_v'], like: {record: {run: golden, "
        "signal: 'converter[*].voltage_v'}, absolute: 0}}\n",
        "uneven", "");
    expect_status(&e, 2);
    e = run_limits("  g: {signal: 'converter[*].voltage_v', like: {record: {run: golden, signal: "
                   "'converter[*].voltage_v'}, absolute: 0}}\n",
                   "exact", "");
    expect_status(&e, 0);
    e = run_limits(like, "longer", "--set duration_s=0.06");
    expect_status(&e, 3);
    cr_expect_not_null(strstr(e.out, "the reference has no row at 0.05"), "%s", e.out);
}

/* --- nodes and links ------------------------------------------------------------------------- */

Test(verdict, timing_has_limits)
{
    struct ended e = run_limits("  n: {nodes: 'converter[*]', missed_percent: 0, late_us: {max: "
                                "1}}\n"
                                "  l: {from: 'converter[*]', to: controller, age_us: {max: 1}, "
                                "round_trip_us: {p50: 10, p99: 1000}}\n"
                                "  b: {from: controller, to: 'converter[*]', round_trip_us: {max: "
                                "10}}\n",
                                "out", "");

    expect_status(&e, 4);
    expect_finding("out", "n.missed_percent", "passed");
    expect_finding("out", "n.late_us.max", "skipped");
    expect_finding("out", "l.age_us.max", "passed");
    expect_finding("out", "l.round_trip_us.p50", "failed");
    expect_finding("out", "l.round_trip_us.p99", "passed");
    expect_finding("out", "b.round_trip_us.max", "failed");
    cr_expect_float_eq(number_at(finding("out", "l.round_trip_us.p50"), "value"),
                       number_at(summary_of(in_workspace("out")), "links.1.round_trip_us.p50"), 0);
}

/* One of three links is late; another one is cut from 20 to 21 ms: the last that came over it is
 * of 19.99 ms. The step of 21 ms takes what is sent then. */
Test(verdict, limits_of_links_name_the_worst_one_and_when_it_was)
{
    struct ended e = run_limits("  l: {from: 'converter[*]', to: controller, age_us: {p50: 100, "
                                "p9999: 100, max: 100}, round_trip_us: {max: 100}}\n"
                                "  b: {from: controller, to: 'converter[*]', round_trip_us: {max: "
                                "100}}\n"
                                "faults:\n"
                                "  cut: {from: 'converter[1]', to: controller, kind: freeze, at_s: "
                                "0.02, duration_s: 0.001}\n"
                                "  late: {from: 'converter[2]', to: controller, kind: delay, "
                                "delay_us: 200, at_s: 0.03, duration_s: 0.001}\n",
                                "out", "");

    expect_status(&e, 4);
    json_t *age = finding("out", "l.age_us.max");
    cr_expect_str_eq(json_string_value(json_at(age, "signal")),
                     "converter[1] -> controller (control[1].voltage_v)");
    cr_expect_float_eq(number_at(age, "value"), 990, 1e-9);
    cr_expect_float_eq(number_at(age, "time_s"), 0.02098, 1e-9);
    json_t *most = finding("out", "l.age_us.p9999");
    cr_expect_str_eq(json_string_value(json_at(most, "verdict")), "failed");
    cr_expect_str_eq(
        json_string_value(json_at(most, "words")),
        "converter[1] -> controller (control[1].voltage_v): 990 us; allowed: at most 100 us; "
        "the greatest was 990 us at 0.02098 s");
    cr_expect_str_eq(json_string_value(json_at(finding("out", "l.round_trip_us.max"), "signal")),
                     "converter[2] -> controller (control[2].voltage_v)");
    cr_expect_str_eq(json_string_value(json_at(finding("out", "b.round_trip_us.max"), "signal")),
                     "controller -> converter[2] (converter[2].duty)");
}

/* 100 converters at 1 us are more than a core can do. */
Test(verdict, missed_steps_fail_with_the_time_of_the_worst)
{
    struct ended e = run_limits("  n: {nodes: 'converter[*]', missed_percent: 0}\n", "out",
                                "--mode realtime --set nodes.converter.count=100 --set "
                                "nodes.converter.period_us=1 --set validity.required=false");

    expect_status(&e, 4);
    json_t *missed = finding("out", "n.missed_percent");
    cr_expect_str_eq(json_string_value(json_at(missed, "verdict")), "failed");
    cr_expect_str_eq(json_string_value(json_at(missed, "figure")), "latency.svg");
    cr_expect_eq(strncmp(json_string_value(json_at(missed, "signal")), "converter[", 10), 0);
    cr_expect_gt(number_at(missed, "value"), 0);
    /* A step that is due before the run ends, at 0.05 s, may begin after it. */
    const double time_s = number_at(missed, "time_s");
    cr_expect(time_s >= 0 && time_s < 1, "%g", time_s);
}

/* --- for machines ---------------------------------------------------------------------------- */

Test(verdict, junit_and_tap_have_a_test_for_each_bound)
{
    char more[200];

    snprintf(more, sizeof more, "--tap - --junit %s", in_workspace("verdict.xml"));
    struct ended e = run_limits("  o: {measure: output_v, dip_pct: 5, max: 100}\n"
                                "  n: {nodes: controller, late_us: {max: 1}}\n",
                                "out", more);

    expect_status(&e, 4);
    cr_expect(
        strncmp(
            e.out,
            "TAP version 14\n# hiloco\n1..4\nok 1 - judged: run\nnot ok 2 - judged: o.dip_pct\n",
            77) == 0,
        "%s", e.out);
    cr_expect_not_null(
        strstr(e.out, "\nok 3 - judged: o.max\nok 4 - judged: n.late_us.max # SKIP "), "%s", e.out);
    char *xml = read_text(in_workspace("verdict.xml"));
    cr_expect_not_null(strstr(xml, "tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\""), "%s",
                       xml);
    cr_expect_not_null(strstr(xml, "<failure type=\"failed\" message=\"output_v: 5.9"), "%s", xml);
    free(xml);
    e = run_command("xmllint --noout %s", in_workspace("verdict.xml"));
    cr_expect(e.status == 0 || e.status == 127, "%s", e.err);
}

Test(verdict, a_file_that_cannot_be_written_is_said_before_anything_runs)
{
    struct ended e =
        run_limits("  o: {measure: output_v, max: 100}\n", "out", "--junit /nowhere/verdict.xml");

    expect_status(&e, 2);
    expect_said(&e, "/nowhere/verdict.xml: cannot be written");
    cr_expect_not(exists(in_workspace("out")));
}

/* The folder is made, emptied and refused as without the files. */
Test(verdict, files_may_lie_in_the_folder_of_results)
{
    static const char *const lines[] = {
        "hiloco run %s --out %s", "hiloco test %s --out %s",
        "hiloco sweep %s --set nodes.controller.period_us=20,40 --out %s"};
    char text[4000], line[600], more[2000];

    snprintf(text, sizeof text, "%s  o: {measure: output_v, max: 100}\n", scenario);
    write_text(in_workspace("judged.yaml"), text);
    for (unsigned i = 0; i < 3; i++) {
        const char *out = in_workspace((const char *[]){"new/a", "b", "c"}[i]);
        const char *scenario_file = in_workspace("judged.yaml");
        snprintf(line, sizeof line, lines[i], scenario_file, out);
        snprintf(more, sizeof more, "%s --junit %s/junit.xml --tap %s/./run.tap", line, out, out);
        for (unsigned again = 0; again < 2; again++) {
            struct ended e = run_command("%s", more);
            expect_status(&e, 0);
            snprintf(text, sizeof text, "%s/junit.xml", out);
            cr_expect(exists(text));
            snprintf(text, sizeof text, "%s/run.tap", out);
            cr_expect(exists(text));
        }
        struct ended e = run_command("%s", line);
        expect_status(&e, 0);
        cr_expect_not(exists(text), "the old verdict is left");
    }
}

Test(verdict, a_file_among_the_results_that_would_be_lost_is_refused)
{
    struct ended e = run_limits("  o: {measure: output_v, max: 100}\n", "out", "");

    expect_status(&e, 0);
    e = run_command("hiloco run %s --out %s --junit %s", in_workspace("judged.yaml"),
                    in_workspace("out"), in_workspace("out/trace.h5"));
    expect_status(&e, 2);
    expect_said(&e, "out/trace.h5: a file of the results has this name");
    cr_expect(exists(in_workspace("out/trace.h5")));
    mkdir(in_workspace("out/plot"), 0777);
    e = run_command("hiloco run %s --out %s --tap %s", in_workspace("judged.yaml"),
                    in_workspace("out"), in_workspace("out/plot/run.tap"));
    expect_status(&e, 2);
    expect_said(&e, "the folders below the results are the run's own");
    cr_expect_not(exists(in_workspace("out/plot/run.tap")));
}

/* --- many ------------------------------------------------------------------------------------ */

Test(verdict, many_are_run_with_a_line_each_and_a_total)
{
    char text[4000];

    snprintf(text, sizeof text, "%s  o: {measure: output_v, dip_pct: 7}\n", scenario);
    write_text(in_workspace("good.yaml"), text);
    snprintf(text, sizeof text, "%s  o: {measure: output_v, dip_pct: 5}\n", scenario);
    write_text(in_workspace("bad.yaml"), text);
    struct ended e =
        run_command("hiloco test %s %s --out %s --junit %s", in_workspace("good.yaml"),
                    in_workspace("bad.yaml"), in_workspace("tests"), in_workspace("tests.xml"));

    expect_status(&e, 4);
    const char *good = strstr(e.out, "passed        "), *bad = strstr(e.out, "failed        ");
    cr_expect(good && bad && good < bad, "%s", e.out);
    cr_expect_not_null(strstr(e.out, "1 of 2 passed, 1 failed, 0 inconclusive, 0 in error"), "%s",
                       e.out);
    cr_expect(exists(in_workspace("tests/judged/summary.json")));
    cr_expect(exists(in_workspace("tests/judged,2/summary.json")));
    char *xml = read_text(in_workspace("tests.xml"));
    cr_expect_not_null(strstr(xml, "tests=\"4\" failures=\"1\" errors=\"0\""), "%s", xml);
    free(xml);

    /* The next takes their place, and a run does not. */
    e = run_command("hiloco run %s --out %s", in_workspace("good.yaml"), in_workspace("tests"));
    expect_status(&e, 2);
    e = run_command("hiloco test %s --out %s", in_workspace("good.yaml"), in_workspace("tests"));
    expect_status(&e, 0);
    cr_expect_not(exists(in_workspace("tests/judged,2")));
}

Test(verdict, nothing_of_many_is_run_when_one_is_wrong)
{
    char text[4000];

    snprintf(text, sizeof text, "%s  o: {measure: output_v, dip_pct: 7}\n", scenario);
    write_text(in_workspace("good.yaml"), text);
    struct ended e = run_command("hiloco test %s %s --out %s", in_workspace("good.yaml"),
                                 in_workspace("none.yaml"), in_workspace("tests"));

    expect_status(&e, 2);
    cr_expect_not(exists(in_workspace("tests")));
}

/* --- sweeps ---------------------------------------------------------------------------------- */

Test(verdict, a_sweep_says_which_points_passed)
{
    struct ended e = run_command("hiloco sweep configs/quickstart.yaml --set duration_s=0.01 --set "
                                 "limits.o.measure=output_v --set limits.o.settling_ms=1 --set "
                                 "nodes.controller.period_us=20:60:20 --out %s",
                                 in_workspace("out"));

    expect_status(&e, 4);
    cr_expect_not_null(strstr(e.out, "settles, passed\n"), "%s", e.out);
    cr_expect_not_null(strstr(e.out, "settles, FAILED\n"), "%s", e.out);
    cr_expect_not_null(strstr(e.out, "does not settle, FAILED\n1 of 3 passed\n"), "%s", e.out);
    char *csv = read_text(in_workspace("out/sweep.csv"));
    cr_expect_not_null(strstr(csv, "nodes.controller.period_us,status,verdict,settled,"), "%s",
                       csv);
    cr_expect_not_null(strstr(csv, "\n0.01,output_v,1,40,4,failed,true,"), "%s", csv);
    free(csv);
}

Test(verdict, a_logarithmic_range_has_its_values_as_many_times_apart)
{
    struct ended e =
        run_command("hiloco sweep configs/quickstart.yaml --set duration_s=0.001 --set "
                    "components.control.parameters.ki_per_v_s=10:1000:log5 --out %s",
                    in_workspace("out"));

    expect_status(&e, 0);
    for (const char *const *v = (const char *const[]){"10", "31.62", "100", "316.2", "1000", NULL};
         *v; v++)
        cr_expect(exists(in_workspace("out/components.control.parameters.ki_per_v_s=%s", *v)), "%s",
                  *v);
}

/* "The largest period that passes": 45.5 us, to the step of the converters' delay. */
Test(verdict, bisection_finds_the_critical_period)
{
    struct ended e = run_command(
        "hiloco sweep configs/dcdc20-nominal.yaml --mode virtual --set nodes.converter.count=1 "
        "--set "
        "duration_s=1 --set record.0.signals=converter.voltage_v --set limits.o.measure=output_v "
        "--set "
        "limits.o.settling_ms=1000 --bisect nodes.controller.period_us=40:50:0.1 --out %s",
        in_workspace("out"));

    expect_status(&e, 0);
    cr_expect_not_null(strstr(e.out,
                              "nodes.controller.period_us: the largest value that passes is 45.4 "
                              "us; 45.5 us fails\n"),
                       "%s", e.out);
}

Test(verdict, bisection_needs_a_range_and_limits)
{
    struct ended e = run_command("hiloco sweep configs/quickstart.yaml --bisect "
                                 "nodes.controller.period_us=10:20:1 --out %s",
                                 in_workspace("out"));

    expect_status(&e, 2);
    expect_said(&e, "--bisect: quickstart has no limits");
    e = run_command(
        "hiloco sweep configs/quickstart.yaml --bisect nodes.controller.period_us=10,20 "
        "--out %s",
        in_workspace("out"));
    expect_status(&e, 2);
    expect_said(&e, "KEY=FROM:TO:STEP is allowed");
}

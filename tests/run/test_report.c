/*
 * hiloco report: the page as a browser shows it. That the curves are where the record has its
 * values, that the cursor tells these values, that a spike of one step is found, that nothing is
 * fetched, and that no name is taken for a mark.
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
#include "report_page.h"
#include "results.h"
#include "workspace.h"

TestSuite(report, .init = workspace_open, .fini = workspace_close, .timeout = 300);

static void run_into(const char *folder, const char *scenario)
{
    const char *path = in_workspace("%s.yaml", folder);

    write_text(path, scenario);
    struct ended e = run_command("hiloco run %s --mode virtual --quiet --out %s", path,
                                 in_workspace("%s", folder));
    cr_assert(e.status == 0 || e.status == 4, "%s", e.err);
}

/* 20000 steps of 100 us: a ramp to 2, and a flat line with a step of one row on it. */
static const char spike[] =
    "name: spike\nduration_s: 2\nmode: virtual\n"
    "nodes: {bench: {period_us: 100}}\n"
    "sources:\n"
    "  flat: {to: line.input, steps: {initial: 0, changes: [{time_s: 1.2345, value: 7.125}, "
    "{time_s: 1.2346, value: 0}]}}\n"
    "components:\n"
    "  ramp: {model: integrator, node: bench, inputs: {input: 1}}\n"
    "  line: {model: gain, node: bench}\n"
    "record: [{signals: [ramp.output, line.output]}]\n";

/* --- curves ----------------------------------------------------------------------------------- */

static void hide(struct browser *b, int curve)
{
    json_decref(browser_value(b, "document.querySelectorAll('.legend button')[%d].click()", curve));
}

/* A ramp is drawn from the lower left corner to the upper right one, but for the room around it. */
Test(report, curves_are_drawn_where_the_values_are)
{
    run_into("run", spike);
    struct browser *b = shown(report_of("run"));

    cr_expect_eq(browser_number(b, "document.querySelectorAll('.plot canvas.over').length"), 1);
    hide(b, 1);
    for (int i = 1; i < 10; i++) {
        const double expected = 1 - (0.06 + 0.1 * i) / 1.12;
        cr_expect_float_eq(highest(b, 0, 0.1 * i), expected, 0.02);
        cr_expect_float_eq(lowest(b, 0, 0.1 * i), expected, 0.02);
    }
    hide(b, 0);
    cr_expect_eq(highest(b, 0, 0.5), -1, "what is hidden is still drawn");
    expect_quiet(b);
}

/* --- the cursor ------------------------------------------------------------------------------- */

static char *value_of(struct browser *b, int curve)
{
    return browser_text(b, "document.querySelectorAll('.legend .value')[%d].textContent", curve);
}

Test(report, the_cursor_tells_the_values_of_the_record)
{
    run_into("run", spike);
    struct browser *b = shown(report_of("run"));
    struct column time = column_of(in_workspace("run"), "bench/time_s");
    struct column ramp = column_of(in_workspace("run"), "bench/ramp.output");

    cr_assert_eq(time.rows, 20000);
    hide(b, 1); /* the plot is of the ramp alone, and so is the step of a key */
    for (size_t row = 1000; row < time.rows; row += 4321) {
        struct place at;
        char expected[40];
        json_decref(browser_value(b, "document.querySelector('.plot').plot.view(%.9g, %.9g)",
                                  time.at[row] - 0.001, time.at[row] + 0.001));
        at = place_of(b, 0, time.at[row]);
        browser_mouse(b, "mouseMoved", at.x, at.y);
        snprintf(expected, sizeof expected, "%.6g", ramp.at[row]);
        char *value = value_of(b, 0);
        cr_expect_str_eq(value, expected, "row %zu: %s, not %s", row, value, expected);
        char *tip = browser_text(b, "document.querySelector('.tip').textContent");
        cr_expect(strstr(tip, expected) && strstr(tip, "ramp.output"), "%s", tip);
    }
    expect_quiet(b);
}

Test(report, keys_move_the_cursor_and_what_it_shows_is_said)
{
    run_into("run", spike);
    struct browser *b = shown(report_of("run"));

    hide(b, 1);
    json_decref(browser_value(b, "(() => { const {plot} = document.querySelector('.plot');"
                                 " plot.view(0.5, 0.502); plot.area.focus(); })()"));
    browser_key(b, "ArrowRight");
    browser_key(b, "ArrowRight");
    char *said = browser_text(b, "document.querySelector('.spoken').textContent");
    cr_expect_str_eq(said, "500.2 ms: ramp.output 0.5002");
    browser_key(b, "0");
    cr_expect_float_eq(browser_number(b, "document.querySelector('.plot').plot.x.to"), 2, 1e-9);
    expect_quiet(b);
}

/* --- a spike ---------------------------------------------------------------------------------- */

static double time_of_spike(void)
{
    struct column time = column_of(in_workspace("run"), "bench/time_s");
    struct column line = column_of(in_workspace("run"), "bench/line.output");
    size_t row = 0;

    while (row < line.rows && line.at[row] < 7)
        row++;
    cr_assert_lt(row, line.rows);
    return time.at[row];
}

/* 100 us of 2 s are no pixel: it is seen, as high as it is, and found by zooming. */
Test(report, a_spike_of_one_step_is_seen_and_zoomed_to)
{
    run_into("run", spike);
    struct browser *b = shown(report_of("run"));
    const double spike_s = time_of_spike();

    hide(b, 0);
    cr_expect_float_eq(highest(b, 0, spike_s / 2), 0.06 / 1.12, 0.02);
    cr_expect_float_eq(lowest(b, 0, 0.5), 1 - 0.06 / 1.12, 0.02);
    for (int i = 0; i < 6; i++) {
        const double reach = 0.2 * pow(0.2, i); /* to 64 us on either side */
        struct place from = place_of(b, 0, spike_s - reach), to = place_of(b, 0, spike_s + reach);
        browser_mouse(b, "mousePressed", from.x, from.y);
        browser_mouse(b, "mouseMoved", (from.x + to.x) / 2, to.y);
        browser_mouse(b, "mouseMoved", to.x, to.y);
        browser_mouse(b, "mouseReleased", to.x, to.y);
    }
    cr_expect_lt(browser_number(b, "(() => { const {x} = document.querySelector('.plot').plot;"
                                   " return x.to - x.from; })()"),
                 200e-6);
    struct place at = place_of(b, 0, spike_s);
    browser_mouse(b, "mouseMoved", at.x, at.y);
    char *value = value_of(b, 1);
    cr_expect_str_eq(value, "7.125", "%s", value);
    cr_expect_lt(highest(b, 0, 0.5), 0.2);
    cr_expect_gt(highest(b, 0, 0.02), 0.5, "the spike is as wide as what is seen");

    browser_wheel(b, at.x, at.y, 100); /* it has the focus */
    cr_expect_gt(browser_number(b, "(() => { const {x} = document.querySelector('.plot').plot;"
                                   " return x.to - x.from; })()"),
                 100e-6);
    expect_quiet(b);
}

/* --- what is in it ---------------------------------------------------------------------------- */

static const char limited[] = "name: limited\nduration_s: 0.02\nmode: virtual\n" BANK_NODES(
    "2") "components:\n"
         "  control: {model: pid, node: controller, count: converter, computation_delay: true, "
         "parameters: {duty_min: 0.02, duty_max: 0.5}}\n"
         "  converter: {model: buck, node: converter}\n" BANK_CONNECTIONS
         "sources: {reference: {to: control.reference_v, steps: {initial: 12, "
         "changes: [{time_s: 0.01, value: 10, ramp_s: 0.001}]}}}\n"
         "record: [" BANK_RECORD "]\n" BANK_MEASURES
         "limits: {fast: {measure: output_v, settling_ms: 0.001}, calm: {measure: output_v, "
         "ripple: "
         "5}}\n";

Test(report, the_verdict_is_first_with_each_failed_limit_and_its_figure)
{
    run_into("run", limited);
    struct browser *b = shown(report_of("run"));
    json_t *summary = summary_of(in_workspace("run")), *limit;
    size_t i;

    char *headline = browser_text(b, "document.querySelector('main').firstElementChild"
                                     ".querySelector('.headline').textContent");
    cr_expect_str_eq(headline, "failed");
    json_array_foreach(json_object_get(summary, "limits"), i, limit)
    {
        cr_expect(is_shown(b, json_string_value(json_object_get(limit, "words"))));
    }
    char *link = browser_text(b, "document.querySelector('tr.failed a[href^=\"#figure\"]').hash");
    cr_expect_eq(browser_number(b, "document.querySelectorAll('%s .plot').length", link), 1);
    cr_expect(is_shown(b, "reference 12 to 10 V"));
    cr_expect_eq(browser_number(b, "document.querySelector('.plot').plot.marks"
                                   ".filter((mark) => mark.kind === 'event').length"),
                 1);
    cr_expect_eq(browser_number(b, "document.querySelector('.plot').plot.marks"
                                   ".filter((mark) => mark.kind === 'failure').length"),
                 1);
    cr_expect(is_shown(b, "round trip"));
    expect_quiet(b);
}

/* Of each kind one, as a summary has them; the record's own events. */
Test(report, faults_and_events_of_nodes_are_marks)
{
    struct ended e =
        run_command("hiloco run configs/quickstart.yaml --quiet --set duration_s=0.01 "
                    "--set " UP_US("100") " --set network.jitter_us=100 "
                                          "--set nodes.controller.input_age_limit_us=180 --set "
                                          "validity.stale_inputs=1000 --out %s",
                    in_workspace("run"));
    expect_status(&e, 0);
    struct column events = column_of(in_workspace("run"), "events/time_s");
    json_t *summary = summary_of(in_workspace("run"));
    json_object_set_new(summary, "faults",
                        json_pack("[{s:s, s:s, s:s, s:f, s:f, s:i}]", "name", "dirt", "kind",
                                  "bias", "of", "converter[0].voltage_v", "began_s", 0.002,
                                  "ended_s", 0.004, "nodes", 1));
    cr_assert_eq(json_dump_file(summary, in_workspace("run/summary.json"), 0), 0);
    struct browser *b = shown(report_of("run"));

    cr_expect_gt(events.rows, 10);
    cr_expect_eq(browser_number(b, "document.querySelector('.plot').plot.marks"
                                   ".filter((mark) => mark.kind === 'note').length"),
                 (double)events.rows);
    size_t first = 0; /* of what is no state */
    while (first < events.rows && events.at[first] <= 0)
        first++;
    cr_assert_lt(first, events.rows);
    struct place at = place_of(b, 0, events.at[first]);
    browser_mouse(b, "mouseMoved", at.x, at.y);
    char *tip = browser_text(b, "document.querySelector('.tip').textContent");
    cr_expect(strstr(tip, "controller: stale converter[0]"), "%s", tip);
    at = place_of(b, 0, 0.003);
    browser_mouse(b, "mouseMoved", at.x, at.y);
    tip = browser_text(b, "document.querySelector('.tip').textContent");
    cr_expect(strstr(tip, "dirt: bias of converter[0].voltage_v"), "%s", tip);
    cr_expect(is_shown(b, "Faults"));
    cr_expect(is_shown(b, "What happened at the nodes"));
    expect_quiet(b);
}

/* As docs/tracing.md has it. */
Test(report, causes_of_misses_are_those_that_the_trace_found)
{
    run_into("run", limited);
    write_text(
        in_workspace("run/trace.json"),
        "{\"worst\": [{\"at_s\": 0.0123, \"core\": 1, \"first\": \"converter[1]\", "
        "\"step\": 1230, \"misses\": 4, \"over_us\": 31.5, "
        "\"most_of_it\": \"31.5 us before it began\", \"intruder\": \"kworker/1:2\"}], "
        "\"events\": 9, \"lost\": 0, \"round_trips\": [{\"asker\": \"controller\", \"answerer\": "
        "\"converter[*]\", \"push_back_us\": {\"p50\": 17.5}}], \"over_time\": [{\"nodes\": "
        "\"converter[*]\", \"late_us\": [[0.01, 3], [0.02, 0]], \"step_us\": [[0.01, 0.5]], "
        "\"round_trip_us\": [], \"missed_by_us\": [[0.0123, 31.5]]}]}");
    struct browser *b = shown(report_of("run"));
    char *curves =
        browser_text(b, "[...document.querySelectorAll('.plot')].map(({plot}) => plot)"
                        ".find(({label}) => label?.startsWith('converter[*]: the greatest'))"
                        ".curves.map(({name, curve}) => `${name} ${[...curve.high]}`).join('; ')");

    cr_expect_str_eq(curves, "late 3,0.001; step 0.5; missed by 31.5");
    cr_expect(is_shown(b, "9 events, 0 lost"));
    cr_expect(is_shown(b, "17.5"));

    cr_expect(is_shown(b, "31.5 us before it began"));
    cr_expect(is_shown(b, "kworker/1:2"));
    expect_quiet(b);
}

/* --- the machine ------------------------------------------------------------------------------ */

TestSuite(report_machine, ALONE, .init = workspace_open_alone, .fini = workspace_close,
          .timeout = 300);

/* A run in real time knows what the doctor found when it began; in virtual time every machine is
 * the same. */
Test(report_machine, is_as_the_doctor_found_it)
{
    struct ended e = run_command("hiloco run configs/quickstart.yaml --mode realtime --quiet "
                                 "--set duration_s=0.05 --out %s",
                                 in_workspace("run"));
    expect_ran(&e);
    json_t *summary = summary_of(in_workspace("run")), *finding;
    const json_t *machine = json_object_get(summary, "machine");
    const json_t *findings = json_object_get(machine, "findings");
    size_t i;

    cr_expect_gt(json_array_size(findings), 15);
    struct browser *b = shown(report_of("run"));
    cr_expect(is_shown(b, json_string_value(json_object_get(machine, "host"))));
    cr_expect(is_shown(b, json_string_value(json_object_get(machine, "kernel"))));
    json_array_foreach(findings, i, finding)
    {
        const char *name = json_string_value(json_object_get(finding, "name"));
        cr_expect(is_shown(b, name), "%s is not shown", name);
    }
    expect_quiet(b);

    e = run_command("hiloco run configs/quickstart.yaml --quiet --set duration_s=0.001 --out %s",
                    in_workspace("virtual"));
    expect_status(&e, 0);
    cr_expect(json_is_null(json_object_get(summary_of(in_workspace("virtual")), "machine")));
}

/* --- the data --------------------------------------------------------------------------------- */

/* A browser makes the file when it begins, and fills it at one go. */
static bool has_come(void *path)
{
    struct stat status;

    return stat(path, &status) == 0 && status.st_size > 0;
}

static char *downloaded(struct browser *b, const char *button, const char *name)
{
    char *path = strdup(in_workspace("files/%s", name));

    json_decref(browser_value(b,
                              "[...document.querySelectorAll('.tools button')]"
                              ".find((one) => one.textContent === '%s').click()",
                              button));
    cr_assert(wait_until(has_come, path, 20), "%s never came", path);
    return read_text(path);
}

/* All rows of the ramp, which is one in each. */
Test(report, data_is_handed_out_as_files)
{
    run_into("run", spike);
    struct browser *b = shown(report_of("run"));
    struct column ramp = column_of(in_workspace("run"), "bench/ramp.output");
    double time_s, least, greatest, last = 0;
    char *csv, *line;
    unsigned rows, lines = 0;

    cr_assert_eq(mkdir(in_workspace("files"), 0700), 0);
    browser_downloads(b, in_workspace("files"));
    csv = downloaded(b, "CSV", "bench-0.csv");
    line = strtok(csv, "\n");
    cr_expect_str_eq(line, "signal,unit,time_s,rows,least,greatest");
    while ((line = strtok(NULL, "\n")) &&
           sscanf(line, "ramp.output,,%lf,%u,%lf,%lf", &time_s, &rows, &least, &greatest) == 4) {
        const size_t row = (size_t)(time_s * 1e4 + 0.5);
        cr_assert_lt(row, ramp.rows);
        cr_assert_geq(time_s, last);
        cr_assert_float_eq(least, ramp.at[row], 1e-6);
        cr_assert_float_eq(greatest, ramp.at[row + rows - 1], 1e-6);
        last = time_s;
        lines++;
    }
    cr_expect_gt(lines, 1000);
    char *scenario = downloaded(b, "scenario.yaml", "run-scenario.yaml");
    cr_expect_str_eq(scenario, read_text(in_workspace("run/scenario.yaml")));
    expect_quiet(b);
}

Test(report, of_several_runs_is_one_page_with_their_curves_together)
{
    run_into("a", spike);
    run_into("b", spike);
    struct ended e = run_command("hiloco report %s %s --out %s", in_workspace("a"),
                                 in_workspace("b"), in_workspace("both.html"));
    expect_status(&e, 0);
    struct browser *b = shown(in_workspace("both.html"));

    cr_expect_eq(browser_number(b, "document.querySelectorAll('.plot').length"), 1);
    cr_expect_eq(browser_number(b, "document.querySelector('.plot').plot.curves.length"), 4);
    cr_expect_eq(browser_number(b, "document.querySelector('table').tBodies[0].rows.length"), 2);
    expect_quiet(b);
}

Test(report, of_a_sweep_has_a_row_for_each_point)
{
    write_text(in_workspace("scenario.yaml"), limited);
    struct ended e =
        run_command("hiloco sweep %s --set nodes.controller.period_us=20,40,50 --out %s",
                    in_workspace("scenario.yaml"), in_workspace("sweep"));
    expect_status(&e, 4);
    struct browser *b = shown(report_of("sweep"));

    cr_expect_eq(browser_number(b, "document.querySelector('table').tBodies[0].rows.length"), 3);
    cr_expect(is_shown(b, "nodes.controller.period_us=40"));
    cr_expect_eq(browser_number(b, "document.querySelectorAll('.plot')[0].plot.curves.length"), 6,
                 "the measure and its reference of each");
    expect_quiet(b);
    e = run_command("hiloco sweep %s --set nodes.controller.period_us=20,40 --out %s",
                    in_workspace("scenario.yaml"), in_workspace("sweep"));
    expect_status(&e, 4);
    cr_expect_not(exists(in_workspace("sweep/report.html")), "a report of the sweep before");
}

static char *cell_of(struct browser *b, const char *row, int cell)
{
    return browser_text(b,
                        "[...document.querySelectorAll('tr')].find(({innerText}) =>"
                        " innerText.includes('%s')).cells[%d].innerText",
                        row, cell);
}

/* Of one that failed its limits are in figures of signals, and each limit leads there; what was not
 * judged was not kept. */
Test(report, of_tests_shows_why_they_did_not_pass)
{
    char more[1200];

    write_text(in_workspace("limited.yaml"), limited);
    const char *start = strchr(limited, '\n'); /* behind its name */
    snprintf(more, sizeof more,
             "name: bad%.*slimits:\n  tight: {signal: 'control[1].duty', max: 0.1}\n"
             "  never: {measure: output_v, dip_pct: 1}\n",
             (int)(strstr(limited, "limits: {fast") - start), start);
    write_text(in_workspace("bad.yaml"), more);
    struct ended e = run_command("hiloco test %s %s --out %s", in_workspace("limited.yaml"),
                                 in_workspace("bad.yaml"), in_workspace("tests"));
    expect_status(&e, 4);
    struct browser *b = shown(report_of("tests"));

    char *figure = browser_text(b, "[...document.querySelectorAll('tr.failed')].find((row) =>"
                                   " row.innerText.includes('tight.max')).querySelector('a').hash");
    cr_expect_eq(browser_number(b, "document.querySelectorAll('%s .plot').length", figure), 1);
    char *kept = browser_text(b, "[...document.querySelectorAll('tr')].find((row) =>"
                                 " row.cells[1].innerText === 'bad').cells[5].innerText");
    cr_expect_str_eq(kept, "0 of 2");
    char *bound = cell_of(b, "never.dip_pct", 4);
    cr_expect_str_eq(bound, "-");
    expect_quiet(b);
}

/* --- what it must not do ---------------------------------------------------------------------- */

/* A record, a scenario and a folder may be anybody's. */
static const char hostile[] =
    "name: hostile\nduration_s: 0.01\nmode: virtual\n# </script><script>window.broken = "
    "1</script>\n"
    "nodes: {bench: {period_us: 100}}\n"
    "components: {ramp: {model: integrator, node: bench, inputs: {input: 1}}}\n"
    "record: [{signals: ramp.output}]\n";

Test(report, no_text_is_taken_for_a_mark)
{
    static const char bad[] = "</script><script>window.broken = 1</script><!--<script>"
                              "<img src=x onerror=window.broken=1>";
    static const char *const unknown[] = {"settled",
                                          "settling_ms",
                                          "settling_event",
                                          "window",
                                          "mean",
                                          "rms_deviation",
                                          "steady_error",
                                          "reference",
                                          "band",
                                          "final",
                                          "overshoot_pct",
                                          "overshoot_event",
                                          "rise_time_ms",
                                          "rise_time_event",
                                          "peak"};
    char *folder = strdup("run <img src=x onerror='window.broken=1'> & <!--data-->");
    struct arguments report = {0};

    run_into("run", hostile);
    json_t *summary = summary_of(in_workspace("run"));
    json_object_set_new(summary, "scenario", json_string(bad));
    json_t *measure = json_pack("{s:s, s:f}", "unit", bad, "pp", 1.0);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        json_object_set_new(measure, unknown[i], json_null());
    json_object_set_new(json_object_get(summary, "measures"), bad, measure);
    cr_assert_eq(json_dump_file(summary, in_workspace("run/summary.json"), 0), 0);
    write_text(in_workspace("run/scenario.yaml"), bad);
    cr_assert_eq(rename(in_workspace("run"), in_workspace("%s", folder)), 0);
    add(&report, "hiloco");
    add(&report, "report");
    add(&report, "%s", in_workspace("%s", folder));
    add(&report, "--out");
    add(&report, "%s", in_workspace("page.html"));
    struct ended e = run(&report);
    expect_status(&e, 0);

    struct browser *b = shown(in_workspace("page.html"));
    char *broken = browser_text(b, "String(window.broken)");
    cr_expect_str_eq(broken, "undefined");
    char *title = browser_text(b, "document.querySelector('h1').textContent");
    cr_expect_str_eq(title, bad);
    char *scenario = browser_text(b, "document.querySelector('pre').textContent");
    cr_expect_str_eq(scenario, bad);
    cr_expect_eq(browser_number(b, "document.images.length"), 0);
    expect_quiet(b);
}

/* What the page may do is said in it: a script that is not its own does not run. */
Test(report, a_script_that_is_not_its_own_does_not_run)
{
    run_into("run", hostile);
    struct browser *b = shown(report_of("run"));

    json_decref(browser_value(b, "(() => { const script = document.createElement('script');"
                                 " script.textContent = 'window.broken = 1';"
                                 " document.head.append(script); })()"));
    char *broken = browser_text(b, "String(window.broken)");
    cr_expect_str_eq(broken, "undefined");
    char *refused = browser_text(b, "fetch('report.html').then(() => 'fetched', () => 'refused')");
    cr_expect_str_eq(refused, "refused");
    cr_expect(strlen(browser_complaints(b)) > 0, "the browser says nothing of it");
    browser_close(b);
}

/* --- dark, light, paper ----------------------------------------------------------------------- */

static const char paper[] = "getComputedStyle(document.documentElement)"
                            ".getPropertyValue('--paper').trim()";

Test(report, is_dark_where_the_reader_wants_that_and_light_on_paper)
{
    run_into("run", spike);
    struct browser *b = browser_open(400, 800, true);

    browser_go(b, report_of("run"), report_complete);
    char *colour = browser_text(b, paper);
    cr_expect_str_eq(colour, "#14181d");
    json_decref(
        browser_value(b, "addEventListener('beforeprint', () => { window.printed = %s; })", paper));
    browser_print(b);
    colour = browser_text(b, "window.printed");
    cr_expect_str_eq(colour, "#ffffff");
    colour = browser_text(b, paper);
    cr_expect_str_eq(colour, "#14181d", "it stays light");
    cr_expect_leq(browser_number(b, "document.documentElement.scrollWidth"), 400,
                  "on a narrow screen it is wider than that");
    expect_quiet(b);
}

/* --- how large -------------------------------------------------------------------------------- */

/* That of 5 s of 20 converters, each step of each recorded, and none of them at rest. */
Test(report, of_the_reference_scenario_is_less_than_5_mb)
{
    struct stat file;
    struct ended e = run_command(
        "hiloco run configs/dcdc20.yaml --mode virtual --quiet --set nodes.controller.period_us=60 "
        "--set " RECORD_CONVERTERS("1") " --out %s",
        in_workspace("run"));
    expect_status(&e, 0);
    struct browser *b = shown(report_of("run"));

    cr_assert_eq(stat(in_workspace("run/report.html"), &file), 0);
    cr_expect_lt(file.st_size, 5000000);
    cr_expect_eq(browser_number(b,
                                "[...document.querySelectorAll('.plot')].reduce("
                                "(sum, {plot}) => sum + (plot.x.log ? 0 : plot.curves.length), 0)"),
                 2 + 20 + 20 + 2 * 20); /* voltages once: the controller has them */
    cr_log_info("%ld bytes, complete after %.0f ms", (long)file.st_size,
                browser_number(b, "performance.getEntriesByName('complete')[0].startTime"));
    expect_quiet(b);
}

/* --- mistakes --------------------------------------------------------------------------------- */

Test(report, mistakes_are_told)
{
    struct ended e = run_command("hiloco report %s", in_workspace("none"));
    expect_status(&e, 2);
    expect_said(&e, "none has no results");
    e = run_command("hiloco report");
    expect_status(&e, 2);
    run_into("run", hostile);
    e = run_command("hiloco report %s --out %s", in_workspace("run"),
                    in_workspace("no/report.html"));
    expect_status(&e, 2);
    expect_said(&e, "no/report.html: No such file or directory");
}

Test(report, a_run_into_its_folder_replaces_it)
{
    run_into("run", hostile);
    cr_assert(exists(report_of("run")));
    run_into("run", hostile);
    cr_expect_not(exists(in_workspace("run/report.html")), "a report of the run before");
}

/* What a run left without a record is its summary; and the report says why there are no figures. */
Test(report, of_a_run_without_a_record_says_so)
{
    run_into("run", hostile);
    cr_assert_eq(remove(in_workspace("run/trace.h5")), 0);
    struct browser *b = shown(report_of("run"));

    cr_expect(is_shown(b, "it has no trace.h5"));
    cr_expect(is_shown(b, "Nothing was recorded that could be drawn."));
    expect_quiet(b);
}

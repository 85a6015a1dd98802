/*
 * hiloco report of sweeps: that the bars of a Monte Carlo, the cells of a map and the path of a
 * bisection are where the results have them, that the cursor tells their values, and that a
 * thousand runs fit.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "process.h"
#include "report_page.h"
#include "results.h"
#include "workspace.h"

TestSuite(report_sweep, .init = workspace_open, .fini = workspace_close, .timeout = 300);

#define SWEEP                                                                                      \
    "hiloco sweep configs/quickstart.yaml --set duration_s=0.01 "                                  \
    "--set limits.output.measure=output_v --set limits.output.settling_ms=2 "

static const char drawn[] = SWEEP "--set nodes.controller.period_us=40 "
                                  "--set components.converter.parameters.load_ohm=2.4~0.3:normal "
                                  "--set components.converter.parameters.inductance_h=47e-6~20%% "
                                  "--runs 40 --seed 7 --out %s";
static const char grid[] =
    SWEEP "--set nodes.controller.period_us=20,40,60 "
          "--set components.control.parameters.ki_per_v_s=50:200:50 --out %s";

static void sweep_into(const char *folder, const char *command, int status)
{
    char words[800];

    snprintf(words, sizeof words, command, in_workspace("%s", folder));
    struct ended e = run_command("%s", words);
    expect_status(&e, status);
}

static json_t *index_of(const char *folder)
{
    json_error_t error;
    json_t *index = json_load_file(in_workspace("%s/sweep.json", folder), 0, &error);

    cr_assert_not_null(index, "%s", error.text);
    return index;
}

static const char *verdict_of(const json_t *point)
{
    return json_string_value(json_at(json_object_get(point, "summary"), "verdict"));
}

static double settling_of(const json_t *point)
{
    return number_at(json_object_get(point, "summary"), "measures.output_v.settling_ms");
}

/* Of the plots of the page, or of its maps, the one that is called so. */
static int number_of(struct browser *b, const char *kind, const char *label)
{
    const int number = (int)browser_number(
        b, "[...document.querySelectorAll('.%s')].findIndex(({plot}) => plot?.label === '%s')",
        kind, label);

    cr_assert_geq(number, 0, "there is no %s", label);
    return number;
}

/* --- Monte Carlo ------------------------------------------------------------------------------ */

static unsigned runs_between(const json_t *points, const char *verdict, double from, double to)
{
    unsigned runs = 0;
    json_t *point;
    size_t i;

    json_array_foreach(points, i, point)
    {
        const double value = settling_of(point);
        runs += strcmp(verdict_of(point), verdict) == 0 && value >= from && value < to;
    }
    return runs;
}

/* Of each bar [verdict, from, to, runs, what is below it]. */
static json_t *bars_of(struct browser *b, int plot)
{
    return browser_value(b,
                         "document.querySelectorAll('.plot')[%d].plot.curves.flatMap(({name, "
                         "curve}) => [...curve.x].map((x, i) => [name, x, curve.end[i], "
                         "curve.rows[i], curve.low[i]]))",
                         plot);
}

/* Where a value of y is drawn, from 0 at the top. */
static double height_of(struct browser *b, int plot, double y)
{
    return browser_number(b,
                          "(() => { const {y} = document.querySelectorAll('.plot')[%d].plot;"
                          " return (y.pixel(%.9g) - y.stop) / (y.start - y.stop); })()",
                          plot, y);
}

static double share_of(struct browser *b, int plot, double x)
{
    return browser_number(b,
                          "(() => { const {x} = document.querySelectorAll('.plot')[%d].plot;"
                          " return (x.pixel(%.9g) - x.start) / (x.stop - x.start); })()",
                          plot, x);
}

static void expect_bar(struct browser *b, int plot, const json_t *bar, const json_t *points)
{
    const char *verdict = json_string_value(json_array_get(bar, 0));
    const double from = json_number_value(json_array_get(bar, 1));
    const double to = json_number_value(json_array_get(bar, 2));
    const double runs = json_number_value(json_array_get(bar, 3));
    const double below = json_number_value(json_array_get(bar, 4));
    const double middle = (from + to) / 2;
    char said[40];

    cr_expect_eq(runs, runs_between(points, verdict, from - 1e-9, to - 1e-9), "%g %s from %g to %g",
                 runs, verdict, from, to);
    if (below == 0 && strcmp(verdict, "failed") == 0)
        cr_expect_float_eq(highest(b, plot, share_of(b, plot, middle)),
                           height_of(b, plot, below + runs), 0.02);
    struct place at = place_of(b, plot, middle);
    browser_mouse(b, "mouseMoved", at.x, at.y);
    char *legend = browser_text(b,
                                "document.querySelectorAll('.plot')[%d].querySelector('.legend')"
                                ".textContent",
                                plot);
    snprintf(said, sizeof said, "%s%g run%s from ", verdict, runs, runs == 1 ? "" : "s");
    cr_expect(strstr(legend, said), "%s: %s", said, legend);
    free(legend);
}

Test(report_sweep, bars_are_the_runs_of_a_monte_carlo)
{
    sweep_into("sweep", drawn, 4);
    struct browser *b = shown(report_of("sweep"));
    const json_t *points = json_object_get(index_of("sweep"), "points");
    const int plot = number_of(b, "plot", "output_v: longest settling time");
    json_t *bars = bars_of(b, plot), *bar;
    double all = 0;
    char never[40];
    size_t i;

    cr_expect_gt(json_array_size(bars), 5);
    json_decref(browser_value(b,
                              "(() => { const {plot} = document.querySelectorAll('.plot')[%d];"
                              " plot.marks = []; plot.draw(); })()",
                              plot)); /* they have colours, too */
    json_array_foreach(bars, i, bar)
    {
        expect_bar(b, plot, bar, points);
        all += json_number_value(json_array_get(bar, 3));
    }
    const double settled =
        runs_between(points, "passed", 0, INFINITY) + runs_between(points, "failed", 0, INFINITY);
    cr_expect_eq(all, settled, "each run that settles is in a bar");
    cr_assert_lt(settled, 40);
    snprintf(never, sizeof never, "%g runs that do not settle", 40 - settled);
    cr_expect(is_shown(b, never), "%s", never);
    cr_expect(is_shown(b, "Drawn from seed 7"));
    cr_expect(
        is_shown(b, "components.converter.parameters.inductance_h 4.7e-5 ± 9.4e-6 H, uniform"));
    expect_quiet(b);
}

/* Red, and beside it is how many runs are beyond. */
Test(report_sweep, limits_are_lines_in_the_figure_that_they_are_of)
{
    sweep_into("sweep", drawn, 4);
    struct browser *b = shown(report_of("sweep"));
    const json_t *points = json_object_get(index_of("sweep"), "points");
    const int plot = number_of(b, "plot", "output_v: longest settling time");
    const unsigned failed = 40 - runs_between(points, "passed", 0, INFINITY);
    char words[80];

    cr_expect_eq(browser_number(b,
                                "document.querySelectorAll('.plot')[%d].plot.marks"
                                ".find(({kind}) => kind === 'limit').from",
                                plot),
                 2);
    snprintf(words, sizeof words, "output.settling_ms, at most 2 ms: %u of 40 runs beyond it",
             failed);
    cr_expect(is_shown(b, words), "%s", words);
    const double top = highest(b, plot, share_of(b, plot, 2));
    cr_expect_leq(top, 0.05, "the line begins at %g", top);
    char *headline = browser_text(b, "document.querySelector('.headline').textContent");
    snprintf(words, sizeof words, "%u of 40 runs passed", 40 - failed);
    cr_expect_str_eq(headline, words);
    expect_quiet(b);
}

/* A limit that is of no figure of a measure has a distribution of its own. */
Test(report_sweep, a_limit_of_a_signal_has_bars_of_its_own)
{
    sweep_into("sweep",
               SWEEP
               "--set limits.band.signal=converter[*].voltage_v --set limits.band.max=12.5 "
               "--set components.converter.parameters.load_ohm=2.4~0.3:normal --runs 12 --out %s",
               0);
    struct browser *b = shown(report_of("sweep"));
    const int plot = number_of(b, "plot", "band.max");
    json_t *bars = bars_of(b, plot), *bar;
    double all = 0;
    size_t i;

    json_array_foreach(bars, i, bar)
    {
        all += json_number_value(json_array_get(bar, 3));
    }
    cr_expect_eq(all, 12);
    cr_expect(is_shown(b, "band.max, at most 12.5 V (far to the right): 0 of 12 runs beyond it"));
    expect_quiet(b);
}

/* --- maps ------------------------------------------------------------------------------------- */

/* Colours of the style sheet, in light. */
static const double green[3] = {0x1e, 0x7d, 0x46}, red[3] = {0xc6, 0x2f, 0x2f},
                    amber[3] = {0x9a, 0x67, 0x00};

/* In the middle of a cell there is what is written in it: this is near a corner. */
static void expect_colour(struct browser *b, int map, int x, int y, const double colour[3])
{
    for (int i = 0; i < 3; i++)
        cr_expect_float_eq(
            browser_number(b,
                           "(() => { const {plot} = document.querySelectorAll('.map')[%d];"
                           " const {left, top} = plot.box({x: %d, y: %d});"
                           " const scale = plot.canvas.width / plot.canvas.clientWidth;"
                           " return plot.canvas.getContext('2d').getImageData((left + 3) * scale,"
                           " (top + 3) * scale, 1, 1).data[%d]; })()",
                           map, x, y, i),
            colour[i], 2, "cell %d %d of map %d", x, y, map);
}

static struct place cell_of(struct browser *b, int map, int x, int y)
{
    static const char at[] = "(() => { const {plot} = document.querySelectorAll('.map')[%d];"
                             " plot.area.scrollIntoView({block: 'center'});"
                             " const box = plot.area.getBoundingClientRect();"
                             " const {left, top} = plot.box({x: %d, y: %d});"
                             " return %s; })()";
    struct place place = {browser_number(b, at, map, x, y, "box.left + left + plot.cell.width / 2"),
                          browser_number(b, at, map, x, y, "box.top + top + plot.cell.height / 2")};

    return place;
}

Test(report_sweep, a_map_has_a_cell_for_each_run_with_its_value_under_the_cursor)
{
    sweep_into("sweep", grid, 4);
    struct browser *b = shown(report_of("sweep"));
    const json_t *points = json_object_get(index_of("sweep"), "points");
    const int verdicts = number_of(b, "map", "Which runs keep their limits");
    const int settling = number_of(b, "map", "output_v: longest settling time (ms)");
    json_t *point;
    size_t i;

    json_array_foreach(points, i, point)
    {
        const int x = (int)(i % 4), y = (int)(i / 4);
        const double value = settling_of(point);
        const struct place at = cell_of(b, settling, x, y);
        char said[80];
        expect_colour(b, verdicts, x, y, strcmp(verdict_of(point), "passed") == 0 ? green : red);
        if (isnan(value))
            expect_colour(b, settling, x, y, amber);
        browser_mouse(b, "mouseMoved", at.x, at.y);
        char *tip = browser_text(b,
                                 "document.querySelectorAll('.map')[%d].querySelector('.tip')"
                                 ".textContent",
                                 settling);
        if (isnan(value))
            snprintf(said, sizeof said, "does not settle; failed");
        else
            snprintf(said, sizeof said, "%.6g ms; %s", value, verdict_of(point));
        cr_expect(strncmp(tip, said, strlen(said)) == 0, "%s: %s", said, tip);
        snprintf(said, sizeof said, "controller period (µs) %s, control ki (/(V s)) %s",
                 json_string_value(json_array_get(json_object_get(point, "values"), 3)),
                 json_string_value(json_array_get(json_object_get(point, "values"), 4)));
        cr_expect(strstr(tip, said), "%s: %s", said, tip);
        free(tip);
    }
    expect_quiet(b);
}

Test(report_sweep, keys_move_through_a_map_and_what_is_there_is_said)
{
    sweep_into("sweep", grid, 4);
    struct browser *b = shown(report_of("sweep"));

    json_decref(browser_value(b, "document.querySelector('.map').plot.area.focus()"));
    browser_key(b, "ArrowRight");
    browser_key(b, "ArrowRight");
    browser_key(b, "ArrowUp");
    char *said = browser_text(b, "document.querySelector('.map .spoken').textContent");
    cr_expect_eq(strstr(said, "controller period (µs) 40, control ki (/(V s)) 100: "), said, "%s",
                 said);
    free(said);
    expect_quiet(b);
}

/* --- bisection -------------------------------------------------------------------------------- */

Test(report_sweep, a_bisection_tells_what_it_found_and_its_path)
{
    sweep_into("sweep", SWEEP "--bisect nodes.controller.period_us=20:60:1 --out %s", 0);
    struct browser *b = shown(report_of("sweep"));
    json_t *found = json_object_get(index_of("sweep"), "bisection"), *dir;
    const int plot = number_of(b, "plot", "The values that were tried");
    char expected[100];
    size_t i;

    snprintf(expected, sizeof expected, "The largest controller period that passes is %s µs",
             json_string_value(json_object_get(found, "passes")));
    char *headline = browser_text(b, "document.querySelector('.headline').textContent");
    cr_expect_str_eq(headline, expected);
    cr_expect(is_shown(b, json_string_value(json_object_get(found, "words"))));
    json_array_foreach(json_object_get(found, "path"), i, dir)
    {
        const double value = atof(strchr(json_string_value(dir), '=') + 1);
        cr_expect_eq(browser_number(b,
                                    "document.querySelectorAll('.plot')[%d].plot.curves[0]"
                                    ".curve.low[%zu]",
                                    plot, i),
                     (double)(float)value);
    }
    cr_expect_geq(i, 6);
    cr_expect_eq(browser_number(b,
                                "document.querySelectorAll('.plot')[%d].plot.curves"
                                ".find(({name}) => name === 'passes').curve.count +"
                                " document.querySelectorAll('.plot')[%d].plot.curves"
                                ".find(({name}) => name === 'fails').curve.count",
                                plot, plot),
                 (double)i, "each is a dot");
    struct place at = place_of(b, plot, 2);
    browser_mouse(b, "mouseMoved", at.x, at.y);
    char *legend = browser_text(b,
                                "document.querySelectorAll('.plot')[%d].querySelector('.legend')"
                                ".textContent",
                                plot);
    cr_expect(strstr(legend, "run 2: 60 µs, failed"), "%s", legend);
    expect_quiet(b);
}

/* --- the table -------------------------------------------------------------------------------- */

static char *first_run_shown(struct browser *b)
{
    return browser_text(b, "document.querySelector('.sort').closest('table').tBodies[0].rows[0]"
                           ".cells[1].textContent");
}

static void press(struct browser *b, const char *button)
{
    json_decref(browser_value(b,
                              "[...document.querySelectorAll('button')]"
                              ".find((one) => one.textContent === '%s').click()",
                              button));
}

static double rows_of(struct browser *b)
{
    return browser_number(b, "document.querySelector('.sort').closest('table').tBodies[0]"
                             ".rows.length");
}

/* So many of the runs of a small sweep again and again: what is in the page grows with them. */
static void make_thousand(void)
{
    json_t *index, *points, *many = json_array();

    sweep_into("sweep", drawn, 4);
    index = index_of("sweep");
    points = json_object_get(index, "points");
    for (size_t i = 0; i < 1000; i++)
        json_array_append(many, json_array_get(points, i % json_array_size(points)));
    json_object_set_new(index, "points", many);
    json_t *group = json_array_get(json_object_get(index, "distributions"), 0);
    json_object_set_new(group, "runs", json_integer(1000));
    cr_assert_eq(json_dump_file(index, in_workspace("sweep/sweep.json"), 0), 0);
}

Test(report_sweep, of_a_thousand_runs_is_small_and_has_all_of_them)
{
    struct stat file;

    make_thousand();
    struct browser *b = shown(report_of("sweep"));
    cr_assert_eq(stat(in_workspace("sweep/report.html"), &file), 0);
    cr_expect_lt(file.st_size, 2000000);
    cr_log_info("%ld bytes, complete after %.0f ms", (long)file.st_size,
                browser_number(b, "performance.getEntriesByName('complete')[0].startTime"));
    cr_expect_eq(rows_of(b), 100);
    press(b, "show all 1000");
    cr_expect_eq(rows_of(b), 1000);
    const int bars = number_of(b, "plot", "output_v: greatest overshoot");
    cr_expect_eq(browser_number(b,
                                "document.querySelectorAll('.plot')[%d].plot.curves.reduce("
                                "(sum, {curve}) => sum + curve.rows.reduce((a, b) => a + b), 0)",
                                bars),
                 1000);
    const int plot = number_of(b, "plot", "Output");
    const double curves =
        browser_number(b, "document.querySelectorAll('.plot')[%d].plot.curves.length", plot);
    cr_expect_leq(curves, 100, "%g of them are drawn", curves);
    expect_quiet(b);
}

Test(report_sweep, heads_sort_the_runs)
{
    sweep_into("sweep", drawn, 4);
    struct browser *b = shown(report_of("sweep"));
    const json_t *points = json_object_get(index_of("sweep"), "points"), *least = NULL;
    json_t *point;
    size_t i;

    json_array_foreach(points, i, point)
    {
        if (!least || settling_of(point) < settling_of(least))
            least = point;
    }
    char *first = first_run_shown(b);
    const json_t *worst = json_array_get(json_object_get(index_of("sweep"), "distributions"), 0);
    cr_expect_str_neq(first, json_string_value(json_object_get(least, "dir")));
    press(b, "output_v settles at the longest in (ms)");
    first = first_run_shown(b);
    cr_expect_str_eq(first, json_string_value(json_object_get(least, "dir")));
    press(b, "output_v settles at the longest in (ms) ↑");
    first = first_run_shown(b);
    cr_expect_str_eq(first, json_string_value(json_at((json_t *)worst, "worst.dir")));
    expect_quiet(b);
}

static bool has_come(void *path)
{
    struct stat status;

    return stat(path, &status) == 0 && status.st_size > 0;
}

/* As `hiloco sweep` wrote it, but for the round trip. */
Test(report_sweep, hands_out_the_table_as_csv)
{
    char *path = strdup(in_workspace("files/sweep-sweep.csv")), key[2][200], verdict[2][20];

    sweep_into("sweep", grid, 4);
    struct browser *b = shown(report_of("sweep"));
    cr_assert_eq(mkdir(in_workspace("files"), 0700), 0);
    browser_downloads(b, in_workspace("files"));
    press(b, "sweep.csv");
    cr_assert(wait_until(has_come, path, 20), "%s never came", path);
    FILE *page = fopen(path, "r"), *own = fopen(in_workspace("sweep/sweep.csv"), "r");
    char line[2][1000];
    unsigned rows = 0;
    while (fgets(line[0], sizeof line[0], page)) {
        cr_assert_not_null(fgets(line[1], sizeof line[1], own));
        for (int i = 0; i < 2; i++)
            cr_assert_eq(sscanf(line[i], "%199[^,],%*[^,],%*[^,],%*[^,],%*[^,],%*[^,],%19[^,]",
                                key[i], verdict[i]),
                         2);
        cr_expect_str_eq(key[0], key[1]);
        cr_expect_str_eq(verdict[0], verdict[1], "%s%s", line[0], line[1]);
        const char *last[2] = {strrchr(line[0], '"'), strrchr(line[1], '"')};
        cr_expect_eq(!last[0], !last[1]);
        rows++;
    }
    cr_expect_eq(rows, 13);
    fclose(page);
    fclose(own);
    free(path);
    expect_quiet(b);
}

/* --- paper, dark, narrow ---------------------------------------------------------------------- */

/* What is empty is not printed: Chromium's PDF lost the plot under the empty canvas of the cursor.
 */
Test(report_sweep, fits_on_paper_and_on_a_telephone)
{
    sweep_into("sweep", grid, 4);
    struct browser *b = browser_open(400, 800, true);

    browser_go(b, report_of("sweep"), report_complete);
    cr_expect_leq(browser_number(b, "document.documentElement.scrollWidth"), 400,
                  "on a narrow screen it is wider than that");
    static const char unseen[] = "[...document.querySelectorAll('.plot')]"
                                 ".filter(({plot}) => plot.isStale).length";
    cr_expect_eq(
        browser_number(b, "(document.querySelector('.plot').plot.view(0.001, 0.002), %s)", unseen),
        1, "what is far below follows at once");
    json_decref(
        browser_value(b,
                      "addEventListener('beforeprint', () => { window.unseen = %s;"
                      " window.printed = document.querySelector('.map').plot.brush.ink.paper; })",
                      unseen));
    browser_print(b);
    cr_expect_eq(browser_number(b, "window.unseen"), 0, "what is far below is not printed");
    char *colour = browser_text(b, "window.printed");
    cr_expect_str_eq(colour, "#ffffff", "the map is dark on paper: %s", colour);
    browser_media(b, "print");
    char *display = browser_text(b, "getComputedStyle(document.querySelector('.over')).display");
    cr_expect_str_eq(display, "none");
    expect_quiet(b);
}

/* --- what it must not do ---------------------------------------------------------------------- */

Test(report_sweep, no_text_of_an_index_is_taken_for_a_mark)
{
    static const char bad[] = "</script><script>window.broken = 1</script><!--<script>"
                              "<img src=x onerror=window.broken=1>";

    sweep_into("sweep", SWEEP "--set nodes.controller.period_us=20,30 --out %s", 0);
    json_t *index = index_of("sweep");
    json_array_set_new(json_object_get(index, "keys"), 3, json_string(bad));
    json_object_set_new(json_array_get(json_object_get(index, "points"), 0), "values",
                        json_pack("[s, s, s, s]", bad, bad, bad, bad));
    json_object_set_new(
        index, "bisection",
        json_pack("{s:s, s:s, s:b, s:[s]}", "key", bad, "words", bad, "found", 0, "path", bad));
    json_object_set_new(index, "distributions", json_integer(1));
    json_object_set_new(index, "drawn", json_string(bad));
    cr_assert_eq(json_dump_file(index, in_workspace("sweep/sweep.json"), 0), 0);
    struct browser *b = shown(report_of("sweep"));
    cr_assert_eq(remove(in_workspace("sweep/sweep.json")), 0); /* it fits no schema, on purpose */
    char *broken = browser_text(b, "String(window.broken)");
    cr_expect_str_eq(broken, "undefined");
    char *headline = browser_text(b, "document.querySelector('.headline').textContent");
    cr_expect_str_eq(headline, bad);
    cr_expect_eq(browser_number(b, "document.images.length"), 0);
    expect_quiet(b);
}

/*
 * The page of `hiloco scope` in a browser, on a run: what it shows is what the record has, sample
 * by sample; a trigger shows its edge where it is; cursors read what is there; a page that stays
 * open does not grow; and nothing of elsewhere is fetched.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "browser.h"
#include "process.h"
#include "results.h"
#include "web.h"
#include "workspace.h"

TestSuite(scope_page, .init = workspace_open, .fini = workspace_close, .timeout = 300);

/* --- a run to look at ------------------------------------------------------------------------- */

/* In real time, and slow, so that a busy machine keeps up: steps of 2 ms. A ramp of 1/s, and pulses
 * from 0 to 5, each second. It lasts until the test ends it, however long the browser takes. */
static const char bench[] =
    "name: %s\nduration_s: 3600\nmode: realtime\nvalidity: {required: false}\n"
    "nodes: {bench: {period_us: 2000, priority: 0, cpu: -1}}\n"
    "sources:\n"
    "  beat: {to: line.input, pulses: {low: 0, high: 5, period_s: 1, width_s: 0.5, delay_s: 0.5}}\n"
    "components:\n"
    "  ramp: {model: integrator, node: bench, inputs: {input: 1}}\n"
    "  line: {model: gain, node: bench}\n"
    "record: [{signals: [ramp.output, line.output]}]\n";

static bool is_there(void *run)
{
    const struct process *p = run;

    return run_command("hiloco top %d --json --count 1", (int)p->pid).status == 0;
}

static struct process run_bench(void)
{
    char text[1000];

    snprintf(text, sizeof text, bench, own_name());
    write_text(in_workspace("bench.yaml"), text);
    struct arguments a =
        command("hiloco run %s --quiet --out %s", in_workspace("bench.yaml"), in_workspace("out"));
    struct process p = start(&a);
    cr_assert(wait_until(is_there, &p, 30), "no run is to be seen");
    return p;
}

static void end_run(struct process *p)
{
    kill(p->pid, SIGTERM);
    finish(p);
}

/* The page, with both outputs chosen and nothing else. */
static struct browser *page_of(const struct scope *s, int width, bool dark)
{
    struct browser *b = browser_open(width, 900, dark);

    browser_visit(b, s->url, "typeof scope !== 'undefined' && scope.hello !== undefined");
    json_decref(browser_value(b, "[...scope.chooser.chosen].forEach(({name}) =>"
                                 " scope.chooser.choose({name}, false)),"
                                 "['line.output', 'ramp.output'].forEach((name) =>"
                                 " scope.chooser.choose({name}, true)), 1"));
    return b;
}

static void expect_quiet(struct browser *b)
{
    cr_expect_eq(browser_requests(b), 0, "the page fetches something");
    cr_expect_str_eq(browser_complaints(b), "");
    browser_close(b);
}

/* --- what is shown ---------------------------------------------------------------------------- */

struct samples {
    unsigned count;
    double *times, *values;
};

static struct samples captured(struct browser *b, const char *name)
{
    json_t *list = browser_value(b,
                                 "(() => { const {times, values} ="
                                 " scope.screen.capture.traces.get('%s');"
                                 " return [...times, ...values]; })()",
                                 name);
    struct samples s = {.count = (unsigned)json_array_size(list) / 2};

    s.times = calloc(s.count + 1, sizeof *s.times);
    s.values = calloc(s.count + 1, sizeof *s.values);
    for (unsigned i = 0; i < s.count; i++) {
        s.times[i] = json_number_value(json_array_get(list, i));
        s.values[i] = json_number_value(json_array_get(list, s.count + i));
    }
    json_decref(list);
    return s;
}

/* Where the record has this time; -1: nowhere. */
static long row_at(const struct column *times, double time_s)
{
    for (size_t i = 0; i < times->rows; i++)
        if (times->at[i] == time_s)
            return (long)i;
    return -1;
}

/* Each step of the record between the first and the last of these, and no other; bit for bit. */
static void expect_record(const struct samples *s, const char *dataset, double *first_s)
{
    const struct column times = column_of(in_workspace("out"), "bench/time_s");
    const struct column values = column_of(in_workspace("out"), dataset);

    const long first = row_at(&times, s->times[0]);
    cr_assert_geq(first, 0, "the record has no step at %.9f s", s->times[0]);
    for (unsigned i = 0; i < s->count; i++) {
        const size_t row = (size_t)first + i;
        cr_assert_eq(s->times[i], times.at[row], "sample %u", i);
        cr_assert_eq(s->values[i], values.at[row * values.width], "sample %u", i);
    }
    *first_s = s->times[0];
}

static const char trigger[] =
    "Object.assign(scope.trigger.set, {on: 'level', signal: 'line.output', level: 2.5,"
    " hysteresis: 1, edge: '%s', mode: 'single', before_s: 0.1, after_s: 0.1}),"
    " scope.setMode('capture'), 1";

/* The screen shows what the window has. An edge at its very border is not seen. */
static const double room_s = 0.01;

/* Captures edges until one has steps before it in its window: a busy machine may have left out all
 * of these, or all but the last. */
static struct samples capture_edge(struct browser *b, const char *edge)
{
    struct samples s;
    double at;

    do {
        json_decref(browser_value(b, "window.before = scope.screen.capture, 1"));
        json_decref(browser_value(b, trigger, edge));
        browser_wait(b, "scope.screen.capture?.trigger != null && scope.screen.capture !== before"
                        " && !scope.screen.stale");
        s = captured(b, "line.output");
        at = browser_number(b, "scope.screen.capture.trigger.time_s");
    } while (s.count == 0 || s.times[0] > at - room_s);
    return s;
}

/* Whether the step before sample i and this sample have that time between them, but for a pixel. */
static bool is_before(const struct samples *s, unsigned i, double time_s)
{
    const double pixel_s = 0.001;

    return time_s > s->times[i - 1] - pixel_s && time_s < s->times[i] + pixel_s;
}

/* Whether the samples have an edge at this time. A node that stood still for long makes the steps
 * of a pulse late, so that the window may have both edges of it. */
static bool is_edge(const struct samples *s, double time_s)
{
    bool is = false;

    for (unsigned i = 1; i < s->count; i++)
        is |= s->values[i] != s->values[i - 1] && is_before(s, i, time_s);
    return is;
}

/* The trigger is at the very step with which the level is passed, on the page as in the record; and
 * the page draws edges from the step before, and nowhere else. */
static void expect_edge(struct browser *b, const struct samples *s, bool rises)
{
    const double at = browser_number(b, "scope.screen.capture.trigger.time_s");
    json_t *drawn = browser_value(
        b, "(() => { const {canvas, x, paint, lanes, traces, capture} = scope.screen;"
           " scope.setApart(true);"
           " capture.trigger = scope.screen.level = null;" /* their lines */
           " scope.screen.draw(performance.now());"
           " const scale = canvas.width / paint.width;" /* as drawn, whatever its size is now */
           " const y = lanes.of(traces.find(({name}) => name === 'line.output')).axis.pixel(1.5);"
           " const pixels = paint.context.getImageData(0, Math.round(y * scale), canvas.width, "
           "1).data;"
           " const found = [];"
           " for (let i = Math.round(x.start * scale) + 2; i < x.stop * scale - 2; i++) {"
           "  const [r, g, b] = pixels.slice(4 * i, 4 * i + 3);"
           "  if (Math.max(r, g, b) - Math.min(r, g, b) > 30) found.push(x.value(i / scale)); }"
           " return found; })()");
    unsigned i = 0;

    while (i < s->count && s->times[i] < at)
        i++;
    cr_assert(i > 0 && i < s->count, "the trigger is in the window");
    cr_expect_eq(s->times[i], at);
    cr_expect_eq(s->values[i], rises ? 5 : 0);
    cr_expect_eq(s->values[i - 1], rises ? 0 : 5);
    bool is_drawn = false;
    for (size_t k = 0; k < json_array_size(drawn); k++) {
        const double there = json_number_value(json_array_get(drawn, k));
        cr_expect(is_edge(s, at + there), "an edge is drawn at %g s from the trigger", there);
        is_drawn |= is_before(s, i, at + there);
    }
    cr_expect(is_drawn, "the edge is not drawn");
    json_decref(drawn);
}

Test(scope_page, a_trigger_shows_its_edge_and_the_record)
{
    struct process p = run_bench();
    struct scope s = scope_start(&p, "");
    struct browser *b = page_of(&s, 1000, false);
    double first_s[2];

    const struct samples line = capture_edge(b, "rising"), ramp = captured(b, "ramp.output");
    expect_edge(b, &line, true);
    const struct samples falling = capture_edge(b, "falling");
    expect_edge(b, &falling, false);
    expect_quiet(b);
    scope_stop(&s);
    end_run(&p);
    expect_record(&line, "bench/line.output", &first_s[0]);
    expect_record(&ramp, "bench/ramp.output", &first_s[1]);
    expect_record(&falling, "bench/line.output", &first_s[1]);
}

/* Columns of a roll: each has the extremes of the steps in its time, and of no other. Where a busy
 * machine has kept the page from seeing some steps, it says so, and those may be missing. */
Test(scope_page, a_roll_has_the_extremes_of_the_record)
{
    struct process p = run_bench();
    struct scope s = scope_start(&p, "");
    struct browser *b = page_of(&s, 1000, true);

    /* A look at all columns at once: a page that is laid out anew gets another roll. */
    browser_wait(b,
                 "(() => {"
                 " const {roll} = scope.screen.traces.find(({name}) => name === 'ramp.output');"
                 " window.seen = [scope.screen.column_s], window.unseen = scope.unseen.textContent;"
                 " for (let column = roll ? roll.end - roll.size : 0;"
                 "   column < roll?.end - 2; column++) {"
                 "  const place = roll.place(column);"
                 "  if (place >= 0) seen.push(column, roll.low[place], roll.high[place]); }"
                 " return seen.length > 3 * 20; })()");
    json_t *found = browser_value(b, "seen");
    const bool saw_all = browser_number(b, "unseen.length") == 0;
    expect_quiet(b);
    scope_stop(&s);
    end_run(&p);
    const struct column times = column_of(in_workspace("out"), "bench/time_s");
    const struct column values = column_of(in_workspace("out"), "bench/ramp.output");
    const double width = json_number_value(json_array_get(found, 0));
    for (size_t i = 1; i < json_array_size(found); i += 3) {
        const double column = json_number_value(json_array_get(found, i));
        double low = INFINITY, high = -INFINITY;
        for (size_t r = 0; r < times.rows; r++)
            if (floor(times.at[r] / width) == column) {
                low = fmin(low, values.at[r]);
                high = fmax(high, values.at[r]);
            }
        const double is_low = json_number_value(json_array_get(found, i + 1));
        const double is_high = json_number_value(json_array_get(found, i + 2));
        cr_expect(saw_all ? is_low == low && is_high == high : is_low >= low && is_high <= high,
                  "column %.0f at %g s: from %.9g to %.9g, not %.9g to %.9g", column,
                  column * width, is_low, is_high, low, high);
    }
    json_decref(found);
}

/* --- what is read of it ----------------------------------------------------------------------- */

Test(scope_page, readings_and_spectrum_are_right)
{
    struct process p = run_bench();
    struct scope s = scope_start(&p, "");
    struct browser *b = page_of(&s, 1000, false);

    /* 2 + 3 sin(2 pi 50 t), 1 s in steps of 1 ms; and noise that passes the mean often. */
    json_decref(browser_value(
        b, "globalThis.t = Float64Array.from({length: 1000}, (_, i) => 10 + i / 1000),"
           "globalThis.v = t.map((at) => 2 + 3 * Math.sin(2 * Math.PI * 50 * at)),"
           "globalThis.n = v.map((one, i) => one + (i %% 2 ? 0.05 : -0.05)),"
           "globalThis.r = readings(t, v), globalThis.summit = peak(spectrum(t, v)), 1"));
    cr_expect_lt(fabs(browser_number(b, "r.mean") - 2), 1e-9);
    cr_expect_lt(fabs(browser_number(b, "r.rms") - sqrt(4 + 4.5)), 1e-9);
    cr_expect_eq(browser_number(b, "r.min"), browser_number(b, "Math.min(...v)"));
    cr_expect_eq(browser_number(b, "r.max"), browser_number(b, "Math.max(...v)"));
    cr_expect_lt(fabs(browser_number(b, "r.frequency") - 50), 1e-3);
    cr_expect_lt(fabs(browser_number(b, "readings(t, n).frequency") - 50), 0.1);
    cr_expect_lt(fabs(browser_number(b, "readings(t, v, 100, 200).frequency") - 50), 0.1);
    cr_expect_lt(fabs(browser_number(b, "summit.frequency") - 50), 0.05);
    cr_expect_lt(fabs(browser_number(b, "summit.amplitude") - 3), 0.02);
    /* The transform of an impulse, and of a cosine of 3 periods. */
    cr_expect_lt(browser_number(b, "(() => { const re = new Float64Array(16), im = new "
                                   "Float64Array(16); re[0] = 1; transform(re, im); return "
                                   "Math.max(...re.map((one, i) => Math.abs(one - 1) + "
                                   "Math.abs(im[i]))); })()"),
                 1e-12);
    cr_expect_lt(browser_number(b,
                                "(() => { const re = Float64Array.from({length: 64}, (_, i) => "
                                "Math.cos(2 * Math.PI * 3 * i / 64)), im = new Float64Array(64);"
                                " transform(re, im); return Math.abs(re[3] - 32) + "
                                "Math.abs(re[61] - 32) + Math.abs(re[5]) + Math.abs(im[3]); })()"),
                 1e-9);
    expect_quiet(b);
    scope_stop(&s);
    end_run(&p);
}

/* The file has what the page has, and its numbers are read back as they are. */
Test(scope_page, what_is_seen_is_handed_out)
{
    struct process p = run_bench();
    struct scope s = scope_start(&p, "");
    struct browser *b = page_of(&s, 1000, false);

    json_decref(browser_value(b, trigger, "rising"));
    browser_wait(b, "scope.screen.capture?.trigger != null && !scope.screen.stale");
    char *head = browser_text(b, "csvOfScreen(scope.screen).split('\\n')[0]");
    cr_expect_str_eq(head, "time_s,line.output,ramp.output");
    cr_expect_eq(browser_number(b, "(() => { const lines ="
                                   " csvOfScreen(scope.screen).trim().split('\\n').slice(1);"
                                   " const {times, values} ="
                                   "  scope.screen.capture.traces.get('ramp.output');"
                                   " return lines.length !== times.length ? -1 :"
                                   "  lines.filter((line, i) => {"
                                   "   const [time, , value] = line.split(',').map(Number);"
                                   "   return time !== times[i] || value !== values[i]; }).length;"
                                   " })()"),
                 0);
    cr_expect_gt(browser_number(b, "new Promise((done) => pngOfScreen(scope.screen, 'x',"
                                   " (blob) => done(blob.size)))"),
                 2000);
    free(head);
    expect_quiet(b);
    scope_stop(&s);
    end_run(&p);
}

/* --- hours ------------------------------------------------------------------------------------ */

/* An hour of messages in a few seconds: rolls at 100 a second, states, captures. */
static const char hour[] =
    "(async () => {"
    " const on = scope.link.on, pairs = new Float64Array(2 * 2 * 2);"
    " const state = {elapsed_s: 1, paused: false, nodes: [{name: 'bench', state: 'run', steps: 1,"
    "  missed: 0, input_age_us: 1, late_p99_us: 1, late_max_us: 2}],"
    "  late: {edges_us: [0, 1, 2], counts: [1, 2]}, round_trip: {edges_us: [0, 1, 2], counts: [0, "
    "1]}};"
    " const roll = (n) => on.roll({column_s: scope.screen.column_s, traces:"
    "  ['line.output', 'ramp.output'].map((name) => ({name, first: 1e6 + n, count: 2}))}, pairs);"
    " const capture = (n) => { const rows = Float64Array.from({length: 4000}, (_, i) => i);"
    "  on.capture({number: n, trigger: null, lost: 0,"
    "   traces: [{name: 'line.output', count: 1000}, {name: 'ramp.output', count: 1000}]}, rows); "
    "};"
    " for (let n = 0; n < %d; n++) {"
    "  roll(n);"
    "  if (n %% 25 === 0) on.state(state);"
    "  if (n %% 100 === 0) capture(n);"
    "  if (n %% 1000 === 0) on.set({name: 'a', value: n, node: 'bench', step: n, time_s: n});"
    "  if (n %% 10000 === 0) await new Promise((next) => requestAnimationFrame(next));"
    " }"
    " return 1; })()";

static double growth_in_an_hour(struct browser *b)
{
    const double before = browser_heap(b);

    json_decref(browser_value(b, hour, 360000));
    return browser_heap(b) - before;
}

Test(scope_page, an_open_page_does_not_grow)
{
    enum { ENOUGH = 1 << 20 };
    struct process p = run_bench();
    struct scope s = scope_start(&p, "");
    struct browser *b = page_of(&s, 1000, false);

    browser_wait(b, "scope.screen.column_s > 0");
    json_decref(browser_value(b, "scope.link.over = true, scope.link.socket.close(), 1"));
    json_decref(browser_value(b, hour, 20000));
    double grown = growth_in_an_hour(b);
    if (grown >= ENOUGH) /* What the browser makes once, whenever it likes, is no growth. */
        grown = growth_in_an_hour(b);
    cr_expect_lt(grown, ENOUGH, "%.0f bytes in an hour", grown);
    browser_close(b);
    scope_stop(&s);
    end_run(&p);
}

/* --- for everybody ---------------------------------------------------------------------------- */

/* Each control has a name, and the keyboard reaches it; no screen is too narrow. */
Test(scope_page, it_is_for_keyboards_and_phones)
{
    struct process p = run_bench();
    struct scope s = scope_start(&p, "--allow-set");
    struct browser *b = page_of(&s, 400, true);

    cr_expect_leq(browser_number(b, "document.documentElement.scrollWidth"), 400);
    char *nameless = browser_text(
        b, "[...document.querySelectorAll('button, input, select, [tabindex], canvas[role]')]"
           ".filter((one) => !(one.getAttribute('aria-label') || one.labels?.length ||"
           " one.textContent.trim())).map((one) => one.outerHTML.slice(0, 80)).join()");
    cr_expect_str_eq(nameless, "");
    cr_expect_eq(browser_number(b, "[...document.querySelectorAll('button, input, select')]"
                                   ".filter((one) => one.tabIndex < 0).length"),
                 0);
    json_decref(browser_value(b, "scope.showCursors(true), scope.screen.handles.A.focus(),"
                                 " globalThis.was = scope.screen.cursors.A"));
    browser_key(b, "ArrowRight");
    cr_expect_gt(browser_number(b, "scope.screen.cursors.A - was"), 0);
    free(nameless);
    expect_quiet(b);
    scope_stop(&s);
    end_run(&p);
}

/* --- with a run ------------------------------------------------------------------------------- */

Test(scope_page, a_run_has_its_scope)
{
    char text[1000];

    snprintf(text, sizeof text, bench, own_name());
    write_text(in_workspace("bench.yaml"), text);
    struct arguments a = command("hiloco run %s --scope --quiet --out %s",
                                 in_workspace("bench.yaml"), in_workspace("out"));
    struct process p = start(&a);
    cr_assert(wait_until_said(&p, "?token=", 30), "no address is said");
    char *said = read_text(p.err_path), *address = strstr(said, "http://");
    cr_assert_not_null(address, "%s", said);
    address[strcspn(address, "\n")] = '\0';
    struct browser *b = browser_open(1000, 900, false);
    browser_visit(b, address, "typeof scope !== 'undefined' && scope.hello !== undefined");
    kill(p.pid, SIGTERM);
    browser_wait(b, "document.getElementById('link').textContent.includes('ended')");
    struct ended e = finish(&p);
    expect_status(&e, 130);
    browser_close(b);
    free(said);
}

/* --- what is changed on it -------------------------------------------------------------------- */

static struct process run_to_change(void)
{
    struct arguments a = command("hiloco run configs/quickstart.yaml --quiet --allow-set "
                                 "--set nodes.converter.count=3 --set record.0.decimation=50 "
                                 "--set duration_s=3000 --out %s",
                                 in_workspace("out"));
    struct process p = start(&a);

    cr_assert(wait_until(is_there, &p, 30), "no run is to be seen");
    return p;
}

static struct browser *page_to_change(const struct scope *s)
{
    struct browser *b = browser_open(1000, 900, false);

    browser_visit(b, s->url, "typeof scope !== 'undefined' && scope.hello !== undefined");
    return b;
}

static double value_now(const struct process *run, const char *name)
{
    struct ended e = run_command("hiloco set %d --json", (int)run->pid);
    json_t *all = json_loads(e.out, 0, NULL), *one;
    double value = NAN;
    size_t i;

    json_array_foreach(json_object_get(all, "parameters"), i,
                       one) if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0)
        value = json_number_value(json_object_get(one, "value"));
    json_decref(all);
    return value;
}

/* A slider is moved by a key, as a hand would; the log says what was applied, and where. */
Test(scope_page, a_slider_sets_what_it_is_for)
{
    struct process p = run_to_change();
    struct scope s = scope_start(&p, "--allow-set");
    struct browser *b = page_to_change(&s);
    const double before =
        browser_number(b, "(() => { const slider = document.querySelector('.knob input[type=range]'"
                          " + '[aria-label^=\"control[0].kp_per_v\"]'); slider.focus();"
                          " globalThis.slider = slider; return Number(slider.value); })()");

    browser_key(b, "ArrowRight");
    browser_wait(b, "document.querySelector('.log li')?.textContent.startsWith("
                    "'control[0].kp_per_v = ')");
    const double after = browser_number(b, "Number(slider.value)");
    cr_expect_gt(after, before);
    cr_expect_float_eq(value_now(&p, "control[0].kp_per_v"), after, 1e-12);
    cr_expect_eq(browser_number(b, "Number(document.querySelector('.knob input[type=number]"
                                   "[aria-label^=\"reference\"]').placeholder === 'as planned')"),
                 1, "a source that changes");
    expect_quiet(b);
    scope_stop(&s);
    end_run(&p);
}

struct target {
    const struct process *run;
    double elapsed_s;
};

static double elapsed_s(const struct process *run)
{
    struct ended e = run_command("hiloco top %d --json --count 1", (int)run->pid);
    json_t *sample = json_loads(e.out, 0, NULL);
    const double found = json_number_value(json_object_get(sample, "elapsed_s"));

    json_decref(sample);
    return found;
}

static bool has_stepped_to(void *arg)
{
    const struct target *t = arg;

    return fabs(elapsed_s(t->run) - t->elapsed_s) < 1e-9;
}

static void press(struct browser *b, const char *button)
{
    json_decref(browser_value(b,
                              "[...document.querySelectorAll('#control button')].find("
                              "(one) => one.textContent === '%s').click(), 1",
                              button));
}

/* The controller, whose time is that of the run, steps at every other instant. */
Test(scope_page, its_buttons_pause_step_resume_and_stop)
{
    struct process p = run_to_change();
    struct scope s = scope_start(&p, "--allow-set");
    struct browser *b = page_to_change(&s);

    browser_wait(b, "parseFloat(document.getElementById('clock').textContent) > 0");
    press(b, "Pause");
    browser_wait(b, "document.getElementById('clock').textContent.includes('paused')");
    struct target next = {&p, elapsed_s(&p)};
    press(b, "Step");
    press(b, "Step");
    next.elapsed_s += 0.00002;
    cr_expect(wait_until(has_stepped_to, &next, 30), "%g s, not %g s", elapsed_s(&p),
              next.elapsed_s);
    press(b, "Resume");
    browser_wait(b, "!document.getElementById('clock').textContent.includes('paused')");
    press(b, "Stop");
    struct ended e = finish(&p);
    expect_status(&e, 130);
    expect_quiet(b);
    scope_stop(&s);
}

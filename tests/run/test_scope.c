/*
 * What watches a run sees what its record has: row by row, bit by bit.
 *
 * A run's memory stays with who has it open, so what a run ended with can be looked at in peace.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../bank_text.h"
#include "../sets.h"
#include "harness/tools/scope/rows.h"
#include "harness/tools/top/runs.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(scope, .init = workspace_open, .fini = workspace_close);

/* --- runs ---------------- */

struct watched {
    struct process process;
    struct hil_runs runs;
    const struct hil_run_entry *run;
    const char *out;
};

static bool is_found(void *arg)
{
    struct watched *w = arg;

    cr_assert_eq(hil_runs_find(&w->runs, false), 0);
    for (unsigned i = 0; i < w->runs.count; i++)
        if (hil_run_is(&w->runs.at[i], w->out))
            w->run = &w->runs.at[i];
    if (!w->run)
        hil_runs_close(&w->runs);
    return w->run != NULL;
}

static bool has_begun(void *arg)
{
    const struct watched *w = arg;

    return atomic_load(&w->run->attached.state->elapsed_ns) > 0;
}

static struct watched watch_run(const char *line)
{
    struct watched w = {.out = in_workspace("results")};
    struct arguments a =
        command("hiloco run %s --quiet --set name=%s --out %s", line, own_name(), w.out);

    w.process = start(&a);
    cr_assert(wait_until(is_found, &w, 30), "no run is found");
    cr_assert(wait_until(has_begun, &w, 30));
    return w;
}

/* --- rows and records ---------------- */

/* A signal's last rows: steps, times and values. */
struct shown {
    uint64_t at[4096][3];
    unsigned count;
};

static struct shown *rows_of(const struct watched *w, const char *name)
{
    struct shown *shown = calloc(1, sizeof *shown);
    struct hil_shown_list list;
    struct hil_rows rows;
    uint64_t lost = 0;

    cr_assert_eq(hil_shown_open(&list, &w->run->attached), 0);
    const struct hil_shown *found = hil_shown_find(&list, name);
    cr_assert(found, "there is no %s", name);
    const uint32_t places[] = {HIL_TAP_STEP, HIL_TAP_TIME, found->place};
    cr_assert_eq(hil_rows_open(&rows, &w->run->attached, found->node), 0);
    const uint64_t first = rows.next; /* earlier ones have been written over */
    shown->count = hil_rows_take(&rows, places, 3, shown->at[0], 4096, &lost);
    cr_assert_geq(shown->count, 63);
    cr_assert_eq(first + shown->count + lost, hil_rows_count(&rows));
    hil_shown_close(&list);
    return shown;
}

/* The last rows of both are the same, to the bit. The record has a row for each step. */
static void expect_recorded(const struct watched *w, const char *name, const char *node,
                            const char *column, unsigned place)
{
    struct shown *shown = rows_of(w, name);
    char path[200];
    snprintf(path, sizeof path, "%s/time_s", node);
    const struct column times = column_of(w->out, path);
    snprintf(path, sizeof path, "%s/%s", node, column);
    const struct column values = column_of(w->out, path);

    cr_assert_geq(times.rows, shown->count);
    for (unsigned i = 0; i < shown->count; i++) {
        const size_t row = times.rows - shown->count + i;
        const double time_s = (double)shown->at[i][1] * 1e-9;
        cr_assert_eq(time_s, times.at[row], "%s: row %zu is at %.9f, and %.9f", name, row, time_s,
                     times.at[row]);
        cr_assert_eq(memcmp(&shown->at[i][2], &values.at[row * values.width + place], 8), 0,
                     "%s: row %zu is %.17g, and %.17g", name, row, hil_rows_number(shown->at[i][2]),
                     values.at[row * values.width + place]);
    }
    free(shown);
    free(times.at);
    free(values.at);
}

#define SHORT "configs/dcdc20.yaml --set " RECORD_CONVERTERS("1") " "

static void expect_all_recorded(const struct watched *w)
{
    expect_recorded(w, "output_v", "controller", "output_v", 0);
    expect_recorded(w, "output_v.reference", "controller", "reference_v", 0);
    expect_recorded(w, "control[7].duty", "controller", "duty", 7);
    expect_recorded(w, "converter[3].voltage_v", "converter/003", "voltage_v", 0);
}

Test(scope, rows_are_the_record_in_virtual_time)
{
    struct watched w = watch_run(SHORT "--mode virtual --set duration_s=0.2");
    struct ended e = finish(&w.process);

    expect_status(&e, 0);
    expect_all_recorded(&w);
    hil_runs_close(&w.runs);
}

/* A run in real time that a busy machine has time for; a step of the controller is late from 1 s
 * on. */
static const char REAL[] =
    "name: real\n"
    "duration_s: 3\n"
    "mode: realtime\n"
    "nodes:\n"
    "  controller: {period_us: 5000, priority: 0}\n"
    "  converter: {count: 3, period_us: 5000, priority: 0}\n" BANK_COMPONENTS BANK_CONNECTIONS
    "sources: {" BANK_REFERENCE "}\n"
    "record: [" BANK_RECORD ", {signals: [converter.voltage_v, "
    "converter.current_a, converter.duty], node: converter}]\n" BANK_MEASURES
    "validity: {required: false}\n"
    "faults:\n"
    "  slow: {nodes: controller, kind: slow, delay_us: 12000, at_s: 1, "
    "duration_s: 0.1}\n";

static struct watched watch_real(void)
{
    const char *path = in_workspace("real.yaml");

    skip_on_one_core();
    write_text(path, REAL);
    return watch_run(path);
}

Test(scope, rows_are_the_record_in_real_time)
{
    struct watched w = watch_real();
    struct ended e = finish(&w.process);

    expect_ran(&e);
    expect_recorded(&w, "output_v", "controller", "output_v", 0);
    expect_recorded(&w, "control[2].duty", "controller", "duty", 2);
    expect_recorded(&w, "converter[1].voltage_v", "converter/001", "voltage_v", 0);
    hil_runs_close(&w.runs);
}

static const char FAULTED[] =
    "name: faulted\n"
    "duration_s: 4\n"
    "mode: virtual\n" BANK(
        "3") "faults:\n"
             "  sensor: {signal: 'control[0].voltage_v', kind: bias, value: 0.5, "
             "at_s: 0.1, duration_s: 3.9}\n"
             "  weak: {signal: 'control[1].duty', kind: gain, factor: 0.9, "
             "at_s: 0.1, duration_s: 3.9}\n";

/* Inputs and outputs with a fault, and as they would be without. */
Test(scope, rows_have_faulted_signals_as_the_record)
{
    const char *path = in_workspace("faulted.yaml");

    write_text(path, FAULTED);
    struct watched w = watch_run(path);
    struct ended e = finish(&w.process);
    expect_status(&e, 0);
    expect_recorded(&w, "control[0].voltage_v", "controller", "control.voltage_v", 0);
    expect_recorded(&w, "control[0].original_voltage_v", "controller", "original_voltage_v", 0);
    expect_recorded(&w, "control[1].duty", "controller", "duty", 1);
    expect_recorded(&w, "control[1].original_duty", "controller", "original_duty", 0);
    hil_runs_close(&w.runs);
}

/* --- captures ---------------- */

/* A pulse each 20 ms. */
static const char PULSES[] =
    "name: pulses\n"
    "duration_s: 1\n"
    "mode: virtual\n"
    "nodes:\n"
    "  fast: {period_us: 10}\n"
    "  slow: {period_us: 50}\n"
    "components:\n"
    "  lag: {node: fast, model: first_order_lag, parameters: {time_constant_s: 0.001}}\n"
    "  law: {node: slow, model: gain, parameters: {gain: 2}}\n"
    "connections: [{from: lag.output, to: law.input}]\n"
    "sources:\n"
    "  pulse: {pulses: {high: 1, period_s: 0.02, width_s: 0.01}, to: lag.input}\n"
    "record: [{node: fast, signals: [lag.output]}, {node: slow, signals: [law.output]}]\n";

static json_t *capture(const struct watched *w, const char *options)
{
    const char *path = in_workspace("capture.json");
    struct ended e = run_command("hiloco scope %s --out %s %s", w->out, path, options);

    expect_status(&e, 0);
    json_t *read = json_load_file(path, 0, NULL);
    cr_assert_not_null(read, "%s", e.out);
    return read;
}

static double at(json_t *array, size_t i)
{
    return json_number_value(json_array_get(array, i));
}

/* Every value, by its step, to the bit; no step is left out. */
static void expect_trace(const struct watched *w, json_t *capture_, unsigned trace,
                         const char *node, const char *column)
{
    json_t *t = json_array_get(json_object_get(capture_, "traces"), trace);
    json_t *steps = json_object_get(t, "steps"), *values = json_object_get(t, "values"),
           *times = json_object_get(t, "times_s");
    char path[100];
    snprintf(path, sizeof path, "%s/%s", node, column);
    const struct column recorded = column_of(w->out, path);
    snprintf(path, sizeof path, "%s/time_s", node);
    const struct column time = column_of(w->out, path);

    cr_assert_gt(json_array_size(steps), 50);
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const size_t row = (size_t)at(steps, i);
        cr_assert_lt(row, recorded.rows);
        cr_assert_eq(at(values, i), recorded.at[row], "%s: step %zu", path, row);
        cr_assert_eq(at(times, i), time.at[row], "%s: step %zu", path, row);
        cr_assert(i == 0 || row == (size_t)at(steps, i - 1) + 1);
    }
    free(recorded.at);
    free(time.at);
}

/* A run in virtual time is over before somebody looks, unless it is long; then it is told to end.
 */
static struct watched watch_pulses(double duration_s)
{
    const char *path = in_workspace("pulses.yaml");
    char arguments[200];

    write_text(path, PULSES);
    snprintf(arguments, sizeof arguments, "%s --set duration_s=%g", path, duration_s);
    return watch_run(arguments);
}

static void end_run(struct watched *w)
{
    kill(w->process.pid, SIGTERM);
    struct ended e = finish(&w->process);
    cr_expect(e.status == 130 || e.status == 0, "%d: %s", e.status, e.err);
    hil_runs_close(&w->runs);
}

Test(scope, capture_shows_its_edge_where_the_record_has_it)
{
    struct watched w = watch_pulses(20);
    json_t *c = capture(&w, "--capture lag.output,law.output --trigger lag.output>0.5 "
                            "--hysteresis 0.2 --before 0.005 --after 0.003");

    end_run(&w);
    cr_expect_eq(number_at(c, "lost"), 0);
    const struct column output = column_of(w.out, "fast/output");
    const size_t step = (size_t)number_at(c, "trigger.step");
    cr_assert_gt(step, 0);
    cr_expect_geq(output.at[step], 0.5);
    cr_expect_lt(output.at[step - 1], 0.5);
    cr_expect_str_eq(json_string_value(json_at(c, "trigger.node")), "fast");
    expect_trace(&w, c, 0, "fast", "output");
    expect_trace(&w, c, 1, "slow", "output");
    json_decref(c);
}

/* The window is shorter than the period of the node, so a step may be anywhere in it. */
Test(scope, capture_of_less_than_a_period)
{
    struct watched w = watch_pulses(2000);
    json_t *c = capture(&w, "--capture law.output --before 49e-6 --after 0 --auto --wait 0.01");

    end_run(&w);
    cr_expect_leq(json_array_size(json_at(c, "traces.0.steps")), 1);
    json_decref(c);
}

/* A fault each 5 s, for a second: a scope that has no processor at one of them sees another. */
static void write_faults(FILE *to)
{
    fputs("name: faults\n"
          "duration_s: 6000\n"
          "mode: virtual\n" BANK_NODES("3") BANK_COMPONENTS BANK_CONNECTIONS
          "sources: {" BANK_REFERENCE "}\n" BANK_MEASURES
          "record: [{signals: [converter.voltage_v, control.duty], node: "
          "controller, decimation: 0}]\n"
          "faults:\n",
          to);
    for (unsigned i = 1; i <= 200; i++)
        fprintf(to,
                "  sensor%u: {signal: 'control[0].voltage_v', kind: bias, value: 0.5, "
                "at_s: %u, duration_s: 1}\n",
                i, 5 * i);
}

Test(scope, capture_of_a_fault_is_at_the_step_where_it_begins)
{
    const char *path = in_workspace("faults.yaml");
    FILE *file = fopen(path, "w");

    write_faults(file);
    fclose(file);
    struct watched w = watch_run(path);
    json_t *c = capture(&w, "--capture control[0].voltage_v "
                            "--trigger fault --before 0.001 --after 0.001");
    end_run(&w);
    const double step = number_at(c, "trigger.step");
    cr_expect_eq(fmod(step, 250000), 0, "step %.0f", step);
    cr_expect_eq(number_at(c, "trigger.time_s"), step * 20e3 * 1e-9);
    json_t *trace = json_array_get(json_object_get(c, "traces"), 0),
           *values = json_object_get(trace, "values");
    cr_assert_eq(json_array_size(values), 101);
    for (size_t i = 0; i < 50; i++)
        cr_expect_lt(at(values, i), 12.2, "step %zu: %.17g", i, at(values, i));
    cr_expect_gt(at(values, 51), 12.2); /* half a volt too much */
    json_decref(c);
}

struct goes_on {
    const struct watched *w;
    uint64_t done; /* instants */
};

static bool goes_on_from(void *arg)
{
    const struct goes_on *g = arg;

    return atomic_load(&g->w->run->attached.state->pace.done) >= g->done;
}

/* A window of many rings: the run waits until they are read, also for a capture that is stopped. */
Test(scope, a_run_in_virtual_time_waits_for_its_capture)
{
    FILE *file = fopen(in_workspace("faults.yaml"), "w");
    write_faults(file);
    fclose(file);
    struct watched w = watch_run(in_workspace("faults.yaml"));
    json_t *c = capture(&w, "--capture control[0].voltage_v,converter[2].voltage_v "
                            "--trigger fault --before 0.5 --after 0.5");

    cr_expect_eq(number_at(c, "lost"), 0);
    cr_expect_gt(json_array_size(json_at(c, "traces.1.steps")), 49000);
    json_t *steps = json_at(c, "traces.1.steps");
    for (size_t i = 1; i < json_array_size(steps); i++)
        cr_assert_eq(at(steps, i), at(steps, i - 1) + 1, "step %zu", i);
    json_decref(c);

    /* one that is killed holds nothing up */
    struct arguments a =
        command("hiloco scope %s --capture output_v --trigger output_v<-1 --out %s", w.out,
                in_workspace("never.json"));
    struct process killed = start(&a);
    const uint64_t before = atomic_load(&w.run->attached.state->pace.done);
    cr_expect(wait_until(goes_on_from, (void *)&(struct goes_on){&w, before + 100000}, 30));
    kill(killed.pid, SIGKILL);
    finish(&killed);
    const uint64_t then = atomic_load(&w.run->attached.state->pace.done);
    cr_expect(wait_until(goes_on_from, (void *)&(struct goes_on){&w, then + 100000}, 30));
    end_run(&w);
}

Test(scope, capture_of_a_miss_is_at_a_step_that_was_late)
{
    struct watched w = watch_real();
    json_t *c = capture(&w, "--capture output_v --trigger miss --before 0 --after 0.05");
    end_run(&w);
    json_t *trace = json_array_get(json_object_get(c, "traces"), 0),
           *steps = json_object_get(trace, "steps"), *times = json_object_get(trace, "times_s");
    const double step = number_at(c, "trigger.step");
    cr_expect_str_eq(json_string_value(json_at(c, "trigger.on")), "miss");
    if (strcmp(json_string_value(json_at(c, "trigger.node")), "controller") == 0) {
        cr_expect_eq(at(steps, 0), step);
        cr_assert_gt(json_array_size(steps), 1);
        cr_expect(at(steps, 1) > step + 1 || at(times, 1) > (step + 1) * 5e-3);
    }
    json_decref(c);
}

Test(scope, capture_refuses_what_it_does_not_know)
{
    static const struct {
        const char *options, *says;
    } mistakes[] = {
        {"--capture x --out c.csv", "there is no signal x"},
        {"--capture lag.output --out c.txt", "allowed: FILE.csv, FILE.json"},
        {"--capture lag.output", "--out FILE go together"},
        {"--capture lag.output --out c.csv --trigger lag.output", "SIGNAL>LEVEL"},
        {"--capture lag.output --out c.csv --trigger lag.output>much", "SIGNAL>LEVEL"},
        {"--capture lag.output --out c.csv --before -1",
         "--before -1: a time in seconds, 0 to 1e9, is allowed"},
        {"--capture lag.output --out c.csv --before 100000", "shorten"},
    };
    struct watched w = watch_pulses(2000); /* on a busy machine each command takes long */

    for (unsigned i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct ended e = run_command("hiloco scope %s %s", w.out, mistakes[i].options);
        expect_status(&e, 2);
        expect_said(&e, mistakes[i].says);
    }
    struct ended e = run_command("hiloco scope %s --capture lag.output --out %s --wait 0.2 "
                                 "--trigger lag.output>5",
                                 w.out, in_workspace("none.csv"));
    expect_status(&e, 1);
    expect_said(&e, "no trigger came");
    cr_expect_not(exists(in_workspace("none.csv")));
    end_run(&w);
}

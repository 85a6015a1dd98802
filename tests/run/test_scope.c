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
#include <unistd.h>

#include "harness/scope/rows.h"
#include "harness/top/runs.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(scope, .init = workspace_open_alone, .fini = workspace_close);

/* --- runs ---------------- */

struct watched {
    struct process process;
    struct hil_runs runs;
    const struct hil_found *run;
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
    shown->count = hil_rows_take(&rows, places, 3, shown->at[0], 4096, &lost);
    cr_assert_geq(shown->count, 100);
    cr_assert_eq(shown->count + lost, hil_rows_count(&rows));
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

#define SHORT "configs/dcdc20.yaml --set recording.converter_decimation=1 "

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

Test(scope, rows_are_the_record_in_real_time)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        cr_skip_test("real time needs two cores");
    struct watched w = watch_run(SHORT "--mode realtime --set duration_s=0.5 "
                                       "--set controller.priority=0 --set converters.priority=0 "
                                       "--set controller.cpu=-1 --set converters.cpu=-1");
    struct ended e = finish(&w.process);

    expect_ran(&e);
    expect_all_recorded(&w);
    hil_runs_close(&w.runs);
}

static const char FAULTED[] = "name: faulted\n"
                              "duration_s: 0.4\n"
                              "mode: virtual\n"
                              "controller: {law: pid, period_us: 20}\n"
                              "converters: {count: 3, plant: buck, period_us: 10}\n"
                              "reference: {voltage_v: 12}\n"
                              "faults:\n"
                              "  sensor: {signal: 'control[0].voltage_v', kind: bias, value: 0.5, "
                              "at_s: 0.1, duration_s: 0.3}\n"
                              "  weak: {signal: 'control[1].duty', kind: gain, factor: 0.9, "
                              "at_s: 0.1, duration_s: 0.3}\n";

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

/*
 * Events in the record of a run, and inputs with a limit of their age.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/record/event_kinds.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(watchdogs, .init = workspace_open, .fini = workspace_close, .timeout = 120);

/* Voltages are 100 to 200 us old, so some of them are too old. */
#define STALE                                                                                      \
    "hiloco run configs/quickstart.yaml --set duration_s=0.01 --set network.latency_up_us=100 "    \
    "--set network.jitter_us=100 --set controller.input_age_limit_us=180 "                         \
    "--set controller.on_stale_input=safe --set validity.stale_inputs=1000 --out %s"

Test(watchdogs, events_are_recorded_counted_and_exported)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(STALE, out);
    expect_status(&e, 0);
    e = run_command("hiloco export %s --csv", out);
    expect_status(&e, 0);

    const struct column time = column_of(out, "events/time_s");
    json_t *summary = summary_of(out);
    const double stale = number_at(summary, "recorder.events.stale");
    char *csv = read_text(in_workspace("out/events.csv"));
    size_t lines = 0, stales = 0;
    for (char *line = strtok(csv, "\n"); line; line = strtok(NULL, "\n"), lines++)
        stales += strstr(line, ",controller,stale,converter[0],0.000") != NULL;
    cr_expect_gt(stale, 10);
    cr_expect_eq(stale, number_at(summary, "stale_inputs.count"));
    cr_expect_eq(stales, stale);
    cr_expect_eq(lines, 1 + time.rows);
    for (size_t i = 1; i < time.rows; i++)
        cr_expect(time.at[i] <= 0 || time.at[i] >= time.at[i - 1]);
    cr_expect(strstr(column_text(out, "events/kind", "names"), "stale\nfresh\n"));
    cr_expect_str_eq(column_text(out, "events/node", "names"), "controller\nconverter[0]");
}

Test(watchdogs, events_of_virtual_time_are_the_same_each_time)
{
    struct ended e = run_command(STALE, in_workspace("one"));
    expect_status(&e, 0);
    e = run_command(STALE, in_workspace("other"));
    expect_status(&e, 0);
    e = run_command("cmp %s %s", in_workspace("one/trace.h5"), in_workspace("other/trace.h5"));
    expect_status(&e, 0);
}

/* --- in virtual time: exactly ---------------- */

#define QUICK                                                                                      \
    "hiloco run configs/quickstart.yaml --set duration_s=0.01 "                                    \
    "--set recording.converter_decimation=1 --set converters.duty_safe=0.07 "

/* Checks what the summary says of the one input with a limit that was too old once, for good. */
static void expect_old(const char *out, const char *input, double found_s, double answer_us)
{
    json_t *summary = summary_of(out);
    json_t *first = json_array_get(json_at(summary, "old_inputs.each"), 0);

    cr_expect_eq(number_at(summary, "old_inputs.count"), 1);
    cr_expect_eq(number_at(summary, "old_inputs.recovered"), 0);
    cr_expect_eq(number_at(summary, "recorder.events.old"), 1);
    cr_expect_str_eq(json_string_value(json_at(first, "input")), input);
    cr_expect_float_eq(number_at(first, "first_s"), found_s, 1e-12);
    cr_expect_float_eq(number_at(first, "answer_us"), answer_us, 1e-9);
    const struct column kind = column_of(out, "events/kind");
    const struct column time = column_of(out, "events/time_s");
    size_t i = 0;
    while (i < kind.rows && kind.at[i] != HIL_EVENT_OLD)
        i++;
    cr_assert_lt(i, kind.rows);
    cr_expect_float_eq(time.at[i], found_s, 1e-12);
    cr_expect_float_eq(column_of(out, "events/value").at[i], answer_us * 1e-6, 1e-12);
}

/* Duty cycles that take 300 us are always older than 200 us. What is 0 at the start is so at 210 us
 * first, a period of the converter's later; and the answer is there at that step. */
static double duty_from(const char *out, double from_s)
{
    const struct column time = column_of(out, "converter/000/time_s");
    const struct column duty = column_of(out, "converter/000/duty");
    double value = NAN;

    for (size_t i = 0; i < time.rows; i++) {
        if (time.at[i] <= from_s + 1e-9) /* a row has what was held until its step */
            continue;
        cr_assert(isnan(value) || duty.at[i] == value, "%g s: %g", time.at[i], duty.at[i]);
        value = duty.at[i];
    }
    return value;
}

#define LATE_DUTIES "--set network.latency_down_us=300 --set converters.age_limit_us=200 "

Test(watchdogs, an_old_input_is_held_and_told)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(QUICK LATE_DUTIES "--out %s", out);

    expect_status(&e, 0);
    expect_said(&e, "warning: at 0.000210 s the input converter[0].duty was older than 200 us");
    expect_old(out, "converter[0].duty", 0.00021, 210);
    struct ended without =
        run_command(QUICK "--set network.latency_down_us=300 --out %s", in_workspace("without"));
    expect_status(&without, 0);
    const struct column held = column_of(out, "converter/000/duty");
    const struct column free = column_of(in_workspace("without"), "converter/000/duty");
    cr_expect_eq(memcmp(held.at, free.at, held.rows * sizeof(double)), 0);
}

Test(watchdogs, an_old_input_is_replaced)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(
        QUICK LATE_DUTIES "--set converters.on_old=value --set converters.old_value=0.33 --out %s",
        out);

    expect_status(&e, 0);
    expect_old(out, "converter[0].duty", 0.00021, 210);
    cr_expect_eq(duty_from(out, 0.00021), 0.33);
}

Test(watchdogs, a_plant_with_an_old_input_is_safe)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(QUICK LATE_DUTIES "--set converters.on_old=safe --out %s", out);

    expect_status(&e, 0);
    expect_old(out, "converter[0].duty", 0.00021, 210);
    cr_expect_eq(duty_from(out, 0.00021), 0.07);
}

/* Its duty cycle is there one step later (computation_delay), but what is safe goes out at once:
 * the converter, whose steps come first, holds it from its next step on. */
Test(watchdogs, a_law_with_an_old_input_is_safe_in_the_same_step)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(QUICK "--set network.latency_up_us=300 --set "
                                       "controller.age_limit_us=200 --set controller.on_old=safe "
                                       "--out %s",
                                 out);

    expect_status(&e, 0);
    expect_old(out, "control[0].voltage_v", 0.00022, 220);
    cr_expect_eq(duty_from(out, 0.00023), 0.07);
}

Test(watchdogs, an_old_input_ends_the_run)
{
    struct ended e =
        run_command(QUICK LATE_DUTIES "--set converters.on_old=end --out %s", in_workspace("out"));

    expect_status(&e, 1);
    expect_said(&e, "an old input ends it: converter[0].duty was 210 us old at 0.000210 s, of 200 "
                    "us at most");
}

/* Of inputs that get old and new again each time is counted. */
Test(watchdogs, an_input_gets_new_again)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(QUICK "--set network.latency_up_us=100 --set "
                                       "network.jitter_us=100 --set controller.age_limit_us=180 "
                                       "--set controller.on_old=value --set controller.old_value=5 "
                                       "--out %s",
                                 out);
    json_t *summary = summary_of(out);
    json_t *first = json_array_get(json_at(summary, "old_inputs.each"), 0);

    expect_status(&e, 0);
    cr_expect_gt(number_at(first, "times"), 10);
    cr_expect_geq(number_at(first, "recovered"), number_at(first, "times") - 1);
    cr_expect_eq(number_at(summary, "recorder.events.new"), number_at(first, "recovered"));
    cr_expect_leq(number_at(first, "answer_us"), 200); /* within one period of the limit */
    cr_expect_gt(number_at(first, "out_us"), 0);
}

/* --- states ---------------- */

/* Whether a table of events has a line that ends so. */
static void expect_event(const char *out, const char *line)
{
    struct ended e = run_command("hiloco export %s --csv", out);
    char *csv = read_text(in_workspace("out/events.csv"));

    expect_status(&e, 0);
    cr_expect(strstr(csv, line), "no %s in %s", line, csv);
    free(csv);
}

Test(watchdogs, states_are_events)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(QUICK "--set network.latency_up_us=100 --set "
                                       "network.jitter_us=100 --set controller.age_limit_us=180 "
                                       "--set controller.on_old=safe --out %s",
                                 out);
    json_t *summary = summary_of(out);

    expect_status(&e, 0);
    cr_expect_eq(number_at(summary, "recorder.events.init"), 2);
    cr_expect_eq(number_at(summary, "recorder.events.ready"), 2);
    cr_expect_eq(number_at(summary, "recorder.events.stopped"), 2);
    cr_expect_eq(number_at(summary, "recorder.events.safe"),
                 number_at(summary, "recorder.events.old"));
    cr_expect_eq(number_at(summary, "recorder.events.run"),
                 2 + number_at(summary, "recorder.events.new"));
    cr_expect_lt(column_of(out, "events/time_s").at[0], 0);
    expect_event(out, "\n0,0,controller,run,,0\n");
    expect_event(out, ",controller,stopped,,0\n");
    expect_event(out, "\n0.00022,11,controller,safe,,0\n");
    expect_event(out, "\n0,0,converter[0],run,,0\n");
}

/* --- against the clock ---------------- */

static void open_alone(void)
{
    workspace_open_alone();
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        cr_skip_test("real time needs two cores");
}

TestSuite(watchdogs_real_time, .init = open_alone, .fini = workspace_close, .timeout = 120);

#define SLOW                                                                                       \
    "hiloco run configs/dcdc20.yaml --mode realtime --set controller.period_us=2000 "              \
    "--set converters.period_us=500 --set converters.catch_up_limit=0 --set "                      \
    "controller.priority=0 --set converters.priority=0 "                                           \
    "--set controller.cpu=-1 --set converters.cpu=-1 --set converters.duty_safe=0.07 "             \
    "--set validity.required=false "

static bool is_told(void *process)
{
    char *text = read_text(((struct process *)process)->err_path);
    const bool told = strstr(text, ".duty was older than") || strstr(text, ".voltage_v was older");

    free(text);
    return told;
}

/* A run of which one process gets the signal. */
static struct process signal_one(unsigned which, int signal, const char *options, struct family *c)
{
    struct arguments a = command(SLOW "%s --out %s", options, in_workspace("out"));
    struct process p = start(&a);

    *c = (struct family){.parent = p.pid};
    cr_assert(wait_until(find_children, c, 30), "the launcher has no children");
    cr_assert(wait_until(is_running, &p, 60));
    kill(c->children[which], signal);
    cr_assert(wait_until(is_told, &p, 30), "nobody tells");
    return p;
}

/* By the record's own figures the answer came within a period of the limit, and what the step that
 * gave it was late. */
static void expect_answers(const char *out, const char *nodes, double limit_us, double period_us,
                           unsigned least)
{
    json_t *summary = summary_of(out);
    json_t *each = json_at(summary, "old_inputs.each"), *one;
    char path[64];
    unsigned answered = 0;
    size_t i;

    snprintf(path, sizeof path, "nodes.%s.late_us.max", nodes);
    const double late_us = number_at(summary, path);
    json_array_foreach(each, i, one)
    {
        if (number_at(one, "times") == 0)
            continue;
        answered++;
        cr_expect_gt(number_at(one, "answer_us"), limit_us);
        cr_expect_leq(number_at(one, "answer_us"), limit_us + period_us + late_us);
    }
    cr_expect_geq(answered, least);
    cr_expect_geq(number_at(summary, "recorder.events.old"), least);
}

Test(watchdogs_real_time, a_frozen_controller_makes_converters_safe)
{
    struct family c;
    struct process p = signal_one(CONTROLLER, SIGSTOP,
                                  "--set duration_s=5 --set converters.age_limit_us=300000 --set "
                                  "converters.on_old=safe --set recording.converter_decimation=1",
                                  &c);

    kill(c.children[CONTROLLER], SIGCONT);
    finish(&p);
    const char *out = in_workspace("out");
    const struct column duty = column_of(out, "converter/007/duty");
    unsigned safe = 0;
    expect_answers(out, "converter", 300000, 500, 20);
    for (size_t i = 0; i < duty.rows; i++)
        safe += duty.at[i] == 0.07;
    cr_expect_gt(safe, 0);
    cr_expect_geq(number_at(summary_of(out), "old_inputs.recovered"), 20);
}

Test(watchdogs_real_time, dead_converters_are_too_old_for_the_controller)
{
    struct family c;
    struct process p = signal_one(CONVERTERS, SIGKILL,
                                  "--set duration_s=5 --set on_lost=restart --set "
                                  "controller.age_limit_us=15000",
                                  &c);
    finish(&p);
    expect_answers(in_workspace("out"), "controller", 15000, 2000, 20);
}

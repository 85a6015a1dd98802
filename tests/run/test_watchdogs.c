/*
 * Events in the record of a run, and inputs with a limit of their age.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sets.h"
#include "harness/record/event_kinds.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(watchdogs, .init = workspace_open, .fini = workspace_close, .timeout = 120);

/* Voltages are 100 to 200 us old, so some of them are too old. */
#define STALE                                                                                      \
    "hiloco run configs/quickstart.yaml --set duration_s=0.01 --set " UP_US(                       \
        "100") " "                                                                                 \
               "--set network.jitter_us=100 --set nodes.controller.input_age_limit_us=180 "        \
               "--set nodes.controller.on_stale_input=safe --set validity.stale_inputs=1000 "      \
               "--set " GATES " --out %s"

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
    "--set " RECORD_CONVERTERS("1") " --set " SAFE_CONTROL("0.07") " --set " SAFE_CONVERTER(       \
        "0.07") " "

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
        if (time.at[i] < from_s - 1e-9)
            continue;
        cr_assert(isnan(value) || duty.at[i] == value, "%g s: %g", time.at[i], duty.at[i]);
        value = duty.at[i];
    }
    return value;
}

#define LATE_DUTIES "--set " DOWN_US("300") " --set connections.1.age_limit_us=200 "

Test(watchdogs, an_old_input_is_held_and_told)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(QUICK LATE_DUTIES "--out %s", out);

    expect_status(&e, 0);
    expect_said(&e, "warning: at 0.000210 s the input converter[0].duty was older than 200 us");
    expect_old(out, "converter[0].duty", 0.00021, 210);
    struct ended without =
        run_command(QUICK "--set " DOWN_US("300") " --out %s", in_workspace("without"));
    expect_status(&without, 0);
    const struct column held = column_of(out, "converter/000/duty");
    const struct column free = column_of(in_workspace("without"), "converter/000/duty");
    cr_expect_eq(memcmp(held.at, free.at, held.rows * sizeof(double)), 0);
}

Test(watchdogs, an_old_input_is_replaced)
{
    const char *out = in_workspace("out");
    struct ended e =
        run_command(QUICK LATE_DUTIES
                    "--set connections.1.on_old=value --set connections.1.old_value=0.33 --out %s",
                    out);

    expect_status(&e, 0);
    expect_old(out, "converter[0].duty", 0.00021, 210);
    cr_expect_eq(duty_from(out, 0.00021), 0.33);
}

Test(watchdogs, a_plant_with_an_old_input_is_safe)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(QUICK LATE_DUTIES "--set connections.1.on_old=safe --out %s", out);

    expect_status(&e, 0);
    expect_old(out, "converter[0].duty", 0.00021, 210);
    cr_expect_eq(duty_from(out, 0.00021), 0.07);
}

/* Its duty cycle is there one step later (computation_delay), but what is safe goes out at once:
 * the converter, whose steps come first, holds it from its next step on. */
Test(watchdogs, a_law_with_an_old_input_is_safe_in_the_same_step)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(
        QUICK "--set " UP_US(
            "300") " --set "
                   "connections.0.age_limit_us=200 --set connections.0.on_old=safe --set " GATES " "
                   "--out %s",
        out);

    expect_status(&e, 0);
    expect_old(out, "control[0].voltage_v", 0.00022, 220);
    cr_expect_eq(duty_from(out, 0.00023), 0.07);
}

/* --- all gates off ---------------- */

/* A converter with a charged output. */
#define CHARGED                                                                                    \
    "hiloco run configs/quickstart.yaml --set duration_s=0.005 "                                   \
    "--set " RECORD_CONVERTERS("1") " --set components.converter.initial.voltage_v=12 "

static void expect_off_from(const char *out, const char *current, double from_s)
{
    char time_path[128];

    snprintf(time_path, sizeof time_path, "%.*s/time_s", (int)(strrchr(current, '/') - current),
             current);
    const struct column time = column_of(out, time_path), a = column_of(out, current);
    cr_assert_gt(time.at[time.rows - 1], from_s);
    for (size_t i = 0; i < time.rows; i++)
        cr_assert(time.at[i] < from_s || a.at[i] == 0, "%g s: %g A", time.at[i], a.at[i]);
}

/* With a duty of 0 alone the low-side switch would take the charge out. */
Test(watchdogs, safe_turns_all_gates_off)
{
    static const char *const plants[] = {"buck", "switched_buck", "dead_time_buck", NULL};
    static const char *const causes[] = {
        "--set " UP_US("300") " --set connections.0.age_limit_us=200 --set "
                              "connections.0.on_old=safe --set " GATES,
        "--set " UP_US("300") " --set nodes.controller.input_age_limit_us=200 --set "
                              "nodes.controller.on_stale_input=safe --set "
                              "validity.stale_inputs=1000 --set " GATES,
        LATE_DUTIES "--set connections.1.on_old=safe",
        "--set " DOWN_US(
            "300") " --set nodes.converter.input_age_limit_us=200 --set "
                   "nodes.converter.on_stale_input=safe --set validity.stale_inputs=1000",
        NULL,
    };

    for (const char *const *plant = plants; *plant; plant++)
        for (const char *const *cause = causes; *cause; cause++) {
            const char *out = in_workspace("out");
            struct ended e = run_command(CHARGED "--set components.converter.model=%s %s --out %s",
                                         *plant, *cause, out);
            expect_status(&e, 0);
            expect_off_from(out, "converter/000/current_a", 0.0004);
        }
}

/* A duty that the user gives is one that is applied. */
Test(watchdogs, a_safe_duty_keeps_the_gates_driven)
{
    const char *out = in_workspace("out");
    struct ended e =
        run_command(CHARGED LATE_DUTIES
                    "--set connections.1.on_old=safe "
                    "--set " SAFE_CONTROL("0.25") " --set " SAFE_CONVERTER("0.25") " --out %s",
                    out);

    expect_status(&e, 0);
    const struct column voltage = column_of(out, "converter/000/voltage_v");
    cr_expect_float_eq(voltage.at[voltage.rows - 1], 0.25 * 48 * 2.4 / 2.44, 0.1);
}

#define STAGES                                                                                     \
    "name: stages\nduration_s: 0.003\nmode: virtual\n"                                             \
    "nodes: {board: {period_us: 10}, far: {period_us: 10}}\n"                                      \
    "components:\n"                                                                                \
    "  stage: {model: dead_time_buck, node: board, initial: {voltage_v: 12}}\n"                    \
    "  law: {model: gain, node: far, parameters: {gain: 0}}\n"                                     \
    "connections:\n"                                                                               \
    "  - {from: stage.voltage_v, to: law.input}\n"                                                 \
    "  - {from: law.output, to: stage.duty%s}\n"                                                   \
    "record: [{signals: [stage.current_a, stage.enable], node: board}]\n%s"

/* Nobody says what is safe for the stage. */
Test(watchdogs, what_enables_a_component_is_off_when_it_is_safe)
{
    char *text = NULL;
    const char *out = in_workspace("out");

    cr_assert_geq(asprintf(&text, STAGES, ", age_limit_us: 100, on_old: safe",
                           "network: {latency_us: 300}\n"),
                  0);
    write_text(in_workspace("stages.yaml"), text);
    free(text);
    struct ended e = run_command("hiloco run %s --out %s", in_workspace("stages.yaml"), out);
    expect_status(&e, 0);
    const struct column enable = column_of(out, "board/enable");
    cr_expect_eq(enable.at[enable.rows - 1], 0);
    expect_off_from(out, "board/current_a", 0.0003);
}

/* From the middle of the ramp on. */
Test(watchdogs, a_clean_stop_turns_all_gates_off)
{
    char *text = NULL;
    const char *out = in_workspace("out");

    cr_assert_geq(asprintf(&text, STAGES, "", "stop_ramp_s: 0.002\n"), 0);
    write_text(in_workspace("stages.yaml"), text);
    free(text);
    struct ended e = run_command("hiloco run %s --out %s", in_workspace("stages.yaml"), out);
    expect_status(&e, 0);
    expect_off_from(out, "board/current_a", 0.0042);
}

Test(watchdogs, an_old_input_ends_the_run)
{
    struct ended e = run_command(QUICK LATE_DUTIES "--set connections.1.on_old=end --out %s",
                                 in_workspace("out"));

    expect_status(&e, 1);
    expect_said(&e,
                "an old input ends it: converter[0].duty was 210 us old at 0.000210 s; allowed: "
                "at most 200 us");
}

/* Of inputs that get old and new again each time is counted. */
Test(watchdogs, an_input_gets_new_again)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(
        QUICK
        "--set " UP_US("100") " --set "
                              "network.jitter_us=100 --set connections.0.age_limit_us=180 "
                              "--set connections.0.on_old=value --set connections.0.old_value=5 "
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
    struct ended e = run_command(
        QUICK "--set " UP_US("100") " --set "
                                    "network.jitter_us=100 --set connections.0.age_limit_us=180 "
                                    "--set connections.0.on_old=safe --set " GATES " --out %s",
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

/* --- a clean stop ---------------- */

#define RAMP "--set stop_ramp_s=0.001 "

/* The first row with an entry of this kind; they are in the order of time. */
static double time_of_first(const char *out, enum hil_event_kind which)
{
    const struct column kind = column_of(out, "events/kind");
    size_t i = 0;

    while (i < kind.rows && kind.at[i] != which)
        i++;
    cr_assert_lt(i, kind.rows);
    return column_of(out, "events/time_s").at[i];
}

/* Both are of the law: 500 steps of 20 us, then 50 that go to what is safe. */
Test(watchdogs, a_clean_stop_goes_to_what_is_safe_on_a_line)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(QUICK RAMP "--out %s", out);
    expect_status(&e, 0);
    const struct column duty = column_of(out, "controller/duty");
    const struct column held = column_of(out, "converter/000/duty");
    const struct column time = column_of(out, "controller/time_s");

    cr_assert_eq(duty.rows, 550);
    cr_assert_eq(held.rows, 1100);
    const double from = duty.at[499];
    cr_expect_gt(from, 0.1);
    for (unsigned i = 0; i < 50; i++)
        cr_expect_float_eq(duty.at[500 + i], from + (i + 1) / 50.0 * (0.07 - from), 1e-12);
    cr_expect_eq(duty.at[549], 0.07);
    cr_expect_float_eq(held.at[1098], from + 0.99 * (0.07 - from), 1e-12);
    cr_expect_eq(held.at[1099], 0.07);
    cr_expect_float_eq(time.at[549], 0.01098, 1e-12);
    cr_expect_float_eq(time_of_first(out, HIL_EVENT_SAFE), 0.01, 1e-12);
    cr_expect_geq(time_of_first(out, HIL_EVENT_STOPPED), 0.01098);
}

Test(watchdogs, a_clean_stop_is_no_part_of_what_is_measured)
{
    struct ended e = run_command(QUICK RAMP "--out %s", in_workspace("out"));
    expect_status(&e, 0);
    e = run_command(QUICK "--out %s", in_workspace("without"));
    expect_status(&e, 0);
    json_t *with = summary_of(in_workspace("out")), *without = summary_of(in_workspace("without"));

    cr_expect(json_equal(json_at(with, "measures"), json_at(without, "measures")));
    cr_expect(json_equal(json_at(with, "events"), json_at(without, "events")));
    cr_expect_eq(number_at(with, "elapsed_s"), number_at(without, "elapsed_s"));
    const struct column a = column_of(in_workspace("out"), "controller/output_v");
    const struct column b = column_of(in_workspace("without"), "controller/output_v");
    cr_assert_eq(b.rows, 500);
    cr_expect_eq(memcmp(a.at, b.at, b.rows * sizeof(double)), 0);
}

/* However late: a busy machine misses the last step, which is made up for. */
static void expect_ramp(const char *out, double ramp_s, double late_s)
{
    const struct column duty = column_of(out, "controller/duty");
    const struct column time = column_of(out, "controller/time_s");
    const double safe_s = time_of_first(out, HIL_EVENT_SAFE);

    cr_expect_lt(safe_s, time.at[time.rows - 1]);
    cr_expect_leq(time.at[time.rows - 1], safe_s + ramp_s + late_s);
    cr_expect_eq(duty.at[duty.rows * duty.width - 1], 0.07);
}

Test(watchdogs, an_interrupt_is_a_clean_stop)
{
    struct arguments a = command(QUICK RAMP "--set duration_s=1000 --set " RECORD_CONVERTERS(
                                     "1000000") " "
                                                "--set record.0.decimation=10 --out %s",
                                 in_workspace("out"));
    struct process p = start(&a);

    cr_assert(wait_until(is_running, &p, 60));
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    const struct column time = column_of(in_workspace("out"), "controller/time_s");
    const double safe_s = time_of_first(in_workspace("out"), HIL_EVENT_SAFE);
    cr_expect_lt(safe_s, 1000);
    cr_expect_leq(time.at[time.rows - 1], safe_s + 0.001);
    cr_expect_geq(time.at[time.rows - 1], safe_s + 0.0007);
}

/* --- against the clock ---------------- */

TestSuite(watchdogs_real_time, ALONE, .init = workspace_open_for_real_time, .fini = workspace_close,
          .timeout = 120);

#define SLOW                                                                                       \
    "hiloco run configs/dcdc20.yaml --mode realtime --set nodes.controller.period_us=2000 "        \
    "--set nodes.converter.period_us=500 --set nodes.converter.resync_after_us=1e9 --set "         \
    "nodes.controller.priority=0 --set nodes.converter.priority=0 "                                \
    "--set nodes.controller.cpu=-1 --set nodes.converter.cpu=-1 --set " SAFE_CONTROL(              \
        "0.07") " --set " SAFE_CONVERTER("0.07") " "                                               \
                                                 "--set validity.required=false "

/* A run of which one process gets the signal, and which says so. */
static struct process signal_one(unsigned which, int signal, const char *options, const char *said,
                                 struct family *c)
{
    struct arguments a = command(SLOW "%s --out %s", options, in_workspace("out"));
    struct process p = start(&a);

    *c = (struct family){.parent = p.pid};
    cr_assert(wait_until(find_children, c, 30), "the launcher has no children");
    cr_assert(wait_until(is_running, &p, 60));
    kill(c->children[which], signal);
    cr_assert(wait_until_said(&p, said, 30), "nobody tells");
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
    struct process p =
        signal_one(CONTROLLER, SIGSTOP,
                   "--set duration_s=2 --set connections.1.age_limit_us=300000 --set "
                   "connections.1.on_old=safe --set " RECORD_CONVERTERS("1"),
                   ".duty was older than", &c);

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
                                  "--set duration_s=2 --set on_lost=restart --set "
                                  "connections.0.age_limit_us=15000",
                                  ".voltage_v was older than", &c);
    finish(&p);
    expect_answers(in_workspace("out"), "controller", 15000, 2000, 20);
}

Test(watchdogs_real_time, a_clean_stop_goes_to_what_is_safe)
{
    struct arguments a = command(
        SLOW "--set duration_s=100 --set stop_ramp_s=0.2 --set record.0.decimation=1 --out %s",
        in_workspace("out"));
    struct process p = start(&a);

    cr_assert(wait_until(is_running, &p, 60));
    kill(p.pid, SIGTERM);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    const double late_us =
        number_at(summary_of(in_workspace("out")), "nodes.controller.late_us.max");
    expect_ramp(in_workspace("out"), 0.2, late_us * 1e-6);
}

/*
 * Runs that say of themselves whether they are valid, and peers that stand still: in virtual time,
 * where an input's age is a matter of the simulated network, and against the clock.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(validity_virtual, .init = workspace_open, .fini = workspace_close, .timeout = 120);

#define QUICK "hiloco run configs/quickstart.yaml --set duration_s=0.01 "

/* --- in virtual time ---------------- */

Test(validity_virtual, a_run_is_valid)
{
    struct ended e = run_command(QUICK "--out %s", in_workspace("out"));
    json_t *summary = summary_of(in_workspace("out"));

    expect_status(&e, 0);
    cr_expect(json_is_true(json_at(summary, "validity.valid")));
    cr_expect_eq(json_array_size(json_at(summary, "validity.reasons")), 0);
    cr_expect_eq(number_at(summary, "validity.checks.missed_percent.value"), 0);
    cr_expect_eq(number_at(summary, "validity.checks.gap_us.value"), 20);
    cr_expect(strstr(e.out, "run         valid\n"), "%s", e.out);
}

static void expect_same_column(const char *a, const char *b, const char *dataset)
{
    struct column one = column_of(a, dataset), other = column_of(b, dataset);

    cr_assert_eq(one.rows, other.rows);
    cr_expect_eq(memcmp(one.at, other.at, one.rows * one.width * sizeof(double)), 0, "%s differs",
                 dataset);
}

/* Voltages that take 300 us are always older than 200 us: found once, and never fresh again. That
 * is reported and judged, and with `hold` changes nothing. */
#define LATE_VOLTAGES "--set " UP_US("300") " "

Test(validity_virtual, an_old_input_is_found_and_held)
{
    struct ended e =
        run_command(QUICK LATE_VOLTAGES "--set nodes.controller.input_age_limit_us=200 --out %s",
                    in_workspace("out"));
    struct ended without = run_command(QUICK LATE_VOLTAGES "--out %s", in_workspace("without"));
    json_t *summary = summary_of(in_workspace("out"));
    json_t *first = json_array_get(json_at(summary, "stale_inputs.each"), 0);

    expect_status(&e, 3);
    expect_status(&without, 0);
    cr_expect_eq(number_at(summary, "stale_inputs.count"), 1);
    cr_expect_str_eq(json_string_value(json_at(first, "link")), "converter[0] -> controller");
    cr_expect_float_eq(number_at(first, "found_s"), 220e-6, 1e-12);
    cr_expect(json_is_null(json_at(first, "fresh_s")));
    cr_expect_eq(number_at(first, "limit_us"), 200);
    cr_expect_eq(number_at(first, "oldest_us"), number_at(summary, "links.1.age_us.max"));
    cr_expect(json_is_false(json_at(summary, "validity.valid")));
    cr_expect(strstr(e.out, "NOT VALID: an input was stale 1 time;"), "%s", e.out);
    expect_said(&e, "the input converter[0] -> controller was older than 200 us");
    expect_same_column(in_workspace("out"), in_workspace("without"), "controller/duty");
    expect_same_column(in_workspace("out"), in_workspace("without"), "controller/voltage_v");
}

/* "Stated and settable bounds": what one run is not valid by, another allows. */
Test(validity_virtual, bounds_can_be_set)
{
    struct ended allowed =
        run_command(QUICK LATE_VOLTAGES
                    "--set nodes.controller.input_age_limit_us=200 --set validity.stale_inputs=1 "
                    "--out %s",
                    in_workspace("allowed"));
    struct ended ignored =
        run_command(QUICK LATE_VOLTAGES "--set nodes.controller.input_age_limit_us=200 --set "
                                        "validity.required=false --out %s",
                    in_workspace("ignored"));
    struct ended quiet =
        run_command(QUICK "--quiet --set validity.gap_us=15 --out %s", in_workspace("quiet"));

    expect_status(&allowed, 0);
    cr_expect(json_is_true(json_at(summary_of(in_workspace("allowed")), "validity.valid")));
    expect_status(&ignored, 0);
    cr_expect(json_is_false(json_at(summary_of(in_workspace("ignored")), "validity.valid")));
    expect_status(&quiet, 3);
    expect_said(&quiet, "NOT VALID: controller stood still for 20 us; allowed: at most 15 us");
}

/* A controller at 40 us beside a converter at 10 us: a duty is 10, 20, 30 and 40 us old when it is
 * looked at. With a limit of 25 us the safe one applies in half of the steps. */
Test(validity_virtual, a_converter_makes_itself_safe_and_goes_on)
{
    struct ended e = run_command(
        QUICK
        "--set nodes.controller.period_us=40 --set nodes.converter.input_age_limit_us=25 --set "
        "nodes.converter.on_stale_input=safe --set " SAFE_CONTROL("0.125") " --set " SAFE_CONVERTER(
            "0.125") " --set " RECORD_CONVERTERS("1") " --set validity.required=false --out %s",
        in_workspace("out"));
    struct column duty = column_of(in_workspace("out"), "converter/000/duty");
    struct column sent = column_of(in_workspace("out"), "controller/duty");

    expect_status(&e, 0);
    cr_assert_eq(duty.rows, 1000);
    for (size_t n = 101; n < 1000; n++) {
        bool safe = (n - 1) % 4 >= 2;
        double expected = safe ? 0.125 : sent.at[(n - 1) / 4];
        cr_expect_eq(duty.at[n], expected, "row %zu: %g in place of %g", n, duty.at[n], expected);
    }
    cr_expect_geq(number_at(summary_of(in_workspace("out")), "stale_inputs.count"), 240);
}

/* The controller makes the converter safe whose voltage is old; its law rests. */
Test(validity_virtual, a_controller_makes_a_converter_safe)
{
    struct ended e =
        run_command(QUICK LATE_VOLTAGES
                    "--set nodes.controller.input_age_limit_us=200 --set "
                    "nodes.controller.on_stale_input=safe --set " SAFE_CONTROL(
                        "0.125") " --set " SAFE_CONVERTER("0.125") " "
                                                                   "--set "
                                                                   "components.control.computation_"
                                                                   "delay=false --out %s",
                    in_workspace("out"));
    struct column duty = column_of(in_workspace("out"), "controller/duty");

    expect_status(&e, 3);
    cr_expect_neq(duty.at[5], 0.125);
    for (size_t n = 13; n < duty.rows; n++) /* found at 220 us; a row has the duty in force */
        cr_expect_eq(duty.at[n], 0.125, "row %zu: %g", n, duty.at[n]);
}

static void expect_end(const char *set, const char *said)
{
    struct ended e = run_command(QUICK "--set " UP_AND_DOWN_US("300", "300") " %s --out %s", set,
                                 in_workspace("out"));

    expect_status(&e, 1);
    expect_said(&e, said);
    cr_expect_lt(number_at(summary_of(in_workspace("out")), "elapsed_s"), 0.001);
    cr_expect(strstr(e.out, "NOT VALID: it did not finish"), "%s", e.out);
}

Test(validity_virtual, an_old_input_can_end_the_run)
{
    expect_end(
        "--set nodes.controller.input_age_limit_us=200 --set nodes.controller.on_stale_input=end",
        "a stale input ends it: converter[0] -> controller was 0.22 ms old at 0.000220 s; "
        "allowed: at most 0.2 ms");
    expect_end(
        "--set nodes.converter.input_age_limit_us=200 --set nodes.converter.on_stale_input=end",
        "a stale input ends it: controller -> converter[0] was 0.21 ms old at 0.000210 s");
}

Test(validity_virtual, a_sweep_says_which_points_are_not_valid)
{
    struct ended e =
        run_command("hiloco sweep configs/quickstart.yaml --set duration_s=0.01 --set "
                    "validity.gap_us=30 --set nodes.controller.period_us=20,40 --out %s",
                    in_workspace("out"));
    char *valid = strstr(e.out, "nodes.controller.period_us=20"), *other;
    json_error_t error;
    json_t *index = json_load_file(in_workspace("out/sweep.json"), 0, &error);

    expect_status(&e, 3);
    expect_said(&e, "nodes.controller.period_us=40 (not valid)");
    cr_assert_not_null(valid);
    other = strstr(valid, "nodes.controller.period_us=40");
    cr_assert_not_null(other);
    cr_expect(strstr(other, "NOT VALID"));
    *other = '\0';
    cr_expect_null(strstr(valid, "NOT VALID"));
    cr_assert_not_null(index, "%s", error.text);
    json_t *points = json_at(index, "points");
    cr_expect(json_is_true(json_at(json_array_get(points, 0), "summary.validity.valid")));
    cr_expect(json_is_false(json_at(json_array_get(points, 1), "summary.validity.valid")));
    cr_expect_eq(number_at(json_array_get(points, 1), "status"), 3);
}

/* --- against the clock ---------------- */

TestSuite(validity_real_time, ALONE, .init = workspace_open_for_real_time, .fini = workspace_close,
          .timeout = 120);

/* Loops so slow that a busy machine rarely makes their inputs stale. */
#define SLOW                                                                                       \
    "hiloco run configs/dcdc20.yaml --mode realtime --set nodes.controller.period_us=2000 "        \
    "--set nodes.converter.period_us=500 --set nodes.converter.resync_after_us=1e9 --set "         \
    "nodes.controller.priority=0 --set nodes.converter.priority=0 "                                \
    "--set nodes.controller.cpu=-1 --set nodes.converter.cpu=-1 --set " SAFE_CONTROL(              \
        "0.07") " --set " SAFE_CONVERTER("0.07") " "                                               \
                                                 "--set "                                          \
                                                 "nodes.controller.input_age_limit_us=400000 "     \
                                                 "--set "                                          \
                                                 "nodes.converter.input_age_limit_us=400000 "

/* Starts a run, and has one of its processes stand still for 0.7 s and until that is noticed. */
static struct process stop_one(unsigned which, const char *options, struct family *c)
{
    struct arguments a = command(SLOW "%s --out %s", options, in_workspace("out"));
    struct process p = start(&a);

    *c = (struct family){.parent = p.pid};
    cr_assert(wait_until(find_children, c, 30), "the launcher has no children");
    cr_assert(wait_until(is_running, &p, 60));
    kill(c->children[which], SIGSTOP);
    usleep(700000);
    cr_assert(wait_until_said(&p, "warning: at ", 30), "nobody notices");
    return p;
}

/* How many of the stale inputs came from a node whose name begins so. */
static unsigned stale_from(json_t *summary, const char *sender)
{
    json_t *each = json_at(summary, "stale_inputs.each"), *one;
    unsigned count = 0;
    size_t i;

    json_array_foreach(each, i, one)
    {
        count += strncmp(json_string_value(json_at(one, "link")), sender, strlen(sender)) == 0;
    }
    return count;
}

static bool has_safe_row(const char *out)
{
    struct column duty = column_of(out, "controller/duty");

    for (size_t row = 0; row < duty.rows; row++) {
        size_t safe = 0;
        for (size_t i = 0; i < duty.width; i++)
            safe += duty.at[row * duty.width + i] == 0.07;
        if (safe == duty.width)
            return true;
    }
    return false;
}

/* A converter that stands still: it is noticed, reported, and answered. */
Test(validity_real_time, converters_that_stand_still_are_noticed)
{
    const char *out = in_workspace("out");
    struct family c;
    struct process p = stop_one(
        CONVERTERS, "--set duration_s=2.5 --set nodes.controller.on_stale_input=safe --set " GATES,
        &c);

    kill(c.children[CONVERTERS], SIGCONT);
    struct ended e = finish(&p);
    json_t *summary = summary_of(out);
    expect_status(&e, 3);
    cr_expect(json_is_false(json_at(summary, "validity.valid")));
    cr_expect_geq(stale_from(summary, "converter[7] -> controller"), 1);
    cr_expect_geq(number_at(summary, "stale_inputs.oldest_us"), 600000);
    cr_expect_geq(number_at(summary, "validity.checks.gap_us.value"), 600000);
    cr_expect(has_safe_row(out), "the converters were not made safe");
}

Test(validity_real_time, a_controller_that_stands_still_is_noticed)
{
    struct family c;
    struct process p = stop_one(CONTROLLER, "--set duration_s=2.5", &c);

    kill(c.children[CONTROLLER], SIGCONT);
    struct ended e = finish(&p);
    expect_status(&e, 3);
    cr_expect_geq(stale_from(summary_of(in_workspace("out")), "controller -> converter["), 20);
}

Test(validity_real_time, a_peer_that_stands_still_can_end_the_run)
{
    struct family c;
    struct process p =
        stop_one(CONVERTERS, "--set duration_s=100 --set nodes.controller.on_stale_input=end", &c);

    kill(c.children[CONVERTERS], SIGCONT);
    struct ended e = finish(&p);
    expect_status(&e, 1);
    expect_said(&e, "controller failed: a stale input ends it: converter[");
}

/* A plant behind the clock leaves out what it owes, where that is more than it may owe. */
Test(validity_real_time, a_plant_resynchronises)
{
    struct family c;
    struct process p = stop_one(
        CONVERTERS, "--set duration_s=2.5 --set nodes.converter.resync_after_us=100000", &c);

    kill(c.children[CONVERTERS], SIGCONT);
    struct ended e = finish(&p);
    json_t *summary = summary_of(in_workspace("out"));
    expect_status(&e, 3);
    cr_expect_geq(number_at(summary, "nodes.converter.resyncs"), 20);
    cr_expect_geq(number_at(summary, "nodes.converter.left_out"), 20 * 200);
    cr_expect_eq(number_at(summary, "nodes.converter.steps") +
                     number_at(summary, "nodes.converter.left_out"),
                 20 * 5000);
}

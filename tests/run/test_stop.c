/*
 * A clean stop by the clock: whoever sees the signal late or stands still, all nodes end at their
 * safe values, and none takes another that has ended for lost.
 *
 * Nothing here depends on how fast anything was: each test waits for what a node says of itself.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(stop, ALONE, .init = workspace_open_for_real_time, .fini = workspace_close,
          .timeout = 180);

#define SETTINGS                                                                                   \
    "--set nodes.controller.period_us=2000 --set nodes.converter.period_us=500 --set "             \
    "duration_s=1000 "                                                                             \
    "--set nodes.converter.resync_after_us=1e9 --set " SAFE_CONTROL(                               \
        "0.07") " --set " SAFE_CONVERTER("0.07") " "                                               \
                                                 "--set nodes.controller.priority=0 --set "        \
                                                 "nodes.converter.priority=0 --set "               \
                                                 "nodes.controller.cpu=-1 "                        \
                                                 "--set nodes.converter.cpu=-1 --set "             \
                                                 "record.0.decimation=1 --set " RECORD_CONVERTERS( \
                                                     "1") " "

#define RUN "hiloco run configs/dcdc20.yaml --mode realtime " SETTINGS

static const char *const names[] = {[CONTROLLER] = "controller", [CONVERTERS] = "converter"};

/* --- what the nodes say of themselves -------------------------------------------------------- */

/* A node of the run that keeps its results in `out`, and the state that it is to reach. */
struct awaited {
    const char *out, *node, *state;
    struct process *process;
};

static const char *last_line(char *text)
{
    const size_t length = strlen(text);

    if (length)
        text[length - 1] = '\0';
    const char *newline = strrchr(text, '\n');
    return newline ? newline + 1 : text;
}

/* A node that has ended will not reach any other state. */
static bool says(void *awaited)
{
    const struct awaited *a = awaited;
    const bool silent = strcmp(a->state, "silent") == 0; /* seen by one who looks for a while */
    struct ended e = run_command("hiloco top %s --json --count %d", a->out, silent ? 10 : 1);
    json_t *sample = json_loads(last_line(e.out), 0, NULL);
    const json_t *node = json_object_get(json_object_get(sample, "nodes"), a->node);
    const json_t *each = json_object_get(node, "each"); /* of an array the first speaks for all */
    const char *state =
        json_string_value(json_object_get(each ? json_array_get(each, 0) : node, "state"));
    const bool is = state && (strcmp(state, a->state) == 0 || strcmp(state, "stopped") == 0 ||
                              strcmp(state, "failed") == 0);

    json_decref(sample);
    return is || has_ended(a->process);
}

static void await_node(struct process *p, unsigned which, const char *state)
{
    struct awaited a = {in_workspace("out"), names[which], state, p};

    cr_assert(wait_until(says, &a, 60), "%s is not %s", names[which], state);
}

/* --- how it ended ---------------------------------------------------------------------------- */

static void expect_safe(const char *dataset)
{
    const struct column duty = column_of(in_workspace("out"), dataset);

    cr_assert_gt(duty.rows, 0);
    cr_expect_float_eq(duty.at[duty.rows * duty.width - 1], 0.07, 0.01, "%s ends at %g", dataset,
                       duty.at[duty.rows * duty.width - 1]);
}

/* Every step is a row, also those that were made up for. */
static void expect_counted(const char *array, const char *time)
{
    char path[80];

    snprintf(path, sizeof path, "nodes.%s.steps", array);
    cr_expect_eq(number_at(summary_of(in_workspace("out")), path),
                 (double)column_of(in_workspace("out"), time).rows, "%s", array);
}

static void expect_clean_stop(struct process *p, bool ramp)
{
    struct ended e = finish(p);

    expect_status(&e, 130);
    cr_expect_not(strstr(e.err, "lost"), "%s", e.err);
    cr_expect_not(strstr(e.err, "did not end"), "%s", e.err);
    if (!ramp)
        return;
    expect_safe("controller/duty");
    expect_safe("converter/000/duty");
    expect_safe("converter/019/duty");
    expect_counted("controller", "controller/time_s");
}

static struct process start_family(const char *options, struct family *f)
{
    struct arguments a = command(RUN "%s --out %s", options, in_workspace("out"));
    struct process p = start(&a);

    *f = (struct family){.parent = p.pid};
    cr_assert(wait_until(find_children, f, 60), "the launcher has no children");
    cr_assert(wait_until(is_running, &p, 60));
    return p;
}

/* --- one that stands still around the signal -------------------------------------------------- */

/* It sees the signal when the other has ended its loop. */
static void expect_late(unsigned which, const char *options, bool ramp)
{
    struct family f;
    struct process p = start_family(options, &f);

    kill(f.children[which], SIGSTOP);
    kill(p.pid, SIGTERM);
    await_node(&p, 1 - which, "stopped");
    kill(f.children[which], SIGCONT);
    expect_clean_stop(&p, ramp);
}

Test(stop, a_controller_that_sees_it_late_is_waited_for)
{
    expect_late(CONTROLLER, "--set stop_ramp_s=0.05", true);
}

Test(stop, converters_that_see_it_late_are_waited_for)
{
    expect_late(CONVERTERS, "--set stop_ramp_s=0.05", true);
}

Test(stop, one_that_is_late_is_waited_for_without_a_ramp)
{
    expect_late(CONTROLLER, "", false);
    expect_late(CONVERTERS, "", false);
}

Test(stop, one_that_is_late_is_not_away_where_the_run_would_go_on)
{
    expect_late(CONVERTERS, "--set stop_ramp_s=0.05 --set on_lost=restart", true);
    cr_expect(json_is_null(json_at(summary_of(in_workspace("out")), "losses")) ||
              number_at(summary_of(in_workspace("out")), "losses.lost") == 0);
}

/* Its values are old, which would end the run at any other time. */
Test(stop, one_that_is_late_is_not_stale)
{
    expect_late(CONTROLLER,
                "--set stop_ramp_s=0.05 --set nodes.converter.input_age_limit_us=5000000 --set "
                "nodes.converter.on_stale_input=end",
                true);
}

/* It stands still on its ramp, until that is over for the other. */
static void expect_held(unsigned which)
{
    struct family f;
    struct process p = start_family("--set stop_ramp_s=0.5", &f);

    kill(p.pid, SIGINT);
    await_node(&p, which, "safe");
    kill(f.children[which], SIGSTOP);
    await_node(&p, 1 - which, "stopped");
    kill(f.children[which], SIGCONT);
    expect_clean_stop(&p, true);
}

Test(stop, a_controller_may_stand_still_on_its_ramp)
{
    expect_held(CONTROLLER);
}

Test(stop, converters_may_stand_still_on_their_ramp)
{
    expect_held(CONVERTERS);
}

/* --- periods ---------------------------------------------------------------------------------- */

/* The last step of the slower one is long before the end of the other's ramp; or no step of it is
 * due over the ramp's time, so it is later. */
Test(stop, a_slow_controller_ends_at_what_is_safe)
{
    static const char *const ramps[] = {"0.25", "0.01"};

    for (unsigned i = 0; i < 2; i++) {
        char options[80];
        struct family f;
        snprintf(options, sizeof options,
                 "--set nodes.controller.period_us=100000 --set stop_ramp_s=%s", ramps[i]);
        struct process p = start_family(options, &f);
        kill(p.pid, SIGINT);
        expect_clean_stop(&p, true);
    }
}

/* --- deaths and failures ---------------------------------------------------------------------- */

Test(stop, a_death_on_the_ramp_is_told_and_the_others_end_theirs)
{
    struct family f;
    struct process p = start_family("--set stop_ramp_s=1", &f);

    kill(p.pid, SIGINT);
    await_node(&p, CONVERTERS, "safe");
    kill(f.children[CONVERTERS], SIGKILL);
    struct ended e = finish(&p);
    expect_status(&e, 1);
    expect_said(&e, "converter[0-19] (process ");
    expect_said(&e, "was killed by SIGKILL");
    cr_expect_not(strstr(e.err, "controller failed"), "%s", e.err);
    expect_safe("controller/duty");
}

/* Only the one that failed says so: the other has lost nobody, and ends at its safe values. */
Test(stop, one_that_halts_is_not_lost)
{
    struct family f;
    struct process p = start_family("--set nodes.controller.overrun=halt --set "
                                    "nodes.controller.period_us=20000 --set stop_ramp_s=0.05",
                                    &f);

    kill(f.children[CONTROLLER], SIGSTOP);
    await_node(&p, CONTROLLER, "silent");
    kill(f.children[CONTROLLER], SIGCONT);
    struct ended e = finish(&p);
    expect_status(&e, 1);
    expect_said(&e, "controller failed: a step missed its deadline and the policy is halt");
    cr_expect_not(strstr(e.err, "lost"), "%s", e.err);
    expect_safe("converter/000/duty");
}

/* --- programs that were started by hand ------------------------------------------------------- */

static struct process start_program(const char *program, const char *options)
{
    struct arguments a = command("%s configs/dcdc20.yaml --wait 60 --set name=%s " SETTINGS "%s",
                                 program, own_name(), options);

    return start(&a);
}

/* One of them gets the signal, and all end in order. */
static void expect_all_stop(unsigned told, const char *options)
{
    char controller[300];
    struct process programs[3];

    snprintf(controller, sizeof controller, "%s --out %s", options, in_workspace("out"));
    programs[0] = start_program("controller", controller);
    programs[1] = start_program("converter --id 0-9", options);
    programs[2] = start_program("converter --id 10-19", options);
    cr_assert(wait_until(is_running, &programs[0], 60));
    kill(programs[told].pid, SIGINT);
    for (unsigned i = 0; i < 3; i++) {
        struct ended e = finish(&programs[i]);
        expect_status(&e, 130);
        cr_expect_not(strstr(e.err, "lost"), "%s", e.err);
    }
}

Test(stop, a_signal_at_one_program_ends_all_in_order)
{
    expect_all_stop(0, "");
    expect_all_stop(2, "");
}

Test(stop, a_signal_at_one_program_begins_the_ramps_of_all)
{
    for (unsigned told = 0; told < 3; told++) {
        expect_all_stop(told, "--set stop_ramp_s=0.05");
        expect_safe("controller/duty");
    }
}

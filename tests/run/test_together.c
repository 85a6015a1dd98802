/*
 * Nodes that belong together: those of another scenario are refused, one that leaves is seen as
 * that, and one that stands still does not hold up the others for ever.
 *
 * In real time, in separate processes, on machines that may be busy: nothing here depends on how
 * fast anything was.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(together, ALONE, .init = workspace_open_for_real_time, .fini = workspace_close,
          .timeout = 120);

#define OF_ANY_CPU                                                                                 \
    "--set nodes.controller.priority=0 --set nodes.converter.priority=0 --set "                    \
    "nodes.controller.cpu=-1 "                                                                     \
    "--set nodes.converter.cpu=-1 "

/* A program for a scenario of three converters, of this test's own name. */
static struct process start_part(const char *program, const char *options)
{
    struct arguments a =
        command("%s --set name=%s --set nodes.converter.count=3 --set "
                "components.converter.tolerance={} --set duration_s=100 " OF_ANY_CPU "%s",
                program, own_name(), options);

    return start(&a);
}

static struct process start_controller(const char *options)
{
    char program[200];

    snprintf(program, sizeof program, "controller configs/dcdc20.yaml --out %s",
             in_workspace("out"));
    return start_part(program, options);
}

#define CONVERTER(id) "converter configs/dcdc20.yaml --id " id

/* --- another scenario ------------------------------------------------------------------------ */

/* Both say what differs, and end before any loop has run. */
static void expect_refusal(const char *at_controller, const char *at_converters,
                           const char *controller_says, const char *converters_say)
{
    struct process controller = start_controller(at_controller);
    struct process converters = start_part(CONVERTER("0-2"), at_converters);
    struct ended e = finish(&controller);

    expect_status(&e, 2);
    expect_said(&e, controller_says);
    e = finish(&converters);
    expect_status(&e, 2);
    expect_said(&e, converters_say);
    cr_expect_eq(number_at(summary_of(in_workspace("out")), "nodes.controller.steps"), 0);
}

Test(together, another_period_is_refused)
{
    expect_refusal("--set nodes.controller.period_us=50", "",
                   " has another scenario: nodes.controller.period_us is 50 here and 40 there",
                   "controller has another scenario: nodes.controller.period_us is 40 here and 50 "
                   "there");
}

Test(together, another_count_is_refused)
{
    expect_refusal("--set nodes.converter.count=4", "",
                   "a node has another scenario: there are 5 nodes here and 4 there",
                   "a node has another scenario: there are 4 nodes here and 5 there");
}

/* The first of all that differ, in the order of the schema. */
Test(together, another_law_is_refused)
{
    expect_refusal("--set " SAFE_CONTROL("0.1") " --set " SAFE_CONVERTER(
                       "0.1") " --set components.control.model=pi "
                              "--set " LIMITS_ONLY,
                   "", "components.control.model is pi here and pid there",
                   "components.control.model is pid here and pi there");
}

Test(together, another_load_is_refused)
{
    expect_refusal("--set " NO_LOAD " --set " LOAD_STEPS("[{'time_s':0.1,'value':2}]"), "",
                   "components.converter.parameters.load_ohm is ~ here and 2.4 there",
                   "components.converter.parameters.load_ohm is 2.4 here and ~ there");
}

/* --- one that leaves ------------------------------------------------------------------------- */

/* A controller that waits for the rest of its converters is left by one that was there. */
static void expect_left(int signal)
{
    struct process controller = start_controller("--wait 100");
    struct process converter = start_part(CONVERTER("0"), "--wait 100");

    cr_assert(wait_until_said(&controller, "for converter[1-2] in /", 60));
    kill(converter.pid, signal);
    finish(&converter);
    struct ended e = finish(&controller);
    expect_status(&e, 1);
    expect_said(&e, "lost converter[0], which left or died before the run began");
}

Test(together, a_converter_that_leaves_before_the_run_is_seen_as_that)
{
    expect_left(SIGINT);
}

Test(together, a_converter_that_dies_before_the_run_is_seen_as_that)
{
    expect_left(SIGKILL);
}

/* Refused by the controller is another; who has the right scenario learns that the controller left.
 */
Test(together, a_bystander_of_a_refusal_says_who_left)
{
    struct process right = start_part(CONVERTER("0"), "--wait 100");
    struct process controller = start_controller("--wait 100");

    cr_assert(wait_until_said(&controller, "for converter[1-2] in /", 60));
    struct process wrong = start_part(CONVERTER("1-2"), "--set nodes.controller.period_us=50");
    struct ended e = finish(&wrong);
    expect_status(&e, 2);
    e = finish(&controller);
    expect_status(&e, 2);
    e = finish(&right);
    expect_status(&e, 1);
    expect_said(&e, "lost controller, which left or died before the run began");
}

/* --- one that stands still ------------------------------------------------------------------- */

#define STILL                                                                                      \
    "hiloco run configs/dcdc20.yaml --mode realtime --set nodes.controller.period_us=2000 --set "  \
    "nodes.converter.period_us=500 --set duration_s=100 --set hang_limit_s=2 " OF_ANY_CPU

/* Starts a run, and stops one of its processes for good. */
static struct process stop_for_good(unsigned which, const char *options)
{
    struct arguments a = command(STILL "%s --out %s", options, in_workspace("out"));
    struct process p = start(&a);
    struct family f = {.parent = p.pid};

    cr_assert(wait_until(find_children, &f, 30), "the launcher has no children");
    cr_assert(wait_until(is_running, &p, 60));
    kill(f.children[which], SIGSTOP);
    return p;
}

static void expect_hung(const char *process)
{
    json_t *hung = json_at(summary_of(in_workspace("out")), "hung");

    cr_assert_eq(json_array_size(hung), 1);
    cr_expect_str_eq(json_string_value(json_at(json_array_get(hung, 0), "process")), process);
    cr_expect_eq(number_at(json_array_get(hung, 0), "times"), 1);
}

Test(together, a_converter_process_that_stands_still_ends_the_run)
{
    struct process p = stop_for_good(CONVERTERS, "");
    struct ended e = finish(&p);

    expect_status(&e, 1);
    expect_said(&e, "converter[0-19] (process ");
    expect_said(&e, ") stood still for 2 s, and was killed");
    expect_hung("converter[0-19]");
}

Test(together, a_controller_process_that_stands_still_ends_the_run)
{
    struct process p = stop_for_good(CONTROLLER, "--set on_lost=restart");
    struct ended e = finish(&p);

    expect_status(&e, 1);
    expect_said(&e, ") stood still for 2 s, and was killed");
    expect_hung("controller");
}

Test(together, a_converter_process_that_stands_still_is_started_again)
{
    struct process p = stop_for_good(CONVERTERS, "--set on_lost=restart");

    cr_assert(wait_until_said(&p, "stood still for 2 s, and was killed; started again", 60));
    cr_assert_not(has_ended(&p));
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    expect_hung("converter[0-19]");
}

static bool has_a_child(void *family)
{
    struct family *f = family;
    char path[80];

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)f->parent, (int)f->parent);
    char *text = read_text(path);
    f->children[0] = atoi(text);
    free(text);
    return f->children[0] > 0;
}

/* A run in virtual time does not wait for the clock, so it is long. */
Test(together, a_simulation_that_stands_still_ends)
{
    struct arguments a = command("hiloco run configs/dcdc20.yaml --mode virtual --set "
                                 "duration_s=100000 --set hang_limit_s=1 --set "
                                 "record.0.decimation=0 --out %s",
                                 in_workspace("out"));
    struct process p = start(&a);
    struct family f = {.parent = p.pid};

    cr_assert(wait_until(has_a_child, &f, 30), "the launcher has no child");
    cr_assert(wait_until(is_running, &p, 60));
    kill(f.children[0], SIGSTOP);
    struct ended e = finish(&p);
    expect_status(&e, 1);
    expect_said(&e, "the simulation (process ");
    expect_hung("the simulation");
}

/* The limit is one of standing still, not of waiting: here the next step is due in a minute. */
Test(together, a_process_that_waits_for_its_next_step_does_not_stand_still)
{
    struct arguments a = command(
        "hiloco run configs/quickstart.yaml --mode realtime --set duration_s=1.2 --set "
        "hang_limit_s=0.3 --set nodes.controller.period_us=60000000 --set "
        "nodes.converter.period_us=60000000 --set validity.required=false " OF_ANY_CPU "--out %s",
        in_workspace("out"));
    struct ended e = run(&a);

    expect_status(&e, 0);
    cr_expect_eq(json_array_size(json_at(summary_of(in_workspace("out")), "hung")), 0);
}

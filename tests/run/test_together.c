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
#include <unistd.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

static void open_alone(void)
{
    workspace_open_alone();
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        cr_skip_test("real time needs two cores");
}

TestSuite(together, .init = open_alone, .fini = workspace_close, .timeout = 120);

#define OF_ANY_CPU                                                                                 \
    "--set controller.priority=0 --set converters.priority=0 --set controller.cpu=-1 "             \
    "--set converters.cpu=-1 "

/* A program for a scenario of three converters, of this test's own name. */
static struct process start_part(const char *program, const char *options)
{
    struct arguments a = command("%s --set name=%s --set converters.count=3 --set "
                                 "converters.tolerance={} --set duration_s=100 " OF_ANY_CPU "%s",
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
    cr_expect_eq(number_at(summary_of(in_workspace("out")), "controller.steps"), 0);
}

Test(together, another_period_is_refused)
{
    expect_refusal("--set controller.period_us=50", "",
                   " has another scenario: controller.period_us is 50 here and 40 there",
                   "the controller has another scenario: controller.period_us is 40 here and 50 "
                   "there");
}

/* The first of all that differ, in the order of the schema. */
Test(together, another_law_is_refused)
{
    expect_refusal("--set converters.duty_safe=0.1 --set controller.law=pi "
                   "--set controller.gains={}",
                   "", "controller.law is pi here and pid there",
                   "controller.law is pid here and pi there");
}

Test(together, another_change_of_the_load_is_refused)
{
    expect_refusal("--set load.changes.0.time_s=0.1 --set load.changes.0.load_ohm=2", "",
                   "load.changes.0.time_s=0.1 here, where there is ",
                   "here, where there is load.changes.0.time_s=0.1 there");
}

/* --- one that leaves ------------------------------------------------------------------------- */

static bool misses_the_others(void *process)
{
    char *text = read_text(((struct process *)process)->err_path);
    bool said = strstr(text, "for converters 1-2 in /") != NULL;

    free(text);
    return said || has_ended(process);
}

/* A controller that waits for the rest of its converters is left by one that was there. */
static void expect_left(int signal)
{
    struct process controller = start_controller("--wait 100");
    struct process converter = start_part(CONVERTER("0"), "--wait 100");

    cr_assert(wait_until(misses_the_others, &controller, 60));
    kill(converter.pid, signal);
    finish(&converter);
    struct ended e = finish(&controller);
    expect_status(&e, 1);
    expect_said(&e, "lost converter 0, which left or died before the run began");
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

    cr_assert(wait_until(misses_the_others, &controller, 60));
    struct process wrong = start_part(CONVERTER("1-2"), "--set controller.period_us=50");
    struct ended e = finish(&wrong);
    expect_status(&e, 2);
    e = finish(&controller);
    expect_status(&e, 2);
    e = finish(&right);
    expect_status(&e, 1);
    expect_said(&e, "lost the controller, which left or died before the run began");
}

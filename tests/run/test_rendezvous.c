/*
 * Programs that know of the first node's host only, started apart over loopback: the addresses find
 * themselves. In real time, on machines that may be busy: nothing here depends on how fast anything
 * was.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "results.h"
#include "tests/nodes.h"
#include "workspace.h"

static void open_with_secret(void)
{
    workspace_open();
    skip_on_one_core();
    setenv("HILOCO_SECRET", "0123456789abcdef0123456789abcdef", 1);
}

TestSuite(rendezvous_run, .init = open_with_secret, .fini = workspace_close, .timeout = 240);

/* Slow, so that most machines are fast enough for it. */
#define SLOW                                                                                       \
    "--set fabric=tcp --set nodes.converter.count=3 --set components.converter.tolerance={} "      \
    "--set nodes.controller.priority=0 --set nodes.converter.priority=0 --set "                    \
    "nodes.controller.cpu=-1 "                                                                     \
    "--set nodes.converter.cpu=-1 --set nodes.controller.period_us=20000 --set "                   \
    "nodes.converter.period_us=5000 "                                                              \
    "--set duration_s=0.5 --wait 100 "

static struct process start_part(const char *program, const char *options)
{
    struct arguments a = command("%s " SLOW "%s", program, options);

    return start(&a);
}

static const char *at_rendezvous(const char *more)
{
    static char text[300];

    snprintf(text, sizeof text, "--set rendezvous=%s %s", own_loopback(), more);
    return text;
}

static const char *controller(void)
{
    static char text[200];

    snprintf(text, sizeof text, "controller configs/dcdc20.yaml --out %s", in_workspace("out"));
    return text;
}

#define CONVERTERS_0 "converter configs/dcdc20.yaml --id 0"
#define CONVERTERS_2 "converter configs/dcdc20.yaml --id 1-2"

/* Each of its 25 steps was run, or was left out where the machine was too busy for it. */
static void expect_controller_ran(void)
{
    json_t *controller = json_at(summary_of(in_workspace("out")), "nodes.controller");

    cr_expect_gt(number_at(controller, "steps"), 0);
    cr_expect_eq(number_at(controller, "steps") + number_at(controller, "left_out"), 25);
}

static void expect_all_ran(struct process *parts, int count)
{
    for (int i = 0; i < count; i++) {
        struct ended e = finish(&parts[i]);
        expect_ran(&e);
    }
    cr_expect_str_eq(json_string_value(json_at(summary_of(in_workspace("out")), "fabric")), "tcp");
    expect_controller_ran();
}

Test(rendezvous_run, three_programs_meet_by_the_scenarios_key)
{
    struct process parts[3];

    parts[0] = start_part(CONVERTERS_2, at_rendezvous(""));
    parts[1] = start_part(controller(), at_rendezvous(""));
    parts[2] = start_part(CONVERTERS_0, at_rendezvous(""));
    expect_all_ran(parts, 3);
}

Test(rendezvous_run, three_programs_meet_by_the_environment)
{
    struct process parts[3];

    setenv("HILOCO_RENDEZVOUS", own_loopback(), 1);
    parts[0] = start_part(CONVERTERS_2, "");
    parts[1] = start_part(controller(), "");
    parts[2] = start_part(CONVERTERS_0, "");
    expect_all_ran(parts, 3);
}

/* By rank, and where Slurm says that they are. */
Test(rendezvous_run, ranks_meet_at_the_first_of_slurms_hosts)
{
    struct process parts[4];
    char host[80], rank[4], line[300];

    snprintf(host, sizeof host, "%s,elsewhere", own_loopback());
    setenv("SLURM_STEP_NODELIST", host, 1);
    setenv("SLURM_NTASKS", "4", 1);
    for (int i = 0; i < 4; i++) {
        snprintf(rank, sizeof rank, "%d", i);
        setenv("SLURM_PROCID", rank, 1);
        snprintf(line, sizeof line, "hiloco node configs/dcdc20.yaml %s %s", i ? "" : "--out",
                 i ? "" : in_workspace("out"));
        parts[i] = start_part(line, "");
    }
    expect_all_ran(parts, 4);
}

Test(rendezvous_run, a_launcher_that_does_not_count_has_a_process_for_each_executor)
{
    struct process parts[2];
    char line[300];

    setenv("HILOCO_RENDEZVOUS", own_loopback(), 1);
    setenv("JOB_COMPLETION_INDEX", "1", 1);
    parts[1] = start_part("hiloco node configs/dcdc20.yaml", "");
    setenv("JOB_COMPLETION_INDEX", "0", 1);
    snprintf(line, sizeof line, "hiloco node configs/dcdc20.yaml --out %s", in_workspace("out"));
    parts[0] = start_part(line, "");
    expect_all_ran(parts, 2);
}

/* Each says for whom, since when and where. */
Test(rendezvous_run, who_waits_says_for_whom)
{
    struct process waiting = start_part(CONVERTERS_2, at_rendezvous(""));
    struct process first;

    cr_assert(wait_until_said(&waiting, "for controller at 127.", 60));
    first = start_part(controller(), at_rendezvous(""));
    cr_assert(wait_until_said(&first, "for converter[0] to register at 127.", 60));
    cr_assert(wait_until_said(&waiting, "for converter[0] to register at 127.", 60));
    kill(first.pid, SIGINT);
    struct ended e = finish(&first);
    expect_status(&e, 130);
    expect_said(&e, "warning: waiting since ");
    e = finish(&waiting);
    expect_status(&e, 1);
    expect_said(&e, "Connection refused");
    expect_said(&e, ", port 18699, which left or died before the run began");
    cr_expect_not(exists(in_workspace("out")));
}

/* A machine may take long to boot. The others ask for it five times a second. */
Test(rendezvous_run, the_first_node_may_come_late)
{
    enum { LATE_S = 3 };
    struct process parts[3];

    parts[0] = start_part(CONVERTERS_2, at_rendezvous(""));
    parts[1] = start_part(CONVERTERS_0, at_rendezvous(""));
    cr_assert(wait_until_said(&parts[0], "for controller at 127.", 60));
    cr_assert(wait_until_said(&parts[1], "for controller at 127.", 60));
    sleep(LATE_S);
    cr_expect_not(has_ended(&parts[0]) || has_ended(&parts[1]), "they wait");
    parts[2] = start_part(controller(), at_rendezvous(""));
    expect_all_ran(parts, 3);
}

/* It goes on, for the others may find it. */
Test(rendezvous_run, a_first_node_that_does_not_find_its_own_name_is_told)
{
    struct process first = start_part(controller(), "--set rendezvous=no-such-host.invalid:28691");

    cr_assert(
        wait_until_said(&first, "finds no address for its own name, no-such-host.invalid: ", 60));
    struct process other =
        start_part("converter configs/dcdc20.yaml --id 0-2", "--set rendezvous=127.0.0.1:28691");
    struct process parts[] = {first, other};
    expect_all_ran(parts, 2);
}

Test(rendezvous_run, the_key_that_differs_is_named)
{
    struct process first =
        start_part(controller(), at_rendezvous("--set nodes.controller.period_us=40000"));
    struct process other = start_part(CONVERTERS_2, at_rendezvous(""));
    struct ended e = finish(&first);

    expect_status(&e, 2);
    expect_said(&e,
                "converter[1] has another scenario: nodes.controller.period_us is 40000 here and "
                "20000 there");
    e = finish(&other);
    expect_status(&e, 2);
    expect_said(&e, "controller has another scenario: nodes.controller.period_us is 20000 here and "
                    "40000 there");
}

Test(rendezvous_run, a_node_is_started_once)
{
    struct process first = start_part(controller(), at_rendezvous(""));
    struct process one = start_part(CONVERTERS_2, at_rendezvous(""));

    cr_assert(wait_until_said(&one, "for converter[0] to register at 127.", 60));
    struct process again = start_part(CONVERTERS_2, at_rendezvous(""));
    struct ended e = finish(&again);
    expect_status(&e, 2);
    expect_said(&e, "converter[1] has already registered at 127.");
    kill(first.pid, SIGINT);
    kill(one.pid, SIGINT);
    finish(&first);
    finish(&one);
}

Test(rendezvous_run, places_that_make_no_sense_are_refused)
{
    struct ended e = run_command("controller configs/dcdc20.yaml --set fabric=tcp --set "
                                 "rendezvous=10.0.0.300");
    expect_status(&e, 2);
    expect_said(&e, "rendezvous is '10.0.0.300'; allowed: HOST or HOST:PORT");
    setenv("HILOCO_RENDEZVOUS", "host:port", 1);
    e = run_command("controller configs/dcdc20.yaml --set fabric=tcp");
    expect_status(&e, 2);
    expect_said(&e, "HILOCO_RENDEZVOUS is 'host:port'; allowed: HOST or HOST:PORT");
    unsetenv("HILOCO_RENDEZVOUS");
    struct arguments a = command("hiloco check configs/dcdc20-verbs.yaml --set rendezvous=a");
    e = run(&a);
    expect_status(&e, 2);
    expect_said(&e, "rendezvous and verbs.nodes both say where nodes are; allowed: one of them");
}

static bool misses_all_converters(void *process)
{
    return has_said(process, "for converter[0-2] to register at 127.");
}

/* Another process has the first one's port. */
Test(rendezvous_run, a_port_that_is_taken_is_said_to_be)
{
    struct process first = start_part(controller(), at_rendezvous(""));

    cr_assert(wait_until(misses_all_converters, &first, 60));
    struct process again = start_part(controller(), at_rendezvous(""));
    struct ended e = finish(&again);
    expect_status(&e, 1);
    expect_said(&e, "cannot listen at 127.");
    expect_said(&e, "port 18699: Address already in use; rendezvous: HOST:PORT names another port");
    kill(first.pid, SIGINT);
    finish(&first);
}

/* The first node's process ends after all have registered, because its node's own port is taken.
 * The others do not wait for it any longer. */
Test(rendezvous_run, the_others_end_if_the_first_node_leaves_before_the_run)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(18700)};
    const int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, own_loopback(), &at.sin_addr);
    cr_assert_eq(bind(taken, (struct sockaddr *)&at, sizeof at), 0);
    struct process first = start_part(controller(), at_rendezvous(""));
    struct process others = start_part("converter configs/dcdc20.yaml --id 0-2", at_rendezvous(""));
    struct ended e = finish(&first);
    expect_status(&e, 1);
    expect_said(&e, "port 18700: Address already in use");
    e = finish(&others);
    expect_status(&e, 1);
    expect_said(&e, "lost controller at 127.");
    close(taken);
}

/* --- whatever run comes ---------------- */

/* The options are those of a run: the others have no scenario. */
static void expect_joins(const char *nodes, const char *options)
{
    struct arguments a = command("%s rendezvous:%s --wait 100", nodes, own_loopback());
    struct process joins = start(&a), first = start_part(controller(), at_rendezvous(options));
    struct ended e = finish(&first);

    expect_ran(&e);
    e = finish(&joins);
    expect_ran(&e);
}

Test(rendezvous_run, nodes_without_a_scenario_join_whatever_run_comes)
{
    expect_joins("hiloco node converter[*]", "");
    expect_controller_ran();
    expect_joins("hiloco node converter[*]", "--set nodes.controller.period_us=10000");
    expect_joins("converter --id 0-1", "--set nodes.converter.count=2 --set duration_s=0.1");
}

Test(rendezvous_run, a_run_is_not_joined_without_a_scenario_that_fits)
{
    struct ended e = run_command("hiloco node converter[*] rendezvous:a:b");
    expect_status(&e, 2);
    expect_said(&e, "rendezvous:a:b: after rendezvous: allowed: HOST or HOST:PORT");
    struct arguments a = command("hiloco node convertr rendezvous:%s --wait 100", own_loopback());
    struct process joins = start(&a), first = start_part(controller(), at_rendezvous(""));
    e = finish(&joins);
    expect_status(&e, 2);
    expect_said(&e, "there is no node 'convertr' (did you mean 'converter'?)");
    kill(first.pid, SIGINT);
    finish(&first);
    unsetenv("HILOCO_SECRET");
    e = run_command("hiloco node converter[*] rendezvous:127.0.0.1");
    expect_status(&e, 2);
    expect_said(&e, "rendezvous:127.0.0.1: allowed with HILOCO_SECRET or HILOCO_SECRET_FILE");
}

/* Quotes: brackets are a list in YAML. */
Test(rendezvous_run, parts_meet_over_ipv6)
{
    struct process parts[2];

    if (access("/proc/net/if_inet6", F_OK))
        cr_skip_test("there is no IPv6 here");
    parts[0] =
        start_part("converter configs/dcdc20.yaml --id 0-2", "--set rendezvous=\"[::1]:28690\"");
    parts[1] = start_part(controller(), "--set rendezvous=\"[::1]:28690\"");
    expect_all_ran(parts, 2);
}

/* With the environment's, a scenario's own addresses win. */
Test(rendezvous_run, a_run_that_has_all_nodes_meets_nobody)
{
    setenv("HILOCO_RENDEZVOUS", "nowhere.invalid", 1);
    struct arguments a = command("hiloco run configs/dcdc20.yaml --out %s --set fabric=tcp --set "
                                 "tcp.port=28700 " SLOW,
                                 in_workspace("out"));
    struct ended e = run(&a);
    expect_ran(&e);
}

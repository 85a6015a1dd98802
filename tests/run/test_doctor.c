/*
 * `hiloco doctor` from outside, and what it does in `hiloco run`: on this machine, whatever it is
 * like, and on machines of files.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "workspace.h"

TestSuite(doctor, ALONE, .init = workspace_open_alone, .fini = workspace_close);

/* --- a machine of files, about which next to nothing is known ---------------- */

static void put(const char *path, const char *text)
{
    char full[400];

    snprintf(full, sizeof full, "%s", in_workspace("machine%s", path));
    for (char *slash = strchr(full + strlen(workspace), '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    write_text(full, text);
}

static const char throttling[] = "/proc/sys/kernel/sched_rt_runtime_us";

static void put_machine(const char *runtime_us)
{
    put("/sys/devices/system/cpu/online", "0-3\n");
    put("/proc/sys/kernel/sched_rt_period_us", "1000000\n");
    put(throttling, runtime_us);
}

static struct ended doctor(const char *options)
{
    return run_command("hiloco doctor %s --root %s", options, in_workspace("machine"));
}

static json_t *parsed(const struct ended *e)
{
    json_error_t error;
    json_t *all = json_loads(e->out, 0, &error);

    cr_assert(all, "%s, of:\n%s", error.text, e->out);
    return all;
}

/* --- exit statuses ---------------- */

Test(doctor, strict_is_1_when_something_is_serious)
{
    put_machine("950000\n");
    struct ended strict = doctor("--strict"), lenient = doctor("");
    expect_status(&strict, 1);
    expect_status(&lenient, 0);
    cr_expect(strstr(strict.out, "SERIOUS  rt-throttling"), "%s", strict.out);
    cr_expect(strstr(strict.out, "# sysctl -w kernel.sched_rt_runtime_us=-1\n"), "%s", strict.out);
    cr_expect(strstr(strict.out, "\n1 serious, "), "%s", strict.out);
}

Test(doctor, strict_is_0_when_nothing_is_serious)
{
    put_machine("-1\n");
    struct ended e = doctor("--strict");
    expect_status(&e, 0);
    cr_expect(strstr(e.out, "\n0 serious, "), "%s", e.out);
    cr_expect(strstr(e.out, "unknown  preemption"), "%s", e.out);
}

Test(doctor, wrong_input_is_2)
{
    static const char *const options[][2] = {
        {"--measure soon", "from 0 to 100000"},
        {"configs/none.yaml", "configs/none.yaml"},
        {"--set nodes.controller.cpu=1", "none is given"},
        {"configs/boost.yaml configs/boost.yaml", "too many"},
        {"--measure 0 --root /nowhere", "/nowhere/sys/devices/system/cpu/online"},
        {"configs/boost.yaml --set nodes.controller.cpu=x --measure 0",
         "--set nodes.controller.cpu=x"},
    };

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct ended e = run_command("hiloco doctor %s", options[i][0]);
        expect_status(&e, 2);
        expect_said(&e, options[i][1]);
    }
}

/* --- what it prints ---------------- */

Test(doctor, lines_fit_a_terminal)
{
    struct ended e = run_command("hiloco doctor configs/dcdc20.yaml --measure 1");

    expect_status(&e, 0);
    for (char *rest = e.out, *line; (line = strsep(&rest, "\n"));)
        cr_expect(strlen(line) <= 100 || strstr(line, " # "), "too long: %s", line);
}

Test(doctor, json_holds_findings_and_what_was_measured)
{
    struct ended e = run_command("hiloco doctor configs/dcdc20.yaml --measure 1 --json");
    json_t *all = parsed(&e), *measured = json_object_get(all, "measured");

    expect_status(&e, 0);
    cr_expect_str_eq(json_string_value(json_object_get(all, "scenario")), "dcdc20");
    cr_expect_eq(json_array_size(json_object_get(all, "findings")), 25); /* gaps are the last */
    cr_expect_eq(json_array_size(measured), 2);
    for (size_t i = 0; i < json_array_size(measured); i++) {
        json_t *one = json_array_get(measured, i);
        cr_expect_eq(json_integer_value(json_object_get(one, "cpu")), (json_int_t)i);
        cr_expect_geq(json_number_value(json_object_get(one, "seconds")), 1);
        cr_expect(json_object_get(json_object_get(one, "loop"), "largest_us"));
    }
}

Test(doctor, cyclictest_stands_beside_it)
{
    struct ended has = run_command("which cyclictest");
    struct ended e = run_command("hiloco doctor --measure 1");

    expect_status(&e, 0);
    cr_expect(strstr(e.out, "   0  loop "), "%s", e.out);
    cr_expect(strstr(e.out, "   0  cyclictest "), "%s", e.out);
    cr_expect_eq(!strstr(e.out, "not installed"), has.status == 0, "%s", e.out);
}

/* A cyclictest of ours, first on the path. */
static struct ended doctor_with_cyclictest(const char *script)
{
    char path[4200];

    write_text(in_workspace("cyclictest"), script);
    chmod(in_workspace("cyclictest"), 0755);
    snprintf(path, sizeof path, "%s:%s", workspace, getenv("PATH"));
    setenv("PATH", path, 1);
    return run_command("hiloco doctor --measure 1");
}

Test(doctor, says_why_cyclictest_failed)
{
    struct ended e = doctor_with_cyclictest("#!/bin/sh\necho '# /dev/cpu_dma_latency set to 0us'\n"
                                            "echo 'Unable to change scheduling policy!' >&2\n"
                                            "exit 1\n");

    expect_status(&e, 0);
    cr_expect(strstr(e.out, "cyclictest  failed: Unable to change scheduling policy!\n"), "%s",
              e.out);
}

Test(doctor, says_how_cyclictest_ended_when_it_says_nothing)
{
    struct ended e = doctor_with_cyclictest("#!/bin/sh\nexit 3\n");

    cr_expect(strstr(e.out, "cyclictest  failed: exit status 3, and no histogram\n"), "%s", e.out);
}

Test(doctor, says_what_killed_cyclictest)
{
    struct ended e = doctor_with_cyclictest("#!/bin/sh\nkill -SEGV $$\n");

    cr_expect(strstr(e.out, "cyclictest  failed: killed: Segmentation fault\n"), "%s", e.out);
}

Test(doctor, without_measuring_there_are_no_gaps)
{
    struct ended e = run_command("hiloco doctor --measure 0 --json");
    json_t *all = parsed(&e);

    cr_expect_eq(json_array_size(json_object_get(all, "findings")), 24);
    cr_expect_null(json_object_get(all, "measured"));
    cr_expect_null(json_object_get(all, "scenario"));
}

/* --- --fix ---------------- */

static bool is_lent(void *path)
{
    char *text = read_text(path);
    bool lent = strncmp(text, "-1", 2) == 0;

    free(text);
    return lent;
}

static bool is_back(void *path)
{
    return !is_lent(path);
}

Test(doctor, fix_mends_while_it_looks)
{
    char path[400];

    put_machine("950000\n");
    struct ended e = doctor("--fix --strict");
    expect_status(&e, 0);
    expect_said(&e, "sched_rt_runtime_us is now -1, and was 950000");
    snprintf(path, sizeof path, "%s", in_workspace("machine%s", throttling));
    cr_expect_str_eq(read_text(path), "950000");
}

/* --- hiloco run ---------------- */

static json_t *serious_findings(const char *scenario)
{
    struct ended e = run_command("hiloco doctor %s --measure 0 --json", scenario);
    json_t *all = parsed(&e), *serious = json_array(), *f;
    size_t i;

    json_array_foreach(json_object_get(all, "findings"), i, f)
    {
        if (strcmp(json_string_value(json_object_get(f, "severity")), "serious") == 0)
            json_array_append(serious, f);
    }
    return serious;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* Of this machine there may be none. */
Test(doctor, a_run_in_real_time_says_what_is_serious)
{
    static const char scenario[] = "configs/dcdc20.yaml";
    json_t *serious = serious_findings(scenario), *f;
    struct ended e = run_command("hiloco run %s --mode realtime --set duration_s=0.05 --out %s",
                                 scenario, in_workspace("out"));
    char line[400];
    size_t i;

    cr_expect_eq(count(e.err, "doctor: "), json_array_size(serious), "%s", e.err);
    json_array_foreach(serious, i, f)
    {
        snprintf(line, sizeof line, "doctor: %s: %s", json_string_value(json_object_get(f, "name")),
                 json_string_value(json_object_get(f, "found")));
        expect_said(&e, line);
    }
}

Test(doctor, a_quiet_run_and_one_in_virtual_time_say_nothing_of_the_machine)
{
    struct ended quiet =
        run_command("hiloco run configs/dcdc20.yaml --mode realtime --quiet --set duration_s=0.05 "
                    "--out %s",
                    in_workspace("quiet"));
    struct ended virtual = run_command("hiloco run configs/quickstart.yaml --mode virtual --out %s",
                                       in_workspace("virtual"));

    cr_expect_eq(count(quiet.err, "doctor: "), 0, "%s", quiet.err);
    cr_expect_eq(count(virtual.err, "doctor: "), 0, "%s", virtual.err);
}

/* Loops that nothing throttles leave the other cores to whoever has to end them. */
#define ONE_CORE                                                                                   \
    "placement.0.controller=true --set placement.0.converters=0-19 --set placement.0.cpu=0"

/* What this machine's kernel lets --fix change, if anything: the test needs the superuser, and
 * real-time threads that are throttled. */
static bool can_lend(void)
{
    bool can = access(throttling, W_OK) == 0 && !is_lent((void *)throttling);

    if (can) {
        struct ended e =
            run_command("hiloco doctor configs/dcdc20.yaml --measure 0 --fix --set " ONE_CORE);
        can = strstr(e.err, "sched_rt_runtime_us is now -1") != NULL;
    }
    if (!can)
        fprintf(stderr, "skipped: --fix has nothing to lend here\n");
    return can;
}

static void expect_back(int signal, int status)
{
    char *before = read_text(throttling);
    struct arguments a =
        command("hiloco run configs/dcdc20.yaml --mode realtime --fix --set " ONE_CORE
                " --set duration_s=60 --out %s",
                in_workspace("out"));
    struct process p = start(&a);

    cr_expect(wait_until(is_lent, (void *)throttling, 30), "--fix does not fix");
    cr_expect(wait_until(is_running, &p, 60), "it does not begin");
    cr_expect(is_lent((void *)throttling));
    kill(p.pid, signal);
    struct ended e = finish(&p);
    expect_status(&e, status);
    cr_expect_eq(count(e.err, "doctor: rt-throttling"), 0, "%s", e.err);
    cr_expect(wait_until(is_back, (void *)throttling, 30), "it stays lent after signal %d", signal);
    cr_expect_str_eq(read_text(throttling), before);
}

Test(doctor, a_run_puts_back_what_it_was_lent)
{
    if (!can_lend())
        return;
    char *before = read_text(throttling);
    struct ended e =
        run_command("hiloco run configs/dcdc20.yaml --mode realtime --fix --set " ONE_CORE
                    " --set duration_s=0.2 --out %s",
                    in_workspace("out"));

    expect_said(&e, "sched_rt_runtime_us is now -1");
    cr_expect_str_eq(read_text(throttling), before);
}

Test(doctor, a_run_told_to_end_puts_back_what_it_was_lent)
{
    if (can_lend())
        expect_back(SIGTERM, 130);
}

Test(doctor, an_interrupted_run_puts_back_what_it_was_lent)
{
    if (can_lend())
        expect_back(SIGINT, 130);
}

Test(doctor, a_killed_run_puts_back_what_it_was_lent)
{
    if (can_lend())
        expect_back(SIGKILL, 128 + SIGKILL);
}

/* --- what the machine holds ---------------- */

/* Each loop has a line, and periods that are far too short are not held. */
Test(doctor, capacity_finds_periods)
{
    struct ended e =
        run_command("hiloco doctor configs/dcdc20-nominal.yaml --capacity "
                    "--set nodes.converter.count=2 --set validity.missed_percent=90 "
                    "--set nodes.controller.period_us=2000 --set nodes.converter.period_us=0.1");

    expect_status(&e, 0);
    cr_expect(strstr(e.out, "\ncontroller ") && strstr(e.out, "\nconverter "), "%s", e.out);
    cr_expect(strstr(e.out, "this machine holds a controller at "), "%s", e.out);
    cr_expect(strstr(e.out, " and 2 converters at "), "%s", e.out);
    cr_expect_null(strstr(e.out, "converters at 0.01 us"), "%s", e.out);
    cr_expect(strstr(e.out, "isolate a core: hiloco doctor configs/dcdc20-nominal.yaml"), "%s",
              e.out);
}

Test(doctor, capacity_is_of_a_scenario_that_runs_here)
{
    struct ended e = run_command("hiloco doctor --capacity");

    expect_status(&e, 2);
    expect_said(&e, "--capacity: it needs a scenario");
    e = run_command("hiloco doctor configs/dcdc20.yaml --capacity --json");
    expect_status(&e, 2);
    expect_said(&e, "--capacity: it does not go with --json");
    e = run_command("hiloco doctor docs/examples/node/bench.yaml --capacity");
    expect_status(&e, 2);
    expect_said(&e, "--capacity: a component is outside");
}

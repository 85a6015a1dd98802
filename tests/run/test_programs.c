/*
 * The programs from outside: help, refusals, exit statuses, what is left behind.
 */
#include <criterion/criterion.h>
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bank_text.h"
#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(programs, .init = workspace_open, .fini = workspace_close);

/* --- standard output and error ---------------- */

/* Runs a line of a shell that begins with one of our programs. */
static struct arguments shell(const char *program, const char *rest)
{
    struct arguments a = command("sh -c");

    add(&a, "exec %s %s", program_path(program), rest);
    return a;
}

static void expect_output_lost(const char *program, const char *rest)
{
    const struct arguments a = shell(program, rest);
    const struct ended e = run(&a);

    expect_status(&e, 1);
    expect_said(&e, "standard output: No space left on device");
}

Test(programs, output_that_is_lost_is_a_failure)
{
    for (size_t i = 0; i < 3; i++)
        expect_output_lost((const char *[]){"hiloco", "controller", "converter"}[i],
                           "--version >/dev/full");
    expect_output_lost("hiloco", "check configs/quickstart.yaml >/dev/full");
}

/* Closed ones are opened on nothing, so that no file of the run gets the messages. */
Test(programs, a_run_may_have_no_standard_files)
{
    char line[300], path[60], there[20] = "";

    snprintf(line, sizeof line,
             "run configs/quickstart.yaml --mode realtime --set duration_s=300 --out %s "
             "<&- >&- 2>&-",
             in_workspace("out"));
    const struct arguments a = shell("hiloco", line);
    struct process p = start(&a);
    struct family f = {.parent = p.pid};
    cr_assert(wait_until(find_children, &f, 60));
    for (int fd = 0; fd < 3; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)f.children[CONTROLLER], fd);
        cr_expect_geq(readlink(path, there, sizeof there - 1), 0, "%s is closed", path);
        cr_expect_str_eq(there, "/dev/null");
    }
    kill(p.pid, SIGINT);
    const struct ended e = finish(&p);
    expect_status(&e, 130);
}

/* The processes do not all notice it at the same time, so some lose others that have left. */
Test(programs, a_run_may_be_interrupted_before_its_loops_run)
{
    const struct arguments a = command("hiloco run configs/quickstart.yaml --mode realtime --set "
                                       "duration_s=300 --out %s",
                                       in_workspace("out"));

    for (unsigned i = 0; i < 20; i++) {
        struct process p = start(&a);
        struct family f = {.parent = p.pid};
        cr_assert(wait_until(find_children, &f, 60));
        usleep(i * 7000);
        kill(p.pid, SIGINT);
        const struct ended e = finish(&p);
        expect_status(&e, 130);
        cr_expect_null(strstr(e.err, "failed"), "%s", e.err);
    }
}

/* --- help ---------------- */

static void expect_help(const char *line)
{
    struct ended e = run_command("%s --help", line);
    char usage[80];

    snprintf(usage, sizeof usage, "usage: %s", line);
    expect_status(&e, 0);
    cr_expect_eq(strncmp(e.out, usage, strlen(usage)), 0, "%s --help begins:\n%s", line, e.out);
    cr_expect_str_empty(e.err);
}

/* "Programs with --help each." */
Test(programs, each_program_and_command_has_help)
{
    static const char *const lines[] = {
        "hiloco",        "controller",    "converter",      "hiloco run",
        "hiloco sweep",  "hiloco plot",   "hiloco check",   "hiloco models",
        "hiloco export", "hiloco doctor", "hiloco recover", "hiloco node",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        expect_help(lines[i]);
}

/* The version stands in one place, the Makefile. */
Test(programs, each_says_its_version)
{
    static const char *const lines[] = {"hiloco", "controller", "converter", "hiloco run"};
    char *makefile = read_text("Makefile"), *at = strstr(makefile, "\nVERSION := "), expected[40];

    cr_assert_not_null(at);
    at += strlen("\nVERSION := ");
    snprintf(expected, sizeof expected, "hiloco %.*s\n", (int)strcspn(at, "\n"), at);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct ended e = run_command("%s --version", lines[i]);
        expect_status(&e, 0);
        cr_expect_str_eq(e.out, expected);
        cr_expect_str_empty(e.err);
    }
}

/* Every option and command that a help text names is taken, or the text is wrong. */
Test(programs, help_lists_the_options)
{
    static const char *const options[][2] = {
        {"hiloco run", "--mode"},
        {"hiloco run", "--set"},
        {"hiloco run", "--out"},
        {"hiloco sweep", "--jobs"},
        {"controller", "--wait"},
        {"controller", "--run-dir"},
        {"converter", "--id"},
        {"converter", "--out"},
        {"hiloco export", "--csv"},
        {"hiloco export", "--mcap"},
        {"hiloco", "sweep"},
        {"hiloco", "models"},
        {"hiloco", "check"},
        {"hiloco", "doctor"},
        {"hiloco doctor", "--set"},
        {"hiloco doctor", "--measure"},
        {"hiloco doctor", "--fix"},
        {"hiloco doctor", "--strict"},
        {"hiloco doctor", "--json"},
        {"hiloco doctor", "--root"},
        {"hiloco run", "--fix"},
        {"hiloco run", "--hosts"},
        {"hiloco plot", "--from"},
        {"hiloco plot", "--until"},
        {"hiloco", "--version"},
        {"controller", "--version"},
        {"converter", "--version"},
        {"hiloco", "recover"},
        {"hiloco", "node"},
        {"hiloco node", "--wait"},
        {"hiloco node", "--run-dir"},
        {"hiloco run", "--parameters"},
        {"hiloco check", "--parameters"},
        {"hiloco test", "--parameters"},
        {"hiloco sweep", "--parameters"},
        {"hiloco node", "--parameters"},
        {"hiloco doctor", "--parameters"},
        {"controller", "--parameters"},
        {"converter", "--parameters"},
    };

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct ended e = run_command("%s --help", options[i][0]);
        cr_expect(strstr(e.out, options[i][1]), "%s --help has no %s", options[i][0],
                  options[i][1]);
    }
}

static void expect_usage_error(const char *line, const char *said)
{
    struct ended e = run_command("%s", line);

    expect_status(&e, 2);
    expect_said(&e, said);
    cr_expect_str_empty(e.out, "%s", line);
}

Test(programs, wrong_command_lines_end_with_2)
{
    expect_usage_error("hiloco", "usage");
    expect_usage_error("hiloco fly", "fly");
    expect_usage_error("hiloco run", "missing");
    expect_usage_error("hiloco run configs/boost.yaml configs/boost.yaml", "too many");
    expect_usage_error("hiloco run configs/boost.yaml --speed 3", "--speed");
    expect_usage_error("hiloco run configs/boost.yaml --mode fast", "realtime or virtual");
    expect_usage_error("hiloco check", "missing");
    expect_usage_error("hiloco recover", "missing");
    expect_usage_error("hiloco sweep configs/boost.yaml --jobs -1", "--jobs");
    expect_usage_error("hiloco node", "missing");
    expect_usage_error("hiloco node a b configs/boost.yaml", "too many");
    expect_usage_error("controller", "missing");
    expect_usage_error("converter", "missing");
}

/* --- refusals: "file:line:column, what was found, what is allowed, exit status 2, nothing
 * started" --------------------------------------------------------------------------------------
 */

static const char scenario[] = "name: small\n"
                               "duration_s: 0.01\n"
                               "nodes:\n"
                               "  controller:\n"
                               "    period_us: 20\n"
                               "  converter:\n"
                               "    count: 3\n"
                               "    period_us: 10\n" BANK_COMPONENTS BANK_CONNECTIONS
                               "sources: {" BANK_REFERENCE "}\n" BANK_MEASURES;

/* The scenario with its first `from` replaced by `to`. */
static void write_scenario(const char *path, const char *from, const char *to)
{
    const char *at = strstr(scenario, from);
    char text[2000];

    cr_assert_not_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - scenario), scenario, to, at + strlen(from));
    write_text(path, text);
}

static void expect_refused(const char *from, const char *to, const char *place, const char *said)
{
    const char *bad = in_workspace("bad.yaml"), *out = in_workspace("out");
    static const char *const lines[] = {"hiloco run %s --mode virtual --out %s",
                                        "hiloco run %s --mode realtime --out %s",
                                        "hiloco sweep %s --mode virtual --out %s",
                                        "controller %s --out %s",
                                        "converter %s --id 0 --out %s",
                                        "hiloco check %s"};
    char where[300];

    snprintf(where, sizeof where, "%s%s", bad, place);
    write_scenario(bad, from, to);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char line[1000];
        snprintf(line, sizeof line, lines[i], bad, out);
        struct ended e = run_command("%s", line);
        expect_status(&e, 2);
        expect_said(&e, where);
        expect_said(&e, said);
        cr_expect_str_empty(e.out, "%s", line);
        cr_expect_not(exists(out), "%s: there are results", line);
    }
}

Test(programs, an_unknown_key_is_refused)
{
    expect_refused("  count: 3", "  cuont: 3", ":7:5: ", "'cuont'");
}

Test(programs, a_wrong_type_is_refused)
{
    expect_refused("count: 3", "count: many", ":7:12: ", "'many'");
}

Test(programs, a_missing_key_is_refused)
{
    expect_refused("model: pid, ", "", ":10:12: ", "components.control.model");
}

Test(programs, values_out_of_range_are_refused)
{
    expect_refused("period_us: 20", "period_us: -20", ":5:16: ", "'-20'");
    expect_refused("count: 3", "count: 0", ":7:12: ", "'0'");
    expect_refused("period_us: 10", "period_us: 10.0005", ":8:16: ", "whole number of ns");
    expect_refused("period_us: 20", "period_us: 20\n    cpu: 4000", ":6:10: ", "'4000'");
}

Test(programs, what_is_no_yaml_is_refused)
{
    expect_refused("name: small", "name: [small", ":", "bad.yaml:");
}

Test(programs, a_file_that_is_not_there_is_refused)
{
    struct ended e =
        run_command("hiloco run %s --out %s", in_workspace("none.yaml"), in_workspace("out"));

    expect_status(&e, 2);
    expect_said(&e, "none.yaml");
    expect_said(&e, strerror(2));
    cr_expect_not(exists(in_workspace("out")));
}

/* A value given on the command line has no line; it is named as it was given. */
Test(programs, a_wrong_set_is_named)
{
    struct ended e =
        run_command("hiloco run configs/boost.yaml --set nodes.controller.period_us=-1 "
                    "--out %s",
                    in_workspace("out"));

    expect_status(&e, 2);
    expect_said(&e, "--set nodes.controller.period_us=-1: ");
    cr_expect_not(exists(in_workspace("out")));
}

/* "With fewer cores than executors in real time it refuses with a clear message that names
 * virtual time." */
Test(programs, too_few_cores_are_refused)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char placement[8000] = "placement=[{nodes: controller}";
    struct arguments a =
        command("hiloco run configs/quickstart.yaml --mode realtime --out %s", in_workspace("out"));

    cr_assert_lt(cores, 200);
    for (long i = 0; i < cores; i++)
        sprintf(placement + strlen(placement), ", {nodes: 'converter[%ld]'}", i);
    add_set(&a, "%s]", placement);
    add_set(&a, "nodes.converter.count=%ld", cores);
    struct ended e = run(&a);
    expect_status(&e, 2);
    expect_said(&e, "virtual");
    expect_said(&e, "core");
    cr_expect_not(exists(in_workspace("out")));
}

/* Two spinning loops on one core would each wait for the other. */
Test(programs, two_executors_on_one_core_are_refused)
{
    struct ended e = run_command("hiloco run configs/quickstart.yaml --mode realtime --set "
                                 "nodes.controller.cpu=0 --set nodes.converter.cpu=0 --out %s",
                                 in_workspace("out"));

    expect_status(&e, 2);
    expect_said(&e, "cpu 0");
    expect_said(&e, "virtual");
}

/* --- check, models ---------------- */

Test(programs, check_prints_the_whole_scenario)
{
    struct ended e =
        run_command("hiloco check configs/quickstart.yaml --set nodes.converter.count=2");

    expect_status(&e, 0);
    cr_expect_str_empty(e.err);
    cr_expect(strstr(e.out, "catch_up_limit"), "%s", e.out);
    write_text(in_workspace("again.yaml"), e.out);
    struct ended again = run_command("hiloco check %s", in_workspace("again.yaml"));
    expect_status(&again, 0);
    cr_expect_str_eq(again.out, e.out);
}

/* "Plants and controllers with parameters, defaults, units." */
Test(programs, models_lists_all)
{
    static const char *const words[] = {"buck (continuous):",
                                        "boost (continuous):",
                                        "buck_boost (continuous):",
                                        "switched_buck (continuous):",
                                        "pid (sampled):",
                                        "pi (sampled):",
                                        "type3 (sampled):",
                                        "state_feedback (sampled):",
                                        "inductance_h",
                                        "kp_per_v",
                                        "switching_frequency_hz",
                                        "4.7e-05"};
    struct ended e = run_command("hiloco models");

    expect_status(&e, 0);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        cr_expect(strstr(e.out, words[i]), "there is no %s", words[i]);
}

Test(programs, help_explains_a_command)
{
    const char *const alike[][2] = {
        {"help", "--help"}, {"help run", "run --help"}, {"help export-fmu", "export-fmu --help"}};

    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++) {
        struct ended e = run_command("hiloco %s", alike[i][0]);
        struct ended other = run_command("hiloco %s", alike[i][1]);
        expect_status(&e, 0);
        cr_expect_str_eq(e.out, other.out);
    }
}

/* What is nearly right gets one line with what is meant, and not the whole help. */
Test(programs, a_mistake_in_the_first_words_gets_one_line)
{
    static const struct {
        const char *words, *said;
    } mistakes[] = {
        {"rnu", "hiloco: there is no command rnu (did you mean 'run'?)\n"},
        {"help rnu", "hiloco: there is no command rnu (did you mean 'run'?)\n"},
        {"frobnicate", "hiloco: there is no command frobnicate; hiloco --help lists them\n"},
        {"models dc_moter",
         "hiloco models: there is no model dc_moter (did you mean 'dc_motor'?)\n"},
        {"models rc.py",
         "hiloco models: rc.py: it is a Python file; allowed: python:rc.py:CLASS, or "
         "program:./rc.py\n"},
        {"check rc.py", "rc.py:1:1: a Python file; required: a scenario, a YAML file. It may be a "
                        "model there: python:rc.py:CLASS\n"},
        {"run rc.fmu",
         "rc.fmu:1:1: a model; required: a scenario, a YAML file. hiloco models rc.fmu "
         "shows it\n"},
        {"run configs", "configs:1:1: a folder; required: a scenario, a YAML file\n"},
    };

    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct ended e = run_command("hiloco %s", mistakes[i].words);
        expect_status(&e, 2);
        cr_expect_str_eq(e.err, mistakes[i].said);
    }
    struct ended e = run_command("hiloco models dc_motor");
    expect_status(&e, 0);
    cr_expect_eq(strncmp(e.out, "dc_motor (continuous): ", 23), 0, "%s", e.out);
    cr_expect(strstr(e.out, "from plants/dc_motor.c:") && strstr(e.out, "L i' = "), "%s", e.out);
}

/* --- running ---------------- */

/* "configs/ ships ...; a test runs them all." Long ones are cut. */
Test(programs, every_scenario_that_is_shipped_runs)
{
    const glob_t files = files_of("configs/*.yaml");

    cr_assert_geq(files.gl_pathc, 6);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char *text = read_text(files.gl_pathv[i]), *out = strdup(in_workspace("%zu", i));
        double duration = atof(strstr(text, "\nduration_s:") + strlen("\nduration_s:"));
        struct ended e = run_command("hiloco run %s --mode virtual --set duration_s=%g --out %s",
                                     files.gl_pathv[i], fmin(duration, 0.3), out);
        json_t *summary = summary_of(out);
        expect_status(&e, 0);
        json_t *events = json_at(summary, "events"); /* after the last one the first settles */
        json_t *last = json_array_get(events, json_array_size(events) - 1);
        json_t *first = json_object_iter_value(json_object_iter(json_at(last, "measures")));
        cr_expect(json_is_true(json_at(first, "settled")), "%s", files.gl_pathv[i]);
        cr_expect_eq(number_at(summary, "recorder.dropped"), 0);
    }
}

/* "summary.json has at least: ..." */
Test(programs, the_summary_has_what_is_promised)
{
    static const char *const paths[] = {
        "scenario",
        "mode",
        "fabric",
        "duration_s",
        "nodes.controller.period_us",
        "nodes.controller.steps",
        "nodes.controller.missed",
        "nodes.controller.run_late",
        "nodes.controller.left_out",
        "nodes.converter.count",
        "nodes.converter.period_us",
        "nodes.converter.steps",
        "nodes.converter.missed",
        "nodes.converter.run_late",
        "nodes.converter.left_out",
        "nodes.converter.resyncs",
        "links.1.from",
        "links.1.to",
        "links.1.age_us.p50",
        "links.1.age_us.p99",
        "links.1.age_us.p999",
        "links.1.age_us.max",
        "links.1.round_trip_us.p50",
        "links.1.round_trip_us.p99",
        "links.1.round_trip_us.p999",
        "links.1.round_trip_us.max",
        "measures.output_v.unit",
        "measures.output_v.reference",
        "measures.output_v.final",
        "measures.output_v.mean",
        "measures.output_v.pp",
        "measures.output_v.rms_deviation",
        "measures.output_v.window.from_s",
        "measures.output_v.window.to_s",
        "measures.output_v.overshoot_pct",
        "measures.output_v.settling_ms",
        "measures.output_v.peak",
        "measures.voltage_v.settled",
        "measures.voltage_v.worst",
        "measures.voltage_v.each.3.overshoot_pct",
        "events.0.changes",
        "events.0.measures.output_v.extreme",
        "events.0.measures.voltage_v.worst.index",
        "stale_inputs.count",
        "validity.valid",
        "validity.reasons",
        "validity.checks.gap_us.value",
        "recorder.dropped",
        "realtime.scheduler",
        "realtime.locked",
        "realtime.page_faults_in_loop",
        "realtime.context_switches_involuntary",
        "realtime.degraded",
    };
    struct ended e = run_command("hiloco run configs/switched.yaml --out %s", in_workspace("out"));
    json_t *summary = summary_of(in_workspace("out"));
    json_t *each = json_at(summary, "nodes.converter.each");

    expect_status(&e, 0);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        json_at(summary, paths[i]);
    cr_assert_eq(json_array_size(each), 4);
    cr_expect_str_eq(json_string_value(json_at(summary, "nodes.converter.each.3.node")),
                     "converter[3]");
    cr_expect_str_eq(json_string_value(json_at(summary, "links.1.from")), "converter[*]");
    cr_expect_str_eq(json_string_value(json_at(summary, "links.1.to")), "controller");
    cr_expect_eq(number_at(json_array_get(each, 3), "steps"), 50000);
    cr_expect_eq(number_at(summary, "nodes.converter.steps"), 200000);
}

/* "The echo of step numbers": with 3 us up and 11 us down, a duty pushed at t reaches a
 * converter that steps at t + 20 us, whose next voltage the controller sees 13 us later, at its
 * next step: 40 us. Ages count from the sender's step: 3 us and what is left of a period. */
Test(programs, round_trip_and_input_age_are_those_of_the_timing)
{
    struct ended e = run_command("hiloco run configs/quickstart.yaml --set " UP_AND_DOWN_US(
                                     "3", "11") " --set "
                                                "duration_s=0.01 --out %s",
                                 in_workspace("out"));
    json_t *summary = summary_of(in_workspace("out"));

    expect_status(&e, 0);
    cr_expect_eq(number_at(summary, "links.1.round_trip_us.max"), 40);
    cr_expect(fabs(number_at(summary, "links.1.round_trip_us.p50") - 40) < 1);
    cr_expect_eq(number_at(summary, "links.1.age_us.max"), 10);
    cr_expect_eq(number_at(summary, "links.0.age_us.max"), 30);
}

/* "--out DIR (default results/NAME-TIMESTAMP)": a second run has a folder of its own. */
Test(programs, results_have_a_folder_by_default)
{
    char *config = realpath("configs/quickstart.yaml", NULL);
    char *hiloco = strdup(program_path("hiloco"));
    glob_t found;

    cr_assert_eq(chdir(workspace), 0);
    for (int i = 0; i < 2; i++) {
        struct ended e = run_command("%s run %s", hiloco, config);
        expect_status(&e, 0);
        cr_expect(strstr(e.out, "results/quickstart-"), "%s", e.out);
    }
    cr_assert_eq(glob("results/quickstart-20*", 0, NULL, &found), 0);
    cr_expect_eq(found.gl_pathc, 2);
    for (size_t i = 0; i < found.gl_pathc; i++)
        cr_expect(exists(in_workspace("%s/summary.json", found.gl_pathv[i])));
}

Test(programs, quiet_says_nothing)
{
    struct ended e =
        run_command("hiloco run configs/quickstart.yaml --quiet --out %s", in_workspace("out"));

    expect_status(&e, 0);
    cr_expect_str_empty(e.out);
    cr_expect_str_empty(e.err);
}

Test(programs, a_folder_that_cannot_be_made_fails)
{
    write_text(in_workspace("file"), "");
    struct ended e =
        run_command("hiloco run configs/quickstart.yaml --out %s/out", in_workspace("file"));

    expect_status(&e, 1);
    expect_said(&e, "file/out");
}

/* "Ctrl-C ends cleanly and still writes what was recorded": in virtual time. */
Test(programs, an_interrupt_keeps_what_virtual_time_recorded)
{
    const char *out = in_workspace("out");
    struct arguments a = command("hiloco run configs/dcdc20.yaml --mode virtual --set "
                                 "duration_s=1000 --out %s",
                                 out);
    struct process p = start(&a);

    cr_assert(wait_until(is_running, &p, 60));
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    json_t *summary = summary_of(out);
    cr_expect_gt(number_at(summary, "nodes.controller.steps"), 0);
    cr_expect_lt(number_at(summary, "elapsed_s"), 1000);
    cr_expect_eq((double)column_of(out, "controller/output_v").rows,
                 number_at(summary, "nodes.controller.steps"));
}

/* --- which part of the time? ---------------- */

Test(programs, a_wrong_time_to_plot_is_refused)
{
    struct ended e = run_command(
        "hiloco run configs/quickstart.yaml --set duration_s=0.01 --out %s", in_workspace("out"));
    char line[400];

    expect_status(&e, 0);
    snprintf(line, sizeof line, "hiloco plot %s --from 0.02", in_workspace("out"));
    expect_usage_error(line, "nothing to draw from 0.02 s on: the record ends at 0.01");
    expect_usage_error("hiloco plot results --from soon", "--from soon: a time in seconds");
    expect_usage_error("hiloco plot results --until -1", "--until -1: a time in seconds");
    expect_usage_error("hiloco plot results --until inf", "--until inf: a time in seconds");
    expect_usage_error("hiloco plot results --from 2 --until 2",
                       "--from 2 must be before --until 2");
    expect_usage_error("hiloco plot results --to 0.004", "--until 0.004 ends the time there");
}

/* --- which converter? ---------------- */

Test(programs, a_wrong_id_is_refused)
{
    expect_usage_error("converter configs/dcdc20.yaml --id 20", "--id 20: ");
    expect_usage_error("converter configs/dcdc20.yaml --id 20",
                       "allowed: converter, or converter[0] to converter[19]");
    expect_usage_error("converter configs/dcdc20.yaml --id 0-20", "--id 0-20");
    expect_usage_error("converter configs/dcdc20.yaml --id 3-1", "--id 3-1");
    expect_usage_error("converter configs/dcdc20.yaml --id three", "--id three");
    expect_usage_error("converter configs/dcdc20.yaml --id -1", "--id -1");
    expect_usage_error("controller configs/dcdc20.yaml --id 0", "--id");
}

Test(programs, without_id_or_rank_it_asks)
{
    expect_usage_error("converter configs/dcdc20.yaml", "--id");
}

/* 5 processes of a launcher are neither 20 converters nor 21 nodes. */
Test(programs, a_rank_among_too_few_is_refused)
{
    setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "5", 1);
    expect_usage_error("converter configs/dcdc20.yaml", "--id");
}

/* --- hiloco node ---------------- */

Test(programs, wrong_nodes_are_refused)
{
    expect_usage_error("hiloco node converter[20] configs/dcdc20.yaml",
                       "configs/dcdc20.yaml: 'converter[20]' is none of the 20 nodes called "
                       "converter; allowed: converter, or converter[0] to converter[19]");
    expect_usage_error("hiloco node convertr configs/dcdc20.yaml",
                       "there is no node 'convertr' (did you mean 'converter'?); allowed: "
                       "controller, converter");
    expect_usage_error("hiloco node converter[] configs/dcdc20.yaml", "allowed: converter, or");
    expect_usage_error("hiloco node controller[1] configs/dcdc20.yaml", "allowed: controller");
    expect_usage_error("hiloco node controller,,converter[0] configs/dcdc20.yaml", "node ''");
    expect_usage_error("hiloco node converter[3-1] configs/dcdc20.yaml", "'converter[3-1]'");
}

Test(programs, without_nodes_or_rank_it_asks)
{
    expect_usage_error("hiloco node configs/dcdc20.yaml", "each of the 21 nodes, or of the 2");
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "5", 1);
    expect_usage_error("hiloco node configs/dcdc20.yaml", "each of the 21 nodes, or of the 2");
    setenv("PMI_RANK", "5", 1);
    expect_usage_error("hiloco node configs/dcdc20.yaml",
                       "PMI_RANK is '5' of '5': which nodes? Give NODES");
    expect_usage_error("converter configs/dcdc20.yaml",
                       "PMI_RANK is '5' of '5': which converter? Give --id");
}

/* --parameters, as the commands take it: docs/parameters.md. */
#include <criterion/criterion.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(parameters, .init = workspace_open, .fini = workspace_close);

#define SHORT "configs/quickstart.yaml --set duration_s=0.002"

/* Gains that make another record than the scenario's own. */
static const char *gains(void)
{
    const char *path = in_workspace("gains.ssv");

    write_text(path, "<p:ParameterSet version='1.0' name='gains' "
                     "xmlns:p='http://ssp-standard.org/SSP1/SystemStructureParameterValues'>"
                     "<p:Parameters><p:Parameter name='control[*].kp_per_v'><p:Real value='50' "
                     "unit='1/kV'/></p:Parameter></p:Parameters></p:ParameterSet>");
    return path;
}

static void expect_run(const char *line)
{
    struct ended e = run_command("%s", line);

    expect_status(&e, 0);
}

static void expect_records(const char *a, const char *b, int status)
{
    struct ended e = run_command("hiloco compare %s %s", a, b);

    expect_status(&e, status);
}

/* The same as by --set, and what the run leaves runs again, the same. */
Test(parameters, a_run_takes_them_and_leaves_them)
{
    const char *file = strdup(gains()), *with = strdup(in_workspace("with")),
               *set = strdup(in_workspace("set")), *again = strdup(in_workspace("again")),
               *without = strdup(in_workspace("without"));
    char line[600];

    snprintf(line, sizeof line, "hiloco run " SHORT " --quiet --parameters %s --out %s", file,
             with);
    expect_run(line);
    snprintf(line, sizeof line,
             "hiloco run " SHORT
             " --quiet --set components.control.parameters.kp_per_v=0.05 --out %s",
             set);
    expect_run(line);
    snprintf(line, sizeof line, "hiloco run %s/scenario.yaml --quiet --out %s", with, again);
    expect_run(line);
    snprintf(line, sizeof line, "hiloco run " SHORT " --quiet --out %s", without);
    expect_run(line);
    expect_records(with, set, 0);
    expect_records(with, again, 0);
    expect_records(with, without, 1);
}

Test(parameters, tests_and_sweeps_pass_them_on)
{
    const char *file = strdup(gains());
    char line[600];

    snprintf(line, sizeof line, "hiloco test " SHORT " --parameters %s --out %s", file,
             in_workspace("tests"));
    expect_run(line);
    snprintf(line, sizeof line,
             "hiloco sweep " SHORT
             " --set nodes.controller.period_us=20,40 --parameters %s --out %s",
             file, in_workspace("sweep"));
    expect_run(line);
    cr_expect(strstr(read_text(in_workspace("tests/quickstart/scenario.yaml")), "kp_per_v: 0.05"));
    cr_expect(strstr(read_text(in_workspace("sweep/nodes.controller.period_us=40/scenario.yaml")),
                     "kp_per_v: 0.05"));
}

/* What a sweep goes through, or draws, is in place of what the file has. */
Test(parameters, a_sweep_may_go_through_a_value_that_the_file_has)
{
    const char *file = strdup(gains());
    char line[600];

    snprintf(line, sizeof line,
             "hiloco sweep " SHORT
             " --set components.control.parameters.kp_per_v=0.02,0.08 --parameters %s "
             "--out %s",
             file, in_workspace("sweep"));
    expect_run(line);
    cr_expect(strstr(
        read_text(in_workspace("sweep/components.control.parameters.kp_per_v=0.08/scenario.yaml")),
        "kp_per_v: 0.08\n"));
    snprintf(line, sizeof line,
             "hiloco sweep " SHORT
             " --set components.control.parameters.kp_per_v=0.02~1%% --runs 1 --parameters "
             "%s --out %s",
             file, in_workspace("drawn"));
    expect_run(line);
    cr_expect(strstr(read_text(in_workspace("drawn/run-0000/scenario.yaml")), "kp_per_v: 0.02"));
}

Test(parameters, a_mistake_is_told_before_anything_runs)
{
    struct ended e = run_command("hiloco run " SHORT " --parameters %s --out %s",
                                 in_workspace("none.ssv"), in_workspace("out"));

    expect_status(&e, 2);
    expect_said(&e, "none.ssv:1:1: it cannot be read (No such file or directory)");
    cr_expect_not(exists(in_workspace("out")));
    write_text(in_workspace("bad.ssv"), "<a/>\n");
    e = run_command("hiloco sweep " SHORT
                    " --set nodes.controller.period_us=20,40 --parameters %s --out "
                    "%s",
                    in_workspace("bad.ssv"), in_workspace("out"));
    expect_status(&e, 2);
    expect_said(&e, "bad.ssv:1:1: the element is a; allowed: a ParameterSet of SSP");
    cr_expect_not(exists(in_workspace("out")));
}

Test(parameters, they_are_of_a_scenario)
{
    struct ended e = run_command("hiloco doctor --parameters x.ssv");

    expect_status(&e, 2);
    expect_said(&e, "--set and --parameters need a scenario, and none is given");
}

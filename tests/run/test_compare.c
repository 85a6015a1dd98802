/* hiloco compare: what it says of records that are the same, that are not, and that cannot be
 * compared. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "process.h"
#include "workspace.h"

TestSuite(compare, .init = workspace_open, .fini = workspace_close, .timeout = 240);

/* Two ramps on two nodes, of these slopes, for so long. */
static void ramps_into(const char *folder, double first, double second, double duration_s)
{
    const char *path = in_workspace("%s.yaml", folder);
    char text[1024];

    snprintf(
        text, sizeof text,
        "name: ramps\nduration_s: %g\nmode: virtual\n"
        "nodes: {bench: {period_us: 100, count: 2}}\n"
        "components: {ramp: {model: integrator, node: 'bench[*]', inputs: {input: [%g, %g]}}}\n"
        "record: [{signals: 'ramp[*].output'}]\n",
        duration_s, first, second);
    write_text(path, text);
    struct ended e =
        run_command("hiloco run %s --quiet --out %s", path, in_workspace("%s", folder));
    expect_status(&e, 0);
}

static struct ended compared(const char *options)
{
    return run_command("hiloco compare %s %s%s%s", in_workspace("a"), in_workspace("b"),
                       *options ? " " : "", options);
}

static void expect_printed(const struct ended *e, const char *text)
{
    cr_expect(strstr(e->out, text), "'%s' is not in\n%s", text, e->out);
}

Test(compare, the_same_scenario_gives_the_same)
{
    ramps_into("a", 1, 2, 0.01);
    ramps_into("b", 1, 2, 0.01);
    struct ended e = compared("");
    expect_status(&e, 0);
    expect_printed(&e, "ramp[0].output                          100  equal\n"
                       "ramp[1].output                          100  equal\n"
                       "0 of 2 signals differ\n");
    cr_expect(exists(in_workspace("b/compare.png")) && exists(in_workspace("b/compare.svg")));
}

/* 2.5 - 2 per second makes 0.00495 in 99 steps of 100 us, a fifth of the second's value. */
Test(compare, a_difference_is_told_and_judged_by_the_tolerance)
{
    ramps_into("a", 1, 2, 0.01);
    ramps_into("b", 1, 2.5, 0.01);
    struct ended e = compared("");
    expect_status(&e, 1);
    expect_printed(&e, "ramp[0].output                          100  equal\n");
    expect_printed(&e, "ramp[1].output                          100         99       0.00495");
    expect_printed(&e, "at 0.0099 s: 0.0198, 0.02475\n");
    expect_printed(&e, "1 of 2 signals differ\n");

    e = compared("--abs 0.005");
    expect_status(&e, 0);
    e = compared("--abs 0.0049");
    expect_status(&e, 1);
    e = compared("--rel 26");
    expect_status(&e, 0);
    e = compared("--rel 24");
    expect_status(&e, 1);
    e = compared("--rel 24 --abs 0.001");
    expect_status(&e, 0);
    e = compared("--abs 0.0026 --until 0.005");
    expect_status(&e, 0);
}

Test(compare, a_record_that_ends_early_differs)
{
    ramps_into("a", 1, 2, 0.01);
    ramps_into("b", 1, 2, 0.005);
    struct ended e = compared("");
    expect_status(&e, 1);
    expect_printed(&e, "A ends at 0.0099 s, B at 0.0049 s\n0 of 2 signals differ\n");
    e = compared("--until 0.0049");
    expect_status(&e, 0);
}

Test(compare, a_signal_of_one_record_differs)
{
    const char *path = in_workspace("b.yaml");

    ramps_into("a", 1, 2, 0.01);
    write_text(
        path,
        "name: ramps\nduration_s: 0.01\nmode: virtual\nnodes: {bench: {period_us: 100}}\n"
        "components: {ramp: {model: integrator, node: bench, count: 2, "
        "inputs: {input: [1, 2]}}, other: {model: integrator, node: bench, inputs: {input: 1}}}\n"
        "record: [{signals: ['ramp[1].output', other.output]}]\n");
    struct ended e = run_command("hiloco run %s --quiet --out %s", path, in_workspace("b"));
    expect_status(&e, 0);
    e = compared("");
    expect_status(&e, 1);
    expect_printed(&e, "ramp[0].output                   only in A\n"
                       "ramp[1].output                          100  equal\n"
                       "other.output                     only in B\n"
                       "2 of 3 signals differ\n");
}

Test(compare, a_long_name_is_whole)
{
    const char *path = in_workspace("long.yaml");
    char name[90] = "", text[1024];

    memset(name, 'x', 64);
    snprintf(text, sizeof text,
             "name: ramps\nduration_s: 0.001\nmode: virtual\nnodes: {bench: {period_us: 100}}\n"
             "components: {%s: {model: integrator, node: bench, inputs: {input: 1}}}\n"
             "record: [{signals: %s.output}]\n",
             name, name);
    write_text(path, text);
    struct ended e = run_command("hiloco run %s --quiet --out %s", path, in_workspace("a"));
    expect_status(&e, 0);
    e = run_command("hiloco run %s --quiet --out %s", path, in_workspace("b"));
    expect_status(&e, 0);
    e = compared("");
    expect_status(&e, 0);
    strcat(name, ".output");
    expect_printed(&e, name);
    expect_printed(&e, "0 of 1 signals differ\n");
}

Test(compare, mistakes_are_told)
{
    ramps_into("a", 1, 2, 0.001);
    struct ended e = run_command("hiloco compare %s", in_workspace("a"));
    expect_status(&e, 2);
    expect_said(&e, "two runs are compared");
    e = compared("");
    expect_status(&e, 2);
    expect_said(&e, "No such file or directory");
    e = compared("--abs x");
    expect_status(&e, 2);
    expect_said(&e, "--abs x: a number, 0 or more, is allowed");
}

/* --- events ---------------------------------------------------------------------------------- */

/* Two laws far from their plants, whose links these faults cut. */
static void cut_into(const char *folder, const char *faults)
{
    const char *path = in_workspace("%s.yaml", folder);
    char text[2048];

    snprintf(text, sizeof text,
             "name: cut\nduration_s: 0.01\nmode: virtual\n"
             "nodes: {plant: {period_us: 100, count: 2}, ctl: {period_us: 100}}\n"
             "components:\n"
             "  ramp: {model: integrator, node: 'plant[*]', inputs: {input: 0}}\n"
             "  law: {model: gain, node: ctl, count: 2}\n"
             "connections:\n"
             "  - {from: 'ramp[*].output', to: 'law[*].input', age_limit_us: 400}\n"
             "record: [{signals: 'ramp[*].output'}]\n"
             "faults:\n%s",
             faults);
    write_text(path, text);
    struct ended e =
        run_command("hiloco run %s --quiet --out %s", path, in_workspace("%s", folder));
    expect_status(&e, 0);
}

#define CUT(name, plant, at)                                                                       \
    "  " name ": {from: 'plant[" plant "]', to: ctl, kind: freeze, at_s: " at                      \
    ", duration_s: 0.001}\n"

Test(compare, events_at_other_times_and_of_one_record_differ)
{
    cut_into("a", CUT("one", "0", "0.002") CUT("two", "1", "0.004"));
    cut_into("b", CUT("one", "0", "0.0022"));
    struct ended e = compared("");
    expect_status(&e, 1);
    expect_printed(&e, "0 of 2 signals differ\n");
    expect_printed(&e, "fault begins one                 plant[0]                0.002       0.0022"
                       "  0.0002 s later\n");
    expect_printed(&e, "old law[0].input                 ctl                    0.0024       0.0026"
                       "  0.0002 s later\n");
    expect_printed(&e, "new law[1].input                 ctl                     0.005            -"
                       "  only in A\n");
    expect_printed(&e, "8 of 11 events differ\n");
    const char *figure = read_text(in_workspace("b/compare.svg"));
    cr_expect_not_null(strstr(figure, "0 of 2 signals and 8 of 11 events differ"));

    e = compared("--within 0.0002 --until 0.0039");
    expect_status(&e, 0);
    e = compared("--within 0.0001 --until 0.0039");
    expect_status(&e, 1);
    e = compared("--within 1");
    expect_status(&e, 1);
    expect_printed(&e, "4 of 11 events differ\n");
    e = compared("--within x");
    expect_status(&e, 2);
}

/* What is missing in the middle does not move what comes after it. */
Test(compare, an_event_that_is_missing_is_that_one)
{
    cut_into("a", CUT("one", "0", "0.002") CUT("two", "0", "0.004") CUT("three", "0", "0.006"));
    cut_into("b", CUT("one", "0", "0.002") CUT("three", "0", "0.006"));
    struct ended e = compared("");
    expect_status(&e, 1);
    expect_printed(&e, "old law[0].input                 ctl                    0.0044            -"
                       "  only in A\n");
    expect_printed(&e, "4 of 15 events differ\n");
}

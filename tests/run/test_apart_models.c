/*
 * Models whose code may hang or crash, in whole runs: what becomes of the run, and who is named.
 * They are shared libraries with the setting `apart`.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

/* Gives what it takes. In its step at 5 ms, or as it is made, it does what is compiled in. */
static const char source[] =
    "#include <signal.h>\n#include <stdlib.h>\n#include <time.h>\n#include <unistd.h>\n"
    "#include \"model.h\"\n"
    "#define TEXT_OF(name) #name\n#define TEXT(name) TEXT_OF(name)\n"
    "#ifndef NAME\n#define NAME same\n#endif\n"
    "#ifndef AT_CREATE\n#define AT_CREATE\n#endif\n"
    "#ifndef IN_STEP\n#define IN_STEP\n#endif\n"
    "static const struct hil_quantity ins[] = {{\"x\", \"\", 1, -9, 9, 0, \"x\"}};\n"
    "static const struct hil_quantity outs[] = {{\"y\", \"\", 1, -9, 9, 0, \"y\"}};\n"
    "static int create(void **self, const struct hil_config *c)\n"
    "{ static int made; (void)c; *self = &made; AT_CREATE; return 0; }\n"
    "static void destroy(void *self) { (void)self; }\n"
    "static int output(const void *self, const double *in, double *out)\n"
    "{ (void)self; out[0] = in[0]; return 0; }\n"
    "static int step(void *self, uint64_t t, const double *in, double *out)\n"
    "{ if (t >= 5000000) { IN_STEP; } return output(self, in, out); }\n"
    "const struct hil_model hiloco_model = {.abi = HIL_MODEL_ABI, .size = sizeof hiloco_model,\n"
    "    .name = TEXT(NAME), .doc = \"Gives what it takes\", .kind = HIL_CONTINUOUS,\n"
    "    .width_max = 1, .inputs = HIL_QUANTITIES(ins), .outputs = HIL_QUANTITIES(outs),\n"
    "    .create = create, .output = output, .step = step, .destroy = destroy};\n";

/* The first node has a built-in model. */
static const char scenario[] =
    "name: %s\nduration_s: 0.02\nmode: virtual\nhang_limit_s: 3\n"
    "nodes:\n  control: {period_us: 1000, cpu: -1, priority: 0}\n"
    "  plant: {period_us: 1000, cpu: -1, priority: 0%s}\n"
    "components:\n"
    "  law: {model: gain, node: control, inputs: {input: 1}}\n"
    "  stage: {model: ./same.so, node: \"%s\", settings: {apart: true}}\n"
    "connections:\n"
    "  - {from: law.output, to: \"%s\"}\n"
    "%s";

static void write_scenario(bool two, const char *more)
{
    char text[2000];

    snprintf(text, sizeof text, scenario, own_name(), two ? ", count: 2" : "",
             two ? "plant[*]" : "plant", two ? "stage[*].x" : "stage.x", more);
    write_text(in_workspace("s.yaml"), text);
}

static void compile(const char *options)
{
    write_text(in_workspace("same.c"), source);
    struct ended e = run_command("cc -w -shared -fPIC -Iplants -o %s %s %s",
                                 in_workspace("same.so"), in_workspace("same.c"), options);
    expect_status(&e, 0);
}

static void open_with_scenario(void)
{
    workspace_open();
    write_scenario(false, "");
}

TestSuite(apart_models, .init = open_with_scenario, .fini = workspace_close, .timeout = 120);

static struct ended run_it(const char *options)
{
    return run_command("hiloco run %s --out %s %s", in_workspace("s.yaml"), in_workspace("out"),
                       options);
}

#define REAL_TIME "--mode realtime --set validity.required=false --set duration_s=20 "

/* The run ends, and `what` is said of the component, with its time, here and in the summary. */
static void expect_named(const char *options, const char *what)
{
    struct ended e = run_it(options);
    char line[200];

    expect_status(&e, 1);
    snprintf(line, sizeof line, "error: stage (same): %s, at 0.0", what);
    expect_said(&e, line);
    json_t *failure = json_at(summary_of(in_workspace("out")), "failures.each.0");
    cr_expect_str_eq(json_string_value(json_at(failure, "component")), "stage");
    cr_expect(strstr(json_string_value(json_at(failure, "what")), line + strlen("error: ")));
    cr_expect_geq(number_at(failure, "step"), 5); /* it may leave some out in real time */
}

/* The shell of run_command knows no blanks, so what is compiled in has none. */
#define HANG  "-DIN_STEP=for(;;)pause()"
#define CRASH "-DIN_STEP=raise(SIGSEGV)"
#define LEAVE "-DIN_STEP=_exit(0)"

Test(apart_models, that_hangs_is_named_in_virtual_time)
{
    compile(HANG);
    expect_named("", "it did not return for 3 s");
}

Test(apart_models, that_hangs_is_named_in_real_time)
{
    compile(HANG);
    expect_named(REAL_TIME, "it did not return for 3 s");
}

Test(apart_models, that_crashes_is_named_in_virtual_time)
{
    compile(CRASH);
    expect_named("", "it crashed (SIGSEGV)");
}

Test(apart_models, that_crashes_is_named_in_real_time)
{
    compile(CRASH);
    expect_named(REAL_TIME, "it crashed (SIGSEGV)");
}

/* Nobody may take that for the end of the run. */
Test(apart_models, that_leaves_its_process_is_named)
{
    compile(LEAVE);
    expect_named("", "it ended its process (status 0)");
}

Test(apart_models, that_leaves_with_our_status_for_mistakes_is_a_failure)
{
    compile("-DIN_STEP=_exit(2)");
    expect_named(REAL_TIME, "it ended its process (status 2)");
}

/* Started again, it does so again, until the run is over; the controller goes on. */
Test(apart_models, that_crashes_leaves_the_others_running)
{
    compile(CRASH);
    struct ended e = run_it(REAL_TIME "--set on_lost=restart --set duration_s=2");

    expect_said(&e, "warning: stage (same): it crashed (SIGSEGV), at 0.");
    json_t *summary = summary_of(in_workspace("out"));
    cr_expect_gt(number_at(summary, "nodes.control.steps"), 5);
}

/* --- as it is made ---------------------------------------------------------------------------- */

static void expect_refused(const char *why)
{
    struct ended e = run_command("hiloco check %s", in_workspace("s.yaml"));

    expect_status(&e, 2);
    expect_said(&e, "the model same refuses the parameters, initial states and period of stage");
    expect_said(&e, why);
}

Test(apart_models, that_crashes_as_it_is_made_is_refused)
{
    compile("-DAT_CREATE=raise(SIGSEGV)");
    expect_refused("(it crashes as it is made: SIGSEGV)");
}

Test(apart_models, that_refuses_says_why)
{
    compile("-DAT_CREATE=(c->log(c->log_arg,\"no\"),exit(1))");
    expect_refused("(no)");
}

/* --- where it runs ---------------------------------------------------------------------------- */

/* Each in a process of its own: three executors, and two cores are not enough. */
Test(apart_models, have_a_process_each)
{
    compile("");
    write_scenario(true, "");
    struct ended e = run_command("hiloco node plant[1] %s --wait 1 --set validity.required=false",
                                 in_workspace("s.yaml"));

    expect_status(&e, 1);
    cr_expect_null(strstr(e.err, "placed on the same core"), "%s", e.err);
}

Test(apart_models, are_not_placed_with_others_in_real_time)
{
    compile("");
    write_scenario(false, "placement:\n  - {nodes: [control, plant]}\n");
    struct ended e = run_it(REAL_TIME);
    expect_status(&e, 2);
    expect_said(&e, "the node plant has a component that may hang or crash, but is placed with "
                    "nodes without one; allowed: an entry of its own");
    e = run_it("");
    expect_status(&e, 0);
}

Test(apart_models, share_a_process_where_the_scenario_says_so)
{
    compile("");
    write_scenario(true, "placement:\n  - {nodes: control, cpu: -1, priority: 0}\n"
                         "  - {nodes: \"plant[*]\", cpu: -1, priority: 0}\n");
    struct ended e = run_it(REAL_TIME "--set duration_s=0.02");
    expect_ran(&e);
}

/* --- what it costs ---------------------------------------------------------------------------- */

Test(apart_models, their_steps_are_in_the_summary)
{
    compile("");
    struct ended e = run_it(REAL_TIME "--set duration_s=0.5");

    expect_ran(&e);
    cr_expect(strstr(e.out, "  step cost   stage (same): mean "), "%s", e.out);
    json_t *c = json_at(summary_of(in_workspace("out")), "components");
    cr_assert_eq(json_array_size(c), 1);
    cr_expect_str_eq(json_string_value(json_at(c, "0.component")), "stage");
    cr_expect_gt(number_at(c, "0.steps"), 0);
    const double mean = number_at(c, "0.step_us.mean"), max = number_at(c, "0.step_us.max");
    cr_expect(mean > 0 && mean <= max);
    cr_expect_float_eq(number_at(c, "0.share_of_period.mean"), mean / 1000, 1e-9);
    cr_expect(json_is_null(json_at(c, "0.not_real_time")));
}

/* What a step took is printed, and is not in the file. */
Test(apart_models, a_summary_in_virtual_time_is_always_the_same)
{
    compile("");
    struct ended e = run_it("");

    expect_status(&e, 0);
    cr_expect(strstr(e.out, "  step cost   stage (same): mean "), "%s", e.out);
    json_t *c = json_at(summary_of(in_workspace("out")), "components");
    cr_expect_eq(number_at(c, "0.steps"), 19); /* of 20, the first of which is there already */
    e = run_command("mv %s %s", in_workspace("out"), in_workspace("before"));
    expect_status(&e, 0);
    e = run_it("");
    expect_status(&e, 0);
    e = run_command("cmp %s %s", in_workspace("before/summary.json"),
                    in_workspace("out/summary.json"));
    expect_status(&e, 0);
}

/* Of an array of components, those that have the model are named. */
Test(apart_models, the_one_of_an_array_is_named)
{
    compile("-DNAME=two");
    struct ended e = run_command("mv %s %s", in_workspace("same.so"), in_workspace("two.so"));
    expect_status(&e, 0);
    compile("");
    write_text(in_workspace("s.yaml"),
               "name: some\nduration_s: 0.02\nmode: virtual\n"
               "nodes:\n  one: {period_us: 1000}\n"
               "components:\n"
               "  stage: {count: 3, model: [./two.so, ./same.so, ./two.so], node: one}\n");
    e = run_it("");
    expect_status(&e, 0);
    cr_expect(strstr(e.out, "  step cost   stage[1] (same): mean "), "%s", e.out);
    cr_expect(strstr(e.out, "  step cost   stage[0] and 1 more (two): mean "), "%s", e.out);
}

Test(apart_models, check_measures_their_steps)
{
    compile("");
    struct ended e = run_command("hiloco check --measure %s", in_workspace("s.yaml"));
    expect_status(&e, 0);
    cr_expect_null(strstr(e.err, "warning"), "%s", e.err);
    cr_expect(strstr(e.out, "\nstage "), "%s", e.out);
    cr_expect(strstr(e.out, "\nlaw "), "%s", e.out);
}

Test(apart_models, check_tells_of_a_step_longer_than_its_period)
{
    compile("-DIN_STEP=usleep(2000)");
    struct ended e = run_command("hiloco check --measure %s", in_workspace("s.yaml"));
    expect_status(&e, 0);
    expect_said(&e, "warning: a step of stage takes ");
    expect_said(&e, "longer than its period of 1000 us: it cannot keep up with real time");
    e = run_it("");
    expect_status(&e, 0);
    cr_expect(strstr(e.out, "; 15 of 19 steps longer than it\n"), "%s", e.out);
}

Test(apart_models, check_tells_of_one_that_crashes_when_it_is_measured)
{
    compile(CRASH);
    struct ended e = run_command("hiloco check --measure %s", in_workspace("s.yaml"));
    expect_status(&e, 1);
    expect_said(&e, "stage: it crashed (SIGSEGV)");
    cr_expect(strstr(e.out, "\nlaw "), "%s", e.out);
}

/*
 * Tests how the harness runs a component that is hardware: it is created once, not rehearsed, also
 * stepped in step 0, and destroyed when the loop ends. Also tests inputs that it has not received
 * in time.
 */
#include "test_scenario.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "folder.h"
#include "harness/models/models.h"
#include "harness/run/rehearsal.h"
#include "harness/run/step_parts.h"

TestSuite(hardware, .init = folder_open, .fini = folder_close);

/* A tray: its input appears as its output at the next step. It counts the calls of its functions.
 */
static const char source[] =
    "#include \"model.h\"\n"
    "int trials, made, ended, steps, applied, step_rc, apply_rc; double tray;\n"
    "static int create(void **self, const struct hil_config *c)\n"
    "{ *self = &tray; if (c->trial) trials++; else made++; return 0; }\n"
    "static void destroy(void *self) { (void)self; ended++; }\n"
    "static int output(const void *self, const double *in, double *out)\n"
    "{ (void)self, (void)in; out[0] = tray; return 0; }\n"
    "static int step(void *self, uint64_t t, const double *in, double *out)\n"
    "{ (void)t; steps++; output(self, in, out); return step_rc; }\n"
    "static int apply(void *self, const double *in)\n"
    "{ (void)self; applied++; tray = in[0]; return apply_rc; }\n"
    "static const struct hil_quantity ins[] = {{\"level\", \"\", 0, -9, 9, 0, \"level\"}};\n"
    "static const struct hil_quantity outs[] = {{\"seen\", \"\", 0, 0, 0, 0, \"level\"}};\n"
    "const struct hil_model hiloco_model = {.abi = HIL_MODEL_ABI, .size = sizeof hiloco_model,\n"
    "    .name = \"tray\", .doc = \"A tray\", .kind = HIL_CONTINUOUS, .width_max = 1,\n"
    "    .inputs = HIL_QUANTITIES(ins), .outputs = HIL_QUANTITIES(outs), .create = create,\n"
    "    .output = output, .step = step, .destroy = destroy, .apply = apply};\n";

#define SCENARIO(on_stale)                                                                         \
    "name: tray\nduration_s: 1\nnodes: {n: {period_us: 1000, on_stale_input: " on_stale "}}\n"     \
    "components:\n"                                                                                \
    "  tray: {model: %s, node: n}\n"                                                               \
    "  twice: {model: gain, node: n, parameters: {gain: 2}, safe: {output: 5}}\n"                  \
    "connections: [{from: tray.seen, to: twice.input}]\n"                                          \
    "sources: {level: {to: tray.level, constant: 3}}\n"

struct bench {
    struct hil_scenario *scenario;
    struct hil_run run;
    struct loco_fabric *fabric;
    struct hil_group group;
    void *tray; /* the library */
    uint64_t n;
};

static int *counter(const struct bench *b, const char *name)
{
    return dlsym(b->tray, name);
}

static void open_bench(struct bench *b, const char *scenario)
{
    char command[512], text[1024];
    char *root = getcwd(NULL, 0);

    put("tray.c", source);
    snprintf(command, sizeof command, "cc -w -shared -fPIC -I%s/plants -o %s %s", root,
             in_folder("tray.so"), in_folder("tray.c"));
    cr_assert_eq(system(command), 0, "%s", command);
    free(root);
    snprintf(text, sizeof text, scenario, in_folder("tray.so"));
    *b = (struct bench){.scenario = load(text, NULL)};
    b->tray = hil_loaded_find(in_folder("tray.so"), NULL)->own;
    b->run.scenario = b->scenario;
    cr_assert_eq(hil_state_open(&b->run.state, b->scenario), 0);
    cr_assert_eq(loco_shm_open(&b->fabric, folder), 0);
}

static void start(struct bench *b)
{
    cr_assert_eq(
        hil_group_start(&b->group, &b->run, b->fabric, &b->scenario->executors[0], 20000000000), 0);
}

static int step(struct bench *b)
{
    const struct hil_node *node = b->group.nodes[0];
    const uint64_t n = b->n++;

    return node->loop.step(node->loop.arg, n, hil_loop_due(&node->loop, n));
}

/* The output of `twice`. */
static double given(const struct bench *b)
{
    return b->group.nodes[0]->step->parts[1].out[0];
}

static void close_bench(struct bench *b)
{
    hil_group_close(&b->group);
    loco_shm_close(b->fabric);
    hil_state_close(b->run.state);
    hil_scenario_free(b->scenario);
}

Test(hardware, is_made_once_and_not_rehearsed, .timeout = 60)
{
    struct hil_rehearsal rehearsal;
    struct hil_clock clock;
    struct bench b;

    open_bench(&b, SCENARIO("hold"));
    cr_expect_gt(*counter(&b, "trials"), 0);
    cr_expect_eq(*counter(&b, "made"), 0);
    start(&b);
    hil_clock_calibrate(&clock);
    cr_assert_eq(hil_rehearsal_open(&rehearsal, &b.run), 0);
    cr_assert_eq(hil_rehearse(&rehearsal, &b.group, &clock, hil_clock_now(&clock) + 20000000), 0);
    hil_rehearsal_close(&rehearsal);
    cr_expect_eq(*counter(&b, "made"), 1);
    cr_expect_eq(*counter(&b, "steps"), 0);
    cr_expect_eq(*counter(&b, "applied"), 0);
    close_bench(&b);
}

Test(hardware, is_read_in_step_0_and_left_when_the_loop_ends, .timeout = 60)
{
    struct bench b;

    open_bench(&b, SCENARIO("hold"));
    start(&b);
    cr_assert_eq(step(&b), 0);
    cr_expect_eq(*counter(&b, "steps"), 1);
    cr_expect_eq(*counter(&b, "applied"), 1);
    cr_assert_eq(step(&b), 0);
    cr_expect_eq(given(&b), 6);
    const int trials = *counter(&b, "ended");
    hil_group_end(&b.group, HIL_DONE);
    cr_expect_eq(*counter(&b, "ended") - trials, 1);
    hil_group_close(&b.group);
    cr_expect_eq(*counter(&b, "ended") - trials, 1, "once");
    close_bench(&b);
}

/* Each time that the input becomes stale counts once. */
Test(hardware, stale_input_is_counted, .timeout = 60)
{
    struct bench b;

    open_bench(&b, SCENARIO("hold"));
    start(&b);
    cr_assert_eq(step(&b), 0);
    for (unsigned times = 1; times <= 2; times++) {
        *counter(&b, "step_rc") = -ESTALE;
        for (unsigned i = 0; i < 3; i++)
            cr_expect_eq(step(&b), 0);
        cr_expect_eq(given(&b), 6, "what there is holds");
        *counter(&b, "step_rc") = 0;
        cr_expect_eq(step(&b), 0);
        cr_expect_eq(b.run.state->executors[0].stale.count, times);
    }
    const struct hil_stale *first = &b.run.state->executors[0].stale.at[0];
    cr_expect_eq(first->from, first->to);
    cr_expect_eq(first->found_ns, 1000000);
    close_bench(&b);
}

Test(hardware, stale_input_makes_safe_what_takes_it, .timeout = 60)
{
    struct bench b;

    open_bench(&b, SCENARIO("safe"));
    start(&b);
    step(&b);
    step(&b);
    cr_expect_eq(given(&b), 6);
    *counter(&b, "step_rc") = -ESTALE;
    cr_expect_eq(step(&b), 0);
    cr_expect_eq(given(&b), 5);
    *counter(&b, "step_rc") = 0;
    cr_expect_eq(step(&b), 0);
    cr_expect_eq(given(&b), 6);
    close_bench(&b);
}

Test(hardware, stale_input_ends_the_run, .timeout = 60)
{
    struct bench b;
    char text[256] = "";

    open_bench(&b, SCENARIO("end"));
    start(&b);
    step(&b);
    *counter(&b, "step_rc") = -ESTALE;
    cr_expect_eq(step(&b), -ESTALE);
    hil_stale_describe(&b.run.state->executors[0].stale, b.scenario->system, text, sizeof text);
    cr_expect_str_eq(text, "a stale input ends it: a device of n, at 0.001000 s");
    close_bench(&b);
}

Test(hardware, that_cannot_be_written_has_failed, .timeout = 60)
{
    struct bench b;
    char text[256] = "";

    open_bench(&b, SCENARIO("hold"));
    start(&b);
    *counter(&b, "apply_rc") = -EIO;
    cr_expect_eq(step(&b), -ENOTRECOVERABLE);
    hil_failure_describe(&b.run.state->executors[0].failures, text, sizeof text);
    cr_expect_str_eq(text,
                     "tray (tray): its apply failed (Input/output error), at 0.000000 s (step "
                     "0)");
    close_bench(&b);
}

/*
 * Tests how the harness runs a component that is hardware: it is created once, not rehearsed, also
 * stepped in step 0, and destroyed when the loop ends. Also tests inputs that it has not received
 * in time.
 */
#include "test_scenario.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "folder.h"
#include "harness/models/models.h"
#include "harness/run/rehearsal.h"
#include "harness/run/step_parts.h"

TestSuite(hardware, .init = folder_open, .fini = folder_close);

/* A tray: its input appears as its output at the next step. It counts the calls of its functions
 * in a file, as each component has its own copy of the library. */
struct counts {
    int trials, made, ended, steps, applied, step_rc, apply_rc;
};

static const char source[] =
    "#include <fcntl.h>\n#include <sys/mman.h>\n#include \"model.h\"\n"
    "static double tray;\n"
    "static struct { int trials, made, ended, steps, applied, step_rc, apply_rc; } *n;\n"
    "__attribute__((constructor)) static void map(void)\n"
    "{ n = mmap(0, sizeof *n, 3, MAP_SHARED, open(COUNTS, O_RDWR), 0); }\n"
    "static int create(void **self, const struct hil_config *c)\n"
    "{ *self = &tray; if (c->trial) n->trials++; else n->made++; return 0; }\n"
    "static void destroy(void *self) { (void)self; n->ended++; }\n"
    "static int output(const void *self, const double *in, double *out)\n"
    "{ (void)self, (void)in; out[0] = tray; return 0; }\n"
    "static int step(void *self, uint64_t t, const double *in, double *out)\n"
    "{ (void)t; n->steps++; output(self, in, out); return n->step_rc; }\n"
    "static int apply(void *self, const double *in)\n"
    "{ (void)self; n->applied++; tray = in[0]; return n->apply_rc; }\n"
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
    struct counts *counts;
    uint64_t n;
};

static struct counts *map_counts(void)
{
    const struct counts none = {0};
    const int file = open(in_folder("counts"), O_RDWR | O_CREAT, 0600);

    cr_assert_eq(write(file, &none, sizeof none), (ssize_t)sizeof none);
    void *counts = mmap(NULL, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    cr_assert_neq(counts, MAP_FAILED);
    close(file);
    return counts;
}

static void open_bench(struct bench *b, const char *scenario)
{
    char command[512], text[1024];
    char *root = getcwd(NULL, 0);

    put("tray.c", source);
    *b = (struct bench){.counts = map_counts()};
    snprintf(command, sizeof command, "cc -w -shared -fPIC -DCOUNTS='\"%s\"' -I%s/plants -o %s %s",
             in_folder("counts"), root, in_folder("tray.so"), in_folder("tray.c"));
    cr_assert_eq(system(command), 0, "%s", command);
    free(root);
    snprintf(text, sizeof text, scenario, in_folder("tray.so"));
    b->scenario = load(text, NULL);
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
    munmap(b->counts, sizeof *b->counts);
}

Test(hardware, is_made_once_and_not_rehearsed, .timeout = 60)
{
    struct hil_rehearsal rehearsal;
    struct hil_clock clock;
    struct bench b;

    open_bench(&b, SCENARIO("hold"));
    cr_expect_gt(b.counts->trials, 0);
    cr_expect_eq(b.counts->made, 0);
    start(&b);
    hil_clock_calibrate(&clock);
    cr_assert_eq(hil_rehearsal_open(&rehearsal, &b.run), 0);
    cr_assert_eq(hil_rehearse(&rehearsal, &b.group, &clock, hil_clock_now(&clock) + 20000000), 0);
    hil_rehearsal_close(&rehearsal);
    cr_expect_eq(b.counts->made, 1);
    cr_expect_eq(b.counts->steps, 0);
    cr_expect_eq(b.counts->applied, 0);
    close_bench(&b);
}

Test(hardware, is_read_in_step_0_and_left_when_the_loop_ends, .timeout = 60)
{
    struct bench b;

    open_bench(&b, SCENARIO("hold"));
    start(&b);
    cr_assert_eq(step(&b), 0);
    cr_expect_eq(b.counts->steps, 1);
    cr_expect_eq(b.counts->applied, 1);
    cr_assert_eq(step(&b), 0);
    cr_expect_eq(given(&b), 6);
    const int trials = b.counts->ended;
    hil_group_end(&b.group, HIL_DONE);
    cr_expect_eq(b.counts->ended - trials, 1);
    hil_group_close(&b.group);
    cr_expect_eq(b.counts->ended - trials, 1, "once");
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
        b.counts->step_rc = -ESTALE;
        for (unsigned i = 0; i < 3; i++)
            cr_expect_eq(step(&b), 0);
        cr_expect_eq(given(&b), 6, "what there is holds");
        b.counts->step_rc = 0;
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
    b.counts->step_rc = -ESTALE;
    cr_expect_eq(step(&b), 0);
    cr_expect_eq(given(&b), 5);
    b.counts->step_rc = 0;
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
    b.counts->step_rc = -ESTALE;
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
    b.counts->apply_rc = -EIO;
    cr_expect_eq(step(&b), -ENOTRECOVERABLE);
    hil_failure_describe(&b.run.state->executors[0].failures, text, sizeof text);
    cr_expect_str_eq(text,
                     "tray (tray): its apply failed (Input/output error), at 0.000000 s (step "
                     "0)");
    close_bench(&b);
}

/* What a step of a circuit could not resolve, and what it had to make, is counted. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "folder.h"
#include "plants/circuit/circuit_model.h"

TestSuite(circuit_bounds, .init = folder_open, .fini = folder_close);

struct tried {
    struct cir_model *circuit;
    void *self;
    struct hil_counts counts;
    char said[500];
    double in[8], out[40];
};

static void keep_line(void *arg, const char *line)
{
    struct tried *t = arg;

    snprintf(t->said, sizeof t->said, "%s", line);
}

static void try_circuit(struct tried *t, const char *text, double period_s, bool real_time)
{
    char why[500] = "";
    const double none[1] = {0};

    *t = (struct tried){.said = ""};
    put("tried.cir", text);
    cr_assert_eq(cir_model_load(&t->circuit, in_folder("tried.cir"), false,
                                &(struct cir_said){why, sizeof why}),
                 0, "%s", why);
    const struct hil_model *m = &t->circuit->model;
    const struct hil_config config = {.size = sizeof config,
                                      .width = 1,
                                      .period_s = period_s,
                                      .parameters = none,
                                      .log = keep_line,
                                      .warn = keep_line,
                                      .log_arg = t,
                                      .model = m,
                                      .real_time = real_time,
                                      .counts = &t->counts};
    cr_assert_eq(m->create(&t->self, &config), 0, "%s", t->said);
    for (unsigned i = 0; i < m->inputs.count; i++)
        t->in[i] = m->inputs.at[i].value;
}

static void step(struct tried *t, unsigned number, double period_s)
{
    cr_assert_eq(
        t->circuit->model.step(t->self, (uint64_t)llround(number * period_s * 1e9), t->in, t->out),
        0, "%s", t->said);
}

static void end(struct tried *t)
{
    t->circuit->model.destroy(t->self);
    cir_model_unload(t->circuit);
}

/* A source of a negative resistance: the diode contradicts both of its states. */
#define NO_SET                                                                                     \
    "none\n*hiloco i1: input amperes A -1 -10 10 current\nI1 0 a external\nG1 a 0 a 0 -1\n"        \
    "D1 a 0 d\n.model d d\n*hiloco diode d: vf=0.5 ron=0.1 roff=1meg\n"

Test(circuit_bounds, no_consistent_set_is_counted)
{
    struct tried t;

    try_circuit(&t, NO_SET, 1e-6, false);
    step(&t, 1, 1e-6);
    step(&t, 2, 1e-6);
    cr_expect_eq(t.counts.unresolved, 2, "%llu", (unsigned long long)t.counts.unresolved);
    cr_expect(strstr(t.said, "at 0.000000000 s its diodes changed too often, or no set of them"),
              "%s", t.said);
    t.in[0] = 1; /* -1 V across the resistance alone */
    step(&t, 3, 1e-6);
    cr_expect_eq(t.counts.unresolved, 2);
    end(&t);
}

/* 3000 periods of the source, in each of which the diode changes twice. */
#define RECTIFIER                                                                                  \
    "half wave\nV1 a 0 sin(0 10 1meg)\nD1 a b d\nR1 b 0 10\n.model d d\n"                          \
    "*hiloco diode d: vf=0.5 ron=0.1 roff=1meg\n*hiloco v(b): output v_b V load\n"

Test(circuit_bounds, too_many_changes_of_diodes_are_counted_in_real_time_alone)
{
    struct tried t;

    try_circuit(&t, RECTIFIER, 3.00025e-3, false); /* ends at the crest */
    step(&t, 1, 3.00025e-3);
    cr_expect_eq(t.counts.unresolved, 0);
    cr_expect_float_eq(t.out[0], 9.5 * 10 / 10.1, 1e-3, "%g", t.out[0]);
    end(&t);
    try_circuit(&t, RECTIFIER, 3.00025e-3, true);
    step(&t, 1, 3.00025e-3);
    cr_expect_eq(t.counts.unresolved, 1);
    cr_expect_float_eq(t.out[0], 9.5 * 10 / 10.1, 1e-3, "%g", t.out[0]); /* consistent at its end */
    end(&t);
}

/* Each period of 1 ms has 2000 edges. */
Test(circuit_bounds, too_many_edges_are_counted)
{
    struct tried t;

    try_circuit(
        &t,
        "edges\n*hiloco pwm vg: frequency=1meg duty=0.25\nV1 a 0 1\nS1 a b g 0 s\nR1 b 0 1\n"
        "Vg g 0 external\n.model s sw(vt=0.5 ron=1m)\n*hiloco v(b): output v_b V load\n",
        1.00005e-3, true);
    for (unsigned n = 1; n <= 3; n++)
        step(&t, n, 1.00005e-3);
    cr_expect_eq(t.counts.unresolved, 3);
    cr_expect_float_eq(t.out[0], 1 / 1.001, 1e-9, "%g", t.out[0]); /* within the first quarter */
    end(&t);
}

/* Five bridges in parallel have more devices than are prepared: what an input brings about is made
 * within the step. */
Test(circuit_bounds, configurations_that_were_not_ready_are_counted)
{
    char text[2000] = "five\n*hiloco v1: input volts V 0 -10 10 source\nV1 a 0 external\n"
                      ".model d d\n*hiloco diode d: vf=0.5 ron=0.1 roff=1meg\n";
    struct tried t;

    for (int i = 0; i < 5; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "Rs%d a x%d 1\nDa%d x%d p%d d\nDb%d 0 x%d d\nRl%d p%d 0 1\n", i, i, i, i, i, i, i,
                 i, i);
    }
    try_circuit(&t, text, 1e-6, true);
    step(&t, 1, 1e-6);
    cr_expect_eq(t.counts.unprepared, 0);
    t.in[0] = 5;
    step(&t, 2, 1e-6);
    step(&t, 3, 1e-6);
    cr_expect_eq(t.counts.unprepared, 1);
    t.in[0] = -5;
    step(&t, 4, 1e-6);
    cr_expect_eq(t.counts.unprepared, 2);
    cr_expect_eq(t.counts.unresolved, 0);
    end(&t);
}

/* Before a run its loops are rehearsed, with a time beyond all times. */
Test(circuit_bounds, a_rehearsed_step_ends, .timeout = 20)
{
    struct tried t;

    try_circuit(
        &t,
        "edges\n*hiloco pwm vg: frequency=1meg duty=0.25\nV1 a 0 1\nS1 a b g 0 s\nR1 b 0 1\n"
        "Vg g 0 external\n.model s sw(vt=0.5 ron=1m)\n*hiloco v(b): output v_b V load\n",
        1e-6, true);
    for (unsigned n = 0; n < 3; n++)
        cr_assert_eq(t.circuit->model.step(t.self, (uint64_t)0 - 1000, t.in, t.out), 0, "%s",
                     t.said);
    cr_expect_eq(t.counts.unresolved, 0);
    end(&t);
}

/*
 * The solver of circuits: its numbers against exact solutions, which were computed in 128-bit
 * arithmetic and are in tests/circuits; theory; and what it refuses.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "model_rig.h"
#include "plants/circuit/pool.h"

static char said_text[1024];
static const struct hil_said said = {said_text, sizeof said_text, NULL};

static struct rig circuit_open(const char *path, double period_s)
{
    const struct hil_loaded *loaded;

    cr_assert_eq(hil_model_load(&loaded, path, ".", NULL, &said), 0, "%s: %s", path, said_text);
    return rig_open(loaded->name, NULL, NULL, period_s);
}

/* --- exact solutions -------------------------------------------------------------------------- */

enum { ROWS_MAX = 200, COLUMNS_MAX = 8 };

struct reference {
    char names[COLUMNS_MAX][32];
    unsigned columns, rows;
    double at[ROWS_MAX][COLUMNS_MAX]; /* the first column is the time */
    double peak[COLUMNS_MAX];
};

static void read_names(struct reference *r, char *line)
{
    for (char *name = strtok(line, ",\n"); name; name = strtok(NULL, ",\n"))
        snprintf(r->names[r->columns++], sizeof r->names[0], "%s", name);
}

static void read_reference(struct reference *r, const char *path)
{
    char line[400];

    *r = (struct reference){.columns = 0};
    FILE *file = fopen(path, "r");
    cr_assert(file && fgets(line, sizeof line, file), "%s", path);
    read_names(r, line);
    for (; fgets(line, sizeof line, file); r->rows++) {
        char *at = line;
        for (unsigned i = 0; i < r->columns; i++, at++) {
            r->at[r->rows][i] = strtod(at, &at);
            r->peak[i] = fmax(r->peak[i], fabs(r->at[r->rows][i]));
        }
    }
    fclose(file);
}

static void expect_row(const struct rig *rig, const struct reference *r, unsigned row)
{
    for (unsigned i = 1; i < r->columns; i++) {
        const int output = hil_quantity_find(&rig->model->outputs, r->names[i]);
        cr_assert_geq(output, 0, "%s has no %s", rig->model->name, r->names[i]);
        const double error = fabs(rig->out[output] - r->at[row][i]) / r->peak[i];
        cr_expect(error <= 1e-7, "%s with %g s: %s at %g s is %.12g, not %.12g (%.2g of the peak)",
                  rig->model->name, rig->period_s, r->names[i], r->at[row][0], rig->out[output],
                  r->at[row][i], error);
    }
}

/* Compares all rows of the reference that are at the end of a period. */
static void compare(const char *circuit, const char *solution, double period_s)
{
    static struct reference r;

    read_reference(&r, solution);
    struct rig rig = circuit_open(circuit, period_s);
    cr_assert_eq(rig.model->output(rig.self, rig.in, rig.out), 0);
    expect_row(&rig, &r, 0);
    for (unsigned row = 1; row < r.rows; row++) {
        const double steps = round(r.at[row][0] / period_s);
        if (fabs(steps * period_s - r.at[row][0]) > 1e-12)
            continue;
        while ((double)rig.steps < steps)
            rig_step(&rig);
        expect_row(&rig, &r, row);
    }
    rig_end(&rig);
}

static void compare_all(const char *circuit, const char *solution)
{
    static const double periods_s[] = {100e-9, 500e-9, 1e-6, 4e-6, 7e-6, 25e-6, 100e-6};

    for (unsigned i = 0; i < sizeof periods_s / sizeof periods_s[0]; i++)
        compare(circuit, solution, periods_s[i]);
}

Test(circuit, buck_is_exact_with_any_step)
{
    compare_all("tests/circuits/buck.cir", "tests/circuits/buck.csv");
}

Test(circuit, buck4_is_exact_with_any_step)
{
    compare_all("tests/circuits/buck4.cir", "tests/circuits/buck4.csv");
}

Test(circuit, buckdcm_is_exact_with_any_step)
{
    compare_all("tests/circuits/buckdcm.cir", "tests/circuits/buckdcm.csv");
}

Test(circuit, dab_is_exact_with_any_step)
{
    compare_all("tests/circuits/dab.cir", "tests/circuits/dab.csv");
}

Test(circuit, flyback_is_exact_with_any_step)
{
    compare_all("tests/circuits/flyback.cir", "tests/circuits/flyback.csv");
}

Test(circuit, inverter3_is_exact_with_any_step)
{
    compare_all("tests/circuits/inverter3.cir", "tests/circuits/inverter3.csv");
}

Test(circuit, llc_is_exact_with_any_step)
{
    compare_all("tests/circuits/llc.cir", "tests/circuits/llc.csv");
}

Test(circuit, rectifier6_is_exact_with_any_step)
{
    compare_all("tests/circuits/rectifier6.cir", "tests/circuits/rectifier6.csv");
}

/* --- saved states ----------------------------------------------------------------------------- */

Test(circuit, continues_with_the_same_bits_from_a_saved_state)
{
    struct rig first = circuit_open("tests/circuits/buck4.cir", 700e-9);
    char bytes[4096];

    for (int i = 0; i < 300; i++)
        rig_step(&first);
    const int64_t size = first.model->save(first.self, bytes, sizeof bytes);
    cr_assert(size > 0 && size <= (int64_t)sizeof bytes);
    struct rig second = circuit_open("tests/circuits/buck4.cir", 700e-9);
    second.steps = first.steps;
    cr_assert_eq(second.model->restore(second.self, bytes, (size_t)size), 0);
    cr_expect_eq(second.model->restore(second.self, bytes, (size_t)size - 1), -EINVAL);
    for (int i = 0; i < 500; i++) {
        rig_step(&first);
        rig_step(&second);
        cr_assert_arr_eq(first.out, second.out, first.model->outputs.count * sizeof(double));
    }
    rig_end(&first);
    rig_end(&second);
}

/* --- configurations --------------------------------------------------------------------------- */

Test(circuit, makes_all_configurations_before_it_needs_them)
{
    const struct cir_said why = {said_text, sizeof said_text};
    struct cir_text text;
    struct cir_declarations declarations;
    struct cir_netlist netlist;
    struct cir_network network;
    struct cir_pool pool;

    cr_assert_eq(cir_text_read(&text, "tests/circuits/buck.cir", &why), 0);
    cr_assert_eq(cir_declarations_read(&declarations, &text, false, &why), 0);
    cr_assert_eq(cir_netlist_expand(&netlist, &text, &declarations, NULL, &why), 0);
    cr_assert_eq(cir_network_make(&network, &netlist, &why), 0);
    cr_assert_eq(cir_pool_open(&pool, &network, NULL, 0, 1e-6), 0);
    cir_pool_fill(&pool);
    cr_expect_eq(pool.count, 16, "%u", pool.count); /* 2 switches and 2 diodes */
    cr_expect_not_null(cir_pool_get(&pool, 5, NULL));
    cr_expect_eq(pool.count, 16);
    cir_pool_close(&pool);
    cir_network_close(&network);
    cir_netlist_close(&netlist);
    cir_declarations_close(&declarations);
    cir_text_close(&text);
}

/* --- netlists of the tests' own --------------------------------------------------------------- */

static const char *written(const char *name, const char *text)
{
    static char path[300];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(text, file);
    fclose(file);
    return path;
}

static double output_of(const struct rig *rig, const char *name)
{
    const int output = hil_quantity_find(&rig->model->outputs, name);

    cr_assert_geq(output, 0, "%s has no %s", rig->model->name, name);
    return rig->out[output];
}

TestSuite(circuit_netlist, .init = folder_open, .fini = folder_close);

/* 1 ms is the time constant. */
Test(circuit_netlist, without_declarations_has_all_voltages_and_currents)
{
    struct rig rig = circuit_open(
        written("rc.cir", "a capacitor behind a resistor\nV1 In 0 1\nR1 in out 1k\nC1 out 0 1u\n"
                          "Lx1 out far 1\nR2 far 0 1t\n.end\n"),
        100e-6);

    cr_assert_eq(rig.model->outputs.count, 5);
    cr_expect_str_eq(rig.model->doc,
                     "a capacitor behind a resistor (states: 2, switches: 0, diodes: 0)");
    rig_step(&rig);
    cr_expect_float_eq(output_of(&rig, "v_in"), 1, 1e-15);
    cr_expect_float_eq(output_of(&rig, "v_out"), 1 - exp(-0.1), 1e-6);
    cr_expect_float_eq(output_of(&rig, "i_v1"), -exp(-0.1) * 1e-3, 2e-9);
    cr_expect_float_eq(output_of(&rig, "i_lx1"), 0, 1e-6);
    output_of(&rig, "v_far");
    rig_end(&rig);
}

Test(circuit_netlist, has_parameters_expressions_and_subcircuits)
{
    written("part.inc", ".subckt low a b params: r=1 c={1/r}\n"
                        "R1 a m {r}\n.param half='r/2'\nR2 m b {half*2 - max(0, -1)}\n"
                        "C1 b 0 {c} ic={start}\n.ends\n");
    struct rig rig = circuit_open(written("sub.cir", "subcircuits\n.include part.inc\n"
                                                     ".param start={later*2} later=1\n"
                                                     "V1 in 0 dc 2\nX1 in out low r=2 c=1m ; slow\n"
                                                     "X2 in x2 low\n+ params: r = 4\n.end\n"),
                                  1e-3);

    rig_step(&rig);
    cr_expect_float_eq(output_of(&rig, "v_out"), 2, 1e-12);
    cr_expect_float_eq(output_of(&rig, "v_x1_m"), 2, 1e-12);
    cr_expect_float_eq(output_of(&rig, "v_x2_m"), 2, 1e-12);
    rig_end(&rig);
}

/* Sines and ramps are exact inside a step: i = t^2 / 2 L behind a ramp of 1 V/s. */
Test(circuit_netlist, integrates_ramps_and_sines_exactly)
{
    struct rig rig = circuit_open(
        written("ramp.cir", "ramp\nV1 a 0 pwl(0 0 1 1)\nL1 a 0 1\nV2 b 0 sin(1 2 50 2m 0 90)\n"
                            "L2 b 0 1m\nR2 b 0 1\nI1 0 c pulse(0 1 0 1m 1m 2m 8m)\nC1 c 0 1m\n"
                            "R1 c 0 1g\n.end\n"),
        5e-3);

    rig_step(&rig);
    cr_expect_float_eq(output_of(&rig, "i_l1"), 12.5e-6, 1e-15);
    /* 3 V until 2 ms, then 1 V + 2 V cos. */
    const double w = 2 * M_PI * 50;
    cr_expect_float_eq(output_of(&rig, "i_l2"), (3 * 2e-3 + 3e-3 + 2 * sin(w * 3e-3) / w) / 1e-3,
                       1e-10);
    cr_expect_float_eq(output_of(&rig, "v_c"), 3, 1e-8); /* the charge: 3 mAs */
    rig_end(&rig);
}

Test(circuit_netlist, takes_inputs_from_outside_and_parameters)
{
    const struct hil_loaded *loaded;
    const char *path =
        written("in.cir",
                "inputs\n*hiloco name: stage\n*hiloco v1: input source_v V 5 0 10 a source\n"
                "*hiloco vg: input gate - required 0 1 a switch\n"
                "*hiloco r: parameter load_ohm Ohm 1k 1 1meg a load\n"
                "*hiloco v(out): output out_v V a voltage\n*hiloco i(s1): output s_a A a current\n"
                ".param r=1\nV1 in 0 external\nVg g 0 external\nS1 in out g 0 sw\n"
                "R1 out 0 {r}\n.model sw sw(vt=0.5 ron=1 roff=1e9)\n.end\n");
    const double load_ohm = 9;

    cr_assert_eq(hil_model_load(&loaded, path, ".", NULL, &said), 0, "%s", said_text);
    cr_expect_str_eq(loaded->model->name, "stage");
    struct rig rig = rig_open(loaded->name, &load_ohm, NULL, 1e-6);
    rig.in[0] = 10;
    rig.in[1] = 1;
    rig_step(&rig);
    cr_expect_float_eq(rig.out[0], 9, 1e-12);
    cr_expect_float_eq(rig.out[1], 1, 1e-12);
    rig.in[1] = 0;
    rig_step(&rig);
    cr_expect_float_eq(rig.out[0], 0, 1e-6);
    rig_end(&rig);
}

/* Three inductors in series with one current: L = 3 L + 6 k L. */
Test(circuit_netlist, may_couple_several_inductors_at_once)
{
    struct rig rig = circuit_open(written("k.cir", "k\nV1 a 0 1\nL1 a b 1m\nL2 b c 1m\nL3 c d 1m\n"
                                                   "R1 d 0 1u\nK1 L1 L2 L3 0.5\n"
                                                   "Rb b 0 1g\nRc c 0 1g\n"),
                                  6e-6);

    rig_step(&rig);
    cr_expect_float_eq(output_of(&rig, "i_l3"), 1e-3, 1e-9);
    rig_end(&rig);
}

Test(circuit_netlist, has_nodes_that_all_subcircuits_share)
{
    struct rig rig =
        circuit_open(written("g.cir", "g\n.global vcc\nV1 vcc 0 6\nX1 a part\nR2 a 0 1\n"
                                      ".subckt part out\nR1 vcc out 2\n.ends\n"),
                     1e-6);

    rig_step(&rig);
    cr_expect_float_eq(output_of(&rig, "v_a"), 2, 1e-12);
    rig_end(&rig);
}

Test(circuit_netlist, has_pieces_that_repeat_and_wait)
{
    struct rig rig =
        circuit_open(written("r.cir", "r\nV1 a 0 pwl(0 0 2u 1 4u 0) r=0 td=1u\nR1 a 0 1\n"), 1e-6);
    const double wanted[] = {0, 0.5, 1, 0.5, 0, 0.5, 1, 0.5, 0, 0.5};

    for (unsigned i = 0; i < 10; i++) {
        rig_step(&rig);
        cr_expect_float_eq(output_of(&rig, "v_a"), wanted[i], 1e-9, "%u us: %g", i + 1,
                           output_of(&rig, "v_a"));
    }
    rig_end(&rig);
}

/* --- parameters ------------------------------------------------------------------------------- */

#define DIVIDER                                                                                    \
    "divider\n*hiloco r: parameter load_ohm Ohm 9 1 1k load\n"                                     \
    "*hiloco l: parameter choke_h H 1m 1u 1 choke\n*hiloco k: parameter coupling - 0.5 0 2 gain\n" \
    "*hiloco i(l1): output l1_a A current\n*hiloco v(b): output load_v V voltage\n"                \
    ".param r=1 l=1 k=0\nV1 a 0 pulse(0 10 0 1n 1n 1 2)\nL1 a b {l}\nR1 b 0 {r}\n"                 \
    "L2 a c 1\nL3 d 0 1\nR3 d 0 1\nR2 c 0 1\nK1 L2 L3 {k}\n"

static struct rig divider_open(double period_s, bool real_time)
{
    const struct hil_loaded *loaded;
    static const double parameters[] = {9, 1e-3, 0.5};

    cr_assert_eq(hil_model_load(&loaded, written("divider.cir", DIVIDER), ".", NULL, &said), 0,
                 "%s", said_text);
    struct rig rig = {.model = loaded->model, .period_s = period_s};
    const struct hil_config config = {.size = sizeof config,
                                      .width = 1,
                                      .period_s = period_s,
                                      .parameters = parameters,
                                      .log = rig_log,
                                      .model = rig.model,
                                      .real_time = real_time};
    cr_assert_eq(rig.model->create(&rig.self, &config), 0);
    return rig;
}

/* A tuned resistance holds from the next period on, and the inductor keeps its current. */
Test(circuit_netlist, can_be_tuned)
{
    struct rig rig = divider_open(100e-6, false);
    double amperes = 0;

    for (int i = 0; i < 20; i++) {
        const double ohm = i < 10 ? 9 : 19, decay = exp(-ohm * 100e-6 / 1e-3);
        if (i == 10)
            cr_assert_eq(rig.model->tune(rig.self, 0, 19), 0);
        rig_step(&rig);
        amperes = 10 / ohm + (amperes - 10 / ohm) * decay;
        cr_expect_float_eq(rig.out[0], amperes, 1e-5, "%d: %g A, not %g A", i, rig.out[0], amperes);
        cr_expect_float_eq(rig.out[1], ohm * amperes, 1e-4);
    }
    cr_expect_eq(rig.model->tune(rig.self, 2, 1.5), -EDOM);
    cr_expect(strstr(rig_said, "coupling of 1.5"), "%s", rig_said);
    const double before = rig.out[0];
    rig_step(&rig); /* nothing changed */
    cr_expect_float_eq(rig.out[0], 10.0 / 19 + (before - 10.0 / 19) * exp(-1.9), 1e-9);
    cr_expect_eq(rig.model->parameters.at[0].flags, HIL_TUNABLE | HIL_SPREAD);
    cr_expect_eq(rig.model->parameters.at[2].flags, HIL_TUNABLE); /* it is no part */
    rig_end(&rig);
}

/* In real time a thread makes the circuit, and the loop goes on meanwhile. */
Test(circuit_netlist, can_be_tuned_beside_the_loop)
{
    struct rig rig = divider_open(100e-6, true);

    for (int i = 0; i < 100; i++)
        rig_step(&rig);
    cr_expect_float_eq(rig.out[0], 10.0 / 9, 1e-6);
    cr_assert_eq(rig.model->tune(rig.self, 0, 99), 0);
    cr_assert_eq(rig.model->tune(rig.self, 1, 1e-6), 0);
    while (fabs(rig.out[0] - 10.0 / 99) > 1e-6) { /* until the thread had its turn */
        rig_step(&rig);
        usleep(100);
    }
    rig_said[0] = '\0';
    cr_assert_eq(rig.model->tune(rig.self, 2, 1.5), 0);
    for (int i = 0; i < 100 || !strstr(rig_said, "coupling of 1.5"); i++) {
        rig_step(&rig);
        usleep(100);
    }
    rig_step(&rig); /* what was refused does not stand in the way of another */
    cr_assert_eq(rig.model->tune(rig.self, 0, 49), 0);
    while (fabs(rig.out[0] - 10.0 / 49) > 1e-6) {
        rig_step(&rig);
        usleep(100);
    }
    rig_end(&rig);
}

/* --- the same with any step ------------------------------------------------------------------- */

/* Compares all outputs after seven long steps with those of as many times as many short ones. */
static void expect_the_same(const char *netlist, double long_s, unsigned per_long)
{
    const char *path = written("steps.cir", netlist);
    struct rig far = circuit_open(path, long_s), near = circuit_open(path, long_s / per_long);

    for (unsigned i = 0; i < 7; i++) {
        rig_step(&far);
        for (unsigned k = 0; k < per_long; k++)
            rig_step(&near);
        for (unsigned k = 0; k < far.model->outputs.count; k++)
            cr_expect(fabs(far.out[k] - near.out[k]) <= 1e-7 * fmax(fabs(near.out[k]), 1e-3),
                      "%s at %g s is %.12g, not %.12g", far.model->outputs.at[k].name,
                      (i + 1) * long_s, far.out[k], near.out[k]);
    }
    rig_end(&far);
    rig_end(&near);
}

/* D5 leaves its place and comes back in 0.1 us, by two modes that do not ring. */
Test(circuit_netlist, finds_a_diode_that_comes_back_within_a_step)
{
    expect_the_same("dip\nV0 1 0 24\nR4 5 3 0.01\nC1 4 x1 1u ic=5\nRc1 x1 1 0.02\nC3 0 x3 4u ic=5\n"
                    "Rc3 x3 3 0.008\nD2 5 0 d0\nD3 1 3 d1\nD4 4 3 d1\nD5 4 5 d0\n.model d0 d\n"
                    ".model d1 d\n*hiloco diode d0: vf=0.7 ron=0.06 roff=30meg\n"
                    "*hiloco diode d1: vf=0.7 ron=0.01 roff=1meg\n",
                    7e-6, 14);
}

/* The capacitors ring with the inductors, damped so well that some periods pass in a step. */
Test(circuit_netlist, finds_a_diode_in_a_damped_oscillation)
{
    expect_the_same("ring\nV0 1 0 sin(0 300 20000)\nR3 4 2 200\nR5 6 2 200\nL0 3 4 4u ic=-2\n"
                    "L1 0 3 20u ic=1\nL3 6 1 8m\nC0 4 x0 6n\nRc0 x0 0 0.2\nC1 3 x1 0.7u\n"
                    "Rc1 x1 0 60\nD0 4 2 d0\nS0 2 0 g0 0 sw\n"
                    "Vg0 g0 0 pulse(0 1 3.29235u 1n 1n 5.05735u 10u)\n"
                    ".model sw sw(vt=0.5 ron=1m roff=146099)\n.model d0 d\n"
                    "*hiloco diode d0: vf=0 ron=0.01 roff=6meg\n",
                    7e-6, 7);
}

/* Each period ends at a crest of the source, when the voltage stands still. */
Test(circuit_netlist, finds_a_diode_between_crests_of_a_source)
{
    expect_the_same("crests\nV0 1 0 sin(0 10 100k 0 0 90)\nD0 1 2 d0\nR0 2 0 10\nR1 2 3 1k\n"
                    "C0 3 0 100n\n.model d0 d\n*hiloco diode d0: vf=0.7 ron=0.06 roff=30meg\n",
                    100e-6, 100);
}

/* Behind the choke the diodes' voltages creep towards their thresholds, less than rounding at a
 * time. */
Test(circuit_netlist, leaves_a_threshold_that_is_crossed_slowly)
{
    expect_the_same("bridge\nVa a 0 sin(0 325 50 0 3 0)\nVb b 0 sin(0 325 50 0 0 -120)\n"
                    "Vc c 0 sin(5 325 50 2m 0 120)\nLa a a1 0.5m\nLb b b1 0.5m\nLc c c1 0.5m\n"
                    "Ra a1 a2 0.05\nRb b1 b2 0.05\nRc c1 c2 0.05\nD1 a2 p d\nD2 b2 p d\nD3 c2 p d\n"
                    "D4 n a2 d\nD5 n b2 d\nD6 n c2 d\nCa a2 0 1u\nCb b2 0 1u\nCc c2 0 1u\n"
                    "Ldc p q 2m\nRdp p 0 100k\nRdn n 0 100k\nRdc q r 0.1\nC1 r n 200u ic=400\n"
                    "R1 r n 40\n.model d d\n*hiloco diode d: vf=0.0357 ron=1m roff=1meg\n",
                    500e-6, 10);
}

/* A capacitor of D2 is empty, so D2 rests on its threshold of 0 V. */
Test(circuit_netlist, has_a_diode_that_rests_on_its_threshold)
{
    expect_the_same("rest\nR2 3 2 11600\nI3 2 1 pwl(0 1.79 0.264u -0.105 0.565u 0.81 6.41u 0.507)\n"
                    "C5 3 4 25.1n\nC7 0 5 3.41n ic=-5\nC9 1 6 0.619u ic=-5\nR10 6 2 1.62\n"
                    "D1 1 4 d1\nD2 4 3 d2\nD3 2 5 d3\nS1 4 2 0 g sw\n"
                    "Vg g 0 pulse(-5 1 7.81u 2.32n 1.36n 5.04u 13.7u)\n"
                    ".model sw sw(vt=2.65 vh=0.533 ron=1.05m roff=630meg)\n"
                    ".model d1 d\n.model d2 d\n.model d3 d\n"
                    "*hiloco diode d1: vf=0.03 ron=8.16m roff=18.2meg\n"
                    "*hiloco diode d2: vf=0 ron=1.47m roff=9.16meg\n"
                    "*hiloco diode d3: vf=0.03 ron=72m roff=141k\n",
                    7e-6, 7);
}

/* D1 and D2 pass the same threshold, and the capacitor is empty beside D3. */
Test(circuit_netlist, has_diodes_that_change_at_the_same_instant)
{
    expect_the_same("pair\nV0 1 0 pulse(-9.77 11.8 2.67u 28.6n 27.4n 4.57u 24.2u)\n"
                    "I5 5 1 pulse(-1.3 1.18 5.98u 8.3n 2.16n 5.35u 14.1u)\nC7 1 6 1.52u\n"
                    "D1 5 0 d1\nD2 5 0 d2\nD3 6 5 d3\nS1 0 5 g1 0 s1\nS3 5 6 g3 0 s3\n"
                    "Vg1 g1 0 pulse(0 1 3.82u 1.31n 12.1n 5.96u 10u)\nVg2 g2 0 external\n"
                    "Vg3 g3 0 external\nS2 2 5 g2 0 s2\n.model d1 d\n.model d2 d\n.model d3 d\n"
                    "*hiloco pwm vg2 vg3: frequency=246k duty=0.677 dead=270n phase=0.773 "
                    "carrier=centred\n"
                    ".model s1 sw(vt=0.583 vh=9.65m ron=0.334 roff=20.8meg)\n"
                    ".model s2 sw(vt=0.5 ron=1.99m roff=12.3meg)\n"
                    ".model s3 sw(vt=0.5 ron=21.6m roff=410meg)\n"
                    "*hiloco diode d1: vf=0.7 ron=3.01m roff=8.48meg\n"
                    "*hiloco diode d2: vf=0.7 ron=26.3m roff=17.3meg\n"
                    "*hiloco diode d3: vf=0 ron=1.04m roff=914k\n",
                    3e-6, 3);
}

/* The current of D4 falls to 0 some 70 ns after D1 ends. Until then it conducts, though there is
 * less than a picovolt across it. */
Test(circuit_netlist, lets_a_diode_conduct_until_its_current_ends)
{
    struct rig rig = circuit_open(
        written("end.cir", "end\nV0 1 0 14.8\nR1 2 0 53.1m\nR2 3 1 175\nR3 4 0 69.7k\n"
                           "R4 5 0 0.286\nR5 6 0 50.6k\nI6 1 0 -0.31\nL7 2 0 0.36m\n"
                           "L8 1 3 18.1u ic=1\nK9 L7 L8 0.0117\nC10 5 7 270p\nR11 7 4 5.57m\n"
                           "D1 3 1 d1\nD2 3 4 d2\nD3 5 3 d3\nD4 6 5 d4\nS1 5 0 g 0 s\n"
                           "Vg g 0 pulse(0 1 3.98u 9.24n 1.26n 1.28u 3.3u)\n"
                           ".model s sw(vt=0.498 vh=44.2m ron=0.898 roff=160meg)\n"
                           ".model d1 d\n.model d2 d\n.model d3 d\n.model d4 d\n"
                           "*hiloco diode d1: vf=0.7 ron=3.2m roff=205k\n"
                           "*hiloco diode d2: vf=0 ron=3.52m roff=21.6meg\n"
                           "*hiloco diode d3: vf=0.03 ron=64.4m roff=873k\n"
                           "*hiloco diode d4: vf=0 ron=1.05m roff=1.39meg\n"),
        20e-9);

    while (rig.steps < 1331)
        rig_step(&rig);
    cr_expect_lt(output_of(&rig, "v_6"), -20e-6);
    cr_expect_float_eq(output_of(&rig, "v_6"), output_of(&rig, "v_5"), 1e-9, "%g, %g",
                       output_of(&rig, "v_6"), output_of(&rig, "v_5"));
    rig_end(&rig);
}

#define CHOPPER                                                                                    \
    "chopper\nV1 in 0 20\nS1 in a g 0 s\nD1 0 a d\nL1 a b 50u\nR1 b 0 3\n"                         \
    ".model s sw(vt=0.5 ron=10m roff=1meg)\n.model d d\n*hiloco diode d: vf=0.6 ron=10m\n"         \
    "*hiloco i(l1): output l1_a A current\n"

/* An input that is a gate turns its switch at the beginning of the period, as a source's edge at
 * that instant does. */
Test(circuit_netlist, has_a_gate_from_outside)
{
    struct rig inside = circuit_open(
        written("inside.cir", CHOPPER "Vg g 0 pulse(0 1 5.9995u 1n 1n 3.999u 10u)\n"), 2e-6);
    struct rig outside = circuit_open(
        written("outside.cir", CHOPPER "*hiloco vg: input gate - 0 0 1 gate\nVg g 0 external\n"),
        2e-6);

    for (unsigned i = 0; i < 40; i++) {
        outside.in[0] = i >= 3 && (i - 3) % 5 < 2;
        rig_step(&inside);
        rig_step(&outside);
        cr_assert_float_eq(outside.out[0], inside.out[0], 1e-11, "%g A, not %g A", outside.out[0],
                           inside.out[0]);
    }
    cr_expect_gt(inside.out[0], 1);
    rig_end(&inside);
    rig_end(&outside);
}

/* --- losses ----------------------------------------------------------------------------------- */

/* A pulse of 10 us in each 20 us charges a coil on 10 V with 0.5 A/us, and a diode of 20 V and
 * 0.1 Ohm empties it in 5 us less what the resistance takes. */
Test(circuit_netlist, has_the_mean_power_of_elements)
{
    struct rig rig = circuit_open(
        written("power.cir", "power\nV1 in 0 10\nS1 in a g 0 s\nL1 a b 20u\nR1 b 0 1m\nD1 0 a d\n"
                             "Vg g 0 pulse(0 1 0 1n 1n 9.999u 20u)\n.model s sw(vt=0.5 ron=2m)\n"
                             ".model d d\n*hiloco diode d: vf=20 ron=0.1m roff=100meg\n"
                             "*hiloco p(s1): output s_w W x\n*hiloco p(d1): output d_w W x\n"
                             "*hiloco p(l1): output l_w W x\n*hiloco p(v1): output v_w W x\n"
                             "*hiloco p(r1): output r_w W x\n*hiloco i(l1): output l_a A x\n"),
        20e-6);

    for (unsigned i = 0; i < 3; i++)
        rig_step(&rig);
    const double watts[] = {5. * 5 * 2e-3 / 3 / 2, 20. * 2.5 * 5 / 20, 0, -10 * 2.5 / 2,
                            5. * 5 * 1e-3 / 3 * 15 / 20};
    for (unsigned i = 0; i < 5; i++)
        cr_expect_float_eq(rig.out[i], watts[i], 0.003 * fabs(watts[i]) + 1e-4, "%s is %g, not %g",
                           rig.model->outputs.at[i].name, rig.out[i], watts[i]);
    const double sum = rig.out[0] + rig.out[1] + rig.out[2] + rig.out[3] + rig.out[4];
    cr_expect_float_eq(sum, 0, 1e-6, "%g W come from nowhere", sum);
    rig_end(&rig);
}

/* In each 50 us the switch takes 10 A over from the diode, at 21 V, and gives them back. */
Test(circuit_netlist, has_the_losses_of_switching)
{
    struct rig rig = circuit_open(
        written("switching.cir",
                "switching\nV1 in 0 20\nS1 in a g 0 s\nD1 0 a d\nI1 a 0 10\n"
                "Vg g 0 pulse(0 1 10u 1n 1n 19.999u 50u)\n.model s sw(vt=0.5 ron=1u)\n.model d d\n"
                "*hiloco diode d: vf=1 ron=1u roff=100meg\n"
                "*hiloco switching s1: volts=10 on=0 10u 20 30u off=0 0 5 10u 10 30u\n"
                "*hiloco p(s1): output s_w W x\n*hiloco p(d1): output d_w W x\n"),
        50e-6);

    for (unsigned i = 0; i < 3; i++)
        rig_step(&rig);
    cr_expect_float_eq(rig.out[0], (20e-6 + 30e-6) * 21 / 10 / 50e-6, 1e-3, "%g W", rig.out[0]);
    cr_expect_float_eq(rig.out[1], 10 * 1 * 30. / 50, 1e-3, "%g W", rig.out[1]);
    rig_end(&rig);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void expect_refused(const char *text, const char *why)
{
    const struct hil_loaded *loaded;
    char name[40];
    static int number;

    snprintf(name, sizeof name, "bad%d.cir", number++);
    said_text[0] = '\0';
    cr_expect_eq(hil_model_load(&loaded, written(name, text), ".", NULL, &said), -EINVAL, "%s",
                 text);
    cr_expect(strstr(said_text, why), "found:  %s\nwanted: %s", said_text, why);
}

#define SOURCE "t\nV1 a 0 1\n"

Test(circuit_netlist, that_has_a_mistake_is_refused_with_its_place)
{
    expect_refused(SOURCE "R1 a 0 1x2\n", "cir:3:8: found 1x2; allowed: a number");
    expect_refused(SOURCE "R1 a 0 {2*q}\n", "cir:3:11: there is no parameter q");
    expect_refused(SOURCE "R1 a 0 {2*(1+3}\n", "found no )");
    expect_refused(SOURCE "R1 a 0 -5\n", "r1 with the value -5; allowed: above 0");
    expect_refused(SOURCE "R1 a 0\n", "cir:3:1: found r1 with 3 words");
    expect_refused(SOURCE "M1 a b c d nmos\n", "cir:3:1: found m1; allowed: R L C");
    expect_refused(SOURCE "B1 a 0 v=1\n", "found b1");
    expect_refused(SOURCE "R1 a 0 1\nr1 a 0 2\n", "cir:4:1: found r1 again");
    expect_refused(SOURCE "D1 a 0 d\n", "cir:3:8: there is no .model d");
    expect_refused(SOURCE "D1 a 0 d\n.model d d(is=1e-12)\n", "rs in .model");
    expect_refused(SOURCE "X1 a b part\n", "there is no .subckt part");
    expect_refused(SOURCE ".include nowhere.inc\n", "cir:3:10: there is no file nowhere.inc");
    expect_refused(SOURCE ".lib a b\n", "Instead of .lib write .include");
    expect_refused(SOURCE ".func f(x) {x}\n", "Instead of .func write the expression");
    expect_refused(SOURCE "W1 a 0 V1 w\n", "Instead of w write a switch S");
    expect_refused(SOURCE "R1 a 0 1\n*hiloco v(b): output b_v V b\n", "has no node b");
    expect_refused("t\nV1 a 0 external\nR1 a 0 1\n", "v1 is external, and is no input");
    expect_refused("t\nV1 a 0 pwl(0 0 1u 1 1u 2)\nR1 a 0 1\n", "not later than the time before");
    expect_refused("t\nV1 a 0 pwl(0 0 1u 1) r=1u\nR1 a 0 1\n", "found r=1e-06; allowed: r=0");
    expect_refused(SOURCE "R1 a 0 1\n*hiloco switching s1: volts=1 on=0 0 1 1 off=0 0 1 1\n",
                   "has no switch s1");
    expect_refused(SOURCE "R1 a 0 1\n*hiloco switching s1: volts=1 on=0 0\n", "found 1 points");
    expect_refused(SOURCE "R1 a 0 1\n*hiloco switching s1: volts=1 on=1 0 1 2\n",
                   "found 1 A after 1 A");
    expect_refused(".title\nL1 a 0 1\nL2 b 0 1\nK1 L1 L2 1\n", "coupling of 1");
}

Test(circuit_netlist, that_cannot_be_solved_is_refused_by_names)
{
    expect_refused(SOURCE "V2 a 0 2\n", "v1, v2 form a loop");
    expect_refused(SOURCE "C1 a 0 1u\n", "v1, c1 form a loop");
    expect_refused(SOURCE "R1 a 0 1\nV2 b b 1\nR2 b 0 1\n", "v2 form a loop");
    expect_refused(SOURCE "R1 a 0 1\nL1 a b 1\nL2 b 0 1\n", "l1, l2 alone cut");
    expect_refused(SOURCE "R1 a 0 1\nR2 b c 1\n", "nothing holds the voltage of b, c");
    expect_refused(SOURCE "S1 a 0 g 0 s\nVg g 0 1\n.model s sw(vt=0)\n", "s1 shorts v1");
    expect_refused(SOURCE "R2 a g 1\nR3 g 0 1\nS1 a c g 0 s\nR1 c 0 1\n.model s sw(vt=0)\n",
                   "s1 is controlled by the network");
}

/* An ideal transformer is no loop, and a diode across an inductor no cut. */
Test(circuit_netlist, with_an_ideal_transformer_is_solved)
{
    struct rig rig =
        circuit_open(written("ideal.cir", "ideal\nV1 a 0 10\nR1 a b 1\nVs c0 c 0\nE1 c0 0 b 0 0.5\n"
                                          "F1 b 0 Vs 0.5\nR2 c 0 1\n.end\n"),
                     1e-6);

    rig_step(&rig);
    cr_expect_float_eq(output_of(&rig, "v_b"), 8, 1e-12); /* 1 Ohm is 4 Ohm on the other side */
    cr_expect_float_eq(output_of(&rig, "v_c"), 4, 1e-12);
    rig_end(&rig);
}

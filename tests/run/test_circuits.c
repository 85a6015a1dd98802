/* Circuits at the command line: the solver beside ngspice, and netlists that declare nothing. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(circuits, .init = workspace_open, .fini = workspace_close, .timeout = 300);

/* --- the solver beside ngspice ---------------------------------------------------------------- */

/* The largest difference of a signal in the table, as a share of its peak. */
static double share_of(const struct ended *e, const char *signal)
{
    const char *line = strstr(e->out, signal);
    double share = INFINITY;

    cr_assert(line && sscanf(line, "%*s %*f %*f %lf", &share) == 1, "%s", e->out);
    return share;
}

Test(circuits, are_compared_with_ngspice)
{
    struct ended e = run_command("hiloco check --against ngspice docs/examples/circuit/buck.cir");

    expect_status(&e, 0);
    cr_expect_lt(share_of(&e, "v_out"), 0.02, "%s", e.out); /* the diodes differ */
    cr_expect_gt(share_of(&e, "v_out"), 0, "%s", e.out);
}

Test(circuits, that_declare_nothing_are_compared_with_ngspice)
{
    write_text(in_workspace("part.inc"), ".subckt part a b\nR1 a m 50\nL1 m b 1m\n.ends\n");
    write_text(in_workspace("plain.cir"),
               "plain\n.include part.inc\nV1 in 0 sin(1 2 1k)\nX1 in out part\nC1 out 0 1u ic=0.5\n"
               "R1 out 0 100\n.tran 10u 1m 0 0.1u\n.end\n");
    struct ended e = run_command("hiloco check --against ngspice %s", in_workspace("plain.cir"));

    expect_status(&e, 0);
    cr_expect_lt(share_of(&e, "v_out"), 1e-5, "%s", e.out);
    cr_expect_lt(share_of(&e, "v_x1_m"), 1e-5, "%s", e.out);
    cr_expect_lt(share_of(&e, "i_x1_l1"), 1e-5, "%s", e.out);
    cr_expect_lt(share_of(&e, "i_v1"), 1e-5, "%s", e.out);
}

/* Those of the library but the rectifier, which ngspice does not get through. ngspice's diodes
 * differ, so the inductors' currents differ by some percent. */
Test(circuits, of_the_library_are_compared_with_ngspice)
{
    static const char *const names[] = {"battery_precharge",
                                        "boost",
                                        "buck_boost",
                                        "buck_diode",
                                        "buck_synchronous",
                                        "dual_active_bridge",
                                        "flyback",
                                        "full_bridge",
                                        "inverter",
                                        "inverter_three_level",
                                        "llc",
                                        "pfc_boost",
                                        "pv_string",
                                        "sepic"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ended e =
            run_command("hiloco check --against ngspice plants/circuits/%s.cir", names[i]);
        unsigned rows = 0;
        double median;
        expect_status(&e, 0);
        for (const char *line = strchr(e.out, '\n'); line[1];
             line = strchr(line + 1, '\n'), rows++) {
            cr_assert_eq(sscanf(line, " %*s %*f %*f %*f %*f %lf", &median), 1, "%s", e.out);
            cr_expect_lt(median, 0.03, "%s: %s", names[i], e.out);
        }
        cr_expect_gt(rows, 1, "%s: %s", names[i], e.out);
    }
}

static void expect_refused(const char *options, const char *text, const char *why)
{
    write_text(in_workspace("bad.cir"), text);
    struct ended e = run_command("hiloco check %s %s", options, in_workspace("bad.cir"));

    expect_status(&e, 2);
    expect_said(&e, why);
}

Test(circuits, that_cannot_be_compared_are_refused)
{
    expect_refused("--against ngspice", "t\nV1 a 0 1\nR1 a 0 1\n.end\n",
                   "found .tran with 0 steps; allowed: .tran STEP STOP");
    expect_refused("--against ngspice", "t\nV1 a 0 1\nM1 a b c 0 m\n.end\n", "found m1; allowed");
    expect_refused("--against spectre", "t\nV1 a 0 1\nR1 a 0 1\n.tran 1u 1m\n.end\n",
                   "found --against spectre; allowed: ngspice");
}

Test(circuits, with_a_pwm_unit_are_for_the_solver_alone)
{
    expect_refused("--against ngspice",
                   "t\n*hiloco pwm v1: frequency=1k duty=0.5\nV1 g 0 external\nV2 a 0 1\nR1 a b 1\n"
                   "R2 b 0 1\nS1 b 0 g 0 s\n.model s sw(vt=0.5)\n.tran 1u 1m\n",
                   "is for the solver of circuits alone");
}

/* --- what a step could not resolve ------------------------------------------------------------ */

/* A source of a negative resistance: the diode contradicts both of its states. */
Test(circuits, that_cannot_be_resolved_make_a_run_not_valid)
{
    write_text(in_workspace("none.cir"),
               "none\nI1 0 a pulse(1 -1 450u 1n 1n 1 2)\nG1 a 0 a 0 -1\nD1 a 0 d\n.model d d\n"
               "*hiloco diode d: vf=0.5 ron=0.1 roff=1meg\n");
    write_text(in_workspace("s.yaml"),
               "name: none\nduration_s: 0.001\nmode: virtual\nnodes: {stage: {period_us: 100}}\n"
               "components: {none: {model: ./none.cir, node: stage}}\n"
               "record:\n  - {node: stage, signals: [none.v_a]}\n");
    struct ended e =
        run_command("hiloco run %s --out %s", in_workspace("s.yaml"), in_workspace("out"));

    expect_status(&e, 3);
    cr_expect(strstr(e.out, "NOT VALID: 5 steps could not be resolved, the first of them of none; "
                            "allowed: none"),
              "%s", e.out);
    json_t *summary = summary_of(in_workspace("out"));
    cr_expect_eq(number_at(summary, "validity.checks.unresolved.value"), 5);
    json_decref(summary);
    expect_said(&e, "none: at 0.000400000 s its diodes changed too often");
}

/* --- what a step takes ------------------------------------------------------------------------ */

Test(circuits, tell_what_they_need)
{
    struct ended e = run_command("hiloco models docs/examples/circuit/buck.cir");
    double mean_us = 0, most_us = 0;

    expect_status(&e, 0);
    cr_expect(strstr(e.out, "(states: 2, switches: 1, diodes: 1)"), "%s", e.out);
    const char *line = strstr(e.out, "  2000 steps of 1 us alone");
    cr_assert(line && sscanf(line, "%*[^;]; a step takes %lf us, %lf us", &mean_us, &most_us) == 2,
              "%s", e.out);
    cr_expect(strstr(line, ": 4 configurations met"), "%s", line);
    cr_expect(mean_us > 0 && mean_us <= most_us, "%s", line);
}

/* --- faults ----------------------------------------------------------------------------------- */

static double end_of(const char *faults)
{
    write_text(in_workspace("f.cir"),
               "f\n*hiloco pwm vg: frequency=100k duty=0.5\n"
               "*hiloco load: parameter load_ohm Ohm 10 1e-4 1e6 load\n"
               "*hiloco l: parameter l_h H 100e-6 1e-9 1 inductor\n"
               "*hiloco ron: parameter ron_ohm Ohm 1e-3 1e-6 1e9 closed\n"
               "*hiloco roff: parameter roff_ohm Ohm 1e6 1e-6 1e9 open\n"
               "*hiloco v(out): output out_v V load\n*hiloco i(l1): output l_a A inductor\n"
               ".param load=10 l=100u ron=1m roff=1meg\nV1 in 0 20\nS1 in a g 0 s\nD1 0 a d\n"
               "L1 a out {l}\nC1 out c 100u\nRc c 0 10m\nR1 out 0 {load}\nVg g 0 external\n"
               ".model s sw(vt=0.5 ron={ron} roff={roff})\n.model d d\n"
               "*hiloco diode d: vf=0.5 ron=1m roff=1meg\n");
    static unsigned number;
    char text[2000], name[20];
    snprintf(name, sizeof name, "out%u", number++);
    snprintf(text, sizeof text,
             "name: f\nduration_s: 0.02\nmode: virtual\nnodes: {stage: {period_us: 10}}\n"
             "components: {f: {model: ./f.cir, node: stage}}\n"
             "record:\n  - {node: stage, signals: [f.out_v, f.l_a]}\n%s",
             faults);
    write_text(in_workspace("s.yaml"), text);
    struct ended e =
        run_command("hiloco run %s --out %s", in_workspace("s.yaml"), in_workspace(name));
    expect_status(&e, 0);
    const struct column v = column_of(in_workspace(name), "stage/out_v");
    return v.at[v.rows - 1];
}

#define FAULT(parameter, value)                                                                    \
    "faults: {x: {kind: tune, component: f, parameter: " parameter ", " value ", at_s: 0.01}}\n"

Test(circuits, have_faults_of_their_parameters)
{
    cr_expect_float_eq(end_of(""), 9.75, 0.05);
    cr_expect_float_eq(end_of(FAULT("l_h", "factor: 0.5")), 9.75, 0.05);
    cr_expect_lt(end_of(FAULT("load_ohm", "value: 1e-3")), 1);    /* a short circuit */
    cr_expect_lt(end_of(FAULT("ron_ohm", "value: 1e5")), 0.1);    /* the switch stays open */
    cr_expect_gt(end_of(FAULT("roff_ohm", "value: 2e-3")), 19.9); /* and closed */
}

/* --- netlists for ngspice that declare nothing ------------------------------------------------ */

Test(circuits, for_ngspice_may_declare_nothing)
{
    write_text(in_workspace("mos.cir"), "mos\nVd d 0 5\nRd d x 1k\nM1 x g 0 0 nm\nVg g 0 2\n"
                                        "*hiloco diode nm: vf=0.7\n.model nm nmos(vto=1 kp=1m)\n"
                                        ".end\n");
    write_text(in_workspace("s.yaml"),
               "name: mos\nduration_s: 0.001\nmode: virtual\nnodes: {stage: {period_us: 100}}\n"
               "components: {mos: {model: \"ngspice:./mos.cir\", node: stage}}\n"
               "record:\n  - {node: stage, signals: [mos.v_x, mos.i_vd]}\n");
    struct ended e =
        run_command("hiloco run %s --out %s", in_workspace("s.yaml"), in_workspace("out"));

    expect_status(&e, 0);
    struct column v = column_of(in_workspace("out"), "stage/v_x");
    cr_expect_float_eq(v.at[v.rows - 1], 4.5, 1e-3); /* kp / 2 (2 V - 1 V)^2 in 1 kOhm */
    v = column_of(in_workspace("out"), "stage/i_vd");
    cr_expect_float_eq(v.at[v.rows - 1], -0.5e-3, 1e-6);
}

/* PWM units of circuits: the instants of their edges, and units in a circuit. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "folder.h"
#include "model_rig.h"
#include "plants/circuit/pwm.h"

static char said_text[1024];
static const struct hil_said said = {said_text, sizeof said_text, NULL};

/* --- edges ------------------------------------------------------------------------------------ */

/* All quantities are inputs. */
static struct cir_pwm_line line_of(bool centred, bool twice)
{
    struct cir_pwm_line line = {.centred = centred, .twice = twice};

    for (int q = 0; q < CIR_PWM_QUANTITIES; q++) {
        line.input[q] = q <= CIR_ENABLE ? q : -1;
        line.value[q] = NAN;
    }
    return line;
}

/* Rings the unit until t_s, and writes what changes: "2.5:01" is the second gate on at 2.5 us. */
static const char *edges(struct cir_pwm *p, const double *inputs, double until_s)
{
    static char text[400];
    unsigned used = 0, now = 4;

    text[0] = '\0';
    for (double t_s = 0; t_s < until_s; t_s = cir_pwm_next_s(p)) {
        while (cir_pwm_next_s(p) <= t_s + 1e-14)
            cir_pwm_ring(p, inputs, t_s);
        const unsigned is = 2u * cir_pwm_is_on(p, 0) + cir_pwm_is_on(p, 1);
        if (is != now)
            used += (unsigned)snprintf(text + used, sizeof text - used, "%s%.4g:%u%u",
                                       used ? " " : "", round(t_s * 1e9) / 1e3, is >> 1, is & 1);
        now = is;
    }
    return text;
}

static void expect_edges(bool centred, double duty, double phase, double dead_s, const char *wanted)
{
    const struct cir_pwm_line line = line_of(centred, false);
    const double inputs[] = {duty, 100e3, phase, dead_s, 1};
    struct cir_pwm p;

    cir_pwm_begin(&p, &line, inputs);
    const char *found = edges(&p, inputs, 25e-6);
    cr_expect_str_eq(found, wanted, "duty %g, phase %g: %s, not %s", duty, phase, found, wanted);
}

Test(circuit_pwm, of_a_sawtooth_has_its_edges_where_the_duty_is)
{
    expect_edges(false, 0.25, 0, 0, "0:10 2.5:01 10:10 12.5:01 20:10 22.5:01");
    expect_edges(false, 0.25, 0.4, 0, "0:01 4:10 6.5:01 14:10 16.5:01 24:10");
    expect_edges(false, 0.25, 0.9, 0, "0:10 1.5:01 9:10 11.5:01 19:10 21.5:01");
    expect_edges(false, 0, 0, 0.1e-6, "0:01");
    expect_edges(false, 1, 0.3, 0.1e-6, "0:10");
    expect_edges(false, 0.25, 0, 0.1e-6,
                 "0:10 2.5:00 2.6:01 10:00 10.1:10 12.5:00 12.6:01 20:00 20.1:10 22.5:00 22.6:01");
}

Test(circuit_pwm, of_a_centred_carrier_is_on_around_its_middle)
{
    expect_edges(true, 0.4, 0, 0, "0:01 3:10 7:01 13:10 17:01 23:10");
    expect_edges(true, 0.4, 0.5, 0, "0:10 2:01 8:10 12:01 18:10 22:01");
    expect_edges(true, 0, 0, 0, "0:01");
    expect_edges(true, 1, 0, 0, "0:10");
    /* shorter than the dead time: the first gate never turns on */
    expect_edges(true, 0.01, 0, 0.2e-6, "0:01 4.95:00 5.25:01 14.95:00 15.25:01 24.95:00");
}

Test(circuit_pwm, takes_the_duty_once_or_twice_in_a_period)
{
    const struct cir_pwm_line single = line_of(true, false), twice = line_of(true, true);
    double inputs[] = {0.4, 100e3, 0, 0, 1};
    struct cir_pwm p;

    cir_pwm_begin(&p, &single, inputs);
    edges(&p, inputs, 4e-6);
    inputs[CIR_DUTY] = 0.8;
    cr_expect_float_eq(cir_pwm_next_s(&p), 5e-6, 1e-15);
    cir_pwm_ring(&p, inputs, 5e-6);
    cr_expect_float_eq(cir_pwm_next_s(&p), 7e-6, 1e-15);

    inputs[CIR_DUTY] = 0.4;
    cir_pwm_begin(&p, &twice, inputs);
    edges(&p, inputs, 4e-6);
    inputs[CIR_DUTY] = 0.8;
    cir_pwm_ring(&p, inputs, 5e-6);
    cr_expect_float_eq(cir_pwm_next_s(&p), 9e-6, 1e-15);
}

Test(circuit_pwm, takes_frequency_and_phase_at_the_beginning_of_a_period)
{
    const struct cir_pwm_line line = line_of(false, false);
    double inputs[] = {0.5, 100e3, 0, 0, 1};
    struct cir_pwm p;

    cir_pwm_begin(&p, &line, inputs);
    edges(&p, inputs, 6e-6);
    inputs[CIR_FREQUENCY] = 200e3;
    cr_expect_float_eq(cir_pwm_next_s(&p), 10e-6, 1e-15);
    cir_pwm_ring(&p, inputs, 10e-6);
    cr_expect_float_eq(cir_pwm_next_s(&p), 12.5e-6, 1e-15);
    cir_pwm_ring(&p, inputs, 12.5e-6);
    inputs[CIR_PHASE] = 0.2; /* the next period is a fifth longer */
    cir_pwm_ring(&p, inputs, 15e-6);
    cir_pwm_ring(&p, inputs, 18e-6);
    cr_expect_float_eq(cir_pwm_next_s(&p), 21e-6, 1e-15);
}

Test(circuit_pwm, turns_all_gates_off_at_once)
{
    const struct cir_pwm_line line = line_of(false, false);
    double inputs[] = {0.5, 100e3, 0, 0.3e-6, 0};
    struct cir_pwm p;

    cir_pwm_begin(&p, &line, inputs);
    cr_expect_str_eq(edges(&p, inputs, 12e-6), "0:00");
    inputs[CIR_ENABLE] = 1;
    cir_pwm_latch(&p, inputs, 12e-6);
    cr_expect(!cir_pwm_is_on(&p, 0)); /* as after an edge */
    cr_expect_float_eq(cir_pwm_next_s(&p), 12.3e-6, 1e-15);
    cir_pwm_ring(&p, inputs, 12.3e-6);
    cr_expect(cir_pwm_is_on(&p, 0) && !cir_pwm_is_on(&p, 1));
    inputs[CIR_ENABLE] = 0;
    cir_pwm_latch(&p, inputs, 13e-6);
    cr_expect(!cir_pwm_is_on(&p, 0) && !cir_pwm_is_on(&p, 1));
}

/* --- in a circuit ----------------------------------------------------------------------------- */

TestSuite(circuit_unit, .init = folder_open, .fini = folder_close);

/* A coil on 10 V of which the current rises by 1 A/us, and falls by as much on the diode. */
#define COIL                                                                                       \
    "coil\n*hiloco i(l1): output l1_a A current\n*hiloco s(s1): output on - switch\n"              \
    "*hiloco gate vg enable: input enable - 1 0 1 enables\n"                                       \
    "Vin in 0 10\nS1 in a g 0 s\nD1 0 a d\nL1 a b 10u\nVb b 0 0\n"                                 \
    "Vg g 0 external\n.model s sw(vt=0.5 ron=1u roff=1meg)\n.model d d\n"                          \
    "*hiloco diode d: vf=10 ron=1u roff=1meg\n"

static struct rig unit_open(const char *text, double period_s)
{
    const struct hil_loaded *loaded;

    put("unit.cir", text);
    cr_assert_eq(hil_model_load(&loaded, in_folder("unit.cir"), ".", NULL, &said), 0, "%s",
                 said_text);
    return rig_open(loaded->name, NULL, NULL, period_s);
}

/* The level falls by 0.1 A/us: i = t meets 3 - 0.1 t at 2.727 us. */
Test(circuit_unit, ends_where_the_current_reaches_the_peak)
{
    struct rig rig = unit_open(COIL "*hiloco pwm vg: frequency=100k duty=0.9 sense=l1 peak=3 "
                                    "slope=100k blanking=0.5u\n",
                               1e-6);
    const double at_us = 3 / 1.1;

    for (unsigned n = 0; n < 13; n++) {
        rig_step(&rig);
        const double t = (double)((n % 10) + 1);
        const double wanted = t <= at_us ? t : fmax(2 * at_us - t, 0);
        cr_expect_float_eq(rig.out[0], wanted, 1e-4, "%g A, not %g A", rig.out[0], wanted);
        cr_expect_eq(rig.out[1], t <= at_us, "at %g us", t);
    }
    rig_end(&rig);
}

/* What is above the level from the beginning on is seen when the blanking ends. */
Test(circuit_unit, does_not_compare_while_it_is_blanked)
{
    struct rig rig = unit_open(COIL "*hiloco pwm vg: frequency=100k duty=0.9 sense=l1 peak=0.1 "
                                    "blanking=1.5u\n",
                               10e-6);

    rig_step(&rig);
    rig.period_s = 10e-6;
    cr_expect_float_eq(rig.out[0], 0, 1e-3);
    rig_end(&rig);
    rig = unit_open(
        COIL "*hiloco pwm vg: frequency=100k duty=0.9 sense=l1 peak=0.1 blanking=1.5u\n", 2e-6);
    rig_step(&rig);
    cr_expect_float_eq(rig.out[0], 1, 1e-4, "%g A", rig.out[0]); /* up to 1.5 A, then down */
    rig_end(&rig);
}

/* The period of the loop is 6 us: the trip acts at 4 us, within it. */
Test(circuit_unit, trips_within_a_step)
{
    struct rig rig =
        unit_open(COIL "*hiloco pwm vg: frequency=10k duty=0.9 sense=l1 trip=4\n", 6e-6);

    rig_step(&rig);
    cr_expect_float_eq(rig.out[0], 2, 1e-4, "%g A", rig.out[0]); /* up to 4 A, then down */
    rig_step(&rig);
    cr_expect_float_eq(rig.out[0], 0, 1e-3, "%g A", rig.out[0]); /* and stays off */
    rig.in[0] = 0;
    rig_step(&rig);
    rig.in[0] = 1;
    rig_step(&rig);
    cr_expect_float_eq(rig.out[0], 2, 1e-3, "%g A", rig.out[0]); /* enabled again */
    rig_end(&rig);
}

/* On at 1.25 us and off at 3.5 us of the loop's period of 4 us; a time below 0 is no edge. */
Test(circuit_unit, has_edges_at_the_times_that_the_loop_gives)
{
    struct rig rig = unit_open(COIL "*hiloco pwm vg: carrier=stamps\n"
                                    "*hiloco gate vg on: input on_s s -1 -1 1 on\n"
                                    "*hiloco gate vg off: input off_s s -1 -1 1 off\n",
                               4e-6);

    rig.in[1] = 1.25e-6;
    rig.in[2] = 3.5e-6;
    rig_step(&rig);
    cr_expect_float_eq(rig.out[0], 2.25 - 0.5, 1e-4, "%g A", rig.out[0]);
    rig.in[1] = 3e-6;
    rig.in[2] = -1;
    rig_step(&rig);
    cr_expect_float_eq(rig.out[0], 1, 1e-3, "%g A", rig.out[0]);
    rig.in[1] = -1;
    rig.in[2] = 2e-6;
    rig_step(&rig);
    cr_expect_float_eq(rig.out[0], 3 - 2, 1e-3, "%g A", rig.out[0]);
    rig_end(&rig);
}

#define BRIDGE                                                                                     \
    "half bridge\n*hiloco gate v1: input duty - 0.3 0 1 duty\n"                                    \
    "*hiloco gate v1 enable: input enable - 1 0 1 enables the bridge\n"                            \
    "*hiloco v(sw): output v_sw V node\n*hiloco i(l1): output i_l1 A current\n"                    \
    "*hiloco v(g1): output gate V gate\n*hiloco s(S1): output on - switch\n"                       \
    "Vin in 0 48\nS1 in sw g1 0 sw\nD1 sw in d\nS2 sw 0 g2 0 sw\nD2 0 sw d\nL1 sw out 47u\n"       \
    "C1 out 0 100u ic=14\nR1 out 0 2\nV1 g1 0 external\nV2 g2 0 external\n"                        \
    ".model sw sw(vt=0.5 ron=1m roff=1meg)\n.model d d\n"                                          \
    "*hiloco diode d: vf=0.0357 ron=1m roff=1meg\n"

static struct rig bridge_open(double period_s)
{
    struct rig rig =
        unit_open(BRIDGE "*hiloco pwm v1 v2: frequency=97k dead=200n carrier=centred\n", period_s);

    rig.in[0] = 0.3;
    rig.in[1] = 1;
    return rig;
}

/* The frequency of the carrier does not divide the period of the loop. */
Test(circuit_unit, is_exact_with_any_step)
{
    struct rig far = bridge_open(7e-6), near = bridge_open(0.7e-6);

    for (int i = 0; i < 100; i++) {
        rig_step(&far);
        for (int k = 0; k < 10; k++)
            rig_step(&near);
        for (unsigned k = 0; k < 3; k++)
            cr_expect(fabs(far.out[k] - near.out[k]) <= 1e-8, "row %u: %.12g, not %.12g", k,
                      far.out[k], near.out[k]);
    }
    rig_end(&far);
    rig_end(&near);
}

Test(circuit_unit, has_all_switches_off_when_it_is_disabled)
{
    struct rig rig = bridge_open(10e-6);

    for (int i = 0; i < 100; i++) {
        rig_step(&rig);
        cr_expect_eq(rig.out[2], rig.out[3]);
    }
    rig.in[0] = 1;
    for (int i = 0; i < 3; i++)
        rig_step(&rig);
    cr_expect_eq(rig.out[3], 1);
    rig.in[1] = 0;
    for (int i = 0; i < 10; i++)
        rig_step(&rig);
    cr_expect_lt(fabs(rig.out[1]), 1e-3, "%g", rig.out[1]); /* only the leakage of roff is left */
    cr_expect_eq(rig.out[2], 0);
    cr_expect_eq(rig.out[3], 0);
    rig_end(&rig);
}

Test(circuit_unit, continues_from_a_saved_state)
{
    struct rig first = bridge_open(3e-6), second = bridge_open(3e-6);
    char bytes[4096];

    for (int i = 0; i < 50; i++)
        rig_step(&first);
    const int64_t size = first.model->save(first.self, bytes, sizeof bytes);
    cr_assert(size > 0 && size <= (int64_t)sizeof bytes);
    second.steps = first.steps;
    cr_assert_eq(second.model->restore(second.self, bytes, (size_t)size), 0);
    for (int i = 0; i < 50; i++) {
        rig_step(&first);
        rig_step(&second);
        cr_assert_arr_eq(first.out, second.out, 3 * sizeof(double));
    }
    rig_end(&first);
    rig_end(&second);
}

static void expect_refused(const char *text, const char *why)
{
    const struct hil_loaded *loaded;

    said_text[0] = '\0';
    cr_expect_eq(
        hil_model_load(&loaded, (put("unit.cir", text), in_folder("unit.cir")), ".", NULL, &said),
        -EINVAL, "%s", text);
    cr_expect(strstr(said_text, why), "found:  %s\nwanted: %s", said_text, why);
}

Test(circuit_unit, that_has_a_mistake_is_refused)
{
    expect_refused(BRIDGE, "there is no PWM unit for v1");
    expect_refused("t\n*hiloco s(r1): output on - x\nV1 a 0 1\nR1 a 0 1\n",
                   "no element r1 with a state; allowed: one of its switches and diodes");
    expect_refused(BRIDGE "*hiloco pwm v1 v2: frequency=1k sense=q peak=1\n",
                   "v1 compares the current of q; allowed: sense=ELEMENT");
    expect_refused(BRIDGE "*hiloco pwm v1 v2: frequency=1k sense=l1 peak=1 carrier=centred\n",
                   "found peak= without a sawtooth");
    expect_refused(BRIDGE "*hiloco pwm v1 v2: dead=1u\n", "has a frequency of nan Hz");
    expect_refused(BRIDGE "*hiloco pwm v1: frequency=1k\n", "v2 is external, and is no input");
    expect_refused(BRIDGE "*hiloco pwm v1 v3: frequency=1k\n", "no voltage source v3");
    expect_refused(BRIDGE "*hiloco pwm v1 v2: frequency=1k carrier=square\n",
                   "found carrier=square; allowed: duty=");
    expect_refused(BRIDGE "*hiloco pwm v1 v2: frequency=1k update=double\n",
                   "update=double with a sawtooth");
    expect_refused(BRIDGE "*hiloco pwm v1 v2 v3: frequency=1k\n", "pwm SOURCE [COMPLEMENT]");
    expect_refused(BRIDGE "*hiloco pwm v1 v2: frequency=1k\nR9 g1 0 1\n",
                   "v1 is the gate of a PWM unit, and drives more than switches");
    expect_refused(BRIDGE
                   "*hiloco pwm v1 v2: frequency=1k\n*hiloco gate v1 jump: input x - 1 0 1\n",
                   "found jump; allowed: duty, frequency");
    expect_refused("t\n*hiloco pwm v1: frequency=1k\nV1 g 0 external\nV2 a 0 1\nR1 a b 1\n"
                   "S1 b 0 g 0 s\n.model s sw(vt=0.5)\n",
                   "the PWM unit of v1 has no duty");
}

/* hiloco bode: what it measures in loops whose response is known, and what it says of margins. */
#include <complex.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(bode, .init = workspace_open, .fini = workspace_close, .timeout = 240);

static const double pi = 3.14159265358979323846, period_s = 1e-4;
static const double plant_gain = 2, time_constant_s = 0.005, law_gain = 8;

/* Two loops of a lag and a proportional law, which is one step late. */
static const char *loops(void)
{
    const char *path = in_workspace("loops.yaml");

    write_text(path, "name: loops\nduration_s: 0.1\nmode: realtime\n"
                     "nodes: {plant: {period_us: 100, count: 2}, hub: {period_us: 100}}\n"
                     "components:\n"
                     "  lag:\n    model: first_order_lag\n    node: 'plant[*]'\n"
                     "    parameters: {gain: 2, time_constant_s: 0.005}\n"
                     "  law:\n    model: generic_pi\n    node: hub\n    count: 2\n"
                     "    computation_delay: true\n"
                     "    parameters: {kp: 8, ki_per_s: 0, output_min: -100, output_max: 100}\n"
                     "connections:\n"
                     "  - {from: lag.output, to: law.measurement}\n"
                     "  - {from: law.output, to: lag.input}\n"
                     "sources: {wanted: {to: law.reference, constant: 3}}\n"
                     "limits: {never: {signal: 'lag[0].output', max: -1}}\n");
    return path;
}

static double complex z_of(double hz)
{
    return cexp(I * 2 * pi * hz * period_s);
}

/* The lag, held between two steps. */
static double complex plant_at(double hz)
{
    const double a = exp(-period_s / time_constant_s);

    return plant_gain * (1 - a) / (z_of(hz) - a);
}

/* One step for the law, and one for the way. */
static double complex loop_at(double hz)
{
    return law_gain * plant_at(hz) / (z_of(hz) * z_of(hz));
}

/* From the reference to the output. */
static double complex closed_at(double hz)
{
    return loop_at(hz) / (1 + loop_at(hz));
}

static double decibels(double complex value)
{
    return 20 * log10(cabs(value));
}

static double degrees(double complex value)
{
    const double deg = carg(value) * 180 / pi;

    return deg > 0 ? deg - 360 : deg;
}

static double loop_gain_db(double hz)
{
    return decibels(loop_at(hz));
}

static double loop_phase_deg(double hz)
{
    return degrees(loop_at(hz));
}

/* Where a falling course passes a level. */
static double passed(double (*of)(double hz), double level)
{
    double low = 20, high = 4000;

    for (int i = 0; i < 100; i++) {
        const double middle = sqrt(low * high);
        if (of(middle) > level)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static json_t *measured(const char *folder)
{
    char *text = read_text(in_workspace("%s/bode.json", folder));
    json_t *root = json_loads(text, 0, NULL);

    free(text);
    cr_assert(root);
    return root;
}

static void expect_response(json_t *root, unsigned points, double complex (*of)(double hz))
{
    json_t *readings = json_at(root, "readings");

    cr_assert_eq(json_array_size(readings), points);
    for (size_t i = 0; i < json_array_size(readings); i++) {
        json_t *r = json_array_get(readings, i);
        const double hz = number_at(r, "frequency_hz");
        cr_expect_float_eq(number_at(r, "gain_db"), decibels(of(hz)), 0.1, "%g Hz: %g, not %g dB",
                           hz, number_at(r, "gain_db"), decibels(of(hz)));
        cr_expect(fabs(remainder(number_at(r, "phase_deg") - degrees(of(hz)), 360)) < 1,
                  "%g Hz: %g, not %g deg", hz, number_at(r, "phase_deg"), degrees(of(hz)));
        cr_expect_gt(number_at(r, "coherence"), 0.99, "%g Hz", hz);
    }
}

static struct ended bode(const char *options)
{
    return run_command("hiloco bode %s %s --out %s", loops(), options, in_workspace("out"));
}

Test(bode, a_loop_has_the_response_and_the_margins_of_theory)
{
    const double crossover_hz = passed(loop_gain_db, 0);
    const double margin_deg = 180 + loop_phase_deg(crossover_hz);
    const double margin_db = -loop_gain_db(passed(loop_phase_deg, -180));
    struct ended e = bode("--inject law[1].measurement --from 20 --to 4000 --points 40");

    expect_status(&e, 0);
    json_t *root = measured("out");
    expect_response(root, 40, loop_at);
    cr_expect(json_is_true(json_at(root, "of_loop")));
    cr_expect_str_eq(json_string_value(json_at(root, "response")), "lag[1].output");
    cr_expect_float_eq(number_at(root, "crossover_hz"), crossover_hz, 0.01 * crossover_hz);
    cr_expect_float_eq(number_at(root, "phase_margin_deg"), margin_deg, 1);
    cr_expect_float_eq(number_at(root, "gain_margin_db"), margin_db, 0.1);
    cr_expect(strstr(e.out, "phase margin") && strstr(e.out, "coherence"), "%s", e.out);
    cr_expect(exists(in_workspace("out/bode.png")) && exists(in_workspace("out/bode.svg")));
    char *csv = read_text(in_workspace("out/bode.csv"));
    cr_expect(!strncmp(csv, "frequency_hz,gain_db,phase_deg,coherence\n20,", 44), "%s", csv);
    free(csv);

    /* its scenario measures the same again */
    json_t *summary = summary_of(in_workspace("out"));
    cr_expect(json_is_true(json_at(summary, "validity.valid")));
    e = run_command("hiloco run %s --quiet --out %s", in_workspace("out/scenario.yaml"),
                    in_workspace("again"));
    expect_status(&e, 0);
    e = run_command("hiloco compare %s %s", in_workspace("out"), in_workspace("again"));
    expect_status(&e, 0);
}

Test(bode, an_output_names_the_input_that_it_feeds)
{
    struct ended e = bode("--inject lag[0].output --from 100 --to 1000 --points 3 --json");

    expect_status(&e, 0);
    json_t *root = json_loads(e.out, 0, NULL);
    cr_assert(root, "%s", e.out);
    cr_expect_str_eq(json_string_value(json_at(root, "inject")), "law[0].measurement");
    expect_response(root, 3, loop_at);
}

Test(bode, another_response_is_that_of_the_signal_with_the_sine)
{
    struct ended e = bode("--inject lag[0].input --response lag[0].output --from 20 --to 4000 "
                          "--points 9");
    expect_status(&e, 0);
    json_t *root = measured("out");
    expect_response(root, 9, plant_at);
    cr_expect(json_is_null(json_at(root, "phase_margin_deg")));
    cr_expect_not(strstr(e.out, "margin"), "%s", e.out);

    e = bode("--inject law[1].reference --response lag[1].output --from 20 --to 4000 --points 9");
    expect_status(&e, 0);
    expect_response(measured("out"), 9, closed_at);
}

/* The processes of a run in real time meet, however busy the machine is; what they measure then is
 * not judged. */
Test(bode, in_real_time)
{
    struct ended e = bode("--inject law[1].measurement --from 200 --to 2000 --points 3 --mode "
                          "realtime --set validity.required=false");

    expect_status(&e, 0);
    json_t *root = measured("out");
    cr_expect_eq(json_array_size(json_at(root, "readings")), 3u);
    cr_expect_gt(number_at(json_array_get(json_at(root, "readings"), 0), "coherence"), 0);
    cr_expect_str_eq(json_string_value(json_at(summary_of(in_workspace("out")), "mode")),
                     "realtime");
}

Test(bode, margins_have_limits)
{
    const char *margins = "--inject law[0].measurement --from 20 --to 4000 --points 10";
    char options[200];

    snprintf(options, sizeof options, "%s --phase-margin 30 --gain-margin 3", margins);
    struct ended e = bode(options);
    expect_status(&e, 0);
    snprintf(options, sizeof options, "%s --phase-margin 80", margins);
    e = bode(options);
    expect_status(&e, 4);
    expect_said(&e, "deg; allowed: at least 80 deg");
    e = bode("--inject law[0].measurement --from 20 --to 30 --points 2 --phase-margin 30");
    expect_status(&e, 3);
    expect_said(&e, "phase margin: there is none");
    cr_expect(strstr(e.out, "phase margin  none"), "%s", e.out);
}

Test(bode, all_frequencies_at_once)
{
    const double crossover_hz = passed(loop_gain_db, 0);
    struct ended e =
        bode("--inject law[1].measurement --from 20 --to 4000 --points 30 --multisine");

    expect_status(&e, 0);
    json_t *root = measured("out");
    expect_response(root, 30, loop_at);
    cr_expect_float_eq(number_at(root, "phase_margin_deg"), 180 + loop_phase_deg(crossover_hz), 1);
    cr_expect_float_eq(number_at(root, "gain_margin_db"),
                       -loop_gain_db(passed(loop_phase_deg, -180)), 0.1);
    const double first_hz = number_at(json_array_get(json_at(root, "readings"), 0), "frequency_hz");
    cr_expect_float_eq(first_hz, 20, 1e-6);

    e = run_command("hiloco bode %s --inject law[1].reference --response lag[1].output --multisine "
                    "--from 20 --to 4000 --points 30 --out %s",
                    loops(), in_workspace("closed"));
    expect_status(&e, 0);
    expect_response(measured("closed"), 30, closed_at);
}

/* --- the scenario's own words ----------------------------------------------------------------- */

static const char *loops_with(const char *block)
{
    const char *path = loops();
    FILE *to = fopen(path, "a");

    cr_assert(to);
    fprintf(to, "bode: {%s}\n", block);
    fclose(to);
    return path;
}

#define LOOP "inject: 'law[1].measurement', response: 'lag[1].output', from_hz: 20, to_hz: 4000, "

static void expect_limit(json_t *root, size_t i, const char *name, const char *verdict,
                         double at_least)
{
    json_t *limit = json_array_get(json_at(root, "limits"), i);

    cr_expect_str_eq(json_string_value(json_at(limit, "name")), name);
    cr_expect_str_eq(json_string_value(json_at(limit, "verdict")), verdict);
    cr_expect_eq(number_at(limit, "at_least"), at_least);
    cr_expect_eq(number_at(limit, "value"), number_at(root, name));
}

Test(bode, a_scenario_says_what_is_measured_and_what_is_required)
{
    const double margin_deg = 180 + loop_phase_deg(passed(loop_gain_db, 0));
    const char *path = loops_with(LOOP "points: 40, phase_margin_deg: 30, gain_margin_db: 3");
    struct ended e = run_command("hiloco bode %s --out %s", path, in_workspace("out"));

    expect_status(&e, 0);
    json_t *root = measured("out");
    expect_response(root, 40, loop_at);
    cr_expect_float_eq(number_at(root, "phase_margin_deg"), margin_deg, 1);
    cr_expect_str_eq(json_string_value(json_at(root, "verdict")), "passed");
    cr_expect_eq(json_array_size(json_at(root, "limits")), 2u);
    expect_limit(root, 0, "phase_margin_deg", "passed", 30);
    expect_limit(root, 1, "gain_margin_db", "passed", 3);
    cr_expect(strstr(e.out, "deg, passed: at least 30 deg is required\n"), "%s", e.out);
    cr_expect(strstr(e.out, "dB, passed: at least 3 dB is required\n"), "%s", e.out);

    /* what was measured is in the results, which are run again */
    e = run_command("hiloco check %s", in_workspace("out/scenario.yaml"));
    expect_status(&e, 0);
    cr_expect(strstr(e.out, "bode:\n  inject: \"law[1].measurement\"\n  from_hz: 20\n"), "%s",
              e.out);
}

Test(bode, a_margin_below_that_of_the_scenario)
{
    const char *path = loops_with(LOOP "points: 10, phase_margin_deg: 30, gain_margin_db: 30");
    struct ended e = run_command("hiloco bode %s --out %s", path, in_workspace("out"));

    expect_status(&e, 4);
    json_t *root = measured("out");
    cr_expect_str_eq(json_string_value(json_at(root, "verdict")), "failed");
    expect_limit(root, 0, "phase_margin_deg", "passed", 30);
    expect_limit(root, 1, "gain_margin_db", "failed", 30);
    cr_expect(strstr(e.out, "dB, failed: at least 30 dB is required\n"), "%s", e.out);
    expect_said(&e, "dB; allowed: at least 30 dB");
}

Test(bode, options_take_the_place_of_keys)
{
    const char *path = loops_with(LOOP "points: 10, phase_margin_deg: 30, gain_margin_db: 30");
    struct ended e = run_command("hiloco bode %s --gain-margin 3 --from 30 --to 40 --points 2 "
                                 "--phase-margin 20 --out %s",
                                 path, in_workspace("out"));

    expect_status(&e, 3);
    json_t *root = measured("out");
    expect_response(root, 2, loop_at);
    cr_expect_str_eq(json_string_value(json_at(root, "verdict")), "inconclusive");
    cr_expect_eq(number_at(json_array_get(json_at(root, "limits"), 1), "at_least"), 3);
    cr_expect(strstr(e.out, "inconclusive: at least 20 deg is required"), "%s", e.out);

    /* another input has its own response, and another response no margins */
    e = run_command("hiloco bode %s --inject law[0].measurement --points 2 --to 30 --out %s", path,
                    in_workspace("input"));
    expect_status(&e, 3);
    cr_expect_str_eq(json_string_value(json_at(measured("input"), "response")), "lag[0].output");
    e = run_command("hiloco bode %s --inject law[1].reference --response lag[1].output --points 3 "
                    "--out %s",
                    path, in_workspace("closed"));
    expect_status(&e, 0);
    root = measured("closed");
    expect_response(root, 3, closed_at);
    cr_expect(json_is_null(json_at(root, "verdict")));
    cr_expect_eq(json_array_size(json_at(root, "limits")), 0u);
}

Test(bode, a_signal_of_the_scenario_that_is_not_there)
{
    const char *path = loops_with("inject: 'law[2].measurement'");

    for (int i = 0; i < 2; i++) {
        struct ended e = run_command("hiloco %s %s", i ? "bode" : "check", path);
        expect_status(&e, 2);
        expect_said(&e, "loops.yaml:21:16: bode.inject is 'law[2].measurement': there is no such "
                        "signal");
    }
}

Test(bode, mistakes)
{
    static const struct {
        const char *options, *said;
    } cases[] = {
        {"", "required: --inject SIGNAL"},
        {"--inject law[2].measurement", "--inject law[2].measurement: there is no such signal"},
        {"--inject law[0].measuremen", "did you mean 'law[0].measurement'?"},
        {"--inject law[0].reference", "no output feeds it, so nothing comes back to it"},
        {"--inject law[0].measurement --response law[0].reference", "there is no such output"},
        {"--inject law[0].measurement --to 1e5", "hub has 10000 steps a second; allowed: below "
                                                 "4500 Hz"},
        {"--inject law[0].measurement --from 100 --to 10",
         "first frequency 100 Hz: it is above the last one, 10 Hz"},
        {"--inject law[0].measurement --from 0", "a frequency in Hz, 1e-6 to 1e9"},
        {"--inject law[0].measurement --from 1000 --to 2000 --points 300 --multisine",
         "a window has too few periods for so many points at once"},
        {"--inject law[0].measurement --points 0", "a whole number from 1 to 1000"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ended e = bode(cases[i].options);
        expect_status(&e, 2);
        expect_said(&e, cases[i].said);
        cr_expect_not(exists(in_workspace("out")), "%s", cases[i].options);
    }
}

/* One percent of 0 is 0. */
Test(bode, a_signal_that_is_zero_needs_an_amplitude)
{
    const char *at_zero = "--inject law[0].measurement --points 2 --from 20 --to 30 --set "
                          "sources.wanted.constant=0";
    char options[200];

    struct ended e = bode(at_zero);
    expect_status(&e, 1);
    expect_said(&e, "it is 0 when the measurement begins; required: --amplitude");
    snprintf(options, sizeof options, "%s --amplitude 0.1", at_zero);
    e = bode(options);
    expect_status(&e, 0);
    expect_response(measured("out"), 2, loop_at);
}

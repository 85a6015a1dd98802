/* hiloco linearize: the modes and matrices of loops whose theory is known, and its mistakes. */
#include <complex.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(linearize, .init = workspace_open, .fini = workspace_close, .timeout = 240);

static const double pi = 3.14159265358979323846, period_s = 1e-4;
static const double plant_gain = 2, time_constant_s = 0.005, law_gain = 8;

/* Two loops of a lag and a proportional law, which is one step late, on two nodes. */
static const char *const loops =
    "name: loops\nduration_s: 0.1\nmode: realtime\n"
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
    "sources: {wanted: {to: law.reference, constant: 3}}\n";

/* The same on one node, without the step on the way. */
static const char *const loop =
    "name: loop\nduration_s: 0.1\nmode: virtual\n"
    "nodes: {both: {period_us: 100}}\n"
    "components:\n"
    "  lag: {model: first_order_lag, node: both, parameters: {gain: 2, time_constant_s: 0.005}}\n"
    "  law:\n    model: generic_pi\n    node: both\n    computation_delay: true\n"
    "    parameters: {kp: 8, ki_per_s: 0, output_min: -100, output_max: 100}\n"
    "connections:\n"
    "  - {from: lag.output, to: law.measurement}\n"
    "  - {from: law.output, to: lag.input}\n"
    "sources: {wanted: {to: law.reference, constant: 3}}\n";

static struct ended linearize(const char *scenario, const char *options)
{
    write_text(in_workspace("loop.yaml"), scenario);
    return run_command("hiloco linearize %s %s", in_workspace("loop.yaml"), options);
}

static json_t *model_of(const char *scenario, const char *options)
{
    char all[400];

    snprintf(all, sizeof all, "--json %s", options);
    struct ended e = linearize(scenario, all);
    expect_status(&e, 0);
    json_t *root = json_loads(e.out, 0, NULL);
    cr_assert(root, "%s", e.out);
    return root;
}

static double complex eigenvalue(json_t *root, size_t i)
{
    json_t *mode = json_array_get(json_at(root, "modes"), i);

    return number_at(mode, "real") + I * number_at(mode, "imaginary");
}

/* --- theory ----------------------------------------------------------------------------------- */

static double pole(double period)
{
    return exp(-period / time_constant_s);
}

/* The characteristic polynomial of the loops: the lag, a step for the law, and one for the way. */
static double complex characteristic(double complex z)
{
    const double a = pole(period_s);

    return z * z * (z - a) + law_gain * plant_gain * (1 - a);
}

static double complex closed_at(double complex z)
{
    return law_gain * plant_gain * (1 - pole(period_s)) / characteristic(z);
}

/* --- the response of the matrices ------------------------------------------------------------- */

enum { STATES_MOST = 20 };

static double at(json_t *root, const char *matrix, size_t row, size_t column)
{
    return json_number_value(json_array_get(json_array_get(json_at(root, matrix), row), column));
}

/* Solves (z - A) x = B for one input, by elimination with pivots. */
static void solve(json_t *root, double complex z, size_t n, double complex *x)
{
    double complex rows[STATES_MOST][STATES_MOST + 1];

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            rows[i][j] = (i == j ? z : 0) - at(root, "a", i, j);
        rows[i][n] = at(root, "b", i, 0);
    }
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k; i < n; i++)
            best = cabs(rows[i][k]) > cabs(rows[best][k]) ? i : best;
        for (size_t j = 0; j <= n; j++) {
            const double complex other = rows[k][j];
            rows[k][j] = rows[best][j];
            rows[best][j] = other;
        }
        for (size_t i = 0; i < n; i++) {
            const double complex times = i == k ? 0 : rows[i][k] / rows[k][k];
            for (size_t j = 0; j <= n; j++)
                rows[i][j] -= times * rows[k][j];
        }
    }
    for (size_t i = 0; i < n; i++)
        x[i] = rows[i][n] / rows[i][i];
}

static double complex response(json_t *root, double complex z, size_t output)
{
    const size_t n = json_array_size(json_at(root, "states"));
    double complex x[STATES_MOST], y = at(root, "d", output, 0);

    cr_assert_leq(n, STATES_MOST);
    solve(root, z, n, x);
    for (size_t i = 0; i < n; i++)
        y += at(root, "c", output, i) * x[i];
    return y;
}

/* --- tests ------------------------------------------------------------------------------------ */

Test(linearize, modes_are_those_of_theory)
{
    json_t *root = model_of(loops, "");

    cr_expect_float_eq(number_at(root, "period_us"), 100, 1e-9);
    cr_expect(json_is_true(json_at(root, "stable")));
    cr_assert_eq(json_array_size(json_at(root, "modes")), 3u);
    for (size_t i = 0; i < 3; i++) {
        json_t *mode = json_array_get(json_at(root, "modes"), i);
        const double complex z = eigenvalue(root, i), s = clog(z) / period_s;
        cr_expect_lt(cabs(characteristic(z)), 1e-9, "%zu", i);
        cr_expect_float_eq(number_at(mode, "loops"), 2, 0);
        cr_expect_float_eq(number_at(mode, "frequency_hz"), fabs(cimag(s)) / 2 / pi, 1e-3);
        cr_expect_float_eq(number_at(mode, "damping"), -creal(s) / cabs(s), 1e-6);
        cr_expect_float_eq(number_at(mode, "time_s"), -1 / creal(s), 1e-9);
    }
    cr_expect_str_eq(
        json_string_value(json_at(json_array_get(json_at(root, "modes"), 0), "components")),
        "lag[0], law[0]");
}

Test(linearize, matrices_have_the_response_of_theory)
{
    json_t *root = model_of(loops, "");

    for (double hz = 10; hz < 4900; hz *= 1.7) {
        const double complex z = cexp(I * 2 * pi * hz * period_s);
        for (size_t output = 0; output < 2; output++)
            cr_expect_lt(cabs(response(root, z, output) / closed_at(z) - 1), 1e-6, "%g Hz", hz);
    }
    cr_expect_float_eq(number_at(json_array_get(json_at(root, "outputs"), 0), "value"),
                       3 * creal(closed_at(1)), 1e-9);
}

/* The averaged boost is not linear: its small signals are those that hiloco bode measures. */
Test(linearize, the_response_of_a_boost_is_the_one_that_is_measured)
{
    const char *boost =
        "name: boost\nduration_s: 0.05\nmode: virtual\nnodes: {both: {period_us: 20}}\n"
        "components:\n"
        "  stage: {model: boost, node: both, parameters: {}}\n"
        "connections: []\n"
        "sources:\n  duty: {to: stage.duty, constant: 0.4}\n"
        "measures: {output_v: {of: stage.voltage_v}}\n";
    json_t *root = model_of(boost, "");

    struct ended e =
        run_command("hiloco bode %s --inject stage.duty --response stage.voltage_v --from 100 "
                    "--to 5000 --points 5 --json --quiet --out %s",
                    in_workspace("loop.yaml"), in_workspace("bode"));
    expect_status(&e, 0);
    json_t *readings = json_at(json_loads(e.out, 0, NULL), "readings");
    cr_assert_eq(json_array_size(readings), 5u);
    for (size_t i = 0; i < 5; i++) {
        json_t *r = json_array_get(readings, i);
        const double complex z = cexp(I * 2 * pi * number_at(r, "frequency_hz") * 20e-6);
        const double complex y = response(root, z, 0);
        cr_expect_float_eq(20 * log10(cabs(y)), number_at(r, "gain_db"), 0.05, "%zu", i);
        cr_expect(fabs(remainder(carg(y) * 180 / pi - number_at(r, "phase_deg"), 360)) < 0.5,
                  "%zu: %g, not %g", i, carg(y) * 180 / pi, number_at(r, "phase_deg"));
    }
}

/* z^2 - a z + 16 (1 - a) is at its limit where 16 (1 - a) is 1. */
Test(linearize, the_longest_period_is_that_of_theory)
{
    json_t *root = model_of(loop, "--longest both --start 1");

    cr_expect_float_eq(number_at(root, "longest.period_us"),
                       -1e6 * time_constant_s * log(15.0 / 16), 0.1);
}

/* Where the bisection of whole runs finds it: tests/run/test_sweep.c. */
Test(linearize, the_longest_period_of_dcdc20_nominal_is_that_of_the_bisection)
{
    struct ended e =
        run_command("hiloco linearize configs/dcdc20-nominal.yaml --longest controller --json "
                    "--set duration_s=0.3 --set nodes.converter.count=1");

    expect_status(&e, 0);
    json_t *root = json_loads(e.out, 0, NULL);
    cr_expect_float_eq(number_at(root, "longest.period_us"), 45.46, 0.02);
}

Test(linearize, switched_converters_and_circuits_have_modes)
{
    struct ended e = run_command("hiloco linearize configs/switched.yaml --json");

    expect_status(&e, 0);
    json_t *root = json_loads(e.out, 0, NULL);
    cr_expect_lt(number_at(root, "radius"), 1);
    e = run_command("hiloco linearize docs/examples/circuit/buck.yaml --start 0.02");
    expect_status(&e, 0);
}

Test(linearize, results_are_files_and_a_figure)
{
    char to[300];

    snprintf(to, sizeof to, "--to %s", in_workspace("linear"));
    struct ended e = linearize(loops, to);
    expect_status(&e, 0);
    cr_expect(strstr(e.out, "damping") && strstr(e.out, "stable: the slowest mode falls by 17.7 %"),
              "%s", e.out);
    char *csv = read_text(in_workspace("linear/eigenvalues.csv"));
    cr_expect(
        !strncmp(csv,
                 "real,imaginary,magnitude,frequency_hz,damping,time_s,loops,components\n0.72398",
                 70),
        "%s", csv);
    free(csv);
    cr_expect(exists(in_workspace("linear/poles.png")) &&
              exists(in_workspace("linear/linear.json")));
}

/* The integral that a law without its gain has does not count. A real one is a mode that stands. */
Test(linearize, an_integrator_that_nothing_holds_stands)
{
    struct ended e =
        linearize("name: open\nduration_s: 0.1\nmode: virtual\nnodes: {a: {period_us: 100}}\n"
                  "components: {tank: {model: integrator, node: a}}\nconnections: []\n"
                  "sources: {flow: {to: tank.input, constant: 0}}\n",
                  "");

    expect_status(&e, 0);
    cr_expect(strstr(e.out, "1.000000"), "%s", e.out);
}

Test(linearize, mistakes)
{
    static const struct {
        const char *options, *said;
        int status;
    } cases[] = {
        {"--longest nodes", "there is no such entry of nodes; allowed: plant, hub", 2},
        {"--start 0.0003", "it has not settled, or is not stable: within 3 periods", 1},
        {"--set network.latency_us=150", "values from plant[0] to hub are always on their way", 2},
        {"--set network.jitter_us=1", "network.jitter_us is 1", 2},
        {"--set nodes.hub.period_us=100.003 --set nodes.plant.period_us=100.019",
         "have no common multiple up to 10 s", 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ended e = linearize(loops, cases[i].options);
        expect_status(&e, cases[i].status);
        expect_said(&e, cases[i].said);
    }
}

Test(linearize, a_state_that_cannot_be_changed_is_named)
{
    struct ended e = run_command("hiloco linearize docs/examples/blocks/analyser.yaml");
    expect_status(&e, 2);
    expect_said(&e,
                "the state of analyser cannot be changed (model network_analyser has no numbers)");
}

/*
 * Every case of the reference, run by the program from one scenario file and --set alone, and
 * judged by what it leaves in summary.json and trace.h5 within the tolerances of the case.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

enum { CASES = 52 };

static const double ms = 1e-3;

TestSuite(reference, .init = workspace_open, .fini = workspace_close);

/* --- the cases ---------------- */

static json_t *reference(void)
{
    static json_t *root;
    json_error_t error;

    if (!root)
        root = json_load_file("tests/data/cases.json", 0, &error);
    cr_assert_not_null(root, "tests/data/cases.json: %s", error.text);
    return root;
}

static json_t *case_at(size_t i)
{
    return json_array_get(json_at(reference(), "cases"), i);
}

static const char *name_of(json_t *c)
{
    return json_string_value(json_at(c, "name"));
}

static json_t *case_named(const char *name)
{
    size_t i;
    json_t *c;

    json_array_foreach(json_at(reference(), "cases"), i,
                       c) if (strcmp(name_of(c), name) == 0) return c;
    cr_assert_fail("there is no case %s", name);
    return NULL;
}

static bool is_stable(json_t *c)
{
    return json_is_true(json_at(c, "expected.stable"));
}

/* V of all converters together. */
static double total_v(json_t *c)
{
    return number_at(c, "scenario.N") * number_at(c, "scenario.Vref");
}

static double step_s(json_t *c)
{
    return number_at(c, "scenario.T_ns") * 1e-9;
}

/* --- a case as a command line ---------------- */

struct field {
    const char *field, *key;
};

/* Every field of a case's scenario, and the key of the scenario file that it is. */
static const struct field numbers[] = {
    {"N", "nodes.converter.count"},
    {"Vin", "components.converter.parameters.input_voltage_v"},
    {"L", "components.converter.parameters.inductance_h"},
    {"C", "components.converter.parameters.capacitance_f"},
    {"rL", "components.converter.parameters.inductor_resistance_ohm"},
    {"ron", "components.converter.parameters.switch_resistance_ohm"},
    {"esr", "components.converter.parameters.esr_ohm"},
    {"R", "components.converter.parameters.load_ohm"},
    {"Vref", "sources.reference.constant"},
    {"d_init", "connections.1.initial"},
    {NULL, NULL},
};

static const struct field times[] = {
    {"Ts_ns", "nodes.converter.period_us"},        {"T_ns", "nodes.controller.period_us"},
    {"lat_up_ns", "network.links.0.latency_us"},   {"lat_dn_ns", "network.links.1.latency_us"},
    {"phase_ns", "nodes.converter.phase_us"},      {"phase_step_ns", "nodes.converter.stagger_us"},
    {"ctl_phase_ns", "nodes.controller.phase_us"}, {NULL, NULL},
};

static const struct field pid_gains[] = {
    {"Kp", "kp_per_v"},       {"Ki", "ki_per_v_s"},
    {"Kd", "kd_s_per_v"},     {"tf", "derivative_filter_s"},
    {"b", "setpoint_weight"}, {"dmin", "duty_min"},
    {"dmax", "duty_max"},     {NULL, NULL},
};

static const struct field type3_gains[] = {
    {"Kc", "kc_per_v_s"},       {"wz1", "zero1_rad_per_s"},
    {"wz2", "zero2_rad_per_s"}, {"wp1", "pole1_rad_per_s"},
    {"wp2", "pole2_rad_per_s"}, {"dmin", "duty_min"},
    {"dmax", "duty_max"},       {NULL, NULL},
};

static const struct field multipliers[] = {
    {"L", "inductance_h"},
    {"C", "capacitance_f"},
    {"rL", "inductor_resistance_ohm"},
    {"ron", "switch_resistance_ohm"},
    {"esr", "esr_ohm"},
    {"R", "load_ohm"},
    {NULL, NULL},
};

static void set_numbers(struct arguments *a, json_t *scenario)
{
    for (const struct field *f = numbers; f->field; f++)
        add_set(a, "%s=%.17g", f->key, number_at(scenario, f->field));
    add_set(a, "components.converter.initial.current_a=%.17g",
            json_number_value(json_array_get(json_at(scenario, "x0"), 0)));
    add_set(a, "components.converter.initial.voltage_v=%.17g",
            json_number_value(json_array_get(json_at(scenario, "x0"), 1)));
}

static void set_times(struct arguments *a, json_t *scenario)
{
    add_set(a,
            "network.links=[{from: converter, to: controller}, {from: controller, to: converter}]");
    for (const struct field *f = times; f->field; f++)
        add_set(a, "%s=%.3f", f->key, number_at(scenario, f->field) * 1e-3);
    add_set(a, "duration_s=%.9f", number_at(scenario, "duration_ns") * 1e-9);
}

/* The gains as one block, so that those of another law in the file are gone. */
static void set_law(struct arguments *a, json_t *scenario)
{
    const char *law = json_string_value(json_at(scenario, "ctl.type"));
    const struct field *f = strcmp(law, "pid") == 0 ? pid_gains : type3_gains;
    char gains[400] = "", path[32];

    for (; f->field; f++) {
        size_t used = strlen(gains);
        snprintf(path, sizeof path, "ctl.%s", f->field);
        snprintf(gains + used, sizeof gains - used, "%s%s: %.17g", used ? ", " : "", f->key,
                 number_at(scenario, path));
    }
    add_set(a, "components.control.model=%s", law);
    add_set(a, "components.control.parameters={%s}", gains);
    add_set(a, "components.control.computation_delay=%s",
            number_at(scenario, "comp_delay") == 0 ? "false" : "true");
}

static void set_multipliers(struct arguments *a, json_t *scale)
{
    for (const struct field *f = multipliers; !json_is_null(scale) && f->field; f++) {
        char *list = json_dumps(json_at(scale, f->field), JSON_REAL_PRECISION(17));
        add_set(a, "components.converter.tolerance.multipliers.%s=%s", f->key, list);
        free(list);
    }
}

static struct arguments command_of(json_t *c, const char *out)
{
    json_t *scenario = json_at(c, "scenario");
    struct arguments a =
        command("hiloco run configs/dcdc20-nominal.yaml --mode virtual --quiet --out %s", out);

    add_set(&a, "components.converter.model=%s", json_string_value(json_at(scenario, "topo")));
    set_numbers(&a, scenario);
    set_times(&a, scenario);
    set_law(&a, scenario);
    set_multipliers(&a, json_at(scenario, "scale"));
    add_set(&a, "record.0.signals=[]"); /* the total is judged */
    return a;
}

/* --- its results: run once, for all the tests that look at them ---------------------------- */

struct outcome {
    json_t *summary;
    struct column time_s, output_v;
};

static void run_once(json_t *c, const char *out)
{
    char lock[160], summary[160];

    snprintf(lock, sizeof lock, "%s.lock", out);
    snprintf(summary, sizeof summary, "%s/summary.json", out);
    int held = open(lock, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    cr_assert(held >= 0);
    cr_assert_eq(flock(held, LOCK_EX), 0);
    if (!exists(summary)) { /* what a run writes last */
        struct arguments a = command_of(c, out);
        struct ended e = run(&a);
        cr_assert_eq(e.status, 0, "%s: exit status %d:\n%s", name_of(c), e.status, e.err);
    }
    close(held);
}

static struct outcome outcome_of(json_t *c)
{
    char out[128];

    snprintf(out, sizeof out, "%s/%s", workspace_shared, name_of(c));
    run_once(c, out);
    return (struct outcome){
        .summary = summary_of(out),
        .time_s = column_of(out, "controller/time_s"),
        .output_v = column_of(out, "controller/output_v"),
    };
}

static double most_before(const struct outcome *o, double end_s)
{
    double most = -INFINITY;

    for (size_t i = 0; i < o->time_s.rows && o->time_s.at[i] < end_s; i++)
        most = fmax(most, o->output_v.at[i]);
    return most;
}

static double least_from(const struct outcome *o, double start_s)
{
    double least = INFINITY;

    for (size_t i = 0; i < o->time_s.rows; i++)
        if (o->time_s.at[i] >= start_s)
            least = fmin(least, o->output_v.at[i]);
    return least;
}

/* Of the rows of the last second, as the reference has it: "t >= duration - 1 s". */
struct last_second {
    double mean, pp, deviation; /* from the mean, rms */
};

static struct last_second last_second_of(json_t *c, const struct outcome *o)
{
    double from = number_at(c, "scenario.duration_ns") * 1e-9 - 1 - 1e-9, sum = 0, squares = 0;
    double least = INFINITY, most = -INFINITY;
    size_t count = 0;

    for (size_t i = 0; i < o->time_s.rows; i++) {
        if (o->time_s.at[i] < from)
            continue;
        sum += o->output_v.at[i];
        least = fmin(least, o->output_v.at[i]);
        most = fmax(most, o->output_v.at[i]);
        count++;
    }
    double mean = sum / (double)count;
    for (size_t i = o->time_s.rows - count; i < o->time_s.rows; i++)
        squares += pow(o->output_v.at[i] - mean, 2);
    return (struct last_second){mean, most - least, sqrt(squares / (double)count)};
}

static double most_from(const struct outcome *o, double start_s)
{
    double most = -INFINITY;

    for (size_t i = 0; i < o->time_s.rows; i++)
        if (o->time_s.at[i] >= start_s)
            most = fmax(most, o->output_v.at[i]);
    return most;
}

/* --- a case judged ---------------- */

static void expect_close(json_t *c, const char *what, double actual, double expected,
                         double allowed)
{
    cr_expect(fabs(actual - expected) <= allowed, "%s: %s is %.12g, expected %.12g +- %.3g",
              name_of(c), what, actual, expected, allowed);
}

/* The tolerance `key`, times `unit`; of a case that has none, NAN. */
static double tolerance(json_t *c, const char *key, double unit)
{
    json_t *value = json_object_get(json_at(c, "tolerance"), key);

    return value ? json_number_value(value) * unit : NAN;
}

/* Judges a number by the tolerance, where the case has it. */
static void judge_value(json_t *c, double actual, const char *expected, double allowed)
{
    if (!isnan(allowed))
        expect_close(c, expected, actual, number_at(c, expected), allowed);
}

/* The same of a number of the summary. */
static void judge(json_t *c, const struct outcome *o, const char *actual, const char *expected,
                  double allowed)
{
    judge_value(c, number_at(o->summary, actual), expected, allowed);
}

/* "The trace": the rows at the given times. All lie within the first 5 ms. */
static void judge_trace(json_t *c, const struct outcome *o)
{
    double allowed = tolerance(c, "trace_abs_frac_of_vtotal", total_v(c));
    json_t *point;
    size_t i;

    cr_assert(allowed > 0);
    json_array_foreach(json_at(c, "trace_t_ns_vsum"), i, point)
    {
        double t_s = json_number_value(json_array_get(point, 0)) * 1e-9;
        double expected = json_number_value(json_array_get(point, 1));
        size_t row = (size_t)llround(t_s / step_s(c));

        cr_assert_lt(row, o->time_s.rows);
        cr_assert_lt(t_s, 5 * ms);
        cr_assert(fabs(o->time_s.at[row] - t_s) < 1e-12);
        cr_assert(fabs(o->output_v.at[row] - expected) <= allowed,
                  "%s: %.12g V at %g s, expected %.12g +- %g", name_of(c), o->output_v.at[row], t_s,
                  expected, allowed);
    }
    cr_assert_gt(i, 30);
}

static void judge_extremes(json_t *c, const struct outcome *o)
{
    double band = tolerance(c, "trace_abs_frac_of_vtotal", total_v(c));
    double peak = number_at(c, "expected.v_max_5ms");
    double peak_allowed = is_stable(c) ? band : tolerance(c, "v_max_5ms_rel", peak);

    expect_close(c, "v_max_5ms", most_before(o, 5 * ms), peak, peak_allowed);
    if (!is_stable(c))
        return; /* what comes after the first 5 ms is chaotic */
    expect_close(c, "v_min_after_1ms", least_from(o, 1 * ms),
                 number_at(c, "expected.v_min_after_1ms"), band);
    expect_close(c, "peak_v", number_at(o->summary, "measures.output_v.peak"),
                 number_at(c, "expected.v_max"), band);
}

/* "settle_ms_abs": "max(1 controller tick, 0.02 ms)"; null is a run that never settles. */
static void judge_settling(json_t *c, const struct outcome *o)
{
    double allowed = fmax(step_s(c) / ms, 0.02) + 1e-9;
    bool settled = json_is_true(json_at(o->summary, "measures.output_v.settled"));

    cr_expect_eq(settled, is_stable(c), "%s: settled is %d", name_of(c), settled);
    if (is_stable(c))
        judge(c, o, "measures.output_v.settling_ms", "expected.settle_ms", allowed);
    else
        cr_expect(json_is_null(json_at(o->summary, "measures.output_v.settling_ms")));
}

/* The summary's window is at most the last second: of these runs, which last for 2 s and more, it
 * is that, so its figures are the reference's. */
static void judge_last_second(json_t *c, const struct outcome *o)
{
    double mean = number_at(c, "expected.mean_last1s"), pp = number_at(c, "expected.pp_last1s");
    double rms = number_at(c, "expected.rms_dev_last1s");
    double final = number_at(c, "expected.final");
    struct last_second last = last_second_of(c, o);

    judge_value(c, last.mean, "expected.mean_last1s", tolerance(c, "mean_rel", mean));
    judge_value(c, last.pp, "expected.pp_last1s", tolerance(c, "pp_rel", pp));
    judge_value(c, last.pp, "expected.pp_last1s",
                tolerance(c, "pp_abs_frac_of_vtotal", total_v(c)));
    judge_value(c, last.deviation, "expected.rms_dev_last1s", tolerance(c, "rms_rel", rms));
    judge(c, o, "measures.output_v.final", "expected.final", tolerance(c, "final_rel", final));
    expect_close(c, "mean_v", number_at(o->summary, "measures.output_v.mean"), last.mean, 1e-9);
    expect_close(c, "pp_v", number_at(o->summary, "measures.output_v.pp"), last.pp, 1e-9);
}

/* "Only events with t < duration happen", and nothing is missed or lost in virtual time. */
static void judge_counts(json_t *c, const struct outcome *o)
{
    double steps = number_at(c, "expected.n_ticks");

    expect_close(c, "controller.steps", number_at(o->summary, "nodes.controller.steps"), steps, 0);
    expect_close(c, "rows", (double)o->output_v.rows, steps, 0);
    expect_close(c, "missed", number_at(o->summary, "nodes.controller.missed"), 0, 0);
    expect_close(c, "missed", number_at(o->summary, "nodes.converter.missed"), 0, 0);
    expect_close(c, "dropped", number_at(o->summary, "recorder.dropped"), 0, 0);
    expect_close(c, "reference_v", number_at(o->summary, "measures.output_v.reference"), total_v(c),
                 1e-9);
}

ParameterizedTestParameters(reference, a_case_is_within_its_tolerances)
{
    static size_t cases[CASES];

    for (size_t i = 0; i < CASES; i++)
        cases[i] = i;
    return cr_make_param_array(size_t, cases, CASES);
}

/* "In virtual time: every case of the reference within its tolerances." */
ParameterizedTest(size_t *i, reference, a_case_is_within_its_tolerances)
{
    json_t *c = case_at(*i);
    struct outcome o = outcome_of(c);

    judge_counts(c, &o);
    judge_settling(c, &o);
    judge(c, &o, "measures.output_v.overshoot_pct", "expected.overshoot_pct",
          tolerance(c, "overshoot_pct_abs", 1));
    judge_last_second(c, &o);
    judge_extremes(c, &o);
    judge_trace(c, &o);
}

Test(reference, there_are_52_cases)
{
    cr_expect_eq(json_array_size(json_at(reference(), "cases")), CASES);
}

/* A field that the table above forgets would silently keep the value of the file. */
Test(reference, every_field_of_a_case_is_a_key)
{
    static const char *const others[] = {"name",        "topo", "x0",   "comp_delay",
                                         "duration_ns", "ctl",  "scale"};
    const size_t known = sizeof numbers / sizeof numbers[0] - 1 + sizeof times / sizeof times[0] -
                         1 + sizeof others / sizeof others[0];
    size_t i;
    json_t *c;

    json_array_foreach(json_at(reference(), "cases"), i, c)
        cr_expect_eq(json_object_size(json_at(c, "scenario")), known, "%s", name_of(c));
}

/* --- the cases compared with one another --------------------------------------------------- */

static double pp(const char *name)
{
    struct outcome o = outcome_of(case_named(name));

    return number_at(o.summary, "measures.output_v.pp");
}

static void expect_growing(const char *const *names)
{
    for (; names[1]; names++)
        cr_expect_lt(pp(names[0]), pp(names[1]), "%s and %s", names[0], names[1]);
}

/* "tol5: pp_last1s(T50)<pp(T60)<pp(T80)<pp(T100)" */
Test(reference, peak_to_peak_grows_with_the_period_with_tolerances)
{
    expect_growing((const char *const[]){"tol5_T50", "tol5_T60", "tol5_T80", "tol5_T100", NULL});
}

/* "nominal: same ordering over 46,47,50,60,80,100" */
Test(reference, peak_to_peak_grows_with_the_period)
{
    expect_growing((const char *const[]){"nominal_T46", "nominal_T47", "nominal_T50", "nominal_T60",
                                         "nominal_T80", "nominal_T100", NULL});
}

static void expect_same_column(struct column a, struct column b, const char *what)
{
    cr_assert_eq(a.rows, b.rows);
    cr_expect_eq(memcmp(a.at, b.at, a.rows * sizeof(double)), 0, "%s differs", what);
}

/* "lat2/lat5/lat10 aligned T40 are bit-identical to one another" */
Test(reference, latencies_within_a_plant_period_are_one_when_aligned)
{
    struct outcome two = outcome_of(case_named("lat2_aligned_T40"));
    struct outcome five = outcome_of(case_named("lat5_aligned_T40"));
    struct outcome ten = outcome_of(case_named("lat10_aligned_T40"));

    expect_same_column(two.output_v, five.output_v, "5 us");
    expect_same_column(two.output_v, ten.output_v, "10 us");
}

/* "nominal_T45 stable and nominal_T46 unstable (critical period 45.5 us)" */
Test(reference, the_critical_period_lies_between_45_and_46_us)
{
    struct outcome below = outcome_of(case_named("nominal_T45"));
    struct outcome above = outcome_of(case_named("nominal_T46"));

    cr_expect(json_is_true(json_at(below.summary, "measures.output_v.settled")));
    cr_expect(json_is_false(json_at(above.summary, "measures.output_v.settled")));
}

/* "tol5 T>=50: v_max_5ms-240 > max over last 1 s -240 (start-up transient exceeds the residual
 * limit cycle)" */
Test(reference, the_start_up_exceeds_what_stays)
{
    static const char *const names[] = {"tol5_T50", "tol5_T60", "tol5_T80", "tol5_T100"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct outcome o = outcome_of(case_named(names[i]));
        double last = most_from(&o, number_at(o.summary, "duration_s") - 1);
        cr_expect_gt(most_before(&o, 5 * ms), last, "%s", names[i]);
    }
}

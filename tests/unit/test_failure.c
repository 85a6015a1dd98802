/*
 * Tests components that fail: laws and plants whose step returns an error or gives values that are
 * not numbers. The models are the built-in ones until they fail.
 */
#include <jansson.h>
#include <math.h>

#include "../sets.h"
#include "harness/run/virtual_time.h"
#include "harness/scenario/system.h"
#include "harness/summary/summary.h"
#include "link_state.h"
#include "test_scenario.h"
#include "tests/temporary.h"

static const uint64_t WHEN_NS = 20000000;

/* The failure of the models from then on, the same for all of them. */
static int error;
static double value;
static unsigned fails_from, steps_after;
static uint64_t failed_ns;

static const struct hil_model *real;

static int failing_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    int rc = real->step(self, t_ns, in, out);

    if (t_ns < WHEN_NS || (failed_ns && steps_after++ < fails_from))
        return rc;
    failed_ns = failed_ns ? failed_ns : t_ns;
    out[0] = isfinite(value) ? out[0] : value;
    return error;
}

static struct hil_model failing(const char *name)
{
    real = hil_model_find(name);
    struct hil_model model = *real;
    model.step = failing_step;
    return model;
}

struct rig {
    struct hil_scenario *scenario;
    struct hil_run run;
    struct hil_model model;
    int rc;
};

static void start(struct rig *rig, const char *const *sets)
{
    *rig = (struct rig){.scenario = load(SMALL "mode: virtual\n", sets)};
    rig->run.scenario = rig->scenario;
    cr_assert_eq(hil_state_open(&rig->run.state, rig->scenario), 0);
}

/* Gives components first to last of this name the rig's model. */
static void replace(struct rig *rig, const char *name, unsigned first, unsigned last)
{
    const struct hil_system *s = rig->scenario->system;

    for (unsigned i = 0; i < s->component_count; i++) {
        struct hil_component *c = &s->components[i];
        if (strcmp(c->is.name, name) == 0 && c->is.index >= first && c->is.index <= last)
            c->model = &rig->model;
    }
}

static void play_law(struct rig *rig, const char *const *sets)
{
    start(rig, sets);
    rig->model = failing("pid");
    replace(rig, "control", 0, 2);
    rig->rc = hil_virtual_run(&rig->run);
}

/* The state of converter 1. */
static void play_plant(struct rig *rig, const char *const *sets)
{
    start(rig, sets);
    rig->model = failing("buck");
    replace(rig, "converter", 1, 1);
    rig->rc = hil_virtual_run(&rig->run);
}

static void end(struct rig *rig)
{
    hil_state_close(rig->run.state);
    hil_scenario_free(rig->scenario);
}

static const struct hil_failure_log *failures(const struct rig *rig)
{
    return &rig->run.state->executors[0].failures;
}

static const char *message(const struct rig *rig)
{
    return rig->run.state->executors[0].message;
}

/* --- a law ---------------------------------------------------------------------------------- */

Test(failure, a_duty_that_is_no_number_ends_the_run)
{
    static const struct {
        double value;
        const char *message;
    } cases[] = {
        {NAN, "control[0] (pid): its output duty is NaN, at 0.020000 s (step 1000)"},
        {INFINITY, "control[0] (pid): its output duty is infinite, at 0.020000 s (step 1000)"},
        {-INFINITY,
         "control[0] (pid): its output duty is minus infinity, at 0.020000 s (step 1000)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig rig;
        failed_ns = 0;
        value = cases[i].value;
        play_law(&rig, NULL);
        cr_expect_eq(rig.rc, -ENOTRECOVERABLE);
        cr_expect_str_eq(message(&rig), cases[i].message);
        cr_expect_eq(failures(&rig)->count, 1);
        end(&rig);
    }
}

Test(failure, a_law_whose_step_fails_ends_the_run)
{
    struct rig rig;

    error = -ERANGE;
    play_law(&rig, NULL);
    cr_expect_eq(rig.rc, -ENOTRECOVERABLE);
    cr_expect_str_eq(message(&rig), "control[0] (pid): its step failed (Numerical result out of "
                                    "range), at 0.020000 s (step 1000)");
    cr_expect_str_empty(failures(&rig)->at[0].signal);
    end(&rig);
}

/* Three laws of one model: its second and third steps are those of other converters. */
Test(failure, a_law_that_failed_is_not_stepped_again)
{
    struct rig rig;

    value = NAN;
    play_law(&rig, SETS("components.control.on_error=safe", SAFE_CONTROL("0.125"),
                        SAFE_CONVERTER("0.125")));
    cr_expect_eq(rig.rc, 0);
    cr_expect_eq(failures(&rig)->count, 3);
    cr_expect_str_eq(failures(&rig)->at[2].component, "control[2]");
    cr_expect_eq(failed_ns, WHEN_NS);
    cr_expect_eq(steps_after, 2, "%u", steps_after);
    double expected = 3 * 0.125 * 48 * 2.4 / (2.4 + 0.025 + 0.015);
    cr_expect_float_eq(atomic_load(&rig.run.state->recent.value), expected, 0.01, "%g",
                       atomic_load(&rig.run.state->recent.value));
    end(&rig);
}

Test(failure, the_other_laws_go_on)
{
    struct rig rig;

    value = NAN;
    fails_from = UINT32_MAX; /* except the first call, which is converter 0's */
    play_law(&rig, SETS("components.control.on_error=safe", GATES));
    cr_expect_eq(rig.rc, 0);
    cr_expect_eq(failures(&rig)->count, 1);
    cr_expect_float_eq(atomic_load(&rig.run.state->recent.value), 24, 0.01, "%g",
                       atomic_load(&rig.run.state->recent.value));
    end(&rig);
}

/* --- a plant -------------------------------------------------------------------------------- */

Test(failure, a_plant_that_fails_ends_the_run)
{
    struct rig rig;

    value = NAN;
    play_plant(&rig, NULL);
    cr_expect_eq(rig.rc, -ENOTRECOVERABLE);
    cr_expect_str_eq(message(&rig),
                     "converter[1] (buck): its output voltage_v is NaN, at 0.020000 s (step 2000)");
    end(&rig);
    error = -EDOM;
    play_plant(&rig, NULL);
    cr_expect(strstr(message(&rig), "converter[1] (buck): its step failed ("), "%s", message(&rig));
    end(&rig);
}

static unsigned applied;

static int failing_apply(void *self, const double *in)
{
    (void)self, (void)in;
    return ++applied == 1001 ? -EIO : 0;
}

/* Hardware that does not accept its output. */
Test(failure, a_plant_whose_apply_fails)
{
    const struct hil_model *buck = hil_model_find("buck");
    struct rig rig;

    start(&rig, NULL);
    rig.model = *buck;
    rig.model.apply = failing_apply;
    replace(&rig, "converter", 1, 1);
    rig.rc = hil_virtual_run(&rig.run);
    cr_expect_eq(rig.rc, -ENOTRECOVERABLE);
    cr_expect_str_eq(message(&rig),
                     "converter[1] (buck): its apply failed (Input/output error), at "
                     "0.010000 s (step 1000)");
    end(&rig);

    applied = 0;
    start(&rig, SETS("components.converter.on_error=safe", GATES));
    rig.model = *buck;
    rig.model.apply = failing_apply;
    replace(&rig, "converter", 1, 1);
    cr_expect_eq(hil_virtual_run(&rig.run), 0);
    cr_expect_eq(failures(&rig)->count, 1);
    cr_expect_eq(applied, 1001, "it is not asked again");
    cr_expect_gt(link_state(&rig.run, 2, 0)->bad, 1000);
    end(&rig);
}

/* From then on its output is not a number, so the controller makes it safe, and the others
 * continue. */
Test(failure, a_run_goes_on_without_a_plant_that_failed)
{
    struct rig rig;

    error = -EDOM;
    play_plant(&rig, SETS("components.converter.on_error=safe", GATES));
    cr_expect_eq(rig.rc, 0);
    cr_expect_eq(failures(&rig)->count, 1);
    cr_expect_eq(steps_after, 0);
    cr_expect_geq(link_state(&rig.run, 2, 0)->bad, 3900);
    cr_expect_eq(link_state(&rig.run, 1, 0)->bad, 0);
    cr_expect(isfinite(atomic_load(&rig.run.state->recent.value)));
    end(&rig);
}

/* --- where failures are reported ------------------------------------------------------------ */

Test(failure, is_in_the_summary)
{
    char path[TEMPORARY_SIZE], *printed;
    struct hil_verdict verdict;
    struct rig rig;
    size_t size;

    value = INFINITY;
    play_plant(&rig, SETS("components.converter.on_error=safe", GATES));
    hil_validity_judge(&verdict, rig.scenario, rig.run.state, 0);
    const struct hil_summary summary = {
        .scenario = rig.scenario, .state = rig.run.state, .out = "", .verdict = &verdict};
    close(temporary_file(path));
    cr_assert_eq(hil_summary_write(&summary, path), 0);
    json_t *root = json_load_file(path, 0, NULL);
    json_t *all = json_object_get(root, "failures");
    json_t *one = json_array_get(json_object_get(all, "each"), 0);
    cr_expect_eq(json_integer_value(json_object_get(all, "count")), 1);
    cr_expect_str_eq(json_string_value(json_object_get(one, "component")), "converter[1]");
    cr_expect_str_eq(json_string_value(json_object_get(one, "model")), "buck");
    cr_expect_str_eq(json_string_value(json_object_get(one, "signal")), "voltage_v");
    cr_expect_eq(json_real_value(json_object_get(one, "time_s")), 0.02);
    cr_expect_eq(json_integer_value(json_object_get(one, "step")), 2000);
    json_decref(root);
    unlink(path);

    FILE *to = open_memstream(&printed, &size);
    hil_summary_print(&summary, to);
    fclose(to);
    cr_expect(
        strstr(printed, "  failed      converter[1] (buck): its output voltage_v is infinite"),
        "%s", printed);
    free(printed);
    end(&rig);
}

/* Failures beyond the list are counted. */
Test(failure, a_log_has_the_first_in_full)
{
    const struct hil_model *pid = hil_model_find("pid");
    static struct hil_failure_log log;
    const double out[] = {NAN};

    for (unsigned i = 0; i < HIL_FAILURES_LISTED + 5; i++) {
        const struct hil_component control = {
            .is = {"control", i, 100}, .model = pid, .width = 1, .out_count = 1};
        const struct hil_failing failing = {.component = &control, .call = "step", .ends = i == 3};
        cr_expect_eq(hil_failure_add(&log, &failing, 0, out), i == 3 ? -ENOTRECOVERABLE : 0);
    }
    char text[HIL_FAILURE_WORDS_BYTES] = "";
    cr_expect_eq(log.count, HIL_FAILURES_LISTED + 5);
    cr_expect_eq(hil_failures_listed(&log), HIL_FAILURES_LISTED);
    hil_failure_describe(&log, text, sizeof text);
    cr_expect_eq(strncmp(text, "control[3] ", 11), 0, "%s", text);
}

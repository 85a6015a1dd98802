/*
 * Tests inputs that are not numbers: no law and no plant is given one. A controller and three
 * converters run in lockstep in one thread. The test pushes bad messages in place of the nodes.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "../sets.h"
#include "harness/run/group.h"
#include "harness/run/step_parts.h"
#include "harness/scenario/system.h"
#include "harness/summary/summary.h"
#include "link_state.h"
#include "test_scenario.h"
#include "tests/temporary.h"

enum { FIRST = 1 }; /* converter 0's number as a node */

/* The greatest number of controller steps in a test. */
enum { STEPS = 400 };

/* A link's message: a voltage, and for some laws a current; or a duty. */
struct sent {
    uint64_t step, acted_on;
    double values[2];
};

struct rig {
    struct hil_scenario *scenario;
    struct hil_run run;
    struct loco_fabric *fabric;
    struct hil_group group;
    uint64_t n;         /* the controller's next step */
    struct sent newest; /* of converter 0, at the last step */
};

static void open_rig(struct rig *rig, const char *const *sets)
{
    static char directory[TEMPORARY_SIZE];

    *rig = (struct rig){.scenario = load(SMALL TOGETHER, sets)};
    rig->run.scenario = rig->scenario;
    cr_assert_not_null(temporary_folder(directory));
    cr_assert_eq(hil_state_open(&rig->run.state, rig->scenario), 0);
    cr_assert_eq(loco_shm_open(&rig->fabric, directory), 0);
    cr_assert_eq(hil_group_start(&rig->group, &rig->run, rig->fabric, &rig->scenario->executors[0],
                                 20000000000),
                 0);
}

static void close_rig(struct rig *rig)
{
    hil_group_end(&rig->group, HIL_DONE);
    hil_group_close(&rig->group);
    loco_shm_close(rig->fabric);
    hil_state_close(rig->run.state);
    hil_scenario_free(rig->scenario);
}

static void step(const struct hil_node *r, uint64_t n)
{
    cr_assert_eq(r->loop.step(r->loop.arg, n, hil_loop_due(&r->loop, n)), 0);
}

/* The voltage that converter 0 pushes in place of its own at step n of the controller. */
static void push_voltage(const struct rig *rig, double voltage_v, double current_a)
{
    struct loco_owned_var *var = &rig->group.nodes[FIRST]->links.out[0];
    const struct sent m = {.step = 2 * rig->n + 1, .values = {voltage_v, current_a}};

    loco_owned_var_store(var, &m);
    loco_owned_var_push(var);
}

/* The state of the command that converter 0 has received. */
static double duty(const struct rig *rig)
{
    struct sent command;

    cr_assert_eq(loco_owned_var_load(&rig->group.nodes[FIRST]->links.in[0], &command), 0);
    return command.values[0];
}

static void newest_voltage(struct rig *rig)
{
    const struct loco_owned_var *var = &rig->group.nodes[0]->links.in[0];

    cr_assert_eq(loco_owned_var_load(var, &rig->newest), 0);
}

/* Makes a step of the controller and two of each converter. `bad` is sent by converter 0 meanwhile;
 * 0: it sends its own voltage. */
static void play(struct rig *rig, unsigned steps, double bad)
{
    for (; steps; steps--, rig->n++) {
        for (unsigned i = FIRST; i < rig->group.count; i++)
            step(rig->group.nodes[i], 2 * rig->n);
        if (bad != 0)
            push_voltage(rig, bad, rig->newest.values[1]);
        newest_voltage(rig);
        step(rig->group.nodes[0], rig->n);
        for (unsigned i = FIRST; i < rig->group.count; i++)
            step(rig->group.nodes[i], 2 * rig->n + 1);
    }
}

static double output(const struct rig *rig)
{
    return atomic_load(&rig->run.state->recent.value);
}

static uint64_t bad_voltages(const struct rig *rig, unsigned node)
{
    return link_state(&rig->run, node, 0)->bad;
}

/* --- the controller ------------------------------------------------------------------------- */

static const char *const laws[][3] = {
    {"components.control.model=pid"},
    {"components.control.model=pi"},
    {"components.control.model=type3"},
    {"components.control.model=state_feedback", CURRENT},
};

enum { LAWS = sizeof laws / sizeof laws[0] };

/* The bad voltage leaves no trace: the duties equal those of a run with the last good voltage sent.
 */
static void expect_held(const char *const *sets, double bad)
{
    struct rig hit, held;

    open_rig(&hit, sets);
    open_rig(&held, sets);
    play(&hit, 100, 0);
    play(&held, 100, 0);
    play(&hit, 1, bad);
    play(&held, 1, held.newest.values[0]);
    for (unsigned n = 0; n < 100; n++) {
        play(&hit, 1, 0);
        play(&held, 1, 0);
        cr_assert(isfinite(output(&hit)) && isfinite(duty(&hit)), "%s", sets[0]);
        cr_assert_eq(duty(&hit), duty(&held), "%s after %u", sets[0], n);
    }
    cr_expect_eq(bad_voltages(&hit, FIRST), 1);
    cr_expect_eq(bad_voltages(&hit, FIRST + 1), 0);
    cr_expect_gt(duty(&hit), 0, "%s: it is latched at duty_min", sets[0]);
    close_rig(&hit);
    close_rig(&held);
}

Test(bad_input, one_bad_voltage_is_held_over_by_every_law)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};

    for (size_t i = 0; i < LAWS; i++)
        for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
            expect_held(laws[i], bad[k]);
}

Test(bad_input, a_bad_current_is_a_bad_input)
{
    struct rig rig;

    open_rig(&rig, laws[3]);

    play(&rig, 10, 0);
    double before = output(&rig);
    for (unsigned i = FIRST; i < rig.group.count; i++)
        step(rig.group.nodes[i], 2 * rig.n);
    push_voltage(&rig, 1e6, NAN);
    step(rig.group.nodes[0], rig.n);
    cr_expect_eq(bad_voltages(&rig, FIRST), 1);
    cr_expect_lt(fabs(output(&rig) - before), 100, "the voltage beside it is not used either");
    close_rig(&rig);
}

Test(bad_input, so_many_in_a_row_make_it_safe_until_the_next_number)
{
    static const char *const sets[] = {"nodes.controller.bad_inputs_limit=5", SAFE_CONTROL("0.125"),
                                       SAFE_CONVERTER("0.125"), NULL};
    struct rig rig;

    open_rig(&rig, sets);

    play(&rig, 100, 0);
    play(&rig, 5, NAN);
    cr_expect_neq(duty(&rig), 0.125, "what is computed is sent a step later");
    play(&rig, 1, NAN);
    cr_expect_eq(duty(&rig), 0.125);
    play(&rig, 10, NAN);
    cr_expect_eq(duty(&rig), 0.125);
    cr_expect_eq(bad_voltages(&rig, FIRST), 16);
    play(&rig, 2, 0);
    cr_expect_neq(duty(&rig), 0.125);
    play(&rig, STEPS - 118, 0);
    cr_expect(isfinite(output(&rig)));
    cr_expect_gt(duty(&rig), 0);
    close_rig(&rig);
}

/* A good voltage in between ends the series of bad ones. */
Test(bad_input, only_those_in_a_row_count_for_that)
{
    static const char *const sets[] = {"nodes.controller.bad_inputs_limit=2", SAFE_CONTROL("0.125"),
                                       SAFE_CONVERTER("0.125"), NULL};
    struct rig rig;

    open_rig(&rig, sets);

    play(&rig, 100, 0);
    for (unsigned n = 0; n < 10; n++) {
        play(&rig, 1, NAN);
        play(&rig, 1, 0);
        cr_expect_neq(duty(&rig), 0.125);
    }
    cr_expect_eq(bad_voltages(&rig, FIRST), 10);
    close_rig(&rig);
}

/* The age of a message counts whatever its content: the peer is not standing still. */
Test(bad_input, is_not_a_stale_one)
{
    static const char *const sets[] = {"nodes.controller.input_age_limit_us=100", NULL};
    struct rig rig;

    open_rig(&rig, sets);

    play(&rig, 100, NAN);
    cr_expect_eq(rig.run.state->executors[0].stale.count, 0);
    close_rig(&rig);
}

static bool rests(const struct rig *rig, unsigned law)
{
    return rig->group.nodes[0]->step->parts[law].rests;
}

/* As play, but converter 0 stands still. */
static void play_without_first(struct rig *rig)
{
    for (unsigned i = FIRST + 1; i < rig->group.count; i++)
        step(rig->group.nodes[i], 2 * rig->n);
    step(rig->group.nodes[0], rig->n);
    for (unsigned i = FIRST + 1; i < rig->group.count; i++)
        step(rig->group.nodes[i], 2 * rig->n + 1);
    rig->n++;
}

/* Laws that are stepped in a row otherwise. */
Test(bad_input, one_law_rests_while_its_input_is_stale)
{
    static const char *const sets[] = {"nodes.controller.input_age_limit_us=100",
                                       "nodes.controller.on_stale_input=safe",
                                       SAFE_CONTROL("0.125"), SAFE_CONVERTER("0.125"), NULL};
    struct rig rig;

    open_rig(&rig, sets);
    const struct step_part *parts = rig.group.nodes[0]->step->parts;
    play(&rig, 100, 0);
    cr_expect_eq(parts[0].row, rig.group.count - 1);
    while (rig.run.state->executors[0].stale.count == 0)
        play_without_first(&rig);
    cr_expect_neq(duty(&rig), 0.125, "what is computed is sent a step later");
    play_without_first(&rig);
    cr_expect_eq(duty(&rig), 0.125);
    cr_expect(rests(&rig, 0) && !rests(&rig, 1) && !rests(&rig, 2));
    play(&rig, 1, 0);
    cr_expect(!rests(&rig, 0));
    play(&rig, 1, 0);
    cr_expect_neq(duty(&rig), 0.125);
    close_rig(&rig);
}

/* --- a converter ---------------------------------------------------------------------------- */

static void push_duty(const struct rig *rig, double value, uint64_t at)
{
    struct loco_owned_var *var = &rig->group.nodes[0]->links.out[0];
    const struct sent command = {.step = at, .values = {value}};

    loco_owned_var_store(var, &command);
    loco_owned_var_push(var);
}

/* The voltage of converter 0 after 400 of its steps, with a duty at each. The first ten duties are
 * good ones of 0.25, then come some that are `bad`, then good ones again. */
static double voltage_after(const char *const *sets, unsigned bads, double bad, uint64_t *counted)
{
    struct rig rig;

    open_rig(&rig, sets);
    const struct hil_node *converter = rig.group.nodes[FIRST];
    struct sent m;

    for (unsigned n = 0; n < 400; n++) {
        step(converter, n);
        push_duty(&rig, n >= 10 && n < 10 + bads ? bad : 0.25, n + 1);
    }
    cr_assert_eq(loco_owned_var_load(&rig.group.nodes[0]->links.in[0], &m), 0);
    *counted = link_state(&rig.run, 0, converter->id)->bad;
    close_rig(&rig);
    return m.values[0];
}

Test(bad_input, a_duty_that_is_no_number_is_held_over)
{
    static const char *const sets[] = {NULL};
    uint64_t counted;
    double expected = voltage_after(sets, 0, 0, &counted);

    cr_expect_eq(counted, 0);
    cr_expect_eq(voltage_after(sets, 3, NAN, &counted), expected);
    cr_expect_eq(counted, 3);
    cr_expect_eq(voltage_after(sets, 3, INFINITY, &counted), expected);
}

Test(bad_input, a_converter_makes_itself_safe)
{
    static const char *const sets[] = {"nodes.converter.bad_inputs_limit=5", SAFE_CONTROL("0.125"),
                                       SAFE_CONVERTER("0.125"), NULL};
    uint64_t counted;
    double safe = voltage_after(sets, 1000, NAN, &counted);

    cr_expect_eq(counted, 389, "the last duty comes after the last step");
    cr_expect(isfinite(safe));
    cr_expect_gt(voltage_after(sets, 0, 0, &counted) - safe, 1);
}

/* --- the verdict ---------------------------------------------------------------------------- */

Test(bad_input, makes_a_run_not_valid_unless_allowed)
{
    struct rig rig;

    open_rig(&rig, NULL);
    struct hil_verdict verdict;

    play(&rig, 3, NAN);
    for (unsigned allowed = 2; allowed <= 3; allowed++) {
        rig.scenario->validity.bad_inputs = allowed;
        hil_validity_judge(&verdict, rig.scenario, rig.run.state, 0);
        for (unsigned i = 0; i < verdict.count; i++) {
            const struct hil_check *check = &verdict.checks[i];
            if (strcmp(check->name, "bad_inputs") != 0)
                continue;
            cr_expect_eq(check->passed, allowed == 3);
            cr_expect_eq(check->value, 3);
            cr_expect_str_eq(check->reason, allowed == 3
                                                ? ""
                                                : "3 inputs were not numbers; allowed: at most 2; "
                                                  "some came over converter[0] -> controller");
        }
    }
    close_rig(&rig);
}

Test(bad_input, is_in_the_summary_by_link)
{
    static char path[TEMPORARY_SIZE];
    struct hil_verdict verdict;
    struct rig rig;

    open_rig(&rig, NULL);
    play(&rig, 3, NAN);
    link_state(&rig.run, 0, FIRST + 1)->bad = 2;
    hil_validity_judge(&verdict, rig.scenario, rig.run.state, 0);
    const struct hil_summary summary = {
        .scenario = rig.scenario, .state = rig.run.state, .out = "", .verdict = &verdict};
    close(temporary_file(path));
    cr_assert_eq(hil_summary_write(&summary, path), 0);
    json_t *root = json_load_file(path, 0, NULL);
    json_t *bad = json_object_get(root, "bad_inputs"), *each = json_object_get(bad, "each");
    cr_expect_eq(json_integer_value(json_object_get(bad, "count")), 5);
    cr_assert_eq(json_array_size(each), 2);
    json_t *duties = json_array_get(each, 0), *voltages = json_array_get(each, 1);
    cr_expect_str_eq(json_string_value(json_object_get(voltages, "link")),
                     "converter[0] -> controller");
    cr_expect_eq(json_integer_value(json_object_get(voltages, "count")), 3);
    cr_expect_str_eq(json_string_value(json_object_get(duties, "link")),
                     "controller -> converter[1]");
    json_decref(root);
    unlink(path);
    close_rig(&rig);
}

/* Tests files of parameters (SSV) that are applied to scenarios: the values that they set, and the
 * messages for mistakes. */
#include "test_scenario.h"

#include "folder.h"
#include "harness/scenario/load/load.h"
#include "harness/scenario/system.h"

TestSuite(parameters, .init = folder_open, .fini = folder_close);

#define SSV_BEGIN                                                                                  \
    "<?xml version='1.0'?>\n"                                                                      \
    "<p:ParameterSet xmlns:p='http://ssp-standard.org/SSP1/SystemStructureParameterValues'\n"      \
    " xmlns:c='http://ssp-standard.org/SSP1/SystemStructureCommon' version='1.0' name='a'>\n"
#define SSV(parameters)                                                                            \
    SSV_BEGIN "<p:Parameters>\n" parameters "</p:Parameters>\n</p:ParameterSet>\n"
#define REAL(name, value) "<p:Parameter name='" name "'><p:Real value='" value "'/></p:Parameter>\n"
#define IN_UNIT(name, value, u)                                                                    \
    "<p:Parameter name='" name "'><p:Real value='" value "' unit='" u "'/></p:Parameter>\n"
#define VALUE(name, type, value)                                                                   \
    "<p:Parameter name='" name "'><p:" type " value='" value "'/></p:Parameter>\n"

#define SERVO                                                                                      \
    "name: servo\nduration_s: 0.1\nmode: virtual\n"                                                \
    "nodes:\n  drive: {period_us: 10}\n"                                                           \
    "components:\n"                                                                                \
    "  motor: {model: dc_motor, node: drive, parameters: {resistance_ohm: 0.3}, inputs: "          \
    "{voltage_v: 0}}\n"                                                                            \
    "  cell: {model: battery, node: drive, count: 4, parameters: {capacity_ah: 5}, inputs: "       \
    "{current_a: 0}}\n"                                                                            \
    "  mix: {model: sum, node: drive, width: 3, inputs: {input: 0}}\n"

#define BANK_TEXT SMALL "mode: virtual\n"

enum { FILES_MAX = 3 };

static char message[MESSAGE_BYTES];

/* Loads a scenario with these files, named a.ssv, b.ssv and so on (NULL at the end), and with at
 * most one --set. */
static int load_with(struct hil_scenario **scenario, const char *text, const char *const *files,
                     const char *set)
{
    static char paths[FILES_MAX][4096];
    const char *at[FILES_MAX];
    struct hil_scenario_options options = {
        .sets = &set, .set_count = set != NULL, .parameters = at};

    put("s.yaml", text);
    for (; files[options.parameter_count]; options.parameter_count++) {
        const size_t i = options.parameter_count;
        char name[] = {(char)('a' + i), '.', 's', 's', 'v', '\0'};
        put(name, files[i]);
        snprintf(paths[i], sizeof paths[i], "%s", in_folder("%s", name));
        at[i] = paths[i];
    }
    return hil_scenario_load(scenario, in_folder("s.yaml"), &options, message, sizeof message);
}

static struct hil_scenario *expect_loads(const char *text, const char *ssv, const char *set)
{
    struct hil_scenario *s = NULL;

    cr_assert_eq(load_with(&s, text, (const char *const[]){ssv, NULL}, set), 0, "%s", message);
    return s;
}

/* The comparison ignores everything before the file's name. */
static void expect_mistake(const char *text, const char *ssv, const char *expected)
{
    struct hil_scenario *s = NULL;

    cr_assert_eq(load_with(&s, text, (const char *const[]){ssv, NULL}, NULL), -EINVAL, "%s", ssv);
    cr_expect(strstr(message, expected), "expected: %s\nsaid: %s", expected, message);
}

static const struct hil_component *component(const struct hil_scenario *s, const char *name,
                                             unsigned index)
{
    for (unsigned i = 0; i < s->system->component_count; i++)
        if (strcmp(s->system->components[i].is.name, name) == 0)
            return &s->system->components[i + index];
    cr_assert_fail("there is no %s", name);
    return NULL;
}

static double parameter(const struct hil_scenario *s, const char *name, unsigned index,
                        const char *row)
{
    const struct hil_component *c = component(s, name, index);
    const int i = hil_quantity_find(&c->model->parameters, row);

    cr_assert_geq(i, 0, "%s", row);
    return c->parameters[i];
}

/* The input's value while nothing feeds it. */
static double constant(const struct hil_scenario *s, const char *name, const char *row,
                       unsigned place)
{
    const struct hil_component *c = component(s, name, 0);
    const int i = hil_quantity_find(&c->model->inputs, row);

    cr_assert_geq(i, 0, "%s", row);
    return s->system->nodes[c->node].feeds[c->in + (unsigned)i + place].initial;
}

/* --- values that are set ---------------------------------------------------------------------- */

Test(parameters, a_value_takes_the_place_of_the_scenarios)
{
    struct hil_scenario *s = expect_loads(
        SERVO, SSV(REAL("motor.resistance_ohm", " 0.4 ") REAL("motor.inductance_h", "1e-3")), NULL);

    cr_expect_eq(parameter(s, "motor", 0, "resistance_ohm"), 0.4);
    cr_expect_eq(parameter(s, "motor", 0, "inductance_h"), 1e-3);
    hil_scenario_free(s);
}

Test(parameters, initial_states_and_constant_inputs_are_set_too)
{
    struct hil_scenario *s = expect_loads(
        SERVO, SSV(REAL("motor.speed_rad_per_s", "7") REAL("motor.load_torque_nm", "0.5")), NULL);
    const struct hil_component *c = component(s, "motor", 0);

    cr_expect_eq(c->states[hil_quantity_find(&c->model->states, "speed_rad_per_s")], 7);
    cr_expect_eq(constant(s, "motor", "load_torque_nm", 0), 0.5);
    hil_scenario_free(s);
}

/* Equal to the last bit to the value that the scenario's writer would have written. */
Test(parameters, units_are_converted)
{
    static const struct {
        const char *ssv, *row;
        double value;
    } cases[] = {
        {SSV(IN_UNIT("motor.inductance_h", "100", "uH")), "inductance_h", 1e-4},
        {SSV(IN_UNIT("motor.inductance_h", "0.3", "mH")), "inductance_h", 3e-4},
        {SSV(IN_UNIT("motor.resistance_ohm", "3e-4", "kOhm")), "resistance_ohm", 0.3},
        {SSV(IN_UNIT("motor.resistance_ohm", "0.7", "Ohm")), "resistance_ohm", 0.7},
        {SSV(IN_UNIT("motor.resistance_ohm", "0.7", "V/A")), "resistance_ohm", 0.7},
        {SSV(IN_UNIT("motor.resistance_ohm", "0.7", "1")), "resistance_ohm", 0.7},
        {SSV(IN_UNIT("motor.resistance_ohm", "0.7", "")), "resistance_ohm", 0.7},
        {SSV(IN_UNIT("motor.friction_nm_s", "3", "Nm min/rad")), "friction_nm_s", 180},
    };

    for (size_t i = 0; i + 1 < sizeof cases / sizeof cases[0]; i++) {
        struct hil_scenario *s = expect_loads(SERVO, cases[i].ssv, NULL);
        cr_expect_eq(parameter(s, "motor", 0, cases[i].row), cases[i].value, "%s: %.17g",
                     cases[i].ssv, parameter(s, "motor", 0, cases[i].row));
        hil_scenario_free(s);
    }
}

Test(parameters, units_are_those_of_the_file)
{
    struct hil_scenario *s =
        expect_loads(SERVO,
                     SSV_BEGIN "<p:Parameters>\n" IN_UNIT(
                         "motor.resistance_ohm", "2",
                         "thing") "</p:Parameters>\n"
                                  "<p:Units><c:Unit name='thing'><c:BaseUnit kg='1' m='2' s='-3' "
                                  "A='-2' factor='0.25' "
                                  "offset='0.125'/></c:Unit></p:Units></p:ParameterSet>\n",
                     NULL);

    cr_expect_eq(parameter(s, "motor", 0, "resistance_ohm"), 0.625);
    hil_scenario_free(s);
}

Test(parameters, types_of_both_versions)
{
    static const char *const ssvs[] = {
        SSV(VALUE("motor.resistance_ohm", "Integer", "2")),
        SSV(VALUE("motor.resistance_ohm", "Float64", "2")),
        SSV(VALUE("motor.resistance_ohm", "UInt16", "+2")),
        SSV_BEGIN
        "<p:Parameters><p:Parameter name='motor.resistance_ohm'><p:Enumeration value='low' "
        "name='Level'/><c:Annotations><p:Real value='9'/></c:Annotations></p:Parameter>"
        "</p:Parameters><p:Enumerations><c:Enumeration name='Other'><c:Item name='low' "
        "value='9'/></c:Enumeration><c:Enumeration name='Level'><c:Item name='high' "
        "value='5'/><c:Item name='low' value='2'/></c:Enumeration></p:Enumerations>"
        "</p:ParameterSet>",
    };

    for (size_t i = 0; i < sizeof ssvs / sizeof ssvs[0]; i++) {
        struct hil_scenario *s = expect_loads(SERVO, ssvs[i], NULL);
        cr_expect_eq(parameter(s, "motor", 0, "resistance_ohm"), 2, "%s", ssvs[i]);
        hil_scenario_free(s);
    }
}

Test(parameters, one_of_an_array_some_and_all)
{
    struct hil_scenario *s =
        expect_loads(SERVO,
                     SSV(REAL("cell[3].capacity_ah", "6") REAL("cell[0-1].resistance_ohm", "0.5")
                             REAL("cell[*].empty_v", "2.5")),
                     NULL);

    for (unsigned i = 0; i < 4; i++) {
        cr_expect_eq(parameter(s, "cell", i, "capacity_ah"), i == 3 ? 6 : 5);
        cr_expect_eq(parameter(s, "cell", i, "empty_v"), 2.5);
        if (i < 2)
            cr_expect_eq(parameter(s, "cell", i, "resistance_ohm"), 0.5);
        else
            cr_expect_neq(parameter(s, "cell", i, "resistance_ohm"), 0.5);
    }
    hil_scenario_free(s);
}

Test(parameters, one_place_of_a_wide_row)
{
    struct hil_scenario *s =
        expect_loads(SERVO, SSV(REAL("mix.gain[1]", "3") REAL("mix.input[*]", "0.5")), NULL);
    const struct hil_component *c = component(s, "mix", 0);

    cr_expect_eq(c->parameters[0], 1);
    cr_expect_eq(c->parameters[1], 3);
    cr_expect_eq(c->parameters[2], 1);
    for (unsigned i = 0; i < 3; i++)
        cr_expect_eq(constant(s, "mix", "input", i), 0.5);
    hil_scenario_free(s);
}

/* In an array with two models, components of the other model lack the parameter. */
Test(parameters, an_array_of_several_models)
{
    static const char text[] =
        "name: a\nduration_s: 0.1\nmode: virtual\nnodes: {n: {period_us: 10}}\n"
        "components:\n"
        "  x: {model: [gain, battery, battery, gain], node: n, count: 4, inputs: {input: 0, "
        "current_a: 0}}\n";
    struct hil_scenario *s =
        expect_loads(text, SSV(REAL("x[2].capacity_ah", "6") REAL("x[*].gain", "9")), NULL);

    cr_expect_eq(parameter(s, "x", 2, "capacity_ah"), 6);
    cr_expect_eq(parameter(s, "x", 1, "capacity_ah"), 5);
    cr_expect_eq(parameter(s, "x", 0, "gain"), 9);
    cr_expect_eq(parameter(s, "x", 3, "gain"), 9);
    hil_scenario_free(s);
}

Test(parameters, a_later_file_wins_and_a_set_wins_over_both)
{
    static const char *const files[] = {
        SSV(REAL("motor.resistance_ohm", "1") REAL("cell[1].capacity_ah", "7")
                REAL("motor.inductance_h", "1")),
        SSV(REAL("motor.resistance_ohm", "2") REAL("cell[*].capacity_ah", "8")), NULL};
    struct hil_scenario *s = NULL;

    cr_assert_eq(load_with(&s, SERVO, files, "components.motor.parameters.inductance_h=0.25"), 0,
                 "%s", message);
    cr_expect_eq(parameter(s, "motor", 0, "resistance_ohm"), 2);
    cr_expect_eq(parameter(s, "motor", 0, "inductance_h"), 0.25);
    cr_expect_eq(parameter(s, "cell", 1, "capacity_ah"), 8);
    hil_scenario_free(s);
}

/* The scenario that a run leaves runs again with the same results. */
Test(parameters, the_scenario_that_is_left_has_the_values)
{
    static const char *const texts[] = {SERVO, BANK_TEXT};
    static const char *const ssvs[] = {SSV(REAL("cell[2].capacity_ah", "6")),
                                       SSV(REAL("control[1].kp_per_v", "0.05"))};

    for (unsigned i = 0; i < 2; i++) {
        struct hil_scenario *s = expect_loads(texts[i], ssvs[i], NULL), *again = NULL, *without;
        cr_assert_eq(load_with(&again, s->resolved, (const char *const[]){NULL}, NULL), 0, "%s",
                     message);
        cr_expect_str_eq(again->resolved, s->resolved);
        cr_expect_eq(again->listing.hash, s->listing.hash);
        cr_assert_eq(load_with(&without, texts[i], (const char *const[]){NULL}, NULL), 0);
        cr_expect_neq(without->listing.hash, s->listing.hash);
        hil_scenario_free(s);
        hil_scenario_free(again);
        hil_scenario_free(without);
    }
}

/* --- a controller and its converters ---------------------------------------------------------- */

Test(parameters, by_the_names_of_components)
{
    struct hil_scenario *s = expect_loads(
        BANK_TEXT,
        SSV(REAL("control[*].kp_per_v", "0.05") IN_UNIT("converter[2].inductance_h", "30", "uH")),
        NULL);

    for (unsigned i = 0; i < 3; i++) {
        cr_expect_eq(parameter(s, "control", i, "kp_per_v"), 0.05);
        cr_expect_eq(parameter(s, "converter", i, "inductance_h"), i == 2 ? 3e-5 : 4.7e-5);
    }
    hil_scenario_free(s);
}

Test(parameters, a_set_wins_over_a_file)
{
    static const char ssv[] =
        SSV(REAL("control[*].kp_per_v", "0.05") REAL("converter[*].inductance_h", "1e-5"));
    struct hil_scenario *s =
        expect_loads(BANK_TEXT, ssv, "components.control.parameters.kp_per_v=0.07");

    cr_expect_eq(parameter(s, "control", 1, "kp_per_v"), 0.07);
    cr_expect_eq(parameter(s, "converter", 1, "inductance_h"), 1e-5);
    hil_scenario_free(s);
    s = expect_loads(BANK_TEXT, ssv, "components.converter.parameters.inductance_h=2e-5");
    cr_expect_eq(parameter(s, "control", 1, "kp_per_v"), 0.05);
    cr_expect_eq(parameter(s, "converter", 1, "inductance_h"), 2e-5);
    hil_scenario_free(s);
}

/* --- settings --------------------------------------------------------------------------------- */

#define BENCH                                                                                      \
    "name: bench\nduration_s: 0.1\nnodes: {n: {period_us: 1000}, bench: {period_us: 1000}}\n"      \
    "components:\n"                                                                                \
    "  here: {model: gain, node: n, inputs: {input: 0}}\n"                                         \
    "  there:\n    model: outside\n    node: bench\n"                                              \
    "    settings: {takes: {torque_nm: N m}, gives: {speed: rad/s}}\n"

/* The text of a file with `count` parameters, each from the line with its number. */
static char *many(const char *begin, const char *line, unsigned count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);

    cr_assert_not_null(to);
    fputs(begin, to);
    for (unsigned i = 0; i < count; i++) {
        for (const char *at = line; *at; at++)
            *at == '#' ? fprintf(to, "%u", i) : fputc(*at, to);
        fputc('\n', to);
    }
    return fclose(to) ? NULL : text;
}

static char *joined(char *text, const char *more)
{
    char *both = malloc(strlen(text) + strlen(more) + 1);

    cr_assert_not_null(both);
    strcat(strcpy(both, text), more);
    free(text);
    return both;
}

#define MANY     60000
#define SSV_TAIL "</p:Parameters>\n</p:ParameterSet>\n"

/* The work grows with the number of parameters; if it grew with its square, this test would take
 * minutes. */
Test(parameters, very_many_of_an_array, .timeout = 120)
{
    char text[300];

    snprintf(text, sizeof text,
             "name: a\nduration_s: 0.1\nmode: virtual\nnodes:\n  n: {period_us: 10}\n"
             "components:\n  g: {model: gain, node: n, count: %u, inputs: {input: 0}}\n",
             MANY);
    char *ssv =
        joined(many(SSV_BEGIN "<p:Parameters>\n",
                    "<p:Parameter name='g[#].gain'><p:Real value='#'/></p:Parameter>", MANY),
               SSV_TAIL);
    struct hil_scenario *s = expect_loads(text, ssv, NULL);
    cr_expect_eq(s->system->components[0].parameters[0], 0);
    cr_expect_eq(s->system->components[MANY - 1].parameters[0], MANY - 1);
    hil_scenario_free(s);
    free(ssv);
}

Test(parameters, very_many_components_units_and_items)
{
    enum { COUNT = 3000 };
    char *text = many("name: a\nduration_s: 0.1\nmode: virtual\nnodes:\n  n: {period_us: 10}\n"
                      "components:\n",
                      "  g#: {model: gain, node: n, inputs: {input: 0}}", COUNT);
    char *ssv = joined(
        many(SSV_BEGIN "<p:Parameters>\n",
             "<p:Parameter name='g#.gain'><p:Real value='#' unit='u#'/></p:Parameter>\n"
             "<p:Parameter name='g#.input'><p:Enumeration value='i#' name='e'/></p:Parameter>",
             COUNT),
        "</p:Parameters>\n<p:Units>\n");
    char *units = many("", "<c:Unit name='u#'><c:BaseUnit factor='2'/></c:Unit>", COUNT);
    ssv = joined(joined(ssv, units), "</p:Units>\n<p:Enumerations><c:Enumeration name='e'>\n");
    char *items = many("", "<c:Item name='i#' value='#'/>", COUNT);
    ssv = joined(joined(ssv, items), "</c:Enumeration></p:Enumerations>\n</p:ParameterSet>\n");
    struct hil_scenario *s = expect_loads(text, ssv, NULL);
    cr_expect_eq(s->system->components[COUNT - 1].parameters[0], 2 * (COUNT - 1));
    hil_scenario_free(s);
    free(items);
    free(units);
    free(ssv);
    free(text);
}

Test(parameters, a_setting_is_set_before_its_model_is_loaded)
{
    struct hil_scenario *s =
        expect_loads(BENCH, SSV(VALUE("there.takes.torque_nm", "String", "Nm")), NULL);

    cr_expect_str_eq(component(s, "there", 0)->model->inputs.at[0].unit, "Nm");
    cr_expect(strstr(s->resolved, "torque_nm: \"Nm\""), "%s", s->resolved);
    hil_scenario_free(s);
    s = expect_loads(BENCH, SSV(VALUE("there.takes.torque_nm", "String", "Nm")),
                     "components.there.settings.takes.torque_nm=kNm");
    cr_expect_str_eq(component(s, "there", 0)->model->inputs.at[0].unit, "kNm");
    hil_scenario_free(s);
}

Test(parameters, a_setting_has_no_unit)
{
    expect_mistake(BENCH, SSV(IN_UNIT("there.takes.torque_nm", "2", "Nm")),
                   "a.ssv:5:43: there.takes.torque_nm is in Nm, but a setting has no unit");
}

/* --- mistakes --------------------------------------------------------------------------------- */

Test(parameters, mistakes_in_names)
{
    expect_mistake(SERVO, SSV(REAL("moter.resistance_ohm", "1")),
                   "a.ssv:5:42: there is no component 'moter' (did you mean 'motor'?); allowed: "
                   "motor, cell, mix");
    expect_mistake(SERVO, SSV(REAL("motor.resistance", "1")),
                   "a.ssv:5:38: motor, a dc_motor, has no parameter 'resistance' (did you mean "
                   "'resistance_ohm'?)");
    expect_mistake(SERVO, SSV(REAL("motor", "1")),
                   "a.ssv:5:27: 'motor' names no parameter; allowed: COMPONENT.PARAMETER");
    expect_mistake(SERVO, SSV(REAL("cell[4].capacity_ah", "1")), "allowed: cell, or cell[0] to");
    expect_mistake(SERVO, SSV(REAL("mix.gain[3]", "1")),
                   "a.ssv:5:33: 'mix.gain[3]' is none of the 3 places of gain; allowed: 0 to 2");
    expect_mistake(SERVO, SSV(REAL("motor.resistance_ohm[1]", "1")), "none of the 1 places");
    expect_mistake(SERVO, SSV(REAL("mix.gain[x]", "1")),
                   "does not end in the number of a parameter");
    expect_mistake(SERVO, SSV(REAL("mix.gain[1]", "1") REAL("mix.gain[1]", "2")),
                   "a.ssv:6:33: mix.gain[1] is given a second time, after line 5; allowed: once");
}

Test(parameters, mistakes_in_values)
{
    expect_mistake(
        SERVO, SSV(REAL("motor.resistance_ohm", "-1")),
        "a.ssv:5:42: components.motor.parameters.resistance_ohm is '-1'; allowed: a number, ");
    expect_mistake(SERVO, SSV(REAL("motor.resistance_ohm", "INF")),
                   "a.ssv:5:42: motor.resistance_ohm is 'INF'; allowed: a number");
    expect_mistake(SERVO, SSV(VALUE("motor.resistance_ohm", "Integer", "1.5")),
                   "motor.resistance_ohm is '1.5'; allowed: a whole number");
    expect_mistake(SERVO, SSV(VALUE("motor.resistance_ohm", "Boolean", "maybe")),
                   "motor.resistance_ohm is 'maybe'; allowed: true or false");
    expect_mistake(SERVO, SSV(VALUE("motor.resistance_ohm", "String", "much")),
                   "motor.resistance_ohm is the text 'much'; allowed: a number");
    expect_mistake(SERVO, SSV(VALUE("motor.resistance_ohm", "Enumeration", "low")),
                   "motor.resistance_ohm is the text 'low'; allowed: a number");
    expect_mistake(SERVO,
                   SSV_BEGIN
                   "<p:Parameters><p:Parameter name='motor.resistance_ohm'><p:Enumeration "
                   "value='lwo' name='Level'/></p:Parameter></p:Parameters><p:Enumerations>"
                   "<c:Enumeration name='Level'><c:Item name='low' value='2'/>"
                   "</c:Enumeration></p:Enumerations></p:ParameterSet>",
                   "motor.resistance_ohm is 'lwo', which Level has not (did you mean 'low'?)");
    /* The first mistake does not hide the second. */
    cr_expect_eq(load_with(&(struct hil_scenario *){NULL}, SERVO,
                           (const char *const[]){SSV(REAL("a.b", "x") REAL("c.d", "y")), NULL},
                           NULL),
                 -EINVAL);
    cr_expect(strstr(message, "a.b is 'x'") && strstr(message, "c.d is 'y'"), "%s", message);
}

Test(parameters, mistakes_in_units)
{
    expect_mistake(
        SERVO, SSV(IN_UNIT("motor.resistance_ohm", "1", "V")),
        "a.ssv:5:42: motor.resistance_ohm is in V; allowed: Ohm, or what can be told in it");
    expect_mistake(
        SERVO, SSV(IN_UNIT("motor.resistance_ohm", "1", "rum")),
        "motor.resistance_ohm is in rum, which is no known unit; allowed: Ohm, or a unit "
        "that the file's Units define");
    expect_mistake(SERVO, SSV(IN_UNIT("motor.resistance_ohm", "1", "%")),
                   "motor.resistance_ohm is in %; allowed: Ohm");
}

/* Sets a constant for an input that something else feeds. */
Test(parameters, an_input_is_fed_once)
{
    expect_mistake(SERVO "sources: {load: {to: motor.load_torque_nm, constant: 1}}\n",
                   SSV(REAL("motor.load_torque_nm", "0.5")), "is fed a second time");
}

Test(parameters, what_is_no_file_of_parameters)
{
    static const struct {
        const char *ssv, *said;
    } cases[] = {
        {"name: servo\n", "a.ssv:1:1: it is no XML (syntax error)"},
        {"", "a.ssv:2:1: it is no XML (no element found)"},
        {SSV("<p:Parameter>"), "a.ssv:5:1: a Parameter has no name; required: one"},
        {SSV("<p:Parameter name='a.b'/>"), "a.ssv:5:26: a.b has no value; required: one"},
        {SSV("<p:Parameter name='a.b'><p:Real/></p:Parameter>"),
         "a.ssv:5:25: a Real has no value; required: one"},
        {SSV("<p:Parameter name='a.b'><p:Real value='1'/><p:Real value='2'/></p:Parameter>"),
         "a.ssv:5:44: a.b has a second value; allowed: one"},
        {SSV("<p:Parameter name='a.b'><p:Binary value='1'/></p:Parameter>"),
         "a.ssv:5:25: the value of a.b is a Binary; allowed: Real, Integer, Boolean, String, "},
        {SSV("<p:Param/>"), "a.ssv:5:1: there is a Param in Parameters; allowed: Parameter"},
        {SSV("<p:Parameter name='a.b'></p:Parameters>"), "it is no XML (mismatched tag)"},
        {"<ParameterSet version='1.0'/>",
         "the element is ParameterSet; allowed: a ParameterSet of SSP"},
        {"<p:ParameterSet xmlns:p='http://ssp-standard.org/SSP1/SystemStructureParameterValues' "
         "version='3.0'/>",
         "version is '3.0'; allowed: 1.0 or 2.0"},
        {"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
         "a.ssv:1:13: there is a document type; allowed: none"},
        {SSV_BEGIN
         "<p:Units><c:Unit name='u'><c:BaseUnit m='x'/></c:Unit></p:Units></p:ParameterSet>",
         "m is 'x'; allowed: a number"},
        {SSV_BEGIN
         "<p:Units><c:Unit name='u'><c:BaseUnit m='0.5'/></c:Unit></p:Units></p:ParameterSet>",
         "m is 0.5; allowed: a small whole number"},
        {SSV_BEGIN
         "<p:Units><c:Unit name='u'><c:BaseUnit factor='0'/></c:Unit></p:Units></p:ParameterSet>",
         "factor is 0; allowed: any other number"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_mistake(SERVO, cases[i].ssv, cases[i].said);
}

Test(parameters, a_file_that_is_not_there)
{
    const char *paths[] = {"/nowhere/a.ssv", folder};
    const struct hil_scenario_options options = {.parameters = paths, .parameter_count = 2};
    struct hil_scenario *s;

    put("s.yaml", SERVO);
    cr_expect_eq(hil_scenario_load(&s, in_folder("s.yaml"), &options, message, sizeof message),
                 -EINVAL);
    cr_expect(strstr(message, "/nowhere/a.ssv:1:1: it cannot be read (No such file"), "%s",
              message);
    cr_expect(strstr(message, ":1:1: it cannot be read (File too large)"), "%s", message);
}

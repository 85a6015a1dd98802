/* Tests the columns of a node's rows: which there are, their names, and where they begin. */
#include "../sets.h"
#include "test_scenario.h"

#include "harness/record/columns.h"

/* Four batteries on nodes of their own, and a node that reads them, with a motor, a wide component
 * and two components of the same model. */
#define GENERAL                                                                                    \
    "name: general\nduration_s: 0.1\nmode: virtual\n"                                              \
    "nodes:\n"                                                                                     \
    "  hub: {period_us: 100}\n"                                                                    \
    "  cell: {period_us: 10, count: 4}\n"                                                          \
    "components:\n"                                                                                \
    "  pack: {model: battery, node: \"cell[*]\", count: 4}\n"                                      \
    "  mixer: {model: sum, node: hub, width: 3}\n"                                                 \
    "  motor: {model: dc_motor, node: hub}\n"                                                      \
    "  law: {model: generic_pi, node: hub}\n"                                                      \
    "  lag: {model: gain, node: hub, count: 4}\n"                                                  \
    "connections:\n"                                                                               \
    "  - {from: \"pack[*].voltage_v\", to: \"lag[*].input\"}\n"                                    \
    "sources:\n"                                                                                   \
    "  one: {to: [\"pack[*].current_a\", \"mixer.input[*]\", motor.voltage_v, law.reference, "     \
    "law.measurement], constant: 1}\n"

/* Describes a column: "name (unit) xWIDTH = signals | measure role". */
static void describe(const struct hil_column *c, char text[400])
{
    int used = snprintf(text, 400, "%s (%s)", c->name, c->unit);

    if (hil_column_is_matrix(c))
        used += snprintf(text + used, 400 - (size_t)used, " x%u", c->width);
    if (c->of.signals)
        used += snprintf(text + used, 400 - (size_t)used, " = %s", c->of.signals);
    if (c->of.measure)
        snprintf(text + used, 400 - (size_t)used, " | %s %s", c->of.measure, c->of.role);
}

/* Checks that the node has these columns, and that its rows have the width that they give. */
static void expect_columns(const char *text, const char *const *sets, unsigned node,
                           const char *const *expected)
{
    struct hil_scenario *scenario = load(text, sets);
    struct hil_pool *pool = hil_pool_open();
    struct hil_columns columns;
    char found[400];
    unsigned width = 0, i = 0;

    cr_assert_eq(hil_columns_of(&columns, pool, scenario, node), 0);
    for (; i < columns.count && expected[i]; width += columns.at[i++].width) {
        describe(&columns.at[i], found);
        cr_expect_str_eq(found, expected[i]);
    }
    cr_expect(i == columns.count && !expected[i], "%u columns", columns.count);
    cr_expect_eq(hil_columns_places(scenario, node).width, width);
    hil_pool_close(pool);
    hil_scenario_free(scenario);
}

#define EXPECT(text, node, ...)                                                                    \
    expect_columns(text, NULL, node, (const char *const[]){__VA_ARGS__, NULL})

Test(columns, of_a_node_that_records_nothing)
{
    EXPECT(GENERAL "record: []\n", 0, "time_s (s)");
}

/* Consecutive signals of one array and of one row of its model share a column. */
Test(columns, arrays_and_wide_rows)
{
    EXPECT(GENERAL
           "record:\n  - {node: hub, signals: [\"pack[*].voltage_v\", motor.speed_rad_per_s, "
           "\"mixer.input[*]\", \"lag[1-2].input\"]}\n",
           0, "time_s (s)", "voltage_v (V) x4 = pack[*].voltage_v",
           "speed_rad_per_s (rad/s) = motor.speed_rad_per_s", "mixer.input () x3 = mixer.input[*]",
           "lag.input () x2 = lag[1-2].input");
    EXPECT(GENERAL "record:\n  - {signals: \"pack[*].voltage_v\", decimation: 1}\n", 3,
           "time_s (s)", "voltage_v (V) = pack[2].voltage_v");
}

/* "Where that name would be there twice in the stream": the component's name comes first or, if
 * that does not distinguish them, the full name. */
/* A member of an array that is on one node has the shape of the array. Of an array that is spread
 * over nodes, each node has one. */
Test(columns, one_has_the_shape_of_many)
{
    static const char *const one[] = {"components.lag.count=1", "components.pack.count=1",
                                      "nodes.cell.count=1", "components.mixer.width=1", NULL};
    static const char record[] =
        GENERAL "record:\n  - {node: hub, signals: [\"pack[*].voltage_v\", \"mixer.input[*]\", "
                "\"lag[*].input\"]}\n  - {node: \"cell[0]\", signals: \"pack[0].current_a\"}\n";

    expect_columns(record, one, 0,
                   (const char *const[]){"time_s (s)", "voltage_v (V) x1 = pack[*].voltage_v",
                                         "mixer.input () x1 = mixer.input[*]",
                                         "lag.input () x1 = lag[*].input", NULL});
    expect_columns(record, one, 1,
                   (const char *const[]){"time_s (s)", "current_a (A) = pack[*].current_a", NULL});
    EXPECT(record, 1, "time_s (s)", "current_a (A) = pack[0].current_a");
    EXPECT(GENERAL "record:\n  - {node: hub, signals: \"lag[3].input\"}\n", 0, "time_s (s)",
           "input () x1 = lag[3].input");
}

Test(columns, doubled_names)
{
    EXPECT(GENERAL "record:\n  - {node: hub, signals: [motor.voltage_v, \"pack[*].voltage_v\"]}\n",
           0, "time_s (s)", "motor.voltage_v (V) = motor.voltage_v",
           "pack.voltage_v (V) x4 = pack[*].voltage_v");
    EXPECT(GENERAL "record:\n  - {node: hub, signals: [\"pack[0].voltage_v\", "
                   "\"pack[2-3].voltage_v\", law.output]}\n",
           0, "time_s (s)", "pack[0].voltage_v (V) x1 = pack[0].voltage_v",
           "pack[2-3].voltage_v (V) x2 = pack[2-3].voltage_v", "output () = law.output");
    EXPECT(GENERAL "record:\n  - {node: hub, signals: [law.output, motor.angle_rad, law.output]}\n",
           0, "time_s (s)", "law.output () = law.output", "angle_rad (rad) = motor.angle_rad",
           "law.output (2) () = law.output");
}

/* No other column has the name of a time column, even in virtual time, which has no times. */
Test(columns, times_keep_their_names)
{
    static const char measured[] = GENERAL "measures:\n  step: {sum: motor.angle_rad}\n";

    EXPECT(measured, 0, "time_s (s)", "step (2) (rad) | step value");
    expect_columns(measured, SETS("mode=realtime"), 0,
                   (const char *const[]){"time_s (s)", "step ()", "plant_time_s (s)",
                                         "step (2) (rad) | step value", NULL});
}

/* A measure has columns for its value and its reference. A measure of each signal is a column of
 * signals that says so. */
Test(columns, measures_and_their_references)
{
    EXPECT(GENERAL "record:\n  - {node: hub, signals: [\"pack[*].voltage_v\"]}\n"
                   "measures:\n"
                   "  total_v: {sum: \"pack[*].voltage_v\", reference: motor.voltage_v}\n"
                   "  level_v: {each: \"pack[*].voltage_v\", node: hub}\n"
                   "  turn_rad: {sum: motor.angle_rad}\n"
                   "  motor_v: {sum: motor.voltage_v, reference: motor.voltage_v}\n",
           0, "time_s (s)", "total_v (V) | total_v value",
           "total_v.voltage_v (V) | total_v reference", "turn_rad (rad) | turn_rad value",
           "motor_v (V) | motor_v value", "motor_v.voltage_v (V) | motor_v reference",
           "pack.voltage_v (V) x4 = pack[*].voltage_v | level_v each");
}

/* "Streams controller and converter/007, columns time_s step plant_time_s output_v reference_v
 * voltage_v duty current_a." */
Test(columns, of_a_controller_and_converters)
{
    static const char *const controller[] = {
        "time_s (s)",
        "step ()",
        "plant_time_s (s)",
        "output_v (V) | output_v value",
        "reference_v (V) | output_v reference",
        "voltage_v (V) x3 = converter[*].voltage_v | voltage_v each",
        "duty () x3 = control[*].duty",
        NULL,
    };
    static const char *const converter[] = {"time_s (s)", "voltage_v (V) = converter[1].voltage_v",
                                            "current_a (A) = converter[1].current_a",
                                            "duty () = converter[1].duty", NULL};

    expect_columns(SMALL, SETS("mode=realtime"), 0, controller);
    expect_columns(SMALL, SETS("mode=virtual", RECORD_CONVERTERS("0")), 2, converter);
}

Test(columns, where_a_row_has_what)
{
    struct hil_scenario *scenario = load(SMALL, SETS("mode=realtime"));
    struct hil_row_places places = hil_columns_places(scenario, 0);

    cr_expect(places.clocked && places.measures == 3 && places.signals == 5 && places.width == 11);
    cr_expect(hil_columns_has(&scenario->system->measures[0]));
    cr_expect_not(hil_columns_has(&scenario->system->measures[1]), "it is of each");
    hil_scenario_free(scenario);
    scenario = load(SMALL, SETS("mode=virtual", RECORD_CONVERTERS("0")));
    places = hil_columns_places(scenario, 1);
    cr_expect(!places.clocked && places.measures == 1 && places.signals == 1 && places.width == 4);
    hil_scenario_free(scenario);
}

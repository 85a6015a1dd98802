/* Tests the summary of a scenario with nodes, links and measures of any name: summary.json, and the
 * text for people. */
#include <jansson.h>
#include <math.h>

#include "harness/summary/summary.h"
#include "harness/summary/validity.h"
#include "test_scenario.h"
#include "tests/temporary.h"

#define NODES                                                                                      \
    "name: general\n"                                                                              \
    "duration_s: 0.1\n"                                                                            \
    "mode: virtual\n"                                                                              \
    "nodes:\n"                                                                                     \
    "  drive: {period_us: 10}\n"                                                                   \
    "  watch: {count: 2, period_us: [20, 40]}\n"                                                   \
    "components:\n"                                                                                \
    "  motor: {model: dc_motor, node: drive}\n"                                                    \
    "  cell: {model: first_order_lag, node: drive, count: 3}\n"                                    \
    "  eye: {model: gain, node: 'watch[*]', count: 2}\n"                                           \
    "connections:\n"                                                                               \
    "- {from: motor.angle_rad, to: 'eye[*].input', scale: 1}\n"                                    \
    "sources:\n"                                                                                   \
    "  wanted: {to: motor.voltage_v, steps: {initial: 1, changes: [{time_s: 0.05, value: 2}]}}\n"  \
    "  cells: {to: 'cell[*].input', steps: {initial: 1}}\n"

#define MEASURES                                                                                   \
    "measures:\n"                                                                                  \
    "  speed: {sum: motor.speed_rad_per_s}\n"                                                      \
    "  drop: {sum: motor.voltage_v, reference: motor.voltage_v}\n"                                 \
    "  level: {each: 'cell[*].output', reference: 'cell[*].input'}\n"

enum { SPEED, DROP, LEVEL }; /* measures */

static struct hil_scenario *scenario;
static struct hil_state *state;
static char said[8192];

static void open_run(const char *text)
{
    scenario = load(text, NULL);
    cr_assert_eq(hil_state_open(&state, scenario), 0);
    for (unsigned i = 0; i < state->node_count; i++) {
        state->nodes[i].here = true;
        state->nodes[i].steps = 100 + i;
        state->nodes[i].begin_ns = 100000000 - state->nodes[i].period_ns;
    }
    atomic_store(&state->executors[0].stage, HIL_DONE);
    atomic_store(&state->elapsed_ns, 100000000);
}

/* The drive's measures: the speed grows, and the rest follows 1, then 2, except cell 1. */
static void follow(void)
{
    struct hil_cursor cursor = {0};

    for (unsigned n = 0; n < 10000; n++) {
        const double wanted = n < 5000 ? 1 : 2;
        struct hil_moment at = hil_responses_at(&state->responses, &cursor, n * 10000ull);
        hil_response_add(&at, SPEED, NAN, n * 0.001);
        hil_response_add(&at, DROP, wanted, wanted);
        for (unsigned i = 0; i < 3; i++)
            hil_response_add(&at, LEVEL + i, 1, i == 1 ? 1.5 : 1);
    }
}

/* Returns the written summary; also fills said[]. */
static json_t *summary(void)
{
    char path[TEMPORARY_SIZE];
    const int file = temporary_file(path);
    struct hil_verdict verdict;
    const struct hil_summary sum = {
        .scenario = scenario, .state = state, .out = "here", .verdict = &verdict};
    FILE *to = fmemopen(said, sizeof said, "w");

    cr_assert(file >= 0 && to);
    hil_validity_judge(&verdict, scenario, state, 0);
    cr_assert_eq(hil_summary_write(&sum, path), 0);
    hil_summary_print(&sum, to);
    fclose(to);
    json_t *root = json_load_file(path, 0, NULL);
    cr_assert_not_null(root);
    unlink(path);
    close(file);
    return root;
}

static void close_run(json_t *root)
{
    json_decref(root);
    hil_state_close(state);
    hil_scenario_free(scenario);
}

static json_t *at(json_t *root, const char *path)
{
    char copy[200], *rest = copy, *key;

    snprintf(copy, sizeof copy, "%s", path);
    while (root && (key = strsep(&rest, ".")))
        root = json_is_array(root) ? json_array_get(root, (size_t)atoi(key))
                                   : json_object_get(root, key);
    cr_assert_not_null(root, "there is no %s", path);
    return root;
}

static void expect_number(json_t *root, const char *path, double expected)
{
    cr_expect_float_eq(json_number_value(at(root, path)), expected, 1e-9, "%s", path);
}

static void expect_text(json_t *root, const char *path, const char *expected)
{
    cr_expect_str_eq(json_string_value(at(root, path)), expected, "%s", path);
}

Test(summary, nodes_and_links_go_by_array)
{
    open_run(NODES MEASURES);
    json_t *root = summary();

    expect_number(root, "nodes.drive.count", 1);
    expect_number(root, "nodes.drive.period_us", 10);
    cr_expect_null(json_object_get(at(root, "nodes.drive"), "each"));
    expect_number(root, "nodes.watch.count", 2);
    expect_number(root, "nodes.watch.steps", 101 + 102);
    cr_expect(json_is_null(at(root, "nodes.watch.period_us")));
    expect_text(root, "nodes.watch.each.1.node", "watch[1]");
    expect_number(root, "nodes.watch.each.1.period_us", 40);
    cr_expect_eq(json_array_size(at(root, "links")), 1);
    expect_text(root, "links.0.from", "drive");
    expect_text(root, "links.0.to", "watch[*]");
    cr_expect_null(json_object_get(at(root, "links.0"), "round_trip_us"));
    cr_expect(strstr(said, "general: drive at 10 us, watch[0-1], 0.1 of 0.1 s"), "%s", said);
    close_run(root);
}

/* Another process ran the nodes of `watch`, and the drive's measures stay in this process. */
Test(summary, what_was_elsewhere_is_null)
{
    open_run(NODES MEASURES);
    state->nodes[1].here = state->nodes[2].here = false;
    follow();
    json_t *root = summary();
    cr_expect(json_is_null(at(root, "nodes.watch")));
    cr_expect(json_is_object(at(root, "measures.drop")));
    cr_expect_not(strstr(said, "  watch "), "%s", said);
    close_run(root);

    open_run(NODES MEASURES);
    root = summary();
    cr_expect(json_is_null(at(root, "measures.drop")));
    cr_expect(json_is_null(at(root, "events")));
    close_run(root);
}

Test(summary, measures_have_their_names_and_units)
{
    open_run(NODES MEASURES);
    follow();
    json_t *root = summary();

    expect_text(root, "measures.speed.unit", "rad/s");
    expect_number(root, "measures.speed.final", 9.999);
    cr_expect(json_is_null(at(root, "measures.speed.settled")));
    cr_expect(json_is_null(at(root, "measures.speed.reference")));
    cr_expect(json_is_true(at(root, "measures.drop.settled")));
    expect_text(root, "measures.drop.unit", "V");
    expect_number(root, "measures.drop.reference", 2);
    expect_number(root, "measures.level.count", 3);
    expect_number(root, "measures.level.unsettled", 1);
    expect_number(root, "measures.level.worst", 1);
    expect_number(root, "measures.level.each.1.index", 1);
    cr_expect(json_is_false(at(root, "measures.level.each.1.settled")));
    cr_expect(strstr(said, "  speed       9.9990 rad/s; mean"), "%s", said);
    cr_expect(strstr(said, "  drop        2.0000 V of 2.0000 V; settled 0.00 ms after start-up, "
                           "the longest of 2 events"),
              "%s", said);
    cr_expect(
        strstr(said, "  level       1 of 3 did not settle, the worst is [1] after start-up; "),
        "%s", said);
    close_run(root);
}

Test(summary, events_are_the_changes_of_sources)
{
    open_run(NODES MEASURES);
    follow();
    json_t *root = summary();

    cr_assert_eq(json_array_size(at(root, "events")), 2);
    cr_expect(json_is_true(at(root, "events.0.start_up")));
    cr_expect_eq(json_object_size(at(root, "events.0.changes")), 0);
    expect_number(root, "events.1.time_s", 0.05);
    cr_expect_eq(json_object_size(at(root, "events.1.changes")), 1);
    expect_number(root, "events.1.changes.wanted.from", 1);
    expect_number(root, "events.1.changes.wanted.to", 2);
    expect_text(root, "events.1.changes.wanted.unit", "V");
    expect_number(root, "events.1.measures.level.worst.index", 1);
    expect_number(root, "events.1.measures.level.unsettled", 1);
    expect_number(root, "events.1.measures.drop.extreme", 2);
    cr_expect(strstr(said, "wanted 1 to 2 V"), "%s", said);
    cr_expect(strstr(said, "extreme V"), "not of the first that follows something:\n%s", said);
    cr_expect_not(strstr(said, "nan"), "%s", said);
    close_run(root);
}

Test(summary, a_run_without_measures_has_none_and_is_valid)
{
    open_run(NODES);
    json_t *root = summary();

    cr_expect_eq(json_object_size(at(root, "measures")), 0);
    cr_expect(json_is_null(at(root, "events")));
    cr_expect(json_is_true(at(root, "validity.valid")), "%s", said);
    cr_expect_not(strstr(said, "settle"), "%s", said);
    close_run(root);
}

/* Around 0 a percentage is meaningless, so band and deviation are in the measure's unit. */
Test(summary, a_measure_with_a_band_of_its_own)
{
    open_run(NODES "measures:\n"
                   "  error: {sum: motor.voltage_v, reference: motor.voltage_v, band: 0.25}\n");
    struct hil_cursor cursor = {0};
    for (unsigned n = 0; n < 10000; n++) {
        struct hil_moment at = hil_responses_at(&state->responses, &cursor, n * 10000ull);
        hil_response_add(&at, 0, 0, n == 5000 ? -3 : 0.2);
    }
    json_t *root = summary();

    expect_number(root, "measures.error.band", 0.25);
    cr_expect(json_is_true(at(root, "measures.error.settled")));
    expect_number(root, "events.1.measures.error.band", 0.25);
    expect_number(root, "events.1.measures.error.deviation", -3);
    cr_expect(json_is_null(at(root, "events.1.measures.error.deviation_pct")));
    cr_expect(json_is_null(at(root, "events.1.measures.error.overshoot_pct")));
    cr_expect(strstr(said, "3 V dip"), "%s", said);
    close_run(root);
}

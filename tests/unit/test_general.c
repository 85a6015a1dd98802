/* Tests the system that a scenario describes, and the messages for mistakes. */
#include <ctype.h>

#include "harness/scenario/yaml/scenario_report.h"
#include "test_scenario.h"

#include <math.h>

#include "harness/scenario/system.h"
#include "tests/temporary.h"

/* Two nodes, and a loop across them: the tests of mistakes count on these lines. */
#define HEAD "name: servo\nduration_s: 0.1\nmode: virtual\n"
#define NODES                                                                                      \
    "nodes:\n"                                                                                     \
    "  drive: {period_us: 10}\n"                                                                   \
    "  control: {period_us: 100}\n"
#define COMPONENTS                                                                                 \
    "components:\n"                                                                                \
    "  motor: {model: dc_motor, node: drive}\n"                                                    \
    "  law: {model: generic_pi, node: control}\n"
#define CONNECTIONS                                                                                \
    "connections:\n"                                                                               \
    "  - {from: motor.speed_rad_per_s, to: law.measurement}\n"                                     \
    "  - {from: law.output, to: motor.voltage_v}\n"
#define SOURCES "sources:\n  wanted: {to: law.reference, constant: 100}\n"
#define SERVO   HEAD NODES COMPONENTS CONNECTIONS SOURCES

/* --- resolved scenarios ----------------------------------------------------------------------- */

Test(general, signals_between_nodes_make_links)
{
    struct hil_scenario *s = load(SERVO, NULL);
    const struct hil_system *y = s->system;

    cr_assert_eq(y->node_count, 2);
    cr_assert_eq(y->link_count, 2);
    cr_assert_eq(y->links[0].from, 0);
    cr_assert(!y->links[0].late, "a plant's output is there before the step");
    cr_assert(y->links[1].late, "a law's is computed in it");
    const struct hil_feed *feed = y->nodes[1].feeds;
    const int at = hil_quantity_find(&y->components[1].model->inputs, "measurement");
    cr_assert_eq(feed[at].kind, HIL_FEED_LINK);
    cr_assert_eq(feed[at].from, 0);
    hil_scenario_free(s);
}

Test(general, a_component_is_stepped_after_those_it_takes_from)
{
    struct hil_scenario *s = load(HEAD "nodes: {n: {period_us: 10}}\n"
                                       "components:\n"
                                       "  last: {model: gain, node: n}\n"
                                       "  first: {model: gain, node: n, inputs: {input: 1}}\n"
                                       "connections: [{from: first.output, to: last.input}]\n",
                                  NULL);

    cr_assert_eq(s->system->nodes[0].components[0], 1);
    cr_assert_eq(s->system->nodes[0].components[1], 0);
    hil_scenario_free(s);
}

Test(general, sources_over_time)
{
    const struct hil_source sine = {.kind = HIL_SOURCE_SINE, .sine = {1, 2, 50, 90}};
    const struct hil_source pulses = {
        .kind = HIL_SOURCE_PULSES,
        .pulses = {-1, 1, .delay_ns = 10, .width_ns = 2, .period_ns = 5}};
    uint64_t t_ns[] = {10, 20, 40};
    double values[] = {1, 2, 6};
    struct hil_source csv = {.kind = HIL_SOURCE_CSV, .column = {t_ns, values, 3, true}};

    cr_assert_float_eq(hil_source_at(&sine, 0), 3, 1e-12);
    cr_assert_float_eq(hil_source_at(&sine, 10000000), -1, 1e-12);
    cr_assert_float_eq(hil_source_at(&pulses, 9), -1, 0);
    cr_assert_float_eq(hil_source_at(&pulses, 11), 1, 0);
    cr_assert_float_eq(hil_source_at(&pulses, 12), -1, 0);
    cr_assert_float_eq(hil_source_at(&pulses, 15), 1, 0);
    cr_assert_float_eq(hil_source_at(&csv, 5), 1, 0);
    cr_assert_float_eq(hil_source_at(&csv, 30), 4, 1e-12);
    cr_assert_float_eq(hil_source_at(&csv, 99), 6, 0);
    csv.column.linear = false;
    cr_assert_float_eq(hil_source_at(&csv, 39), 2, 0);
}

/* --- mistakes --------------------------------------------------------------------------------- */

static void expect_mistake(const char *text, const char *line)
{
    const char *said = refusal(text, NULL);

    cr_assert(strstr(said, line), "'%s' does not say '%s'", said, line);
}

Test(general, a_name_that_is_not_there)
{
    expect_mistake(
        HEAD NODES COMPONENTS "connections: [{from: motr.speed_rad_per_s, to: law.measurement}]\n",
        "FILE:10:22: there is no component 'motr' (did you mean 'motor'?); allowed: motor, law");
    expect_mistake(
        HEAD NODES COMPONENTS "connections: [{from: motor.speed, to: law.measurement}]\n",
        "FILE:10:22: motor, a dc_motor, has no output 'speed' (did you mean 'speed_rad_per_s'?); "
        "allowed: ");
    expect_mistake(HEAD NODES "components: {motor: {model: dc_moter, node: drive}}\n",
                   "FILE:7:29: there is no model 'dc_moter' (did you mean 'dc_motor'?)");
    expect_mistake(
        HEAD NODES "components: {motor: {model: dc_motor, node: driv}}\n",
        "FILE:7:45: there is no node 'driv' (did you mean 'drive'?); allowed: drive, control");
    expect_mistake(
        HEAD "nodes: {n: {period_us: 10, phase: 3}}\ncomponents: {g: {model: gain, node: n}}\n",
        "FILE:4:28: unknown key 'phase' in nodes.n (did you mean 'phase_us'?)");
    expect_mistake(HEAD NODES
                   "components: {g: {model: gain, node: drive, parameters: {gian: 2}}}\n",
                   "FILE:7:57: unknown key 'gian' in components.g.parameters of a gain (did you "
                   "mean 'gain'?)");
}

/* The record has a group named after each node. */
Test(general, a_name_that_the_record_needs)
{
    expect_mistake(HEAD "nodes: {histograms: {period_us: 10}}\n"
                        "components: {g: {model: gain, node: histograms}}\n",
                   "FILE:4:9: a node named histograms would be mistaken for the record's "
                   "histograms; allowed: another name");
    expect_mistake(HEAD "nodes: {events: {period_us: 10}}\n"
                        "components: {g: {model: gain, node: events}}\n",
                   "FILE:4:9: a node named events would be mistaken for the record's events; "
                   "allowed: another name");
}

/* A node's table is a file with its name. In an array the name contains the number. */
Test(general, a_name_that_an_array_needs)
{
#define BESIDE(name)                                                                               \
    HEAD "nodes: {cell: {count: 3, period_us: 10}, " name ": {period_us: 10}}\n"                   \
         "components: {g: {model: gain, node: \"cell[*]\"}, h: {model: gain, node: " name "}}\n"   \
         "sources: {s: {to: [\"g[*].input\", h.input], constant: 1}}\n"
    expect_mistake(BESIDE("cell-002"),
                   "FILE:4:52: the tables of the nodes cell-002 and cell[2] would both be called "
                   "cell-002.csv; allowed: another name");
    hil_scenario_free(load(BESIDE("cell-003"), NULL));
    hil_scenario_free(load(BESIDE("cell-02"), NULL));
    hil_scenario_free(load(BESIDE("cell-002-"), NULL));
#undef BESIDE
}

/* A band is around a reference. */
Test(general, a_band_without_a_reference)
{
    expect_mistake(SERVO "measures: {speed: {sum: motor.speed_rad_per_s, band: 2}}\n",
                   "measures.speed.band is 2, but it has no reference; allowed: with one, or 0");
    expect_mistake(SERVO "measures: {speed: {sum: motor.speed_rad_per_s, band: -2}}\n",
                   "measures.speed.band is '-2'; allowed: a number, at least 0");
}

/* The action for a value that is too old. */
Test(general, an_age_limit_of_a_connection)
{
#define AGED(keys)                                                                                 \
    HEAD NODES "components:\n"                                                                     \
               "  motor: {model: dc_motor, node: drive, safe: {voltage_v: 1}}\n"                   \
               "  law: {model: generic_pi, node: control}\n" SOURCES "connections:\n"              \
               "  - {from: motor.speed_rad_per_s, to: law.measurement}\n"                          \
               "  - {from: law.output, to: motor.voltage_v" keys "}\n"
    struct hil_scenario *s = load(AGED(", age_limit_us: 250, on_old: value, old_value: 3"), NULL);
    const struct hil_age_limit *age = s->system->ages;
    cr_assert_eq(s->system->age_count, 1);
    cr_expect_eq(age->limit_ns, 250000);
    cr_expect_eq(age->action, HIL_OLD_VALUE);
    cr_expect_eq(age->value, 3);
    hil_scenario_free(s);
    s = load(AGED(", age_limit_us: 250, on_old: safe"), NULL);
    cr_expect_eq(s->system->ages->action, HIL_OLD_SAFE);
    hil_scenario_free(s);
    s = load(AGED(", age_limit_us: 250"), NULL);
    cr_expect_eq(s->system->ages->action, HIL_OLD_HOLD);
    hil_scenario_free(s);
    expect_mistake(AGED(", age_limit_us: 250, on_old: value"),
                   "on_old is value, but there is no old_value; required: old_value");
    expect_mistake(AGED(", age_limit_us: 250, old_value: 3"),
                   "old_value is of no use; allowed: with on_old: value");
    expect_mistake(AGED(", on_old: end"), "nothing is ever too old; required: age_limit_us");
    expect_mistake(AGED(", age_limit_us: 0"), "age_limit_us is '0'; allowed: ");
    expect_mistake(AGED(", age_limit_us: 250, on_old: saef"),
                   "on_old is 'saef' (did you mean 'safe'?); allowed: hold, value, safe, end");
    expect_mistake(HEAD NODES COMPONENTS SOURCES
                   "connections:\n"
                   "  - {from: motor.speed_rad_per_s, to: law.measurement, age_limit_us: 9, "
                   "on_old: safe}\n"
                   "  - {from: law.output, to: motor.voltage_v}\n",
                   "on_old is safe, but law has no safe values; allowed: with its `safe`");
#undef AGED
}

Test(general, an_input_that_is_fed_twice_or_never)
{
    expect_mistake(
        SERVO "  again: {to: law.reference, constant: 1}\n",
        "FILE:15:15: the input law.reference is fed a second time, after line 14; allowed: once, ");
    expect_mistake(
        HEAD NODES COMPONENTS CONNECTIONS,
        "FILE:9:8: nothing feeds law.reference; required: a connection, a source or a constant");
}

/* Only mistakes that can be known before the run. Values from a record were checked already. */
Test(general, a_source_that_leaves_the_range_of_its_input)
{
#define LOADED(source)                                                                             \
    HEAD "nodes: {n: {period_us: 10}}\ncomponents:\n"                                              \
         "  buck: {model: buck, node: n, inputs: {duty: 0.5}}\n"                                   \
         "sources:\n  s: {to: buck.load_ohm, " source "}\n"
    expect_mistake(LOADED("constant: -1"),
                   "FILE:8:36: sources.s makes -1 of load_ohm; allowed: 0.001 to 1e9 Ohm");
    expect_mistake(LOADED("steps: {initial: 0, changes: [{time_s: 0, value: 1}]}"), "makes 0 of");
    expect_mistake(LOADED("steps: {initial: 1, changes: [{time_s: 0, value: 2e9}]}"), "makes 2e+");
    expect_mistake(LOADED("sine: {mean: 3, amplitude: -4, frequency_hz: 1}"), "makes -1 of");
    expect_mistake(LOADED("pulses: {low: -3, high: 2, period_s: 1, width_s: 0.5}"), "makes -3 of");
    expect_mistake(LOADED("constant: 2, scale: -3"), "makes -6 of");
    char csv[TEMPORARY_SIZE], text[512];
    const int fd = temporary_file(csv);
    cr_assert_gt(dprintf(fd, "time_s,load\n0,3\n1,-2\n"), 0);
    close(fd);
    snprintf(text, sizeof text, LOADED("csv: {file: %s, column: load}"), csv);
    expect_mistake(text, "makes -2 of");
    unlink(csv);

    hil_scenario_free(load(LOADED("sine: {mean: 3, amplitude: 2.9, frequency_hz: 1}"), NULL));
    hil_scenario_free(load(LOADED("constant: -2, scale: -3"), NULL));
#undef LOADED
}

#define FROM_CSV(file)                                                                             \
    HEAD "nodes: {n: {period_us: 10}}\ncomponents:\n"                                              \
         "  buck: {model: buck, node: n, inputs: {duty: 0.5}}\n"                                   \
         "sources:\n  s: {to: buck.load_ohm, csv: {file: " file ", column: load}}\n"

/* Reading a folder, and the beginning of a process's memory, fails. */
Test(general, a_csv_file_that_cannot_be_read_is_not_at_its_end)
{
    expect_mistake(FROM_CSV("/proc"),
                   "FILE:8:38: '/proc' cannot be read to its end (Is a directory); allowed: a CSV "
                   "file that can");
    expect_mistake(FROM_CSV("/proc/self/mem"), "cannot be read to its end (Input/output error)");
}

/* As a spreadsheet writes it. */
Test(general, a_csv_file_may_have_a_mark_and_lines_of_another_system)
{
    char csv[] = "/tmp/hiloco-test-XXXXXX", text[512];
    const int fd = mkstemp(csv);
    const char *mark = "\xef\xbb\xbf";

    cr_assert_gt(dprintf(fd, "%stime_s,load\r\n0,3\r\n1,2\r\n", mark), 0);
    close(fd);
    snprintf(text, sizeof text, "%s" FROM_CSV("%s"), mark, csv);
    struct hil_scenario *s = load(text, NULL);
    cr_expect_eq(s->system->sources[0].column.count, 2);
    hil_scenario_free(s);
    unlink(csv);
}

Test(general, units_that_differ_need_a_scale)
{
    expect_mistake(
        HEAD NODES "components:\n"
                   "  motor: {model: dc_motor, node: drive}\n"
                   "  other: {model: dc_motor, node: drive}\n"
                   "connections: [{from: motor.speed_rad_per_s, to: other.voltage_v}]\n",
        "FILE:10:22: motor.speed_rad_per_s is in rad/s, but other.voltage_v is in V; allowed: the "
        "same unit, or a scale:");
    struct hil_scenario *s =
        load(HEAD "nodes: {drive: {period_us: 10}}\ncomponents:\n"
                  "  motor: {model: dc_motor, node: drive, inputs: {voltage_v: 1}}\n"
                  "  other: {model: dc_motor, node: drive}\n"
                  "connections: [{from: motor.speed_rad_per_s, to: other.voltage_v, "
                  "scale: 0.1}]\n",
             NULL);
    hil_scenario_free(s);
}

/* --- nodes that another process computes ------------------------------------------------------ */

#define OUTSIDE_HEAD                                                                               \
    "name: joined\nduration_s: 1\nnodes:\n  bench: {period_us: 1000}\n  control: {period_us: "     \
    "100}\n"
#define OUTSIDE(settings)                                                                          \
    "components:\n  m: {model: outside, node: bench, settings: {" settings "}}\n"                  \
    "  law: {model: generic_pi, node: control}\n"
#define OUTSIDE_MOTOR OUTSIDE("takes: {voltage_v: V}, gives: {speed_rad_per_s: rad/s}")
#define OUTSIDE_LINKS                                                                              \
    "connections:\n  - {from: m.speed_rad_per_s, to: law.measurement}\n"                           \
    "  - {from: law.output, to: m.voltage_v}\nsources:\n  s: {to: law.reference, constant: 1}\n"

Test(general, a_component_outside_has_the_tables_of_its_settings)
{
    struct hil_scenario *s = load(OUTSIDE_HEAD OUTSIDE_MOTOR OUTSIDE_LINKS, NULL);
    const struct hil_component *c = s->system->nodes[0].outside;

    cr_assert_not_null(c);
    cr_expect_null(s->system->nodes[1].outside);
    cr_expect(hil_system_is_joined(s->system));
    cr_expect_eq(c->in_count, 1u);
    cr_expect_str_eq(c->model->inputs.at[0].name, "voltage_v");
    cr_expect_str_eq(c->model->outputs.at[0].unit, "rad/s");
    hil_scenario_free(s);
}

Test(general, each_component_outside_has_its_own_tables)
{
    struct hil_scenario *s = load(
        OUTSIDE_HEAD "components:\n"
                     "  a: {model: outside, node: bench, settings: {gives: {x: '-'}}}\n"
                     "  b: {model: outside, node: control, width: 3, settings: {gives: {'y[]': "
                     "V, z: A}}}\n",
        NULL);

    cr_expect_eq(s->system->components[0].out_count, 1u);
    cr_expect_eq(s->system->components[1].out_count, 4u);
    hil_scenario_free(s);
}

Test(general, mistakes_in_what_is_outside)
{
    expect_mistake(OUTSIDE_HEAD OUTSIDE(""),
                   "FILE:7:14: components.m.model is 'outside', but it takes nothing and gives "
                   "nothing; allowed: a component with settings: ");
    expect_mistake(OUTSIDE_HEAD OUTSIDE("take: {v: V}"),
                   "its setting take.v is not known; allowed: takes and gives, ");
    expect_mistake(OUTSIDE_HEAD OUTSIDE("takes: {v: ''}"),
                   "its setting takes.v has no unit; allowed: takes and gives, ");
    expect_mistake(OUTSIDE_HEAD OUTSIDE("takes: {Volt: V}"),
                   "its input Volt has a name with other than lower-case letters");
    expect_mistake(OUTSIDE_HEAD OUTSIDE("takes: {v: V, 'v[]': V}"), "its input v is there twice");
    expect_mistake("mode: virtual\n" OUTSIDE_HEAD OUTSIDE_MOTOR OUTSIDE_LINKS,
                   "FILE:8:14: components.m.model is outside, which another process computes, but "
                   "virtual time has only one process; allowed: in real time (mode: realtime)");
    expect_mistake(OUTSIDE_HEAD OUTSIDE_MOTOR
                   "  n: {model: outside, node: bench, settings: {gives: {x: V}}}\n" OUTSIDE_LINKS,
                   "FILE:9:29: the node bench has two components outside, m and components.n; "
                   "allowed: one on each node");
    expect_mistake(OUTSIDE_HEAD "components:\n"
                                "  a: {model: outside, node: bench, settings: {gives: {x: V}}}\n"
                                "  b: {model: outside, node: control, settings: {gives: {x: V}}}\n"
                                "placement: [{nodes: [bench, control]}]\n",
                   "FILE:7:29: the node bench is a process of its own, as its component a is "
                   "outside, but it is placed together with others; allowed: an entry of placement "
                   "for it alone");
    expect_mistake(OUTSIDE_HEAD OUTSIDE_MOTOR OUTSIDE_LINKS
                   "faults: {f: {nodes: bench, kind: stall, after: {event: safe, of: control}}}\n",
                   "FILE:14:48: faults.f.after waits for an event of another node, but bench "
                   "belongs to a process that joins; allowed: events of the fault's own node");
}

/* Each node of an array is a process, without any placement. */
Test(general, nodes_outside_are_apart)
{
    struct hil_scenario *s =
        load("name: joined\nduration_s: 1\nnodes:\n  bench: {period_us: 1000, count: 3}\n"
             "components:\n"
             "  m: {model: outside, node: 'bench[*]', settings: {gives: {x: V}}}\n",
             NULL);

    cr_expect_eq(s->executor_count, 3u);
    cr_expect_eq(s->system->nodes[2].outside, &s->system->components[2]);
    hil_scenario_free(s);
}

Test(general, arrays_of_other_sizes)
{
    expect_mistake(HEAD "nodes: {n: {period_us: 10}}\n"
                        "components:\n"
                        "  a: {model: gain, node: n, count: 3, inputs: {input: 0}}\n"
                        "  b: {model: gain, node: n, count: 2}\n"
                        "connections: [{from: 'a[*].output', to: 'b[*].input'}]\n",
                   "FILE:8:41: a[*].output is 3 signals, but b[*].input is 2; allowed: as many, or "
                   "one for all");
    expect_mistake(
        HEAD "nodes: {n: {period_us: 10}}\n"
             "components:\n"
             "  a: {model: gain, node: n, count: 3, parameters: {gain: [1, 2]}}\n",
        "FILE:6:58: components.a.parameters.gain is a list of 2, but there are 3 components; ");
}

Test(general, models_have_their_article)
{
    expect_mistake(HEAD "nodes: {n: {period_us: 10}}\n"
                        "components:\n  a: {model: integrator, node: n, inputs: {inptu: 0}}\n",
                   "unknown key 'inptu' in components.a.inputs of an integrator");
    expect_mistake(HEAD "nodes: {n: {period_us: 10}}\n"
                        "components:\n  a: {model: gain, node: n, inputs: {inptu: 0}}\n",
                   "unknown key 'inptu' in components.a.inputs of a gain");
}

Test(general, a_cycle_in_one_step)
{
    expect_mistake(HEAD "nodes: {n: {period_us: 10}}\n"
                        "components:\n"
                        "  a: {model: gain, node: n}\n"
                        "  b: {model: gain, node: n}\n"
                        "connections:\n"
                        "  - {from: a.output, to: b.input}\n"
                        "  - {from: b.output, to: a.input}\n",
                   "FILE:6:6: b -> a -> b is a cycle of sampled components in one step; allowed: "
                   "computation_delay: true of one of them");
}

/* --- components before inputs ------------------------------------------------------------------
 */

#define BEFORE(input) "  filter: {model: gain, node: control, before: " input "}\n"

static const struct hil_feed *feed_of(const struct hil_system *y, unsigned component,
                                      const char *input)
{
    const struct hil_component *c = &y->components[component];

    return &y->nodes[c->node].feeds[c->in + (unsigned)hil_quantity_find(&c->model->inputs, input)];
}

Test(general, a_component_comes_before_a_connected_input)
{
    struct hil_scenario *s =
        load(HEAD NODES COMPONENTS BEFORE("law.measurement") CONNECTIONS SOURCES, NULL);

    cr_expect_eq(s->system->link_count, 2);
    cr_expect_eq(feed_of(s->system, 2, "input")->kind, HIL_FEED_LINK);
    cr_expect_eq(feed_of(s->system, 1, "measurement")->kind, HIL_FEED_OUTPUT);
    cr_expect_eq(s->system->nodes[1].components[0], 2, "it is stepped first");
    hil_scenario_free(s);
}

Test(general, a_component_comes_before_the_input_of_a_source_or_a_constant)
{
    struct hil_scenario *s =
        load(HEAD NODES COMPONENTS BEFORE("law.reference") CONNECTIONS SOURCES, NULL);

    cr_expect_eq(feed_of(s->system, 2, "input")->kind, HIL_FEED_SOURCE);
    cr_expect_eq(feed_of(s->system, 1, "reference")->kind, HIL_FEED_OUTPUT);
    hil_scenario_free(s);

    s = load(
        HEAD NODES COMPONENTS
        "  brake: {model: gain, node: drive, before: motor.load_torque_nm}\n" CONNECTIONS SOURCES,
        SETS("components.motor.inputs.load_torque_nm=2"));
    cr_expect_eq(feed_of(s->system, 2, "input")->kind, HIL_FEED_CONSTANT);
    cr_expect_eq(feed_of(s->system, 2, "input")->initial, 2);
    cr_expect_eq(feed_of(s->system, 0, "load_torque_nm")->kind, HIL_FEED_OUTPUT);
    hil_scenario_free(s);
}

Test(general, components_before_one_input_follow_each_other)
{
    struct hil_scenario *s =
        load(HEAD NODES COMPONENTS BEFORE(
                 "law.measurement") "  second: {model: gain, node: control, before: "
                                    "law.measurement}\n" CONNECTIONS SOURCES,
             NULL);

    cr_expect_eq(feed_of(s->system, 2, "input")->kind, HIL_FEED_LINK);
    cr_expect_eq(feed_of(s->system, 3, "input")->kind, HIL_FEED_OUTPUT);
    cr_expect_eq(s->system->nodes[1].components[0], 2);
    cr_expect_eq(s->system->nodes[1].components[1], 3);
    hil_scenario_free(s);
}

Test(general, a_component_that_cannot_come_before_an_input)
{
    expect_mistake(
        HEAD NODES COMPONENTS BEFORE("law.measure") CONNECTIONS SOURCES,
        "FILE:10:48: law, a generic_pi, has no input 'measure'; allowed: reference, measurement");
    expect_mistake(
        HEAD NODES COMPONENTS
        "  filter: {model: gain, node: control, count: 2, before: law.measurement}\n" CONNECTIONS
            SOURCES,
        "FILE:10:58: components.filter.before is not one input for each component; allowed: as "
        "many of both");
    expect_mistake(HEAD NODES COMPONENTS
                   "  filter: {model: gain, node: control, inputs: {input: 1}, before: "
                   "law.measurement}\n" CONNECTIONS SOURCES,
                   "FILE:10:68: components.filter.before is given, but something else feeds its "
                   "first input; allowed: nothing but what feeds the input that it comes before");
}

Test(general, shards_of_a_node_without_links)
{
    expect_mistake(
        HEAD "nodes:\n  n: {period_us: 10, shards: 2}\n"
             "components:\n  a: {model: gain, node: n, inputs: {input: 0}}\n",
        "FILE:5:30: nodes.n.shards is 2, but the node n has no links to split; allowed: 1");
}

/* The control node has links with only one other. */
Test(general, shards_of_a_node_with_one_peer)
{
    expect_mistake(HEAD "nodes:\n  drive: {period_us: 10}\n"
                        "  control: {period_us: 100, shards: 2}\n" COMPONENTS CONNECTIONS SOURCES,
                   "FILE:6:37: nodes.control.shards is 2, but the node control has links with 1 "
                   "others; allowed: up to 1");
}

/* --- messages for a word that is not one of the choices ------------------------------------- */

Test(general, a_list_that_is_too_long_is_cut_at_a_name)
{
    enum { NAMES = 32 };
    char names[NAMES][61], choice[SCENARIO_CHOICE_BYTES];
    const char *at[NAMES];

    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i],
                 "a_name_of_fifty_letters_that_a_native_may_have_"
                 "number_%02u",
                 i % 100);
        at[i] = names[i];
    }
    scenario_say_choice("a_name_of_fifty_letters_that_a_native_may_have_number_3x", at, NAMES,
                        choice);
    cr_expect_str_eq(choice,
                     " (did you mean 'a_name_of_fifty_letters_that_a_native_may_have_number_30'?)");
    scenario_say_choice("quite_another", at, NAMES, choice);
    cr_expect_lt(strlen(choice), SCENARIO_CHOICE_BYTES - 1);
    cr_expect(isdigit((unsigned char)choice[strlen(choice) - 1]), "%s", choice);
    scenario_say_choice("b", at, 0, choice);
    cr_expect_str_eq(choice, "; allowed: none");
}

/*
 * Tests tuning during a run: which values are tunable, which changes are refused, and how a change
 * gets from the launcher's memory through node 0 to the steps of the affected nodes.
 */
#include <math.h>
#include <stdatomic.h>

#include "harness/base/pool.h"
#include "harness/h5/trace_events.h"
#include "harness/launch/tuning_request.h"
#include "harness/record/event_rows.h"
#include "harness/scenario/tunables.h"
#include "harness/tools/tune/client.h"
#include "step_rig.h"

/* Node b has the continuous components. */
static const char three[] = "name: three\n"
                            "duration_s: 1\n"
                            "mode: virtual\n"
                            "tuning: true\n"
                            "nodes: {a: {period_us: 10}, b: {period_us: 20}, c: {period_us: 30}}\n"
                            "placement: [{nodes: [a, b, c]}]\n"
                            "components:\n"
                            "  g: {model: gain, node: a, parameters: {gain: 2}}\n"
                            "  h: {model: gain, node: b, parameters: {gain: 3}}\n"
                            "  lag: {model: first_order_lag, node: b}\n"
                            "  s: {model: saturation, node: c}\n"
                            "  m: {model: moving_average, node: c}\n"
                            "connections:\n"
                            "  - {from: h.output, to: lag.input}\n"
                            "  - {from: g.output, to: m.input}\n"
                            "sources:\n"
                            "  u: {to: [g.input, h.input], constant: 1}\n"
                            "  v: {to: s.input, constant: 0.5}\n";

/* --- tunable values -------------------------------------------------------------------------- */

static int find(const struct hil_scenario *s, const char *name)
{
    char is[HIL_SIGNAL_NAME_BYTES];

    for (unsigned i = 0; i < s->system->tunable_count; i++) {
        hil_tunable_name(s->system, &s->system->tunables[i], is);
        if (strcmp(is, name) == 0)
            return (int)i;
    }
    return -1;
}

static const struct hil_tunable *tunable(const struct hil_scenario *s, const char *name)
{
    const int i = find(s, name);

    cr_assert_geq(i, 0, "there is no %s", name);
    return &s->system->tunables[i];
}

Test(tuning, parameters_that_models_declare_tunable_and_sources_can_be_tuned)
{
    struct hil_scenario *s = load(three, NULL);

    cr_expect_eq(s->system->tunable_count, 1 + 1 + 2 + 2 + 2);
    cr_expect_eq(find(s, "m.samples"), -1);
    cr_expect_eq(tunable(s, "h.gain")->node_count, 1);
    cr_expect_eq(tunable(s, "h.gain")->nodes[0], 1);
    cr_expect_eq(tunable(s, "lag.time_constant_s")->min, 1e-9);
    cr_expect_str_eq(hil_tunable_unit(s->system, tunable(s, "lag.time_constant_s")), "s");
    cr_expect_eq(tunable(s, "u")->node_count, 2, "it feeds two nodes");
    cr_expect(tunable(s, "u")->nodes[0] == 0 && tunable(s, "u")->nodes[1] == 1);
    cr_expect_eq(hil_tunable_of_input(s->system, "h.input"), find(s, "u"));
    cr_expect_eq(hil_tunable_of_input(s->system, "lag.input"), -1, "no source feeds it");
    hil_scenario_free(s);
}

Test(tuning, nothing_can_be_tuned_unless_the_scenario_says_so)
{
    const char *const off[] = {"tuning=false", NULL};
    struct hil_scenario *s = load(three, off);

    cr_expect_eq(s->system->tunable_count, 0);
    cr_expect(!s->system->nodes[0].tuned && !s->system->nodes[1].tuned);
    hil_scenario_free(s);
}

Test(tuning, a_source_stays_where_its_inputs_are_in_their_ranges)
{
    static const char text[] =
        "name: ranges\nduration_s: 1\nmode: virtual\ntuning: true\nnodes: {a: {period_us: 10}}\n"
        "components:\n"
        "  m: {model: dc_motor, node: a}\n"
        "  s: {model: startup, node: a}\n"
        "connections: [{from: m.speed_rad_per_s, to: s.voltage_v, scale: 1}]\n"
        "sources:\n"
        "  on: {to: s.enable, constant: 0, scale: 4}\n"
        "  off: {to: s.fault, constant: 0, scale: -2}\n"
        "  volts: {to: m.voltage_v, constant: 0}\n";
    struct hil_scenario *s = load(text, NULL);

    cr_expect_eq(tunable(s, "on")->min, 0);
    cr_expect_eq(tunable(s, "on")->max, 0.25);
    cr_expect_eq(tunable(s, "off")->min, -0.5);
    cr_expect_eq(tunable(s, "off")->max, 0);
    cr_expect_eq(hil_tunable_of_input(s->system, "s.enable"), -1, "it is not the input's value");
    hil_scenario_free(s);
}

Test(tuning, parts_of_a_run_that_is_tuned_agree_on_that)
{
    const char *const off[] = {"tuning=false", NULL};
    struct hil_scenario *on_s = load(three, NULL), *off_s = load(three, off);

    cr_expect_neq(on_s->listing.hash, off_s->listing.hash);
    hil_scenario_free(on_s);
    hil_scenario_free(off_s);
}

/* The names in the events' column `of` are in the order of its numbers. */
Test(tuning, an_event_has_the_name_of_what_was_tuned)
{
    struct hil_scenario *s = load(three, NULL);
    struct hil_stream_config stream;
    const struct hil_event_of of = hil_event_of_tunable(s->system, (unsigned)find(s, "u"));

    cr_assert_eq(hil_event_stream(&stream, s->system->pool, s->system), 0);
    const char *names = NULL;
    for (unsigned i = 0; i < stream.column_count; i++)
        if (strcmp(stream.columns[i].name, "of") == 0)
            names = stream.columns[i].of.names;
    cr_assert_not_null(names);
    for (unsigned i = 0; i < of.name; i++)
        names = strchr(names, '\n') + 1;
    cr_expect_eq(strncmp(names, "u\n", 2), 0, "%s", names);
    hil_scenario_free(s);
}

/* --- requests -------------------------------------------------------------------------------- */

static int ask(const struct rig *rig, const char *text, struct hil_asked_for *asked, char *refusal)
{
    return hil_tuning_request_read(asked, text, strlen(text), rig->scenario, rig->run.state->tuning,
                                   refusal);
}

Test(tuning, a_request_is_read)
{
    struct rig rig;
    struct hil_asked_for asked;
    char refusal[HIL_REFUSAL_BYTES] = "";

    open_rig(&rig, three);
    cr_assert_eq(ask(&rig,
                     "{\"set\":[{\"name\":\"h.gain\",\"value\":4.5},"
                     "{\"name\":\"s.input\",\"value\":1,\"ramp_s\":0.01}]}",
                     &asked, refusal),
                 0, "%s", refusal);
    cr_expect(asked.what == HIL_ASKED_SET && asked.request.count == 2);
    cr_expect_eq((int)asked.request.changes[0].tunable, find(rig.scenario, "h.gain"));
    cr_expect_eq(asked.request.changes[0].value, 4.5);
    cr_expect_eq((int)asked.request.changes[1].tunable, find(rig.scenario, "v"));
    cr_expect_eq(asked.request.changes[1].ramp_ns, 10000000);
    cr_assert_eq(ask(&rig, "{\"control\":\"step\",\"steps\":7}", &asked, refusal), 0);
    cr_expect(asked.what == HIL_ASKED_STEP && asked.steps == 7);
    cr_assert_eq(ask(&rig, "{\"control\":\"step\"}", &asked, refusal), 0);
    cr_expect_eq(asked.steps, 1);
    close_rig(&rig);
}

#define SET(name, value) "{\"set\":[{\"name\":\"" name "\",\"value\":" value "}]}"

Test(tuning, what_makes_no_sense_is_refused_in_words)
{
    static const struct {
        const char *asked, *said;
    } refused[] = {
        {"", "this is not a request"},
        {"{}", "this is not a request"},
        {"[1]", "this is not a request"},
        {"{\"set\":{\"name\":\"h.gain\",\"value\":1}}", "\"set\" is a list of 1 to 16 changes"},
        {"{\"set\":[]}", "\"set\" is a list of 1 to 16 changes"},
        {"{\"set\":[1]}", "a change has a name and a value"},
        {"{\"set\":[{\"name\":\"h.gain\"}]}", "a change has a name and a value"},
        {SET("h.gain", "\"2\""), "h.gain: '2' is no number; allowed: a number"},
        {SET("h.gian", "2"), "h.gian is no parameter and no source of this run (did you mean "
                             "'h.gain'?)"},
        {SET("xyzzy", "2"), "xyzzy is no parameter and no source of this run; allowed: a name that "
                            "hiloco set lists"},
        {SET("m.samples", "2"), "m.samples is a parameter that is not tunable"},
        {SET("lag.time_constant_s", "-1"), "lag.time_constant_s: -1 is out of range; allowed: "
                                           "1e-9 to 1e6 s"},
        {SET("\\u001b[2J", "2"), "?[2J is no parameter"},
        {"{\"set\":[{\"name\":\"h.gain\",\"value\":1,\"ramp_s\":1}]}",
         "h.gain is a parameter, and has no ramp"},
        {"{\"set\":[{\"name\":\"u\",\"value\":1,\"ramp_s\":-1}]}", "u: a ramp takes 0 to 1e6 s"},
        {"{\"set\":[{\"name\":\"u\",\"value\":1},{\"name\":\"g.input\",\"value\":1}]}",
         "u: it is set twice"},
        {"{\"control\":\"jump\"}", "\"control\" is one of pause, resume, step, stop"},
        {"{\"control\":\"step\",\"steps\":0}", "steps: a whole number from 1"},
        {"{\"control\":\"step\",\"steps\":1.5}", "steps: a whole number from 1"},
    };
    struct rig rig;
    struct hil_asked_for asked;

    open_rig(&rig, three);
    for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char refusal[HIL_REFUSAL_BYTES] = "";
        cr_expect_eq(ask(&rig, refused[i].asked, &asked, refusal), -EINVAL, "%s", refused[i].asked);
        cr_expect_eq(strncmp(refusal, refused[i].said, strlen(refused[i].said)), 0,
                     "%s: %s, not %s", refused[i].asked, refusal, refused[i].said);
    }
    close_rig(&rig);
}

/* --- a change at the nodes ------------------------------------------------------------------- */

static void post(const struct rig *rig, const struct hil_request *request)
{
    struct hil_tuning *t = rig->run.state->tuning;
    const uint64_t number = atomic_load(&t->asked) + 1;

    t->requests[number % 2] = *request;
    atomic_store(&t->asked, number);
}

static void set(const struct rig *rig, const char *name, double value, uint64_t ramp_us)
{
    const struct hil_request request = {
        1, {{(unsigned)find(rig->scenario, name), value, ramp_us * US}}};

    post(rig, &request);
}

static bool is_answered(const struct rig *rig)
{
    const struct hil_tuning *t = rig->run.state->tuning;

    return atomic_load(&t->answered) == atomic_load(&t->asked);
}

static const struct hil_tuned_here *logged(const struct rig *rig, uint64_t i)
{
    cr_assert_gt(atomic_load(&rig->run.state->tuning->logged), i);
    return &hil_tuning_log(rig->run.state->tuning)[i];
}

/* Node 0 reads the change at 100 us, and announces that it takes effect just after that. */
Test(tuning, a_parameter_is_set_at_the_boundary_of_a_step_of_its_node)
{
    struct rig rig;

    open_rig(&rig, three);
    play(&rig, 90);
    set(&rig, "h.gain", 5, 0);
    play(&rig, 119);
    cr_expect_eq(out_of(&rig, "h"), 3, "up to its step at 100 us");
    play(&rig, 120);
    cr_expect_eq(out_of(&rig, "h"), 5);
    play(&rig, 150);
    cr_assert(is_answered(&rig));
    cr_expect_eq(logged(&rig, 0)->how, HIL_TUNED);
    cr_expect_eq(logged(&rig, 0)->node, 1);
    cr_expect_eq(logged(&rig, 0)->step, 6);
    cr_expect_eq(logged(&rig, 0)->time_ns, 120 * US);
    cr_expect_eq(logged(&rig, 0)->value, 5);
    close_rig(&rig);
}

/* For the interval that ends with that step, the plant is as before. */
Test(tuning, what_is_continuous_advances_to_the_step_with_what_was)
{
    struct rig tuned, plain;

    open_rig(&tuned, three);
    open_rig(&plain, three);
    play(&tuned, 90);
    set(&tuned, "lag.gain", 50, 0);
    play(&tuned, 120);
    play(&plain, 120);
    cr_expect_eq(out_of(&tuned, "lag"), out_of(&plain, "lag"));
    play(&tuned, 140);
    play(&plain, 140);
    cr_expect_gt(out_of(&tuned, "lag"), 5 * out_of(&plain, "lag"));
    close_rig(&tuned);
    close_rig(&plain);
}

Test(tuning, node_0_tunes_itself)
{
    struct rig rig;

    open_rig(&rig, three);
    play(&rig, 90);
    set(&rig, "g.gain", 7, 0);
    play(&rig, 100);
    cr_expect_eq(out_of(&rig, "g"), 2);
    play(&rig, 110);
    cr_expect_eq(out_of(&rig, "g"), 7);
    play(&rig, 120);
    cr_expect(is_answered(&rig) && logged(&rig, 0)->step == 11);
    close_rig(&rig);
}

/* It begins 1 ns after 100 us. */
Test(tuning, a_source_goes_on_one_ramp_at_all_nodes)
{
    struct rig rig;

    open_rig(&rig, three);
    play(&rig, 90);
    set(&rig, "u", 11, 100);
    play(&rig, 140);
    cr_expect_eq(in_of(&rig, "g", 0), in_of(&rig, "h", 0));
    cr_expect_float_eq(in_of(&rig, "g", 0), 1 + 10 * 0.39999, 1e-9);
    play(&rig, 160);
    cr_expect_eq(in_of(&rig, "g", 0), in_of(&rig, "h", 0));
    set(&rig, "u", 0, 0); /* starting at the ramp's present value */
    play(&rig, 170);
    cr_expect_float_eq(in_of(&rig, "g", 0), 1 + 10 * 0.69999, 1e-9);
    play(&rig, 180);
    cr_expect_eq(in_of(&rig, "g", 0), 0);
    cr_expect_eq(in_of(&rig, "h", 0), 0);
    play(&rig, 220);
    cr_expect(is_answered(&rig));
    cr_expect_eq(atomic_load(&rig.run.state->tuning->logged), 4, "two nodes, twice");
    close_rig(&rig);
}

Test(tuning, what_is_asked_together_takes_force_at_one_time)
{
    struct rig rig;
    struct hil_request request = {.count = 3};

    open_rig(&rig, three);
    request.changes[0] = (struct hil_change_wanted){(unsigned)find(rig.scenario, "g.gain"), 4, 0};
    request.changes[1] = (struct hil_change_wanted){(unsigned)find(rig.scenario, "h.gain"), 5, 0};
    request.changes[2] = (struct hil_change_wanted){(unsigned)find(rig.scenario, "u"), 3, 0};
    play(&rig, 90);
    post(&rig, &request);
    play(&rig, 100);
    cr_expect(out_of(&rig, "g") == 2 && out_of(&rig, "h") == 3);
    play(&rig, 120);
    cr_expect_eq(out_of(&rig, "g"), 12);
    cr_expect_eq(out_of(&rig, "h"), 15);
    close_rig(&rig);
}

Test(tuning, what_the_model_refuses_changes_nothing)
{
    struct rig rig;

    open_rig(&rig, three);
    play(&rig, 90);
    set(&rig, "s.output_max", -3, 0); /* below output_min, which is -1 */
    play(&rig, 200);
    cr_assert(is_answered(&rig));
    cr_expect_eq(logged(&rig, 0)->how, HIL_TUNING_REFUSED);
    cr_expect_eq(out_of(&rig, "s"), 0.5);
    cr_expect_eq(
        atomic_load(&rig.run.state->tuning->tunables[find(rig.scenario, "s.output_max")].value), 1);
    close_rig(&rig);
}

/* The launcher stops waiting for the change, and requests another. */
Test(tuning, a_node_that_stands_still_does_not_hold_up_the_others)
{
    struct rig rig;

    open_rig(&rig, three);
    play(&rig, 90);
    rig.still[1] = true;
    set(&rig, "h.gain", 5, 0);
    play(&rig, 300);
    cr_expect(!is_answered(&rig));
    set(&rig, "g.gain", 9, 0);
    play(&rig, 400);
    cr_expect(is_answered(&rig));
    cr_expect_eq(logged(&rig, 0)->how, HIL_TUNING_LOST);
    cr_expect_eq(logged(&rig, 1)->how, HIL_TUNED);
    cr_expect_eq(out_of(&rig, "g"), 9);
    rig.still[1] = false;
    play(&rig, 500);
    cr_expect_eq(out_of(&rig, "h"), 5, "it had heard of it");
    set(&rig, "h.gain", 6, 0);
    play(&rig, 600);
    cr_expect_eq(out_of(&rig, "h"), 6);
    cr_expect(is_answered(&rig));
    close_rig(&rig);
}

/* The process is restarted or, in virtual time, the node. It gets the change from the run's memory.
 */
Test(tuning, a_node_that_comes_back_is_as_it_was_tuned)
{
    struct rig rig;

    open_rig(&rig, three);
    play(&rig, 90);
    set(&rig, "h.gain", 5, 0);
    play(&rig, 200);
    set(&rig, "u", 2, 0);
    play(&rig, 300);
    struct hil_node *node = rig.group.nodes[1];
    hil_step_close(node->step);
    cr_assert_eq(hil_step_open(&node->step, node), 0);
    cr_assert_eq(hil_step_begin(node->step), 0);
    play(&rig, 400);
    cr_expect_eq(out_of(&rig, "h"), 10);
    close_rig(&rig);
}

Test(tuning, a_fault_on_a_parameter_is_stronger_while_it_is_on)
{
    static char text[sizeof three + 200];
    struct rig rig;

    snprintf(text, sizeof text,
             "%sfaults:\n"
             "  f: {component: h, kind: tune, parameter: gain, value: 20, at_s: 0.0001, "
             "duration_s: 0.0002}\n",
             three);
    open_rig(&rig, text);
    play(&rig, 150);
    cr_expect_eq(out_of(&rig, "h"), 20);
    set(&rig, "h.gain", 5, 0);
    play(&rig, 280);
    cr_expect(is_answered(&rig));
    cr_expect_eq(out_of(&rig, "h"), 20);
    play(&rig, 320);
    cr_expect_eq(out_of(&rig, "h"), 5);
    set(&rig, "h.gain", 6, 0);
    play(&rig, 400);
    cr_expect_eq(out_of(&rig, "h"), 6);
    close_rig(&rig);
}

/* --- done again ------------------------------------------------------------------------------ */

Test(tuning, requests_of_a_record_are_taken_up_in_their_steps)
{
    struct rig rig;
    const struct hil_replayed_request again[] = {
        {9, {.count = 1, .changes = {{0, 4, 0}}}},
        {12, {.count = 1, .changes = {{0, 5, 0}}}},
    };

    struct hil_scenario *s = load(three, NULL);
    s->replay = again;
    s->replay_count = 2;
    open_rig_of(&rig, s);
    cr_assert_eq(find(rig.scenario, "g.gain"), 0);
    play(&rig, 90);
    cr_expect_eq(out_of(&rig, "g"), 2);
    play(&rig, 100);
    cr_expect_eq(out_of(&rig, "g"), 4);
    play(&rig, 120);
    cr_expect_eq(out_of(&rig, "g"), 4);
    play(&rig, 130);
    cr_expect_eq(out_of(&rig, "g"), 5);
    close_rig(&rig);
}

/* --- seeing ---------------------------------------------------------------------------------- */

Test(tuning, who_is_attached_sees_the_table_the_values_and_the_changes)
{
    struct rig rig;
    struct hil_attached run;
    struct hil_tunable_shown *list;
    struct hil_tuned change;
    unsigned count;
    uint64_t seen = 0;

    open_rig(&rig, three);
    cr_assert_eq(hil_state_attach(&run, rig.run.state->file), 0);
    cr_assert_eq(hil_tune_list(&run, &list, &count), 0);
    cr_assert_eq(count, rig.scenario->system->tunable_count);
    const unsigned gain = (unsigned)find(rig.scenario, "h.gain");
    const unsigned u = (unsigned)find(rig.scenario, "u");
    cr_expect_str_eq(list[gain].name, "h.gain");
    cr_expect_str_eq(list[gain].doc, "what the input is multiplied by");
    cr_expect(list[gain].max == 1e12 && !list[gain].is_source && list[u].is_source);
    cr_expect(hil_tune_value(&run, gain) == 3 && hil_tune_value(&run, u) == 1);
    cr_expect(isnan(hil_tune_value(&run, count)));
    play(&rig, 90);
    set(&rig, "h.gain", 5, 0);
    play(&rig, 150);
    cr_expect_eq(hil_tune_value(&run, gain), 5);
    cr_assert(hil_tune_next(&run, &seen, &change));
    cr_expect(change.tunable == gain && change.node == 1 && change.value == 5 && change.step == 6);
    cr_expect(!hil_tune_next(&run, &seen, &change));
    free(list);
    hil_state_detach(&run);
    close_rig(&rig);
}

/* A source that changes has no single value, so its steps are reported. */
Test(tuning, steps_of_a_source_are_seen)
{
    struct hil_scenario *s = load(three, NULL);
    struct hil_source *u = &s->system->sources[0];
    struct hil_change change = {.start_ns = 30000000, .value = 5};
    struct hil_tuning *tuning = calloc(1, hil_tuning_size(s->system));
    const struct hil_tunable_state *is = &tuning->tunables[find(s, "u")];

    u->kind = HIL_SOURCE_STEPS;
    u->steps = (struct hil_profile){.initial = 2, .changes = &change};
    hil_tuning_init(tuning, s->system);
    cr_expect_eq(is->value, 2);
    u->steps.count = 1;
    hil_tuning_init(tuning, s->system);
    cr_expect(isnan(is->value));
    cr_expect_str_eq(is->doc, "what the source gives: 2, 5 from 0.03 s");
    free(tuning);
    hil_scenario_free(s);
}

/* Anybody may have written the memory. */
Test(tuning, a_table_that_is_not_in_the_memory_is_none)
{
    struct rig rig;
    struct hil_attached run;
    struct hil_tunable_shown *list;
    unsigned count;

    open_rig(&rig, three);
    cr_assert_eq(hil_state_attach(&run, rig.run.state->file), 0);
    const uint64_t places[] = {1, 8, run.size - 8, run.size, run.size + 4096, UINT64_MAX - 7};
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        rig.run.state->tuning_at = places[i];
        cr_assert_eq(hil_tune_list(&run, &list, &count), 0);
        cr_expect_eq(count, 0, "%llu", (unsigned long long)places[i]);
        free(list);
        cr_expect(isnan(hil_tune_value(&run, 0)));
    }
    hil_state_detach(&run);
    close_rig(&rig);
}

/*
 * Tests the step of a node with small scenarios: the order of computations, the
 * values that cross links, and the values that hold when something is missing. All nodes run in one
 * thread, in the order of virtual time. The tests look at the numbers on which the steps work.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "harness/run/virtual_time.h"
#include "step_rig.h"
#include "tests/temporary.h"

static struct step_arrival *arrival(const struct rig *rig, unsigned from, unsigned to)
{
    const struct hil_step *s = rig->group.nodes[to]->step;
    const int link = hil_link_find(rig->scenario->system, from, to);

    for (unsigned i = 0; i < s->arrival_count; i++)
        if ((int)s->arrivals[i].link == link)
            return &s->arrivals[i];
    cr_assert_fail("no link goes from %u to %u", from, to);
    return NULL;
}

static const struct hil_link_figures *figures(const struct rig *rig, unsigned from, unsigned to)
{
    return &rig->run.state->figures[arrival(rig, from, to)->figures];
}

/* Sends this in place of the node's own message of this step. */
static void push(const struct rig *rig, unsigned from, unsigned to, const double *values)
{
    const struct hil_node *node = rig->group.nodes[from];
    const struct hil_system *s = rig->scenario->system;
    const int link = hil_link_find(s, from, to);
    struct loco_owned_var *var = &node->links.out[(unsigned)link - node->config->first_link];
    struct {
        struct hil_message head;
        double values[4];
    } m = {.head.step = rig->n[from]};

    memcpy(m.values, values, s->links[link].count * sizeof *values);
    loco_owned_var_store(var, &m);
    loco_owned_var_push(var);
}

/* --- what scenarios have in common ------------------------------------------------------------ */

#define HEAD "name: small\nduration_s: 1\nmode: virtual\n"
#define ONE  HEAD "nodes: {n: {period_us: 10}}\n"
#define TWO  HEAD "nodes: {a: {period_us: 20}, b: {period_us: 10}}\nplacement: [{nodes: [a, b]}]\n"
/* Steps of 10 us: the integral of 1 grows by 1 in each step. */
#define PLANT "model: integrator, parameters: {gain_per_s: 1e5}"

/* --- one node --------------------------------------------------------------------------------- */

Test(step, sampled_components_compute_after_those_they_take_from)
{
    struct rig rig;

    open_rig(&rig, ONE "components:\n"
                       "  last: {model: gain, parameters: {gain: 5}, node: n}\n"
                       "  first: {model: gain, parameters: {gain: 2}, node: n}\n"
                       "  middle: {model: gain, parameters: {gain: 3}, node: n}\n"
                       "connections:\n"
                       "  - {from: first.output, to: middle.input}\n"
                       "  - {from: middle.output, to: last.input}\n"
                       "sources: {one: {to: first.input, constant: 1}}\n");
    play(&rig, 0);
    cr_expect_eq(out_of(&rig, "last"), 30);
    close_rig(&rig);
}

#define P_LAW(name)                                                                                \
    "  " name ": {model: generic_pi, parameters: {kp: 2, output_min: -1e3, output_max: 1e3}, "     \
    "node: n}\n"

/* A law that takes from another one is not stepped in a row with it. */
Test(step, laws_in_a_cascade)
{
    struct rig rig;

    open_rig(&rig,
             ONE "components:\n" P_LAW("outer") P_LAW("inner") P_LAW(
                 "apart") "connections:\n"
                          "  - {from: outer.output, to: inner.reference}\n"
                          "sources:\n"
                          "  one: {to: [outer.reference, apart.reference], constant: 1}\n"
                          "  none: {to: [outer.measurement, inner.measurement, apart.measurement], "
                          "constant: 0}\n");
    play(&rig, 0);
    cr_expect_eq(out_of(&rig, "inner"), 4);
    cr_expect_eq(out_of(&rig, "apart"), 2);
    close_rig(&rig);
}

#define LOOP                                                                                       \
    "components:\n"                                                                                \
    "  plant: {" PLANT ", node: n, initial: {output: 8}}\n"                                        \
    "  law: {model: gain, parameters: {gain: -0.5}, node: n}\n"                                    \
    "connections:\n"                                                                               \
    "  - {from: plant.output, to: law.input}\n"                                                    \
    "  - {from: law.output, to: plant.input}\n"

/* The law computes from the values that the plant has just reached, and its output is latched in
 * the same step. */
Test(step, an_inner_loop_runs_beside_its_plant)
{
    struct rig rig;

    open_rig(&rig, ONE LOOP);
    for (unsigned n = 0; n < 5; n++) {
        const double expected = 8 / pow(2, n);
        play(&rig, 10 * n);
        cr_expect_float_eq(out_of(&rig, "plant"), expected, 1e-12);
        cr_expect_float_eq(in_of(&rig, "law", 0), expected, 1e-12);
        cr_expect_float_eq(in_of(&rig, "plant", 0), -expected / 2, 1e-12);
    }
    close_rig(&rig);
}

/* Continuous components take each other's values from the beginning of the interval. */
Test(step, a_continuous_component_takes_what_another_had_a_step_before)
{
    struct rig rig;

    open_rig(&rig, ONE "components:\n"
                       "  second: {" PLANT ", node: n}\n"
                       "  first: {" PLANT ", node: n}\n"
                       "connections: [{from: first.output, to: second.input}]\n"
                       "sources: {one: {to: first.input, constant: 1}}\n");
    play(&rig, 30);
    cr_expect_float_eq(out_of(&rig, "first"), 3, 1e-12);
    cr_expect_float_eq(out_of(&rig, "second"), 0 + 1 + 2, 1e-12);
    close_rig(&rig);
}

Test(step, one_of_several_components_has_a_computation_delay)
{
    struct rig rig;

    open_rig(&rig, ONE "components:\n"
                       "  slow: {model: gain, node: n, computation_delay: true}\n"
                       "  fast: {model: gain, node: n}\n"
                       "  both: {model: sum, node: n, width: 2, parameters: {gain: [100, 1]}}\n"
                       "connections:\n"
                       "  - {from: slow.output, to: \"both.input[0]\"}\n"
                       "  - {from: fast.output, to: \"both.input[1]\"}\n"
                       "sources:\n"
                       "  ramp: {to: [slow.input, fast.input], steps: {initial: 1, changes: [\n"
                       "    {time_s: 10e-6, value: 2}, {time_s: 20e-6, value: 3}]}}\n");
    static const double expected[] = {1, 102, 203, 303, 303};

    for (unsigned n = 0; n < 5; n++) {
        play(&rig, 10 * n);
        cr_expect_eq(out_of(&rig, "both"), expected[n], "%u: %g", n, out_of(&rig, "both"));
    }
    close_rig(&rig);
}

Test(step, an_input_that_nothing_feeds_has_the_value_of_its_table)
{
    struct rig rig;

    open_rig(&rig, ONE "components: {plant: {model: buck, node: n, inputs: {load_ohm: 3}}}\n"
                       "sources: {half: {to: plant.duty, constant: 0.5}}\n");
    play(&rig, 50);
    cr_expect_eq(in_of(&rig, "plant", 0), 0.5);
    cr_expect_eq(in_of(&rig, "plant", 1), 48);
    cr_expect_eq(in_of(&rig, "plant", 2), 3);
    cr_expect_gt(out_of(&rig, "plant"), 0);
    close_rig(&rig);
}

static char *csv_file(const char *text)
{
    static char path[TEMPORARY_SIZE];
    const int file = temporary_file(path);

    cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    return path;
}

/* A source has its value at the time of the step. The first step is not at 0. */
Test(step, sources_of_each_kind)
{
    char text[2000];
    char *csv = csv_file("time_s,level\n0,1\n20e-6,3\n");
    struct rig rig;

    snprintf(text, sizeof text,
             HEAD "nodes: {n: {period_us: 10, phase_us: 5}}\n"
                  "components: {g: {model: gain, node: n, count: 5}}\n"
                  "sources:\n"
                  "  constant: {to: \"g[0].input\", constant: 7, scale: 2}\n"
                  "  steps: {to: \"g[1].input\", steps: {initial: 0, changes: [{time_s: 0, value: "
                  "1, ramp_s: 50e-6}]}}\n"
                  "  sine: {to: \"g[2].input\", sine: {amplitude: 2, frequency_hz: 25000}}\n"
                  "  pulses: {to: \"g[3].input\", pulses: {low: 1, high: 4, period_s: 20e-6, "
                  "width_s: 10e-6}}\n"
                  "  csv: {to: \"g[4].input\", csv: {file: %s, column: level}}\n",
             csv);
    open_rig(&rig, text);
    for (unsigned n = 0; n < 5; n++) {
        const double t = 5e-6 + 10e-6 * n;
        const double expected[] = {14, fmin(t / 50e-6, 1), 2 * sin(2 * M_PI * 25000 * t),
                                   n % 2 ? 1 : 4, fmin(1 + t / 10e-6, 3)};
        play(&rig, 5 + 10 * n);
        for (unsigned i = 0; i < 5; i++)
            cr_expect_float_eq(part_of(&rig, "g", i)->out[0], expected[i], 1e-9, "%u at %u: %g", i,
                               n, part_of(&rig, "g", i)->out[0]);
    }
    close_rig(&rig);
    unlink(csv);
}

/* A continuous component holds a source's value over the interval that begins with the step. */
Test(step, a_source_is_latched)
{
    struct rig rig;

    open_rig(&rig, ONE "components: {plant: {" PLANT ", node: n}}\n"
                       "sources: {s: {to: plant.input, steps: {initial: 1, changes: [{time_s: "
                       "10e-6, value: 10}]}}}\n");
    play(&rig, 0);
    cr_expect_eq(out_of(&rig, "plant"), 0);
    play(&rig, 10);
    cr_expect_float_eq(out_of(&rig, "plant"), 1, 1e-12);
    play(&rig, 20);
    cr_expect_float_eq(out_of(&rig, "plant"), 11, 1e-12);
    close_rig(&rig);
}

Test(step, a_single_node_with_a_source_in_one_component_of_an_array)
{
    struct rig rig;

    open_rig(
        &rig, ONE
        "components:\n"
        "  g: {model: gain, parameters: {gain: 2}, node: n, count: 3, inputs: {input: [1, ~, 3]}}\n"
        "sources: {s: {to: \"g[1].input\", constant: 10}}\n");
    play(&rig, 1000);
    cr_expect_eq(rig.rc, 0);
    cr_expect_eq(part_of(&rig, "g", 0)->out[0], 2);
    cr_expect_eq(part_of(&rig, "g", 1)->out[0], 20);
    cr_expect_eq(part_of(&rig, "g", 2)->out[0], 6);
    close_rig(&rig);
}

/* ~ in the list of a wide row keeps the model's value, or what feeds that place otherwise. */
Test(step, places_of_a_wide_row_that_are_not_given)
{
    struct rig rig;

    open_rig(&rig, ONE "components:\n"
                       "  all: {model: sum, node: n, width: 3, parameters: {gain: [~, 10, 100]}, "
                       "inputs: {input: [1, ~, 3]}}\n"
                       "sources: {s: {to: \"all.input[1]\", constant: 2}}\n");
    play(&rig, 0);
    cr_expect_eq(out_of(&rig, "all"), 321);
    close_rig(&rig);
}

/* --- links ------------------------------------------------------------------------------------ */

Test(step, values_are_scaled_and_shifted)
{
    struct rig rig;

    open_rig(&rig, TWO "components:\n"
                       "  far: {model: gain, node: a}\n"
                       "  near: {model: gain, node: b}\n"
                       "  there: {model: gain, node: b}\n"
                       "connections:\n"
                       "  - {from: far.output, to: there.input, scale: -2, offset: 1, "
                       "initial: 0.1}\n"
                       "  - {from: there.output, to: near.input, scale: 3, offset: -4}\n"
                       "sources: {s: {to: far.input, constant: 5}}\n");
    cr_expect_eq(in_of(&rig, "there", 0), 0.1);
    play(&rig, 40);
    cr_expect_eq(out_of(&rig, "there"), -9);
    cr_expect_eq(out_of(&rig, "near"), -31);
    close_rig(&rig);
}

Test(step, a_wide_row_takes_from_here_and_from_elsewhere)
{
    struct rig rig;

    open_rig(&rig, TWO "components:\n"
                       "  far: {model: gain, node: a, count: 2}\n"
                       "  near: {model: gain, node: b}\n"
                       "  all: {model: sum, node: b, width: 4, parameters: {gain: [1, 10, 100, "
                       "1000]}}\n"
                       "connections:\n"
                       "  - {from: \"far[1].output\", to: \"all.input[0]\"}\n"
                       "  - {from: near.output, to: \"all.input[1]\"}\n"
                       "  - {from: \"far[0].output\", to: \"all.input[2]\"}\n"
                       "sources:\n"
                       "  one: {to: \"far[0].input\", constant: 1}\n"
                       "  two: {to: \"far[1].input\", constant: 2}\n"
                       "  three: {to: near.input, constant: 3}\n"
                       "  four: {to: \"all.input[3]\", constant: 4}\n");
    play(&rig, 40);
    cr_expect_eq(out_of(&rig, "all"), 4132);
    close_rig(&rig);
}

/* Three components in each direction; each side answers the other. */
#define BOTH_WAYS                                                                                  \
    "components:\n"                                                                                \
    "  down: {model: gain, node: a, count: 3}\n"                                                   \
    "  up: {model: gain, parameters: {gain: \
                            1}, node: b, count: 3}\n"                                                      \
    "connections:\n"                                                                               \
    "  - {from: \"down[*].output\", to: \"up[*].input\"}\n"                                        \
    "  - {from: \"up[*].output\", to: \"down[*].input\", offset: 1}\n"

Test(step, links_of_several_values_go_both_ways)
{
    struct rig rig;

    open_rig(&rig, TWO BOTH_WAYS);
    cr_assert_eq(rig.scenario->system->link_count, 2);
    cr_assert_eq(rig.scenario->system->links[0].count, 3);
    play(&rig, 400);
    for (unsigned i = 0; i < 3; i++)
        cr_expect_eq(part_of(&rig, "down", i)->out[0], 20, "%g", part_of(&rig, "down", i)->out[0]);
    cr_expect_eq(arrival(&rig, 1, 0)->step, 40);
    cr_expect_eq(arrival(&rig, 1, 0)->acted_on, 20);
    cr_expect_eq(arrival(&rig, 0, 1)->step, 21);
    cr_expect_eq(arrival(&rig, 0, 1)->acted_on, 40);
    close_rig(&rig);
}

/* The node that comes first counts round trips, and each answer counts once. */
Test(step, a_pair_counts_its_round_trips_at_one_end)
{
    struct rig rig;

    open_rig(&rig, TWO BOTH_WAYS);
    play(&rig, 400);
    cr_expect_eq(figures(&rig, 1, 0)->round_trip.count, 20);
    cr_expect_eq(figures(&rig, 1, 0)->round_trip.max, 20 * US);
    cr_expect_eq(figures(&rig, 0, 1)->round_trip.count, 0);
    close_rig(&rig);
}

Test(step, no_round_trip_without_a_way_back)
{
    struct rig rig;

    open_rig(&rig, TWO "components: {up: {model: gain, node: b}, down: {model: gain, node: a}}\n"
                       "connections: [{from: up.output, to: down.input}]\n"
                       "sources: {s: {to: up.input, constant: 1}}\n");
    play(&rig, 400);
    cr_expect_eq(out_of(&rig, "down"), 1);
    cr_expect_eq(figures(&rig, 1, 0)->round_trip.count, 0);
    cr_expect_eq(figures(&rig, 1, 0)->input_age.count, 20);
    close_rig(&rig);
}

/* An answer to a step of a restarted node's earlier life is not a round trip. */
Test(step, an_answer_to_an_earlier_life_is_no_round_trip)
{
    struct rig rig;

    open_rig(&rig, TWO BOTH_WAYS);
    play(&rig, 390);
    rig.group.nodes[0]->loop.first = rig.n[0] = 40;
    cr_assert_eq(hil_step_begin(rig.group.nodes[0]->step), 0);
    play(&rig, 1190);
    cr_expect_eq(figures(&rig, 1, 0)->round_trip.max, 20 * US);
    cr_expect_eq(figures(&rig, 1, 0)->round_trip.count, 19 + 19, "%lu",
                 (unsigned long)figures(&rig, 1, 0)->round_trip.count);
    close_rig(&rig);
}

#define STAR                                                                                       \
    HEAD "nodes: {a: {period_us: 10}, b: {count: 3, period_us: 10}}\n"                             \
         "placement: [{nodes: [a, \"b[*]\"]}]\n"                                                   \
         "components:\n"                                                                           \
         "  up: {model: gain, node: \"b[*]\", inputs: {input: 1}}\n"                               \
         "  all: {model: sum, node: a, width: 3}\n"                                                \
         "connections:\n"                                                                          \
         "  - {from: \"up[0].output\", to: \"all.input[0]\"}\n"                                    \
         "  - {from: \"up[1].output\", to: \"all.input[1]\"}\n"                                    \
         "  - {from: \"up[2].output\", to: \"all.input[2]\"}\n"

/* In an array of links the oldest input counts, among the links that have had a message. */
Test(step, the_age_of_links_is_that_of_those_which_had_a_message)
{
    struct rig rig;

    open_rig(&rig, STAR);
    rig.still[3] = true;
    play(&rig, 100);
    rig.still[1] = true;
    play(&rig, 200);
    const struct hil_histogram *age = &figures(&rig, 1, 0)->input_age;
    cr_expect_eq(age->count, 20, "%lu", (unsigned long)age->count);
    cr_expect_eq(age->max, 100 * US);
    cr_expect_eq(rig.group.nodes[0]->loop.input_age_ns, 100 * US);
    cr_expect(rig.group.nodes[0]->loop.has_input);
    close_rig(&rig);
}

/* When all links have had a message: on which link the oldest came, and when that was found. */
Test(step, the_oldest_of_links_is_known)
{
    struct rig rig;

    open_rig(&rig, STAR);
    play(&rig, 100);
    rig.still[2] = true;
    play(&rig, 200);
    const struct hil_link_figures *all = figures(&rig, 1, 0);
    cr_expect_eq(all->input_age.max, 100 * US);
    cr_expect_eq(rig.scenario->system->links[all->oldest.link].from, 2);
    cr_expect_eq(all->oldest.at_ns, 200 * US);
    cr_expect_eq(rig.group.nodes[0]->loop.input_age_ns, 100 * US);
    close_rig(&rig);
}

Test(step, no_age_without_a_message)
{
    struct rig rig;

    open_rig(&rig, STAR);
    rig.still[1] = rig.still[2] = rig.still[3] = true;
    play(&rig, 200);
    cr_expect_eq(figures(&rig, 1, 0)->input_age.count, 0);
    cr_expect_not(rig.group.nodes[0]->loop.has_input);
    close_rig(&rig);
}

/* --- what cannot be used ---------------------------------------------------------------------- */

#define FOLLOW(stale)                                                                              \
    HEAD "nodes: {a: {period_us: 10}, b: {period_us: 10, " stale "}}\n"                            \
         "placement: [{nodes: [a, b]}]\n"                                                          \
         "components:\n"                                                                           \
         "  from: {model: gain, parameters: {gain: \
             1}, node: a, inputs: {input: 3}}\n"                                               \
         "  other: {model: gain, parameters: {gain: \
                    1}, node: a, inputs: {input: 4}}\n"                                              \
         "  law: {model: gain, parameters: {gain: \
                           2}, node: b, safe: {output: 50}}\n"                                                \
         "  plant: {model: buck, node: b, inputs: {load_ohm: 9}, safe: "                           \
         "{duty: 0.5, load_ohm: "                                                                  \
         "5}}\n"                                                                                   \
         "  after: {model: gain, parameters: {gain: \
                                  10}, node: b}\n"                                              \
         "connections:\n"                                                                          \
         "  - {from: from.output, to: law.input}\n"                                                \
         "  - {from: other.output, to: plant.duty, scale: 0.1}\n"                                  \
         "  - {from: law.output, to: after.input}\n"

/* A component that takes the missing input is safe, components behind it go on, and everything is
 * as before when the input comes again. */
Test(step, a_stale_input_makes_safe_what_takes_it)
{
    struct rig rig;

    open_rig(&rig, FOLLOW("input_age_limit_us: 50, on_stale_input: safe"));
    play(&rig, 100);
    cr_expect_eq(out_of(&rig, "law"), 6);
    cr_expect_eq(in_of(&rig, "plant", 0), 0.4);
    rig.still[0] = true;
    play(&rig, 150);
    cr_expect_eq(out_of(&rig, "law"), 6, "of 50 us");
    play(&rig, 160);
    cr_expect_eq(out_of(&rig, "law"), 50);
    cr_expect_eq(out_of(&rig, "after"), 500);
    cr_expect_eq(in_of(&rig, "plant", 0), 0.5);
    cr_expect_eq(in_of(&rig, "plant", 2), 5);
    rig.still[0] = false;
    play(&rig, 200);
    cr_expect_eq(out_of(&rig, "after"), 60);
    cr_expect_eq(in_of(&rig, "plant", 0), 0.4);
    cr_expect_eq(in_of(&rig, "plant", 2), 9, "a constant that a safe value replaced comes back");
    close_rig(&rig);
}

/* The input has its own initial value, not the sender's possible initial value with the offset
 * applied. */
Test(step, an_input_that_never_came_is_what_it_begins_with_also_after_it_was_safe)
{
    static const double bad[] = {NAN};
    struct rig rig;

    open_rig(&rig, HEAD "nodes: {a: {period_us: 10}, b: {period_us: 10, bad_inputs_limit: 1}, c: "
                        "{period_us: 10}}\n"
                        "placement: [{nodes: [a, b, c]}]\n"
                        "components:\n"
                        "  from: {model: gain, node: a, inputs: {input: 0.25}}\n"
                        "  mute: {model: gain, node: c, inputs: {input: 1}}\n"
                        "  plant: {model: buck, node: b, safe: {duty: 0.5, load_ohm: 5}}\n"
                        "connections:\n"
                        "  - {from: from.output, to: plant.duty}\n"
                        "  - {from: mute.output, to: plant.load_ohm, offset: 1, initial: 0.1}\n");
    rig.still[2] = true;
    play(&rig, 50);
    cr_expect_eq(in_of(&rig, "plant", 0), 0.25);
    cr_expect_eq(in_of(&rig, "plant", 2), 0.1);
    rig.still[0] = true;
    push(&rig, 0, 1, bad);
    play(&rig, 60);
    cr_expect_eq(in_of(&rig, "plant", 2), 5);
    rig.still[0] = false;
    play(&rig, 80);
    cr_expect_eq(in_of(&rig, "plant", 0), 0.25);
    cr_expect_eq(in_of(&rig, "plant", 2), 0.1);
    close_rig(&rig);
}

Test(step, a_stale_input_ends_the_run)
{
    struct rig rig;

    open_rig(&rig, FOLLOW("input_age_limit_us: 50, on_stale_input: end"));
    play(&rig, 100);
    rig.still[0] = true;
    play(&rig, 150);
    cr_expect_eq(rig.rc, 0);
    play(&rig, 160);
    cr_expect_eq(rig.rc, -ESTALE);
    close_rig(&rig);
}

/* The last good value holds. After too many bad ones the component that takes it is safe. Another
 * component's value in the same message is used. */
Test(step, values_that_are_no_numbers)
{
    static const double bad[] = {7, NAN}, good[] = {8, 1};
    struct rig rig;

    open_rig(&rig, FOLLOW("bad_inputs_limit: 3"));
    play(&rig, 100);
    rig.still[0] = true;
    for (unsigned n = 1; n <= 4; n++) {
        push(&rig, 0, 1, bad);
        play(&rig, 100 + 10 * n);
        cr_expect_eq(out_of(&rig, "law"), 14, "%u: %g", n, out_of(&rig, "law"));
        cr_expect_eq(in_of(&rig, "plant", 0), n < 3 ? 0.4 : 0.5, "%u", n);
        cr_expect_eq(in_of(&rig, "plant", 2), n < 3 ? 9 : 5, "%u", n);
    }
    push(&rig, 0, 1, good);
    play(&rig, 150);
    cr_expect_eq(out_of(&rig, "law"), 16);
    cr_expect_eq(in_of(&rig, "plant", 0), 0.1);
    cr_expect_eq(rig.run.state->links[arrival(&rig, 0, 1)->link].bad, 4);
    close_rig(&rig);
}

/* Until a number arrives, an input has its initial value, also after its sender died. */
Test(step, a_value_that_never_came_beside_one_that_did)
{
    static const double bad[] = {7, NAN};
    struct rig rig;

    open_rig(&rig, FOLLOW("bad_inputs_limit: 100"));
    rig.still[0] = true;
    for (unsigned n = 1; n <= 3; n++) {
        rig.n[0] = n;
        push(&rig, 0, 1, bad);
        play(&rig, 10 * n);
        cr_expect_eq(out_of(&rig, "law"), 14);
        cr_expect_eq(in_of(&rig, "plant", 0), part_of(&rig, "plant", 0)->model->inputs.at[0].value);
    }
    rig.still[0] = false;
    play(&rig, 60);
    cr_expect_eq(out_of(&rig, "law"), 6);
    cr_expect_eq(in_of(&rig, "plant", 0), 0.4);
    close_rig(&rig);
}

/* A component's values belong together: they are used as a whole, or not at all. */
Test(step, a_component_that_sends_no_number_is_held_whole)
{
    static const double before[] = {1, 2}, bad[] = {NAN, 30}, after[] = {4, 5};
    struct rig rig;

    open_rig(&rig, HEAD "nodes: {a: {period_us: 10}, b: {period_us: 10}}\n"
                        "placement: [{nodes: [a, b]}]\n"
                        "components:\n"
                        "  plant: {model: buck, node: a, inputs: {duty: 0}}\n"
                        "  all: {model: sum, node: b, width: 2, parameters: {gain: [1, 100]}}\n"
                        "connections:\n"
                        "  - {from: plant.voltage_v, to: \"all.input[0]\"}\n"
                        "  - {from: plant.current_a, to: \"all.input[1]\"}\n");
    rig.still[0] = true;
    play(&rig, 10);
    push(&rig, 0, 1, before);
    play(&rig, 20);
    cr_expect_eq(out_of(&rig, "all"), 201);
    push(&rig, 0, 1, bad);
    play(&rig, 30);
    cr_expect_eq(out_of(&rig, "all"), 201);
    push(&rig, 0, 1, after);
    play(&rig, 40);
    cr_expect_eq(out_of(&rig, "all"), 504);
    close_rig(&rig);
}

/* --- components that fail --------------------------------------------------------------------- */

/* From 50 us, the product of its input and gain is infinite. */
#define FAILS                                                                                      \
    "sources: {s: {to: bad.input, steps: {initial: 1, changes: [{time_s: 50e-6, value: "           \
    "1e305}]}}}\n"

static const struct hil_failure_log *faults(const struct rig *rig)
{
    return &rig->run.state->executors[0].failures;
}

Test(step, a_sampled_component_that_fails_is_safe)
{
    struct rig rig;

    open_rig(&rig, ONE "components:\n"
                       "  bad: {model: gain, parameters: {gain: 1e12}, node: n, safe: {output: 2}, "
                       "on_error: safe}\n"
                       "  after: {model: gain, parameters: {gain: 10}, node: n}\n"
                       "connections: [{from: bad.output, to: after.input}]\n" FAILS);
    play(&rig, 40);
    cr_expect_eq(out_of(&rig, "after"), 1e13);
    play(&rig, 200);
    cr_expect_eq(rig.rc, 0);
    cr_expect_eq(out_of(&rig, "after"), 20);
    cr_expect_eq(faults(&rig)->count, 1);
    cr_expect_str_eq(faults(&rig)->at[0].component, "bad");
    close_rig(&rig);
}

/* A component that takes an output without a safe value is also made safe, in that very step. */
Test(step, a_sampled_component_that_fails_without_a_safe_value)
{
    struct rig rig;

    open_rig(&rig, ONE "components:\n"
                       "  bad: {model: gain, parameters: {gain: 1e12}, node: n, count: 2, "
                       "safe: {output: [2, ~]}, on_error: safe}\n"
                       "  after: {model: gain, node: n, count: 2, safe: {output: 7}}\n"
                       "  plant: {" PLANT ", node: n, safe: {input: 3}}\n"
                       "connections:\n"
                       "  - {from: \"bad[*].output\", to: \"after[*].input\"}\n"
                       "  - {from: \"bad[1].output\", to: plant.input}\n"
                       "sources: {s: {to: \"bad[*].input\", steps: {initial: 1, changes: "
                       "[{time_s: 50e-6, value: 1e305}]}}}\n");
    play(&rig, 200);
    cr_expect_eq(rig.rc, 0);
    cr_expect_eq(faults(&rig)->count, 2, "only those of that name");
    cr_expect_eq(part_of(&rig, "after", 0)->out[0], 2);
    cr_expect_eq(part_of(&rig, "after", 1)->out[0], 7);
    cr_expect_eq(in_of(&rig, "plant", 0), 3);
    close_rig(&rig);
}

Test(step, a_component_that_fails_ends_the_run)
{
    struct rig rig;

    open_rig(&rig,
             ONE "components: {bad: {model: gain, parameters: {gain: 1e12}, node: n}}\n" FAILS);
    play(&rig, 40);
    cr_expect_eq(rig.rc, 0);
    play(&rig, 50);
    cr_expect_eq(rig.rc, -ENOTRECOVERABLE);
    close_rig(&rig);
}

/* Components that take from it are safe if they have safe values, on this node and on others.
 * Nothing else fails. */
Test(step, a_continuous_component_that_fails_makes_safe_what_takes_from_it)
{
    struct rig rig;

    open_rig(&rig,
             HEAD "nodes: {n: {period_us: 10}, far: {period_us: 10, bad_inputs_limit: 2}}\n"
                  "placement: [{nodes: [n, far]}]\n"
                  "components:\n"
                  "  bad: {model: integrator, parameters: {gain_per_s: 1e12}, node: n, on_error: "
                  "safe, safe: {input: 0}}\n"
                  "  law: {model: gain, node: n, safe: {output: 7}}\n"
                  "  beside: {model: gain, node: n, inputs: {input: 5}}\n"
                  "  plant: {" PLANT ", node: n, safe: {input: 3}}\n"
                  "  loose: {" PLANT ", node: n}\n"
                  "  there: {model: gain, node: far, safe: {output: 9}}\n"
                  "  sound: {model: gain, node: far, safe: {output: 10}}\n"
                  "connections:\n"
                  "  - {from: beside.output, to: sound.input}\n"
                  "  - {from: bad.output, to: law.input}\n"
                  "  - {from: bad.output, to: plant.input}\n"
                  "  - {from: bad.output, to: loose.input, initial: 0.5}\n"
                  "  - {from: bad.output, to: there.input}\n" FAILS);
    play(&rig, 500);
    cr_expect_eq(rig.rc, 0);
    cr_expect_eq(faults(&rig)->count, 1, "only one has failed");
    cr_expect_eq(out_of(&rig, "law"), 7);
    cr_expect_eq(out_of(&rig, "beside"), 5);
    cr_expect_eq(in_of(&rig, "plant", 0), 3);
    cr_expect_eq(in_of(&rig, "loose", 0), 0.5);
    cr_expect_eq(out_of(&rig, "there"), 9);
    cr_expect_eq(out_of(&rig, "sound"), 5, "it takes nothing from what failed");
    close_rig(&rig);
}

/* --- nodes that die --------------------------------------------------------------------------- */

static void wait_for_loss(const struct loco_channel *channel)
{
    struct loco_wait wait = loco_wait_for(channel->mgr, TIMEOUT_NS);

    while (!loco_channel_check(channel))
        cr_assert_eq(loco_relax(channel->mgr, &wait), 0);
}

/* A node's own thread learns of a loss, and the later steps know of it. */
static void lose(struct rig *rig, unsigned lost)
{
    const struct hil_system *s = rig->scenario->system;

    if (lost > 0 && rig->group.nodes[lost - 1])
        rig->group.nodes[lost - 1]->next = NULL;
    hil_node_close(rig->group.nodes[lost]);
    rig->group.nodes[lost] = NULL;
    for (unsigned n = 0; n < rig->group.count; n++) {
        const struct hil_node *node = rig->group.nodes[n];
        if (!node || loco_channel_member(&node->links.channel, lost) < 0)
            continue;
        wait_for_loss(&node->links.channel);
        for (unsigned i = 0; i < node->config->incoming_count; i++)
            if (s->links[node->config->incoming[i]].from == lost)
                wait_for_loss(&node->links.in[i].channel);
    }
}

static void bring_back(struct rig *rig, unsigned node)
{
    struct hil_node **back = &rig->group.nodes[node];

    cr_assert_eq(hil_node_new(back, &rig->run, node), 0);
    cr_assert_eq(hil_node_open(*back, rig->fabric), 0);
    cr_assert_eq(hil_step_begin((*back)->step), 0);
    struct loco_wait wait = loco_wait_for((*back)->mgr, TIMEOUT_NS);
    while (!hil_node_connected(*back))
        cr_assert_eq(loco_relax((*back)->mgr, &wait), 0);
}

/* Inputs from the lost node have their initial values. A sampled component that takes them rests,
 * and the others go on. With the node's first message everything is as before. */
Test(step, what_a_node_leaves_that_died)
{
    struct rig rig;

    open_rig(&rig, HEAD "on_lost: restart\n"
                        "nodes: {a: {period_us: 10, input_age_limit_us: 30}, b: {period_us: 10}}\n"
                        "placement: [{nodes: [a, b]}]\n"
                        "components:\n"
                        "  from: {model: gain, node: b, inputs: {input: 3}}\n"
                        "  law: {model: gain, node: a, parameters: {gain: 2}}\n"
                        "  beside: {model: gain, node: a}\n"
                        "  plant: {" PLANT ", node: a}\n"
                        "connections:\n"
                        "  - {from: from.output, to: law.input}\n"
                        "  - {from: from.output, to: plant.input, scale: 5, initial: 0.25}\n"
                        "sources: {s: {to: beside.input, steps: {initial: 1, changes: [{time_s: "
                        "110e-6, value: 2}]}}}\n");
    play(&rig, 100);
    cr_expect_eq(out_of(&rig, "law"), 6);
    cr_expect_eq(in_of(&rig, "plant", 0), 15);
    lose(&rig, 1);
    play(&rig, 200);
    cr_expect_eq(rig.rc, 0);
    cr_expect_eq(in_of(&rig, "law", 0), 0);
    cr_expect_eq(out_of(&rig, "law"), 6, "it rests");
    cr_expect_eq(in_of(&rig, "plant", 0), 0.25);
    cr_expect_eq(out_of(&rig, "beside"), 2);
    bring_back(&rig, 1);
    play(&rig, 220);
    cr_expect_eq(out_of(&rig, "law"), 6);
    cr_expect_eq(in_of(&rig, "law", 0), 3);
    cr_expect_eq(in_of(&rig, "plant", 0), 15);
    const struct hil_loss_log *losses = &rig.run.state->executors[0].losses;
    cr_expect_eq(losses->count, 1);
    cr_expect_eq(losses->back_count, 1);
    cr_expect_eq(losses->at[0].lost_ns, 110 * US);
    const struct hil_stale_log *stale = &rig.run.state->executors[0].stale;
    cr_expect_eq(stale->count, 0, "a loss is no stale input as well: found at %lu, over at %lu",
                 (unsigned long)stale->at[0].found_ns, (unsigned long)stale->at[0].fresh_ns);
    close_rig(&rig);
}

/* A node that stood still and was killed for that is stale until it is lost. */
Test(step, what_is_stale_is_so_until_its_sender_is_lost)
{
    struct rig rig;

    open_rig(&rig, "on_lost: restart\n" FOLLOW("input_age_limit_us: 30"));
    play(&rig, 100);
    rig.still[0] = true;
    play(&rig, 150);
    const struct hil_stale_log *stale = &rig.run.state->executors[0].stale;
    cr_expect_eq(stale->count, 1);
    cr_expect_eq(stale->at[0].found_ns, 140 * US);
    cr_expect_eq(stale->at[0].fresh_ns, 0);
    lose(&rig, 0);
    play(&rig, 200);
    cr_expect_eq(stale->count, 1);
    cr_expect_eq(stale->at[0].fresh_ns, 160 * US);
    cr_expect_eq(rig.run.state->executors[0].losses.count, 1);
    close_rig(&rig);
}

/* With different clocks, a node that is back learns from messages when the run began. It takes them
 * from any sender, as the first of its senders may stand still or be gone. */
struct returning {
    struct rig *rig;
    int found;
    _Atomic bool is_there;
};

static void *come_back(void *arg)
{
    struct returning *r = arg;

    bring_back(r->rig, 3);
    r->found = hil_node_find_run(r->rig->group.nodes[3], TIMEOUT_NS);
    r->is_there = true;
    return NULL;
}

Test(step, a_node_that_is_back_learns_the_start_from_any_sender)
{
    struct returning returning = {0};
    pthread_t thread;
    struct rig rig;

    open_rig(&rig, "name: small\nduration_s: 1\non_lost: restart\n"
                   "nodes: {hub: {period_us: 1000}, still: {period_us: 1000}, "
                   "sends: {period_us: 1000}, back: {period_us: 1000}}\n"
                   "placement: [{nodes: [hub, still, sends, back]}]\n"
                   "components:\n"
                   "  first: {model: gain, node: still}\n"
                   "  second: {model: gain, node: sends}\n"
                   "  sum: {model: sum, node: back, width: 2}\n"
                   "  alone: {model: gain, node: hub}\n"
                   "connections:\n"
                   "  - {from: first.output, to: \"sum.input[0]\"}\n"
                   "  - {from: second.output, to: \"sum.input[1]\"}\n"
                   "sources: {s: {to: [first.input, second.input, alone.input], constant: 1}}\n");
    hil_node_report(rig.group.nodes[0], HIL_RUNNING);
    lose(&rig, 3);
    rig.fabric->capabilities &= ~(unsigned)LOCO_SHARED_CLOCK;
    returning.rig = &rig;
    pthread_create(&thread, NULL, come_back, &returning);
    const struct hil_loop *loop = &rig.group.nodes[2]->loop;
    for (uint64_t n = 0; !returning.is_there; n++) {
        loop->step(loop->arg, n, n * 1000 * US);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    pthread_join(thread, NULL);
    const struct hil_node *back = rig.group.nodes[3];
    cr_expect_eq(returning.found, 1, "%d", returning.found);
    cr_expect_leq(back->start_ns, loco_clock(back->mgr));
    close_rig(&rig);
}

Test(step, a_node_that_died_ends_a_run_that_is_not_to_go_on)
{
    struct rig rig;

    open_rig(&rig, TWO BOTH_WAYS);
    play(&rig, 100);
    lose(&rig, 1);
    play(&rig, 64 * 20);
    cr_expect_eq(rig.rc, -ECONNRESET);
    close_rig(&rig);
}

/* --- virtual time ----------------------------------------------------------------------------- */

/* The slow node's value from the fast one in its last step, at 900 us: a ramp of 1 per us. */
static double last_seen(const char *nodes)
{
    struct hil_scenario *s;
    struct hil_run run;
    char text[2000];

    snprintf(text, sizeof text,
             "name: small\nduration_s: 1e-3\nmode: virtual\nnodes:\n%s"
             "components:\n"
             "  from: {model: gain, node: fast}\n"
             "  to: {model: gain, node: slow}\n"
             "connections: [{from: from.output, to: to.input}]\n"
             "sources: {s: {to: from.input, steps: {initial: 0, changes: [{time_s: 0, value: 1000, "
             "ramp_s: 1e-3}]}}}\n"
             "measures: {seen: {sum: to.input}}\n",
             nodes);
    s = load(text, NULL);
    run = (struct hil_run){.scenario = s};
    cr_assert_eq(hil_state_open(&run.state, s), 0);
    cr_assert_eq(hil_virtual_run(&run), 0);
    const double seen = atomic_load(&run.state->recent.value);
    hil_state_close(run.state);
    hil_scenario_free(s);
    return seen;
}

/* This holds for any periods, and so whichever node waited longer for its turn. */
Test(step, nodes_that_are_due_at_one_instant_go_in_the_order_of_the_file)
{
    cr_expect_float_eq(last_seen("  fast: {period_us: 10}\n  slow: {period_us: 100}\n"), 900, 1e-9);
    cr_expect_float_eq(last_seen("  slow: {period_us: 100}\n  fast: {period_us: 10}\n"), 890, 1e-9);
}

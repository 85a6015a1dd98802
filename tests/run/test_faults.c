/*
 * Faults on purpose: each acts where and when it was asked to, is in the record and the summary,
 * and is what makes a limit fail. In virtual time all of it is exact.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bank_text.h"
#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(faults, .init = workspace_open, .fini = workspace_close);

/* Three lags, each on a node of its own, and their laws on another. Row r of a lag's record is of
 * r * 10 us, and of the laws' of r * 50 us. */
static const char plants[] =
    "name: faulty\n"
    "duration_s: 0.01\n"
    "mode: virtual\n"
    "nodes: {ctl: {period_us: 50}, plant: {period_us: 10, count: 3}}\n"
    "components:\n"
    "  law: {model: gain, node: ctl, count: 3, parameters: {gain: 2}}\n"
    "  lag: {model: first_order_lag, node: 'plant[*]'}\n"
    "connections:\n"
    "  - {from: 'lag[*].output', to: 'law[*].input'}\n"
    "  - {from: 'law[*].output', to: 'lag[*].input', scale: -1, offset: 1}\n"
    "record:\n"
    "  - {signals: ['lag[*].output', 'lag[*].input'], node: 'plant[*]'}\n"
    "  - {signals: ['law[*].input', 'law[*].output'], node: ctl}\n"
    "limits: {same: {signal: 'lag[0].output', max: 0.4}}\n";

/* Runs it with these faults, each a line, into the folder NAME. */
static struct ended run_faults(const char *faults, const char *out)
{
    char text[4000];

    snprintf(text, sizeof text, "%s%s%s", plants, faults[0] ? "faults:\n" : "", faults);
    write_text(in_workspace("%s.yaml", out), text);
    return run_command("hiloco run %s --quiet --out %s", in_workspace("%s.yaml", out),
                       in_workspace("%s", out));
}

static struct column column(const char *out, const char *dataset)
{
    return column_of(in_workspace("%s", out), dataset);
}

static void expect_same_bytes(const char *one, const char *other)
{
    struct ended e = run_command("cmp %s %s", in_workspace("%s/trace.h5", one),
                                 in_workspace("%s/trace.h5", other));

    expect_status(&e, 0);
}

/* The rows from..to - 1 of both columns are alike, but for so much. */
static void expect_apart(const struct column *a, const struct column *b, size_t from, size_t to,
                         double difference)
{
    cr_assert_leq(to, a->rows);
    for (size_t i = from; i < to; i++)
        cr_assert_float_eq(a->at[i] - b->at[i], difference, 1e-12, "row %zu", i);
}

/* --- signals and parameters ------------------------------------------------------------------ */

Test(faults, an_output_is_recorded_as_it_is_and_as_it_would_be)
{
    struct ended e = run_faults(
        "  f: {signal: 'lag[0].output', kind: bias, value: 0.5, at_s: 0.002, duration_s: 0.001}\n",
        "out");

    expect_status(&e, 4); /* the limit's */
    struct column as_is = column("out", "plant/000/output");
    struct column original = column("out", "plant/000/original_output");
    expect_apart(&as_is, &original, 0, 200, 0);
    expect_apart(&as_is, &original, 200, 300, 0.5);
    expect_apart(&as_is, &original, 300, 1000, 0);
    cr_expect_str_eq(column_text(in_workspace("out"), "plant/000/original_output", "signals"),
                     "lag[0].original_output");

    struct ended csv = run_command("hiloco export %s --csv", in_workspace("out"));
    expect_status(&csv, 0);
    const char *events = read_text(in_workspace("out/events.csv"));
    cr_expect_not_null(strstr(events, "0.002,200,plant[0],fault begins,f,"), "%s", events);
    cr_expect_not_null(strstr(events, ",300,plant[0],fault ends,f,0.001"), "%s", events);

    /* The law takes it as it is; of the others nothing is recorded twice. */
    struct column taken = column("out", "ctl/input");
    cr_expect_float_eq(taken.at[3 * 40], as_is.at[200], 1e-12);
    cr_expect_not(has_column(in_workspace("out"), "plant/001/original_output"));
}

Test(faults, an_input_is_what_the_component_takes_and_its_sender_knows_nothing)
{
    struct ended e = run_faults(
        "  f: {signal: 'lag[0].input', kind: stuck, value: 3, at_s: 0.002, duration_s: 0.001}\n",
        "out");

    expect_status(&e, 4);
    struct column taken = column("out", "plant/000/input");
    struct column original = column("out", "plant/000/original_input");
    expect_apart(&taken, &original, 0, 200, 0);
    for (size_t i = 200; i < 300; i++)
        cr_assert_eq(taken.at[i], 3);
    expect_apart(&taken, &original, 300, 1000, 0);
    struct column sent = column("out", "ctl/output");
    cr_expect_float_eq(original.at[206], 1 - sent.at[3 * 41], 1e-12);
}

/* The law is sampled: what it takes at a step, and what comes of it, are in the row of that step.
 */
Test(faults, an_input_of_a_sampled_component_is_beside_what_it_would_be)
{
    struct ended e =
        run_faults("  a: {signal: 'law[0].input', kind: gain, factor: 3, at_s: 0.002}\n"
                   "  b: {signal: 'law[0].input', kind: bias, value: 0.25, at_s: 0.002, "
                   "duration_s: 0.002}\n"
                   "  c: {signal: 'law[1].input', kind: delay, delay_us: 100, at_s: 0.002}\n",
                   "out");

    expect_status(&e, 0);
    struct column taken = column("out", "ctl/input"), given = column("out", "ctl/output");
    struct column original = column("out", "ctl/original_input");
    for (size_t i = 2; i < 200; i++) {
        const double *as_is = taken.at + 3 * i, *without = original.at + 2 * i;
        const bool both = i >= 40 && i < 80;
        cr_assert_float_eq(as_is[0], (i < 40 ? 1 : 3) * without[0] + (both ? 0.25 : 0), 1e-12,
                           "row %zu", i);
        cr_assert_eq(as_is[1], i < 40 ? without[1] : without[1 - 2 * 2], "row %zu", i);
        cr_assert_eq(given.at[3 * i], 2 * as_is[0], "row %zu", i);
    }
}

/* What a law sends a step later is in the row of that step, with its fault and without. */
Test(faults, a_delayed_output_is_beside_what_it_would_be)
{
    run_faults("  f: {signal: 'law[0].output', kind: bias, value: 0.5, at_s: 0.002}\n", "out");
    struct ended e =
        run_command("hiloco run %s --set components.law.computation_delay=true --quiet --out %s",
                    in_workspace("out.yaml"), in_workspace("out"));

    expect_status(&e, 0);
    struct column in = column("out", "ctl/input"), given = column("out", "ctl/output");
    struct column original = column("out", "ctl/original_output");
    for (size_t i = 1; i < 200; i++) {
        cr_assert_eq(original.at[i], 2 * in.at[3 * (i - 1)], "row %zu", i);
        cr_assert_eq(given.at[3 * i], original.at[i] + (i > 40 ? 0.5 : 0), "row %zu", i);
    }
}

/* The second law takes what the first one computes in the same step. */
Test(faults, an_input_from_a_component_of_the_same_step_is_beside_what_it_would_be)
{
    write_text(in_workspace("chain.yaml"),
               "name: chain\n"
               "duration_s: 0.01\n"
               "mode: virtual\n"
               "nodes: {ctl: {period_us: 50}}\n"
               "components:\n"
               "  lag: {model: first_order_lag, node: ctl}\n"
               "  first: {model: gain, node: ctl, parameters: {gain: -1}}\n"
               "  second: {model: gain, node: ctl, parameters: {gain: 1}}\n"
               "connections:\n"
               "  - {from: lag.output, to: first.input}\n"
               "  - {from: first.output, to: second.input}\n"
               "  - {from: second.output, to: lag.input, offset: 1}\n"
               "record:\n"
               "  - signals: [lag.output, first.input, first.output, second.input, second.output]\n"
               "    node: ctl\n"
               "faults:\n"
               "  f: {signal: first.input, kind: bias, value: 1}\n"
               "  g: {signal: second.input, kind: bias, value: 2}\n");
    struct ended e = run_command("hiloco run %s --quiet --out %s", in_workspace("chain.yaml"),
                                 in_workspace("chain"));

    expect_status(&e, 0);
    struct column reached = column("chain", "ctl/lag.output");
    struct column first = column("chain", "ctl/first.input");
    struct column second = column("chain", "ctl/second.input");
    struct column original = column("chain", "ctl/second.original_input");
    struct column computed = column("chain", "ctl/first.output");
    struct column given = column("chain", "ctl/second.output");
    for (size_t i = 1; i < 200; i++) {
        cr_assert_eq(given.at[i], computed.at[i] + 2, "row %zu", i);
        cr_assert_eq(first.at[i], reached.at[i] + 1, "row %zu", i);
        cr_assert_eq(second.at[i], original.at[i] + 2, "row %zu", i);
        cr_assert_eq(original.at[i], computed.at[i], "row %zu", i);
    }
}

Test(faults, follow_one_another_on_one_signal)
{
    struct ended e =
        run_faults("  a: {signal: 'lag[0].output', kind: gain, factor: 2, at_s: 0.002}\n"
                   "  b: {signal: 'lag[0].output', kind: bias, value: -1, at_s: 0.002}\n",
                   "out");

    expect_status(&e, 0);
    struct column as_is = column("out", "plant/000/output");
    struct column original = column("out", "plant/000/original_output");
    for (size_t i = 200; i < 1000; i++)
        cr_assert_float_eq(as_is.at[i], 2 * original.at[i] - 1, 1e-12);
}

Test(faults, act_from_the_first_step_on)
{
    struct ended e = run_faults("  a: {signal: 'lag[0].output', kind: bias, value: -1}\n", "out");

    expect_status(&e, 0);
    struct column as_is = column("out", "plant/000/output");
    cr_expect_eq(as_is.at[0], -1);
}

Test(faults, a_parameter_is_another_for_a_while)
{
    struct ended e = run_faults("  f: {component: 'law[0]', kind: tune, parameter: gain, factor: "
                                "0.5, at_s: 0.002, duration_s: 0.001}\n",
                                "out");

    expect_status(&e, 4);
    struct column in = column("out", "ctl/input"), given = column("out", "ctl/output");
    for (size_t i = 0; i < 200; i++)
        cr_assert_float_eq(given.at[3 * i], (i >= 40 && i < 60 ? 1 : 2) * in.at[3 * i], 1e-12,
                           "row %zu", i);
}

/* A plant that is tuned goes on from where it is, with another time constant. */
Test(faults, a_plants_parameter_counts_from_the_step_on)
{
    struct ended e = run_faults("  f: {component: 'lag[0]', kind: tune, parameter: "
                                "time_constant_s, factor: 0.5, at_s: 0.0005}\n"
                                "  g: {signal: 'lag[0].input', kind: stuck, value: 1}\n",
                                "out");
    struct column y = column("out", "plant/000/output");

    expect_status(&e, 4);
    for (size_t i = 0; i + 1 < 100; i++)
        cr_assert_float_eq((1 - y.at[i + 1]) / (1 - y.at[i]), exp(i < 50 ? -0.01 : -0.02), 1e-12,
                           "row %zu", i);
}

Test(faults, begin_when_a_signal_comes_to_a_level)
{
    struct ended e =
        run_faults("  f: {signal: 'lag[0].output', kind: stuck, value: 0, after: "
                   "{signal: 'lag[0].output', above: 0.2}, at_s: 0.001, duration_s: 0.001}\n",
                   "out");
    struct column original = column("out", "plant/000/original_output");
    size_t row = 0;

    expect_status(&e, 4);
    while (original.at[row] <= 0.2)
        row++;
    json_t *fault = json_at(summary_of(in_workspace("out")), "faults.0");
    cr_expect_float_eq(number_at(fault, "began_s"), (double)(row + 1) * 10e-6 + 0.001, 1e-12);
    cr_expect_float_eq(number_at(fault, "ended_s"), (double)(row + 1) * 10e-6 + 0.002, 1e-12);
}

/* --- links and nodes ------------------------------------------------------------------------- */

Test(faults, a_link_that_is_frozen_gives_what_it_gave)
{
    struct ended e = run_faults(
        "  f: {from: 'plant[0]', to: ctl, kind: freeze, at_s: 0.0002, duration_s: 0.0005}\n",
        "out");
    struct column taken = column("out", "ctl/input"), sent = column("out", "plant/000/output");

    expect_status(&e, 0);
    for (size_t i = 4; i < 14; i++)
        cr_assert_eq(taken.at[3 * i], sent.at[19], "row %zu", i);
    cr_expect_eq(taken.at[3 * 14], sent.at[70]);
    cr_expect_eq(taken.at[3 * 5 + 1], column("out", "plant/001/output").at[25]);
}

Test(faults, a_link_that_is_late_gives_what_was)
{
    struct ended e = run_faults("  f: {from: 'plant[0]', to: ctl, kind: delay, delay_us: 200, "
                                "at_s: 0.001, duration_s: 0.002}\n",
                                "out");
    struct column taken = column("out", "ctl/input"), sent = column("out", "plant/000/output");

    expect_status(&e, 0);
    for (size_t i = 24; i < 60; i++)
        cr_assert_eq(taken.at[3 * i], sent.at[5 * i - 20], "row %zu", i);
    for (size_t i = 60; i < 200; i++)
        cr_assert_eq(taken.at[3 * i], sent.at[5 * i], "row %zu", i);
}

/* What was on its way when the first one ended does not come when the second one begins. */
Test(faults, a_link_that_is_late_again_has_forgotten)
{
    struct ended e = run_faults("  a: {from: 'plant[0]', to: ctl, kind: delay, delay_us: 200, "
                                "at_s: 0.0005, duration_s: 0.0005}\n"
                                "  b: {from: 'plant[0]', to: ctl, kind: delay, delay_us: 200, "
                                "at_s: 0.002, duration_s: 0.001}\n",
                                "out");
    struct column taken = column("out", "ctl/input"), sent = column("out", "plant/000/output");

    expect_status(&e, 0);
    for (size_t i = 40; i < 44; i++)
        cr_assert_eq(taken.at[3 * i], sent.at[199], "row %zu", i);
}

/* With the chance of one half, and in each step that message or the one before it. */
Test(faults, messages_are_lost_and_come_twice)
{
    struct ended e =
        run_faults("  a: {from: 'plant[0]', to: ctl, kind: loss, probability: 0.5}\n"
                   "  b: {from: 'plant[1]', to: ctl, kind: duplicate, probability: 0.5, seed: 3}\n",
                   "out");
    struct column taken = column("out", "ctl/input");
    struct column lost = column("out", "plant/000/output"),
                  twice = column("out", "plant/001/output");
    unsigned fresh = 0, before = 0;

    expect_status(&e, 0);
    for (size_t i = 10; i < 60; i++) {
        fresh += taken.at[3 * i] == lost.at[5 * i];
        before += taken.at[3 * i + 1] == twice.at[5 * i - 1];
        cr_assert(taken.at[3 * i + 1] == twice.at[5 * i] ||
                  taken.at[3 * i + 1] == twice.at[5 * i - 1]);
    }
    cr_expect(fresh > 10 && fresh < 40, "%u", fresh);
    cr_expect(before > 10 && before < 40, "%u", before);
}

Test(faults, a_node_that_stalls_stands_still_and_then_goes_on)
{
    struct ended e = run_faults(
        "  f: {nodes: 'plant[0]', kind: stall, at_s: 0.0005, duration_s: 0.0002}\n", "out");
    struct column y = column("out", "plant/000/output");

    expect_status(&e, 0);
    for (size_t i = 50; i < 70; i++)
        cr_assert_eq(y.at[i], y.at[49]);
    cr_expect_gt(y.at[70], y.at[49]);
}

/* The window of the figures is the run's second half. */
Test(faults, a_node_that_stalls_measures_on)
{
    struct ended e = run_faults("  f: {nodes: ctl, kind: stall, at_s: 0.002, duration_s: 0.006}\n"
                                "measures: {seen: {sum: 'lag[0].output', node: ctl}}\n",
                                "out");

    expect_status(&e, 0);
    const struct column seen = column("out", "ctl/seen");
    double sum = 0;
    cr_assert_eq(seen.rows, 200);
    for (size_t i = 100; i < 200; i++)
        sum += seen.at[i];
    cr_expect_float_eq(number_at(summary_of(in_workspace("out")), "measures.seen.mean"), sum / 100,
                       1e-12);
}

Test(faults, a_node_that_is_slow_does_the_steps_for_which_it_has_time)
{
    struct ended e = run_faults("  f: {nodes: 'plant[0]', kind: slow, delay_us: 25, at_s: 0.0005, "
                                "duration_s: 0.0003}\n",
                                "out");
    struct column y = column("out", "plant/000/output");

    expect_status(&e, 0);
    for (size_t i = 51; i < 80; i++)
        cr_assert_eq(y.at[i] != y.at[i - 1], (i - 50) % 3 == 0, "row %zu", i);
}

Test(faults, a_node_that_crashes_ends_the_run_where_on_lost_says_so)
{
    struct ended e = run_faults("  f: {nodes: 'plant[1]', kind: crash, at_s: 0.002}\n", "out");

    expect_status(&e, 1);
    expect_said(&e, "lost plant[1], which left or died before the end");
}

Test(faults, a_run_goes_on_without_a_node_and_with_it_again)
{
    struct ended e =
        run_faults("  f: {nodes: 'plant[0]', kind: restart, at_s: 0.002, duration_s: 0.001}\n"
                   "  g: {nodes: 'plant[2]', kind: crash, at_s: 0.004}\n"
                   "on_lost: restart\n",
                   "out");
    struct column taken = column("out", "ctl/input");

    expect_status(&e, 0);
    for (size_t i = 40; i < 60; i++)
        cr_assert_eq(taken.at[3 * i], 0, "row %zu: what the input began with", i);
    cr_expect_gt(taken.at[3 * 64], 0);
    cr_expect_eq(column("out", "plant/000/output").at[301], 0, "it began anew");
    json_t *summary = summary_of(in_workspace("out"));
    cr_expect_eq(number_at(summary, "losses.lost"), 2);
    cr_expect_eq(number_at(summary, "losses.back"), 1);
    cr_expect_float_eq(number_at(summary, "faults.0.ended_s"), 0.003, 1e-12);
    cr_expect(isnan(number_at(summary, "faults.1.ended_s")), "to the end");
}

/* Nothing is told to begin or end while its node is away, and what has begun begins no second time.
 */
Test(faults, one_that_is_on_when_its_node_dies_goes_on_in_the_node_that_is_back)
{
    struct ended e = run_faults(
        "  a: {signal: 'lag[0].output', kind: bias, value: 1, at_s: 0.002, duration_s: "
        "0.003}\n"
        "  b: {signal: 'lag[0].input', kind: bias, value: 1, after: {signal: "
        "'lag[0].output', above: 0.1}, duration_s: 0.0035}\n"
        "  c: {signal: 'lag[0].output', kind: gain, factor: 1, at_s: 0.0032, duration_s: "
        "0.0003}\n"
        "  d: {nodes: 'plant[0]', kind: restart, at_s: 0.003, duration_s: 0.001}\n"
        "on_lost: restart\n",
        "out");
    expect_status(&e, 3);
    expect_said(&e, "the fault c never began: plant[0] was away when it was due, at 0.0032 s");
    struct ended csv = run_command("hiloco export %s --csv", in_workspace("out"));
    expect_status(&csv, 0);
    const char *events = read_text(in_workspace("out/events.csv"));
    cr_expect_not_null(strstr(events, "0.002,200,plant[0],fault begins,a,0\n"
                                      "0.003,300,plant[0],fault begins,d,0\n"
                                      "0.003,60,ctl,lost,plant[0],0\n"
                                      "0.004,400,plant[0],fault ends,d,0.001\n"),
                       "%s", events);
    cr_expect_not_null(strstr(events, ",401,plant[0],init,,0\n"
                                      "0.0040100000000000005,401,plant[0],run,,0\n"
                                      "0.0040100000000000005,401,plant[0],fault ends,b,"),
                       "%s", events);
    cr_expect_not_null(strstr(events, "0.005,500,plant[0],fault ends,a,0.003\n"));
}

Test(faults, a_node_may_die_twice)
{
    struct ended e =
        run_faults("  f: {nodes: 'plant[0]', kind: restart, at_s: 0.002, duration_s: 0.001}\n"
                   "  g: {nodes: 'plant[0]', kind: restart, at_s: 0.005, duration_s: 0.001}\n"
                   "on_lost: restart\n",
                   "out");

    expect_status(&e, 0);
    cr_expect_eq(number_at(summary_of(in_workspace("out")), "losses.back"), 2);
    cr_expect_gt(column("out", "ctl/input").at[3 * 190], 0.3);
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Every kind at once, most of them random. */
static const char all_kinds[] =
    "  a: {signal: 'lag[*].output', kind: noise, value: 0.01, seed: 7, at_s: 0.001}\n"
    "  b: {signal: 'lag[0].input', kind: spike, value: 3, probability: 0.05}\n"
    "  c: {signal: 'lag[1].input', kind: dropout, probability: 0.4}\n"
    "  d: {signal: 'law[*].input', kind: drift, value: 1, at_s: 0.002}\n"
    "  e: {signal: 'law[0].output', kind: quantise, value: 0.05}\n"
    "  f: {signal: 'law[1].output', kind: delay, delay_us: 120}\n"
    "  g: {from: 'plant[*]', to: ctl, kind: loss, probability: 0.2}\n"
    "  h: {from: ctl, to: 'plant[2]', kind: duplicate, probability: 0.3}\n"
    "  i: {nodes: 'plant[1]', kind: slow, delay_us: 15, at_s: 0.005, duration_s: 0.001}\n"
    "  j: {component: 'lag[2]', kind: tune, parameter: gain, factor: 1.5, after: {fault: i}}\n"
    "  k: {nodes: 'plant[0]', kind: restart, at_s: 0.007, duration_s: 0.0005}\n"
    "on_lost: restart\n";

Test(faults, are_the_same_bit_for_bit_each_time)
{
    struct ended one = run_faults(all_kinds, "one"), other = run_faults(all_kinds, "other");

    cr_expect_eq(one.status, other.status);
    expect_same_bytes("one", "other");
    json_t *a = json_at(summary_of(in_workspace("one")), "faults");
    cr_expect(json_equal(a, json_at(summary_of(in_workspace("other")), "faults")));
    cr_expect_eq(json_array_size(a), 11);
}

Test(faults, another_seed_is_another_run)
{
    run_faults("  a: {signal: 'lag[*].output', kind: noise, value: 0.01}\n", "one");
    run_faults("  a: {signal: 'lag[*].output', kind: noise, value: 0.01, seed: 2}\n", "other");
    struct column a = column("one", "plant/000/output"), b = column("other", "plant/000/output");
    struct column c = column("one", "plant/001/output");
    unsigned alike = 0;

    for (size_t i = 0; i < 1000; i++)
        alike += a.at[i] == b.at[i] || a.at[i] == c.at[i];
    cr_expect_eq(alike, 0);
}

/* What is asked for and never begins changes nothing, but the run does not show what it should. */
Test(faults, a_run_without_one_of_its_faults_is_inconclusive)
{
    struct ended e = run_faults("  a: {signal: 'lag[*].output', kind: stuck, value: 9, after: "
                                "{signal: 'lag[*].output', above: 100}}\n",
                                "out");
    cr_expect_eq(e.status, 2, "%s", e.err); /* several signals to wait for */
    e = run_faults("  a: {signal: 'lag[0].output', kind: stuck, value: 9, after: {signal: "
                   "'lag[0].output', above: 100}}\n"
                   "  b: {from: ctl, to: 'plant[*]', kind: freeze, at_s: 0.0099999}\n",
                   "out");
    expect_status(&e, 3);
    expect_said(&e, "the fault a never began: its signal was never above 100; nor did 1 others");
    json_t *summary = summary_of(in_workspace("out"));
    cr_expect_str_eq(json_string_value(json_at(summary, "verdict")), "inconclusive");
    cr_expect_eq(number_at(summary, "validity.checks.absent_faults.value"), 2);
    e = run_faults("", "without");
    expect_status(&e, 0);
    struct column a = column("out", "plant/000/output"), b = column("without", "plant/000/output");
    cr_expect_eq(memcmp(a.at, b.at, 1000 * sizeof(double)), 0);
    cr_expect(isnan(number_at(summary, "faults.0.began_s")));
    e = run_command("hiloco run %s --quiet --set validity.absent_faults=2 --out %s",
                    in_workspace("out.yaml"), in_workspace("out"));
    expect_status(&e, 0);
}

/* Each fault is one of those that never begin, and why. */
Test(faults, one_that_never_began_says_why)
{
    static const char *const whys[] = {
        "it was due at 0.0099999 s, after the last step of ctl",
        "no step of ctl is due in the 1e-06 s from 0.00011 s on",
        "plant[2] was away when it was due, at 0.005 s",
        "the event 'failed', which it comes after, never happened",
        "the fault d, which it comes after, never ended",
    };
    struct ended e =
        run_faults("  a: {from: ctl, to: 'plant[*]', kind: freeze, at_s: 0.0099999}\n"
                   "  b: {nodes: ctl, kind: stall, at_s: 0.00011, duration_s: 0.000001}\n"
                   "  c: {signal: 'lag[2].output', kind: bias, value: 1, at_s: 0.005}\n"
                   "  d: {nodes: ctl, kind: stall, after: {event: failed, of: 'lag[1]'}, "
                   "duration_s: 0.001}\n"
                   "  e: {nodes: ctl, kind: stall, after: {fault: d}}\n"
                   "  g: {nodes: 'plant[2]', kind: crash, at_s: 0.004}\n"
                   "on_lost: restart\n",
                   "out");

    expect_status(&e, 3);
    json_t *faults = json_at(summary_of(in_workspace("out")), "faults");
    for (size_t i = 0; i < sizeof whys / sizeof whys[0]; i++)
        cr_expect_str_eq(json_string_value(json_at(json_array_get(faults, i), "why")), whys[i]);
    cr_expect_null(json_object_get(json_array_get(faults, 5), "why"));
}

Test(faults, a_limit_passes_without_and_fails_with_one)
{
    const char *fault =
        "  f: {from: 'plant[0]', to: ctl, kind: freeze, at_s: 0.0002, duration_s: 0.009}\n";
    struct ended e = run_faults("", "without");

    expect_status(&e, 0);
    e = run_faults(fault, "with"); /* the law takes 0.146, as the plant goes on to 0.7 */
    expect_status(&e, 4);
    cr_expect_str_eq(json_string_value(json_at(summary_of(in_workspace("with")), "verdict")),
                     "failed");
    e = run_command("hiloco test %s %s --out %s", in_workspace("without.yaml"),
                    in_workspace("with.yaml"), in_workspace("both"));
    expect_status(&e, 4);
    cr_expect_not_null(strstr(e.out, "1 of 2 passed, 1 failed"), "%s", e.out);
    e = run_command("hiloco compare %s %s", in_workspace("without"), in_workspace("with"));
    expect_status(&e, 1);
}

Test(faults, are_in_what_check_prints)
{
    const char *text = "name: short\nduration_s: 0.01\nmode: virtual\n" BANK(
        "3") "faults:\n"
             "  cap: {component: 'converter[1]', kind: tune, parameter: capacitance_f, "
             "factor: 0.5, at_s: 0.005}\n";

    write_text(in_workspace("short.yaml"), text);
    struct ended e = run_command("hiloco check %s", in_workspace("short.yaml"));
    expect_status(&e, 0);
    cr_expect_not_null(strstr(e.out, "  cap:\n    component: \"converter[1]\"\n"), "%s", e.out);
    write_text(in_workspace("long.yaml"), e.out);
    e = run_command("hiloco run %s --quiet --out %s", in_workspace("short.yaml"),
                    in_workspace("short"));
    expect_status(&e, 0);
    e = run_command("hiloco run %s --quiet --out %s", in_workspace("long.yaml"),
                    in_workspace("long"));
    expect_status(&e, 0);
    expect_same_bytes("short", "long");
}

/* --- against the clock ----------------------------------------------------------------------- */

TestSuite(faults_clock, ALONE, .init = workspace_open_alone, .fini = workspace_close);

/* Two processes, at periods that a busy machine keeps; node 0 is not among what dies. */
static const char clocked[] =
    "name: %s\n"
    "duration_s: 3\n"
    "mode: realtime\n"
    "on_lost: restart\n"
    "nodes:\n"
    "  ctl: {period_us: 1000, wait: hybrid}\n"
    "  plant: {period_us: 1000, count: 2, wait: hybrid}\n"
    "components:\n"
    "  law: {model: gain, node: ctl, count: 2, parameters: {gain: 2}, safe: {output: 7}}\n"
    "  lag: {model: first_order_lag, node: 'plant[*]', parameters: {time_constant_s: 0.05}}\n"
    "connections:\n"
    "  - {from: 'lag[*].output', to: 'law[*].input', age_limit_us: 100000, on_old: safe}\n"
    "  - {from: 'law[*].output', to: 'lag[*].input', scale: -1, offset: 1}\n"
    "record:\n"
    "  - {signals: 'lag[*].output', node: 'plant[*]'}\n"
    "  - {signals: ['law[*].input', 'law[*].output'], node: ctl}\n"
    "placement:\n"
    "  - {nodes: [ctl, 'plant[1]'], wait: hybrid}\n"
    "  - {nodes: 'plant[0]', wait: hybrid}\n"
    "faults:\n"
    "  stuck: {signal: 'lag[1].output', kind: noise, value: 1, at_s: 0.5, duration_s: 0.5}\n"
    "  gone: {nodes: 'plant[0]', kind: restart, at_s: 0.5, duration_s: 0.5}\n"
    "  frozen: {from: 'plant[1]', to: ctl, kind: freeze, at_s: 1.5, duration_s: 0.2}\n";

/* What is random is by the step's number: so it is what virtual time has in the same step. */
static void expect_noise_of_virtual_time(const char *real, const char *exact)
{
    struct column step = column(real, "plant/001/step");
    struct column a = column(real, "plant/001/output"),
                  a0 = column(real, "plant/001/original_output");
    struct column b = column(exact, "plant/001/output"),
                  b0 = column(exact, "plant/001/original_output");
    unsigned on = 0;

    for (size_t i = 0; i < a.rows; i++) {
        const size_t n = (size_t)step.at[i];
        cr_assert_float_eq(a.at[i] - a0.at[i], b.at[n] - b0.at[n], 1e-9, "step %zu", n);
        on += a.at[i] != a0.at[i];
    }
    cr_expect_gt(on, 10);
}

/* The law of the node that is away is safe from 100 ms after its death on, until it is back. */
static void expect_safe_without_plant(const char *real)
{
    struct column time = column(real, "ctl/time_s"), given = column(real, "ctl/output");
    const double back_s = number_at(summary_of(in_workspace("%s", real)), "losses.each.0.back_s");
    unsigned safe = 0;

    for (size_t i = 0; i < time.rows; i++) {
        if (time.at[i] < 0.62 || time.at[i] >= back_s)
            continue;
        cr_assert_eq(given.at[2 * i], 7, "at %g s", time.at[i]);
        safe++;
    }
    cr_expect_gt(safe, 10);
    cr_expect_neq(given.at[2 * (time.rows - 1)], 7);
}

Test(faults_clock, act_on_processes)
{
    char text[4000];

    snprintf(text, sizeof text, clocked, own_name());
    write_text(in_workspace("clocked.yaml"), text);
    struct ended e = run_command("hiloco run %s --quiet --out %s", in_workspace("clocked.yaml"),
                                 in_workspace("real"));
    expect_ran(&e);
    expect_said(&e, "plant[0] (process");
    expect_said(&e, "was killed by SIGKILL; started again");
    json_t *summary = summary_of(in_workspace("real"));
    cr_expect_geq(number_at(summary, "faults.0.began_s"), 0.5);
    cr_expect_geq(number_at(summary, "faults.0.ended_s"), 1);
    cr_expect_geq(number_at(summary, "faults.1.ended_s"), 1);
    cr_expect_eq(number_at(summary, "losses.back"), 1);
    cr_expect_eq(number_at(summary, "validity.checks.absent_faults.value"), 0);
    expect_nothing_left();

    e = run_command("hiloco run %s --quiet --mode virtual --out %s", in_workspace("clocked.yaml"),
                    in_workspace("exact"));
    cr_expect(e.status == 0 || e.status == 3, "%s", e.err);
    expect_noise_of_virtual_time("real", "exact");
    expect_safe_without_plant("real");
}

/* --- after events of the run ------------------------------------------------------------------ */

/* The first law does not hear of its plant from 2 to 5 ms, and finds that out by the age of it. */
#define CUT          "  cut: {from: 'plant[0]', to: ctl, kind: freeze, at_s: 0.002, duration_s: 0.003}\n"
#define BIAS(signal) "{signal: '" signal "', kind: bias, value: 1, duration_s: 0.0005, "
#define AGED                                                                                       \
    "--set connections.0.age_limit_us=200 --set connections.0.on_old=safe "                        \
    "--set components.law.safe.output=0 "

static const char after_events[] = CUT "  old: " BIAS(
    "lag[1].output") "at_s: 0.001, after: {event: old, of: 'law[0].input'}}\n"
                     "  new: " BIAS(
                         "lag[2].output") "after: {event: new, of: 'law[0].input'}}\n"
                                          "  safe: " BIAS(
                                              "law[2].output") "after: {event: safe, of: ctl}}\n"
                                                               "  run: " BIAS(
                                                                   "lag[2].input") "after: {event: "
                                                                                   "run, of: "
                                                                                   "ctl}}\n"
                                                                                   "  last: " BIAS(
                                                                                       "lag[1]."
                                                                                       "output") "a"
                                                                                                 "f"
                                                                                                 "t"
                                                                                                 "e"
                                                                                                 "r"
                                                                                                 ":"
                                                                                                 " "
                                                                                                 "{"
                                                                                                 "f"
                                                                                                 "a"
                                                                                                 "u"
                                                                                                 "l"
                                                                                                 "t"
                                                                                                 ":"
                                                                                                 " "
                                                                                                 "o"
                                                                                                 "l"
                                                                                                 "d"
                                                                                                 "}"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "a"
                                                                                                 "t"
                                                                                                 "_"
                                                                                                 "s"
                                                                                                 ":"
                                                                                                 " "
                                                                                                 "0"
                                                                                                 "."
                                                                                                 "0"
                                                                                                 "0"
                                                                                                 "0"
                                                                                                 "1"
                                                                                                 "}"
                                                                                                 "\n";

static struct ended run_after_events(const char *more, const char *out)
{
    char text[4000];

    snprintf(text, sizeof text, "%sfaults:\n%s", plants, after_events);
    write_text(in_workspace("%s.yaml", out), text);
    return run_command("hiloco run %s --quiet " AGED "%s --out %s", in_workspace("%s.yaml", out),
                       more, in_workspace("%s", out));
}

static void expect_fault(const char *out, unsigned number, double began_s, double ended_s)
{
    json_t *fault = json_array_get(json_at(summary_of(in_workspace("%s", out)), "faults"), number);

    cr_expect_float_eq(number_at(fault, "began_s"), began_s, 1e-9, "%u: %g", number,
                       number_at(fault, "began_s"));
    cr_expect_float_eq(number_at(fault, "ended_s"), ended_s, 1e-9, "%u: %g", number,
                       number_at(fault, "ended_s"));
}

/* The last value is of 1.99 ms: it is too old in the step of 2.2 ms, and a newer one is there in
 * that of 5 ms, which the plants did before. */
Test(faults, begin_after_events_of_the_run)
{
    struct ended e = run_after_events("", "out");

    cr_expect(e.status == 0 || e.status == 4, "%s", e.err);
    expect_fault("out", 1, 0.0032, 0.0037);
    expect_fault("out", 2, 0.00501, 0.0055);
    expect_fault("out", 3, 0.00225, 0.0027);
    expect_fault("out", 4, 0.00501, 0.0055);
    expect_fault("out", 5, 0.0038, 0.0043);
    e = run_after_events("", "again");
    expect_same_bytes("out", "again");
}

/* What one process finds out, a fault in another waits for. */
static const char clocked_events[] =
    "name: %s\n"
    "duration_s: 2\n"
    "mode: realtime\n"
    "nodes:\n"
    "  ctl: {period_us: 1000, wait: hybrid}\n"
    "  plant: {period_us: 1000, count: 2, wait: hybrid}\n"
    "components:\n"
    "  law: {model: gain, node: ctl, count: 2, parameters: {gain: 2}, safe: {output: 0}}\n"
    "  lag: {model: first_order_lag, node: 'plant[*]', parameters: {time_constant_s: 0.05}}\n"
    "connections:\n"
    "  - {from: 'lag[*].output', to: 'law[*].input', age_limit_us: 100000, on_old: safe}\n"
    "  - {from: 'law[*].output', to: 'lag[*].input', scale: -1, offset: 1}\n"
    "record: [{signals: 'law[*].input', node: ctl}]\n"
    "placement:\n"
    "  - {nodes: [ctl, 'plant[1]'], wait: hybrid}\n"
    "  - {nodes: 'plant[0]', wait: hybrid}\n"
    "faults:\n"
    "  cut: {from: 'plant[1]', to: ctl, kind: freeze, at_s: 0.3, duration_s: 0.5}\n"
    "  found: {signal: 'lag[0].output', kind: bias, value: 1, after: {event: old, of: "
    "'law[1].input'}, at_s: 0.1, duration_s: 0.3}\n"
    "  after: {signal: 'lag[1].output', kind: bias, value: 1, after: {fault: found}}\n";

Test(faults_clock, begin_after_events_of_other_processes)
{
    char text[4000];

    snprintf(text, sizeof text, clocked_events, own_name());
    write_text(in_workspace("clocked.yaml"), text);
    struct ended e = run_command("hiloco run %s --quiet --out %s", in_workspace("clocked.yaml"),
                                 in_workspace("out"));
    expect_ran(&e);
    json_t *summary = summary_of(in_workspace("out"));
    const double old_s = number_at(summary, "old_inputs.each.1.first_s");
    cr_expect_geq(number_at(summary, "faults.1.began_s"), old_s + 0.1);
    cr_expect_geq(number_at(summary, "faults.2.began_s"), number_at(summary, "faults.1.ended_s"));
    expect_nothing_left();

    e = run_command("hiloco node plant[0] %s", in_workspace("clocked.yaml"));
    expect_status(&e, 2);
    expect_said(&e, "the fault found of the node plant[0] waits for an event of ctl, which does "
                    "not run here: one process must run both");
}

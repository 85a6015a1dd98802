/*
 * Scenarios of nodes and components: a printed one gives the same record, and every command
 * takes one that has no controller and no converters.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(general, .init = workspace_open, .fini = workspace_close, .timeout = 240);

/* --- what check prints -------------------------------------------------------------------- */

static void simulate_into(const char *scenario, const char *folder)
{
    struct ended e = run_command("hiloco run %s --mode virtual --quiet --out %s", scenario, folder);

    expect_status(&e, 0);
}

static void expect_same_file(const char *a, const char *b, const char *name)
{
    struct ended e = run_command("cmp %s/%s %s/%s", a, name, b, name);

    expect_status(&e, 0);
}

ParameterizedTestParameters(general, what_check_prints_gives_the_same_record)
{
    return each_file_of("configs/*.yaml");
}

/* Those of 5 s are cut: their events are all at the start. */
static const char *cut(const char *shipped, const char *scenario)
{
    static char line[300];
    const char *shorter = strstr(shipped, "/dcdc20") ? " --set duration_s=0.3" : "";

    snprintf(line, sizeof line, "%s%s", scenario, shorter);
    return line;
}

ParameterizedTest(size_t *i, general, what_check_prints_gives_the_same_record)
{
    const char *path = files_of("configs/*.yaml").gl_pathv[*i];
    const char *shorter = in_workspace("short"), *longer = in_workspace("long");
    const char *printed = in_workspace("printed.yaml");
    struct ended e = run_command("hiloco check --mode virtual %s", path);

    expect_status(&e, 0);
    cr_assert_not_null(strstr(e.out, "\ncomponents:\n"));
    write_text(printed, e.out);
    simulate_into(cut(path, path), shorter);
    simulate_into(cut(path, printed), longer);
    expect_same_file(shorter, longer, "trace.h5");
    expect_same_file(shorter, longer, "summary.json");
}

/* --- replay ----------------------------------------------------------------------------------- */

static const char replayed_head[] = "name: replayed\nduration_s: 0.05\nmode: virtual\n";
static const char replayed_plants[] =
    "  lag: {model: first_order_lag, node: bench, count: 2, parameters: {time_constant_s: [0.002, "
    "0.003]}}\n";
static const char replayed_laws[] =
    "  law: {model: generic_pi, node: desk, count: 2, parameters: {kp: 1, ki_per_s: 500}}\n";

static void simulate_text(const char *folder, const char *text)
{
    const char *path = in_workspace("%s.yaml", folder);

    write_text(path, text);
    simulate_into(path, in_workspace("%s", folder));
}

static char *joined(const char *format, ...)
{
    static char text[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

static void expect_same_column(const char *folder, const char *other, const char *dataset)
{
    const struct column a = column_of(in_workspace("%s", folder), dataset);
    const struct column b = column_of(in_workspace("%s", other), dataset);

    cr_assert_eq(a.rows * a.width, b.rows * b.width);
    cr_expect_arr_eq(a.at, b.at, a.rows * a.width * sizeof *a.at, "%s", dataset);
    free(a.at);
    free(b.at);
}

/* Yesterday's plants before today's laws, and the other way round: each does what it did. */
Test(general, what_was_recorded_can_be_replayed)
{
    simulate_text("both", joined("%snodes: {bench: {period_us: 10}, desk: {period_us: 50}}\n"
                                 "components:\n%s%s"
                                 "connections:\n"
                                 "- {from: 'lag[*].output', to: 'law[*].measurement'}\n"
                                 "- {from: 'law[*].output', to: 'lag[*].input'}\n"
                                 "sources: {goal: {to: 'law[*].reference', steps: {initial: 1, "
                                 "changes: [{time_s: 0.02, value: 3}]}}}\n"
                                 "record:\n"
                                 "- {signals: ['law[*].measurement', 'law[*].output']}\n"
                                 "- {signals: ['lag[*].output', 'lag[*].input']}\n",
                                 replayed_head, replayed_plants, replayed_laws));
    simulate_text("laws", joined("%snodes: {desk: {period_us: 50}}\ncomponents:\n%s"
                                 "sources:\n"
                                 "  goal: {to: 'law[*].reference', steps: {initial: 1, "
                                 "changes: [{time_s: 0.02, value: 3}]}}\n"
                                 "  plants: {to: 'law[*].measurement', record: {run: both, signal: "
                                 "'law[*].measurement'}}\n"
                                 "record: [{signals: ['law[*].measurement', 'law[*].output']}]\n",
                                 replayed_head, replayed_laws));
    expect_same_column("both", "laws", "desk/measurement");
    expect_same_column("both", "laws", "desk/output");

    simulate_text("plants", joined("%snodes: {bench: {period_us: 10}}\ncomponents:\n%s"
                                   "sources: {laws: {to: 'lag[*].input', record: {run: both, "
                                   "signal: 'lag[*].input', node: bench}}}\n"
                                   "record: [{signals: ['lag[*].output', 'lag[*].input']}]\n",
                                   replayed_head, replayed_plants));
    expect_same_column("both", "plants", "bench/output");

    /* The scenario that a run leaves finds the record from its own folder. */
    simulate_into(in_workspace("laws/scenario.yaml"), in_workspace("again"));
    expect_same_file(in_workspace("laws"), in_workspace("again"), "trace.h5");
}

/* A row has a sampled component's output beside the input that it is made of: so an output is like
 * its own input at a gain of 1, and is replayed at the steps at which it was there. */
Test(general, an_output_is_in_the_row_of_its_input)
{
    write_text(in_workspace("u.csv"), "time_s,value\n0,0\n0.005,1\n0.01,2\n0.05,2\n");
    const char *like =
        "nodes: {a: {period_us: 1000}}\ncomponents:\n"
        "  s: {model: sum, node: a, width: 1}\n"
        "  delayed: {model: gain, node: a, computation_delay: true}\n"
        "  lag: {model: first_order_lag, node: a}\n"
        "connections:\n"
        "- {from: s.output, to: delayed.input}\n- {from: s.output, to: lag.input}\n"
        "record: [{signals: [s.output, 's.input[*]', delayed.output, lag.input]}]\n"
        "measures: {y: {sum: s.output}}\n"
        "limits: {same: {signal: [y, s.output, lag.input], like: {csv: {file: u.csv, "
        "column: value, between: hold}, absolute: 1e-9}}}\n";

    simulate_text("like",
                  joined("%s%ssources: {step: {to: 's.input[0]', csv: {file: u.csv, column: "
                         "value, between: hold}}}\n",
                         replayed_head, like));
    const struct column input = column_of(in_workspace("like"), "a/s.input");
    const struct column delayed = column_of(in_workspace("like"), "a/delayed.output");
    cr_expect_eq(input.at[5], 1);
    for (size_t i = 1; i < input.rows; i++)
        cr_expect_eq(delayed.at[i], input.at[i - 1], "row %zu", i);

    simulate_text("again", joined("%s%ssources: {step: {to: 's.input[0]', record: {run: like, "
                                  "signal: s.output}}}\n",
                                  replayed_head, like));
    expect_same_column("like", "again", "a/s.output");
}

/* The scenario that a run leaves is in another folder than the files that it names. */
Test(general, a_copy_of_a_scenario_finds_its_files)
{
    write_text(in_workspace("wave.csv"), "time_s,level\n0,1\n0.01,2\n");
    simulate_text("one", joined("%snodes: {desk: {period_us: 50}}\n"
                                "components: {lag: {model: first_order_lag, node: desk}}\n"
                                "sources: {wave: {to: lag.input, csv: {file: wave.csv, column: "
                                "level}}}\nrecord: [{signals: lag.output}]\n",
                                replayed_head));
    simulate_into(in_workspace("one/scenario.yaml"), in_workspace("again"));
    expect_same_file(in_workspace("one"), in_workspace("again"), "trace.h5");
}

static const char bare[] = "name: bare\nduration_s: 5\nmode: virtual\n"
                           "nodes: {ctl: {period_us: 50}, plant: {period_us: 10, count: 3}}\n"
                           "components:\n"
                           "  law: {model: gain, node: ctl, count: 3}\n"
                           "  lag: {model: first_order_lag, node: 'plant[*]'}\n"
                           "  mix: {model: sum, node: ctl, width: 2}\n"
                           "connections:\n"
                           "- {from: 'lag[*].output', to: 'law[*].input'}\n"
                           "- {from: 'law[*].output', to: 'lag[*].input', scale: -1, offset: 1}\n"
                           "- {from: 'law[0].output', to: 'mix.input[0]'}\n"
                           "- {from: 'law[1].output', to: 'mix.input[1]'}\n";

/* A scenario without record and measures records everything, but not more than 16 MiB of it. */
Test(general, without_a_record_all_signals_are_recorded)
{
    const char *path = in_workspace("bare.yaml"), *out = in_workspace("bare");

    write_text(path, bare);
    simulate_into(path, out);
    cr_expect_eq(column_of(out, "ctl/law.input").width, 3);
    cr_expect_eq(column_of(out, "ctl/law.output").width, 3);
    cr_expect_eq(column_of(out, "ctl/mix.input").width, 2);
    cr_expect_eq(column_of(out, "ctl/mix.output").width, 1);
    const struct column plant = column_of(out, "plant/002/input");
    cr_expect_eq(column_of(out, "plant/002/output").rows, plant.rows);
    cr_expect_eq(plant.rows, 5e5 / 5, "%zu rows: one for each of five steps", plant.rows);

    struct ended e = run_command("hiloco run %s --set duration_s=0.5 --quiet --out %s", path, out);
    expect_status(&e, 0);
    cr_expect_eq(column_of(out, "plant/002/input").rows, 5e4);

    write_text(path, joined("%srecord: []\n", bare));
    simulate_into(path, out);
    cr_expect_not(has_column(out, "ctl/law.input"));
}

static void expect_refused_replay(const char *record, const char *expected)
{
    const char *path = in_workspace("wrong.yaml");

    write_text(path, joined("%snodes: {desk: {period_us: 50}}\ncomponents:\n%s"
                            "sources: {plants: {to: 'law[*].reference', record: %s}}\n",
                            replayed_head, replayed_laws, record));
    struct ended e = run_command("hiloco check %s", path);
    expect_status(&e, 2);
    expect_said(&e, expected);
}

Test(general, a_replay_of_what_is_not_there_is_refused)
{
    simulate_text(
        "one",
        joined("%snodes: {desk: {period_us: 50}}\ncomponents:\n%s"
               "sources: {goal: {to: ['law[*].reference', 'law[*].measurement'], constant: 1}}\n"
               "record: [{signals: ['law[0].output']}]\n",
               replayed_head, replayed_laws));
    expect_refused_replay(
        "{run: none, signal: x}",
        "wrong.yaml:7:58: none: No such file or directory; allowed: the folder of "
        "a run, by its name from the scenario's folder");
    expect_refused_replay("{run: ., signal: x}",
                          "it has no trace.h5; allowed: the folder of a run");
    expect_refused_replay("{run: one, signal: 'law[1].output'}",
                          "'law[1].output' was not recorded; allowed: law[0].output");
    expect_refused_replay("{run: one, signal: 'law[0].output', node: bench}",
                          "'law[0].output' was not recorded; allowed: law[0].output");

    simulate_text("many", joined("%snodes: {desk: {period_us: 50}}\ncomponents:\n"
                                 "  lag: {model: first_order_lag, node: desk, count: 9, "
                                 "inputs: {input: 1}}\n"
                                 "record: [{signals: ['lag[*].output']}]\n",
                                 replayed_head));
    expect_refused_replay("{run: many, signal: 'lag[*].output'}",
                          "'lag[*].output' is 9 signals, for 2 inputs; allowed: one, or one for "
                          "each");
}

/* --- what is recorded ------------------------------------------------------------------------ */

/* In a row stands what is in force then: an output, the input that it feeds on its own node, and
 * what came over a link; and a measure of any of them. */
Test(general, outputs_inputs_and_values_of_links_are_recorded_and_measured)
{
    const char *path = in_workspace("ramp.yaml"), *out = in_workspace("out");

    write_text(path, "name: ramp\nduration_s: 0.01\nmode: virtual\n"
                     "nodes: {near: {period_us: 100}, far: {period_us: 100}}\n"
                     "components:\n"
                     "  ramp: {model: integrator, node: near, inputs: {input: 1000}}\n"
                     "  here: {model: gain, node: near}\n"
                     "  there: {model: gain, node: far, parameters: {gain: 3}}\n"
                     "connections:\n"
                     "  - {from: ramp.output, to: here.input, scale: 2}\n"
                     "  - {from: ramp.output, to: there.input}\n"
                     "record:\n"
                     "  - {signals: [ramp.output, here.input], node: near}\n"
                     "  - {signals: [ramp.output, there.output], node: far}\n"
                     "measures: {seen: {sum: ramp.output, node: far}}\n");
    simulate_into(path, out);
    const struct column made = column_of(out, "near/output"), input = column_of(out, "near/input");
    const struct column came = column_of(out, "far/ramp.output"), seen = column_of(out, "far/seen");
    cr_assert_eq(made.rows, 100);
    for (size_t n = 0; n < made.rows; n++) {
        cr_expect_eq(input.at[n], 2 * made.at[n]);
        cr_expect_eq(came.at[n], made.at[n]);
        cr_expect_eq(seen.at[n], made.at[n]);
    }
    cr_expect_gt(made.at[99], 9);
}

/* --- in real time --------------------------------------------------------------------------- */

/* Three nodes, and a loop over all of them. */
static const char *write_chain(void)
{
    static const char chain[] =
        "duration_s: 100\n"
        "mode: realtime\n"
        "validity: {required: false}\n"
        "nodes:\n"
        "  supervisor: {period_us: 4000, priority: 0, wait: hybrid}\n"
        "  law: {period_us: 2000, priority: 0, wait: hybrid}\n"
        "  drive: {period_us: 1000, priority: 0, wait: hybrid}\n"
        "placement:\n"
        "  - {nodes: [supervisor, law], priority: 0, wait: hybrid}\n"
        "  - {nodes: drive, priority: 0, wait: hybrid}\n"
        "components:\n"
        "  trim: {model: gain, node: supervisor}\n"
        "  control: {model: gain, parameters: {gain: 2}, node: law}\n"
        "  plant: {model: first_order_lag, node: drive, initial: {output: 1}}\n"
        "connections:\n"
        "  - {from: plant.output, to: trim.input, scale: -0.5, offset: 3}\n"
        "  - {from: trim.output, to: control.input}\n"
        "  - {from: control.output, to: plant.input}\n"
        "record: [{signals: [plant.output, plant.input]}, {signals: [trim.input], node: "
        "supervisor}]\n"
        "measures: {level: {sum: plant.output}}\n";
    const char *path = in_workspace("chain.yaml");
    char text[2000];

    snprintf(text, sizeof text, "name: %s\n%s", own_name(), chain);
    write_text(path, text);
    return path;
}

/* Where the loop comes to rest: 2 (3 - x / 2) = x. */
static void expect_chain(const char *folder)
{
    json_t *s = summary_of(folder);

    cr_expect_gt(number_at(s, "nodes.supervisor.steps"), 10);
    cr_expect_eq(json_array_size(json_at(s, "links")), 3);
    cr_expect_float_eq(number_at(s, "measures.level.mean"), 3, 0.5, "%g",
                       number_at(s, "measures.level.mean"));
}

TestSuite(general_real_time, ALONE, .init = workspace_open_for_real_time, .fini = workspace_close,
          .timeout = 120);

Test(general_real_time, by_hiloco_run)
{
    const char *out = in_workspace("out");
    struct ended e = run_command("hiloco run %s --set duration_s=1 --out %s", write_chain(), out);

    expect_ran(&e);
    expect_chain(out);
    expect_nothing_left();
}

Test(general_real_time, by_a_process_for_each_node)
{
    static const char *const nodes[] = {"law", "drive", "supervisor"};
    const char *chain = write_chain(), *out = in_workspace("out");
    struct process p[3];

    for (unsigned i = 0; i < 3; i++) {
        struct arguments a = command("hiloco node %s %s --set duration_s=1 --wait 60 --out %s-%s",
                                     nodes[i], chain, out, nodes[i]);
        p[i] = start(&a);
    }
    for (unsigned i = 0; i < 3; i++) {
        struct ended e = finish(&p[i]);
        expect_ran(&e);
    }
    cr_expect_gt(column_of(in_workspace("out-drive"), "drive/output").rows, 10);
    cr_expect_gt(column_of(in_workspace("out-supervisor"), "supervisor/input").rows, 10);
    cr_expect_gt(number_at(summary_of(in_workspace("out-supervisor")), "nodes.supervisor.steps"),
                 10);
    /* Each says how far its own nodes came. */
    for (unsigned i = 0; i < 3; i++) {
        char own[200];
        snprintf(own, sizeof own, "%s-%s", out, nodes[i]);
        cr_expect_gt(number_at(summary_of(own), "elapsed_s"), 0.5, "%s", nodes[i]);
    }
    expect_nothing_left();
}

struct drive {
    struct process *run;
    double steps;
};

static double drive_steps(const struct process *run)
{
    struct ended e = run_command("hiloco top %d --json --count 1", (int)run->pid);
    json_t *sample = json_loads(e.out, 0, NULL);
    const double steps = number_at(sample, "nodes.drive.steps");

    json_decref(sample);
    return steps;
}

/* So many steps that others have taken what it sends. */
static bool goes_on(void *arg)
{
    const struct drive *d = arg;

    return has_ended(d->run) || drive_steps(d->run) > d->steps + 100;
}

/* The drive dies, and comes back to the other two. */
Test(general_real_time, a_node_that_dies_is_started_again)
{
    const char *out = in_workspace("out");
    struct arguments a =
        command("hiloco run %s --set on_lost=restart --out %s", write_chain(), out);
    struct process p = start(&a);
    struct family f = {.parent = p.pid};

    cr_assert(wait_until(find_children, &f, 30), "the launcher has no children");
    cr_assert(wait_until(is_running, &p, 60));
    kill(f.children[1], SIGKILL);
    cr_assert(wait_until_said(&p, "started again", 60));
    cr_assert(wait_until(goes_on, &(struct drive){&p, drive_steps(&p)}, 60));
    cr_assert_not(has_ended(&p));
    kill(p.pid, SIGINT);
    struct ended e = finish(&p);
    expect_status(&e, 130);
    json_t *losses = json_at(summary_of(out), "losses");
    cr_assert_eq(number_at(losses, "lost"), 1);
    cr_expect_eq(number_at(losses, "back"), 1);
    json_t *loss = json_at(losses, "each.0");
    cr_expect_str_eq(json_string_value(json_at(loss, "link")), "drive -> supervisor");
    cr_expect_gt(number_at(loss, "back_s"), number_at(loss, "lost_s"));
    expect_nothing_left();
}

/* With one seed each of an array has noise of its own, and the first what one alone has. */
Test(general, each_source_of_noise_of_an_array_has_its_own)
{
    static const char text[] = "name: noisy\nduration_s: 0.1\nmode: virtual\n"
                               "nodes: {n: {period_us: 100}}\n"
                               "components: {a: {model: noise, node: n, count: 3, inputs: {input: "
                               "0}, parameters: {deviation: 1, seed: 5}}, b: {model: noise, node: "
                               "n, inputs: {input: 0}, parameters: {deviation: 1, seed: 5}}}\n"
                               "record: [{signals: ['a[*].output', b.output]}]\n";

    write_text(in_workspace("noisy.yaml"), text);
    struct ended e = run_command("hiloco run %s --quiet --out %s", in_workspace("noisy.yaml"),
                                 in_workspace("out"));
    expect_status(&e, 0);
    const struct column each = column_of(in_workspace("out"), "n/a.output");
    cr_assert_eq(each.rows, 1000);
    cr_assert_eq(each.width, 3);
    const struct column one = column_of(in_workspace("out"), "n/b.output");
    double products[3] = {0};
    for (size_t i = 0; i < each.rows; i++) {
        const double *row = &each.at[3 * i];
        cr_assert_eq(row[0], one.at[i]);
        for (unsigned k = 0; k < 3; k++)
            products[k] += row[k] * row[(k + 1) % 3] / 1000;
    }
    for (unsigned k = 0; k < 3; k++)
        cr_expect_lt(fabs(products[k]), 0.13, "%u: four standard errors are 0.126", k);
}

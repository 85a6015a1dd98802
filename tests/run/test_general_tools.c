/*
 * The tools on scenarios that have no controller and no converters, as shipped: sweep, plot,
 * export, top, doctor and trace go by the names of these scenarios.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(general_tools, .init = workspace_open, .fini = workspace_close, .timeout = 240);

/* --- of a run in virtual time ----------------------------------------------------------------- */

static const char *simulate(const char *scenario, const char *options)
{
    const char *out = in_workspace("out");
    struct ended e =
        run_command("hiloco run configs/%s.yaml --quiet %s --out %s", scenario, options, out);

    expect_status(&e, 0);
    return out;
}

static void expect_figures(const char *out, const char *const *names)
{
    struct ended e = run_command("hiloco plot %s", out);

    expect_status(&e, 0);
    for (; *names; names++) {
        char line[60];
        snprintf(line, sizeof line, "/%s.png, %s.svg\n", *names, *names);
        cr_expect(strstr(e.err, line), "%s is not said to be drawn:\n%s", *names, e.err);
        cr_expect(exists(in_workspace("out/%s.png", *names)), "no %s.png", *names);
    }
}

#define EXPECT_FIGURES(out, ...) expect_figures(out, (const char *const[]){__VA_ARGS__, NULL})

Test(general_tools, plot_draws_measures_and_nodes)
{
    EXPECT_FIGURES(simulate("servo", "--set duration_s=0.2"), "angle", "speed", "current", "drive",
                   "node-speed");
    EXPECT_FIGURES(simulate("battery", "--set duration_s=0.1"), "voltage", "battery-current",
                   "stage", "control");
}

/* As many rows as in the record, below these names. */
static void expect_table(const char *out, const char *node, const char *names, size_t rows)
{
    char *text = read_text(in_workspace("out/%s.csv", node));
    size_t lines = 0;

    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    cr_expect_eq(lines, rows + 1, "%s: %zu lines", node, lines);
    cr_expect_eq(strncmp(text, names, strlen(names)), 0, "%.200s", text);
    cr_expect(exists(in_workspace("out/%s.csv", node)), "%s", out);
    free(text);
}

Test(general_tools, export_writes_a_table_for_each_node)
{
    const char *out = simulate("servo", "--set duration_s=0.2");
    struct ended e = run_command("hiloco export %s --csv", out);

    expect_status(&e, 0);
    expect_table(out, "drive",
                 "time_s,step,missing_rows,speed_rad_per_s,current_a,angle_rad,motor.",
                 column_of(out, "drive/angle_rad").rows);
    expect_table(out, "speed", "time_s,step,missing_rows,position_control.output,speed_control.",
                 column_of(out, "speed/time_s").rows);
    expect_table(out, "position", "time_s,step,missing_rows,angle_rad,reference,motor.",
                 column_of(out, "position/time_s").rows);

    out = simulate("battery", "--set duration_s=0.02");
    e = run_command("hiloco export %s --csv", out);
    expect_status(&e, 0);
    expect_table(out, "stage", "time_s,step,missing_rows,boost.voltage_v,battery.voltage_v,",
                 column_of(out, "stage/duty").rows);
}

/* --- sweeps ----------------------------------------------------------------------------------- */

/* Two points, whose first measure is called so. */
static void expect_sweep(const char *scenario, const char *options, const char *measure)
{
    const char *out = in_workspace("sweep");
    struct ended e = run_command("hiloco sweep configs/%s.yaml --mode virtual %s --out %s",
                                 scenario, options, out);

    expect_status(&e, 0);
    json_t *index = json_load_file(in_workspace("sweep/sweep.json"), 0, NULL);
    cr_assert_eq(json_array_size(json_at(index, "points")), 2);
    for (size_t i = 0; i < 2; i++) {
        json_t *point = json_array_get(json_at(index, "points"), i);
        json_t *summary =
            summary_of(in_workspace("sweep/%s", json_string_value(json_at(point, "dir"))));
        cr_expect(json_is_object(json_at(json_at(summary, "measures"), measure)));
        cr_expect_eq(number_at(point, "status"), 0);
    }
    e = run_command("hiloco plot %s", out);
    expect_status(&e, 0);
    cr_expect(exists(in_workspace("sweep/figure.png")));
}

Test(general_tools, sweep_goes_through_any_key)
{
    expect_sweep("servo",
                 "--set duration_s=0.2 --set components.position_control.parameters.kp=20,40",
                 "angle_rad");
    expect_sweep("battery", "--set duration_s=0.04 --set nodes.control.period_us=20,40",
                 "voltage_v");
}

/* --- the machine ------------------------------------------------------------------------------ */

Test(general_tools, doctor_reads_the_placement_of_nodes)
{
    static const char *const scenarios[] = {"servo", "battery"};

    for (size_t i = 0; i < 2; i++) {
        struct ended e =
            run_command("hiloco doctor configs/%s.yaml --measure 0 --json", scenarios[i]);
        json_t *all = json_loads(e.out, 0, NULL);
        expect_status(&e, 0);
        cr_assert_not_null(all, "%s", e.out);
        cr_expect_str_eq(json_string_value(json_at(all, "scenario")), scenarios[i]);
        cr_expect_gt(json_array_size(json_at(all, "findings")), 10);
        json_decref(all);
    }
}

/* --- against the clock: nothing depends on how fast it was ------------------------------------ */

TestSuite(general_tools_real_time, ALONE, .init = workspace_open_for_real_time,
          .fini = workspace_close, .timeout = 120);

/* The same scenarios, so slow that a busy machine can keep up. The loops sleep between steps: where
 * loops that spin have all cores, hiloco top has only what they leave. */
static const struct slow {
    const char *name, *options, *measure, *unit;
    const char *nodes[3]; /* NULL: the last was before */
    double periods_us[3];
} SLOW[] = {
    {"servo",
     "--set nodes.drive.period_us=500 --set nodes.speed.period_us=1000 "
     "--set nodes.position.period_us=5000 "
     "--set placement=[{\"nodes\":\"drive\",\"wait\":\"hybrid\"},"
     "{\"nodes\":[\"speed\",\"position\"],\"wait\":\"hybrid\"}]",
     "angle_rad",
     "rad",
     {"drive", "speed", "position"},
     {500, 1000, 5000}},
    {"battery",
     "--set nodes.stage.period_us=500 --set nodes.control.period_us=1000 "
     "--set nodes.stage.wait=hybrid --set nodes.control.wait=hybrid",
     "voltage_v",
     "V",
     {"stage", "control"},
     {500, 1000}},
};
enum { SLOW_COUNT = sizeof SLOW / sizeof SLOW[0], SLOW_NODES = 3 };

static struct arguments slow_run(const struct slow *s, const char *options)
{
    return command("hiloco run configs/%s.yaml --mode realtime %s --set validity.required=false "
                   "--quiet %s --out %s",
                   s->name, s->options, options, in_workspace("%s", s->name));
}

/* Whether each node has made some steps. The processes of a run open them one after the other. */
static bool has_steps(const struct slow *s, const json_t *sample)
{
    const json_t *nodes = json_object_get(sample, "nodes");

    for (int n = 0; n < SLOW_NODES && s->nodes[n]; n++) {
        const json_t *node = json_object_get(nodes, s->nodes[n]);
        if (json_integer_value(json_object_get(node, "steps")) < 10)
            return false;
    }
    return true;
}

/* A sample of the run, taken while it runs, when all nodes have made steps. */
static json_t *sample_of(const struct slow *s, const struct process *p)
{
    json_t *sample = NULL;
    struct ended e;

    do {
        usleep(100000);
        json_decref(sample);
        e = run_command("hiloco top %s --json --count 1", in_workspace("%s", s->name));
        sample = json_loads(e.out, JSON_DISABLE_EOF_CHECK, NULL);
    } while (!has_steps(s, sample) && !has_ended(p));
    cr_assert_not_null(sample, "%s%s", e.out, e.err);
    return sample;
}

Test(general_tools_real_time, top_shows_each_node)
{
    for (const struct slow *s = SLOW; s < SLOW + SLOW_COUNT; s++) {
        struct arguments a = slow_run(s, "--set duration_s=120");
        struct process p = start(&a);
        json_t *sample = sample_of(s, &p);
        kill(p.pid, SIGINT);
        struct ended ran = finish(&p);
        expect_status(&ran, 130);
        cr_expect_str_eq(json_string_value(json_at(sample, "measure.name")), s->measure);
        cr_expect_str_eq(json_string_value(json_at(sample, "measure.unit")), s->unit);
        for (int n = 0; n < SLOW_NODES && s->nodes[n]; n++) {
            char path[64];
            snprintf(path, sizeof path, "nodes.%s.period_us", s->nodes[n]);
            cr_expect_eq(number_at(sample, path), s->periods_us[n], "%s", path);
        }
        json_decref(sample);
    }
}

Test(general_tools_real_time, trace_names_nodes_and_links)
{
    if (access("/usr/bin/lttng", X_OK) || access("/usr/bin/babeltrace2", X_OK))
        cr_skip_test("lttng-tools or babeltrace2 is not installed");
    for (const struct slow *s = SLOW; s < SLOW + SLOW_COUNT; s++) {
        struct arguments a = slow_run(s, "--set duration_s=120 --trace");
        struct process p = start(&a);
        json_decref(sample_of(s, &p));
        kill(p.pid, SIGINT);
        struct ended e = finish(&p);
        expect_status(&e, 130);
        e = run_command("hiloco trace %s", in_workspace("%s", s->name));
        expect_status(&e, 0);
        json_t *found = json_load_file(in_workspace("%s/trace.json", s->name), 0, NULL);
        cr_assert_not_null(found);
        for (int n = 0; n < SLOW_NODES && s->nodes[n]; n++) {
            char path[64];
            snprintf(path, sizeof path, "nodes.%s.steps", s->nodes[n]);
            cr_expect_gt(number_at(found, path), 0, "%s", path);
        }
        char link[64];
        snprintf(link, sizeof link, "%s -> %s", s->nodes[0], s->nodes[1]);
        cr_expect(strstr(e.out, link), "no %s in\n%s", link, e.out);
        json_decref(found);
    }
}

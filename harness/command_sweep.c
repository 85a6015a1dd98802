#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "foreign.h"
#include "jobs.h"
#include "json_file.h"
#include "record/told.h"
#include "results.h"

static const char help[] =
    "usage: hiloco sweep SCENARIO --set KEY=VALUE,VALUE... [--set ...] [--mode MODE]\n"
    "                    [--jobs N] [--out DIR]\n"
    "\n"
    "Runs a scenario once for each value, and for each combination where several keys have\n"
    "several values. Points in virtual time run side by side.\n"
    "\n"
    "The table has of each run the greatest overshoot of the scenario's first measure, how long "
    "it\n"
    "took to settle after the last event, and its mean and peak to peak in the window of its\n"
    "steady state, which stands beside them. docs/figures.md defines them.\n"
    "\n"
    "  --set KEY=V1,V2,V3   the values to go through; one value alone is set for all points.\n"
    "                       Commas inside brackets do not part values\n"
    "  --mode MODE          realtime or virtual, as in hiloco run\n"
    "  --jobs N             how many points at a time (default: in virtual time the number of\n"
    "                       cores; in real time 1, and no more is allowed)\n"
    "  --out DIR            where the results go (default: results/NAME-sweep-TIMESTAMP): a\n"
    "                       folder for each point, and sweep.json with the figures of all. An\n"
    "                       earlier sweep's there are replaced; a folder that holds anything\n"
    "                       else is refused\n"
    "\n"
    "Exit status: 0; 1 when a point failed; 2 for a mistake, before anything runs; 4 when all "
    "came\n"
    "to their end and one failed a limit of the scenario (docs/limits.md); 3 when one is not\n"
    "valid (docs/validity.md); 130 when interrupted, 129 when its terminal hung up, 131 by\n"
    "SIGQUIT: the runs at hand have ended in order then.\n"
    "\n"
    "Example: hiloco sweep configs/dcdc20.yaml --mode virtual \\\n"
    "                 --set controller.period_us=10,20,30,40,50,60,80,100\n";

/* A --set and its values: "key" and "a", "b", "c". */
struct axis {
    char *key;
    char **values;
    unsigned count;
};

struct point {
    char **sets; /* "key=value", by axis */
    char *name;  /* its folder: the sets of the keys that vary */
};

struct sweep {
    const struct hil_arguments *arguments;
    struct axis *axes;
    unsigned axis_count;
    struct point *points;
    struct hil_jobs jobs; /* by point */
    unsigned point_count;
    char out[4096];
};

/* --- axes and points -------------------------------------------------------------------------- */

/* The end of the value that begins here: a comma outside of brackets and quotes. */
static const char *value_end(const char *text)
{
    int depth = 0;
    char quote = 0;

    for (; *text; text++) {
        if (quote) {
            quote = *text == quote ? 0 : quote;
        } else if (*text == '"' || *text == '\'') {
            quote = *text;
        } else if (*text == '[' || *text == '{') {
            depth++;
        } else if (*text == ']' || *text == '}') {
            depth--;
        } else if (*text == ',' && depth <= 0) {
            return text;
        }
    }
    return text;
}

static int add_value(struct axis *axis, const char *from, const char *end)
{
    char **more = realloc(axis->values, (axis->count + 1) * sizeof(char *));

    if (!more)
        return -ENOMEM;
    axis->values = more;
    axis->values[axis->count] = strndup(from, (size_t)(end - from));
    return axis->values[axis->count++] ? 0 : -ENOMEM;
}

static int split(struct axis *axis, const char *set)
{
    const char *equals = strchr(set, '=');
    int rc = 0;

    if (!equals) {
        fprintf(stderr, "--set %s: KEY=VALUE,VALUE... is allowed\n", set);
        return -EINVAL;
    }
    axis->key = strndup(set, (size_t)(equals - set));
    if (!axis->key)
        return -ENOMEM;
    for (const char *value = equals + 1; !rc;) {
        const char *end = value_end(value);
        rc = add_value(axis, value, end);
        if (!*end)
            break;
        value = end + 1;
    }
    return rc;
}

static int make_axes(struct sweep *s)
{
    s->axes = calloc(s->arguments->options.set_count + 1, sizeof *s->axes);
    if (!s->axes)
        return -ENOMEM;
    s->point_count = 1;
    for (size_t i = 0; i < s->arguments->options.set_count; i++) {
        struct axis *axis = &s->axes[s->axis_count++];
        int rc = split(axis, s->arguments->sets[i]);
        if (rc)
            return rc;
        if (axis->count > 100000 / s->point_count) {
            fprintf(stderr, "hiloco sweep: more than 100000 points\n");
            return -EINVAL;
        }
        s->point_count *= axis->count;
    }
    return 0;
}

/* A folder's name cannot hold every character that a value can. */
static void make_tame(char *name)
{
    for (; *name; name++)
        if (*name == '/' || *name == ' ' || *name == '"' || *name == '\'')
            *name = '_';
}

static int name_point(const struct sweep *s, struct point *p)
{
    char name[200] = "";
    size_t used = 0;

    for (unsigned i = 0; i < s->axis_count && used < sizeof name; i++)
        if (s->axes[i].count > 1)
            used += (size_t)snprintf(name + used, sizeof name - used, "%s%s", used ? "," : "",
                                     p->sets[i]);
    if (used >= sizeof name) /* long lists: their place in the order names them */
        snprintf(name, sizeof name, "point-%04u", (unsigned)(p - s->points));
    make_tame(name);
    p->name = strdup(used ? name : "point");
    return p->name ? 0 : -ENOMEM;
}

/* The last key varies fastest. */
static int make_point(const struct sweep *s, unsigned number)
{
    struct point *p = &s->points[number];

    p->sets = calloc(s->axis_count + 1, sizeof(char *));
    if (!p->sets)
        return -ENOMEM;
    for (unsigned i = s->axis_count; i-- > 0;) {
        const struct axis *a = &s->axes[i];
        if (asprintf(&p->sets[i], "%s=%s", a->key, a->values[number % a->count]) < 0)
            return -ENOMEM;
        number /= a->count;
    }
    return name_point(s, p);
}

static int make_points(struct sweep *s)
{
    int rc = 0;

    s->points = calloc(s->point_count, sizeof *s->points);
    s->jobs.at = calloc(s->point_count, sizeof *s->jobs.at);
    s->jobs.count = s->point_count;
    if (!s->points || !s->jobs.at)
        return -ENOMEM;
    for (unsigned i = 0; !rc && i < s->point_count; i++)
        rc = make_point(s, i);
    return rc;
}

/* Nothing starts before every point's scenario is right. */
static int check_points(struct sweep *s, bool *real_time, char *name, size_t size)
{
    struct hil_arguments a = *s->arguments;
    struct hil_scenario *scenario;

    for (unsigned i = 0; i < s->point_count; i++) {
        a.options.sets = (const char *const *)s->points[i].sets;
        a.options.set_count = s->axis_count;
        int rc = hil_arguments_load(&a, &scenario);
        if (rc)
            return rc;
        *real_time |= scenario->mode == HIL_REALTIME;
        const bool joined = hil_system_is_joined(scenario->system);
        snprintf(name, size, "%s", scenario->name);
        hil_scenario_free(scenario);
        if (joined) {
            fprintf(stderr,
                    "%s: a component is outside, and no program of yours joins each of a "
                    "sweep's runs; run them one by one (hiloco run)\n",
                    name);
            return -EINVAL;
        }
    }
    return 0;
}

static void free_sweep(struct sweep *s)
{
    for (unsigned i = 0; s->points && i < s->point_count; i++) {
        for (unsigned k = 0; s->points[i].sets && k < s->axis_count; k++)
            free(s->points[i].sets[k]);
        free(s->points[i].sets);
        free(s->points[i].name);
    }
    for (unsigned i = 0; s->axes && i < s->axis_count; i++) {
        for (unsigned k = 0; k < s->axes[i].count; k++)
            free(s->axes[i].values[k]);
        free(s->axes[i].values);
        free(s->axes[i].key);
    }
    free(s->points);
    free(s->jobs.at);
    free(s->axes);
}

/* --- running ---------------------------------------------------------------------------------- */

static void exec_point(void *sweep, unsigned number)
{
    const struct sweep *s = sweep;
    const struct point *p = &s->points[number];
    const struct hil_scenario_options *o = &s->arguments->options;
    const char **argv = calloc(2 * s->axis_count + 10, sizeof(char *));
    char out[4400];
    unsigned n = 0;

    if (!argv)
        _exit(HIL_EXIT_FAILED);
    snprintf(out, sizeof out, "%s/%s", s->out, p->name);
    argv[n++] = "hiloco";
    argv[n++] = "run";
    argv[n++] = s->arguments->scenario;
    argv[n++] = "--quiet";
    argv[n++] = "--out";
    argv[n++] = out;
    for (unsigned i = 0; i < s->axis_count; i++) {
        argv[n++] = "--set";
        argv[n++] = p->sets[i];
    }
    if (o->realtime || o->virtual_time) {
        argv[n++] = "--mode";
        argv[n++] = o->realtime ? "realtime" : "virtual";
    }
    hil_jobs_exec(argv);
}

static void tell_end(void *sweep, unsigned number)
{
    const struct sweep *s = sweep;

    fprintf(stderr, "%u of %u: %s%s\n", s->jobs.done, s->point_count, s->points[number].name,
            hil_job_words(&s->jobs.at[number]));
}

/* What the point's run says of itself; NULL: it left no summary. */
static json_t *load_summary(const struct sweep *s, const struct point *p)
{
    char path[4500];
    json_error_t error;

    snprintf(path, sizeof path, "%s/%s/summary.json", s->out, p->name);
    return hil_foreign_json(path, &error);
}

/* --- the table and the index ------------------------------------------------------------------ */

/* A point that was not run has no status; one that left no summary has none. */
static json_t *point_of_index(const struct sweep *s, const struct point *p)
{
    const struct hil_job *job = &s->jobs.at[p - s->points];
    json_t *values = json_array(), *summary = job->done ? load_summary(s, p) : NULL;

    for (unsigned k = 0; k < s->axis_count; k++)
        json_array_append_new(values, json_string(strchr(p->sets[k], '=') + 1));
    return json_pack("{s:s, s:o, s:o, s:o}", "dir", p->name, "values", values, "status",
                     job->done ? json_integer(job->status) : json_null(), "summary",
                     summary ? summary : json_null());
}

static int write_index(const struct sweep *s)
{
    char path[4400];
    json_t *keys = json_array(), *units = json_array(), *points = json_array();

    for (unsigned i = 0; i < s->axis_count; i++) {
        json_array_append_new(keys, json_string(s->axes[i].key));
        json_array_append_new(units, json_string(hil_scenario_unit(s->axes[i].key)));
    }
    for (unsigned i = 0; i < s->point_count; i++)
        json_array_append_new(points, point_of_index(s, &s->points[i]));
    json_t *root = json_pack("{s:o, s:o, s:o}", "keys", keys, "units", units, "points", points);
    snprintf(path, sizeof path, "%s/sweep.json", s->out);
    int rc = hil_json_file_write(root, path, 0);
    json_decref(root);
    if (rc)
        fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(-rc));
    return rc;
}

static void print_number(double value, int width, int digits)
{
    if (isfinite(value))
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

static void print_window(const struct hil_told_figures *f)
{
    char text[32] = "-";

    if (isfinite(f->from_s))
        snprintf(text, sizeof text, "%.4g-%.4g", f->from_s, f->to_s);
    printf(" %13s", text);
}

/* What the measure did, and whether the run can be believed. */
static void print_verdict(const struct hil_told *told, const struct hil_told_measure *measure)
{
    struct hil_told_measure array;
    const bool others = hil_told_first(told, true, &array);

    if (!measure->judged)
        printf("  -");
    else if (!measure->settled)
        printf("  does not settle");
    else if (others && array.judged && !array.settled)
        printf("  %s[%d] does not settle", array.name, array.worst);
    else
        printf("  settles");
    printf("%s\n", hil_told_valid(told) == 1 ? "" : ", NOT VALID");
}

static struct hil_told told_of_point(const struct sweep *s, const struct point *p)
{
    char dir[4500];

    snprintf(dir, sizeof dir, "%s/%s", s->out, p->name);
    return hil_told_of_run(dir);
}

/* Those of the first nodes: in a control loop, of who controls. */
static double missed_of_first(const struct hil_told *told)
{
    struct hil_told_nodes nodes;

    return hil_told_nodes(told, 0, &nodes) ? nodes.missed : NAN;
}

/* Of the table's first column: the longest name has room. */
static int table_name_width(const struct sweep *s)
{
    size_t width = 36;

    for (unsigned i = 0; i < s->point_count; i++)
        if (strlen(s->points[i].name) > width)
            width = strlen(s->points[i].name);
    return (int)width;
}

static void print_point(const struct sweep *s, const struct point *p)
{
    struct hil_told told = told_of_point(s, p);
    struct hil_told_measure measure;
    double round_trip_us[3];

    printf("%-*s", table_name_width(s), p->name);
    if (!told.root) {
        printf(" no results\n");
        return;
    }
    hil_told_first(&told, false, &measure);
    hil_told_round_trip(&told, round_trip_us);
    print_number(measure.figures.overshoot_pct, 11, 2);
    print_number(measure.figures.settling_ms, 11, 3);
    print_number(measure.figures.mean, 10, 3);
    print_number(measure.figures.pp, 10, 3);
    print_window(&measure.figures);
    print_number(missed_of_first(&told), 8, 0);
    print_number(round_trip_us[0], 10, 1);
    print_number(round_trip_us[1], 10, 1);
    print_verdict(&told, &measure);
    hil_told_close(&told);
}

/* "output_v", and "mean V": of the first point that tells. */
static void print_head(const struct sweep *s)
{
    char name[37] = "", mean[24] = "mean", pp[24] = "p-p";

    for (unsigned i = 0; i < s->point_count && !name[0]; i++) {
        struct hil_told told = told_of_point(s, &s->points[i]);
        struct hil_told_measure measure;
        if (hil_told_first(&told, false, &measure)) {
            snprintf(name, sizeof name, "%s", measure.name);
            snprintf(mean, sizeof mean, "mean %.16s", measure.unit);
            snprintf(pp, sizeof pp, "p-p %.16s", measure.unit);
        }
        hil_told_close(&told);
    }
    printf("%-*s %11s %11s %10s %10s %13s %8s %10s %10s\n", table_name_width(s), name,
           "overshoot %", "settling ms", mean, pp, "from-to s", "missed", "round trip", "p99, us");
}

static void print_table(const struct sweep *s)
{
    print_head(s);
    for (unsigned i = 0; i < s->point_count; i++)
        print_point(s, &s->points[i]);
    printf("results: %s\n", s->out);
}

/* --- the command
 * ---------------------------------------------------------------------------------- */

static int run_sweep(struct sweep *s)
{
    bool real_time = false;
    char name[200], sweep_name[220];

    int rc = make_axes(s);
    if (!rc)
        rc = make_points(s);
    if (!rc)
        rc = check_points(s, &real_time, name, sizeof name);
    if (rc)
        return rc == -ENOMEM ? HIL_EXIT_FAILED : HIL_EXIT_USAGE;
    if (real_time && s->arguments->jobs > 1) {
        fprintf(stderr, "--jobs %u: in real time one point at a time is allowed\n",
                s->arguments->jobs);
        return HIL_EXIT_USAGE;
    }
    hil_catch_signals();
    snprintf(sweep_name, sizeof sweep_name, "%s-sweep", name);
    int folder = hil_results_open(s->out, sizeof s->out, s->arguments->out, sweep_name,
                                  HIL_OF_A_SWEEP, stderr);
    if (folder < 0)
        return hil_results_status(folder);
    write_index(s); /* by which its folders are known as a sweep's, should it be killed */
    s->jobs.exec = exec_point;
    s->jobs.ended = tell_end;
    s->jobs.arg = s;
    hil_jobs_run(&s->jobs, hil_jobs_at_a_time(s->arguments->jobs, real_time));
    rc = write_index(s);
    print_table(s);
    close(folder);
    return hil_signal_status() ? hil_signal_status() : rc ? HIL_EXIT_FAILED : hil_jobs_status(&s->jobs);
}

int hil_command_sweep(int argc, char **argv)
{
    struct hil_arguments a;
    struct sweep s = {.arguments = &a};
    int rc = hil_arguments_parse(
        &a, HIL_TAKES_MODE | HIL_TAKES_SET | HIL_TAKES_OUT | HIL_TAKES_JOBS, help, argc, argv);
    int status = rc ? hil_arguments_status(rc) : run_sweep(&s);

    free_sweep(&s);
    hil_arguments_free(&a);
    return status;
}

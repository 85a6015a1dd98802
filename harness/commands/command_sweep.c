#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/foreign.h"
#include "../base/json_file.h"
#include "../launch/jobs.h"
#include "../launch/results.h"
#include "../record/told.h"
#include "../scenario/yaml/scenario_schema.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco sweep SCENARIO --set KEY=VALUE,VALUE... [--set ...] [--mode MODE]\n"
    "                    [--jobs N] [--out DIR]\n"
    "       hiloco sweep SCENARIO --bisect KEY=FROM:TO:STEP [--set KEY=VALUE]... [...]\n"
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
    "                       FROM:TO:STEP is a range, and FROM:TO:log5 five values from one to\n"
    "                       the other that are as many times apart, in four digits\n"
    "  --bisect KEY=FROM:TO:STEP\n"
    "                       the largest value of the range that keeps the scenario's limits, or\n"
    "                       the smallest where FROM fails and TO passes: each run halves what\n"
    "                       is left\n"
    "  --mode MODE          realtime or virtual, as in hiloco run\n"
    "  --jobs N             how many points at a time (default: in virtual time the number of\n"
    "                       cores; in real time 1, and no more is allowed)\n"
    "  --out DIR            where the results go (default: results/NAME-sweep-TIMESTAMP): a\n"
    "                       folder for each point, sweep.json with the summaries of all, and\n"
    "                       sweep.csv, the table. An earlier sweep's there are replaced; a folder "
    "that holds anything\n"
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

enum { POINTS_MAX = 100000, BISECTIONS_MAX = 20 };

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

/* A range in steps; the last one known to pass, and the first known to fail. */
struct bisection {
    double from, step;
    unsigned steps, passes, fails;
};

struct sweep {
    const struct hil_arguments *arguments;
    struct axis *axes;
    unsigned axis_count;
    struct point *points;
    struct hil_jobs jobs; /* by point */
    unsigned point_count;
    struct bisection bisection;
    bool has_limits;
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

static int add_number(struct axis *axis, double value)
{
    char text[SCENARIO_NUMBER_BYTES];

    scenario_number_text(text, value);
    return add_value(axis, text, text + strlen(text));
}

/* In four digits: a time must be a whole number of ns. */
static int add_logarithmic(struct axis *axis, double from, double to, unsigned count)
{
    char text[32];
    int rc = 0;

    for (unsigned i = 0; !rc && i < count; i++) {
        snprintf(text, sizeof text, "%.3e", from * pow(to / from, (double)i / (count - 1)));
        rc = add_number(axis, strtod(text, NULL));
    }
    return rc;
}

/* Without the rounding errors of the steps. */
static double step_value(double from, double step, unsigned i)
{
    char text[32];

    snprintf(text, sizeof text, "%.12g", from + i * step);
    return strtod(text, NULL);
}

/* Reads FROM:TO:STEP. Returns the number of steps; 0: it is no such range. */
static unsigned read_range(const char *text, double *from, double *step)
{
    double to;
    int end = 0;

    if (sscanf(text, "%lf:%lf:%lf%n", from, &to, step, &end) != 3 || text[end] ||
        !(*step * (to - *from) > 0))
        return 0;
    const double steps = floor((to - *from) / *step * (1 + 1e-9));
    return steps >= 1 && steps < POINTS_MAX ? (unsigned)steps : 0;
}

/* A value, or the values of a range. */
static int add_values(struct axis *axis, const char *begin, const char *end)
{
    char text[200];
    double from, to, step;
    unsigned count = 0;
    int read = 0, rc = 0;

    snprintf(text, sizeof text, "%.*s", (int)(end - begin), begin);
    const unsigned steps = read_range(text, &from, &step);
    if (steps == 0) {
        if (sscanf(text, "%lf:%lf:log%u%n", &from, &to, &count, &read) == 3 && !text[read] &&
            count >= 2 && count < POINTS_MAX && from > 0 && to > 0 && isfinite(to / from))
            return add_logarithmic(axis, from, to, count);
        return add_value(axis, begin, end);
    }
    for (unsigned i = 0; !rc && i <= steps; i++)
        rc = add_number(axis, step_value(from, step, i));
    return rc;
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
        rc = add_values(axis, value, end);
        if (!*end)
            break;
        value = end + 1;
    }
    return rc;
}

static int make_axes(struct sweep *s)
{
    s->axes = calloc(s->arguments->options.set_count + 2, sizeof *s->axes);
    if (!s->axes)
        return -ENOMEM;
    s->point_count = 1;
    for (size_t i = 0; i < s->arguments->options.set_count; i++) {
        struct axis *axis = &s->axes[s->axis_count++];
        int rc = split(axis, s->arguments->sets[i]);
        if (rc)
            return rc;
        if (axis->count > POINTS_MAX / s->point_count) {
            fprintf(stderr, "hiloco sweep: more than %d points\n", POINTS_MAX);
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

    s->points = calloc(s->point_count + BISECTIONS_MAX, sizeof *s->points);
    s->jobs.at = calloc(s->point_count + BISECTIONS_MAX, sizeof *s->jobs.at);
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
        s->has_limits |= scenario->system->limit_count > 0;
        hil_scenario_free(scenario);
        if (joined) {
            fprintf(stderr,
                    "%s: a component is outside, and no program of yours joins each of a "
                    "sweep's runs; run them one by one (hiloco run)\n",
                    name);
            return -EINVAL;
        }
        if (s->arguments->bisect && !s->has_limits) {
            fprintf(stderr,
                    "--bisect: %s has no limits to pass or to fail; required: at least one "
                    "(docs/limits.md)\n",
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

static const char *verdict_of(const struct hil_told *told)
{
    const char *verdict = json_string_value(json_object_get(told->root, "verdict"));

    return verdict ? verdict : "";
}

/* Whether it kept the limits that it has. */
static const char *words_of_limits(const struct hil_told *told)
{
    const char *verdict = verdict_of(told);

    if (json_array_size(json_object_get(told->root, "limits")) == 0)
        return "";
    return strcmp(verdict, "passed") == 0   ? ", passed"
           : strcmp(verdict, "failed") == 0 ? ", FAILED"
                                            : ", inconclusive";
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
    printf("%s%s\n", hil_told_valid(told) == 1 ? "" : ", NOT VALID", words_of_limits(told));
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

/* --- the table as CSV ------------------------------------------------------------------------- */

static void put_csv_text(FILE *to, const char *text)
{
    const bool plain = strcspn(text, ",\"\n") == strlen(text);

    if (!plain)
        fputc('"', to);
    for (; *text; text++)
        fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
    if (!plain)
        fputc('"', to);
    fputc(',', to);
}

static void put_csv_number(FILE *to, double value)
{
    fputc(',', to);
    if (isfinite(value))
        fprintf(to, "%.9g", value);
}

static void put_csv_point(const struct sweep *s, unsigned i, FILE *to)
{
    struct hil_told told = told_of_point(s, &s->points[i]);
    struct hil_told_measure measure;
    double round_trip_us[3];

    for (unsigned k = 0; k < s->axis_count; k++)
        put_csv_text(to, strchr(s->points[i].sets[k], '=') + 1);
    hil_told_first(&told, false, &measure);
    hil_told_round_trip(&told, round_trip_us);
    fprintf(to, "%d,%s,%s", s->jobs.at[i].done ? s->jobs.at[i].status : -1, verdict_of(&told),
            !measure.judged   ? ""
            : measure.settled ? "true"
                              : "false");
    put_csv_number(to, measure.figures.overshoot_pct);
    put_csv_number(to, measure.figures.settling_ms);
    put_csv_number(to, measure.figures.mean);
    put_csv_number(to, measure.figures.pp);
    put_csv_number(to, missed_of_first(&told));
    put_csv_number(to, round_trip_us[0]);
    put_csv_number(to, round_trip_us[1]);
    fputc('\n', to);
    hil_told_close(&told);
}

static int write_csv(const struct sweep *s)
{
    char path[4400];

    snprintf(path, sizeof path, "%s/sweep.csv", s->out);
    FILE *to = fopen(path, "we");
    for (unsigned i = 0; to && i < s->axis_count; i++)
        put_csv_text(to, s->axes[i].key);
    if (to)
        fputs("status,verdict,settled,overshoot_pct,settling_ms,mean,pp,missed,"
              "round_trip_p50_us,round_trip_p99_us\n",
              to);
    for (unsigned i = 0; to && i < s->point_count; i++)
        put_csv_point(s, i, to);
    const bool failed = !to || ferror(to);
    if ((!to || fclose(to) == 0) && !failed)
        return 0;
    fprintf(stderr, "%s: cannot be written\n", path);
    return -EIO;
}

/* --- bisection -------------------------------------------------------------------------------- */

/* The ends of the range are the first points. */
static int make_bisection(struct sweep *s)
{
    struct axis *axis = &s->axes[s->axis_count++];
    const char *set = s->arguments->bisect, *equals = strchr(set, '=');
    struct bisection *b = &s->bisection;

    b->steps = equals ? read_range(equals + 1, &b->from, &b->step) : 0;
    if (b->steps == 0) {
        fprintf(stderr, "--bisect %s: KEY=FROM:TO:STEP is allowed\n", set);
        return -EINVAL;
    }
    if (s->point_count > 1) {
        fprintf(stderr, "--bisect %s: one value of each other key is allowed\n", set);
        return -EINVAL;
    }
    axis->key = strndup(set, (size_t)(equals - set));
    if (!axis->key)
        return -ENOMEM;
    s->point_count = 2;
    const int rc = add_number(axis, b->from);
    return rc ? rc : add_number(axis, step_value(b->from, b->step, b->steps));
}

static bool can_tell(const struct sweep *s, unsigned point)
{
    const struct hil_job *job = &s->jobs.at[point];

    return job->done && (job->status == HIL_EXIT_OK || job->status == HIL_EXIT_LIMIT);
}

static bool does_pass(const struct sweep *s, unsigned point)
{
    return s->jobs.at[point].status == HIL_EXIT_OK;
}

/* Adds a point, and runs it. Whether it passed or failed is known then, or false returned. */
static bool try_step(struct sweep *s, unsigned step)
{
    const struct bisection *b = &s->bisection;
    const unsigned point = s->point_count;
    struct axis *axis = &s->axes[s->axis_count - 1];

    if (add_number(axis, step_value(b->from, b->step, step)))
        return false;
    s->jobs.count = ++s->point_count;
    s->jobs.at[point].alone = s->jobs.at[0].alone;
    if (make_point(s, point))
        return false;
    hil_jobs_run(&s->jobs, 1);
    return can_tell(s, point);
}

/* Each run halves what is between one that passes and one that fails. Returns whether all could be
 * told. */
static bool bisect(struct sweep *s)
{
    struct bisection *b = &s->bisection;

    if (!can_tell(s, 0) || !can_tell(s, 1))
        return false;
    b->passes = does_pass(s, 0) ? 0 : b->steps;
    b->fails = does_pass(s, 0) ? b->steps : 0;
    while (does_pass(s, 0) != does_pass(s, 1) && abs((int)b->passes - (int)b->fails) > 1) {
        const unsigned middle = (b->passes + b->fails) / 2;
        if (!try_step(s, middle))
            return false;
        *(does_pass(s, s->point_count - 1) ? &b->passes : &b->fails) = middle;
    }
    return true;
}

static void print_bisection(const struct sweep *s, bool told)
{
    const struct bisection *b = &s->bisection;
    const char *key = s->axes[s->axis_count - 1].key, *unit = hil_scenario_unit(key);
    const char *space = *unit ? " " : "";

    if (!told)
        printf("%s: a run neither passed nor failed, so nothing is found\n", key);
    else if (does_pass(s, 0) == does_pass(s, 1))
        printf("%s: both ends of the range %s, so nothing is found\n", key,
               does_pass(s, 0) ? "pass" : "fail");
    else
        printf("%s: the %s value that passes is %.12g%s%s; %.12g%s%s fails\n", key,
               does_pass(s, 0) ? "largest" : "smallest", step_value(b->from, b->step, b->passes),
               space, unit, step_value(b->from, b->step, b->fails), space, unit);
}

/* A bisection that found the place has done what it should, though runs failed on the way. */
static int status_of_sweep(const struct sweep *s, bool told)
{
    const bool found = s->arguments->bisect && told && does_pass(s, 0) != does_pass(s, 1);

    return found ? HIL_EXIT_OK : hil_jobs_status(&s->jobs);
}

static void print_table(const struct sweep *s)
{
    unsigned passed = 0;

    print_head(s);
    for (unsigned i = 0; i < s->point_count; i++) {
        print_point(s, &s->points[i]);
        passed += s->jobs.at[i].done && s->jobs.at[i].status == HIL_EXIT_OK;
    }
    if (s->has_limits)
        printf("%u of %u passed\n", passed, s->point_count);
    printf("results: %s\n", s->out);
}

/* --- the command ------------------------------------------------------------------------------ */

static int run_sweep(struct sweep *s)
{
    bool real_time = false, told = true;
    char name[200], sweep_name[220];

    int rc = make_axes(s);
    if (!rc && s->arguments->bisect)
        rc = make_bisection(s);
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
    for (unsigned i = 0; i < s->point_count; i++)
        s->jobs.at[i].alone = real_time;
    hil_jobs_run(&s->jobs, s->arguments->jobs);
    if (s->arguments->bisect)
        told = bisect(s);
    rc = write_index(s);
    if (!rc)
        rc = write_csv(s);
    print_table(s);
    if (s->arguments->bisect)
        print_bisection(s, told);
    close(folder);
    return hil_signal_status() ? hil_signal_status()
           : rc                ? HIL_EXIT_FAILED
                               : status_of_sweep(s, told);
}

int hil_command_sweep(int argc, char **argv)
{
    struct hil_arguments a;
    struct sweep s = {.arguments = &a};
    int rc = hil_arguments_parse(
        &a, HIL_TAKES_MODE | HIL_TAKES_SET | HIL_TAKES_OUT | HIL_TAKES_JOBS | HIL_TAKES_BISECT,
        help, argc, argv);
    int status = rc ? hil_arguments_status(rc) : run_sweep(&s);

    free_sweep(&s);
    hil_arguments_free(&a);
    return status;
}

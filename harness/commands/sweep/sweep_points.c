/* The points of a sweep: each combination of its keys' values. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

int sweep_make_axes(struct sweep *s)
{
    s->axes = calloc(s->arguments->given.options.set_count + 2, sizeof *s->axes);
    if (!s->axes)
        return -ENOMEM;
    s->point_count = 1;
    s->runs = s->arguments->runs ? s->arguments->runs : 1;
    for (size_t i = 0; i < s->arguments->given.options.set_count; i++) {
        struct sweep_axis *axis = &s->axes[s->axis_count++];
        int rc = sweep_axis_read(axis, s->arguments->given.sets[i]);
        if (rc)
            return rc;
        if (axis->drawn)
            continue;
        if (axis->count > SWEEP_POINTS_MAX / s->point_count) {
            fprintf(stderr, "hiloco sweep: more than %d points\n", SWEEP_POINTS_MAX);
            return -EINVAL;
        }
        s->point_count *= axis->count;
    }
    return 0;
}

static bool sweep_is_drawn(const struct sweep *s)
{
    for (unsigned i = 0; i < s->axis_count; i++)
        if (s->axes[i].drawn)
            return true;
    return false;
}

/* Each combination of given values has a number of runs, with different drawn values. */
static int sweep_make_runs(struct sweep *s)
{
    const bool drawn = sweep_is_drawn(s);

    if (drawn && !s->arguments->runs) {
        fprintf(stderr, "--runs is missing: how often to draw the values\n");
        return -EINVAL;
    }
    if (!drawn && (s->arguments->runs || s->arguments->seed_given)) {
        fprintf(stderr, "--%s: no value is drawn; --set KEY=NOMINAL~SPREAD draws one\n",
                s->arguments->runs ? "runs" : "seed");
        return -EINVAL;
    }
    if (s->runs > SWEEP_POINTS_MAX / s->point_count) {
        fprintf(stderr, "hiloco sweep: more than %d points\n", SWEEP_POINTS_MAX);
        return -EINVAL;
    }
    s->point_count *= s->runs;
    return sweep_draw_values(s);
}

/* Replaces characters of a value that cannot be in a folder's name, or are a nuisance there. */
static void sweep_make_tame(char *name)
{
    for (; *name; name++)
        if (*name == '/' || *name == '"' || *name == '\'' || (*name >= 0 && *name <= ' '))
            *name = '_';
}

static int sweep_compare_names(const void *a, const void *b)
{
    const struct sweep_point *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

/* Names a point by its position. */
static int sweep_number_point(const struct sweep *s, struct sweep_point *p)
{
    free(p->name);
    if (asprintf(&p->name, "point-%04u", (unsigned)(p - s->points)) >= 0)
        return 0;
    p->name = NULL;
    return -ENOMEM;
}

/* Points whose values differ only in replaced characters are named by their positions. */
static int sweep_separate_points(struct sweep *s)
{
    struct sweep_point **sorted = calloc(s->point_count, sizeof(struct sweep_point *));
    int rc = sorted ? 0 : -ENOMEM;

    for (unsigned i = 0; sorted && i < s->point_count; i++)
        sorted[i] = &s->points[i];
    if (sorted)
        qsort(sorted, s->point_count, sizeof(struct sweep_point *), sweep_compare_names);
    for (unsigned i = 0, end; !rc && i < s->point_count; i = end) {
        for (end = i + 1; end < s->point_count; end++)
            if (strcmp(sorted[i]->name, sorted[end]->name) != 0)
                break;
        for (unsigned k = i; !rc && end > i + 1 && k < end; k++)
            rc = sweep_number_point(s, sorted[k]);
    }
    free(sorted);
    return rc;
}

static int sweep_name_point(const struct sweep *s, struct sweep_point *p)
{
    char name[200] = "";
    size_t used = 0;

    for (unsigned i = 0; i < s->axis_count && used < sizeof name; i++)
        if (s->axes[i].count > 1 && !s->axes[i].drawn)
            used += (size_t)snprintf(name + used, sizeof name - used, "%s%s", used ? "," : "",
                                     p->sets[i]);
    if (s->arguments->runs && used < sizeof name)
        used += (size_t)snprintf(name + used, sizeof name - used, "%srun-%04u", used ? "," : "",
                                 (unsigned)(p - s->points) % s->runs);
    if (used >= sizeof name) /* long lists: name the value by its position */
        snprintf(name, sizeof name, "point-%04u", (unsigned)(p - s->points));
    sweep_make_tame(name);
    p->name = strdup(used ? name : "point");
    return p->name ? 0 : -ENOMEM;
}

/* The last key varies fastest, and drawn values vary faster still. */
int sweep_make_point(const struct sweep *s, unsigned number)
{
    struct sweep_point *p = &s->points[number];

    p->sets = calloc(s->axis_count + 1, sizeof(char *));
    if (!p->sets)
        return -ENOMEM;
    const unsigned run = number % s->runs;
    number /= s->runs;
    for (unsigned i = s->axis_count; i-- > 0;) {
        const struct sweep_axis *a = &s->axes[i];
        const unsigned value = a->drawn ? run : number % a->count;
        if (asprintf(&p->sets[i], "%s=%s", a->key, a->values[value]) < 0)
            return -ENOMEM;
        number /= a->drawn ? 1 : a->count;
    }
    return sweep_name_point(s, p);
}

static bool sweep_varies(const struct sweep_axis *axis)
{
    return axis->drawn || axis->count > 1;
}

/* Of two values of a key the later counts, as for hiloco run. If one of them is a list, points
 * would have values that they did not run with. */
static int sweep_check_keys(const struct sweep *s)
{
    for (unsigned i = 0; i < s->axis_count; i++)
        for (unsigned k = 0; k < i; k++) {
            if (strcmp(s->axes[i].key, s->axes[k].key) != 0 ||
                !(sweep_varies(&s->axes[i]) || sweep_varies(&s->axes[k])))
                continue;
            fprintf(stderr, "%s is given twice; required: all its values in one place\n",
                    s->axes[i].key);
            return -EINVAL;
        }
    return 0;
}

int sweep_make_points(struct sweep *s)
{
    int rc = sweep_make_runs(s);

    if (!rc && s->arguments->bisect)
        rc = sweep_make_bisection(s);
    if (!rc)
        rc = sweep_check_keys(s);
    if (rc)
        return rc;
    s->points = calloc(s->point_count + SWEEP_BISECTIONS_MAX, sizeof *s->points);
    s->jobs.at = calloc(s->point_count + SWEEP_BISECTIONS_MAX, sizeof *s->jobs.at);
    s->jobs.count = s->point_count;
    if (!s->points || !s->jobs.at)
        return -ENOMEM;
    for (unsigned i = 0; !rc && i < s->point_count; i++)
        rc = sweep_make_point(s, i);
    return rc ? rc : sweep_separate_points(s);
}

/* Checks the scenarios of all points before any of them runs. */
int sweep_check_points(struct sweep *s)
{
    struct hil_arguments a = s->arguments->given;
    struct hil_scenario *scenario;

    for (unsigned i = 0; i < s->point_count; i++) {
        a.options.sets = (const char *const *)s->points[i].sets;
        a.options.set_count = s->axis_count;
        int rc = hil_arguments_load(&a, &scenario);
        if (rc)
            return rc;
        s->real_time |= scenario->mode == HIL_REALTIME;
        const bool joined = hil_system_is_joined(scenario->system);
        snprintf(s->name, sizeof s->name, "%s", scenario->name);
        s->has_limits |= scenario->system->limit_count > 0;
        hil_scenario_free(scenario);
        if (joined) {
            fprintf(stderr,
                    "%s: a component is outside, and a sweep has no program of yours to join its "
                    "runs; use hiloco run for each\n",
                    s->name);
            return -EINVAL;
        }
        if (s->arguments->bisect && !s->has_limits) {
            fprintf(stderr,
                    "--bisect: %s has no limits to pass or to fail; required: at least one "
                    "(docs/limits.md)\n",
                    s->name);
            return -EINVAL;
        }
    }
    return 0;
}

void sweep_free(struct sweep *s)
{
    for (unsigned i = 0; s->points && i < s->point_count; i++) {
        for (unsigned k = 0; s->points[i].sets && k < s->axis_count; k++)
            free(s->points[i].sets[k]);
        free(s->points[i].sets);
        free(s->points[i].name);
        hil_summary_reader_close(&s->points[i].told);
    }
    for (unsigned i = 0; s->axes && i < s->axis_count; i++)
        sweep_axis_free(&s->axes[i]);
    free(s->points);
    free(s->jobs.at);
    free(s->axes);
}

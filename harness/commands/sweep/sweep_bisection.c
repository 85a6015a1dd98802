/* Finds the limit in a range up to which runs pass: each run halves the remaining range. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../scenario/yaml/key_units.h"
#include "sweep.h"

static struct sweep_axis *bisection_axis(const struct sweep *s)
{
    return &s->axes[s->axis_count - 1];
}

static int bisection_add(struct sweep *s, unsigned step)
{
    const struct sweep_bisection *b = &s->bisection;
    struct sweep_axis *axis = bisection_axis(s);

    s->bisection.step_of[axis->count] = step;
    s->bisection.try_of[axis->count] = axis->count;
    return sweep_axis_add_step(axis, b->from + step * b->step);
}

/* The ends of the range are the first points. */
int sweep_make_bisection(struct sweep *s)
{
    const char *set = s->arguments->bisect, *equals = strchr(set, '=');
    struct sweep_bisection *b = &s->bisection;

    char *key = strndup(set, equals ? (size_t)(equals - set) : 0);
    char *range = key ? sweep_without_units(key, equals ? equals + 1 : "") : NULL;
    if (range)
        b->steps = sweep_range_read(range, &b->from, &b->step);
    free(key);
    free(range);
    if (b->steps == 0) {
        fprintf(stderr, "--bisect %s: KEY=FROM:TO:STEP is allowed\n", set);
        return -EINVAL;
    }
    if (s->point_count > 1) {
        fprintf(stderr, "--bisect %s: one value of each other key is allowed\n", set);
        return -EINVAL;
    }
    struct sweep_axis *axis = &s->axes[s->axis_count++];
    axis->key = strndup(set, (size_t)(equals - set));
    if (!axis->key)
        return -ENOMEM;
    s->point_count = 2;
    int rc = sweep_check_step(axis->key, b->from + b->step);
    if (!rc)
        rc = bisection_add(s, 0);
    return rc ? rc : bisection_add(s, b->steps);
}

static bool bisection_can_tell(const struct sweep *s, unsigned point)
{
    const struct hil_job *job = &s->jobs.at[point];

    return job->done && (job->status == HIL_EXIT_OK || job->status == HIL_EXIT_LIMIT);
}

/* Adds a point, and runs it. Returns false if the run neither passed nor failed. */
static bool bisection_try(struct sweep *s, unsigned step)
{
    const unsigned point = s->point_count;

    if (bisection_add(s, step))
        return false;
    s->jobs.count = ++s->point_count;
    s->jobs.at[point].alone = s->jobs.at[0].alone;
    if (sweep_make_point(s, point) || sweep_write_index(s, false))
        return false;
    hil_jobs_run(&s->jobs, 1);
    return bisection_can_tell(s, point);
}

/* Each run halves the interval between a point that passes and one that fails. */
static void bisection_halve(struct sweep *s)
{
    struct sweep_bisection *b = &s->bisection;

    while (b->told && b->ends_differ) {
        const unsigned passes = b->step_of[b->passes], fails = b->step_of[b->fails];
        if (abs((int)passes - (int)fails) <= 1)
            return;
        b->told = bisection_try(s, (passes + fails) / 2);
        *(sweep_passed(s, s->point_count - 1) ? &b->passes : &b->fails) = s->point_count - 1;
    }
}

static void bisection_swap(struct sweep *s, unsigned a, unsigned b)
{
    char **const values = bisection_axis(s)->values;
    unsigned *const step_of = s->bisection.step_of, *const try_of = s->bisection.try_of;
    const struct sweep_point point = s->points[a];
    const struct hil_job job = s->jobs.at[a];
    char *const value = values[a];
    const unsigned step = step_of[a], try = try_of[a];

    s->points[a] = s->points[b];
    s->points[b] = point;
    s->jobs.at[a] = s->jobs.at[b];
    s->jobs.at[b] = job;
    values[a] = values[b];
    values[b] = value;
    step_of[a] = step_of[b];
    step_of[b] = step;
    try_of[a] = try_of[b];
    try_of[b] = try;
}

/* Sorts the points by value, for readers of the results. */
static void bisection_sort(struct sweep *s)
{
    struct sweep_bisection *b = &s->bisection;
    const unsigned passes = b->step_of[b->passes], fails = b->step_of[b->fails];

    for (unsigned i = 1; i < s->point_count; i++)
        for (unsigned k = i; k > 0 && b->step_of[k - 1] > b->step_of[k]; k--)
            bisection_swap(s, k - 1, k);
    for (unsigned i = 0; i < s->point_count; i++) {
        if (b->step_of[i] == passes)
            b->passes = i;
        if (b->step_of[i] == fails)
            b->fails = i;
    }
}

void sweep_bisect(struct sweep *s)
{
    struct sweep_bisection *b = &s->bisection;

    b->told = bisection_can_tell(s, 0) && bisection_can_tell(s, 1);
    b->ends_differ = sweep_passed(s, 0) != sweep_passed(s, 1);
    b->passes = sweep_passed(s, 0) ? 0 : 1;
    b->fails = 1 - b->passes;
    bisection_halve(s);
    bisection_sort(s);
}

bool sweep_bisection_found(const struct sweep *s)
{
    return s->bisection.told && s->bisection.ends_differ;
}

/* Whether the passing point is the largest, rather than the smallest, that passes. */
static bool bisection_is_largest(const struct sweep *s)
{
    const struct sweep_bisection *b = &s->bisection;

    return (b->step_of[b->passes] < b->step_of[b->fails]) == (b->step > 0);
}

void sweep_bisection_words(const struct sweep *s, char words[SWEEP_WORDS_BYTES])
{
    const struct sweep_bisection *b = &s->bisection;
    const struct sweep_axis *axis = bisection_axis(s);
    const char *unit = hil_scenario_unit(axis->key), *space = *unit ? " " : "";

    if (!b->told)
        snprintf(words, SWEEP_WORDS_BYTES,
                 "%s: a run neither passed nor failed, so no value was found", axis->key);
    else if (!b->ends_differ)
        snprintf(words, SWEEP_WORDS_BYTES, "%s: both ends of the range %s, so nothing is found",
                 axis->key, sweep_passed(s, 0) ? "pass" : "fail");
    else
        snprintf(words, SWEEP_WORDS_BYTES, "%s: the %s value that passes is %s%s%s; %s%s%s fails",
                 axis->key, bisection_is_largest(s) ? "largest" : "smallest",
                 axis->values[b->passes], space, unit, axis->values[b->fails], space, unit);
}

/* The folders of the runs in the order of the trials. */
static json_t *bisection_path(const struct sweep *s)
{
    json_t *path = json_array();

    for (unsigned try = 0; try < s->point_count; try++)
        for (unsigned i = 0; i < s->point_count; i++)
            if (s->bisection.try_of[i] == try)
                json_array_append_new(path, json_string(s->points[i].name));
    return path;
}

json_t *sweep_bisection_json(const struct sweep *s)
{
    const struct sweep_bisection *b = &s->bisection;
    const struct sweep_axis *axis = bisection_axis(s);
    const bool found = sweep_bisection_found(s);
    char words[SWEEP_WORDS_BYTES];

    sweep_bisection_words(s, words);
    json_t *json = json_pack("{s:s, s:s, s:b, s:s, s:o}", "key", axis->key, "unit",
                             hil_scenario_unit(axis->key), "found", found, "words", words, "path",
                             bisection_path(s));
    if (found)
        json_object_update_new(
            json, json_pack("{s:s, s:s, s:s, s:s, s:s}", "which",
                            bisection_is_largest(s) ? "largest" : "smallest", "passes",
                            axis->values[b->passes], "fails", axis->values[b->fails], "passes_dir",
                            s->points[b->passes].name, "fails_dir", s->points[b->fails].name));
    return json;
}

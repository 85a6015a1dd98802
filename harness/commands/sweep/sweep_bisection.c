/* The place in a range where what passes ends: each run halves what is left. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

/* The ends of the range are the first points. */
int sweep_make_bisection(struct sweep *s)
{
    struct sweep_axis *axis = &s->axes[s->axis_count++];
    const char *set = s->arguments->bisect, *equals = strchr(set, '=');
    struct sweep_bisection *b = &s->bisection;

    b->steps = equals ? sweep_range_read(equals + 1, &b->from, &b->step) : 0;
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
    const int rc = sweep_axis_add(axis, b->from);
    return rc ? rc : sweep_axis_add(axis, sweep_range_value(b->from, b->step, b->steps));
}

static bool bisection_can_tell(const struct sweep *s, unsigned point)
{
    const struct hil_job *job = &s->jobs.at[point];

    return job->done && (job->status == HIL_EXIT_OK || job->status == HIL_EXIT_LIMIT);
}

static bool bisection_passes(const struct sweep *s, unsigned point)
{
    return s->jobs.at[point].status == HIL_EXIT_OK;
}

/* Adds a point, and runs it. Whether it passed or failed is known then, or false returned. */
static bool bisection_try(struct sweep *s, unsigned step)
{
    const struct sweep_bisection *b = &s->bisection;
    const unsigned point = s->point_count;
    struct sweep_axis *axis = &s->axes[s->axis_count - 1];

    if (sweep_axis_add(axis, sweep_range_value(b->from, b->step, step)))
        return false;
    s->jobs.count = ++s->point_count;
    s->jobs.at[point].alone = s->jobs.at[0].alone;
    if (sweep_make_point(s, point))
        return false;
    hil_jobs_run(&s->jobs, 1);
    return bisection_can_tell(s, point);
}

/* Each run halves what is between one that passes and one that fails. Returns whether each of them
 * did either. */
static bool bisection_halve(struct sweep *s)
{
    struct sweep_bisection *b = &s->bisection;

    while (abs((int)b->passes - (int)b->fails) > 1) {
        const unsigned middle = (b->passes + b->fails) / 2;
        if (!bisection_try(s, middle))
            return false;
        *(bisection_passes(s, s->point_count - 1) ? &b->passes : &b->fails) = middle;
    }
    return true;
}

void sweep_bisect(struct sweep *s)
{
    struct sweep_bisection *b = &s->bisection;

    b->told = bisection_can_tell(s, 0) && bisection_can_tell(s, 1);
    if (!b->told || bisection_passes(s, 0) == bisection_passes(s, 1))
        return;
    b->passes = bisection_passes(s, 0) ? 0 : b->steps;
    b->fails = bisection_passes(s, 0) ? b->steps : 0;
    b->told = b->found = bisection_halve(s);
}

void sweep_print_bisection(const struct sweep *s)
{
    const struct sweep_bisection *b = &s->bisection;
    const char *key = s->axes[s->axis_count - 1].key, *unit = hil_scenario_unit(key);
    const char *space = *unit ? " " : "";

    if (!b->told)
        printf("%s: a run neither passed nor failed, so nothing is found\n", key);
    else if (!b->found)
        printf("%s: both ends of the range %s, so nothing is found\n", key,
               bisection_passes(s, 0) ? "pass" : "fail");
    else
        printf("%s: the %s value that passes is %.12g%s%s; %.12g%s%s fails\n", key,
               bisection_passes(s, 0) ? "largest" : "smallest",
               sweep_range_value(b->from, b->step, b->passes), space, unit,
               sweep_range_value(b->from, b->step, b->fails), space, unit);
}

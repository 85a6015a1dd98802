/* Starts the runs of a sweep, each in its own process and folder. */
#include <stdio.h>

#include "../../h5/run_files.h"
#include "sweep.h"

static void sweep_exec(void *sweep, unsigned number)
{
    const struct sweep *s = sweep;
    struct hil_scenario_options options = s->arguments->given.options;

    options.sets = (const char *const *)s->points[number].sets;
    options.set_count = s->axis_count;
    hil_jobs_exec(s->arguments->given.scenario, &options, s->out, s->points[number].name);
}

/* Called while other runs go on. */
static void sweep_end(void *sweep, unsigned number)
{
    struct sweep *s = sweep;
    struct sweep_point *p = &s->points[number];
    char dir[HIL_PATH_BYTES];

    if (hil_run_path(dir, s->out, "%s", p->name) == 0)
        p->told = hil_summary_reader_of_run(dir);
    fprintf(stderr, "%u of %u: %s%s\n", s->jobs.done, s->point_count, p->name,
            hil_job_words(&s->jobs.at[number]));
}

void sweep_run(struct sweep *s)
{
    s->jobs.exec = sweep_exec;
    s->jobs.ended = sweep_end;
    s->jobs.arg = s;
    for (unsigned i = 0; i < s->point_count; i++)
        s->jobs.at[i].alone = s->real_time;
    hil_jobs_run(&s->jobs, s->arguments->jobs);
}

bool sweep_passed(const struct sweep *s, unsigned point)
{
    return s->jobs.at[point].done && s->jobs.at[point].status == HIL_EXIT_OK;
}

/* The runs of a sweep, each in a process and a folder of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sweep.h"

static void sweep_exec(void *sweep, unsigned number)
{
    const struct sweep *s = sweep;
    const struct sweep_point *p = &s->points[number];
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

/* While others run. */
static void sweep_end(void *sweep, unsigned number)
{
    struct sweep *s = sweep;
    struct sweep_point *p = &s->points[number];
    char dir[4500];

    snprintf(dir, sizeof dir, "%s/%s", s->out, p->name);
    p->told = hil_told_of_run(dir);
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

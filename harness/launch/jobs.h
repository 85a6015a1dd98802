/*
 * Starts runs of this program, each in its own process, a limited number at a time. When a signal
 * ends this process, the running jobs are ended in order and no more are started.
 */
#ifndef HIL_JOBS_H
#define HIL_JOBS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "../scenario/load/load.h"
#include "../scenario/scenario.h"

struct hil_job {
    pid_t pid;
    bool alone; /* it runs while no other job does, after the jobs that may run together */
    bool done;
    int status;     /* its exit status */
    double seconds; /* its duration */
};

struct hil_jobs {
    struct hil_job *at;
    unsigned count;
    unsigned done; /* number of finished jobs */
    /* Called in the job's process; does not return. */
    void (*exec)(void *arg, unsigned job);
    /* Called when a job has ended. */
    void (*ended)(void *arg, unsigned job);
    void *arg;
    sigset_t signals; /* the signal mask from before, which each run begins with */
};

/* How many cores this process may run on. With taskset or in a container this is less than the
 * machine has. */
unsigned hil_jobs_cores(void);

/* Runs the jobs that are not done yet, in order; `at_a_time` 0 means hil_jobs_cores. Signals must
 * be caught (hil_catch_signals). */
void hil_jobs_run(struct hil_jobs *jobs, unsigned at_a_time);

/* Turns this process into `hiloco run SCENARIO` with these options, and with results in a folder in
 * `into`. */
_Noreturn void hil_jobs_exec(const char *scenario, const struct hil_scenario_options *options,
                             const char *into, const char *folder);

/* The worst status of all jobs: a failure, then a failed limit, then a run that is not valid. */
int hil_jobs_status(const struct hil_jobs *jobs);

/* "", " (not valid)", " (a limit failed)", " (interrupted)", " (failed)" */
const char *hil_job_words(const struct hil_job *job);

#endif

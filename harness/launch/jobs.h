/*
 * Runs of this program, each in a process of its own, so many at a time. A signal that ends this
 * process ends them in order, and no more are started.
 */
#ifndef HIL_JOBS_H
#define HIL_JOBS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "../scenario/scenario.h"

struct hil_job {
    pid_t pid;
    bool alone; /* it runs when no other does, after those that need not */
    bool done;
    int status;     /* its exit status */
    double seconds; /* that it took */
};

struct hil_jobs {
    struct hil_job *at;
    unsigned count;
    unsigned done; /* how many */
    /* In the job's process: does not come back. */
    void (*exec)(void *arg, unsigned job);
    /* When one has ended. */
    void (*ended)(void *arg, unsigned job);
    void *arg;
    sigset_t signals; /* that were blocked before: each run begins so */
};

/* How many cores this process may run on: taskset and containers leave it fewer than there are. */
unsigned hil_jobs_cores(void);

/* Runs those that are not done yet, in their order; 0 at a time: as many as hil_jobs_cores.
 * Signals must be caught: hil_catch_signals. */
void hil_jobs_run(struct hil_jobs *jobs, unsigned at_a_time);

/* Becomes `hiloco run SCENARIO` with these options, and its results in a folder of `into`. */
_Noreturn void hil_jobs_exec(const char *scenario, const struct hil_scenario_options *options,
                             const char *into, const char *folder);

/* The worst of them: what failed, then a limit that did, then what is not valid. */
int hil_jobs_status(const struct hil_jobs *jobs);

/* "", " (not valid)", " (a limit failed)", " (interrupted)", " (failed)" */
const char *hil_job_words(const struct hil_job *job);

#endif

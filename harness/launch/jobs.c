#include "jobs.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/reap.h"
#include "../h5/run_files.h"
#include "launcher.h"
#include "secret.h"

enum { JOBS_CORES_MAX = 8192 };

static double jobs_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* If this process is killed, the current runs end in an orderly way. */
static void jobs_follow(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(HIL_EXIT_FAILED);
}

static void jobs_exec(const char *scenario, const struct hil_scenario_options *o, const char *out)
{
    const char **argv = calloc(2 * (o->set_count + o->parameter_count) + 10, sizeof *argv);
    unsigned n = 0;

    if (!argv)
        return;
    argv[n++] = "hiloco";
    argv[n++] = "run";
    argv[n++] = scenario;
    argv[n++] = "--quiet";
    argv[n++] = "--out";
    argv[n++] = out;
    for (size_t i = 0; i < o->set_count; i++) {
        argv[n++] = "--set";
        argv[n++] = o->sets[i];
    }
    for (size_t i = 0; i < o->parameter_count; i++) {
        argv[n++] = "--parameters";
        argv[n++] = o->parameters[i];
    }
    if (o->realtime || o->virtual_time) {
        argv[n++] = "--mode";
        argv[n++] = o->realtime ? "realtime" : "virtual";
    }
    hil_secret_hand_on();
    execv("/proc/self/exe", (char *const *)argv);
}

void hil_jobs_exec(const char *scenario, const struct hil_scenario_options *options,
                   const char *into, const char *folder)
{
    char out[HIL_PATH_BYTES];

    if (hil_run_path(out, into, "%s", folder) == 0)
        jobs_exec(scenario, options, out);
    perror("hiloco");
    _exit(HIL_EXIT_FAILED);
}

static void jobs_end(struct hil_jobs *jobs, unsigned i, int status)
{
    struct hil_job *job = &jobs->at[i];

    job->status = status;
    job->done = true;
    job->seconds = jobs_now_s() - job->seconds;
    jobs->done++;
    if (jobs->ended)
        jobs->ended(jobs->arg, i);
}

static void jobs_start(struct hil_jobs *jobs, unsigned i)
{
    struct hil_job *job = &jobs->at[i];
    const pid_t self = getpid();

    fflush(NULL);
    job->seconds = jobs_now_s();
    job->pid = fork();
    if (job->pid == 0) {
        sigprocmask(SIG_SETMASK, &jobs->signals, NULL);
        jobs_follow(self);
        jobs->exec(jobs->arg, i);
    }
    if (job->pid < 0)
        jobs_end(jobs, i, HIL_EXIT_FAILED);
}

/* Tells the running jobs to end in an orderly way and leave their results. */
static void jobs_tell_to_end(const struct hil_jobs *jobs)
{
    for (unsigned i = 0; i < jobs->count; i++)
        if (jobs->at[i].pid > 0 && !jobs->at[i].done)
            kill(jobs->at[i].pid, SIGTERM);
}

static sigset_t jobs_child_signal(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    return set;
}

/* Returns how many jobs have ended since the last look. */
static unsigned jobs_look(struct hil_jobs *jobs)
{
    const unsigned before = jobs->done;
    int status;

    for (unsigned i = 0; i < jobs->count; i++)
        if (jobs->at[i].pid > 0 && !jobs->at[i].done && hil_reap(jobs->at[i].pid, WNOHANG, &status))
            jobs_end(jobs, i, WIFEXITED(status) ? WEXITSTATUS(status) : HIL_EXIT_FAILED);
    return jobs->done - before;
}

/* Waits until a job ends, so that the next can start at once. SIGCHLD is blocked so that none is
 * missed between the look and the wait. */
static unsigned jobs_wait(struct hil_jobs *jobs)
{
    const struct timespec moment = {.tv_nsec = 100000000}; /* interval of checks for an interrupt */
    const sigset_t child = jobs_child_signal();
    bool told = false;
    unsigned ended;

    while ((ended = jobs_look(jobs)) == 0) {
        if (hil_signal_status() && !told)
            jobs_tell_to_end(jobs);
        told = hil_signal_status();
        sigtimedwait(&child, NULL, &moment);
    }
    return ended;
}

static unsigned jobs_next(const struct hil_jobs *jobs, unsigned from, bool alone)
{
    while (from < jobs->count && (jobs->at[from].done || jobs->at[from].alone != alone))
        from++;
    return from;
}

static void jobs_run_those(struct hil_jobs *jobs, bool alone, unsigned at_a_time)
{
    unsigned running = 0, next = 0;

    for (;;) {
        next = jobs_next(jobs, next, alone);
        const bool more = next < jobs->count && !hil_signal_status();
        if (!more && running == 0)
            return;
        if (more && running < at_a_time) {
            jobs_start(jobs, next);
            running += jobs->at[next++].pid > 0;
            continue;
        }
        running -= jobs_wait(jobs);
    }
}

unsigned hil_jobs_cores(void)
{
    cpu_set_t *cores = CPU_ALLOC(JOBS_CORES_MAX);
    const size_t size = CPU_ALLOC_SIZE(JOBS_CORES_MAX);
    const bool known = cores && sched_getaffinity(0, size, cores) == 0;
    const int count = known ? CPU_COUNT_S(size, cores) : 1;

    CPU_FREE(cores);
    return count > 0 ? (unsigned)count : 1;
}

void hil_jobs_run(struct hil_jobs *jobs, unsigned at_a_time)
{
    const sigset_t child = jobs_child_signal();

    sigprocmask(SIG_BLOCK, &child, &jobs->signals);
    jobs_run_those(jobs, false, at_a_time ? at_a_time : hil_jobs_cores());
    jobs_run_those(jobs, true, 1);
    sigprocmask(SIG_SETMASK, &jobs->signals, NULL);
}

int hil_jobs_status(const struct hil_jobs *jobs)
{
    int status = HIL_EXIT_OK;

    for (unsigned i = 0; i < jobs->count; i++) {
        const struct hil_job *job = &jobs->at[i];
        if (!job->done || (job->status != HIL_EXIT_OK && job->status != HIL_EXIT_INVALID &&
                           job->status != HIL_EXIT_LIMIT))
            return HIL_EXIT_FAILED;
        if (job->status > status) /* a failed limit is worse than a run that is not valid */
            status = job->status;
    }
    return status;
}

const char *hil_job_words(const struct hil_job *job)
{
    return job->status == HIL_EXIT_OK        ? ""
           : job->status == HIL_EXIT_INVALID ? " (not valid)"
           : job->status == HIL_EXIT_LIMIT   ? " (a limit failed)"
           : hil_exit_by_signal(job->status) ? " (interrupted)"
                                             : " (failed)";
}

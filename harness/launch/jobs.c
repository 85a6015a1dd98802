#include "jobs.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher.h"

static double jobs_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* If this process is killed, the runs at hand end in order. */
static void jobs_follow(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(HIL_EXIT_FAILED);
}

void hil_jobs_exec(const char *const *arguments)
{
    execv("/proc/self/exe", (char *const *)arguments);
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
        jobs_follow(self);
        jobs->exec(jobs->arg, i);
    }
    if (job->pid < 0)
        jobs_end(jobs, i, HIL_EXIT_FAILED);
}

/* Those that run end in order, and leave their results. */
static void jobs_tell_to_end(const struct hil_jobs *jobs)
{
    for (unsigned i = 0; i < jobs->count; i++)
        if (jobs->at[i].pid > 0 && !jobs->at[i].done)
            kill(jobs->at[i].pid, SIGTERM);
}

/* Waits until one ends. */
static void jobs_wait(struct hil_jobs *jobs)
{
    const struct timespec moment = {.tv_nsec = 5000000};
    bool told = false;
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) == 0) {
        if (hil_signal_status() && !told)
            jobs_tell_to_end(jobs);
        told = hil_signal_status();
        nanosleep(&moment, NULL);
    }
    for (unsigned i = 0; i < jobs->count; i++)
        if (pid > 0 && jobs->at[i].pid == pid && !jobs->at[i].done)
            jobs_end(jobs, i, WIFEXITED(status) ? WEXITSTATUS(status) : HIL_EXIT_FAILED);
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
        const unsigned before = jobs->done;
        jobs_wait(jobs);
        running -= jobs->done - before;
    }
}

void hil_jobs_run(struct hil_jobs *jobs, unsigned at_a_time)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    jobs_run_those(jobs, false, at_a_time ? at_a_time : (unsigned)cores);
    jobs_run_those(jobs, true, 1);
}

int hil_jobs_status(const struct hil_jobs *jobs)
{
    int status = HIL_EXIT_OK;

    for (unsigned i = 0; i < jobs->count; i++) {
        const struct hil_job *job = &jobs->at[i];
        if (!job->done || (job->status != HIL_EXIT_OK && job->status != HIL_EXIT_INVALID &&
                           job->status != HIL_EXIT_LIMIT))
            return HIL_EXIT_FAILED;
        if (job->status > status) /* a limit that failed is above what is not valid */
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

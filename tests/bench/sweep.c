/*
 * Measures how many more points a second a sweep in virtual time makes on two cores than on one.
 * This includes the cost of starting and ending each point, and the sweep's own work.
 *
 * The limit that the machine sets is measured for comparison. Two cores of a virtual machine may be
 * two threads of one core, and they share caches in any case:
 *
 *      sweep_two_loops     loops that only compute, in registers
 *      sweep_two_runs      the sweep's runs, independent of each other
 *      sweep_two_cores     the sweep
 *
 * Each takes one core, then two, for the same work.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "hiloco.h"
#include "tests/temporary.h"

enum { SWEEP_POINTS = 8, SWEEP_CORES = 2, SWEEP_LOOP_TURNS = 50000000 };

/* Does one process's share of the work. Returns the result of bench_hiloco. */
struct sweep_work {
    const struct bench_options *options;
    const char *directory;
    unsigned cores;        /* of this measurement */
    unsigned first, count; /* this process's points */
};

/* --- the work of each measurement ------------------------------------------------------------- */

static int sweep_do_loops(const struct sweep_work *w)
{
    uint64_t state = w->first + 1;

    for (unsigned i = 0; i < w->count * SWEEP_LOOP_TURNS; i++)
        bench_random(&state);
    return state == 0;
}

static int sweep_do_run(const struct sweep_work *w, unsigned point)
{
    char scenario[PATH_MAX], out[PATH_MAX], seed[64];
    const char *const arguments[] = {
        "hiloco",       "run",   scenario, "--quiet", "--mode", "virtual", "--set",
        "duration_s=1", "--set", seed,     "--out",   out,      NULL,
    };

    snprintf(scenario, sizeof scenario, "%s/dcdc20.yaml", w->options->configs);
    snprintf(out, sizeof out, "%s/run-%u-of-%u", w->directory, point, w->cores);
    snprintf(seed, sizeof seed, "components.converter.tolerance.seed=%u", point + 1);
    return bench_hiloco(arguments);
}

static int sweep_do_runs(const struct sweep_work *w)
{
    int rc = 0;

    for (unsigned i = w->first; !rc && i < w->first + w->count; i++)
        rc = sweep_do_run(w, i);
    return rc;
}

static int sweep_do_sweep(const struct sweep_work *w)
{
    char scenario[PATH_MAX], out[PATH_MAX];
    const char *const arguments[] = {
        "hiloco",       "sweep",   scenario,
        "--mode",       "virtual", "--set",
        "duration_s=1", "--set",   "components.converter.tolerance.seed=1:8:1",
        "--out",        out,       NULL,
    };

    snprintf(scenario, sizeof scenario, "%s/dcdc20.yaml", w->options->configs);
    snprintf(out, sizeof out, "%s/sweep-of-%u", w->directory, w->cores);
    return bench_hiloco(arguments);
}

/* --- on one core, and on two ------------------------------------------------------------------ */

struct sweep_how {
    int (*share)(const struct sweep_work *work);
    bool split; /* a process for each core; else one process, which finds its cores itself */
};

/* Restricts this process, and those that it starts, to the first `count` cores. */
static int sweep_confine(const struct bench_options *o, unsigned first, unsigned count)
{
    cpu_set_t cores;

    CPU_ZERO(&cores);
    for (unsigned i = first; i < first + count; i++)
        CPU_SET((unsigned)o->cpus[i], &cores);
    return sched_setaffinity(0, sizeof cores, &cores) ? -errno : 0;
}

static pid_t sweep_start(const struct sweep_how *how, const struct sweep_work *w, unsigned core,
                         unsigned cores)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        _exit(sweep_confine(w->options, core, cores) || how->share(w));
    return pid;
}

/* Waits for this process, and not for others that the benchmarks have started, such as servers. */
static int sweep_await(pid_t pid)
{
    int status;

    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return -errno;
    return status ? -EIO : 0;
}

/* Returns points a second. */
static int sweep_rate(const struct sweep_how *how, const struct sweep_work *all, double *rate)
{
    const unsigned processes = how->split ? all->cores : 1;
    const uint64_t begin = bench_now();
    pid_t pids[SWEEP_CORES];
    int rc = 0;

    for (unsigned i = 0; i < processes; i++) {
        struct sweep_work share = *all;
        share.count = SWEEP_POINTS / processes;
        share.first = i * share.count;
        pids[i] = sweep_start(how, &share, i, all->cores / processes);
    }
    for (unsigned i = 0; i < processes; i++) {
        const int ended = sweep_await(pids[i]);
        rc = rc ? rc : ended;
    }
    *rate = SWEEP_POINTS / ((double)(bench_now() - begin) * 1e-9);
    return rc;
}

static const struct sweep_how sweep_hows[] = {
    {sweep_do_loops, true},
    {sweep_do_runs, true},
    {sweep_do_sweep, false},
};

static int measure_sweep(const struct benchmark *b, const struct bench_options *o,
                         struct bench_sample *sample)
{
    char directory[TEMPORARY_SIZE];
    struct sweep_work work = {.options = o, .directory = directory, .cores = 1};

    if (!temporary_folder(directory))
        return -errno;
    int rc = sweep_rate(&sweep_hows[b->parameter], &work, &sample->against);
    work.cores = SWEEP_CORES;
    if (!rc)
        rc = sweep_rate(&sweep_hows[b->parameter], &work, &sample->value);
    bench_remove(directory);
    return rc;
}

const struct benchmark sweep_benchmarks[] = {
    {.name = "sweep_two_loops",
     .unit = "1/s",
     .against = "one core",
     .more = true,
     .cores = SWEEP_CORES,
     .parameter = 0,
     .measure = measure_sweep},
    {.name = "sweep_two_runs",
     .unit = "1/s",
     .against = "one core",
     .more = true,
     .cores = SWEEP_CORES,
     .parameter = 1,
     .measure = measure_sweep},
    {.name = "sweep_two_cores",
     .unit = "1/s",
     .against = "one core",
     .target_ratio = 1.9,
     .more = true,
     .cores = SWEEP_CORES,
     .parameter = 2,
     .measure = measure_sweep},
    {0},
};

/*
 * A sweep in virtual time: how many more points a second two jobs come to than one does. What a
 * point costs to begin and to end is in it, and what the sweep does alone.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "hiloco.h"

enum { SWEEP_POINTS = 8 };

/* Points a second. */
static int sweep_rate(const struct bench_options *o, const char *directory, const char *jobs,
                      double *rate)
{
    char scenario[PATH_MAX];
    const char *const arguments[] = {
        "hiloco",       "sweep",   scenario,
        "--mode",       "virtual", "--set",
        "duration_s=1", "--set",   "converters.tolerance.seed=1:8:1",
        "--jobs",       jobs,      "--out",
        directory,      NULL,
    };

    snprintf(scenario, sizeof scenario, "%s/dcdc20.yaml", o->configs);
    const uint64_t begin = bench_now();
    const int status = bench_hiloco(arguments);
    *rate = SWEEP_POINTS / ((double)(bench_now() - begin) * 1e-9);
    return status > 0 ? -EIO : status;
}

static int measure_sweep(const struct benchmark *b, const struct bench_options *o,
                         struct bench_sample *sample)
{
    char directory[] = "/tmp/loco-bench-XXXXXX";

    (void)b;
    if (!mkdtemp(directory))
        return -errno;
    int rc = sweep_rate(o, directory, "1", &sample->against);
    if (!rc)
        rc = sweep_rate(o, directory, "2", &sample->value);
    bench_remove(directory);
    return rc;
}

const struct benchmark sweep_benchmarks[] = {
    {.name = "sweep_two_jobs",
     .unit = "1/s",
     .against = "one job",
     .target_ratio = 1.9,
     .more = true,
     .cores = 2,
     .measure = measure_sweep},
    {0},
};

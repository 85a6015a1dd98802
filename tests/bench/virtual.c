/*
 * Measures how fast the harness simulates in virtual time. The measured time is processor time of
 * all of the process's threads (including the recorder's writer): the time that one core would
 * take.
 */
#include <errno.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/run/virtual_time.h"
#include "scenarios.h"

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Measures from the loading of the scenario's file to the finished trace. */
static int simulate(const struct bench_options *o, const char *file, unsigned converters,
                    double duration_s, double *seconds)
{
    struct bench_run run;
    char duration[40], count[40];
    const char *const sets[] = {duration, count};
    double begin = cpu_seconds();

    snprintf(duration, sizeof duration, "duration_s=%g", duration_s);
    snprintf(count, sizeof count, "nodes.converter.count=%u", converters);
    int rc = bench_run_open(&run, o, file, true, sets, 2);
    if (rc)
        return rc;
    rc = bench_run_record(&run);
    if (!rc)
        rc = hil_recorder_start(run.run.recorder);
    if (!rc)
        rc = hil_virtual_run(&run.run);
    bench_run_close(&run);
    *seconds = cpu_seconds() - begin;
    return rc;
}

static const double STEPS_PER_S = 1e5; /* of one converter, at 10 us */

/* --- the paper's scenario --------------------------------------------------------------------- */

static int measure_scenario(const struct benchmark *b, const struct bench_options *o,
                            struct bench_sample *sample)
{
    (void)b;
    sample->against = 1;
    return simulate(o, "dcdc20.yaml", 20, 5, &sample->value);
}

static int measure_rate(const struct benchmark *b, const struct bench_options *o,
                        struct bench_sample *sample)
{
    double seconds;
    int rc = simulate(o, "dcdc20.yaml", 20, 1, &seconds);

    (void)b;
    sample->value = 20 * STEPS_PER_S / seconds * 1e-6;
    return rc;
}

/* --- the cost of a step ----------------------------------------------------------------------- */

/* Returns the ns of a converter's step, without the cost of starting and ending the run. */
static int step_cost(const struct bench_options *o, unsigned converters, double from_s, double to_s,
                     double *ns)
{
    const char *file = "dcdc20-nominal.yaml";
    double less, more;
    int rc = simulate(o, file, converters, from_s, &less);

    if (!rc)
        rc = simulate(o, file, converters, to_s, &more);
    *ns = (more - less) / ((to_s - from_s) * STEPS_PER_S * converters) * 1e9;
    return rc;
}

/* Compares the same number of steps, made by many converters and by 20. */
static int measure_many(const struct benchmark *b, const struct bench_options *o,
                        struct bench_sample *sample)
{
    const double share = 20.0 / b->parameter;
    int rc = step_cost(o, 20, 0.1, 3.1, &sample->against);

    return rc ? rc : step_cost(o, b->parameter, 0.1 * share, 3.1 * share, &sample->value);
}

/*
 * What the memory alone would cost. A converter's step touches 18 lines, of which it writes 6, and
 * appends 12 words to its ring; the rings have 32 MiB. The raw loop does only that. Its lines lie
 * in a row, which is as good as it can be.
 */
enum { RAW_LINES = 18, RAW_WRITTEN = 6, RAW_AHEAD = 2, RAW_ROW = 12, RAW_STEPS = 2000000 };

static const size_t RAW_RINGS_BYTES = (size_t)32 << 20;

struct virtual_raw_line {
    alignas(64) volatile uint64_t words[8];
};

static uint64_t raw_step(struct virtual_raw_line *lines, struct virtual_raw_line *ahead,
                         volatile uint64_t *row)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < RAW_LINES; i++)
        __builtin_prefetch((void *)ahead[i].words, 1);
    __builtin_prefetch((void *)(row + RAW_AHEAD * RAW_ROW), 1);
    for (unsigned i = 0; i < RAW_LINES; i++)
        sum += lines[i].words[0];
    for (unsigned i = 0; i < RAW_WRITTEN; i++)
        lines[i].words[1] = sum;
    for (unsigned i = 0; i < RAW_ROW; i++)
        row[i] = sum;
    return sum;
}

/* The ns of a converter's step in the raw loop. */
static int raw_cost_once(unsigned converters, double *ns)
{
    static volatile uint64_t seen;
    const size_t instant = converters * RAW_ROW * sizeof(uint64_t); /* bytes in the rings */
    const size_t lines_size = converters * RAW_LINES * sizeof(struct virtual_raw_line);
    struct virtual_raw_line *lines = aligned_alloc(64, lines_size);
    uint64_t *rings = aligned_alloc(64, RAW_RINGS_BYTES + instant);

    if (lines && rings) {
        memset((void *)lines, 0, lines_size);
        memset(rings, 0, RAW_RINGS_BYTES + instant);
        const double begin = cpu_seconds();
        for (size_t n = 0; n < RAW_STEPS / converters; n++) {
            volatile uint64_t *row = rings + n % (RAW_RINGS_BYTES / instant) * converters * RAW_ROW;
            for (unsigned i = 0; i < converters; i++, row += RAW_ROW)
                seen += raw_step(lines + i * RAW_LINES,
                                 lines + (i + RAW_AHEAD) % converters * RAW_LINES, row);
        }
        *ns = (cpu_seconds() - begin) / RAW_STEPS * 1e9;
    }
    const int rc = lines && rings ? 0 : -ENOMEM;
    free(lines);
    free(rings);
    return rc;
}

/* The least of several, as for a difference of a few ns one disturbed run is too many. */
static int raw_cost(unsigned converters, double *least)
{
    enum { TIMES = 5 };
    int rc = raw_cost_once(converters, least);

    for (unsigned i = 1; !rc && i < TIMES; i++) {
        double ns = *least;
        rc = raw_cost_once(converters, &ns);
        *least = ns < *least ? ns : *least;
    }
    return rc;
}

/* Like measure_many, but adds what the memory of many converters costs more than that of 20. The
 * ratio tells what a better layout of the memory could still gain. */
static int measure_many_raw(const struct benchmark *b, const struct bench_options *o,
                            struct bench_sample *sample)
{
    double few, many;
    int rc = measure_many(b, o, sample);

    if (!rc)
        rc = raw_cost(20, &few);
    if (!rc)
        rc = raw_cost(b->parameter, &many);
    if (!rc)
        sample->against += many - few;
    return rc;
}

/* Compares a long run with a short one. */
static int measure_long(const struct benchmark *b, const struct bench_options *o,
                        struct bench_sample *sample)
{
    const double scale = 1e9 / (STEPS_PER_S * b->parameter);
    int rc = simulate(o, "dcdc20-nominal.yaml", b->parameter, 0.5, &sample->against);

    if (!rc)
        rc = simulate(o, "dcdc20-nominal.yaml", b->parameter, 5, &sample->value);
    sample->against *= scale / 0.5;
    sample->value *= scale / 5;
    return rc;
}

/* --- the cost of starting and ending a run ---------------------------------------------------- */

static const double SET_UP_S = 1e-4; /* ten steps */

/* Runs in a process of its own, to measure its peak memory. */
static int set_up(const struct bench_options *o, unsigned converters, double *seconds, double *mib)
{
    int result[2], status;
    struct rusage usage;

    if (pipe(result))
        return -errno;
    pid_t child = fork();
    if (child == 0) {
        int rc = simulate(o, "dcdc20-nominal.yaml", converters, SET_UP_S, seconds);
        _exit(rc || write(result[1], seconds, sizeof *seconds) < 0);
    }
    close(result[1]);
    ssize_t got = child < 0 ? -1 : read(result[0], seconds, sizeof *seconds);
    close(result[0]);
    if (child < 0 || wait4(child, &status, 0, &usage) < 0)
        return -errno;
    *mib = (double)usage.ru_maxrss / 1024;
    return got == sizeof *seconds && status == 0 ? 0 : -EIO;
}

/* The goals are 0.3 s for 1,000 converters, and 4 s for 10,000. */
static int measure_set_up(const struct benchmark *b, const struct bench_options *o,
                          struct bench_sample *sample)
{
    double mib;

    sample->against = b->parameter == 10000 ? 4 : 0.3;
    return set_up(o, b->parameter, &sample->value, &mib);
}

static int measure_memory(const struct benchmark *b, const struct bench_options *o,
                          struct bench_sample *sample)
{
    double seconds;

    sample->against = 2048;
    return set_up(o, b->parameter, &seconds, &sample->value);
}

/* Compares the us per converter of many converters with those of 250. */
static int measure_growth(const struct benchmark *b, const struct bench_options *o,
                          struct bench_sample *sample)
{
    double seconds, mib;
    int rc = set_up(o, 250, &seconds, &mib);

    sample->against = seconds / 250 * 1e6;
    if (!rc)
        rc = set_up(o, b->parameter, &seconds, &mib);
    sample->value = seconds / b->parameter * 1e6;
    return rc;
}

const struct benchmark virtual_benchmarks[] = {
    {.name = "virtual_5_s_20_converters",
     .unit = "s",
     .against = "goal",
     .target_ratio = 1,
     .cores = 1,
     .measure = measure_scenario},
    {.name = "virtual_converter_steps",
     .unit = "M/s",
     .more = true,
     .cores = 1,
     .measure = measure_rate},
    {.name = "virtual_step_100_converters",
     .unit = "ns",
     .against = "with 20",
     .target_ratio = 1.5,
     .cores = 1,
     .parameter = 100,
     .measure = measure_many},
    {.name = "virtual_step_1000_converters",
     .unit = "ns",
     .against = "with 20",
     .target_ratio = 1.2,
     .cores = 1,
     .parameter = 1000,
     .measure = measure_many},
    {.name = "virtual_step_1000_raw",
     .unit = "ns",
     .against = "20 + raw lines",
     .cores = 1,
     .parameter = 1000,
     .measure = measure_many_raw},
    {.name = "virtual_step_long_run",
     .unit = "ns",
     .against = "short run",
     .target_ratio = 1.1,
     .cores = 1,
     .parameter = 20,
     .measure = measure_long},
    {.name = "virtual_set_up_20_converters",
     .unit = "s",
     .cores = 1,
     .parameter = 20,
     .measure = measure_set_up},
    {.name = "virtual_memory_20_converters",
     .unit = "MiB",
     .against = "goal",
     .target_ratio = 1,
     .cores = 1,
     .parameter = 20,
     .measure = measure_memory},
    {.name = "virtual_set_up_250_converters",
     .unit = "s",
     .cores = 1,
     .parameter = 250,
     .measure = measure_set_up},
    {.name = "virtual_memory_250_converters",
     .unit = "MiB",
     .against = "goal",
     .target_ratio = 1,
     .cores = 1,
     .parameter = 250,
     .measure = measure_memory},
    {.name = "virtual_set_up_1000_converters",
     .unit = "s",
     .against = "goal",
     .target_ratio = 1,
     .cores = 1,
     .parameter = 1000,
     .measure = measure_set_up},
    {.name = "virtual_memory_1000_converters",
     .unit = "MiB",
     .against = "goal",
     .target_ratio = 1,
     .cores = 1,
     .parameter = 1000,
     .measure = measure_memory},
    {.name = "virtual_set_up_growth_1000_converters",
     .unit = "us",
     .against = "with 250",
     .target_ratio = 1.5,
     .cores = 1,
     .parameter = 1000,
     .measure = measure_growth},
    {.name = "virtual_set_up_10000_converters",
     .unit = "s",
     .against = "goal",
     .target_ratio = 1,
     .cores = 1,
     .parameter = 10000,
     .measure = measure_set_up},
    {.name = "virtual_memory_10000_converters",
     .unit = "MiB",
     .against = "goal",
     .target_ratio = 1,
     .cores = 1,
     .parameter = 10000,
     .measure = measure_memory},
    {.name = "virtual_set_up_growth_10000_converters",
     .unit = "us",
     .against = "with 250",
     .target_ratio = 1.5,
     .cores = 1,
     .parameter = 10000,
     .measure = measure_growth},
    {0},
};

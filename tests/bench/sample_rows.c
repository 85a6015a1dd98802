/* Benchmarks that measure nothing and give numbers that are known: tests/run/test_bench.c runs them
 * in build/bench-sample. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "tests/temporary.h"

/* The n-th run gives the n-th number of $SAMPLE_VALUES, or else n. */
static int measure_count(const struct benchmark *b, const struct bench_options *o,
                         struct bench_sample *sample)
{
    static unsigned runs;
    const char *values = getenv("SAMPLE_VALUES");

    (void)b, (void)o;
    sample->value = ++runs;
    for (unsigned i = 0; values && i < runs; i++) {
        char *end;
        sample->value = strtod(values, &end);
        values = end;
    }
    sample->against = sample->value * 2;
    return 0;
}

static int measure_long(const struct benchmark *b, const struct bench_options *o,
                        struct bench_sample *sample)
{
    (void)b, (void)o;
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 1}, NULL);
    *sample = (struct bench_sample){.value = 3, .against = 1};
    return 0;
}

/* The first run fills what the others need, too. */
static int measure_filling(const struct benchmark *b, const struct bench_options *o,
                           struct bench_sample *sample)
{
    static bool filled;

    (void)b, (void)o;
    if (!filled) {
        nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 1}, NULL);
        sample->set_up_s = 1;
    }
    filled = true;
    sample->value = 4;
    return 0;
}

static int measure_left_out(const struct benchmark *b, const struct bench_options *o,
                            struct bench_sample *sample)
{
    (void)b, (void)o;
    *sample = (struct bench_sample){.value = 1, .against = 2, .left_out = 0.25};
    return 0;
}

static int measure_failing(const struct benchmark *b, const struct bench_options *o,
                           struct bench_sample *sample)
{
    (void)b, (void)o, (void)sample;
    return -EIO;
}

/* Leaves a group and does not heed SIGTERM. Holds a lock on $SAMPLE_LOCK, and writes into it where
 * it has a file. */
static void become_stubborn(const char *file)
{
    setpgid(0, 0);
    signal(SIGTERM, SIG_IGN);
    const int fd = open(getenv("SAMPLE_LOCK"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (flock(fd, LOCK_EX) || write(fd, file, strlen(file)) < 0)
        _exit(1);
    for (;;)
        pause();
}

/* The second run never ends. It leaves a process and a file behind. */
static int measure_endless(const struct benchmark *b, const struct bench_options *o,
                           struct bench_sample *sample)
{
    static unsigned runs;
    char file[TEMPORARY_SIZE];

    (void)b, (void)o;
    sample->value = 7;
    if (++runs < 2)
        return 0;
    if (temporary_file(file) >= 0 && fork() == 0)
        become_stubborn(file);
    for (;;)
        pause();
}

static const struct benchmark sample_benchmarks[] = {
    {.name = "count",
     .unit = "ns",
     .against = "twice",
     .target_ratio = 0.6,
     .measure = measure_count},
    {.name = "long", .unit = "ns", .against = "one", .target_ratio = 2, .measure = measure_long},
    {.name = "filling", .unit = "ns", .measure = measure_filling},
    {.name = "left_out",
     .unit = "ns",
     .against = "goal",
     .target_ratio = 1,
     .measure = measure_left_out},
    {.name = "failing", .unit = "ns", .measure = measure_failing},
    {.name = "many_cores", .unit = "ns", .cores = 1000, .measure = measure_failing},
    {.name = "endless", .unit = "ns", .measure = measure_endless},
    {0},
};

const struct benchmark *const bench_tables[] = {sample_benchmarks, NULL};
const char *const bench_quick[] = {"count", "left_out", NULL};

/*
 * Benchmarks. Each measures one thing, usually in comparison with another: a rival, the physical
 * limit, or a goal. Both are measured in one run of one process group, in turns, so that both see
 * the same noise.
 *
 * To add a benchmark, add a row to a table in a file here. To add a table, add its name to tables.c
 * (or to rdma_tables.c, if it needs an RDMA device). sample_rows.c has rows of which the tests know
 * what they give.
 */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_ONLY_MAX = 16 };

struct bench_options {
    unsigned runs;                    /* of each benchmark; 0: as many as passes.h says */
    double seconds;                   /* approximate length of a run, where that can be chosen */
    const char *only[BENCH_ONLY_MAX]; /* patterns of names; none: all */
    unsigned only_count;
    bool quick;          /* only the benchmarks of bench_quick */
    const char *out;     /* the JSON file; NULL: none */
    const char *configs; /* the directory of scenarios */
    const char *beside;  /* the other build's program; NULL: none */
    bool list, serve;
    uint64_t accounts; /* of the lock benchmarks' transfers, on all nodes together */
    uint64_t keys;     /* room in the key-value stores; 4 of 5 keys are present */
    int cpus[2];       /* two cores of this machine */
    unsigned cpu_count;
};

enum { BENCH_WAITS = 3 }; /* quantiles of the waits: 50, 99.9 and 99.99 percent */

/* The result of one run. */
struct bench_sample {
    double value;
    double against; /* value of the comparison */

    /* Optional: */
    double longest, longest_against; /* longest wait, us */
    double waits[BENCH_WAITS];       /* quantiles, us */
    double passed[BENCH_WAITS];      /* quantiles of how often others overtook a waiter */
    double left_out;                 /* the share of their steps that its loops left out */
    double set_up_s;                 /* of the run's seconds; the next runs have it already */
    const char *absent;              /* why there is no `against`; a string literal */
};

struct benchmark {
    const char *name, *unit;
    const char *against; /* name of the comparison; NULL: none */
    double target_ratio; /* greatest value / against; with `more` the least; 0: none */
    bool more;           /* more is better */
    unsigned cores;      /* cores that it needs */
    bool polled;         /* a separate thread polls completions; else inline */
    unsigned parameter;  /* for measure(): bytes, threads ... */
    /* One run. Returns 0 or a negative errno. */
    int (*measure)(const struct benchmark *self, const struct bench_options *options,
                   struct bench_sample *sample);
};

/* The tables, each ended by an empty row. */
extern const struct benchmark latency_benchmarks[], step_benchmarks[], fabric_benchmarks[],
    virtual_benchmarks[], sweep_benchmarks[], atomic_benchmarks[], collective_benchmarks[],
    queue_benchmarks[], lock_benchmarks[], kvstore_benchmarks[], tracing_benchmarks[],
    tcp_benchmarks[], converter_benchmarks[], circuit_benchmarks[], rdma_benchmarks[];

/* The tables of this program, ended by NULL. */
extern const struct benchmark *const bench_tables[];

/* Its rows of the README's table, ended by NULL. tests/gates compares both. */
extern const char *const bench_quick[];

/* Calibrates the clock below. Must be called before any child process is made. */
void bench_prepare(void);

/* The time in ns, for measuring short durations. Everything that was begun before has ended by
 * then, except stores that the core has yet to send off. */
uint64_t bench_now(void);

/* The same without that wait: cheaper, for measuring long durations. */
uint64_t bench_glance(void);

/* xorshift64; *state is not 0. */
static inline uint64_t bench_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Summarises a run's measurements by their first quartile: on a shared machine the upper half says
 * more about the other users. Sorts the values. */
double bench_quartile(double *values, size_t count);

/* The same by their median, for comparison with programs that report medians. Sorts the values. */
double bench_median(double *values, size_t count);

#endif

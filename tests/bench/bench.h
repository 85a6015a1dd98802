/*
 * Benchmarks. Each measures one thing, most of them beside another: a rival, the physical
 * limit, or a mark that it is to reach. The two are measured in one run of one process
 * group, in turns, so that both see the same noise.
 *
 * To add one: a row in a table of a file here, and that table's name in tables.c (or, for what
 * an RDMA device is needed for, in rdma_tables.c).
 */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_options {
    unsigned runs;       /* of each benchmark; their median counts */
    double seconds;      /* about so long a run, where that can be chosen */
    const char *only;    /* a pattern of names; NULL: all */
    const char *out;     /* the JSON file; NULL: none */
    const char *configs; /* the directory of scenarios */
    bool list;
    uint64_t accounts; /* of the lock benchmarks' transfers, at all nodes together */
    uint64_t keys;     /* that the key-value stores have room for; 4 of 5 are there */
    int cpus[2];       /* two cores of this machine */
    unsigned cpu_count;
};

enum { BENCH_WAITS = 3 }; /* of all waits, 50, 99.9 and 99.99 percent are at most so long */

/* What one run gives. */
struct bench_sample {
    double value;
    double against; /* of what it is measured beside */

    /* Optional: */
    double longest, longest_against; /* us that one waited at most */
    double waits[BENCH_WAITS];       /* us */
    double passed[BENCH_WAITS];      /* by so many others one was passed meanwhile */
    const char *absent;              /* why there is no `against`; a literal */
};

struct benchmark {
    const char *name, *unit;
    const char *against; /* what it is measured beside; NULL: nothing */
    double target_ratio; /* value / against at most; with `more` at least; 0: no target */
    bool more;           /* more is better */
    unsigned cores;      /* that it needs */
    bool polled;         /* completions, by a thread beside; else inline */
    unsigned parameter;  /* measure()'s own: bytes, threads ... */
    /* One run. Returns 0 or a negative errno. */
    int (*measure)(const struct benchmark *self, const struct bench_options *options,
                   struct bench_sample *sample);
};

/* The tables, each ended by an empty row. */
extern const struct benchmark latency_benchmarks[], step_benchmarks[], fabric_benchmarks[],
    virtual_benchmarks[], sweep_benchmarks[], atomic_benchmarks[], collective_benchmarks[],
    queue_benchmarks[], lock_benchmarks[], kvstore_benchmarks[], tracing_benchmarks[],
    tcp_benchmarks[], converter_benchmarks[], rdma_benchmarks[];

/* Those of this program, ended by NULL. */
extern const struct benchmark *const bench_tables[];

/* ns, for the length of something short: what was begun before has ended by then (but for
 * stores, that the core has still to send off). */
uint64_t bench_now(void);

/* The same without waiting for anything: cheaper, for the length of something long. */
uint64_t bench_glance(void);

/* xorshift64; *state is not 0. */
static inline uint64_t bench_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A run's own measurements, in one number: the first quartile, for on a machine that others
 * use too the upper half tells more of them. Sorts them. */
double bench_quartile(double *values, size_t count);

/* The same for what is measured beside a program that gives its median. */
double bench_median(double *values, size_t count);

/* Calibrates bench_now(); before any child process is made. */
void bench_prepare(void);

#endif

/* The result of a benchmark's runs. */
#ifndef TESTS_BENCH_RESULT_H
#define TESTS_BENCH_RESULT_H

#include "bench.h"

enum { RESULT_RUNS_MAX = 1000 };

/* It is in memory that two processes share. */
struct result {
    struct benchmark benchmark; /* beside another build: with that as the comparison */
    double values[RESULT_RUNS_MAX], against[RESULT_RUNS_MAX], ratios[RESULT_RUNS_MAX];
    double longest[RESULT_RUNS_MAX], longest_against[RESULT_RUNS_MAX];
    double waits[BENCH_WAITS][RESULT_RUNS_MAX], passed[BENCH_WAITS][RESULT_RUNS_MAX];
    unsigned runs;
    double seconds;  /* the first run took so long */
    double left_out; /* the greatest share of the steps that a run's loops left out */
    bool ended;      /* there will be no more runs */
    bool failed;
    const char *absent; /* why the comparison is missing; NULL: it is not */
    char skipped[96];   /* why there is no result; "": there is one, or none yet */
};

/* The summary of a result's runs. */
struct digest {
    double value, min, max;
    double against, ratio; /* NAN: no comparison */
    double longest, longest_against;
    double waits[BENCH_WAITS], passed[BENCH_WAITS];
    int met; /* -1: no target, or nothing to compare with */
};

void result_add(struct result *result, const struct bench_sample *sample);

void result_skip(struct result *result, bool failed, const char *why, ...)
    __attribute__((format(printf, 3, 4)));

/* Leaves the result as it is. There is a run at least. */
struct digest result_digest(const struct result *result);

#endif

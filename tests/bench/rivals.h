/*
 * Other people's programs, which ours are measured beside: OpenMPI's remote memory access and
 * collectives (by the small programs in rivals/), and a Redis cluster.
 *
 * Each function returns 0 or a negative errno. Where a rival is not here it is no error: it sets
 * sample->absent, and nothing else.
 */
#ifndef TESTS_BENCH_RIVALS_H
#define TESTS_BENCH_RIVALS_H

#include "bench.h"

/* Runs `program` of rivals/ with the arguments on `ranks` ranks, and reads the `count` numbers
 * that it prints. */
int rival_mpi(struct bench_sample *sample, unsigned ranks, double *numbers, unsigned count,
              const char *program, const char *arguments, ...)
    __attribute__((format(printf, 6, 7)));

/* A figure that `program` of perftest gives between two processes of this machine, over
 * $RDMA_DEVICE: that column of its row of results. */
int rival_perftest(const struct bench_options *options, struct bench_sample *sample, double *number,
                   unsigned column, const char *program, const char *arguments, ...)
    __attribute__((format(printf, 6, 7)));

/*
 * Operations a second of a Redis cluster of two masters, on loopback and without persistence,
 * under redis-benchmark with the window as its pipeline. `writes`, of 0 to 1, is the share of
 * SETs; the others are GETs. Keys are drawn uniformly from those that are there: redis-benchmark
 * knows nothing else. The cluster is started and filled by the first call, and ends with the
 * process.
 */
int rival_redis(const struct bench_options *options, struct bench_sample *sample, unsigned window,
                double writes, double *per_second);

#endif

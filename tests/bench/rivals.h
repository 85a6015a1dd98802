/*
 * Programs of others with which ours is compared: OpenMPI's remote memory access and collectives
 * (with the small programs in rivals/), perftest, and a Redis cluster.
 *
 * Each function returns 0 or a negative errno. A rival that is not installed is not an error: the
 * function then only sets sample->absent. The same where another build is the comparison.
 */
#ifndef TESTS_BENCH_RIVALS_H
#define TESTS_BENCH_RIVALS_H

#include "bench.h"

/* Runs `program` of rivals/ with the arguments on `ranks` ranks, and reads the `count` numbers
 * that it prints. */
int rival_mpi(const struct bench_options *options, struct bench_sample *sample, unsigned ranks,
              double *numbers, unsigned count, const char *program, const char *arguments, ...)
    __attribute__((format(printf, 7, 8)));

/* Measures one figure with `program` of perftest, between two processes of this machine over
 * $RDMA_DEVICE: that column of its row of results. */
int rival_perftest(const struct bench_options *options, struct bench_sample *sample, double *number,
                   unsigned column, const char *program, const char *arguments, ...)
    __attribute__((format(printf, 6, 7)));

/*
 * Measures the operations a second of a Redis cluster of two masters, on loopback and without
 * persistence, with redis-benchmark and the window as its pipeline. `writes`, from 0 to 1, is the
 * share of SETs; the rest are GETs. Keys are drawn uniformly from those present, as redis-benchmark
 * supports nothing else. The first call starts and fills the cluster, which ends with the process.
 */
int rival_redis(const struct bench_options *options, struct bench_sample *sample, unsigned window,
                double writes, double *per_second);

#endif

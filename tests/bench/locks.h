/* The lock benchmarks without their rival. */
#ifndef TESTS_BENCH_LOCKS_H
#define TESTS_BENCH_LOCKS_H

#include "bench.h"

/* benchmark.parameter: the threads of each node, and the benchmark that they run. */
enum {
    LOCKS_THREADS = 7,
    LOCKS_TRANSFERS = 8,
    LOCKS_STRICT = 16,
    LOCKS_QUEUED = 32, /* a queue_lock */
    LOCKS_SHARED = 64, /* a rw_lock; one section in ten writes */
};

/* Sets the value to sections a second, in millions. */
int locks_measure(const struct benchmark *benchmark, const struct bench_options *options,
                  struct bench_sample *sample);

#endif

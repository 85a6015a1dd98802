/* The lock benchmarks without their rival. */
#ifndef TESTS_BENCH_LOCKS_H
#define TESTS_BENCH_LOCKS_H

#include "bench.h"

/* benchmark.parameter: the threads of each node, and the benchmark that they run. */
enum { LOCKS_THREADS = 7, LOCKS_TRANSFERS = 8, LOCKS_STRICT = 16 };

/* Sets the value to sections a second, in millions. */
int locks_measure(const struct benchmark *benchmark, const struct bench_options *options,
                  struct bench_sample *sample);

#endif

/* The lock benchmarks, without a rival beside them. */
#ifndef TESTS_BENCH_LOCKS_H
#define TESTS_BENCH_LOCKS_H

#include "bench.h"

/* benchmark.parameter: threads of each node, and what they do. */
enum { LOCKS_THREADS = 7, LOCKS_TRANSFERS = 8, LOCKS_STRICT = 16 };

/* The value is sections a second, in millions. */
int locks_measure(const struct benchmark *benchmark, const struct bench_options *options,
                  struct bench_sample *sample);

#endif

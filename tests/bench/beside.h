/*
 * Two builds of the benchmarks, measured in turns. Each is a process that waits for the name of a
 * benchmark, runs it once, and answers with its result in a line of JSON. So each build fills its
 * stores and its Redis once.
 */
#ifndef TESTS_BENCH_BESIDE_H
#define TESTS_BENCH_BESIDE_H

#include "bench.h"

/* Makes the benchmark one of two builds: this one, and in comparison the other. */
void beside_describe(struct benchmark *benchmark, const struct bench_options *options);

/* Starts both. Returns 0 or a negative errno, after a line on stderr. */
int beside_open(const struct bench_options *options);

/* Answers until there are no more names. Returns the program's exit status. */
int beside_serve(const struct bench_options *options);

#endif

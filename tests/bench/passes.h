/* Measuring many benchmarks several times: in passes, as noise comes in waves. */
#ifndef TESTS_BENCH_PASSES_H
#define TESTS_BENCH_PASSES_H

#include "result.h"

/* One run more of a benchmark, unless the machine lacks what it needs. */
void passes_run(struct result *result, const struct bench_options *options);

/*
 * Runs each as often as the options say: else those whose first run lasts over a second once, and
 * the others five times; beside another build all five times. Prints a line for each run, and the
 * result with the last one. Calls `save` after each pass; if that returns an error, returns it.
 */
int passes_take(struct result *results, unsigned count, const struct bench_options *options,
                int (*save)(void *arg), void *arg);

#endif

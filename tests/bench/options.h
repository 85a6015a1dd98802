/* The command line of the benchmarks' programs. */
#ifndef TESTS_BENCH_OPTIONS_H
#define TESTS_BENCH_OPTIONS_H

#include "bench.h"

/* Returns 0, 1 when there is nothing more to do, or -EINVAL after one line on stderr. */
int options_parse(struct bench_options *options, int argc, char **argv);

#endif

/* Which benchmarks are measured. */
#ifndef TESTS_BENCH_ROWS_H
#define TESTS_BENCH_ROWS_H

#include "bench.h"

enum { ROWS_MAX = 1000 };

/* Returns how many the options choose, in the order of the tables, or -EINVAL after one line on
 * stderr: a pattern without a benchmark is a mistake. */
int rows_choose(const struct bench_options *options, const struct benchmark *rows[ROWS_MAX]);

/* Returns NULL if none is named so. */
const struct benchmark *rows_find(const char *name);

#endif

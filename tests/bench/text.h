/* The results as lines of text. */
#ifndef TESTS_BENCH_TEXT_H
#define TESTS_BENCH_TEXT_H

#include "result.h"

void text_heading(void);

/* A benchmark has ended. */
void text_result(const struct result *result);

/* It has not: a run of several has. */
void text_run(const struct result *result, unsigned runs);

#endif

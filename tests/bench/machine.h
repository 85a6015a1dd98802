/* The machine that the benchmarks ran on. */
#ifndef TESTS_BENCH_MACHINE_H
#define TESTS_BENCH_MACHINE_H

#include <jansson.h>

#include "bench.h"

/* A new object of facts, each a string or a number. */
json_t *machine_facts(void);

/* Prints them, a line each. */
void machine_print(const json_t *facts);

/* Finds two CPUs that this process may use and that are not threads of the same core. */
void machine_cores(struct bench_options *options);

#endif

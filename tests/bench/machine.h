/* The machine that the benchmarks ran on. */
#ifndef TESTS_BENCH_MACHINE_H
#define TESTS_BENCH_MACHINE_H

#include <jansson.h>

#include "bench.h"

/* A new object of facts, each a string or a number. */
json_t *machine_facts(void);

/* The processors' time, of all of them together, in ticks of the kernel. */
struct machine_time {
    uint64_t all, stolen;
};

struct machine_time machine_time(void);

/* Adds to the facts how much of the time since `begin` the host has taken: steal_percent, and
 * steal_s of one processor. */
void machine_add_steal(json_t *facts, const struct machine_time *begin);

/* Prints them, a line each. */
void machine_print(const json_t *facts);

/* Finds two CPUs that this process may use and that are not threads of the same core. */
void machine_cores(struct bench_options *options);

#endif

/* The results as JSON: what bench.json has. */
#ifndef TESTS_BENCH_JSON_H
#define TESTS_BENCH_JSON_H

#include <jansson.h>

#include "result.h"

json_t *json_of_result(const struct result *result);

/* Writes the machine's facts, how they were measured, and the results to options->out: the file has
 * them as a whole. `ended_by` is a signal; 0: none. Returns 0 or a negative errno, after a line on
 * stderr. */
int json_write(const struct bench_options *options, json_t *machine, int ended_by,
               const struct result *results, unsigned count);

#endif

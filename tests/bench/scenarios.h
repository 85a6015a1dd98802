/* The shipped scenarios, as benchmarks run them. */
#ifndef TESTS_BENCH_SCENARIOS_H
#define TESTS_BENCH_SCENARIOS_H

#include "bench.h"
#include "harness/record/recorder.h"
#include "harness/run/group.h"
#include "pair.h"
#include "tests/temporary.h"

/* A scenario with the state of a run and, optionally, a recorder. */
struct bench_run {
    struct hil_run run;
    struct hil_scenario *scenario;
    char directory[TEMPORARY_SIZE]; /* for the trace and, in real time, for the run */
    char trace[TEMPORARY_SIZE + 16];
};

/* Loads `file` of the scenarios' directory with these settings. Returns 0 or a negative
 * errno; what was wrong is on stderr. */
int bench_run_open(struct bench_run *run, const struct bench_options *options, const char *file,
                   bool virtual_time, const char *const *sets, size_t set_count);

/* Starts recording as the scenario says. Must come before any child process is made. */
int bench_run_record(struct bench_run *run);

/* Also removes the trace. */
void bench_run_close(struct bench_run *run);

enum { CONTROLLER, CONVERTERS }; /* the sides of a pair that runs a scenario */

/* Called in a pair's body: starts this side's roles over shm, lets them do `act`, and ends them.
 * Returns 0 or a negative errno. */
int bench_run_side(struct pair *pair, const struct hil_run *run,
                   int (*act)(struct pair *pair, const struct hil_group *group));

#endif

/* The shipped scenarios, as benchmarks run them. */
#ifndef TESTS_BENCH_SCENARIOS_H
#define TESTS_BENCH_SCENARIOS_H

#include "bench.h"
#include "harness/record/recorder.h"
#include "harness/run/group.h"
#include "pair.h"

/* A scenario with the state of a run, and where asked for a recorder. */
struct bench_run {
    struct hil_run run;
    struct hil_scenario *scenario;
    char directory[32]; /* the trace's; and the run's, in real time */
    char trace[48];
};

/* Loads `file` of the scenarios' directory with these settings. Returns 0 or a negative
 * errno; what was wrong is on stderr. */
int bench_run_open(struct bench_run *run, const struct bench_options *options, const char *file,
                   bool virtual_time, const char *const *sets, size_t set_count);

/* Has the run recorded, as its scenario says; before any child process is made. */
int bench_run_record(struct bench_run *run);

/* Removes the trace as well. */
void bench_run_close(struct bench_run *run);

enum { CONTROLLER, CONVERTERS }; /* the sides of a pair that runs a scenario */

/* In a pair's body: starts this side's roles over shm, has them do `act`, and ends them. Returns 0
 * or a negative errno. */
int bench_run_side(struct pair *pair, const struct hil_run *run,
                   int (*act)(struct pair *pair, const struct hil_group *group));

#endif

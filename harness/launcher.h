/*
 * The launcher: starts the executors of a run as child processes, watches over them, writes
 * what they record, and sums up.
 */
#ifndef HIL_LAUNCHER_H
#define HIL_LAUNCHER_H

#include <stdbool.h>

#include "scenario/scenario.h"

struct hil_launch {
    const struct hil_scenario *scenario; /* its executors are the processes */
    const char *run_directory;           /* where nodes meet; NULL: one of this run's own */
    const char *out;                     /* results; NULL: results/NAME-TIMESTAMP */
    bool discard;                        /* no results at all */
    bool keep_quiet;                     /* no progress, no closing words */
    unsigned wait_s;                     /* for nodes of other launchers */
};

/* Exit statuses of the programs. */
enum {
    HIL_EXIT_OK = 0,
    HIL_EXIT_FAILED = 1,  /* the run did, or what it stands on */
    HIL_EXIT_USAGE = 2,   /* the input is wrong, or other nodes have another; no loop ran */
    HIL_EXIT_INVALID = 3, /* the run came to its end, and cannot be believed */
    HIL_EXIT_INTERRUPTED = 130,
};

/* That of what hil_results_open refused. */
int hil_results_status(int rc);

/* Runs it. Returns an exit status; messages have gone to stderr. */
int hil_launch(const struct hil_launch *launch);

#endif

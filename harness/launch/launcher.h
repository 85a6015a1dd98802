/*
 * The launcher: starts the executors of a run as child processes, watches over them, writes
 * what they record, and sums up.
 */
#ifndef HIL_LAUNCHER_H
#define HIL_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "../../channels/loco/fabric/fabric.h"
#include "../scenario/scenario.h"
#include "exit_status.h"
#include "signals.h"

struct hil_launch {
    const struct hil_scenario *scenario; /* its executors are the processes */
    const char *run_directory;           /* where nodes meet; NULL: one of this run's own */
    struct loco_secret secret;           /* of nodes that others start too */
    const char *out;                     /* results; NULL: results/NAME-TIMESTAMP */
    bool discard;                        /* no results at all */
    bool keep_quiet;                     /* no progress, no closing words */
    unsigned wait_s;                     /* for nodes of other launchers */
    char *where;                         /* set to the results' folder, where there is one */
    size_t where_size;
};

/* That of what hil_results_open refused. */
int hil_results_status(int rc);

/* Runs it. Returns an exit status; messages have gone to stderr. */
int hil_launch(const struct hil_launch *launch);

#endif

/*
 * The launcher: starts the executors of a run as child processes, watches them, records their data,
 * and writes the summary.
 */
#ifndef HIL_LAUNCHER_H
#define HIL_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "../../channels/loco/fabric/fabric.h"
#include "../base/exit_status.h"
#include "../scenario/scenario.h"
#include "signals.h"

struct hil_launch {
    const struct hil_scenario *scenario; /* one process for each of its executors */
    const char *run_directory;           /* where nodes meet; NULL: in a new directory for this
                                          * run */
    struct loco_secret secret;           /* the secret, if other launchers start nodes too */
    const char *out;                     /* folder of the results; NULL: results/NAME-TIMESTAMP */
    bool discard;                        /* keep no results */
    bool keep_quiet;                     /* no progress, no final words */
    unsigned wait_s;                     /* how long to wait for nodes of other launchers */
    char *where;                         /* set to the results' folder, if there is one */
    size_t where_size;
};

/* The exit status for an error of hil_results_open. */
int hil_results_status(int rc);

/* Runs the scenario. Returns an exit status; messages go to stderr. */
int hil_launch(const struct hil_launch *launch);

#endif

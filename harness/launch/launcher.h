/*
 * The launcher: starts the executors of a run as child processes, watches over them, writes
 * what they record, and sums up.
 */
#ifndef HIL_LAUNCHER_H
#define HIL_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "../../channels/fabric/fabric.h"
#include "../scenario/scenario.h"

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

/* Exit statuses of the programs. */
enum {
    HIL_EXIT_OK = 0,
    HIL_EXIT_FAILED = 1,  /* the run did, or what it stands on */
    HIL_EXIT_USAGE = 2,   /* the input is wrong, or other nodes have another; no loop ran */
    HIL_EXIT_INVALID = 3, /* the run came to its end, and cannot be believed, or not be judged */
    HIL_EXIT_LIMIT = 4,   /* the run can be believed, and a limit of its scenario failed */
    HIL_EXIT_HUNG_UP = 129,
    HIL_EXIT_INTERRUPTED = 130, /* by SIGINT or SIGTERM */
    HIL_EXIT_QUIT = 131,
};

/* Whether a signal had the run end, in order. */
static inline bool hil_exit_by_signal(int status)
{
    return status >= HIL_EXIT_HUNG_UP && status <= HIL_EXIT_QUIT;
}

/* From here on the signals that end a run do so in order: SIGINT, SIGTERM, SIGQUIT, and SIGHUP,
 * unless that was ignored before (nohup). */
void hil_catch_signals(void);

/* The exit status of the first that came; 0: none has. */
int hil_signal_status(void);

/* That of what hil_results_open refused. */
int hil_results_status(int rc);

/* Runs it. Returns an exit status; messages have gone to stderr. */
int hil_launch(const struct hil_launch *launch);

#endif

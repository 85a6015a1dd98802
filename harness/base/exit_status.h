/*
 * The exit statuses of the programs.
 */
#ifndef HIL_EXIT_STATUS_H
#define HIL_EXIT_STATUS_H

#include <stdbool.h>

enum {
    HIL_EXIT_OK = 0,
    HIL_EXIT_FAILED = 1,  /* the run failed, or something that it depends on */
    HIL_EXIT_USAGE = 2,   /* the input is wrong, or other nodes have another scenario; no loop
                           * ran */
    HIL_EXIT_INVALID = 3, /* the run ended normally, but cannot be believed or judged */
    HIL_EXIT_LIMIT = 4,   /* the run can be believed, and failed a limit of its scenario */
    HIL_EXIT_HUNG_UP = 129,
    HIL_EXIT_INTERRUPTED = 130, /* by SIGINT or SIGTERM */
    HIL_EXIT_QUIT = 131,
};

/* Whether a signal ended the run in an orderly way. */
static inline bool hil_exit_by_signal(int status)
{
    return status >= HIL_EXIT_HUNG_UP && status <= HIL_EXIT_QUIT;
}

#endif

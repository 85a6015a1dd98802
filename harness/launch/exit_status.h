/*
 * What the programs end with.
 */
#ifndef HIL_EXIT_STATUS_H
#define HIL_EXIT_STATUS_H

#include <stdbool.h>

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

#endif

/*
 * Runs a scenario on several hosts, each of which runs some of the executors. They are started by
 * ssh, and their results are fetched when they end.
 */
#ifndef HIL_HOSTS_H
#define HIL_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../scenario/scenario.h"

struct hil_hosts_run {
    struct hil_scenario *scenario; /* its executors are replaced by those of the parts */
    const char *hosts;             /* "a,b": names for ssh; the first host has the first node */
    const char *out;               /* folder of the results; NULL: results/NAME-TIMESTAMP */
    unsigned wait_s;
    bool keep_quiet;
    char *where; /* set to the results' folder once there are results */
    size_t where_size;
};

/* Runs it, and merges the results. The folder looks like that of any run, and parts/HOST in it has
 * the results of each host. Returns the exit status of a host that failed, or else that of the run;
 * messages go to stderr. */
int hil_hosts_run(const struct hil_hosts_run *run);

#endif

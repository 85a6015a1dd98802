/*
 * A run on several hosts, each of which runs some of the executors: they are started by ssh, and
 * their results are fetched when they end.
 */
#ifndef HIL_HOSTS_H
#define HIL_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "../scenario/scenario.h"

struct hil_hosts_run {
    struct hil_scenario *scenario; /* its executors become those of the parts */
    const char *hosts;             /* "a,b": as ssh takes them; the first has the first node */
    const char *out;               /* the folder of the results; NULL: results/NAME-TIMESTAMP */
    unsigned wait_s;
    bool keep_quiet;
    char *where; /* set to the results' folder, once there are any */
    size_t where_size;
};

/* Runs it, and brings the hosts' results together: the folder is as that of any run, and what each
 * host left is in its folder parts/HOST. Returns the exit status of a host that failed, or that of
 * the run; messages have gone to stderr. */
int hil_hosts_run(const struct hil_hosts_run *run);

#endif

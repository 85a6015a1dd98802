/*
 * A run on several hosts, each of which runs some of the executors: they are started by ssh, and
 * their results are fetched when they end.
 */
#ifndef HIL_HOSTS_H
#define HIL_HOSTS_H

#include <stdbool.h>

#include "../scenario/scenario.h"

struct hil_hosts_run {
    const struct hil_scenario *scenario;
    const char *hosts; /* "a,b": as ssh takes them; the first has the first node */
    const char *out;   /* the folder of their results; NULL: results/NAME-TIMESTAMP */
    unsigned wait_s;
    bool keep_quiet;
};

/* Runs it: each host's results are in a folder of its name. Returns the worst exit status of the
 * hosts'; messages have gone to stderr. */
int hil_hosts_run(const struct hil_hosts_run *run);

#endif

/*
 * Merges the parts of a run, each of which left a folder of results. The result is one record of
 * all nodes, with times on the clock of the first node's machine, and one summary by which the run
 * is judged as a whole.
 */
#ifndef HIL_MERGE_H
#define HIL_MERGE_H

#include <stdbool.h>
#include <stdio.h>

#include "../../scenario/scenario.h"

/* The results of a part. */
struct hil_merge_from {
    const char *dir;
    const char *name; /* its name in the summary */
};

struct hil_merge {
    struct hil_scenario *scenario; /* its executors are replaced by those of the parts */
    const struct hil_merge_from *parts;
    unsigned count;
    bool partial;    /* nodes without a part are allowed; the run is then not valid */
    bool quiet;      /* no final words */
    const char *out; /* the folder; NULL: results/NAME-TIMESTAMP */
    bool is_open;    /* the caller holds `out`, and has cleared it */
    char *where;     /* set to the folder; may be NULL */
    size_t where_size;
};

/* Merges them. Writes nothing if the parts are not from one run. Returns the exit status that the
 * whole run would have; messages go to stderr. */
int hil_merge_run(const struct hil_merge *merge);

#endif

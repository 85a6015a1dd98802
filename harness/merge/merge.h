/*
 * The parts of a run, which left a folder of results each, as one: a record of all nodes, whose
 * times are the first node's machine's, and one summary, by which the run is judged as a whole.
 */
#ifndef HIL_MERGE_H
#define HIL_MERGE_H

#include <stdbool.h>
#include <stdio.h>

#include "../scenario/scenario.h"

/* The results of a part. */
struct hil_merge_from {
    const char *dir;
    const char *name; /* what the summary calls it */
};

struct hil_merge {
    struct hil_scenario *scenario; /* its executors become those of the parts */
    const struct hil_merge_from *parts;
    unsigned count;
    bool partial;    /* nodes of which there is no part are allowed; the run is not valid then */
    bool quiet;      /* no closing words */
    const char *out; /* the folder; NULL: results/NAME-TIMESTAMP */
    bool is_open;    /* the caller holds `out`, and has cleared it */
    char *where;     /* set to the folder; NULL: nobody asks */
    size_t where_size;
};

/* Brings them together. Nothing is written where the parts are not of one run. Returns an exit
 * status, as that of the whole run would be; messages have gone to stderr. */
int hil_merge_run(const struct hil_merge *merge);

#endif

/*
 * A watcher's samples of a run.
 */
#ifndef HIL_SAMPLE_H
#define HIL_SAMPLE_H

#include <jansson.h>

#include "history.h"
#include "runs.h"

struct hil_node_sample {
    unsigned node;
    const char *name; /* points into the watch: "cell[3]" */
    uint32_t array;   /* nodes of one array have the same number */
    struct hil_progress told;
    uint64_t period_ns;
    double late_p99_ns; /* NAN: another launcher has its histogram */
    bool silent;        /* it runs, but has reported no new step for a while */
    bool misses;        /* it missed steps recently */
};

struct hil_sample {
    uint64_t elapsed_ns;
    double value, reference; /* of the first measure; the reference is NAN if it has none */
    double pp;               /* peak to peak in the last second; NAN: no values yet */
    uint64_t missed;         /* by all nodes */
    unsigned count;
    struct hil_node_sample nodes[];
};

/* When a node was last seen to make progress. */
struct hil_node_seen {
    uint64_t steps, missed;
    uint64_t stepped_ns, missed_ns;
};

struct hil_watch {
    const struct hil_run_entry *run;
    char (*names)[HIL_NODE_NAME_BYTES]; /* sanitized copies */
    struct hil_history history;
    struct hil_node_seen *seen;
    struct hil_sample *sample; /* the newest */
};

/* Returns 0 or -ENOMEM. Call hil_watch_close in either case. */
int hil_watch_open(struct hil_watch *watch, const struct hil_run_entry *run);
void hil_watch_close(struct hil_watch *watch);

/* Takes a sample; `now_ns` is the watcher's own clock. It only reads the run's memory. */
void hil_watch_look(struct hil_watch *watch, uint64_t now_ns);

/* A copy of the newest sample, which the caller frees; NULL: memory ran out. */
struct hil_sample *hil_sample_copy(const struct hil_sample *sample);

/* A node's state: hil_stage_name's, or "silent". */
const char *hil_sample_state(const struct hil_node_sample *node);

/* Whether the run has a measure, with a value in the newest sample. */
bool hil_watch_measures(const struct hil_watch *watch);

/* The newest sample, with the keys of summary.json if they exist there; NULL: memory ran out. */
json_t *hil_sample_json(const struct hil_watch *watch);

#endif

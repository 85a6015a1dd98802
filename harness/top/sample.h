/*
 * What a watcher sees of a run at a time.
 */
#ifndef HIL_SAMPLE_H
#define HIL_SAMPLE_H

#include <jansson.h>

#include "history.h"
#include "runs.h"

struct hil_node_sample {
    unsigned node;
    const char *name; /* the watch's: "cell[3]" */
    uint32_t array;   /* nodes of one are of one array */
    struct hil_progress told;
    uint64_t period_ns;
    double late_p99_ns; /* NAN: its histogram is with another launcher */
    bool silent;        /* it runs, and has told no new step for a while */
    bool misses;        /* it has missed steps just now */
};

struct hil_sample {
    uint64_t elapsed_ns;
    double value, reference; /* of the first measure; the reference is NAN where it has none */
    double pp;               /* peak to peak, in the last second; NAN: nothing came yet */
    uint64_t missed;         /* by all */
    unsigned count;
    struct hil_node_sample nodes[];
};

/* When a node was last seen to do a thing. */
struct hil_node_seen {
    uint64_t steps, missed;
    uint64_t stepped_ns, missed_ns;
};

struct hil_watch {
    const struct hil_found *run;
    char (*names)[HIL_NODE_NAME_BYTES]; /* copies, fit to be printed */
    struct hil_history history;
    struct hil_node_seen *seen;
    struct hil_sample *sample; /* the newest */
};

/* Returns 0 or -ENOMEM; hil_watch_close in either case. */
int hil_watch_open(struct hil_watch *watch, const struct hil_found *run);
void hil_watch_close(struct hil_watch *watch);

/* Takes a sample; `now_ns` is the watcher's own clock. Only reads. */
void hil_watch_look(struct hil_watch *watch, uint64_t now_ns);

/* A copy of the newest sample, to be freed; NULL: no memory. */
struct hil_sample *hil_sample_copy(const struct hil_sample *sample);

/* A node's state: that of hil_stage_name, or "silent". */
const char *hil_sample_state(const struct hil_node_sample *node);

/* Whether the run has a measure, and the newest sample has a value of it. */
bool hil_watch_measures(const struct hil_watch *watch);

/* The newest sample by the keys of summary.json, where it has the same; NULL: no memory. */
json_t *hil_sample_json(const struct hil_watch *watch);

#endif

/*
 * What the page shows about a run besides signals: its nodes, how late steps began, and how long
 * round trips took.
 */
#ifndef HIL_RUN_STATUS_H
#define HIL_RUN_STATUS_H

#include "../top/sample.h"

/* A histogram of times with two bins per power of two; the first four bins are 32 ns wide. */
enum { HIL_NEWS_PARTS = HIL_HISTOGRAM_BUCKETS / (HIL_HISTOGRAM_HALF / 2) };

struct hil_run_status_times {
    uint64_t counts[HIL_NEWS_PARTS]; /* cumulative counts at the last message */
};

struct hil_run_status {
    struct hil_watch watch;
    struct hil_run_status_times late, round_trip;
};

/* Returns 0 or -ENOMEM. Call hil_run_status_close in either case. */
int hil_run_status_open(struct hil_run_status *status, const struct hil_run_entry *run);
void hil_run_status_close(struct hil_run_status *status);

/* The message "state"; NULL: memory ran out. */
json_t *hil_run_status_state(struct hil_run_status *status, bool paused, uint64_t now_ns);

#endif

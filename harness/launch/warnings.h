/*
 * Warnings that a launcher prints while its run goes on.
 */
#ifndef HIL_WARNINGS_H
#define HIL_WARNINGS_H

#include <stdbool.h>

#include "../run/node.h"

/* The warnings already given about an input with an age limit. */
struct hil_age_told {
    uint64_t trips, back;
};

struct hil_warnings {
    const struct hil_run *run;
    bool quiet; /* print only errors */
    bool stale_told;
    unsigned *failures_told; /* by executor */
    struct hil_age_told *ages_told;
};

/* Returns 0 or -ENOMEM. */
int hil_warnings_open(struct hil_warnings *w, const struct hil_run *run, bool quiet);
void hil_warnings_close(struct hil_warnings *w);

/* The log function of a run, a loco_log_fn; its argument is the warnings. A message that one
 * process of the run has logged is not repeated by another. */
void hil_warnings_log(void *warnings, enum loco_level level, const char *text);

/* Prints what is new since the last look: the first stale input, inputs older than their own
 * limits, and components that failed. */
void hil_warnings_look(struct hil_warnings *w);

#endif

/*
 * What a launcher tells the user while its run goes on.
 */
#ifndef HIL_WARNINGS_H
#define HIL_WARNINGS_H

#include <stdbool.h>

#include "../run/node.h"

/* Of an input with an age limit, what was told. */
struct hil_age_told {
    uint64_t trips, back;
};

struct hil_warnings {
    const struct hil_run *run;
    bool quiet; /* errors only */
    bool stale_told;
    unsigned *failures_told; /* by executor */
    struct hil_age_told *ages_told;
};

/* Returns 0 or -ENOMEM. */
int hil_warnings_open(struct hil_warnings *w, const struct hil_run *run, bool quiet);
void hil_warnings_close(struct hil_warnings *w);

/* The log of a run: a loco_log_fn, whose argument is the warnings. What one process of the run has
 * said no other says again. */
void hil_warnings_log(void *warnings, enum loco_level level, const char *text);

/* Says what was found since the last look: the first input that was stale, inputs that are older
 * than their own limits, components that failed. */
void hil_warnings_look(struct hil_warnings *w);

#endif

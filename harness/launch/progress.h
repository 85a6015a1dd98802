/*
 * Shows the progress of a run, and then of its record: a bar on a terminal, otherwise a plain line
 * each second.
 */
#ifndef HIL_PROGRESS_H
#define HIL_PROGRESS_H

#include <stdbool.h>
#include <time.h>

#include "../run/state.h"
#include "../scenario/scenario.h"

struct hil_progress_bar {
    const struct hil_scenario *scenario; /* NULL: of a record */
    const struct hil_state *state;
    bool shown, terminal;
    struct timespec next;
};

void hil_progress_begin(struct hil_progress_bar *bar, const struct hil_scenario *scenario,
                        const struct hil_state *state, bool shown);
void hil_progress_show(struct hil_progress_bar *bar);

/* The same for a record that is made; `share` of it is made, 0..1. Nothing is shown in the first
 * second. */
void hil_progress_begin_record(struct hil_progress_bar *bar, bool shown);
void hil_progress_show_record(struct hil_progress_bar *bar, const char *out, double share);

void hil_progress_end(struct hil_progress_bar *bar);

#endif

/*
 * Shows the progress of a run: a bar on a terminal, otherwise a plain line each second.
 */
#ifndef HIL_PROGRESS_H
#define HIL_PROGRESS_H

#include <stdbool.h>
#include <time.h>

#include "../run/state.h"
#include "../scenario/scenario.h"

struct hil_progress_bar {
    const struct hil_scenario *scenario;
    const struct hil_state *state;
    bool shown, terminal;
    struct timespec next;
};

void hil_progress_begin(struct hil_progress_bar *bar, const struct hil_scenario *scenario,
                        const struct hil_state *state, bool shown);
void hil_progress_show(struct hil_progress_bar *bar);
void hil_progress_end(struct hil_progress_bar *bar);

#endif

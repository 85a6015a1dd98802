/* The search that linear.c makes, for the trials of linear_shrink.c. */
#ifndef LOCO_SIM_LINEAR_INTERNAL_H
#define LOCO_SIM_LINEAR_INTERNAL_H

#include "linear.h"

/* Searches the key report->key in the history's first `events` events. */
enum loco_sim_linear_verdict loco_sim_linear_search(struct loco_sim_linear *linear,
                                                    const struct loco_sim_history *history,
                                                    const struct loco_sim_model *model,
                                                    uint32_t events,
                                                    struct loco_sim_linear_report *report);

#endif

/*
 * Rows: neighbours in an array of nodes that an executor steps together, as if they were one. All
 * nodes of a row have the same timing, and each is a single plant whose step takes less than
 * reading the clock several times would. So the clock is read once for a row, and its steps are
 * counted once: they begin at one time and end at one time. A row is short, so each of its nodes
 * really begins soon after that. If a row was not, its steps count as late until its end
 * (HIL_ROW_LONG_NS).
 */
#ifndef HIL_ROWS_H
#define HIL_ROWS_H

#include "executor.h"
#include "group.h"

enum { HIL_ROW_MAX = 8 };

/* Sets the places of the scenario's nodes in their rows. Virtual time has no rows, because its
 * steps take no time. */
void hil_rows_make(struct hil_state *state, const struct hil_scenario *scenario);

/* Makes the executor's rows from the group's loops. Returns 0 or -ENOMEM. The caller frees
 * executor->rows. */
int hil_rows_gather(struct hil_executor *executor, const struct hil_group *group);

#endif

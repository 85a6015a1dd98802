/*
 * A sweep as data of a page, from sweep.json.
 *
 *      {label, keys: [{key, unit, words}], drawn, distributions, bisection, every, scenario}
 *
 * `every`: one in this many runs is in its figures, in addition to the worst runs, and to the runs
 * on either side of the limit that a bisection found. `scenario` is the first run's.
 */
#ifndef HIL_PAGE_SWEEP_H
#define HIL_PAGE_SWEEP_H

#include "page_run.h"

/* For the runs in the order of the sweep's points; chooses the runs to draw. NULL: memory ran
 * out. */
json_t *hil_page_sweep_json(const char *label, const json_t *index, struct hil_page_run *runs,
                            unsigned count);

#endif

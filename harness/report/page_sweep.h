/*
 * A sweep as a page has it: what sweep.json says of all of its runs.
 *
 *      {label, keys: [{key, unit, words}], drawn, distributions, bisection, every, scenario}
 *
 * `every`: one run of so many is in its figures; and those that came off worst, or lie beside the
 * place that a bisection looked for. `scenario` is that of the first run.
 */
#ifndef HIL_PAGE_SWEEP_H
#define HIL_PAGE_SWEEP_H

#include "page_run.h"

/* Of its runs, in the order of its points; chooses those that are drawn. NULL: no memory. */
json_t *hil_page_sweep_json(const char *label, const json_t *index, struct hil_page_run *runs,
                            unsigned count);

#endif

/*
 * A run of a sweep as a page has it. There may be thousands, so it is what tables, distributions
 * and maps need; some of the runs have the curves of their measures as well.
 *
 *      {label, sweep, values, status,
 *       summary: {scenario, mode, elapsed_s, verdict, validity, nodes, measures, limits,
 *                 and with curves events, faults},
 *       record, no_record: of those that have curves, as page_run.h has them}
 */
#ifndef HIL_PAGE_POINT_H
#define HIL_PAGE_POINT_H

#include "page_run.h"

/* With about `most` bytes of curves. NULL: no memory. */
json_t *hil_page_point_json(const struct hil_page_run *run, size_t most);

#endif

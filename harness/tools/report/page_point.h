/*
 * A run of a sweep as data of a page. There may be thousands, so it has just what tables,
 * distributions and maps need; some of the runs also have the curves of their measures.
 *
 *      {label, sweep, values, status,
 *       summary: {scenario, mode, elapsed_s, verdict, validity, nodes, measures, limits,
 *                 and events, faults if it has curves},
 *       record, no_record: only if it has curves, as in page_run.h}
 */
#ifndef HIL_PAGE_POINT_H
#define HIL_PAGE_POINT_H

#include "page_run.h"

/* With about `most` bytes of curves. NULL: memory ran out. */
json_t *hil_page_point_json(const struct hil_page_run *run, size_t most);

#endif

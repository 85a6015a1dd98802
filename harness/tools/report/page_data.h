/*
 * The data of a report: {hiloco: version, made: when, sweeps: [as in page_sweep.h], runs: [as in
 * page_run.h, and the runs of sweeps as in page_point.h]}
 */
#ifndef HIL_PAGE_DATA_H
#define HIL_PAGE_DATA_H

#include <jansson.h>
#include <stdio.h>

/* The folders may hold runs, sweeps and tests. Returns 0, or a negative errno after a message:
 * -ENOENT if a folder has no results. */
int hil_page_data(json_t **data, const char *const *dirs, unsigned count, FILE *messages);

#endif

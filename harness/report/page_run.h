/*
 * A run as a page has it: what its folder holds.
 *
 *      {label, dir, point: of a sweep's or of tests' index or null, summary, scenario, trace,
 *       record: {duration_s, figures, histograms, events}; or null, and why as no_record}
 */
#ifndef HIL_PAGE_RUN_H
#define HIL_PAGE_RUN_H

#include <jansson.h>

#include "../h5/run_files.h"

struct hil_page_run {
    char dir[HIL_PATH_BYTES], label[HIL_PATH_BYTES];
    json_t *point; /* borrowed; NULL: it is a run by itself */
};

/* With about `most` bytes of curves; of a point those of its measures. NULL: no memory. */
json_t *hil_page_run_json(const struct hil_page_run *run, size_t most);

#endif

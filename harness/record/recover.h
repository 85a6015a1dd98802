/*
 * Makes a record whole from its journal after all processes of its run were killed.
 */
#ifndef HIL_RECOVER_H
#define HIL_RECOVER_H

#include <stdio.h>

#include "../h5/trace_maker.h"

/*
 * Makes DIR/trace.h5 from its journal; does nothing if there is none, as the record is whole.
 * Writes DIR/summary.json if there is none. Reports to `messages` what it recovered, or why it
 * failed. Returns 0 or a negative errno: -EBUSY when a run is writing there now, -ENOENT when there
 * never was a run. `watch` is told of the progress, and may end it; how many threads work is
 * decided here. The journal remains until the record replaces it.
 */
int hil_recover(const char *dir, const struct hil_trace_watch *watch, FILE *messages);

#endif

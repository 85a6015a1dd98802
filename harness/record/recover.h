/*
 * Makes a record whole from its journal after all processes of its run were killed.
 */
#ifndef HIL_RECOVER_H
#define HIL_RECOVER_H

#include <stdio.h>

/*
 * Makes DIR/trace.h5 whole, with all rows in the journal; does nothing if it is whole already.
 * Writes DIR/summary.json if there is none. Reports to `messages` what it recovered, or why it
 * failed. Returns 0 or a negative errno: -EBUSY when a run is writing there now, -ENOENT when there
 * never was a run. The old file remains until the new one replaces it.
 */
int hil_recover(const char *dir, FILE *messages);

#endif

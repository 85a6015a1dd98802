/*
 * The record of a run whose processes were all killed, made whole from its journal.
 */
#ifndef HIL_RECOVER_H
#define HIL_RECOVER_H

#include <stdio.h>

/*
 * Makes DIR/trace.h5 whole, with all rows that the journal knows of; nothing where it is whole.
 * Sums it up in DIR/summary.json where there is none. Says to `messages` what is there then, or why
 * it is not. Returns 0 or a negative errno: -EBUSY when a run writes there now, -ENOENT when no run
 * ever did. The old file stays until the new one takes its place.
 */
int hil_recover(const char *dir, FILE *messages);

#endif

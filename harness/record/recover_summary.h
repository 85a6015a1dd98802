/*
 * Writes the summary of a run from its record alone, after all processes of the run were killed.
 */
#ifndef HIL_RECOVER_SUMMARY_H
#define HIL_RECOVER_SUMMARY_H

#include <stdio.h>

#include "../h5/trace_reader.h"

/*
 * Writes DIR/summary.json, unless it exists: then it was written by a process that knew more. The
 * summary says that the run was recovered and is not valid. It does not include how late the loops
 * were, which is unknown. Returns 0, or a negative errno after a message.
 */
int hil_recover_summary(const char *dir, struct hil_trace_reader *trace, FILE *messages);

/* The time of the last row of a stream, in s; NAN: it has no rows. */
double hil_recover_end_s(const struct hil_trace_reader *trace, unsigned stream);

#endif

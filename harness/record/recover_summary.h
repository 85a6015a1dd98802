/*
 * The summary of a run that nobody lived to sum up: what its record tells.
 */
#ifndef HIL_RECOVER_SUMMARY_H
#define HIL_RECOVER_SUMMARY_H

#include <stdio.h>

#include "../h5/trace_reader.h"

/*
 * Writes DIR/summary.json, unless there is one: that is by a process that knew more. It says that
 * the run was recovered and is not valid. How late the loops were is known to nobody, and not in
 * it. Returns 0, or a negative errno after a message.
 */
int hil_recover_summary(const char *dir, struct hil_trace_reader *trace, FILE *messages);

/* When the last row of a stream was recorded, in s; NAN: it has none. */
double hil_recover_end_s(const struct hil_trace_reader *trace, unsigned stream);

#endif

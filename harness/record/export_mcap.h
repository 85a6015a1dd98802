/* Traces for Foxglove, PlotJuggler and others that read MCAP. */
#ifndef HIL_EXPORT_MCAP_H
#define HIL_EXPORT_MCAP_H

#include <stdio.h>

/* The file's name, in the folder of its run. */
#define HIL_EXPORT_MCAP "trace.mcap"

/*
 * Writes DIR/trace.h5 as DIR/trace.mcap: a topic for each stream, "/hub" or "/cell/007", with a
 * message in JSON for each row, and "/events", in the order of time, which is in ns from the start
 * of the run. What is no number is null. The memory that it takes does not grow with the rows.
 *
 * Says to `messages` what it wrote, or in a line why not. Returns 0 or a negative errno.
 */
int hil_export_mcap(const char *dir, FILE *messages);

#endif

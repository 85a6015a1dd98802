/* Exports traces for Foxglove, PlotJuggler and other programs that read MCAP. */
#ifndef HIL_EXPORT_MCAP_H
#define HIL_EXPORT_MCAP_H

#include <stdio.h>

/* The file's name in the folder of its run. */
#define HIL_EXPORT_MCAP "trace.mcap"

/*
 * Writes DIR/trace.h5 as trace.mcap into the folder `to`, or DIR if that is NULL. Each stream is a
 * topic, "/hub" or "/cell/007", with a JSON message for each row; "/events" is another topic.
 * Messages are in order of time, in ns from the start of the run. Values that are not numbers are
 * null. Memory use does not grow with the number of rows.
 *
 * Reports to `messages` which file it wrote, or why it failed. Returns 0 or a negative errno.
 */
int hil_export_mcap(const char *dir, const char *to, FILE *messages);

#endif

/*
 * A capture as a file: .csv, or .json.
 */
#ifndef HIL_CAPTURED_FILE_H
#define HIL_CAPTURED_FILE_H

#include "../top/runs.h"
#include "capture.h"

/* Whether the path has one of these suffixes. */
bool hil_captured_is_file(const char *path);

/*
 * Writes the file, either completely or not at all.
 *
 *      .csv    time_s, and a column for each signal. There is a row for each time at which one of
 *              the nodes stepped; signals of other nodes may be empty in it.
 *      .json   {"run", "trigger": {"on", "time_s", "step", "node"} | null, "from_s", "to_s",
 *              "lost", "traces": [{"name", "unit", "node", "steps": [], "times_s": [],
 *              "values": []}]}. A value that is not a number is null.
 *
 * Returns 0 or a negative errno.
 */
int hil_captured_write(const struct hil_captured *captured, const char *path,
                       const struct hil_run_entry *run, const char *on);

#endif

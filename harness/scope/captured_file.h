/*
 * A capture as a file: .csv, or .json.
 */
#ifndef HIL_CAPTURED_FILE_H
#define HIL_CAPTURED_FILE_H

#include "../top/runs.h"
#include "capture.h"

/* Whether the path ends as one of these does. */
bool hil_captured_is_file(const char *path);

/*
 * The file is there as a whole or not at all.
 *
 *      .csv    time_s, and a column of each signal: a row for each time at which one of the nodes
 *              stepped, where a signal of another node may have nothing
 *      .json   {"run", "trigger": {"on", "time_s", "step", "node"} | null, "from_s", "to_s",
 * "lost", "traces": [{"name", "unit", "node", "steps": [], "times_s": [], "values": []}]}; what is
 * no number is null
 *
 * Returns 0 or a negative errno.
 */
int hil_captured_write(const struct hil_captured *captured, const char *path,
                       const struct hil_found *run, const char *on);

#endif

/*
 * Traces for programs that do not read HDF5.
 */
#ifndef HIL_EXPORT_H
#define HIL_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Writes each stream of DIR/trace.h5 as a table: DIR/hub.csv for a node, DIR/cell-007.csv for one
 * of an array. The first line has the names, which end in their units; a matrix's columns are
 * numbered (current_a_0, current_a_1, ...). Numbers read back as the same doubles.
 *
 * Behind its time each row has the number of its step, and how many rows are missing between it
 * and the row before: steps that were left out, or whose rows were dropped.
 *
 * Says to `messages` what it wrote, or in a line why not. Returns 0 or a negative errno.
 */
int hil_export_csv(const char *dir, FILE *messages);

/* Whether DIR/NAME is such a table, as its name and its first line tell. */
bool hil_export_made(const char *dir, const char *name);

#endif

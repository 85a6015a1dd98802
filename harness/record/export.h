/*
 * Exports traces for programs that do not read HDF5.
 */
#ifndef HIL_EXPORT_H
#define HIL_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Writes each stream of DIR/trace.h5 as a table into the folder `to`, or DIR if that is NULL:
 * hub.csv for a node, cell-007.csv for a node of an array. The first line has the names, which end
 * in their units. The columns of a matrix are numbered (current_a_0, current_a_1, ...). Numbers
 * read back as the same doubles.
 *
 * After the time, each row has its step number, and the number of rows that are missing between it
 * and the row before: steps that were left out, or whose rows were dropped.
 *
 * Reports to `messages` which files it wrote, or why it failed. Returns 0 or a negative errno.
 */
int hil_export_csv(const char *dir, const char *to, FILE *messages);

/* Whether DIR/NAME is such a table, judging by its name and first line. */
bool hil_export_made(const char *dir, const char *name);

#endif

/*
 * The report of runs: one HTML file that has all it needs in it, and fetches nothing.
 */
#ifndef HIL_PAGE_H
#define HIL_PAGE_H

#include <stdio.h>

/*
 * Writes the report of what is in these folders, runs, sweeps and tests, to `path`: whole, or not
 * at all. Returns 0, or a negative errno after a message: -ENOENT where a folder has no results.
 */
int hil_page_write(const char *const *dirs, unsigned count, const char *path, FILE *messages);

#endif

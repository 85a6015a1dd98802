/*
 * The report of runs: one self-contained HTML file, which fetches nothing.
 */
#ifndef HIL_PAGE_H
#define HIL_PAGE_H

#include <stdio.h>

/*
 * Writes the report of the runs, sweeps and tests in these folders to `path`, either completely or
 * not at all. Returns 0, or a negative errno after a message: -ENOENT if a folder has no results.
 */
int hil_page_write(const char *const *dirs, unsigned count, const char *path, FILE *messages);

#endif

/*
 * How many files a run's processes need to have open. On shm the number grows with the processes
 * that share a channel, not with their nodes. On other fabrics it grows with the nodes and their
 * connections.
 */
#ifndef HIL_OPEN_FILES_H
#define HIL_OPEN_FILES_H

#include <stdio.h>

#include "../scenario/system.h"

/* The most files that the process of executor `index` opens. */
unsigned long hil_open_files_count(const struct hil_scenario *scenario, unsigned index);

/* Raises the soft limit of this process, and so of its children, to the hard limit. Returns 0, or
 * -EMFILE after a message that says how many files are needed, how many are allowed, and how to
 * raise the limit. */
int hil_open_files_raise(const struct hil_scenario *scenario, FILE *messages);

#endif

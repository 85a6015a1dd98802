/*
 * How many files a run's processes may have open. On shm that grows with the processes that share a
 * channel, and not with their nodes; on other fabrics with the nodes, and with their connections.
 */
#ifndef HIL_OPEN_FILES_H
#define HIL_OPEN_FILES_H

#include <stdio.h>

#include "../scenario/system.h"

/* What the process that runs executor `index` opens at most. */
unsigned long hil_open_files_count(const struct hil_scenario *scenario, unsigned index);

/* Raises this process's soft limit, and so its children's, to the hard one. Returns 0; or, having
 * said to `messages` what is needed, what is allowed, and what raises it, -EMFILE. */
int hil_open_files_raise(const struct hil_scenario *scenario, FILE *messages);

#endif

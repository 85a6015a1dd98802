/*
 * How many files a run's processes may have open: on shm each node has a socket to listen on and a
 * memory file, and a connection to each node that it shares a channel with.
 */
#ifndef HIL_LIMITS_H
#define HIL_LIMITS_H

#include "scenario/system.h"

/* What the process that runs executor `index` opens at most. */
unsigned long hil_limits_files(const struct hil_scenario *scenario, unsigned index);

/* Raises this process's soft limit, and so its children's, to the hard one. Returns 0; or, having
 * said on stderr what is needed, what is allowed, and what raises it, -EMFILE. */
int hil_limits_raise(const struct hil_scenario *scenario);

#endif
